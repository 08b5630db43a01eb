"""trees.py: drawings of reductions: trees level by level with idle threads; threads of a grid, tiles of CUB, parts
of a variance, orders of addition."""

from shapes import depths
from style import BLUE, FAINT, GREEN, GREY, INK, MUTED, ORANGE, PURPLE, WIDTH, arrow, box, disc, line, paper, word

# --- a tree in shared memory ---

LEFT, STEP, LEVEL = 0.98, 0.285, 0.86  # inches: the first column, the distance of columns, the height of a level


def column(i):
    return LEFT + i * STEP


def draw_words(axes, y, live, threads):
    """Draws s[0], s[1], ...: pale blue if the word is still used."""
    for i in range(threads):
        look = {"fill": BLUE, "pale": True, "edge": BLUE} if i in live else {"edge": FAINT}
        box(axes, column(i) - 0.11, y - 0.08, 0.22, 0.16, **look)
        word(axes, column(i), y, f"{i}", INK if i in live else MUTED)


def draw_warps(axes, y, warps, lanes, busy):
    for warp in range(warps):
        look = {"fill": GREY, "pale": True} if warp in busy else {"edge": FAINT, "linestyle": (0, (3, 3))}
        left = column(warp * lanes) - STEP / 2 + 0.015
        box(axes, left, y - 0.15, lanes * STEP - 0.03, 0.3, **look)


def level_notes(level, threads, lanes):
    """[text, whether it is emphasized] beside a level."""
    adds, warps = len(level["adds"]), threads // lanes
    notes = [
        [f"{adds} of {threads} threads add", False],
        [f"{len(level['busy'])} of {warps} warps busy", len(level["busy"]) == warps],
    ]
    if level["turns"] > 1:
        notes.append([f"same bank: {level['turns']} wavefronts", True])
    return notes


