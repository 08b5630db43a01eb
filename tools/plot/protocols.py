"""protocols.py: drawings of communication between blocks and GPUs: ticket, mailbox, edges, all-reduce."""

from style import arrow, box, line, paper, word
from style import BLUE, FAINT, GREEN, MUTED, ORANGE, WIDTH

# --- chapters 10 and 11: blocks as rows, time to the right ---

LEFT, HIGH = 0.75, 0.27


def draw_load(axes, y, block, end):
    """Draws a block's name and its first phase."""
    word(axes, 0.1, y + HIGH / 2, f"block {block}", ha="left", fontweight="bold")
    draw_step(axes, LEFT, y, end - LEFT, "", BLUE)
    word(axes, LEFT + 0.1, y + HIGH / 2, "load and add", ha="left")


def draw_step(axes, x, y, wide, text, color, pale=True):
    box(axes, x, y, wide, HIGH, text, fill=color, edge=color, pale=pale)


def fence(axes, x, y):
    """Draws a fence: everything on its left happens before everything on its right."""
    line(axes, (x, y - 0.07), (x, y + HIGH + 0.07), ORANGE, 3)
    word(axes, x, y - 0.14, "fence", ORANGE, fontweight="bold")


def draw_ticket(axes, y, start, number, partials, counter):
    """Draws a block that writes its sum and takes a ticket; returns the time at which it has it."""
    draw_step(axes, start, y, 0.58, "write sum", BLUE, False)
    fence(axes, start + 0.65, y)
    draw_step(axes, start + 0.72, y, 0.52, f"ticket {number}", ORANGE)
    arrow(axes, (start + 0.29, y + HIGH), (start + 0.29, partials), BLUE)
    arrow(axes, (start + 0.98, y + HIGH), (start + 0.98, counter), ORANGE)
    return start + 1.24


def draw_last(axes, x, y):
    """Draws the work of the last block from x on."""
    fence(axes, x + 0.08, y)
    draw_step(axes, x + 0.16, y, 0.62, "read sums", BLUE, False)
    draw_step(axes, x + 0.78, y, 0.36, "add", BLUE)
    draw_step(axes, x + 1.14, y, 0.68, "write result", BLUE, False)


def ticket(data, name):
    what = "The ticket: the block with the last number adds all sums"
    below = "Time goes to the right. A fence orders the accesses before it ahead of those after it"
    figure, axes = paper(3.6, name, what, below)
    blocks = len(data["order"])
    tops = [0.85 + k * 0.6 for k in range(blocks)]
    partials, counter = 2.72, 3.22
    for number, (block, y, start) in enumerate(zip(data["order"], tops, data["starts"])):
        draw_load(axes, y, block, start)
        end = draw_ticket(axes, y, start, number, partials, counter)
        box(axes, start + 0.03, partials, 0.52, 0.28, f"sum {block}", fill=GREEN, pale=True, edge=GREEN)
        turn = f"{number} → {(number + 1) % blocks}"
        box(axes, start + 0.75, counter, 0.46, 0.28, turn, fill=ORANGE, pale=True, edge=ORANGE)
        if number < blocks - 1:
            word(axes, end + 0.08, y + HIGH / 2, "not the last: ends", MUTED, ha="left")
    draw_last(axes, end, tops[-1])
    for start in data["starts"]:
        arrow(axes, (start + 0.55, partials + 0.06), (end + 0.47, tops[-1] + HIGH), BLUE, 0.9)
    word(axes, 0.1, partials + 0.14, "partial[ ]", ha="left", fontweight="bold")
    word(axes, 0.1, counter + 0.14, "tickets", ha="left", fontweight="bold")
    return figure, what, (
        "Each block loads and adds, writes its partial sum, passes a fence and takes a ticket. The block that "
        f"draws ticket {blocks - 1} is the last: it passes a second fence, reads all partial sums, adds them and "
        "writes the result; the counter is back at 0."
    )


