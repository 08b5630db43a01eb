"""loads.py: what a warp waits for, what an SM gets from memory the more it has on its way, and predicted times.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from sketch import box, paper, word
from style import BLUE, FAINT, GREY, NARROW, ORANGE, heading, lines_of, round_time, sheet, significant, write_legend
from trips import END, ISSUE

# --- one warp, some, and as many as memory serves ---


def waits(data, name):
    what = "What a warp waits for"
    below = "Time goes to the right, not to scale. A row has loads of one warp; blue: it issues; grey: a load is on its way"
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
    what = "Bytes on their way, and what comes"
    below = lines_of(f"{data['device']}, every SM at it. Dashed: all trips as short as the first, and the most that came")
    top = 0.9 + 0.17 * len(below)
    figure, place, write = sheet(top + 2.7, name, NARROW)
    heading(write, what, below)
    colors = (BLUE, ORANGE)
    legend = [(0.08, k, f"{c['title']}: {significant(max(y for _, y in c['points']))} bytes a cycle at most, "
               f"first trip {significant(c['latency'])} cycles") for k, c in enumerate(data["curves"])]
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
    axes.set_xlabel("bytes that an SM has on their way", labelpad=2)
    axes.set_ylabel("bytes that it gets a cycle", labelpad=3)
    return figure, what, "; ".join(text for _, _, text in legend) + "."


# --- predicted against measured ---


def predicted(data, name):
    what = "Predicted against measured"
    below = lines_of("A dot is a kernel of the book at a size, a ring a kernel unlike them. Grey: within 10 %")
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
        # The dots are one path of short round strokes: an eighth of the bytes of as many marks.
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


PICTURES = {"waits": waits, "loads": loads, "predicted": predicted}
