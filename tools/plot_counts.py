"""plot_counts.py: figures of counted events: counters by chapter, and who touches which bank when.

A picture takes data from plot.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

import math

from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullLocator
from plot_style import (
    INK,
    MUTED,
    FAINT,
    BLUE,
    ORANGE,
    GREY,
    WIDTH,
    count_text,
    kernel_text,
    counter_text,
    sheet,
    heading,
    bare,
)

# ---- Counts ----


def counters(data, name):
    bars, titles = data["bars"], [counter_text(c) for c in data["counters"]]
    across = 3
    down = math.ceil(len(titles) / across)
    high = 0.19 * len(bars) + 0.05
    figure, place, write = sheet(0.85 + down * (high + 0.36), name)
    what = f"What chapter {int(data['chapter'])} changes"
    heading(
        write,
        what,
        f"Counted by the CPU device for {data['n']:,} elements; "
        "grey is from before; equal counters are left out",
    )
    width = (WIDTH - 1.75) / across
    for i, title in enumerate(titles):
        axes = place(
            1.65 + (i % across) * width, 0.9 + i // across * (high + 0.36), width - 0.62, high
        )
        bare(axes)
        axes.spines["bottom"].set_visible(False)
        axes.xaxis.set_major_locator(NullLocator())
        axes.set_ylim(len(bars) - 0.45, -0.55)
        values = [bar["values"][i] for bar in bars]
        axes.set_xlim(0, max(values))
        axes.set_title(title, loc="left", fontsize=8.5, fontweight="bold", pad=3)
        for y, (bar, value) in enumerate(zip(bars, values)):
            axes.barh(y, value, 0.72, color=BLUE if bar["own"] else GREY)
            axes.annotate(
                count_text(value),
                (value, y),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                annotation_clip=False,
            )
            if i % across == 0:
                axes.annotate(
                    kernel_text(bar["kernel"]),
                    (0, y),
                    (-5, 0),
                    textcoords="offset points",
                    va="center",
                    ha="right",
                    fontsize=8,
                    color=INK if bar["own"] else MUTED,
                    annotation_clip=False,
                )
        axes.axvline(0, color=MUTED, linewidth=0.8)
    return (
        figure,
        what,
        "; ".join(
            f"{title}: "
            + ", ".join(
                f"{kernel_text(bar['kernel'])} {count_text(bar['values'][i])}" for bar in bars
            )
            for i, title in enumerate(titles)
        )
        + ".",
    )


# ---- Who touches which bank when ----


# Words of one bank that an instruction wants, by power of two: blue is one, nobody waits.
DEGREES = ("#2f7fb8", "#f0c45c", "#e69f00", "#d45d00", "#a83a00", "#7a2200")
ON_DEGREE = ("#fefefe", "#111111", "#111111", "#fefefe", "#fefefe", "#fefefe")


def group_size(op, size, accesses):
    """Lanes served together: the rule that reference/h200-access-patterns.csv was measured for."""
    group = {8: 16, 16: 8}.get(size, 32)
    if op.startswith("ld") and group < 32:
        at = dict(map(tuple, accesses))
        if any(all(at.get(lane ^ other, a) == a for lane, a in at.items()) for other in (1, 2)):
            group *= 2
    return group


def wavefronts(op, size, accesses):
    """Per group of lanes, per bank: the distinct words wanted, each with its lanes."""
    group = group_size(op, size, accesses)
    groups = {}
    for lane, address in accesses:
        for word in range(address // 4, (address + max(size, 4)) // 4):
            banks = groups.setdefault(lane // group, {})
            banks.setdefault(word % 32, {}).setdefault(word, []).append(lane)
    return [groups[g] for g in sorted(groups)]


def banks(data, name):
    steps = [
        (label, accesses, wavefronts(op, size, accesses))
        for label, op, size, accesses in data["steps"]
    ]
    tall = [sum(max(map(len, group.values())) for group in groups) for _, _, groups in steps]
    total = sum(tall)
    line = min(0.165, 9.9 / total)
    gap = 0.09
    high = total * line + gap * (len(steps) - 1)
    turns = total > sum(len(groups) for _, _, groups in steps)
    top = 1.12 if turns else 0.95
    figure, place, write = sheet(top + high + 0.42, name)
    what = f"Who touches which bank when: {kernel_text(data['kernel'])}"
    heading(
        write,
        what,
        f"Warp {data['warp']} of block {data['block']}, one access for each step. "
        "A line is one wavefront; the numbers are lanes",
    )
    if turns:
        write(
            0.08,
            0.64,
            "Lanes that want different words of the same bank take turns (orange)",
            color=MUTED,
        )
    left, width = 1.0, 5.12
    axes = place(left, top, width, high)
    bare(axes)
    axes.spines["bottom"].set_visible(False)
    axes.set_xlim(-0.5, 31.5)
    axes.set_ylim(high, 0)
    axes.xaxis.tick_top()
    axes.xaxis.set_major_locator(FixedLocator(range(0, 32)))
    axes.tick_params(length=0, labelsize=7, pad=2)
    write(left - 0.08, top - 0.06, "bank", color=MUTED, fontsize=8, ha="right")
    write(left + width + 0.1, top - 0.06, "lanes", color=MUTED, fontsize=8)
    write(WIDTH - 0.08, top - 0.06, "wavefronts", color=MUTED, fontsize=8, ha="right")
    write(
        WIDTH - 0.08,
        top + high + 0.22,
        f"{total} in all",
        fontsize=8.5,
        fontweight="bold",
        ha="right",
    )

    y = 0.0
    said = []
    for (label, accesses, groups), count in zip(steps, tall):
        lanes = len({lane for lane, _ in accesses})
        said.append(f"{label}: {lanes} lanes, {count} wavefronts")
        beside = {
            "textcoords": "offset points",
            "va": "center",
            "fontsize": 8.5,
            "annotation_clip": False,
        }
        middle = y + count * line / 2
        axes.annotate(label, (-0.5, middle), (-6, 0), ha="right", **beside)
        axes.annotate(f"{lanes}", (31.5, middle), (8, 0), color=MUTED, **beside)
        axes.annotate(
            f"{count}",
            (31.5, middle),
            ((WIDTH - 0.08 - left - width) * 72, 0),
            ha="right",
            color=ORANGE if count > len(groups) else MUTED,
            fontweight="bold" if count > len(groups) else "normal",
            **beside,
        )
        axes.add_patch(
            Rectangle(
                (-0.5, y),
                32,
                count * line,
                facecolor="none",
                edgecolor=FAINT,
                linewidth=0.8,
                clip_on=False,
            )
        )
        for group in groups:
            for bank, words in group.items():
                degree = min(len(DEGREES) - 1, math.ceil(math.log2(len(words))))
                for i, lanes_of_word in enumerate(words.values()):
                    axes.add_patch(
                        Rectangle(
                            (bank - 0.45, y + i * line + 0.006),
                            0.9,
                            line - 0.012,
                            facecolor=DEGREES[degree],
                            edgecolor="none",
                        )
                    )
                    if line > 0.12:
                        more = "+" if len(lanes_of_word) > 1 else ""
                        axes.text(
                            bank,
                            y + (i + 0.5) * line,
                            f"{lanes_of_word[0]}{more}",
                            ha="center",
                            va="center_baseline",
                            fontsize=7,
                            color=ON_DEGREE[degree],
                        )
            y += max(map(len, group.values())) * line
        y += gap
    return figure, what, "; ".join(said) + f". {total} wavefronts in all."


PICTURES = {"counters": counters, "banks": banks}
