"""row_scenes.py: drawings of rows: how they are assigned, how lanes swap halves, shares of ragged rows."""

from style import arrow, box, disc, line, paper, word
from style import BLUE, FAINT, GREEN, INK, MUTED, ORANGE

# --- assignment of rows ---

LEFT, WIDE = 1.5, 4.15  # of the elements
LEVEL = 0.26  # from shuffle to shuffle
NOTES = LEFT + WIDE + 0.15


def row_notes(axes, y, title, owner, notes):
    """Writes what the rows are and who takes them on the left, and the cost on the right."""
    word(axes, 0.1, y + 0.07, title, ha="left", fontweight="bold")
    word(axes, 0.1, y + 0.25, owner, BLUE, ha="left", fontweight="bold")
    for k, note in enumerate(notes):
        word(axes, NOTES, y + 0.07 + 0.16 * k, note, MUTED, ha="left")


def squares(axes, y, count, group, color):
    """Draws elements in a row, with a gap after each group; returns the middle of each."""
    each = WIDE / count
    for k in range(count):
        row = k // group
        look = {"fill": color(row), "pale": True, "edge": color(row), "linewidth": 0.5}
        box(axes, LEFT + k * each + 0.008, y, each - 0.018, 0.13, **look)
    for k in range(group, count, group):
        line(axes, (LEFT + k * each, y - 0.04), (LEFT + k * each, y + 0.17), INK, 1.1)
    return [LEFT + (k + 0.5) * each for k in range(count)]


def result(axes, x, y):
    box(axes, x - 0.06, y - 0.06, 0.12, 0.12, fill=GREEN, edge=GREEN)


def draw_lanes(axes, y, panel, elements):
    """Draws rows with their lanes: loads, and discs before and after each shuffle."""
    at = squares(axes, y, elements, panel["cols"], lambda row: GREEN)
    each, vector = WIDE / panel["rows"], panel["cols"] // len(panel["loads"])
    apart = min(each / panel["lanes"], 0.5)
    for row in range(panel["rows"]):
        middle = LEFT + (row + 0.5) * each
        spot = [middle + (lane - (panel["lanes"] - 1) / 2) * apart for lane in range(panel["lanes"])]
        for v, lane in panel["loads"]:
            start = row * panel["cols"] + v * vector
            line(axes, ((at[start] + at[start + vector - 1]) / 2, y + 0.13), (spot[lane], y + 0.36), GREEN, 0.9)
            line(axes, (at[start], y + 0.15), (at[start + vector - 1], y + 0.15), GREEN, 1.4)
        draw_shuffles(axes, spot, y + 0.4, panel["distances"])
        result(axes, spot[0], y + 0.59 + LEVEL * len(panel["distances"]))


def draw_shuffles(axes, spot, y, distances):
    """Draws each lane's addition of the value d lanes away; blue marks what lane 0 gets."""
    counts = len(spot)
    for lane, x in enumerate(spot):
        disc(axes, x, y, 0.085, f"{lane}", True)
    for k, d in enumerate(distances):
        above, below = y + LEVEL * k, y + LEVEL * (k + 1)
        counts = min(counts, d)
        for lane, x in enumerate(spot):
            ours = lane < counts
            for other in (lane, lane ^ d):
                line(axes, (spot[other], above), (x, below), BLUE if ours else FAINT, 1.1 if ours else 0.7, zorder=2 if ours else 1)
            disc(axes, x, below, 0.085, f"{lane}", ours)
    end = y + LEVEL * len(distances)
    line(axes, (spot[0], end), (spot[0], end + 0.16), BLUE, 1.1, zorder=1)


def draw_block(axes, y, panel):
    """Draws a row for one block: warps, their words in shared memory, and the only barrier."""
    colors, warps = (BLUE, ORANGE), panel["threads"] // 32
    group = 64 // len(panel["warps"])
    at = squares(axes, y, 64, 64, lambda row: GREEN)
    spots = [LEFT + WIDE * (w + 0.5) / warps for w in range(warps)]
    for k, w in enumerate(panel["warps"]):
        first, last = at[k * group], at[k * group + group - 1]
        line(axes, (first, y + 0.16), (last, y + 0.16), colors[w % 2], 1.6)
        line(axes, ((first + last) / 2, y + 0.16), (spots[w], y + 0.4), colors[w % 2], 0.9)
    for w, x in enumerate(spots):
        box(axes, x - 0.75, y + 0.4, 1.5, 0.2, f"warp {w}: 5 shuffles", fill=colors[w % 2], edge=colors[w % 2])
        line(axes, (x, y + 0.6), (x, y + 0.74), colors[w % 2], 0.9)
        look = {"fill": GREEN, "pale": True, "edge": GREEN}
        box(axes, x - 0.2, y + 0.74, 0.4, 0.17, "word", **look)
    line(axes, (LEFT, y + 0.99), (LEFT + WIDE, y + 0.99), ORANGE, 2.2)
    word(axes, LEFT, y + 0.9, "barrier", ORANGE, ha="left", fontweight="bold")
    middle = LEFT + WIDE / 2
    box(axes, middle - 0.75, y + 1.08, 1.5, 0.2, "1 shuffle more", fill=BLUE, edge=BLUE)
    for x in spots:
        line(axes, (x, y + 0.91), (middle, y + 1.08), GREEN, 0.9)
    line(axes, (middle, y + 1.28), (middle, y + 1.4), BLUE, 1.1)
    result(axes, middle, y + 1.44)


