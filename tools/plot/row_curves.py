"""row_curves.py: figures of rows: kernels as a share of the best speed, by length of rows and by kind, and the
speed of kernels against a peer at every shape."""

from bisect import bisect
from os.path import commonprefix

from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from style import (
    BLUE, FAINT, GREEN, INK, MUTED, NARROW, ORANGE, PAPER, PURPLE, SERIES, SHADES, bare, heading,
    legend_of, lines_of, sheet, significant, size_text, time_text, write_legend,
)

BAR = 0.15  # inches from bar to bar
ALIGNED = 4  # floats in 16 bytes: other rows start inside a vector
BESIDE = {"textcoords": "offset points", "va": "center", "annotation_clip": False, "fontsize": 8}


def colors_of(series):
    """Orange for libraries, by name; the other curves and bars each get colours in turn."""
    others = [color for color in SERIES if color != ORANGE]
    colors = {}
    for shown in ("points", "kinds"):
        ours = [s["name"] for s in series if s[shown] and not s["name"].startswith("cub_")]
        colors.update({name: others[i % len(others)] for i, name in enumerate(ours)})
    return {s["name"]: colors.get(s["name"], ORANGE) for s in series}


def family(series):
    """The common prefix of its kernels' names: CUB for `CUB, rows of 15` and `CUB, rows of 1,024`."""
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
    """Draws a bar for every series that has the kind, to one scale, with gaps between kinds."""
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
    """(y, label, series, point) of the bars. The first bar of a kind has its distinguishing name as label."""
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
    what = "Speed as a share of the best, by row length"
    below = lines_of(
        f"Chapter {int(data['chapter'])}: {data['n']:,} floats on {data['device']}, speed as a share of the "
        "best kernel's" + (". Rings: rows that are not a multiple of 16 bytes" if rings else "")
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


# --- rows of every shape: a kernel compared with its peer and with a copy ---

CELL, HIGH = 0.255, 0.135  # inches: the width of a length's two half cells, and their height
EDGES = (0.98, 1.02, 1.3, 2, 10)  # between the shades
GOALS = ((32, 1 << 18, 90), (1 << 18, 1 << 31, 70))  # lengths from and to, percent of a copy


def rectangle(left, top, wide, high):
    corners = [(left, top), (left + wide, top), (left + wide, top + high), (left, top + high), (left, top)]
    return Path(corners, closed=True)


def place_of(cell, totals):
    """The rectangle of a half cell, in cells from the left and lengths from the top."""
    total, length, odd = cell[:3]
    return totals.index(total) + (0.47 if odd else 0.03), length + 0.05, 0.42, 0.9


def draw_cells(axes, cells, totals):
    shades = {}
    for cell in cells:
        shades.setdefault(SHADES[bisect(EDGES, cell[3])], []).append(place_of(cell, totals))
    for shade, places in shades.items():
        path = Path.make_compound_path(*(rectangle(*place) for place in places))
        axes.add_patch(PathPatch(path, facecolor=shade, edgecolor="none", linewidth=0))
    slower = [place_of(cell, totals) for cell in cells if cell[4]]
    axes.plot([x + w / 2 for x, _, w, _ in slower], [y + h / 2 for _, y, _, h in slower], "o", color=INK, markersize=2)


def draw_panel(place, left, top, panel, totals, lengths, first):
    axes = place(left, top, CELL * len(totals), HIGH * len(lengths))
    axes.set_xlim(0, len(totals))
    axes.set_ylim(len(lengths), 0)
    draw_cells(axes, panel["cells"], totals)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(length=0, pad=2, labelsize=8.5)
    axes.xaxis.tick_top()
    axes.xaxis.set_major_locator(FixedLocator([i + 0.45 for i in range(0, len(totals), 2)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: size_text(1 << totals[int(x)])))
    every = [length for length in lengths if length % 5 == 0]
    axes.yaxis.set_major_locator(FixedLocator([length + 0.5 for length in every] if first else []))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: size_text(1 << int(y))))


def draw_scale(place, write, top):
    """Draws the shades side by side, with the limits between them."""
    wide = (NARROW - 0.16) / len(SHADES)
    axes = place(0.08, top, NARROW - 0.16, 0.16)
    axes.set_axis_off()
    axes.set_xlim(0, len(SHADES))
    axes.set_ylim(0, 1)
    for i, shade in enumerate(SHADES):
        axes.add_patch(PathPatch(rectangle(i + 0.02, 0, 0.96, 1), facecolor=shade, edgecolor="none", linewidth=0))
    for i, edge in enumerate(EDGES, 1):
        write(0.08 + wide * i, top + 0.31, f"{edge:g}", ha="center", fontsize=8.5, color=MUTED)


