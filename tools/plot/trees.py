"""trees.py: drawings of trees: which thread adds what, level by level, and who is idle.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from sketch import arrow, box, disc, line, paper, word
from style import BLUE, FAINT, GREEN, GREY, INK, MUTED, ORANGE, WIDTH

# --- a tree in shared memory: words, threads, words ---

LEFT, STEP, LEVEL = 0.98, 0.285, 0.86  # inches: the first column, from column to column, a level


def column(i):
    return LEFT + i * STEP


def draw_words(axes, y, live, threads):
    """s[0], s[1], ...: pale blue where a word still counts."""
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
    """[text, stands out] beside a level."""
    adds, warps = len(level["adds"]), threads // lanes
    notes = [
        [f"{adds} of {threads} threads add", False],
        [f"{len(level['busy'])} of {warps} warps busy", len(level["busy"]) == warps],
    ]
    if level["turns"] > 1:
        notes.append([f"same bank: {level['turns']} turns", True])
    return notes


def draw_level(axes, y, number, level, tree):
    """From the words at y over the threads to the words of the next level."""
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
    small = f"Drawn small: {threads} threads, warps of {lanes} lanes and {lanes} banks. Really 32 of both"
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


# --- rows of threads that take over each other's sums ---

ROW = 0.4


def draw_lanes(axes, left, step, y, rows, first=0, radius=0.09):
    """The rows of a tree, downwards from y on: links and discs, threads counted from `first` on."""
    place = lambda thread: left + (thread + 0.5) * step
    for row in rows:
        for start, end in row["links"]:
            line(axes, (place(start), y - ROW + radius), (place(end), y - radius), BLUE, 1)
        for thread in row["here"]:
            disc(axes, place(thread), y, radius, f"{thread - first}", thread in row["adds"])
        y += ROW


def draw_meeting(axes, left, wide, y, meet):
    """A barrier, as wide as those who have to come."""
    color = ORANGE if meet == "block" else GREEN
    line(axes, (left, y), (left + wide, y), color, 2.4, solid_capstyle="butt")


def last_warp(data, name):
    threads, lanes = data["threads"], data["lanes"]
    what = "Who has to come to the barrier"
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
        for i, row in enumerate([{"meet": "block", "here": range(threads)}, *levels]):
            wide = len(row["here"]) * step
            draw_meeting(axes, left, wide, top + 0.06 + i * ROW, row["meet"])
            if wide < threads * step:
                word(axes, left + wide + 0.12, top - 0.08 + i * ROW, "ended", MUTED, ha="left")
    foot = top + ROW * rows + 0.42
    for left, meet, text in ((0.12, "block", "__syncthreads(): every warp"), (3.74, "warp", "__syncwarp(): this warp")):
        draw_meeting(axes, left, 0.35, foot, meet)
        word(axes, left + 0.45, foot, text, MUTED, ha="left")
    return figure, what, last_warp_words(data)


def last_warp_words(data):
    say = lambda rows: ", ".join(f"{len(row['adds'])} threads add, the {row['meet']} waits" for row in rows)
    return "; ".join(f"{title}: {say(rows)}" for title, rows in data["panels"]) + "."


def first_add(data, name):
    threads = data["threads"]
    what = "Two blocks, or two elements to a thread"
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
    below = "Each lane takes the register of the lane d places up. Blue: sums that count in the end; grey lanes add too"
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
    return figure, what, f"Lanes whose sum counts after each shuffle: {counts}."


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
    word(axes, left + 2.15, 2.62, "the other warps have nothing left to do", MUTED, ha="left")
    return figure, what, (
        f"Each of {warps} warps adds up its {lanes} lanes by shuffles, lane 0 of each writes a word to shared "
        f"memory, all meet at one barrier, and warp 0 adds up the {warps} words."
    )


PICTURES = {
    "tree": tree,
    "last_warp": last_warp,
    "first_add": first_add,
    "shuffle": shuffle,
    "two_level": two_level,
}