def draw_parts(axes, y, panel):
    """Draws a row for several blocks: each posts its part, and the last one waits for all parts."""
    scale, x = WIDE / panel["cols"], LEFT
    each, last = WIDE / len(panel["parts"]), len(panel["parts"]) - 1
    for k, floats in enumerate(panel["parts"]):
        wide = floats * scale
        box(axes, x + 0.01, y, wide - 0.02, 0.13, fill=GREEN, pale=True, edge=GREEN)
        place = LEFT + k * each
        line(axes, (x + wide / 2, y + 0.13), (place + each / 2, y + 0.32), GREEN, 0.9)
        box(axes, place + 0.04, y + 0.32, each - 0.08, 0.22, f"block {k}", fill=BLUE, edge=BLUE)
        if k < last:
            arrow(axes, (place + each / 2, y + 0.54), (place + each / 2, y + 0.72), BLUE)
            box(axes, place + each / 2 - 0.25, y + 0.73, 0.12, 0.2, "1", fill=ORANGE, pale=True, edge=ORANGE)
            box(axes, place + each / 2 - 0.13, y + 0.73, 0.4, 0.2, "part", fill=GREEN, pale=True, edge=GREEN)
        x += wide
    right, first = LEFT + last * each, LEFT + each / 2
    line(axes, (first, y + 1.04), (right + each / 2, y + 1.04), BLUE, 0.9)
    for k in range(last):
        line(axes, (first + k * each, y + 0.93), (first + k * each, y + 1.04), BLUE, 0.9)
    arrow(axes, (right + each / 2, y + 1.04), (right + each / 2, y + 0.55), BLUE)
    result(axes, right + each - 0.06, y + 0.72)
    line(axes, (right + each - 0.06, y + 0.54), (right + each - 0.06, y + 0.66), BLUE, 1.1)


def owners(data, name):
    what = "Which threads sum a row"
    below = "Framed: the elements; a green line below them is one load of 16 bytes. Filled green: a row's result"
    figure, axes = paper(7.25, name, what, below)
    y, lanes = 0.78, data["lanes"]
    owner = lambda p: "a thread for each" if p["lanes"] == 1 else f"{p['lanes']} lanes of a warp"
    for panel in lanes:
        shuffles = len(panel["distances"])
        many = f"{panel['rows']} rows of {panel['cols']}" if panel["rows"] > 1 else f"a row of {panel['cols']}"
        cost = f"{shuffles} shuffle{'s' * (shuffles > 1)}" if shuffles else "no shuffle"
        row_notes(axes, y, many, owner(panel), (cost, "no barrier"))
        draw_lanes(axes, y, panel, data["elements"])
        y += 0.88 + LEVEL * shuffles
    block, parts = data["block"], data["parts"]
    title = f"a row of {block['cols']:,}"
    row_notes(axes, y, title, f"a block of {block['threads']}", ("shuffles, one barrier;", "a square: 16 elements"))
    draw_block(axes, y, block)
    y += 1.68
    title, blocks = f"a row of {parts['cols']:,}", len(parts["parts"])
    notes = ("if there are few rows;", "the last block waits", "for the others' parts,", "in mailboxes")
    row_notes(axes, y, title, f"{blocks} blocks", notes)
    draw_parts(axes, y, parts)
    return figure, what, owners_words(data)


def owners_words(data):
    texts = [
        f"rows of {p['cols']}: {p['lanes']} lane{'s' * (p['lanes'] > 1)} each, {len(p['distances'])} shuffles"
        for p in data["lanes"]
    ]
    block, parts = data["block"], data["parts"]
    texts.append(f"a row of {block['cols']:,}: a block of {block['threads']} threads, whose warps store a word each and wait at one barrier")
    texts.append(
        f"a row of {parts['cols']:,}, if there are few: {len(parts['parts'])} blocks, of which all but the last post their "
        "part in mailboxes, and the last one waits and writes"
    )
    return "Which threads sum a row, by its length. " + "; ".join(texts) + "."