def draw_letter(axes, x, y, flag, text):
    """Draws a mailbox: a flag and a value in one word."""
    look = {"pale": True} if flag else {}
    box(axes, x, y, 0.26, 0.28, "flag" if flag else "0", fill=ORANGE if flag else None, edge=ORANGE, **look)
    box(axes, x + 0.26, y, 0.5, 0.28, text, fill=GREEN if flag else None, edge=GREEN, **look)


def mailbox(data, name):
    what = "The mailbox: flag and sum in one word"
    below = "Time goes to the right. One 64-bit store writes both, so no fence is needed"
    figure, axes = paper(3.3, name, what, below)
    tops = [0.8 + k * 0.56 for k in range(len(data["starts"]))]
    boxes, last = 2.54, len(data["starts"]) - 1
    for block, (y, start) in enumerate(zip(tops, data["starts"])):
        draw_load(axes, y, block, start)
        if block < last:
            draw_step(axes, start, y, 0.5, "post", BLUE, False)
            arrow(axes, (start + 0.25, y + HIGH), (start + 0.25, boxes), BLUE)
            word(axes, start + 0.58, y + HIGH / 2, "ends", MUTED, ha="left")
            draw_letter(axes, start - 0.13, boxes, True, f"sum {block}")
    y, looks = tops[-1], [data["starts"][-1] + 0.65 * k for k in range(data["looks"])]
    for k, left in enumerate(looks):
        full = k == len(looks) - 1
        draw_step(axes, left, y, 0.58, "all there" if full else "poll: no", ORANGE, not full)
    end = looks[-1] + 0.65
    draw_step(axes, end, y, 0.72, "clear them", BLUE, False)
    draw_step(axes, end + 0.72, y, 0.36, "add", BLUE)
    draw_step(axes, end + 1.08, y, 0.68, "write result", BLUE, False)
    arrow(axes, (end + 0.36, y + HIGH), (end + 0.36, boxes), BLUE)
    draw_letter(axes, end - 0.02, boxes, False, "0")
    word(axes, 0.1, boxes + 0.14, "mailboxes", ha="left", fontweight="bold")
    word(axes, end + 0.82, boxes + 0.14, "as before the launch", MUTED, ha="left")
    foot = "The last block to start waits; all others already run and never wait. It polls until every flag is set"
    word(axes, 0.1, boxes + 0.55, foot, MUTED, ha="left")
    return figure, what, (
        "Each block but the last posts one 64-bit word, a flag and its sum, and ends. The last block "
        "to start has added its own part, polls the mailboxes until all flags are set, clears them, adds, and "
        "writes the result. There is no fence."
    )


# --- chapter 11: head, body, edges ---


