"""style.py: the style shared by all figures: colours, words, frames, and the SVG text.

Colours are written for a white background. A style sheet in each file replaces them on dark backgrounds, selected
by attribute; renderers without style sheets show the light colours. Blue and orange (Okabe and Ito's palette)
differ for colour-blind readers, and no information depends on colour alone.
"""

import io
import logging
import math
import re
import textwrap
from xml.sax.saxutils import escape

import matplotlib
import matplotlib.pyplot as plt
from PIL import Image
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

logging.getLogger("matplotlib").setLevel(logging.ERROR)

# name: on white, on dark
INK, MUTED, FAINT, PAPER = "#1f2328", "#656d76", "#d8dee4", "#fffffe"
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072b2", "#d55e00", "#009e73", "#aa4499", "#8c959f"
DARK = {
    INK: "#e6edf3",
    MUTED: "#9198a1",
    FAINT: "#30363d",
    PAPER: "#0d1117",
    BLUE: "#56b4e9",
    ORANGE: "#ff9a52",
    GREEN: "#2ec79b",
    PURPLE: "#df8fd0",
    GREY: "#767d86",
}
SERIES = (BLUE, ORANGE, GREEN, PURPLE)
# From slower to faster; the second colour is neutral. More is darker, or on dark backgrounds brighter.
SHADES = (ORANGE, "#c4c9cf", "#cfe3f2", "#7fb8de", BLUE, "#003d66")
DARK |= dict(zip(SHADES[1:4], ("#444c56", "#1d4058", "#2f76a6")))
DARK[SHADES[5]] = "#bfe6ff"
FONTS = "-apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"

WIDTH = 7.2  # inches: 691 px, the width of a page of text
NARROW = 4.7  # 451 px: nearly full size on a phone
STYLE = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "text.parse_math": False,
    "path.simplify": False,
}


# --- words ---


def significant(value, digits=3):
    """1234.5 -> 1,230 and 0.07654 -> 0.0765: a median has no more than three significant digits."""
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}"


def time_text(us):
    for limit, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= 0.9995 * limit:
            return f"{significant(us / limit)} {unit}"
    return f"{significant(us)} µs"


def round_time(us):
    """A power of ten on an axis: 10 µs."""
    return re.sub(r"\.0+ ", " ", time_text(us))


def count_text(value):
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= limit:
            return significant(value / (1e3 if unit == " k" else limit)) + unit
    return f"{value:,}"


def size_text(n):
    """Powers of two as 4096 -> 4 Ki; other numbers in words, 6553600000 -> 6.55 billion."""
    n = round(n)
    for shift, unit in ((30, " Gi"), (20, " Mi"), (10, " Ki")):
        if n >= 1 << shift and n & (n - 1) == 0:
            return f"{n >> shift}{unit}"
    for limit, word in ((1e9, " billion"), (1e6, " million")):
        if n >= limit:
            return f"{n / limit:.3g}{word}"
    return f"{n:,}"


def factor_text(factor):
    return f"×{significant(factor)}"


def counter_text(column):
    """A column in words: shared_ld_conflicts -> shared load conflicts."""
    words = {"ld": "load", "st": "store", "insts": "instructions"}
    text = " ".join(words.get(word, word) for word in column.removesuffix("_pct").split("_"))
    text += " (%)" if column.endswith("_pct") else ""
    ptx = column in ("warp_insts", "divergent_branches")
    return f"{text} (PTX)" if ptx else text


# --- frames ---


def sheet(height, name, width=WIDTH):
    """A figure of that size in inches, and functions that place axes and text in inches from its top."""
    matplotlib.rcParams["svg.hashsalt"] = name
    figure = plt.figure(figsize=(width, height))

    def place(left, top, wide, high):
        return figure.add_axes(
            [left / width, 1 - (top + high) / height, wide / width, high / height]
        )

    def write(left, top, text, **style):
        return figure.text(left / width, 1 - top / height, text, va="baseline", **style)

    return figure, place, write


def lines_of(text, width=NARROW):
    """Splits a subtitle into lines that fit a figure."""
    return textwrap.wrap(text, int(14.5 * width))


def heading(write, title, below, names=()):
    """Writes the title, the subtitle, and the devices in their colours if there are several."""
    write(0.08, 0.24, title, fontsize=12, fontweight="bold")
    lines = [below] if isinstance(below, str) else below
    for k, line in enumerate(lines):
        write(0.08, 0.45 + 0.17 * k, line, color=MUTED)
    if len(names) > 1:
        write_legend(write, 0.51 + 0.17 * len(lines), legend_of(names, WIDTH), SERIES)


def legend_of(words, width=NARROW):
    """(left, row, text) of each entry, with as many entries in a row as fit."""
    left, row, legend = 0.08, 0, []
    for text in words:
        wide = 0.3 + 0.08 * len(text)
        if left > 0.08 and left + wide > width:
            left, row = 0.08, row + 1
        legend.append((left, row, text))
        left += wide
    return legend


