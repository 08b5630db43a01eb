"""row_curves.py: how near kernels come to the best there is, over the length of rows, and by kind.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from os.path import commonprefix

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from style import FAINT, INK, MUTED, NARROW, ORANGE, PAPER, SERIES, bare, heading, legend_of, lines_of, sheet
from style import significant, size_text, time_text, write_legend

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


def family(series):
    """What its kernels' names have in common: of `CUB, rows of 15` and `CUB, rows of 1,024` CUB."""
    names = [point["kernel"] for point in [*series["points"], *series["kinds"].values()]]
    prefix = commonprefix([name for name in names if name[-1].isdigit()] or names)
    return prefix.rpartition(", ")[0] or prefix.rpartition(" ")[0].removesuffix(" of")


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
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in range(2, 31, 4)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: size_text(x)))
    axes.set_ylim(0, 112)
    axes.yaxis.set_major_locator(FixedLocator(range(0, 101, 20)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0f} %"))
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.axhline(100, color=INK, linewidth=1, dashes=(4, 2.5))
    axes.set_xlabel("floats in a row", labelpad=2)


def draw_kinds(axes, bars, colors):
    """A bar for every series that has the kind, to one scale, and room between the kinds."""
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
    """(place, kind, name, point): the kind, what its name adds to the others', where its first bar is."""
    bars, y = [], 0.0
    for kind in dict.fromkeys(kind for s in series for kind in s["kinds"]):
        for k, s in enumerate(s for s in series if kind in s["kinds"]):
            point = s["kinds"][kind]
            text = point["kernel"].removeprefix(family(s)).strip(" ,")
            bars.append((y, "" if k else text, s["name"], point))
            y += 1
        y += 0.5
    return bars


def legend_text(series):
    return f"{family(series)}: % of {series['best']}"


def rows_words(series):
    texts = []
    for s in series:
        at = [f"{percent(p['pct'])} at {p['length']:,}" for p in s["points"]]
        at += [f"{percent(p['pct'])} for {p['kernel']}" for p in s["kinds"].values()]
        texts.append(f"{family(s)}, of the speed of {s['best']}: {', '.join(at)}")
    return "; ".join(texts) + "."


def draw_lengths(place, top, high, curves, colors):
    axes = place(0.55, top, NARROW - 0.7, high)
    for series in curves:
        draw_line(axes, series, colors[series["name"]])
    scale_lengths(axes, [point["length"] for series in curves for point in series["points"]])


def rows(data, name):
    series, colors = data["series"], colors_of(data["series"])
    curves, kinds = [s for s in series if s["points"]], [s for s in series if s["kinds"]]
    rings = any(point["length"] % ALIGNED for s in curves for point in s["points"])
    bars, high = bars_of(kinds), 2.2
    tall = (bars[-1][0] + 1.1) * BAR if bars else 0
    what = "How near to the best, by the rows"
    below = lines_of(
        f"Chapter {int(data['chapter'])}: {data['n']:,} floats on {data['device']}, speed as a share of the "
        "best kernel's" + (". Rings: rows that are no multiple of 16 bytes" if rings else "")
    )
    above, under = (legend_of(map(legend_text, shown)) for shown in (curves, kinds))
    deep = lambda legend: 0.19 * (legend[-1][1] + 1) if legend else 0
    top = 0.51 + 0.17 * len(below)
    middle = top + deep(above) + (high + 0.6 if curves else 0)
    figure, place, write = sheet(middle + deep(under) + tall + (0.1 if bars else 0), name, NARROW)
    heading(write, what, below)
    write_legend(write, top, above, [colors[s["name"]] for s in curves])
    write_legend(write, middle, under, [colors[s["name"]] for s in kinds])
    if curves:
        draw_lengths(place, top + deep(above), high, curves, colors)
    if bars:
        left = min(0.2 + 0.068 * max(len(kind) for _, kind, *_ in bars), 2.2)
        draw_kinds(place(left, middle + deep(under) - 0.05, NARROW - left - 1.1, tall), bars, colors)
    return figure, what, rows_words(series)


PICTURES = {"rows": rows}
