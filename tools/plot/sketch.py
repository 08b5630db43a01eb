"""sketch.py: what drawings without axes are made of. Places are inches from the upper left corner."""

from matplotlib.patches import Circle, FancyArrowPatch, Rectangle
from style import BLUE, GREY, INK, MUTED, PAPER, WIDTH, heading, sheet

PALE = 0.16  # how much of its colour a pale surface has
FREE = {"clip_on": False}  # all is inside the sheet; a file says of each shape what clips it


def paper(height, name, title, below):
    """An empty sheet of that height under its heading: the figure, and axes in inches."""
    figure, place, write = sheet(height, name)
    heading(write, title, below)
    axes = place(0, 0, WIDTH, height)
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    return figure, axes


def word(axes, x, y, text, color=INK, size=8, ha="center", **style):
    axes.text(x, y, text, color=color, fontsize=size, ha=ha, va="center_baseline", **style)


def box(axes, x, y, wide, high, text="", fill=None, edge=MUTED, pale=False, size=8, **style):
    """A rectangle; with fill its surface has that colour, pale or whole."""
    if fill:
        alpha = {"alpha": PALE} if pale else {}
        axes.add_patch(Rectangle((x, y), wide, high, facecolor=fill, edgecolor="none", **alpha, **FREE))
    frame = {"facecolor": "none", "edgecolor": edge, "linewidth": 0.8, **FREE, **style}
    axes.add_patch(Rectangle((x, y), wide, high, **frame))
    color = PAPER if fill and not pale else INK
    if text:
        word(axes, x + wide / 2, y + high / 2, text, color, size)


def disc(axes, x, y, radius, text, active, color=BLUE):
    """A thread: filled with its number where it works, an empty ring where it does not."""
    face, edge = (color, color) if active else ("none", GREY)
    axes.add_patch(Circle((x, y), radius, facecolor=face, edgecolor=edge, linewidth=0.7, zorder=3, **FREE))
    word(axes, x, y, text, PAPER if active else MUTED, zorder=4)


def line(axes, start, end, color=MUTED, width=0.9, **style):
    axes.plot([start[0], end[0]], [start[1], end[1]], color=color, linewidth=width, **FREE, **style)


def arrow(axes, start, end, color=MUTED, width=1.0, bend=0.0):
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>,head_length=3,head_width=1.6",
            connectionstyle=f"arc3,rad={bend}",
            color=color,
            linewidth=width,
            shrinkA=0,
            shrinkB=0,
            zorder=3,
            **FREE,
        )
    )