# --- swapping halves ---


def draw_has(axes, left, y, step, each, lanes, marked):
    """Draws the values of every lane in a column, filled if they include all lanes' elements."""
    for lane, has in enumerate(step["has"]):
        for k, (row, of) in enumerate(has):
            color = ORANGE if row == marked else BLUE
            whole = of == lanes
            look = {"fill": color, "edge": color, "linewidth": 0.5, "pale": not whole}
            box(axes, left + lane * each, y + k * 0.19, each - 0.02, 0.17, f"{row}", **look)


def swap_halves(data, name):
    lanes, steps = data["lanes"], data["steps"]
    what = f"{lanes} rows, {lanes} lanes, {lanes - 1} shuffles"
    below = "Columns: lanes. Numbers: the rows of which a lane has a part. Lanes d apart swap the half that is not theirs"
    figure, axes = paper(2.85, name, what, below)
    each, gap = 0.185, 0.22
    left, y = 0.1, 1.18
    for k, step in enumerate(steps):
        many = lanes >> k
        title = "loaded" if k == 0 else f"d = {step['d']}: {many} shuffle{'s' * (many > 1)}"
        word(axes, left, 0.78, title, ha="left", fontweight="bold")
        caption = f"of {1 << k} lane{'s' * (k > 0)}"
        word(axes, left, 0.94, caption, MUTED, ha="left")
        for lane in range(lanes):
            word(axes, left + (lane + 0.45) * each, 1.09, f"{lane}", MUTED)
        draw_has(axes, left, y, step, each, lanes, data["marked"])
        if k + 1 < len(steps):
            x = left + lanes * each
            arrow(axes, (x + 0.02, y + 0.08), (x + gap + 0.06, y + 0.08), MUTED)
        left += lanes * each + gap + 0.1
    foot = (
        f"Orange: the path of row {data['marked']}.",
        "In the end lane l has all of row l, and one store",
        f"writes {lanes} results side by side.",
    )
    for k, text in enumerate(foot):
        word(axes, 3.72, 2.0 + 0.18 * k, text, MUTED, ha="left")
    last = len(steps) - 1
    return figure, what, (
        f"At first each of {lanes} lanes has one element of each of {lanes} rows. In {last} steps lanes "
        f"{', '.join(str(step['d']) for step in steps[1:])} apart give each other the half of their rows that they do not keep: "
        f"{lanes - 1} shuffles. Then lane l has the whole of row l."
    )


# --- ragged rows ---

CELL, HIGH, STEP = 0.27, 0.24, 0.62


def draw_share(axes, left, y, data, share, split):
    """Draws the steps of one share: elements as frames, and ends of rows as filled, numbered cells."""
    for k, (row, end) in enumerate(data["path"][share["start"] : share["stop"]]):
        color = ORANGE if row in split else (BLUE, GREEN)[row % 2]
        look = {"edge": color, "linewidth": 0.6, "fill": color, "pale": not end}
        box(axes, left + k * CELL, y, CELL - 0.025, HIGH, f"{row}" if end else "", **look)


def rows_text(rows):
    return f"row {rows[0]}" if len(rows) == 1 else f"rows {rows[0]} to {rows[-1]}"


def draw_piece(axes, x, y, row):
    box(axes, x, y, 0.98, HIGH, f"part of row {row}", fill=ORANGE, pale=True, edge=ORANGE)


def ragged(data, name):
    shares = data["shares"]
    what = "Ragged rows, cut into equal shares"
    below = (
        f"{data['elements']} elements, framed, and {data['rows']} ends of rows, filled: a path of {len(data['path'])} "
        "steps. Orange: rows of several blocks"
    )
    figure, axes = paper(0.85 + STEP * len(shares) + 0.05, name, what, below)
    split = {share["posts"] for share in shares} - {None}
    left, top = 1.6, 0.85
    mail = left + max(share["stop"] - share["start"] for share in shares) * CELL + 0.24
    collectors = [b for b, share in enumerate(shares) if share["collects"]]
    ways = {b: (0.07, 0.16)[k % 2] for k, b in enumerate(collectors)}  # neighbouring paths do not overlap
    for b, share in enumerate(shares):
        y = top + b * STEP
        word(axes, 0.1, y + 0.06, f"block {b}", ha="left", fontweight="bold")
        inside = share["start"] > share["began"]
        found = f"inside row {share['first']}" if inside else f"row {share['first']} begins"
        word(axes, 0.1, y + 0.22, f"step {share['start']}: {found}", MUTED, ha="left")
        draw_share(axes, left, y, data, share, split)
        writes = f"writes {rows_text(share['writes'])}" if share["writes"] else "writes nothing"
        word(axes, left, y + HIGH + 0.11, writes, GREEN if share["writes"] else MUTED, ha="left", fontweight="bold")
        if share["posts"] is not None:
            draw_piece(axes, mail, y, share["posts"])
        if share["collects"]:
            draw_paths(axes, mail, mail - ways[b], top, share, b)
    return figure, what, ragged_words(data)


