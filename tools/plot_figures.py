"""plot_figures.py: the pictures behind plot.py, one function each, from data to SVG.

Colours are written as they look on white. A style sheet in each file gives every one of them a
counterpart for dark backgrounds, by attribute: a renderer that knows no style sheets shows the
light ones. Blue and orange (Okabe and Ito's palette) stay apart for colour-blind readers, and
no meaning hangs on colour alone.
"""

import io
import logging
import math
import re
from xml.sax.saxutils import escape

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle
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
# Words of one bank that an instruction wants, by power of two: blue is one, nobody waits.
DEGREES = ("#2f7fb8", "#f0c45c", "#e69f00", "#d55e00", "#a83a00", "#7a2200")
ON_DEGREE = ("#fefefe", "#111111", "#111111", "#fefefe", "#fefefe", "#fefefe")
FONTS = "-apple-system, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif"

WIDTH = 7.2  # inches: 691 px, what a page of text is wide
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


# ---- Words ----


def significant(value, digits=3):
    """1234.5 -> 1,230 and 0.07654 -> 0.0765: three digits say all that a median knows."""
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}"


def time_text(us):
    for limit, unit in ((1e6, "s"), (1e3, "ms")):
        if us >= 0.9995 * limit:
            return f"{significant(us / limit)} {unit}"
    return f"{significant(us)} µs"


def count_text(value):
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= limit:
            return significant(value / (1e3 if unit == " k" else limit)) + unit
    return f"{value:,}"


def binary_text(n):
    """Sizes in powers of two: 4096 -> 4 Ki."""
    for shift, unit in ((30, " Gi"), (20, " Mi"), (10, " Ki")):
        if n >= 1 << shift:
            return f"{n / (1 << shift):g}{unit}"
    return f"{n:g}"


def factor_text(factor):
    return f"×{significant(factor)}" if factor < 999.5 else f"×{factor:,.0f}"


def kernel_text(kernel):
    """A kernel's name in words, without what all of them do: block_sum_last_warp -> last warp."""
    words = re.sub(r"^(block_)?sum_", "", kernel)
    return words.replace("_", " ")


def counter_text(column):
    """A column in words: shared_ld_conflicts -> shared load conflicts."""
    words = {"ld": "load", "st": "store", "insts": "instructions"}
    text = " ".join(words.get(word, word) for word in column.split("_"))
    ptx = column in ("warp_insts", "divergent_branches")
    return f"{text} (PTX)" if ptx else text


def names_of(devices):
    return " and ".join(device["name"] for device in devices)


# ---- Frames ----


def sheet(height, name):
    """A figure of that height in inches, and a function that places axes in inches from its top."""
    matplotlib.rcParams["svg.hashsalt"] = name
    figure = plt.figure(figsize=(WIDTH, height))

    def place(left, top, width, high):
        return figure.add_axes(
            [left / WIDTH, 1 - (top + high) / height, width / WIDTH, high / height]
        )

    def write(left, top, text, **style):
        return figure.text(left / WIDTH, 1 - top / height, text, va="baseline", **style)

    return figure, place, write


def heading(write, title, below, names=()):
    """Title, what is shown, and the devices with their colours where there are several."""
    write(0.08, 0.24, title, fontsize=12, fontweight="bold")
    write(0.08, 0.45, below, color=MUTED, fontsize=9)
    if len(names) > 1:
        left = 0.08
        for name, color in zip(names, SERIES):
            write(left, 0.68, "■ " + name, color=color, fontsize=9, fontweight="bold")
            left += 0.35 + 0.085 * len(name)


def bare(axes):
    """No frame but what carries a scale."""
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.yaxis.set_major_locator(NullLocator())


def svg_of(figure, title, description, hash_text):
    buffer = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    plt.close(figure)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"'DejaVu Sans'(, [^;\"]*)?", FONTS, svg)
    dark = "".join(
        f'[style*="fill: {light}"]{{fill:{color}!important}}'
        f'[style*="stroke: {light}"]{{stroke:{color}!important}}\n'
        for light, color in DARK.items()
        if light in svg
    )
    end = svg.index(">")
    return (
        f"<!-- drawn by tools/plot.py from inputs {hash_text} -->\n{svg[:end]}"
        f' role="img" aria-labelledby="title desc">\n <title id="title">{escape(title)}</title>\n'
        f' <desc id="desc">{escape(description)}</desc>\n'
        f" <style>@media (prefers-color-scheme: dark) {{\n{dark}}}</style>{svg[end + 1 :]}"
    )


