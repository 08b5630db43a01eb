"""errors.py: the figure of rounding errors by order of summation, with their bounds.

A picture is a function of (data, name): data as figures.py's errors_data makes it, name as for
style.sheet. It returns the figure, its title, and its description in words.
"""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from style import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    NARROW,
    heading,
    legend_of,
    lines_of,
    sheet,
    size_text,
    write_legend,
)

# A later line lies on an earlier one: markers are hollow, and the later the larger.
LOOKS = (
    (ORANGE, "o", 3),
    (GREEN, "s", 3.5),
    (BLUE, "^", 4.5),
    (PURPLE, "D", 5),
    (INK, "v", 6.5),
    (GREY, "o", 9),
)
DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_text(value):
    """1e-07 -> 10⁻⁷"""
    return "10" + str(int(f"{value:e}".split("e")[1])).translate(DIGITS)


def scale_errors(axes, sizes, limits):
    """Both axes of a panel."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(sizes[0] / 1.3, sizes[-1] * 1.3)
    axes.set_ylim(*limits)
    axes.xaxis.set_major_locator(FixedLocator(sizes[::2]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: size_text(x)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(FixedLocator([10.0**e for e in range(-20, 9, 2)]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: power_text(y)))
    axes.grid(color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def draw_line(axes, line, look, low):
    """An order's errors, none below `low`, and their bound."""
    color, marker, size = look
    x = [p["n"] for p in line["points"]]
    y = [max(p["error"], low) for p in line["points"]]
    hollow = {"markerfacecolor": "none", "markeredgewidth": 1.1}
    axes.plot(x, y, color=color, linewidth=1.4, marker=marker, markersize=size, **hollow)
    bound = [p["bound"] for p in line["points"]]
    axes.plot(x, bound, color=color, linewidth=0.9, dashes=(4, 2))


def errors_words(panels):
    texts = []
    for panel in panels:
        for line in panel["lines"]:
            last = line["points"][-1]
            texts.append(
                f"{panel['data']} data, {line['order']}: {last['error']:.1e} of at most "
                f"{last['bound']:.1e} at {size_text(last['n'])}"
            )
    return "; ".join(texts) + "."


def draw_panel(axes, panel, sizes, looks):
    values = [v for line in panel["lines"] for p in line["points"] for v in (p["error"], p["bound"])]
    limits = min(v for v in values if v > 0) / 2, max(values) * 4
    scale_errors(axes, sizes, limits)
    for line in panel["lines"]:
        draw_line(axes, line, looks[line["order"]], limits[0])


def errors(data, name):
    panels, high = data["panels"], 1.95
    looks = dict(zip(dict.fromkeys(line["order"] for panel in panels for line in panel["lines"]), LOOKS))
    sizes = sorted({p["n"] for panel in panels for line in panel["lines"] for p in line["points"]})
    title = "How wrong a float sum is, by its order"
    below = lines_of(
        "Relative error against a double-double reference, over n; zero is drawn at the lower edge. "
        "Dashed, in the same colour: the most that theory allows"
    )
    legend = legend_of(looks)
    top = 0.55 + 0.17 * len(below) + 0.19 * (legend[-1][1] + 1)
    figure, place, write = sheet(top + len(panels) * (high + 0.55), name, NARROW)
    heading(write, title, below)
    write_legend(write, 0.51 + 0.17 * len(below), legend, [color for color, *_ in looks.values()])
    for panel in panels:
        write(0.55, top + 0.14, f"{panel['data']} data, condition {panel['condition']}", fontweight="bold")
        draw_panel(place(0.55, top + 0.2, NARROW - 0.7, high), panel, sizes, looks)
        top += high + 0.55
    return figure, title, errors_words(panels)


PICTURES = {"errors": errors}