def draw_paths(axes, mail, way, top, share, collector):
    """Draws lines from the parts at x = mail, via x = way, to the block that collects them, with a label."""
    blocks, down = share["collects"], top + collector * STEP + HIGH + 0.11
    middle = lambda b: top + b * STEP + HIGH / 2
    for b in blocks:
        line(axes, (mail, middle(b)), (way, middle(b)), ORANGE, 1.1)
    line(axes, (way, middle(blocks[0])), (way, down), ORANGE, 1.1)
    arrow(axes, (way, down), (mail - 0.26, down), ORANGE, 1.1)
    text = f"collects from block{'s' * (len(blocks) > 1)} {' and '.join(map(str, blocks))}"
    word(axes, mail - 0.29, down, text, ORANGE, ha="right", fontweight="bold")


def ragged_words(data):
    texts = []
    for b, share in enumerate(data["shares"]):
        text = f"block {b} begins in row {share['first']}"
        text += f", writes {rows_text(share['writes'])}" if share["writes"] else ", writes nothing"
        text += f", collects parts from {', '.join(map(str, share['collects']))}" if share["collects"] else ""
        text += f", leaves its part of row {share['posts']}" if share["posts"] is not None else ""
        texts.append(text)
    return f"{data['rows']} rows with {data['elements']} elements, as one path in equal shares: " + "; ".join(texts) + "."


# --- the roles of a block's warps ---

ROLE = 0.36  # from one line of the picture to the next


def draw_spans(axes, y, scale, spans, color, pale):
    for text, start, length in spans:
        look = {"fill": color, "edge": color, "linewidth": 0.5, "pale": pale}
        box(axes, 1.62 + start * scale + 0.01, y, length * scale - 0.02, 0.24, text, **look)


def warp_roles(data, name):
    what = "Warp specialisation: who does what in a block of ragged rows"
    below = "Time runs to the right. Pale: a copy fills the buffer. Filled: warps work, or use the buffer"
    figure, axes = paper(3.2, name, what, below)
    scale, tiles = 5.4 / data["end"], list(zip(data["copies"], data["adds"]))
    lines = [("warp 8", "search", data["search"][0]), ("warp 9", "search", data["search"][1])]
    lines += [("warp 10", "starts copies", [["", copy[0] - 0.5, 1] for copy, _ in tiles])]
    lines += [(f"buffer {k}", "full, empty", []) for k in range(2)]
    lines += [("warps 0 to 7", "add", [[f"tile {t}", *add] for t, (_, add) in enumerate(tiles)])]
    for k, (who, does, spans) in enumerate(lines):
        y = 0.8 + k * ROLE
        word(axes, 0.1, y + 0.06, who, ha="left", fontweight="bold")
        word(axes, 0.1, y + 0.21, does, MUTED, ha="left")
        draw_spans(axes, y, scale, spans, ORANGE if k < 3 else BLUE, False)
    for t, (copy, add) in enumerate(tiles):
        y = 0.8 + (3 + t % 2) * ROLE
        draw_spans(axes, y, scale, [[f"tile {t}", *copy]], GREEN, True)
        draw_spans(axes, y, scale, [["", add[0], add[1]]], GREEN, False)
        x = 1.62 + copy[0] * scale
        arrow(axes, (x, 0.8 + 2 * ROLE + 0.24), (x, y), ORANGE)
    return figure, what, (
        f"The roles of a block's warps over time, for {len(tiles)} tiles and two buffers. Two warps search for cuts in turn. A third "
        "warp starts the copy of a tile when its cut is known and its buffer is empty. Eight warps add a tile when its buffer is full, "
        "and then mark it as empty, while the other buffer fills."
    )


PICTURES = {"row_owners": owners, "swap_halves": swap_halves, "ragged": ragged, "warp_roles": warp_roles}