# ---- The ladder and its steps ----


def rows_of(devices):
    """The chapters of all devices, and the label of each: the first device's kernel."""
    labels = {}
    for device in devices:
        for stage in device["stages"]:
            labels.setdefault(stage["chapter"], kernel_text(stage["kernel"]))
    return sorted(labels), labels


def label_rows(axes, chapters, labels):
    for row, chapter in enumerate(chapters):
        axes.annotate(f"{int(chapter)}", (0, row), (-122, 0), textcoords="offset points",
                      xycoords=("axes fraction", "data"), va="center", ha="right", color=MUTED,
                      annotation_clip=False)
        axes.annotate(labels[chapter], (0, row), (-115, 0), textcoords="offset points",
                      xycoords=("axes fraction", "data"), va="center", annotation_clip=False)


def row_places(device_count):
    """Where in a row of height 1 each device's bar lies, and how thick it is."""
    thick = 0.66 / device_count
    return [(i - (device_count - 1) / 2) * thick for i in range(device_count)], 0.9 * thick


def ladder(data, name):
    devices = data["devices"]
    chapters, labels = rows_of(devices)
    high = len(chapters) * (0.30 if len(devices) == 1 else 0.21 * len(devices))
    top = 1.0 if len(devices) == 1 else 1.2
    figure, place, write = sheet(top + high + 0.5, name)
    what = f"Sum of {data['n']:,} floats, stage by stage"
    below = "The fastest kernel of each chapter; medians"
    heading(write, what, below + (f" on {devices[0]['name']}" if len(devices) == 1 else ""),
            [device["name"] for device in devices])
    times = place(1.9, top, 2.35, high)
    rates = place(4.55, top, 1.95, high)
    for axes in (times, rates):
        bare(axes)
        axes.set_ylim(len(chapters) - 0.4, -0.6)
        axes.tick_params(length=0, labelsize=8)
    label_rows(times, chapters, labels)
    write(1.9, top - 0.12, "time", fontweight="bold")
    write(4.55, top - 0.12, "bandwidth, GB/s", fontweight="bold")
    write(WIDTH - 0.1, top - 0.12, "of limit", fontweight="bold", ha="right")

    medians = [stage["median_us"] for device in devices for stage in device["stages"]]
    low, far = 10 ** math.floor(math.log10(min(medians))), 10 ** math.ceil(math.log10(max(medians)))
    times.set_xscale("log")
    times.set_xlim(low, far)
    times.xaxis.set_major_locator(FixedLocator([10**e for e in range(0, 9) if low <= 10**e <= far]))
    times.xaxis.set_minor_locator(NullLocator())
    times.xaxis.set_major_formatter(FuncFormatter(lambda us, _: time_text(us)))
    times.grid(axis="x", color=FAINT, linewidth=0.7)
    times.set_axisbelow(True)
    rates.set_xlim(0, 100)
    rates.xaxis.set_major_locator(FixedLocator([0, 25, 50, 75, 100]))
    rates.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f} %"))
    rates.set_xlabel("of the pin rate", fontsize=8, labelpad=2)

    places, thick = row_places(len(devices))
    for device, color, offset in zip(devices, SERIES, places):
        row = {chapter: i + offset for i, chapter in enumerate(chapters)}
        stages = device["stages"]
        times.plot([s["median_us"] for s in stages], [row[s["chapter"]] for s in stages],
                   color=color, linewidth=1, alpha=0.45, zorder=2)
        limit = device["ceiling_gbps"] or device["pin_gbps"]
        pin = device["pin_gbps"] or limit or max(s["gbps"] for s in stages)
        for stage in stages:
            y = row[stage["chapter"]]
            us, share = stage["median_us"], 100 * stage["gbps"] / pin
            times.plot(stage["others"], [y] * len(stage["others"]), "o", markersize=3.6,
                       markerfacecolor="none", markeredgecolor=color, markeredgewidth=0.8, zorder=3)
            times.plot([us], [y], "o", color=color, markersize=6.5, zorder=4)
            late = us > far / 100
            right = max([us, *stage["others"]])
            times.annotate(time_text(us), (us if late else right, y), (-8 if late else 7, 0),
                           textcoords="offset points", va="center", ha="right" if late else "left",
                           fontsize=8.5, zorder=5)
            rates.barh(y, share, thick, color=color)
            wide = share > 45
            rates.annotate(significant(stage["gbps"]), (share, y), (-5 if wide else 4, 0),
                           textcoords="offset points", va="center", ha="right" if wide else "left",
                           color=PAPER if wide else INK, fontsize=8.5)
            if limit:
                part = 100 * stage["gbps"] / limit
                rates.annotate(f"{part:.0f} %" if part >= 1 else f"{part:.1g} %", (1, y),
                               (WIDTH * 72 - 0.1 * 72 - (4.55 + 1.95) * 72, 0), va="center",
                               ha="right", xycoords=("axes fraction", "data"),
                               textcoords="offset points", fontsize=8.5, annotation_clip=False)
        if device["ceiling_gbps"]:
            across = [row[chapters[0]] - thick / 2 - 0.1, row[chapters[-1]] + thick / 2 + 0.1]
            rates.plot([100 * device["ceiling_gbps"] / pin] * 2, across, color=INK, linewidth=1.1,
                       dashes=(3, 2))
        if device["library_us"]:
            times.plot([device["library_us"]] * 2, [-0.5, len(chapters) - 0.5], color=color,
                       linewidth=0.9, dashes=(1.5, 2), zorder=1)
    return figure, what, "; ".join(
        f"{device['name']}: " + ", ".join(
            f"chapter {int(s['chapter'])} {kernel_text(s['kernel'])} {time_text(s['median_us'])}, "
            f"{significant(s['gbps'])} GB/s" for s in device["stages"])
        for device in devices) + "."


