"""shape_maps.py: rows of every shape: where a kernel is ahead of its peer, and how near to a copy.

A picture takes data from shape_rates.py and the name of its file; it returns the figure, its title,
and its content in words. Both are narrow, so that a phone shows them at nearly their size.
"""

from bisect import bisect

from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from style import BLUE, FAINT, GREEN, INK, MUTED, NARROW, ORANGE, PAPER, PURPLE, SHADES, legend_of, sheet
from style import significant, size_text, write_legend

CELL, HIGH = 0.255, 0.135  # inches: of a length's two halves together, and of a length
EDGES = (0.98, 1.02, 1.3, 2, 10)  # between the shades
GOALS = ((32, 1 << 18, 90), (1 << 18, 1 << 31, 70))  # lengths from and to, percent of a copy


def rectangle(left, top, wide, high):
    corners = [(left, top), (left + wide, top), (left + wide, top + high), (left, top + high), (left, top)]
    return Path(corners, closed=True)


def place_of(cell, totals):
    """The half cell's rectangle, in cells from the left and lengths from the top."""
    total, length, odd = cell[:3]
    return totals.index(total) + (0.47 if odd else 0.03), length + 0.05, 0.42, 0.9


def draw_cells(axes, cells, totals):
    shades = {}
    for cell in cells:
        shades.setdefault(SHADES[bisect(EDGES, cell[3])], []).append(place_of(cell, totals))
    for shade, places in shades.items():
        path = Path.make_compound_path(*(rectangle(*place) for place in places))
        axes.add_patch(PathPatch(path, facecolor=shade, edgecolor="none", linewidth=0))
    behind = [place_of(cell, totals) for cell in cells if cell[4]]
    axes.plot([x + w / 2 for x, _, w, _ in behind], [y + h / 2 for _, y, _, h in behind], "o", color=INK, markersize=2)


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
    """The shades side by side, with what lies between them."""
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
    write(0.08, 0.62, "left in a cell a power of two, right one more. Blue: ours is ahead", color=MUTED)
    for i, panel in enumerate(panels):
        left = 0.53 + i * (CELL * len(totals) + 0.35)
        write(left, 0.97, f"CUB {panel['cub'].rpartition('.')[0] or panel['cub']}", fontsize=10, fontweight="bold")
        write(left, 1.14, f"geometric mean {significant(panel['mean'])}", color=MUTED)
        draw_panel(place, left, top, panel, totals, lengths, i == 0)
    below = top + HIGH * len(lengths) + 0.2
    write(0.08, below, "Times as long as ours; a dot: ours is slower, by more than the spread", color=MUTED)
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
    """softmax_bf16, whose panel says of what it is -> softmax."""
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
    write(0.08, 0.62, "Rings: odd lengths. Dashed, the goal: 90 %, beyond 256 Ki 70 %", color=MUTED)
    write_legend(write, 0.86, legend_of(kernel.replace("_", " ") for kernel in colors), colors.values())
    for i, panel in enumerate(panels):
        top = 1.1 + i * (high + 0.42)
        write(0.5, top - 0.04, panel["elem"], fontweight="bold")
        axes = place(0.5, top, NARROW - 0.62, high)
        draw_rates(axes, panel, colors, i == len(panels) - 1)
        draw_goals(axes)
    return figure, what, "; ".join(text for panel in panels for text in rates_words(panel)) + "."


PICTURES = {"shape_map": shape_map, "shape_rates": shape_rates}
