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
    MUTED,
    ORANGE,
    PURPLE,
    binary_text,
    heading,
    kernel_text,
    sheet,
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


def write_legend(write, orders, looks):
    for k, order in enumerate(orders):
        left, top = 0.08 + k % 6 * 1.17, 0.72 + k // 6 * 0.2
        color, _, _ = looks[order]
        write(left, top, f"■ {kernel_text(order)}", color=color, fontweight="bold")


def scale_errors(axes, sizes, every, limits, first):
    """Both axes of a panel; only the first has numbers for the errors."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(sizes[0] / 1.3, sizes[-1] * 1.3)
    axes.set_ylim(*limits)
    axes.xaxis.set_major_locator(FixedLocator(sizes[::every]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: binary_text(x)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(FixedLocator([10.0**e for e in range(-20, 9, 2)]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: power_text(y) if first else ""))
    axes.set_xlabel("n", labelpad=1)
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


def label_bounds(axes, lines):
    """What is whose bound, in words above the dashed lines; bounds that lie together share their words."""
    ends = sorted((line["points"][0]["bound"], line["order"], line["points"][0]["n"]) for line in lines)
    groups = []
    for bound, order, n in ends:
        if groups and bound < 6 * groups[-1][0]:
            groups[-1] = [bound, f"{groups[-1][1]}, {kernel_text(order)}", n]
        else:
            groups.append([bound, kernel_text(order), n])
    for bound, text, n in groups:
        style = {"textcoords": "offset points", "color": MUTED, "fontsize": 7}
        axes.annotate(text, (n, bound), (2, 22 if text == groups[-1][1] else 3), **style)


def errors_words(panels):
    texts = []
    for panel in panels:
        for line in panel["lines"]:
            last = line["points"][-1]
            texts.append(
                f"{panel['data']} data, {kernel_text(line['order'])}: {last['error']:.1e} of at most "
                f"{last['bound']:.1e} at {binary_text(last['n'])}"
            )
    return "; ".join(texts) + "."


def errors(data, name):
    orders, panels = data["orders"], data["panels"]
    every = [p for panel in panels for line in panel["lines"] for p in line["points"]]
    sizes = sorted({p["n"] for p in every})
    positive = [v for p in every for v in (p["error"], p["bound"]) if v > 0]
    limits = min(positive) / 2, max(positive) * 2
    title = "How wrong a float sum is, by order of addition"
    figure, place, write = sheet(4.45, name)
    heading(
        write,
        title,
        "Relative error against a double-double reference; dashed, named at the right: the most that theory allows",
    )
    looks = dict(zip(orders, LOOKS))
    write_legend(write, orders, looks)
    wide = (7.2 - 0.66 - 0.2) / len(panels)
    for k, panel in enumerate(panels):
        axes = place(0.66 + k * wide, 1.3, wide - 0.2, 2.65)
        head = f"{panel['data']} data\ncondition {panel['condition']}"
        axes.set_title(head, loc="left", fontsize=9, fontweight="bold", pad=5)
        scale_errors(axes, sizes, max(2, len(panels)), limits, k == 0)
        for line in panel["lines"]:
            draw_line(axes, line, looks[line["order"]], limits[0])
    label_bounds(axes, panels[-1]["lines"])
    write(0.08, 4.37, "An error of zero is drawn at the lower edge.", color=MUTED, fontsize=8)
    return figure, title, errors_words(panels)


PICTURES = {"errors": errors}