def speedup(data, name):
    devices = data["devices"]
    chapters, labels = rows_of(devices)
    high = len(chapters) * (0.30 if len(devices) == 1 else 0.21 * len(devices))
    top = 1.0 if len(devices) == 1 else 1.2
    figure, place, write = sheet(top + high + 0.35, name)
    what = "What each stage gains"
    below = f"Ratio of median times for {data['n']:,} floats"
    heading(write, what, below + (f" on {devices[0]['name']}" if len(devices) == 1 else ""),
            [device["name"] for device in devices])
    steps = place(1.9, top, 2.45, high)
    totals = place(4.75, top, 1.75, high)
    for axes in (steps, totals):
        bare(axes)
        axes.set_ylim(len(chapters) - 0.4, -0.6)
        axes.tick_params(length=0, labelsize=8)
    label_rows(steps, chapters, labels)
    write(1.9, top - 0.12, "against the stage before", fontweight="bold")
    write(4.75, top - 0.12, "in all", fontweight="bold")

    gains = [
        [b["median_us"] and a["median_us"] / b["median_us"]
         for a, b in zip(device["stages"], device["stages"][1:])]
        for device in devices
    ]
    # The first step is worth thousands and would flatten the others: the axis ends before it.
    ordinary = [gain for row in gains for gain in row if gain < 6]
    end = 1.25 * max(ordinary, default=2)
    steps.set_xlim(min([0.8, *ordinary]) - 0.2 if min(ordinary, default=1) < 0.98 else 0.9, end)
    steps.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"×{x:g}"))
    steps.xaxis.set_major_locator(FixedLocator([t for t in (0.5, 1, 1.5, 2, 3, 4, 5, 6) if t <= end]))
    steps.axvline(1, color=INK, linewidth=0.9)
    most = max(d["stages"][0]["median_us"] / s["median_us"] for d in devices for s in d["stages"])
    totals.set_xscale("log")
    totals.set_xlim(1, 10 ** math.ceil(math.log10(max(most, 10))))
    totals.xaxis.set_minor_locator(NullLocator())
    decades = range(0, 9, 1 if most < 1e4 else 2)
    totals.xaxis.set_major_locator(FixedLocator([10**e for e in decades]))
    totals.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"×{x:,.0f}"))

    places, thick = row_places(len(devices))
    for device, color, offset, row_gains in zip(devices, SERIES, places, gains):
        row = {chapter: i + offset for i, chapter in enumerate(chapters)}
        first = device["stages"][0]["median_us"]
        for stage, before, gain in zip(device["stages"], [None, *device["stages"]], [None, *row_gains]):
            y = row[stage["chapter"]]
            if gain:
                beyond = gain > end
                within = (stage["p5_us"] <= before["p95_us"] and before["p5_us"] <= stage["p95_us"])
                shown = end * 0.86 if beyond else gain
                steps.barh(y, shown - 1, thick, left=1, color=GREY if within else color)
                if beyond: # an arrow's head: the bar goes on
                    steps.plot([shown], [y], ">", color=color, markersize=54 * thick * 0.30,
                               markeredgewidth=0, clip_on=False)
                text = factor_text(gain) + (" no measurable difference" if within else "")
                steps.annotate(text, (end if beyond else max(shown, 1), y), (5 if not beyond else 2, 0),
                               textcoords="offset points", va="center", fontsize=8.5,
                               color=MUTED if within else INK, annotation_clip=False)
            else:
                steps.annotate("the start", (1, y), (5, 0), textcoords="offset points",
                               va="center", fontsize=8.5, color=MUTED)
            total = first / stage["median_us"]
            totals.barh(y, total, thick, left=0, color=color)
            totals.annotate(factor_text(total), (max(total, 1), y), (4, 0), va="center", fontsize=8.5,
                            textcoords="offset points", annotation_clip=False)
    return figure, what, "; ".join(
        f"{device['name']}: " + ", ".join(
            f"chapter {int(s['chapter'])} {factor_text(g)}"
            for s, g in zip(device["stages"][1:], row_gains))
        for device, row_gains in zip(devices, gains)) + "."


