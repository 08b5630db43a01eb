"""ideas.py: drawings of parts that become one: threads of a grid, tiles of CUB, parts of a variance, orders
of additions.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from parts import depths
from sketch import arrow, box, disc, line, paper, word
from style import BLUE, FAINT, GREEN, INK, MUTED, ORANGE, PURPLE, WIDTH

# --- chapter 0: grid, block, warp, lane ---


def cells(axes, left, y, wide, high, count, color, names, chosen):
    """A row of parts, of which the chosen one is whole in colour; returns its left and right edge."""
    each = wide / count
    for k in range(count):
        pale = k != chosen
        box(axes, left + k * each, y, each - 0.03, high, names(k), fill=color, pale=pale, edge=color)
    return left + chosen * each, left + (chosen + 1) * each - 0.03


def spread(axes, edges, y, left, wide, below):
    """Lines from a part to the row that shows what it is made of."""
    for x, end in zip(edges, (left, left + wide - 0.03)):
        line(axes, (x, y), (end, below), FAINT, 1)


def grid(data, name):
    what = "A grid, a block, a warp, a lane"
    below = "A row is what the filled part of the row above is made of; on the right, the memory that it shares"
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
    """All tiles in a row, in the colours of their blocks; returns the middle of each block's last one."""
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
    told = f"count {count}, mean {mean:g}, M₂ = {squares:g}"
    word(axes, WIDTH - 0.1, y, told, color, ha="right", fontweight="bold")


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
    """Where each element and each sum stands: {node: (x, y)}; the result is lowest."""
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
    """All additions; in orange the way of one element."""
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
    what = "How many additions an element goes through"
    below = f"{n} elements, above, and their sum, below; orange: the way of element 0. Each addition rounds once"
    figure, axes = paper(3.5, name, what, below)
    titles = {"sequential": "one thread", "grid-stride": f"{threads} threads, then a tree", "tree": "a tree"}
    told = []
    for k, order in enumerate(data["orders"]):
        left, wide = 0.1 + k * 2.4, 2.2
        word(axes, left, 0.78, titles[order["how"]], ha="left", fontweight="bold")
        high = 2.1 * max(0.35, order["most"] / (n - 1))
        spot = places_of(order, n, left, wide, 1.02, high)
        through = draw_order(axes, order, spot, "0")
        word(axes, left, 3.3, f"at most {order['most']} additions", ORANGE, ha="left", fontweight="bold")
        told.append(f"{titles[order['how']]}: at most {order['most']}, element 0 through {through}")
    return figure, what, f"Additions that each of {n} elements goes through. {'; '.join(told)}."


PICTURES = {"grid": grid, "passes": passes, "merge": merge, "orders": orders}