def write_legend(write, top, legend, colors, signs="■■■■■■■■■■■■"):
    for (left, row, text), color, sign in zip(legend, colors, signs):
        write(left, top + 0.19 * row, f"{sign} {text}", color=color, fontweight="bold")


def bare(axes):
    """Removes the frame except axes with a scale."""
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.yaxis.set_major_locator(NullLocator())


def decades(axes, values, text):
    """A log axis with a line per decade, labels where they fit, and a margin after the largest value."""
    low = math.floor(math.log10(min(values)))
    high = low + max(1, (math.log10(max(values)) - low) / 0.75)
    axes.set_xscale("log")
    axes.set_xlim(10**low, 10**high)
    axes.xaxis.set_major_locator(FixedLocator([10.0**e for e in range(low, math.floor(high) + 1)]))
    axes.xaxis.set_minor_locator(NullLocator())
    every = 1 if high - low <= 4 else 2
    axes.xaxis.set_major_formatter(
        FuncFormatter(
            lambda x, _: (
                text(x) if x < 10 * max(values) and round(math.log10(x) - low) % every == 0 else ""
            )
        )
    )
    axes.grid(axis="x", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def flat_palette(image, size=11, apart=40):
    """An image's most frequent distinct colours. Fills and lines keep their colours; only shades at the edges of
    letters are replaced."""
    palette = []
    for _, color in sorted(image.getcolors(image.width * image.height), reverse=True):
        if len(palette) == size:
            break
        if all(sum(abs(x - y) for x, y in zip(color, other)) > apart for other in palette):
            palette.append(color)
    swatches = Image.new("P", (1, 1))
    swatches.putpalette([part for color in palette for part in color])
    return swatches


def webp_of(figure):
    """The figure on white with few colours, as a bitmap for notebooks, which may not show SVG."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=96, facecolor="white", metadata={"Software": None})
    image = Image.open(drawn).convert("RGB")
    flat = image.quantize(palette=flat_palette(image), dither=Image.Dither.NONE).convert("RGB")
    flat.save(small, format="webp", lossless=True, quality=100, method=4)
    return small.getvalue()


CIRCLE = re.compile(r'<path d="M ([^CLz"]*)((?:C [^CLz"]*){8})(?:L [^CLz"]*)?z\s*"')


def circle_of(path):
    """Writes a circle as <circle>: matplotlib's eight curves take ten times the bytes."""
    (x, y), curves = map(float, path[1].split()), [list(map(float, curve.split())) for curve in path[2].split("C")[1:]]
    right, radius = curves[1][4] - x, (curves[3][5] - y) / 2
    return f'<circle cx="{x:g}" cy="{y + radius:g}" r="{radius:g}"' if abs(right - radius) < 0.01 else path[0]


def svg_of(figure, title, description, hash_text):
    buffer = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = CIRCLE.sub(circle_of, re.sub(r"'DejaVu Sans'(, [^;\"]*)?", FONTS, svg))
    dark = "".join(
        f'[style*="fill: {light}"]{{fill:{color}!important}}'
        f'[style*="stroke: {light}"]{{stroke:{color}!important}}\n'
        for light, color in DARK.items()
        if light in svg
    )
    end = svg.index(">")
    return (
        f"<!-- drawn by tools/plot/plot.py from inputs {hash_text} -->\n{svg[:end]}"
        f' role="img" aria-labelledby="title desc">\n <title id="title">{escape(title)}</title>\n'
        f' <desc id="desc">{escape(description)}</desc>\n'
        f" <style>@media (prefers-color-scheme: dark) {{\n{dark}}}</style>{svg[end + 1 :]}"
    )


def draw(picture, figure, hash_text):
    """Draws a figure of plot.py with the function for its kind, as SVG and as WebP."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({k: v for k, v in STYLE.items() if k in matplotlib.rcParams})
        drawn, title, description = picture(figure.data, figure.name)
        svg, webp = svg_of(drawn, title, description, hash_text).encode(), webp_of(drawn)
        plt.close(drawn)
        return svg, webp


# --- building blocks of drawings without axes; places are inches from the upper left corner ---

PALE = 0.16  # opacity of a pale surface
FREE = {"clip_on": False}  # everything is inside the sheet, and clip paths would enlarge the file


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
    """Draws a rectangle; `fill` is the colour of its surface, pale or full."""
    if fill:
        alpha = {"alpha": PALE} if pale else {}
        axes.add_patch(Rectangle((x, y), wide, high, facecolor=fill, edgecolor="none", **alpha, **FREE))
    frame = {"facecolor": "none", "edgecolor": edge, "linewidth": 0.8, **FREE, **style}
    axes.add_patch(Rectangle((x, y), wide, high, **frame))
    color = PAPER if fill and not pale else INK
    if text:
        word(axes, x + wide / 2, y + high / 2, text, color, size)


def disc(axes, x, y, radius, text, active, color=BLUE):
    """Draws a thread: a disc with its number if it is active, else an empty ring."""
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
