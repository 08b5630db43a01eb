"""machine.py: drawings of the device: its parts with measurements from chapter 1, how blocks are resident, why a
warp waits, loads in flight, and predicted times."""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from style import (
    BLUE, FAINT, GREEN, GREY, INK, MUTED, NARROW, ORANGE, PURPLE, arrow, box, heading, line,
    lines_of, paper, round_time, sheet, significant, word, write_legend,
)
from timelines import END, ISSUE

# --- the machine ---


def nanoseconds(us):
    return f"{significant(us * 1e3)} ns"


def draw_scheduler(axes, left, top, data):
    box(axes, left, top, 0.98, 1.16, edge=BLUE)
    word(axes, left + 0.49, top + 0.13, "scheduler", fontweight="bold")
    word(axes, left + 0.49, top + 0.29, "1 warp per cycle", MUTED)
    for k in range(16):
        place = (left + 0.09 + k % 8 * 0.1, top + 0.4 + k // 8 * 0.1)
        box(axes, *place, 0.08, 0.08, fill=BLUE, pale=True, edge=BLUE, linewidth=0.5)
    word(axes, left + 0.49, top + 0.68, f"{data['warps'] // data['schedulers']} warps")
    box(axes, left + 0.06, top + 0.8, 0.86, 0.3, "registers", fill=PURPLE, pale=True, edge=PURPLE)


def draw_sm(axes, left, top, data):
    """Draws an SM with its schedulers, shared memory with its banks, and L1."""
    box(axes, left, top, 4.36, 2.14, edge=INK)
    word(axes, left + 0.1, top + 0.14, f"one SM of {data['sms']}", ha="left", fontweight="bold", size=9)
    word(axes, left + 4.26, top + 0.14, f"up to {32 * data['warps']:,} threads, in warps of 32", MUTED, ha="right")
    for k in range(data["schedulers"]):
        draw_scheduler(axes, left + 0.1 + k * 1.06, top + 0.28, data)
    for bank in range(32):
        place = (left + 0.1 + bank * 0.09, top + 1.56)
        box(axes, *place, 0.075, 0.22, fill=GREEN, pale=True, edge=GREEN, linewidth=0.5)
    word(axes, left + 0.1, top + 1.91, "shared memory: 32 banks,", ha="left")
    word(axes, left + 0.1, top + 2.04, "each serves 4 bytes per cycle", MUTED, ha="left")
    box(axes, left + 3.2, top + 1.56, 1.06, 0.22, "L1 cache", fill=GREEN, pale=True, edge=GREEN)


def draw_level(axes, top, high, texts, color):
    """Draws L2 or memory: its name, its size or rate, and the latency of a load."""
    title, about, latency = texts
    box(axes, 0.2, top, 4.36, high, fill=color, pale=True, edge=color)
    word(axes, 0.3, top + high / 2 - 0.08, title, ha="left", fontweight="bold", size=9)
    word(axes, 0.3, top + high / 2 + 0.1, about, MUTED, ha="left")
    word(axes, 5.42, top + high / 2, latency, ORANGE, 10, ha="left", fontweight="bold")


def machine(data, name):
    what = f"The machine: {data['device']}"
    figure, axes = paper(4.62, name, what, "What a load passes through, and its latency (orange: measured)")
    draw_sm(axes, 0.2, 0.66, data)
    fill = "all SMs together start " + f"{significant(data['blocks_per_us'], 2)} blocks per microsecond"
    word(axes, 4.72, 0.8, "a new block every", MUTED, ha="left")
    word(axes, 4.72, 0.96, nanoseconds(1 / data["blocks_per_us"]), ORANGE, 10, ha="left", fontweight="bold")
    word(axes, 4.72, 1.12, "on the whole device", MUTED, ha="left")
    l2 = f"{significant(data['l2_bytes'] / 1e6)} MB, shared by all SMs"
    draw_level(axes, 3.08, 0.46, ("L2 cache", l2, nanoseconds(data["l2_us"])), BLUE)
    memory = f"at most {significant(data['gbps'])} GB/s, {significant(data['gbps'] / data['sms'], 2)} per SM"
    draw_level(axes, 3.86, 0.52, ("memory", memory, nanoseconds(data["memory_us"])), ORANGE)
    for top, bottom in ((2.8, 3.08), (3.54, 3.86)):
        arrow(axes, (3.84, bottom), (3.84, top), MUTED, 1.4)
    for x, bottom in ((4.9, 3.31), (5.3, 4.12)):  # the path of a load
        line(axes, (x, 2.33), (x, bottom), ORANGE, 1.2)
        arrow(axes, (x, bottom), (4.56, bottom), ORANGE, 1.2)
        line(axes, (4.56, 2.33), (x, 2.33), ORANGE, 1.2)
    return figure, what, machine_words(data, fill)


def machine_words(data, fill):
    return (
        f"{data['sms']} SMs with {data['schedulers']} schedulers, up to {data['warps']} warps, registers, shared "
        f"memory of 32 banks and an L1 cache each; {fill}; an L2 cache of {significant(data['l2_bytes'] / 1e6)} MB, "
        f"latency {nanoseconds(data['l2_us'])}; memory, latency {nanoseconds(data['memory_us'])}, read at "
        f"{significant(data['gbps'])} GB/s."
    )


# --- Little's law ---


def little(data, name):
    """Draws throughput upwards and latency to the right, for all that memory gives and for a load of each thread. The
    area is what is in flight."""
    what = "Little’s law"
    below = lines_of(f"{data['device']}. Up: bytes a second; right: how long a load takes; an area: bytes in flight")
    top, wide, high = 0.75 + 0.17 * len(below), 1.25, 1.7
    figure, place, write = sheet(top + high + 0.42, name, NARROW)
    heading(write, what, below)
    axes = place(0, 0, NARROW, top + high + 0.42)
    axes.set_xlim(0, NARROW)
    axes.set_ylim(top + high + 0.42, 0)
    axes.set_axis_off()
    latency, held = nanoseconds(data["memory_us"]), data["held"] / data["memory_us"] / 1e3
    said, bottom = [], top + high
    for left, gbps, color, title in (
        (0.92, data["gbps"], BLUE, "all that memory gives"),
        (3.1, min(held, data["gbps"]), ORANGE, f"{data['each']} bytes for each thread"),
    ):
        tall = high * gbps / data["gbps"]
        size = f"{significant(gbps * data['memory_us'] / 1e3)} MB"
        middle = bottom - tall / 2
        word(axes, left + wide / 2, top - 0.14, title, fontweight="bold")
        box(axes, left, bottom - tall, wide, tall, fill=color, pale=True, edge=color)
        word(axes, left + wide / 2, middle - 0.09, size, size=11, fontweight="bold")
        word(axes, left + wide / 2, middle + 0.11, "in flight", MUTED)
        arrow(axes, (left - 0.08, bottom), (left - 0.08, bottom - tall), MUTED)
        word(axes, left - 0.14, middle - 0.08, significant(gbps), ha="right")
        word(axes, left - 0.14, middle + 0.08, "GB/s", MUTED, ha="right")
        arrow(axes, (left, bottom + 0.09), (left + wide, bottom + 0.09), MUTED)
        word(axes, left + wide / 2, bottom + 0.24, latency)
        said.append(f"{title}: {significant(gbps)} GB/s × {latency} = {size} in flight")
    return figure, what, "; ".join(said) + "."


# --- a block's life ---

KINDS = {  # colour, whether it is pale, and meaning
    "load": (BLUE, True, "waits for its elements"),
    "add": (BLUE, False, "adds"),
    "wait": (GREY, True, "only waits at barriers"),
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
    """Draws the warps of one block, in a panel for each of several blocks."""
    what = "A block's life, warp by warp"
    below = "Time goes to the right, not to scale. Which warps add on which level is as in the kernel"
    warps = data["warps"]
    end = max(s + n for panel in data["panels"] for row in panel["rows"] for _, s, n in row)
    high, top = 0.14, 0.98
    each = warps * high + 0.5
    figure, axes = paper(top - 0.1 + each * len(data["panels"]) + 0.1, name, what, below)
    draw_legend(axes, 0.68, ("load", "add", "wait"))
    line(axes, (5.45, 0.6), (5.45, 0.76), ORANGE, 1.4)
    word(axes, 5.55, 0.68, "block barrier", MUTED, ha="left")
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
            f"{panel['title']}: {len(panel['rows'])} warps load, wait at {len(panel['barriers'])} barriers, "
            f"{early} of the warps end early"
        )
    return "; ".join(texts) + "."


# --- many blocks on one SM ---


def places(data, name):
    """Draws the block slots of an SM, a row each: a sequence of blocks, or one persistent block."""
    what = "Blocks on one SM"
    below = (
        f"{data['device']}. Each row is a block slot; white: the slot is empty. Time goes to the right, "
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
    texts = (f"{p['title']}: {p['note']}" for p in data["panels"])
    return figure, what, "; ".join(texts) + "."


# --- waits of one warp, of several, and of enough to saturate memory ---


def waits(data, name):
    what = "What a warp waits for"
    below = "Time goes to the right, not to scale. A row has loads of one warp. Blue: issue; grey: the load is in flight"
    heights = [0.42 + 0.13 * sum(1 if p["loads"] == 1 else p["loads"] for _ in p["rows"]) for p in data["panels"]]
    figure, axes = paper(0.72 + sum(heights), name, what, below)
    top, scale = 0.66, 6.9 / END
    for panel, tall in zip(data["panels"], heights):
        word(axes, 0.12, top + 0.1, panel["title"], ha="left", fontweight="bold")
        loads = panel["loads"]
        for warp, trips in enumerate(panel["rows"]):
            for k, (start, end) in enumerate(trips):
                y = top + 0.22 + (warp * loads + k % loads) * 0.13
                box(axes, 0.12 + start * scale, y, (end - start) * scale, 0.09, fill=GREY, pale=True, edge=GREY, linewidth=0.4)
                box(axes, 0.12 + start * scale, y, ISSUE * scale, 0.09, fill=BLUE, edge=BLUE, linewidth=0.4)
        top += tall
    texts = (f"{p['title'].lower()}: {sum(map(len, p['rows']))} loads in the same time" for p in data["panels"])
    return figure, what, "; ".join(texts) + "."


# --- latency under load ---


def loads(data, name):
    what = "Throughput against bytes in flight"
    below = lines_of(f"{data['device']}, all SMs loading. Dashed: the latency without load, and the highest throughput")
    top = 0.9 + 0.17 * len(below)
    figure, place, write = sheet(top + 2.7, name, NARROW)
    heading(write, what, below)
    colors = (BLUE, ORANGE)
    legend = [(0.08, k, f"{c['title']}: at most {significant(max(y for _, y in c['points']))} bytes per cycle, "
               f"latency without load {significant(c['latency'])} cycles") for k, c in enumerate(data["curves"])]
    write_legend(write, 0.51 + 0.17 * len(below), legend, colors, "●●")
    axes = place(0.62, top + 0.05, NARROW - 0.8, 2.15)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    every = []
    for curve, color in zip(data["curves"], colors):
        x, y = [p[0] for p in curve["points"]], [p[1] for p in curve["points"]]
        most = max(y)
        knee = most * curve["latency"]
        axes.plot([x[0], knee, x[-1]], [x[0] / curve["latency"], most, most], color=color, linewidth=1, dashes=(3, 2.5))
        axes.plot(x, y, "o-", color=color, markersize=3.6, linewidth=1.6, zorder=3)
        every += x
    axes.set_xlim(min(every) / 1.3, max(every) * 1.3)
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in range(7, 18, 2)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x / 1024:g} KiB" if x >= 1024 else f"{x:g}"))
    axes.yaxis.set_major_locator(FixedLocator([2.0**e for e in range(-3, 7, 2)]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.grid(color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("bytes in flight per SM", labelpad=2)
    axes.set_ylabel("bytes per cycle and SM", labelpad=3)
    return figure, what, "; ".join(text for _, _, text in legend) + "."


# --- predicted against measured ---


def predicted(data, name):
    what = "Predicted against measured"
    below = lines_of("Dots: kernels of the book at several sizes; rings: other kernels. Grey: within 10 %")
    top = 0.9 + 0.17 * len(below)
    figure, place, write = sheet(top + 2.9, name, NARROW)
    heading(write, what, below)
    colors = (BLUE, ORANGE)
    legend = [(0.08, k, f"{one['device']}: {sum(abs(y - 1) <= 0.1 for _, y, _ in one['points'])} of {len(one['points'])} within 10 %")
              for k, one in enumerate(data["devices"])]
    write_legend(write, 0.51 + 0.17 * len(below), legend, colors, "●●")
    axes = place(0.62, top + 0.05, NARROW - 0.8, 2.35)
    axes.set_xscale("log")
    axes.set_yscale("log", base=2)
    axes.axhspan(1 / 1.1, 1.1, color=FAINT, linewidth=0)
    axes.axhline(1, color=GREY, linewidth=1)
    for one, color in zip(data["devices"], colors):
        # One path of short round strokes takes an eighth of the bytes of separate markers.
        dots = [(end, y) for x, y, before in one["points"] if not before for end in (x, x * 1.015, float("nan"))]
        rings = [(x, y) for x, y, before in one["points"] if before]
        axes.plot(*zip(*dots), color=color, alpha=0.6, linewidth=2.8, solid_capstyle="round", zorder=3)
        if rings:
            axes.plot(*zip(*rings), "o", color=color, markersize=4.2, markerfacecolor="none", markeredgewidth=0.9, zorder=4)
    ratios = [y for one in data["devices"] for _, y, _ in one["points"]]
    axes.set_ylim(min(0.4, 0.8 * min(ratios)), max(2.5, 1.25 * max(ratios)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: round_time(x)))
    axes.yaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.grid(color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("measured", labelpad=2)
    axes.set_ylabel("predicted ÷ measured", labelpad=3)
    return figure, what, "; ".join(text for _, _, text in legend) + "."


PICTURES = {"machine": machine, "little": little, "life": life, "places": places, "waits": waits, "loads": loads, "predicted": predicted}