def edges(data, name):
    what = "A misaligned input: head, vectors and tail"
    below = (
        f"{data['n']} floats that start {data['offset']} floats past a boundary; a row is a line of "
        f"{4 * data['line']} bytes"
    )
    last = data["offset"] + data["n"]
    rows = -(-last // data["line"])
    wide, left, top = 5.2 / data["line"], 0.12, 0.78
    figure, axes = paper(top + rows * 0.5 + 0.3, name, what, below)
    for i in range(rows * data["line"]):
        at, inside = i - data["offset"], 0 <= i - data["offset"] < data["n"]
        edge = inside and not 0 <= at - data["head"] < data["vectors"] * data["vector"]
        x, y = left + i % data["line"] * wide, top + i // data["line"] * 0.5
        color = ORANGE if edge else BLUE
        look = {"fill": color, "pale": not edge, "edge": color} if inside else {"edge": FAINT}
        box(axes, x, y, wide - 0.02, 0.26, linewidth=0.6, **look)
    for k in range(data["vectors"]):
        i = data["offset"] + data["head"] + k * data["vector"]
        x, y = left + i % data["line"] * wide, top + i // data["line"] * 0.5
        box(axes, x - 0.015, y - 0.03, data["vector"] * wide + 0.01, 0.32, edge=BLUE, linewidth=1.3)
    tail = f"tail: {data['tail']} floats"
    notes = [(f"head: {data['head']} floats", ORANGE), (f"body: {data['vectors']} vectors of 4", BLUE), (tail, ORANGE)]
    for row, (text, color) in enumerate(notes):
        word(axes, 5.42, top + row * 0.5 + 0.13, text, color, ha="left", fontweight="bold")
    foot = f"Head and tail: {data['head'] + data['tail']} floats, one per thread. Framed: 16 bytes that one load reads"
    word(axes, left, top + rows * 0.5 + 0.06, foot, MUTED, ha="left")
    return figure, what, (
        f"The head, {data['head']} floats up to the first boundary of {4 * data['line']} bytes; the body, "
        f"{data['vectors']} vectors of {4 * data['vector']} bytes; and a tail of "
        f"{data['tail']} floats."
    )


# --- chapter 15: all-reduce ---


LAP = 0.36  # inches from GPU to GPU


def draw_state(axes, x, y, step, wide):
    """Draws the chunks of every GPU: filled if they contain all GPUs' elements; framed if chunk 0 has arrived."""
    gpus = len(step["state"])
    for gpu, row in enumerate(step["state"]):
        each = wide / len(row)
        for piece, count in enumerate(row):
            came = bool(step["sends"]) and [gpu, piece, 0] in [send[1:] + [0] for send in step["sends"] if send[2] == 0]
            look = {"edge": ORANGE, "linewidth": 1.8} if came else {"edge": BLUE, "linewidth": 0.5}
            fill = BLUE if count > 1 else None
            place = (x + piece * each, y + gpu * LAP, each - 0.02, 0.22)
            box(axes, *place, f"{count}", fill=fill, pale=count < gpus, **look)


def draw_sends(axes, x, y, sends, wide, to):
    for start, end, piece in sends:
        middle = lambda gpu: y + gpu * LAP + 0.11
        look = (MUTED, 0.7) if piece else (ORANGE, 1.5)
        arrow(axes, (x + wide, middle(start)), (to - 0.03, middle(end)), *look)


def draw_steps(axes, top, steps, gpus, heads):
    wide, each = 0.62, (WIDTH - 0.72) / 7
    for gpu in range(gpus):
        word(axes, 0.1, top + gpu * LAP + 0.11, f"GPU {gpu}", MUTED, ha="left")
    for k, step in enumerate(steps):
        x = 0.66 + k * each
        word(axes, x + wide / 2, top - 0.13, heads[k], fontweight="bold")
        draw_state(axes, x, top, step, wide)
        if k:
            draw_sends(axes, x - each, top, step["sends"], wide, x)


def all_reduce(data, name):
    gpus = data["gpus"]
    what = f"Two algorithms for an all-reduce over {gpus} GPUs"
    below = "Numbers: how many GPUs' elements a chunk sums. Arrows: messages; orange: the path of one chunk"
    figure, axes = paper(4.62, name, what, below)
    n = gpus - 1
    half = [*(f"add {k + 1}" for k in range(n)), *(f"pass on {k + 1}" for k in range(n))]
    word(axes, 0.1, 0.78, f"Ring: {2 * n} steps, each with 1/{gpus} of the message", ha="left", fontweight="bold")
    draw_steps(axes, 1.12, data["ring"], gpus, ["start", *half])
    up = (len(data["tree"]) - 1) // 2
    word(axes, 0.1, 2.78, f"Tree: {2 * up} steps, each with the whole message", ha="left", fontweight="bold")
    heads = ["start", *(f"up {k + 1}" for k in range(up)), *(f"down {k + 1}" for k in range(up))]
    draw_steps(axes, 3.12, data["tree"], gpus, heads)
    return figure, what, (
        f"The ring takes {2 * n} steps of a chunk each: {n} in which the receiver adds, {n} in which finished chunks "
        f"are passed on. The tree takes {2 * up} steps of the whole message: {up} up to GPU 0, {up} down."
    )


PICTURES = {"ticket": ticket, "mailbox": mailbox, "edges": edges, "all_reduce": all_reduce}
