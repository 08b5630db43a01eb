"""counts.py: figures of counters by chapter, of bank conflicts, and of the active lanes of a warp."""

import math

from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullLocator
from style import (
    BLUE, FAINT, GREY, INK, MUTED, NARROW, ORANGE, WIDTH, bare, box, count_text, counter_text, heading,
    line, lines_of, sheet, word,
)

# Distances between bars or steps and their labels.
ASIDE = {"textcoords": "offset points", "va": "center", "annotation_clip": False}

# --- counts ---


def draw_counter(axes, bars, values):
    """Draws a bar with its name for each kernel, blue if it is new in its chapter."""
    bare(axes)
    axes.spines["bottom"].set_visible(False)
    axes.xaxis.set_major_locator(NullLocator())
    axes.set_ylim(len(bars) - 0.45, -0.55)
    axes.set_xlim(0, max(values))
    for y, (bar, value) in enumerate(zip(bars, values)):
        axes.barh(y, value, 0.72, color=BLUE if bar["own"] else GREY)
        axes.annotate(count_text(value), (value, y), (3, 0), fontsize=8, **ASIDE)
        style = {"ha": "right", "fontsize": 8, "color": INK if bar["own"] else MUTED}
        axes.annotate(bar["kernel"], (0, y), (-5, 0), **style, **ASIDE)
    axes.axvline(0, color=MUTED, linewidth=0.8)


def counters_words(bars, titles):
    texts = []
    for i, title in enumerate(titles):
        values = [f"{bar['kernel']} {count_text(bar['values'][i])}" for bar in bars]
        texts.append(f"{title}: " + ", ".join(values))
    return "; ".join(texts) + "."


def counters(data, name):
    bars, titles = data["bars"], [counter_text(c) for c in data["counters"]]
    what = f"What chapter {int(data['chapter'])} changes"
    below = lines_of(
        f"Counted by the CPU device for {data['n']:,} elements"
        + (f", machine instructions by Nsight Compute on {data['profile']}" if data["profile"] else "")
        + ("" if all(bar["own"] for bar in bars) else "; grey: before")
        + ("" if data["chosen"] else "; equal counters are left out")
        + ". Each counter has its own scale"
    )
    high, top = 0.19 * len(bars) + 0.05, 0.4 + 0.17 * len(below)
    figure, place, write = sheet(top + len(titles) * (high + 0.34), name, NARROW)
    heading(write, what, below)
    left = min(0.2 + 0.06 * max(len(bar["kernel"]) for bar in bars), 2.6)
    for i, title in enumerate(titles):
        write(0.08, top + 0.14, title, fontweight="bold")
        axes = place(left, top + 0.2, NARROW - left - 0.65, high)
        draw_counter(axes, bars, [bar["values"][i] for bar in bars])
        top += high + 0.34
    return figure, what, counters_words(bars, titles)


# --- bank accesses over time ---


# Words of one bank that an instruction requests, by powers of two. Blue is one: no conflict.
DEGREES = ("#2f7fb8", "#f0c45c", "#e69f00", "#d45d00", "#a83a00", "#7a2200")
ON_DEGREE = ("#fefefe", "#111111", "#111111", "#fefefe", "#fefefe", "#fefefe")


def group_size(op, size, accesses):
    """The number of lanes that are served together, as measured in reference/h200-access-patterns.csv."""
    group = {8: 16, 16: 8}.get(size, 32)
    if op == "load" and group < 32:
        at = dict(map(tuple, accesses))
        if any(all(at.get(lane ^ other, a) == a for lane, a in at.items()) for other in (1, 2)):
            group *= 2
    return group