# ---- Sweeps ----


def blocks(data, name):
    figure, place, write = sheet(3.9, name)
    what = "How many blocks does a sum want?"
    n = data[0]["n"]
    heading(write, what, f"Chapter 8, grid-stride sum of {n:,} floats: bandwidth against blocks"
            + (f" on {data[0]['name']}" if len(data) == 1 else ""), [s["name"] for s in data])
    axes = place(0.62, 1.05, WIDTH - 0.85, 2.3)
    axes.set_xscale("log", base=2)
    grids = [point["grid"] for sweep in data for point in sweep["points"]]
    axes.set_xlim(min(grids) / 1.15, max(grids) * 1.3)
    highest = max(max(p["gbps"] for p in s["points"]) for s in data)
    highest = max([highest, *(s["ceiling_gbps"] or 0 for s in data)])
    axes.set_ylim(0, highest * 1.08)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    axes.xaxis.set_major_locator(FixedLocator([2**e for e in range(0, 31, 2)]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: f"{x:,.0f}" if x < 1024 else binary_text(x)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("blocks", labelpad=2)
    axes.set_ylabel("GB/s", labelpad=3)
    for sweep, color in zip(data, SERIES):
        points = sweep["points"]
        scale = [p["gbps"] * p["median_us"] for p in points]  # bytes per kernel, in GB/s times µs
        axes.fill_between([p["grid"] for p in points], [c / p["p95_us"] for c, p in zip(scale, points)],
                          [c / p["p5_us"] for c, p in zip(scale, points)], color=color, alpha=0.22,
                          linewidth=0)
        axes.plot([p["grid"] for p in points], [p["gbps"] for p in points], "o-", color=color,
                  markersize=3.2, linewidth=1.6, zorder=3)
        best = max(points, key=lambda p: p["gbps"])
        axes.plot([best["grid"]], [best["gbps"]], "o", color=color, markersize=7, zorder=4)
        text = f"best: {significant(best['gbps'])} GB/s at {best['grid']:,} blocks"
        if sweep["sm_count"] and best["grid"] % sweep["sm_count"] == 0:
            text += f", {best['grid'] // sweep['sm_count']} per SM"
        axes.annotate(text, (best["grid"], best["gbps"]), (6, -20), textcoords="offset points",
                      fontsize=8.5, color=color, fontweight="bold", ha="center",
                      va="top", zorder=5)
        if sweep["ceiling_gbps"]:
            axes.axhline(sweep["ceiling_gbps"], color=INK, linewidth=1, dashes=(4, 2.5))
            axes.annotate("read ceiling", (0, sweep["ceiling_gbps"]), (4, 3), fontsize=8.5,
                          xycoords=("axes fraction", "data"), textcoords="offset points")
        if sweep["sm_count"]:
            several = len(data) > 1
            for times in (1,) if several else (1, 2, 4, 8, 16, 32):
                axes.axvline(times * sweep["sm_count"], color=color if several else GREY,
                             linewidth=0.8, dashes=(1, 2), zorder=1)
                text = f"{times}" if times > 1 else f"{sweep['sm_count']} SMs × 1"
                axes.annotate(text, (times * sweep["sm_count"], 0), (2, 3), fontsize=8,
                              textcoords="offset points", color=color if several else MUTED)
    return figure, what, "; ".join(
        f"{s['name']}: best {significant(max(p['gbps'] for p in s['points']))} GB/s at "
        f"{max(s['points'], key=lambda p: p['gbps'])['grid']:,} blocks" for s in data) + "."


def sizes(data, name):
    curves, library = data["curves"], "cub_device_reduce"
    kernels = sorted({c["kernel"] for c in curves}, key=lambda k: k == library)
    machines = list(dict.fromkeys(c["name"] for c in curves))
    versus = [c for c in curves if c["kernel"] != library
              and any(l["kernel"] == library and l["name"] == c["name"] for l in curves)]
    figure, place, write = sheet(3.95 + (1.25 if versus else 0), name)
    what = "From a thousand elements to a quarter of a billion"
    write(0.08, 0.24, what, fontsize=12, fontweight="bold")
    write(0.08, 0.45, f"Chapter {int(data['chapter'])}: the sum of n floats. Lines are medians, "
          "bands the 5th to 95th percentile", color=MUTED)
    colors = dict(zip(kernels, SERIES))
    colors[library] = ORANGE
    dashes = dict(zip(machines, ((None, None), (5, 2), (1.5, 1.5), (6, 1.5, 1.5, 1.5))))
    left = 0.08
    for kernel in kernels:
        write(left, 0.7, "■ " + kernel, color=colors[kernel], fontweight="bold")
        left += 0.35 + 0.088 * len(kernel)
    if len(machines) > 1:
        styles = ("solid", "dashed", "dotted", "dash-dotted")
        write(WIDTH - 0.1, 0.7, ", ".join(f"{m}: {s}" for m, s in zip(machines, styles)),
              color=MUTED, ha="right")
    time_axes = place(0.66, 1.05, 2.75, 2.4)
    rate_axes = place(4.2, 1.05, 2.75, 2.4)
    panels = [time_axes, rate_axes]
    if versus:
        panels.append(place(0.66, 4.1, WIDTH - 0.91, 0.65))
    every = sorted({p["n"] for c in curves for p in c["points"]})
    for axes in panels:
        axes.set_xscale("log", base=2)
        axes.set_xlim(every[0], every[-1])
        axes.xaxis.set_major_locator(FixedLocator([2**e for e in range(10, 31, 6)]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: binary_text(x)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
    for axes, title in ((time_axes, "time"), (rate_axes, "GB/s")):
        axes.set_yscale("log")
        axes.set_title(title, loc="left", fontsize=9, fontweight="bold", pad=5)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("n", labelpad=1)
    for curve in curves:
        points = curve["points"]
        x, color = [p["n"] for p in points], colors[curve["kernel"]]
        line = {"color": color, "linewidth": 1.6, "dashes": dashes.get(curve["name"], (None, None))}
        time_axes.fill_between(x, [p["p5_us"] for p in points], [p["p95_us"] for p in points],
                               color=color, alpha=0.22, linewidth=0)
        time_axes.plot(x, [p["median_us"] for p in points], **line)
        work = [p["gbps"] * p["median_us"] for p in points]
        rate_axes.fill_between(x, [w / p["p95_us"] for w, p in zip(work, points)],
                               [w / p["p5_us"] for w, p in zip(work, points)], color=color,
                               alpha=0.22, linewidth=0)
        rate_axes.plot(x, [p["gbps"] for p in points], **line)
        if curve in versus:
            theirs = next(c for c in curves if c["kernel"] == library and c["name"] == curve["name"])
            theirs = {p["n"]: p["median_us"] for p in theirs["points"]}
            both = [p for p in points if p["n"] in theirs]
            panels[2].plot([p["n"] for p in both], [theirs[p["n"]] / p["median_us"] for p in both],
                           **line)
    time_axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: time_text(us)))
    rate_axes.yaxis.set_major_formatter(FuncFormatter(lambda gbps, _: significant(gbps, 1)))
    if versus:
        panels[2].set_title(f"speed against {library}", loc="left", fontsize=9, fontweight="bold",
                            pad=5)
        panels[2].axhline(1, color=colors[library], linewidth=1.2)
        panels[2].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"×{y:g}"))
        panels[2].xaxis.set_major_locator(FixedLocator([2**e for e in range(10, 31, 3)]))
    return figure, what, "; ".join(
        f"{c['kernel']} on {c['name']}: {time_text(c['points'][0]['median_us'])} at "
        f"{binary_text(c['points'][0]['n'])}, {significant(c['points'][-1]['gbps'])} GB/s at "
        f"{binary_text(c['points'][-1]['n'])}" for c in curves) + "."