def panel_words(panel):
    ratios = [cell[3] for cell in panel["cells"]]
    return (
        f"CUB {panel['cub']}: {len(ratios)} shapes, geometric mean {significant(panel['mean'])}, "
        f"from {significant(min(ratios))} to {significant(max(ratios))}, "
        f"in {sum(cell[4] for cell in panel['cells'])} of them slower than CUB"
    )


def shape_map(data, name):
    panels = data["panels"]
    totals = sorted({cell[0] for panel in panels for cell in panel["cells"]})
    lengths = range(max(cell[1] for panel in panels for cell in panel["cells"]) + 1)
    top = 1.42
    figure, place, write = sheet(top + HIGH * len(lengths) + 0.95, name, NARROW)
    what = "Sums of rows: CUB's time, divided by ours"
    write(0.08, 0.24, what, fontsize=12, fontweight="bold")
    where = f"Chapter {int(data['chapter'])}, {data['device']}"
    write(0.08, 0.45, f"{where}. Across: floats in all; down: floats in a row,", color=MUTED)
    write(0.08, 0.62, "each cell: a power of two on the left, one more on the right. Blue: ours is faster", color=MUTED)
    for i, panel in enumerate(panels):
        left = 0.53 + i * (CELL * len(totals) + 0.35)
        write(left, 0.97, f"CUB {panel['cub'].rpartition('.')[0] or panel['cub']}", fontsize=10, fontweight="bold")
        write(left, 1.14, f"geometric mean {significant(panel['mean'])}", color=MUTED)
        draw_panel(place, left, top, panel, totals, lengths, i == 0)
    below = top + HIGH * len(lengths) + 0.2
    write(0.08, below, "CUB ÷ ours; a dot: ours is slower, by more than the spread", color=MUTED)
    draw_scale(place, write, below + 0.1)
    return figure, what, "; ".join(map(panel_words, panels)) + "."


def draw_goals(axes):
    for low, high, percent in GOALS:
        axes.plot([low, high], [percent] * 2, color=INK, linewidth=1, dashes=(4, 2.5))


def draw_rates(axes, panel, colors, last):
    for curve in panel["curves"]:
        color = colors[plain(curve["name"])]
        axes.plot(*zip(*curve["even"]), color=color, linewidth=1.6, marker="o", markersize=3, zorder=2)
        if curve["odd"]:
            axes.plot(*zip(*curve["odd"]), "o", color=color, markersize=5, markerfacecolor=PAPER, markeredgewidth=1.4, zorder=3)
    axes.set_xscale("log", base=2)
    axes.set_xlim(14, 1.5 * max(x for curve in panel["curves"] for x, _ in curve["even"]))
    axes.set_ylim(0, 112)
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in range(5, 31, 5)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: size_text(x)))
    axes.yaxis.set_major_locator(FixedLocator(range(0, 101, 20)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.0f} %"))
    axes.tick_params(labelsize=8.5)
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    if last:
        axes.set_xlabel("elements in a row", labelpad=2)


def rates_words(panel):
    texts = []
    for curve in panel["curves"]:
        for kind in ("even", "odd"):
            values = [percent for _, percent in curve[kind]]
            if values:
                span = f"{significant(min(values), 2)} to {significant(max(values), 2)} %"
                texts.append(f"{plain(curve['name']).replace('_', ' ')} of {panel['elem']}, {kind} lengths: {span}")
    return texts


def plain(kernel):
    """softmax_bf16 -> softmax: the title of the panel has the type."""
    return kernel.removesuffix("_bf16")


def shape_rates(data, name):
    panels, high = data["panels"], 1.75
    names = dict.fromkeys(plain(curve["name"]) for panel in panels for curve in panel["curves"])
    colors = dict(zip(names, (BLUE, GREEN, PURPLE, ORANGE) * 2))
    figure, place, write = sheet(1.0 + len(panels) * (high + 0.42) + 0.25, name, NARROW)
    what = "Rows in, rows out: a copy's time, divided by ours"
    total = size_text(panels[0]["curves"][0]["total"])
    write(0.08, 0.24, what, fontsize=12, fontweight="bold")
    write(0.08, 0.45, f"Chapter {int(data['chapter'])}, {data['device']}, {total} elements.", color=MUTED)
    write(0.08, 0.62, "Rings: odd lengths. Dashed: the goal, 90 %, or 70 % beyond 256 Ki", color=MUTED)
    write_legend(write, 0.86, legend_of(kernel.replace("_", " ") for kernel in colors), colors.values())
    for i, panel in enumerate(panels):
        top = 1.1 + i * (high + 0.42)
        write(0.5, top - 0.04, panel["elem"], fontweight="bold")
        axes = place(0.5, top, NARROW - 0.62, high)
        draw_rates(axes, panel, colors, i == len(panels) - 1)
        draw_goals(axes)
    return figure, what, "; ".join(text for panel in panels for text in rates_words(panel)) + "."


PICTURES = {"rows": rows, "shape_map": shape_map, "shape_rates": shape_rates}