def wavefronts(op, size, accesses):
    """For each group of lanes and each bank: the distinct words requested, each with its lanes."""
    group = group_size(op, size, accesses)
    groups = {}
    for lane, address in accesses:
        for word in range(address // 4, (address + max(size, 4)) // 4):
            banks = groups.setdefault(lane // group, {})
            banks.setdefault(word % 32, {}).setdefault(word, []).append(lane)
    return [groups[g] for g in sorted(groups)]


class Steps:
    """The steps of a traced warp as wavefronts, and their places in a picture."""

    def __init__(self, trace, line, gap):
        self.gap = gap
        self.trace = trace
        self.steps = []  # label, number of lanes, groups, number of wavefronts
        for label, op, size, accesses in trace["steps"]:
            groups = wavefronts(op, size, accesses)
            count = sum(max(map(len, group.values())) for group in groups)
            self.steps.append((label, len({lane for lane, _ in accesses}), groups, count))
        self.total = sum(count for *_, count in self.steps)
        self.line = min(line, 60 * line / self.total)
        self.high = self.total * self.line + gap * (len(self.steps) - 1)
        self.turns = self.total > sum(len(groups) for _, _, groups, _ in self.steps)

    def words(self):
        said = (
            f"{label}: {lanes} lanes, {count} wavefronts" for label, lanes, _, count in self.steps
        )
        return f"{'; '.join(said)}. {self.total} wavefronts in all."

    def draw(self, axes, beside):
        """Draws banks across and wavefronts down; beside(step, middle) adds a label to each step."""
        bare(axes)
        axes.spines["bottom"].set_visible(False)
        axes.xaxis.set_major_locator(NullLocator())
        axes.set_xlim(-0.5, 31.5)
        axes.set_ylim(self.high, 0)
        y = 0.0
        for step in self.steps:
            _, _, groups, count = step
            box = {"facecolor": "none", "edgecolor": FAINT, "linewidth": 0.8, "clip_on": False}
            axes.add_patch(Rectangle((-0.5, y), 32, count * self.line, **box))
            beside(step, y + count * self.line / 2)
            for group in groups:
                self.draw_group(axes, y, group)
                y += max(map(len, group.values())) * self.line
            y += self.gap

    def draw_group(self, axes, y, group):
        for bank, words in group.items():
            degree = min(len(DEGREES) - 1, math.ceil(math.log2(len(words))))
            for i, lanes in enumerate(words.values()):
                low = (bank - 0.45, y + i * self.line + 0.006)
                style = {"facecolor": DEGREES[degree], "edgecolor": "none"}
                axes.add_patch(Rectangle(low, 0.9, self.line - 0.012, **style))
                if self.line > 0.12:  # there is space for a lane number; + means further lanes
                    text = f"{lanes[0]}+" if len(lanes) > 1 else f"{lanes[0]}"
                    at = (bank, y + (i + 0.5) * self.line)
                    style = {"ha": "center", "va": "center_baseline", "fontsize": 8}
                    axes.text(*at, text, color=ON_DEGREE[degree], **style)


TURNS = "Orange: lanes that need different words of one bank, which it serves one after another"


def banks(data, name):
    steps = Steps(data, 0.165, 0.09)
    top = 1.12 if steps.turns else 0.95
    figure, place, write = sheet(top + steps.high + 0.42, name)
    what = f"Who touches which bank when: {data['kernel']}"
    below = f"Warp {data['warp']} of block {data['block']}, one access per step. "
    heading(write, what, below + "A line is one wavefront; the numbers are lanes")
    if steps.turns:
        write(0.08, 0.64, TURNS, color=MUTED)
    left, width = 0.8, 5.12
    axes = place(left, top, width, steps.high)

    def beside(step, middle):
        label, lanes, groups, count = step
        axes.annotate(label, (-0.5, middle), (-6, 0), ha="right", fontsize=8.5, **ASIDE)
        axes.annotate(f"{lanes}", (31.5, middle), (8, 0), color=MUTED, fontsize=8.5, **ASIDE)
        waits = count > len(groups)
        style = {"color": ORANGE, "fontweight": "bold"} if waits else {"color": MUTED}
        right = 72 * (WIDTH - 0.08 - left - width)
        axes.annotate(
            f"{count}", (31.5, middle), (right, 0), ha="right", fontsize=8.5, **style, **ASIDE
        )

    steps.draw(axes, beside)
    axes.xaxis.tick_top()
    axes.xaxis.set_major_locator(FixedLocator(range(0, 32)))
    axes.tick_params(length=0, labelsize=8, pad=2)
    small = {"color": MUTED, "fontsize": 8}
    write(left - 0.08, top - 0.06, "bank", ha="right", **small)
    write(left + width + 0.1, top - 0.06, "lanes", **small)
    write(WIDTH - 0.08, top - 0.06, "wavefronts", ha="right", **small)
    total = {"fontsize": 8.5, "fontweight": "bold", "ha": "right"}
    write(WIDTH - 0.08, top + steps.high + 0.22, f"{steps.total} in all", **total)
    return figure, what, steps.words()


def bank_shapes(data, name):
    """Draws the traces of a chapter, up to three in a row; height shows the number of wavefronts."""
    across = min(3, len(data["traces"]))
    traces = [Steps(trace, 0.085, 0.055) for trace in data["traces"]]
    rows = [traces[i : i + across] for i in range(0, len(traces), across)]
    top = 1.12 if any(steps.turns for steps in traces) else 0.95
    tall = [max(steps.high for steps in row) + 0.62 for row in rows]
    figure, place, write = sheet(top + sum(tall) - 0.3, name)
    what = f"Who touches which bank when, in chapter {int(data['chapter'])}"
    below = (
        "The first warp of a block, one access per step; the other warps add to the counts. Across: banks. Down: wavefronts"
    )
    heading(write, what, below)
    if any(steps.turns for steps in traces):
        write(0.08, 0.64, TURNS, color=MUTED)
    each = WIDTH / across
    for row, high in zip(rows, tall):
        for i, steps in enumerate(row):
            left = i * each + 0.5
            head = {"color": ORANGE if steps.turns else INK, "fontsize": 8.5}
            write(left, top - 0.02, steps.trace["kernel"], fontweight="bold")
            write(left, top + 0.14, f"{steps.total} wavefronts", **head)
            axes = place(left, top + 0.22, each - 0.6, steps.high)

            def beside(step, middle, axes=axes):
                label = step[0].replace("step ", "")
                style = {"ha": "right", "fontsize": 8, "color": MUTED}
                axes.annotate(label, (-0.5, middle), (-4, 0), **style, **ASIDE)

            steps.draw(axes, beside)
        top += high
    words = (f"{steps.trace['kernel']}: {steps.words()}" for steps in traces)
    return figure, what, " ".join(words)


# --- the active lanes of a warp over time ---


def runs_of(lanes):
    """[first, count] of consecutive lanes."""
    runs = []
    for lane in lanes:
        if runs and sum(runs[-1]) == lane:
            runs[-1][1] += 1
        else:
            runs.append([lane, 1])
    return runs


def lanes(data, name):
    what = f"A warp’s lanes over time: {data['kernel']}"
    below = lines_of("Time goes right, a column for each access to shared memory, as the CPU device ran it. Blue: the "
                     "lane takes part; empty: it is switched off. Orange: a barrier")
    steps, top, left, each = data["steps"], 0.66 + 0.17 * len(below), 0.46, 0.085
    wide, bottom = (NARROW - left - 0.1) / len(steps), top + 32 * each
    figure, place, write = sheet(bottom + 0.3, name, NARROW)
    heading(write, what, below)
    axes = place(0, 0, NARROW, bottom + 0.3)
    axes.set_xlim(0, NARROW)
    axes.set_ylim(bottom + 0.3, 0)
    axes.set_axis_off()
    for lane in (0, 8, 16, 24, 31):
        word(axes, left - 0.07, top + (lane + 0.5) * each, f"{lane}", MUTED, ha="right")
    word(axes, left - 0.07, top - 0.12, "lane", MUTED, ha="right")
    word(axes, left - 0.07, bottom + 0.14, "level", MUTED, ha="right")
    said = []
    for k, step in enumerate(steps):
        x = left + k * wide
        if not step:
            line(axes, (x + wide / 2, top - 0.04), (x + wide / 2, bottom + 0.04), ORANGE, 1.2)
            continue
        group = next((i for i, other in enumerate(steps[k:]) if not other), len(steps) - k)
        if k and not steps[k - 1] and group > 1:
            said.append(f"level {len(said) + 1}: {len(step[1])} of 32 lanes")
            word(axes, x + group * wide / 2, bottom + 0.14, f"{len(said)}", MUTED)
        box(axes, x + 0.012, top, wide - 0.024, 32 * each, edge=FAINT, linewidth=0.6)
        for first, count in runs_of(step[1]):
            box(axes, x + 0.012, top + first * each + 0.01, wide - 0.024, count * each - 0.02, fill=BLUE, edge=BLUE, linewidth=0)
    return figure, what, "; ".join(said) + "."


PICTURES = {"lanes": lanes, "counters": counters, "banks": banks, "bank_shapes": bank_shapes}