def draw_level(axes, y, number, level, tree):
    """Draws a level: from the words at y via the threads to the next words."""
    threads, lanes = tree["threads"], tree["lanes"]
    middle, below = y + 0.43, y + LEVEL
    adding = {thread for thread, *_ in level["adds"]}
    for thread, a, b in level["adds"]:
        line(axes, (column(a), y + 0.08), (column(thread), middle - 0.09), BLUE, 1.2)
        line(axes, (column(b), y + 0.08), (column(thread), middle - 0.09), BLUE, 1.2)
        line(axes, (column(thread), middle + 0.09), (column(a), below - 0.08), BLUE, 1.2)
    draw_warps(axes, middle, threads // lanes, lanes, level["busy"])
    for thread in range(threads):
        disc(axes, column(thread), middle, 0.095, f"{thread}", thread in adding)
    word(axes, 0.08, middle - 0.07, f"level {number}", ha="left", fontweight="bold")
    word(axes, 0.08, middle + 0.09, f"d = {level['d']}", MUTED, ha="left")
    for i, (text, strong) in enumerate(level_notes(level, threads, lanes)):
        style = {"color": ORANGE, "fontweight": "bold"} if strong else {"color": MUTED}
        word(axes, column(threads) - 0.02, middle - 0.13 + 0.15 * i, text, ha="left", **style)


def tree_words(data):
    texts = []
    for k, level in enumerate(data["levels"], 1):
        notes = ", ".join(text for text, _ in level_notes(level, data["threads"], data["lanes"]))
        texts.append(f"level {k}, distance {level['d']}: {notes}")
    return "; ".join(texts) + "."


def tree(data, name):
    threads, lanes = data["threads"], data["lanes"]
    what = f"The {data['shape']} tree: who adds what"
    below = (
        "Squares are words of s[], discs are threads; blue ones add, empty ones are idle, "
        "boxes are warps"
    )
    top = 0.98
    figure, axes = paper(top + LEVEL * len(data["levels"]) + 0.2, name, what, below)
    small = f"Drawn small: {threads} threads, warps of {lanes} lanes and {lanes} banks. On a GPU: 32 of both"
    word(axes, 0.08, 0.62, small, MUTED, 9, ha="left")
    live = set(range(threads))
    draw_words(axes, top, live, threads)
    word(axes, 0.08, top, "s[]", ha="left", fontweight="bold")
    for k, level in enumerate(data["levels"]):
        draw_level(axes, top + k * LEVEL, k + 1, level, data)
        live = {a for _, a, _ in level["adds"]}
        draw_words(axes, top + (k + 1) * LEVEL, live, threads)
    word(axes, column(threads) - 0.02, top + len(data["levels"]) * LEVEL, "s[0]: the block's sum", ha="left")
    return figure, what, tree_words(data)


# --- rows of threads that add sums of other threads ---

ROW = 0.4


def draw_lanes(axes, left, step, y, rows, first=0, radius=0.09):
    """Draws the rows of a tree downwards from y: links and discs, threads counted from `first`."""
    place = lambda thread: left + (thread + 0.5) * step
    for row in rows:
        for start, end in row["links"]:
            line(axes, (place(start), y - ROW + radius), (place(end), y - radius), BLUE, 1)
        for thread in row["here"]:
            disc(axes, place(thread), y, radius, f"{thread - first}", thread in row["adds"])
        y += ROW


def draw_barrier(axes, left, wide, y, scope):
    """Draws a barrier over the threads that take part in it."""
    color = ORANGE if scope == "block" else GREEN
    line(axes, (left, y), (left + wide, y), color, 2.4, solid_capstyle="butt")


def last_warp(data, name):
    threads, lanes = data["threads"], data["lanes"]
    what = "Which warps wait at which barrier"
    below = f"Drawn small: a block of {threads} threads in warps of {lanes} lanes. Blue adds, empty rings are idle"
    rows = max(len(rows) for _, rows in data["panels"])
    top, step = 1.05, 3.3 / threads
    figure, axes = paper(top + ROW * rows + 0.62, name, what, below)
    for k, (title, levels) in enumerate(data["panels"]):
        left = 0.12 + k * 3.62
        word(axes, left, top - 0.36, title, ha="left", fontweight="bold")
        for thread in range(threads):
            disc(axes, left + (thread + 0.5) * step, top - 0.08, 0.09, f"{thread}", True)
        draw_lanes(axes, left, step, top + ROW - 0.08, levels)
        for i, row in enumerate([{"barrier": "block", "here": range(threads)}, *levels]):
            wide = len(row["here"]) * step
            draw_barrier(axes, left, wide, top + 0.06 + i * ROW, row["barrier"])
            if wide < threads * step:
                word(axes, left + wide + 0.12, top - 0.08 + i * ROW, "ended", MUTED, ha="left")
    foot = top + ROW * rows + 0.42
    for left, scope, text in ((0.12, "block", "__syncthreads(): every warp"), (3.74, "warp", "__syncwarp(): this warp")):
        draw_barrier(axes, left, 0.35, foot, scope)
        word(axes, left + 0.45, foot, text, MUTED, ha="left")
    return figure, what, last_warp_words(data)


def last_warp_words(data):
    say = lambda rows: ", ".join(f"{len(row['adds'])} threads add, the {row['barrier']} waits" for row in rows)
    return "; ".join(f"{title}: {say(rows)}" for title, rows in data["panels"]) + "."


def first_add(data, name):
    threads = data["threads"]
    what = "Two blocks, or two elements per thread"
    below = f"{2 * threads} elements. Squares: the input; discs: threads, blue adds, empty rings are idle"
    rows = len(data["panels"][0][1][0])
    top, step = 1.1, 3.3 / (2 * threads)
    figure, axes = paper(top + ROW * (rows + 1) + 0.42, name, what, below)
    for k, (title, blocks, loads) in enumerate(data["panels"]):
        left = 0.12 + k * 3.62
        place = lambda i, left=left: left + (i + 0.5) * step
        word(axes, left, top - 0.36, title, ha="left", fontweight="bold")
        for i in range(2 * threads):
            box(axes, place(i) - 0.07, top - 0.15, 0.14, 0.14, fill=GREEN, pale=True, edge=GREEN)
        for element, thread in loads:
            line(axes, (place(element), top - 0.01), (place(thread), top + ROW - 0.155), GREEN, 1)
        for i, levels in enumerate(blocks):
            first = levels[0]["here"][0]
            frame = (left + first * step + 0.01, top + ROW - 0.26, threads * step - 0.02)
            box(axes, *frame, ROW * rows + 0.36, edge=FAINT)
            for thread in levels[0]["here"]:
                disc(axes, place(thread), top + ROW - 0.08, 0.09, f"{thread - first}", True)
            draw_lanes(axes, left, step, top + 2 * ROW - 0.08, levels, first)
            word(axes, place(first) - 0.05, top + ROW * (rows + 1) + 0.22, f"block {i}", MUTED, ha="left")
    return figure, what, first_add_words(data)


def first_add_words(data):
    say = lambda blocks: f"{len(blocks)} blocks of {data['threads']} threads, {len(blocks[0])} levels each"
    return "; ".join(f"{title}: {say(blocks)}" for title, blocks, _ in data["panels"]) + "."


# --- a warp's shuffles, and two levels of them ---


def shuffle(data, name):
    lanes = data["lanes"]
    what = "Five shuffles add up a warp"
    below = "Each lane adds the register of the lane d above. Blue: sums that reach the result; grey lanes add too"
    top, row, step = 0.8, 0.5, (WIDTH - 0.95) / lanes
    place = lambda lane: 0.85 + (lane + 0.5) * step
    figure, axes = paper(top + row * len(data["levels"]) + 0.2, name, what, below)
    for lane in range(lanes):
        disc(axes, place(lane), top, 0.09, f"{lane}", True)
    word(axes, 0.08, top, "registers", ha="left", fontweight="bold")
    for k, level in enumerate(data["levels"]):
        y = top + k * row
        for start, end in sorted(level["links"], key=lambda link: link[1] in level["counts"]):
            counts = end in level["counts"]
            look = (BLUE, 1.2) if counts else (FAINT, 0.6)
            line(axes, (place(start), y + 0.08), (place(end), y + row - 0.08), *look)
        for lane in level["counts"]:
            line(axes, (place(lane), y + 0.08), (place(lane), y + row - 0.08), BLUE, 1.2)
        for lane in range(lanes):
            disc(axes, place(lane), y + row, 0.09, f"{lane}", lane in level["counts"])
        word(axes, 0.08, y + row, f"d = {level['d']}", ha="left", fontweight="bold")
    counts = ", ".join(f"distance {level['d']}: {len(level['counts'])}" for level in data["levels"])
    return figure, what, f"Lanes whose sum is needed after each shuffle: {counts}."


def two_level(data, name):
    warps, lanes = data["warps"], data["lanes"]
    what = "A block adds up in two steps"
    below = f"{warps} warps of {lanes} lanes; only one word for each warp goes through shared memory"
    figure, axes = paper(2.9, name, what, below)
    wide, left = (WIDTH - 1.0) / warps, 0.95
    middle = lambda warp: left + (warp + 0.5) * wide
    for warp in range(warps):
        for lane in range(lanes):
            x = left + warp * wide + 0.05 + lane * (wide - 0.1) / lanes
            box(axes, x, 0.68, (wide - 0.1) / lanes, 0.14, fill=BLUE, pale=True, edge=BLUE, linewidth=0.4)
        for side in (-1, 1):
            line(axes, (middle(warp) + side * (wide / 2 - 0.05), 0.82), (middle(warp), 1.24), BLUE, 1.2)
        disc(axes, middle(warp), 1.3, 0.09, "0", True)
        word(axes, middle(warp), 0.6, f"warp {warp}", MUTED)
        arrow(axes, (middle(warp), 1.38), (left + 1.2 + warp * 0.26, 1.68), BLUE)
        box(axes, left + 1.07 + warp * 0.26, 1.68, 0.26, 0.17, f"{warp}", fill=GREEN, pale=True, edge=GREEN)
        arrow(axes, (left + 1.2 + warp * 0.26, 2.06), (left + 0.4 + warp * 0.18, 2.31), BLUE)
        disc(axes, left + 0.4 + warp * 0.18, 2.4, 0.085, f"{warp}", True)
    line(axes, (left, 1.97), (left + warps * wide, 1.97), ORANGE, 2.4)
    for y, text in ((0.75, "registers"), (1.05, "5 shuffles"), (1.76, "shared mem."), (1.97, "barrier"), (2.4, "warp 0")):
        word(axes, 0.08, y, text, ha="left", fontweight="bold")
    line(axes, (left + 0.32 + warps * 0.18, 2.4), (left + 2.08, 2.4), BLUE, 1.2)
    word(axes, left + 2.15, 2.4, "5 shuffles more: the block's sum, in lane 0 of warp 0", ha="left")
    word(axes, left + 2.15, 2.62, "the other warps are done", MUTED, ha="left")
    return figure, what, (
        f"Each of {warps} warps adds up its {lanes} lanes by shuffles, lane 0 of each writes a word to shared "
        f"memory, all meet at one barrier, and warp 0 adds up the {warps} words."
    )


# --- chapter 0: grid, block, warp, lane ---


def cells(axes, left, y, wide, high, count, color, names, chosen):
    """Draws a row of parts with the chosen part in full colour; returns its left and right edge."""
    each = wide / count
    for k in range(count):
        pale = k != chosen
        box(axes, left + k * each, y, each - 0.03, high, names(k), fill=color, pale=pale, edge=color)
    return left + chosen * each, left + (chosen + 1) * each - 0.03


def spread(axes, edges, y, left, wide, below):
    """Draws lines from a part to the row that shows its contents."""
    for x, end in zip(edges, (left, left + wide - 0.03)):
        line(axes, (x, y), (end, below), FAINT, 1)


def grid(data, name):
    what = "A grid, a block, a warp, a lane"
    below = "Each row enlarges the filled part of the row above; on the right, the memory that it shares"
    figure, axes = paper(3.1, name, what, below)
    left, wide, high, step = 0.62, 4.75, 0.3, 0.66
    rows = (
        ("grid", data["blocks"], lambda k: f"block {k}", BLUE, "global memory", "through L2, for all blocks"),
        ("block", data["warps"], lambda k: f"warp {k}", GREEN, "shared memory", "on the SM, and a barrier"),
        ("warp", data["lanes"], lambda k: f"{k}", ORANGE, "shuffles", "one instruction for all lanes"),
    )
    for k, (part, count, names, color, memory, note) in enumerate(rows):
        y = 0.75 + k * step
        word(axes, 0.1, y + high / 2, part, ha="left", fontweight="bold")
        edges = cells(axes, left, y, wide, high, count, color, names, 1)
        word(axes, left + wide + 0.12, y + 0.08, memory, color, ha="left", fontweight="bold")
        word(axes, left + wide + 0.12, y + 0.26, note, MUTED, ha="left")
        if k < 2:
            spread(axes, edges, y + high, left, wide, y + step)
    y = 0.75 + 3 * step - 0.08
    middle = sum(edges) / 2
    line(axes, (middle, y - step + high + 0.08), (middle, y), FAINT, 1)
    box(axes, left, y, 1.9, high, "lane 1: a thread, its registers", fill=PURPLE, pale=True, edge=PURPLE)
    word(axes, left + 2.05, y + high / 2, "threadIdx.x = 32 × warp + lane", MUTED, ha="left")
    return figure, what, (
        f"A grid of {data['blocks']} blocks, which share global memory; a block of {data['warps']} warps, which share "
        f"shared memory and a barrier; a warp of {data['lanes']} lanes, which execute one instruction together and can "
        "exchange registers; a lane is a thread and has registers of its own."
    )


# --- chapter 12: what CUB launches ---


def tile_row(axes, left, y, shares, colors):
    """Draws all tiles in a row in the colours of their blocks; returns the middle of each block's last tile."""
    owner = {tile: block for block, tiles in enumerate(shares) for tile in tiles}
    each, ends = 0.42, {}
    for tile in range(len(owner)):
        color = colors[owner[tile]]
        last = tile == len(owner) - 1
        wide = each * (0.6 if last else 1) - 0.04
        box(axes, left + tile * each, y, wide, 0.26, f"{tile}", fill=color, pale=True, edge=color)
    for block, tiles in enumerate(shares):
        ends[block] = [left + (tile + 0.45) * each for tile in tiles]
    return ends


def passes(data, name):
    tile = f"{data['tile']:,}"
    what = "What CUB launches"
    below = f"A tile is {tile} floats on the recorded devices; one tile is one launch, more are two"
    figure, axes = paper(3.15, name, what, below)
    colors = (BLUE, GREEN, ORANGE, PURPLE)
    word(axes, 0.1, 0.78, f"up to {tile} elements", ha="left", fontweight="bold")
    box(axes, 0.1, 0.95, 0.38, 0.26, "0", fill=BLUE, pale=True, edge=BLUE)
    arrow(axes, (0.29, 1.23), (0.29, 1.62), BLUE)
    box(axes, 0.1, 1.64, 0.9, 0.26, "block 0", fill=BLUE, edge=BLUE)
    arrow(axes, (0.55, 1.92), (0.55, 2.62), BLUE)
    word(axes, 0.55, 2.74, "the sum")
    left = 2.35
    word(axes, left, 0.78, f"more: {data['tiles']} tiles, the last one not full", ha="left", fontweight="bold")
    ends = tile_row(axes, left, 0.95, data["shares"], colors)
    for block in range(len(data["shares"])):
        x = left + 0.1 + block * 1.15
        box(axes, x, 1.64, 0.9, 0.26, f"block {block}", fill=colors[block], edge=colors[block])
        for end in ends[block]:
            arrow(axes, (end, 1.23), (x + 0.45, 1.62), colors[block], 0.8)
        box(axes, x + 0.2, 2.05, 0.5, 0.2, "partial", fill=colors[block], pale=True, edge=colors[block])
        arrow(axes, (x + 0.45, 2.27), (left + 2.2, 2.56), colors[block], 0.8)
    box(axes, left + 1.75, 2.58, 0.9, 0.26, "block 0", fill=INK, edge=INK)
    word(axes, left + 2.8, 2.71, "the sum", ha="left")
    for y, text in ((1.77, "first launch"), (2.71, "second launch")):
        word(axes, left - 0.12, y, text, MUTED, ha="right")
    shares = "; ".join(f"block {b} takes {', '.join(map(str, tiles))}" for b, tiles in enumerate(data["shares"]))
    return figure, what, (
        f"Up to {tile} elements: one tile, one block, one launch. More: {data['tiles']} tiles, dealt out in turn "
        f"({shares}); each block leaves a partial sum, and a second launch of one block adds them up."
    )


# --- chapter 13: two parts of a mean and a variance ---


def draw_part(axes, place, y, values, part, title, color):
    count, mean, squares = part
    line(axes, (place(0), y), (place(20), y), FAINT, 1)
    for value in values:
        line(axes, (place(value), y), (place(mean), y + 0.2), color, 0.7, alpha=0.6)
        disc(axes, place(value), y, 0.085, f"{value}", True, color)
    line(axes, (place(mean), y - 0.14), (place(mean), y + 0.3), color, 1.8)
    word(axes, 0.1, y, title, ha="left", fontweight="bold")
    text = f"count {count}, mean {mean:g}, M₂ = {squares:g}"
    word(axes, WIDTH - 0.1, y, text, color, ha="right", fontweight="bold")


def merge(data, name):
    what = "Two parts become one"
    below = "Mean and squared distances from it: neither part's elements are needed again"
    figure, axes = paper(3.0, name, what, below)
    place = lambda value: 0.95 + value * 0.2
    (a, b), whole = data["parts"], data["whole"]
    draw_part(axes, place, 0.95, data["values"][0], a, "part a", BLUE)
    draw_part(axes, place, 1.6, data["values"][1], b, "part b", GREEN)
    draw_part(axes, place, 2.3, data["values"][0] + data["values"][1], whole, "both", ORANGE)
    for part, top, color in ((a, 1.25, BLUE), (b, 1.9, GREEN)):
        line(axes, (place(part[1]), top), (place(part[1]), 2.02), color, 1, linestyle=":")
    arrow(axes, (place(a[1]), 2.02), (place(b[1]), 2.02), INK)
    arrow(axes, (place(b[1]), 2.02), (place(a[1]), 2.02), INK)
    word(axes, place((a[1] + b[1]) / 2), 1.92, f"δ = {b[1] - a[1]:g}")
    extra = (b[1] - a[1]) ** 2 * a[0] * b[0] / whole[0]
    foot = f"M₂ = {a[2]:g} + {b[2]:g} + δ² × {a[0]} × {b[0]} ÷ {whole[0]} = {a[2]:g} + {b[2]:g} + {extra:g} = {whole[2]:g}"
    word(axes, 0.95, 2.82, foot, MUTED, ha="left")
    say = lambda title, part: f"{title}: count {part[0]}, mean {part[1]:g}, M2 {part[2]:g}"
    return figure, what, f"{say('Part a', a)}. {say('Part b', b)}. {say('Merged', whole)}; the means are {b[1] - a[1]:g} apart."


# --- chapter 14: orders of addition ---


def places_of(order, n, left, wide, top, high):
    """The places of elements and sums: {node: (x, y)}; the result is lowest."""
    above, spot = depths(order["adds"]), {}
    deepest = max(above.values())
    each = wide / n
    for k in range(n):
        spot[str(k)] = (left + (k + 0.5) * each, top)
    for result, a, b in order["adds"]:
        x = spot[b][0] if order["how"] == "sequential" else (spot[a][0] + spot[b][0]) / 2
        spot[result] = (x, top + high * (deepest - above[result]) / deepest)
    return spot


def draw_order(axes, order, spot, mark):
    """Draws all additions, with the path of one element in orange."""
    way = {mark}
    for result, a, b in order["adds"]:
        for part in (a, b):
            ours = part in way
            line(axes, spot[part], spot[result], ORANGE if ours else BLUE, 1.8 if ours else 0.8, zorder=2 if ours else 1)
        if way & {a, b}:
            way.add(result)
    for node, (x, y) in spot.items():
        leaf = "+" not in node
        color = ORANGE if node in way else BLUE
        first = node == mark
        disc(axes, x, y, 0.09 if first else 0.05 if leaf else 0.035, node if first else "", True, color)
    return len(way) - 1


def orders(data, name):
    n, threads = data["n"], data["threads"]
    what = "How many additions each element passes through"
    below = f"{n} elements, above, and their sum, below; orange: the path of element 0. Each addition rounds once"
    figure, axes = paper(3.5, name, what, below)
    titles = {"sequential": "one thread", "grid-stride": f"{threads} threads, then a tree", "tree": "a tree"}
    texts = []
    for k, order in enumerate(data["orders"]):
        left, wide = 0.1 + k * 2.4, 2.2
        word(axes, left, 0.78, titles[order["how"]], ha="left", fontweight="bold")
        high = 2.1 * max(0.35, order["most"] / (n - 1))
        spot = places_of(order, n, left, wide, 1.02, high)
        through = draw_order(axes, order, spot, "0")
        word(axes, left, 3.3, f"at most {order['most']} additions", ORANGE, ha="left", fontweight="bold")
        texts.append(f"{titles[order['how']]}: at most {order['most']}, element 0 through {through}")
    return figure, what, f"Additions that each of {n} elements goes through. {'; '.join(texts)}."


PICTURES = {
    "tree": tree, "last_warp": last_warp, "first_add": first_add, "shuffle": shuffle, "two_level": two_level,
    "grid": grid, "passes": passes, "merge": merge, "orders": orders,
}