# ---- Counts ----


def counters(data, name):
    bars, titles = data["bars"], [counter_text(c) for c in data["counters"]]
    across = 3
    down = math.ceil(len(titles) / across)
    high = 0.19 * len(bars) + 0.05
    figure, place, write = sheet(0.85 + down * (high + 0.36), name)
    what = f"What chapter {int(data['chapter'])} changes"
    heading(write, what, f"Counted by the CPU device for {data['n']:,} elements; "
            "counters that stay the same are left out")
    width = (WIDTH - 1.75) / across
    for i, title in enumerate(titles):
        axes = place(1.65 + (i % across) * width, 0.9 + i // across * (high + 0.36), width - 0.62, high)
        bare(axes)
        axes.spines["bottom"].set_visible(False)
        axes.xaxis.set_major_locator(NullLocator())
        axes.set_ylim(len(bars) - 0.45, -0.55)
        values = [bar["values"][i] for bar in bars]
        axes.set_xlim(0, max(values))
        axes.set_title(title, loc="left", fontsize=8.5, fontweight="bold", pad=3)
        for y, (bar, value) in enumerate(zip(bars, values)):
            axes.barh(y, value, 0.72, color=BLUE if bar["own"] else GREY)
            axes.annotate(count_text(value), (value, y), (3, 0), textcoords="offset points",
                          va="center", fontsize=8, annotation_clip=False)
            if i % across == 0:
                label = kernel_text(bar["kernel"])
                if not bar["own"]:
                    label = f"{int(bar['chapter'])}: {label}"
                axes.annotate(label, (0, y), (-5, 0), textcoords="offset points", va="center",
                              ha="right", fontsize=8, color=INK if bar["own"] else MUTED,
                              annotation_clip=False)
        axes.axvline(0, color=MUTED, linewidth=0.8)
    return figure, what, "; ".join(
        f"{title}: " + ", ".join(
            f"{kernel_text(bar['kernel'])} {count_text(bar['values'][i])}" for bar in bars)
        for i, title in enumerate(titles)) + "."


# ---- Who touches which bank when ----


def group_size(op, size, accesses):
    """Lanes served together: the rule that reference/h200-access-patterns.csv was measured for."""
    group = {8: 16, 16: 8}.get(size, 32)
    if op.startswith("ld") and group < 32:
        at = dict(map(tuple, accesses))
        if any(all(at.get(lane ^ other, a) == a for lane, a in at.items()) for other in (1, 2)):
            group *= 2
    return group


def wavefronts(op, size, accesses):
    """Per group of lanes, per bank: the distinct words wanted, each with its lanes."""
    group = group_size(op, size, accesses)
    groups = {}
    for lane, address in accesses:
        for word in range(address // 4, (address + max(size, 4)) // 4):
            banks = groups.setdefault(lane // group, {})
            banks.setdefault(word % 32, {}).setdefault(word, []).append(lane)
    return [groups[g] for g in sorted(groups)]


def banks(data, name):
    steps = [(op, accesses, wavefronts(op, size, accesses)) for op, size, _, accesses in data["steps"]]
    tall = [sum(max(map(len, group.values())) for group in groups) for _, _, groups in steps]
    total = sum(tall)
    line = 0.165 if total <= 60 else 9.9 / total
    gap = 0.09
    high = total * line + gap * (len(steps) - 1)
    figure, place, write = sheet(1.12 + high + 0.1, name)
    what = f"Who touches which bank when: {kernel_text(data['kernel'])}"
    heading(write, what, f"Warp {data['warp']} of block {data['block']}, one access for each step "
            "of the tree. A line is a wavefront, a number is a lane")
    left, width = 1.0, 5.12
    axes = place(left, 0.92, width, high)
    bare(axes)
    axes.spines["bottom"].set_visible(False)
    axes.set_xlim(-0.5, 31.5)
    axes.set_ylim(high, 0)
    axes.xaxis.tick_top()
    axes.xaxis.set_major_locator(FixedLocator(range(0, 32)))
    axes.tick_params(length=0, labelsize=7, pad=1)
    write(left - 0.08, 0.86, "bank", color=MUTED, fontsize=8, ha="right")
    write(left + width + 0.1, 0.86, "lanes", color=MUTED, fontsize=8)
    write(WIDTH - 0.08, 0.86, "wavefronts", color=MUTED, fontsize=8, ha="right")

    y, tree_step = 0.0, 0
    said = []
    for (op, accesses, groups), count in zip(steps, tall):
        bottom = y + count * line
        axes.add_patch(Rectangle((-0.5, y), 32, count * line, facecolor="none", edgecolor=FAINT,
                                 linewidth=0.8, clip_on=False))
        load = op.startswith("ld")
        tree_step += load
        label = f"step {tree_step}" if load else "fill"
        if load and len(accesses) == 1 and (op, accesses) == (steps[-1][0], steps[-1][1]) and bottom > high - 1e-6:
            label = "result"
        middle = (y + bottom) / 2
        lanes = len({lane for lane, _ in accesses})
        axes.annotate(label, (-0.5, middle), (-6, 0), textcoords="offset points", ha="right",
                      va="center", fontsize=8.5, annotation_clip=False)
        axes.annotate(f"{lanes}", (31.5, middle), (8, 0), textcoords="offset points", va="center",
                      fontsize=8.5, color=MUTED, annotation_clip=False)
        axes.annotate(f"{count}", (31.5, middle), ((WIDTH - 0.08 - left - width) * 72, 0),
                      textcoords="offset points", va="center", ha="right", fontsize=8.5,
                      fontweight="bold" if count > 1 else "normal",
                      color=ORANGE if count > 1 else MUTED, annotation_clip=False)
        for group in groups:
            for bank, words in group.items():
                degree = min(5, math.ceil(math.log2(len(words))))
                for i, lanes_of_word in enumerate(words.values()):
                    axes.add_patch(Rectangle((bank - 0.45, y + i * line + 0.006), 0.9, line - 0.012,
                                             facecolor=DEGREES[degree], edgecolor="none"))
                    if line > 0.12:
                        more = "+" if len(lanes_of_word) > 1 else ""
                        axes.text(bank, y + (i + 0.5) * line, f"{lanes_of_word[0]}{more}", ha="center",
                                  va="center_baseline", fontsize=7, color=ON_DEGREE[degree])
            y += max(map(len, group.values())) * line
        said.append(f"{label}: {lanes} lanes in {count} wavefronts")
        y = bottom + gap
    return figure, what, "; ".join(said) + f". {total} wavefronts in all."


KINDS = {function.__name__: function
         for function in (ladder, speedup, blocks, sizes, counters, banks)}


def draw(figure, hash_text):
    """The SVG text of a figure of plot.py."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({k: v for k, v in STYLE.items() if k in matplotlib.rcParams})
        picture, title, description = KINDS[figure.kind](figure.data, figure.name)
        return svg_of(picture, title, description, hash_text)
