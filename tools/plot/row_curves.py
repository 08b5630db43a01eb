"""row_curves.py: how near kernels come to the best there is, over the length of rows, and by kind.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from style import FAINT, INK, MUTED, ORANGE, PAPER, SERIES, WIDTH, bare, binary_text, heading, sheet, significant, time_text

BAR = 0.15  # inches from bar to bar
ALIGNED = 4  # floats in 16 bytes: rows of others begin between vectors
BESIDE = {"textcoords": "offset points", "va": "center", "annotation_clip": False, "fontsize": 8}


def colors_of(series):
    """Orange for a library's, by its name; the others' in turn, anew for those that are bars."""
    others = [color for color in SERIES if color != ORANGE]
    colors = {}
    for shown in ("points", "kinds"):
        ours = [s["name"] for s in series if s[shown] and not s["name"].startswith("cub_")]
        colors.update({name: others[i % len(others)] for i, name in enumerate(ours)})
    return {s["name"]: colors.get(s["name"], ORANGE) for s in series}


def percent(value):
    return f"{significant(value, 2 if value < 99.5 else 3)} %"


def draw_line(axes, series, color):
    x = [point["length"] for point in series["points"]]
    axes.plot(x, [point["pct"] for point in series["points"]], color=color, linewidth=1.6, zorder=2)
    for point in series["points"]:
        y = point["pct"]
        axes.plot([point["length"]] * 2, [point["slow"], point["fast"]], color=color, linewidth=1, zorder=2)
        axes.plot(point["length"], y, "o", color=color, markersize=5, zorder=3)
        if point["length"] % ALIGNED:
            axes.plot(point["length"], y, "o", color=PAPER, markersize=2.6, zorder=4)


def scale_lengths(axes, lengths):
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(lengths) / 1.5, max(lengths) * 1.5)
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in range(2, 31, 2)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: binary_text(round(x))))
    axes.set_ylim(0, 112)
    axes.yaxis.set_major_locator(FixedLocator(range(0, 101, 20)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0f} %"))
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.axhline(100, color=INK, linewidth=1, dashes=(4, 2.5))
    axes.set_xlabel("floats in a row", labelpad=2)


def draw_kinds(axes, bars, colors):
    """A bar for every series that has the kind, and room between the kinds."""
    bare(axes)
    axes.spines["bottom"].set_visible(False)
    axes.xaxis.set_major_locator(NullLocator())
    axes.set_xlim(0, 100)
    axes.set_ylim(bars[-1][0] + 0.55, -0.55)
    for y, kind, name, point in bars:
        axes.barh(y, point["pct"], 0.78, color=colors[name])
        axes.annotate(f"{percent(point['pct'])}, {time_text(point['us'])}", (point["pct"], y), (3, 0), **BESIDE)
        if kind:
            axes.annotate(kind, (0, y), (-6, 0), ha="right", fontweight="bold", **BESIDE)
    axes.axvline(0, color=MUTED, linewidth=0.8)


def bars_of(series):
    """(place, kind, name, point): the kind where its first bar is."""
    bars, y = [], 0.0
    for kind in dict.fromkeys(kind for s in series for kind in s["kinds"]):
        for k, s in enumerate(s for s in series if kind in s["kinds"]):
            bars.append((y, "" if k else kind, s["name"], s["kinds"][kind]))
            y += 1
        y += 0.5
    return bars


def legend_of(series):
    """(left, line, text, name) of each series, in as few lines as there is room in."""
    left, row, legend = 0.08, 0, []
    for s in series:
        text = f"■ {s['name']}: % of {s['best']}"
        wide = 0.25 + 0.074 * len(text)
        if left > 0.08 and left + wide > WIDTH:
            left, row = 0.08, row + 1
        legend.append((left, row, text, s["name"]))
        left += wide
    return legend


def write_legend(write, top, legend, colors):
    """Returns where it ends."""
    for left, row, text, name in legend:
        write(left, top + 0.2 * row, text, color=colors[name], fontweight="bold")
    return top + 0.2 * legend[-1][1]


def rows_words(series):
    texts = []
    for s in series:
        at = [f"{percent(p['pct'])} at {p['length']:,}" for p in s["points"]]
        at += [f"{percent(p['pct'])} for {kind}" for kind, p in s["kinds"].items()]
        texts.append(f"{s['name']}, of {s['best']}'s speed: {', '.join(at)}")
    return "; ".join(texts) + "."


def draw_lengths(place, top, high, curves, colors):
    axes = place(0.55, top, WIDTH - 0.7, high)
    for series in curves:
        draw_line(axes, series, colors[series["name"]])
    scale_lengths(axes, [point["length"] for series in curves for point in series["points"]])


def rows(data, name):
    series, colors = data["series"], colors_of(data["series"])
    curves, kinds = [s for s in series if s["points"]], [s for s in series if s["kinds"]]
    rings = any(point["length"] % ALIGNED for s in curves for point in s["points"])
    bars, above, below = bars_of(kinds), legend_of(curves), legend_of(kinds)
    high, tall = 2.2, (bars[-1][0] + 1.1) * BAR if bars else 0
    upper = 0.2 * (above[-1][1] + rings) + high + 0.77 if curves else 0
    lower = 0.2 * below[-1][1] + tall + 0.2 if bars else 0
    figure, place, write = sheet(0.7 + upper + lower, name)
    what = "How near to the best, by the rows"
    what_of = f"Chapter {int(data['chapter'])}: {data['n']:,} floats on {data['device']}"
    heading(write, what, f"{what_of}, speed as a share of the best kernel's")
    if curves:
        end = write_legend(write, 0.72, above, colors)
        if rings:
            write(0.08, end + 0.2, "Rings: rows that are no multiple of 16 bytes", color=MUTED)
        draw_lengths(place, end + 0.12 + 0.2 * rings, high, curves, colors)
    if bars:
        end = write_legend(write, 0.72 + upper, below, colors)
        draw_kinds(place(0.75, end + 0.12, WIDTH - 2.2, tall), bars, colors)
    return figure, what, rows_words(series)


PICTURES = {"rows": rows}
