"""floor_bars.py: times beside their floors, a bar each.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from matplotlib.ticker import NullLocator
from style import BLUE, GREY, INK, MUTED, NARROW, ORANGE, bare, heading, lines_of, sheet, time_text

LINE = 0.17  # inches from bar to bar
ASIDE = {"textcoords": "offset points", "va": "center", "annotation_clip": False, "fontsize": 8}


def bars_of(kernel):
    """(label, microseconds, colour): the time, and the floors, of which the highest stands out."""
    highest = max(us for _, us in kernel["floors"])
    bars = [("measured", kernel["time_us"], BLUE)] if kernel["time_us"] else []
    for name, us in kernel["floors"]:
        if name == "wait for loads":
            name += f", {kernel['loads']} at once" if kernel["loads"] > 1 else ", one at once"
        bars.append((name, us, ORANGE if us == highest else GREY))
    return bars


def draw_kernel(axes, bars, longest):
    bare(axes)
    axes.spines["bottom"].set_visible(False)
    axes.xaxis.set_major_locator(NullLocator())
    axes.set_ylim(len(bars) - 0.45, -0.55)
    axes.set_xlim(0, longest)
    for y, (label, us, color) in enumerate(bars):
        strong = {"fontweight": "bold"} if color == BLUE else {}
        axes.barh(y, us, 0.72, color=color)
        axes.annotate(time_text(us), (us, y), (3, 0), **strong, **ASIDE)
        style = {"ha": "right", "color": MUTED if color == GREY else INK}
        axes.annotate(label, (0, y), (-5, 0), **style, **strong, **ASIDE)
    axes.axvline(0, color=MUTED, linewidth=0.8)


def words_of(kernel):
    time = f"measured {time_text(kernel['time_us'])}, " if kernel["time_us"] else ""
    floors = ", ".join(f"{name} {time_text(us)}" for name, us in kernel["floors"])
    return f"{kernel['kernel']}: {time}floors: {floors}"


def floors(data, name):
    kernels = [(kernel, bars_of(kernel)) for kernel in data["kernels"]]
    below = lines_of(
        f"{data['device']}, {data['n']:,} elements, all bars to one scale. Floors: what one resource alone "
        "would need; orange is the highest"
    )
    top = 0.4 + 0.17 * len(below)
    high = sum(len(bars) * LINE + 0.34 for _, bars in kernels)
    figure, place, write = sheet(top + high, name, NARROW)
    what = f"What chapter {int(data['chapter'])} waits for"
    heading(write, what, below)
    longest = max(us for _, bars in kernels for _, us, _ in bars)
    for kernel, bars in kernels:
        write(0.08, top + 0.14, kernel["kernel"], fontweight="bold")
        axes = place(1.75, top + 0.2, NARROW - 1.75 - 0.65, len(bars) * LINE)
        draw_kernel(axes, bars, longest)
        top += len(bars) * LINE + 0.34
    return figure, what, "; ".join(words_of(kernel) for kernel, _ in kernels) + "."


PICTURES = {"floors": floors}
