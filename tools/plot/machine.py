"""machine.py: drawings of the device: its parts with what chapter 1 measured, and how blocks live on it.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from sketch import arrow, box, line, paper, word
from style import BLUE, GREEN, GREY, INK, MUTED, ORANGE, PURPLE, significant

# --- the machine ---


def nanoseconds(us):
    return f"{significant(us * 1e3)} ns"


def draw_scheduler(axes, left, top, data):
    box(axes, left, top, 0.98, 1.16, edge=BLUE)
    word(axes, left + 0.49, top + 0.13, "scheduler", fontweight="bold")
    word(axes, left + 0.49, top + 0.29, "1 warp a cycle", MUTED)
    for k in range(16):
        place = (left + 0.09 + k % 8 * 0.1, top + 0.4 + k // 8 * 0.1)
        box(axes, *place, 0.08, 0.08, fill=BLUE, pale=True, edge=BLUE, linewidth=0.5)
    word(axes, left + 0.49, top + 0.68, f"{data['warps'] // data['schedulers']} warps")
    box(axes, left + 0.06, top + 0.8, 0.86, 0.3, "registers", fill=PURPLE, pale=True, edge=PURPLE)


def draw_sm(axes, left, top, data):
    """An SM with its schedulers, shared memory with its banks, and L1."""
    box(axes, left, top, 4.36, 2.14, edge=INK)
    word(axes, left + 0.1, top + 0.14, f"one SM of {data['sms']}", ha="left", fontweight="bold", size=9)
    word(axes, left + 4.26, top + 0.14, f"up to {32 * data['warps']:,} threads, in warps of 32", MUTED, ha="right")
    for k in range(data["schedulers"]):
        draw_scheduler(axes, left + 0.1 + k * 1.06, top + 0.28, data)
    for bank in range(32):
        place = (left + 0.1 + bank * 0.09, top + 1.56)
        box(axes, *place, 0.075, 0.22, fill=GREEN, pale=True, edge=GREEN, linewidth=0.5)
    word(axes, left + 0.1, top + 1.91, "shared memory: 32 banks,", ha="left")
    word(axes, left + 0.1, top + 2.04, "each a word of 4 bytes a cycle", MUTED, ha="left")
    box(axes, left + 3.2, top + 1.56, 1.06, 0.22, "L1 cache", fill=GREEN, pale=True, edge=GREEN)


def draw_level(axes, top, high, texts, color):
    """L2 or memory: a name, its size or rate, and how long a load takes to it and back."""
    title, about, latency = texts
    box(axes, 0.2, top, 4.36, high, fill=color, pale=True, edge=color)
    word(axes, 0.3, top + high / 2 - 0.08, title, ha="left", fontweight="bold", size=9)
    word(axes, 0.3, top + high / 2 + 0.1, about, MUTED, ha="left")
    word(axes, 5.42, top + high / 2, latency, ORANGE, 10, ha="left", fontweight="bold")


def machine(data, name):
    what = f"The machine: {data['device']}"
    figure, axes = paper(4.62, name, what, "What a load passes through, and how long it takes there and back (orange: measured)")
    draw_sm(axes, 0.2, 0.66, data)
    fill = "all SMs together start " + f"{significant(data['blocks_per_us'], 2)} blocks in a microsecond"
    word(axes, 4.72, 0.8, "a new block every", MUTED, ha="left")
    word(axes, 4.72, 0.96, nanoseconds(1 / data["blocks_per_us"]), ORANGE, 10, ha="left", fontweight="bold")
    word(axes, 4.72, 1.12, "on the whole device", MUTED, ha="left")
    l2 = f"{significant(data['l2_bytes'] / 1e6)} MB, shared by all SMs"
    draw_level(axes, 3.08, 0.46, ("L2 cache", l2, nanoseconds(data["l2_us"])), BLUE)
    memory = f"at best {significant(data['gbps'])} GB/s, {significant(data['gbps'] / data['sms'], 2)} for each SM"
    draw_level(axes, 3.86, 0.52, ("memory", memory, nanoseconds(data["memory_us"])), ORANGE)
    for top, bottom in ((2.8, 3.08), (3.54, 3.86)):
        arrow(axes, (3.84, bottom), (3.84, top), MUTED, 1.4)
    for x, bottom in ((4.9, 3.31), (5.3, 4.12)):  # how far a load goes
        line(axes, (x, 2.33), (x, bottom), ORANGE, 1.2)
        arrow(axes, (x, bottom), (4.56, bottom), ORANGE, 1.2)
        line(axes, (4.56, 2.33), (x, 2.33), ORANGE, 1.2)
    return figure, what, machine_words(data, fill)


def machine_words(data, fill):
    return (
        f"{data['sms']} SMs with {data['schedulers']} schedulers, up to {data['warps']} warps, registers, shared "
        f"memory of 32 banks and an L1 cache each; {fill}; an L2 cache of {significant(data['l2_bytes'] / 1e6)} MB, "
        f"{nanoseconds(data['l2_us'])} away; memory, {nanoseconds(data['memory_us'])} away, read at "
        f"{significant(data['gbps'])} GB/s."
    )


# --- a block's life ---

KINDS = {  # colour, pale, and what it is
    "load": (BLUE, True, "waits for its elements"),
    "add": (BLUE, False, "adds"),
    "wait": (GREY, True, "has only the barrier to come to"),
}


def draw_spans(axes, left, top, high, scale, spans):
    for kind, start, length in spans:
        color, pale, _ = KINDS[kind]
        place = (left + start * scale, top, length * scale, high)
        box(axes, *place, fill=color, pale=pale, edge=color, linewidth=0.4)


def draw_legend(axes, top, kinds):
    left = 0.12
    for kind in kinds:
        color, pale, text = KINDS[kind]
        box(axes, left, top - 0.06, 0.2, 0.12, fill=color, pale=pale, edge=color, linewidth=0.4)
        word(axes, left + 0.27, top, text, MUTED, ha="left")
        left += 0.5 + 0.066 * len(text)


def life(data, name):
    """The warps of one block, a panel for each of several blocks."""
    what = "A block's life, warp by warp"
    below = "Time goes to the right; lengths are not to scale, who adds when is the kernel's"
    warps = data["warps"]
    end = max(s + n for panel in data["panels"] for row in panel["rows"] for _, s, n in row)
    high, top = 0.14, 0.98
    each = warps * high + 0.5
    figure, axes = paper(top - 0.1 + each * len(data["panels"]) + 0.1, name, what, below)
    draw_legend(axes, 0.68, ("load", "add", "wait"))
    line(axes, (5.45, 0.6), (5.45, 0.76), ORANGE, 1.4)
    word(axes, 5.55, 0.68, "barrier of the block", MUTED, ha="left")
    scale = 6.1 / end
    for panel in data["panels"]:
        word(axes, 0.08, top + 0.06, panel["title"], ha="left", fontweight="bold")
        for warp, spans in enumerate(panel["rows"]):
            y = top + 0.2 + warp * high
            word(axes, 0.08, y + high / 2, f"warp {warp}", MUTED, ha="left")
            draw_spans(axes, 0.7, y, high - 0.03, scale, spans)
        for at in panel["barriers"]:
            x = 0.7 + at * scale
            line(axes, (x, top + 0.17), (x, top + 0.2 + warps * high), ORANGE, 1.4)
        top += each
    return figure, what, life_words(data)


def life_words(data):
    texts = []
    for panel in data["panels"]:
        ends = [max(start + length for _, start, length in row) for row in panel["rows"]]
        early = sum(end < max(ends) for end in ends)
        texts.append(
            f"{panel['title']}: {len(panel['rows'])} warps load, meet at {len(panel['barriers'])} barriers, "
            f"{early} of them end early"
        )
    return "; ".join(texts) + "."


# --- many blocks on one SM ---


def places(data, name):
    """The places for blocks on one SM, a row each: block after block in it, or one for all the time."""
    what = "Blocks on one SM"
    below = (
        f"{data['device']}. Each row is a place for a block; empty: no block is in it. Time goes right; "
        "not to scale"
    )
    heights = [len(panel["rows"]) * panel["high"] + 0.48 for panel in data["panels"]]
    figure, axes = paper(0.98 + sum(heights), name, what, below)
    draw_legend(axes, 0.68, ("load", "add"))
    top = 0.9
    for panel, tall in zip(data["panels"], heights):
        word(axes, 0.08, top + 0.06, panel["title"], ha="left", fontweight="bold")
        word(axes, 7.1, top + 0.06, panel["note"], MUTED, ha="right")
        for k, spans in enumerate(panel["rows"]):
            high = panel["high"]
            draw_spans(axes, 0.12, top + 0.18 + k * high, high * 0.8, 6.98 / data["end"], spans)
        top += tall
    texts = (f"{p['title']}: {len(p['rows'])} places, {p['note']}" for p in data["panels"])
    return figure, what, "; ".join(texts) + "."


PICTURES = {"machine": machine, "life": life, "places": places}
