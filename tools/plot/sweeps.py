"""sweeps.py: figures of measured times over the number of blocks and over n, and of rounding errors with their
bounds by order of summation."""

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from style import (
    BLUE, FAINT, GREEN, GREY, INK, MUTED, NARROW, ORANGE, PURPLE, SERIES, heading, legend_of, lines_of,
    round_time, sheet, significant, size_text, time_text, write_legend,
)

def band(axes, x, low, high, color):
    """Draws the band from the 5th to the 95th percentile."""
    axes.fill_between(x, low, high, color=color, alpha=0.22, linewidth=0)


# --- over blocks ---


def draw_sweep(axes, sweep, color, per_x, per_y):
    """Draws GB/s over blocks in the units per_x and per_y, with a large best point. Returns the x values."""
    points = sweep["points"]
    x, y = [p["grid"] / per_x for p in points], [p["gbps"] / per_y for p in points]
    slow = [v * p["median_us"] / p["p95_us"] for v, p in zip(y, points)]
    fast = [v * p["median_us"] / p["p5_us"] for v, p in zip(y, points)]
    band(axes, x, slow, fast, color)
    axes.plot(x, y, "o-", color=color, markersize=3.2, linewidth=1.6, zorder=3)
    best = max(range(len(y)), key=lambda i: y[i])
    axes.plot([x[best]], [y[best]], "o", color=color, markersize=7, zorder=4)
    return x


def best_text(sweep):
    point = max(sweep["points"], key=lambda p: p["gbps"])
    sms = sweep["sm_count"]
    per_sm = f", {point['grid'] // sms} per SM" if sms and point["grid"] % sms == 0 else ""
    return f"{significant(point['gbps'])} GB/s at {point['grid']:,} blocks{per_sm}"


def scale_blocks(axes, x, alone, ceiling):
    """Scales both axes. `x`: all values that have a point."""
    axes.set_xlim(min(x) / 1.15, max(x) * 1.15)
    step = 2 if max(x) / min(x) < 2**20 else 4
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in range(-8, 31, step)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"1/{1 / x:.0f}" if x < 1 else size_text(x)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("blocks" if alone else "blocks per multiprocessor", labelpad=2)
    axes.set_ylabel("GB/s" if alone else "% of each card's read ceiling", labelpad=3)
    axes.set_ylim(0, 1.1 * max(ceiling or 0, axes.dataLim.y1))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))


def draw_ceiling(axes, ceiling):
    axes.axhline(ceiling, color=INK, linewidth=1, dashes=(4, 2.5))
    axes.annotate(
        "read ceiling",
        (0, ceiling),
        (5, 4),
        fontsize=8.5,
        textcoords="offset points",
        xycoords=("axes fraction", "data"),
    )


def draw_multiprocessors(axes, sms, alone):
    """Draws a line at one block per multiprocessor; for a single device also at the powers of two."""
    above = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "fontsize": 8,
        "color": MUTED,
    }
    guides = [times for times in (1, 2, 4, 8, 16, 32) if times * sms < axes.get_xlim()[1]]
    for times in guides if alone else (1,):
        axes.axvline(times * sms, color=GREY, linewidth=0.8, dashes=(1, 2), zorder=1)
        if alone:
            axes.annotate(f"×{times}", (times * sms, 1), (0, 3), ha="center", **above)
    if alone:
        axes.annotate(f"{sms} SMs", (sms, 1), (-12, 3), ha="right", **above)


def blocks(data, name):
    """For one device: GB/s over blocks. For several: percent of each device's best over blocks per SM."""
    sweeps = data["sweeps"]
    alone = len(sweeps) == 1 or not all(s["sm_count"] and s["ceiling_gbps"] for s in sweeps)
    what = "Speed against the number of blocks"
    below = lines_of(
        f"Chapter {int(data['chapter'])}, {sweeps[0]['points'][0]['kernel']}: {sweeps[0]['n']:,} floats"
        + (f" on {sweeps[0]['name']}" if len(sweeps) == 1 else "")
    )
    best = [f"{s['name'] if len(sweeps) > 1 else 'best'}: {best_text(s)}" for s in sweeps]
    top = 0.7 + 0.17 * len(below) + 0.19 * len(best)
    figure, place, write = sheet(top + 2.75, name, NARROW)
    heading(write, what, below)
    legend = [(0.08, row, text) for row, text in enumerate(best)]
    write_legend(write, 0.51 + 0.17 * len(below), legend, SERIES, "●" * len(best))
    axes = place(0.62, top, NARROW - 0.8, 2.3)
    axes.set_xscale("log", base=2)
    every = []
    for sweep, color in zip(sweeps, SERIES):
        per_x = 1 if alone else sweep["sm_count"]
        per_y = 1 if alone else sweep["ceiling_gbps"] / 100
        every += draw_sweep(axes, sweep, color, per_x, per_y)
    ceiling = sweeps[0]["ceiling_gbps"] if alone else 100
    sms = sweeps[0]["sm_count"] if alone else 1
    scale_blocks(axes, every, alone, ceiling)
    if ceiling:
        draw_ceiling(axes, ceiling)
    if sms:
        draw_multiprocessors(axes, sms, alone)
    return figure, what, "; ".join(f"{s['name']}: best {best_text(s)}" for s in sweeps) + "."


# --- over n ---


def looks_of(kernels, library):
    """A colour, a marker, and a sign for the caption, for each kernel; the library's colour is orange."""
    palette = [c for c in SERIES if c != ORANGE] + [INK] if library in kernels else list(SERIES)
    looks = {}
    for i, kernel in enumerate(k for k in kernels if k != library):
        marker, sign = ((None, "■"), ("o", "●"), ("^", "▲"), ("D", "◆"))[i // len(palette) % 4]
        looks[kernel] = (palette[i % len(palette)], marker, sign)
    return looks | ({library: (ORANGE, None, "■")} if library in kernels else {})


STYLES = ("solid", "dashed", "dotted", "dash-dotted")  # line styles of devices, and their names
DASHES = ((None, None), (5, 2), (1.5, 1.5), (6, 1.5, 1.5, 1.5))


def scale_sizes(panels, every):
    """Scales the axes: powers of two across; time and rate logarithmic."""
    for axes in panels:
        axes.set_xscale("log", base=2)
        axes.set_xlim(every[0], every[-1])
        axes.xaxis.set_major_locator(FixedLocator([2**e for e in range(0, 41, 4)]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: size_text(x)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(color=FAINT, linewidth=0.7)
        axes.set_axisbelow(True)
    for axes, title in zip(panels, ("time", "GB/s")):
        axes.set_yscale("log")
        axes.set_title(title, loc="left", fontsize=9, fontweight="bold", pad=5)
        axes.yaxis.set_minor_locator(NullLocator())


def draw_curve(panels, curve, line, theirs):
    """Draws a curve in the panels of time and rate, and in relation to the library's if it has one."""
    points, color = curve["points"], line["color"]
    x = [p["n"] for p in points]
    band(panels[0], x, [p["p5_us"] for p in points], [p["p95_us"] for p in points], color)
    panels[0].plot(x, [p["median_us"] for p in points], **line)
    work = [p["gbps"] * p["median_us"] for p in points]
    slow = [w / p["p95_us"] for w, p in zip(work, points)]
    fast = [w / p["p5_us"] for w, p in zip(work, points)]
    band(panels[1], x, slow, fast, color)
    panels[1].plot(x, [p["gbps"] for p in points], **line)
    if theirs:
        us = {p["n"]: p["median_us"] for p in theirs["points"]}
        both = [p for p in points if p["n"] in us]
        panels[2].plot([p["n"] for p in both], [us[p["n"]] / p["median_us"] for p in both], **line)


def finish_scales(panels, library):
    """Sets scales that depend on the curves."""
    low, high = panels[0].get_ylim()
    if high < 100 * low:  # not enough powers of ten for an axis
        places = [step * 10.0**e for e in range(-3, 10) for step in (1, 2, 5)]
        panels[0].yaxis.set_major_locator(FixedLocator([y for y in places if low <= y <= high]))
    panels[0].yaxis.set_major_formatter(FuncFormatter(lambda us, _: round_time(us)))
    panels[1].yaxis.set_major_formatter(FuncFormatter(lambda gbps, _: significant(gbps, 1)))
    for axes in panels[2:]:
        axes.set_title(f"speed against {library}", loc="left", fontsize=9, fontweight="bold", pad=5)
        axes.axhline(1, color=ORANGE, linewidth=1.2)
        low, high = axes.get_ylim()
        axes.set_ylim(max(min(low, 0.9), 0.5), max(high, 1.1))  # less than half the speed is not shown
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"×{y:g}"))


def sizes_words(curves):
    texts = []
    for curve in curves:
        first, last = curve["points"][0], curve["points"][-1]
        texts.append(
            f"{curve['kernel']} on {curve['name']}: {time_text(first['median_us'])} at "
            f"{size_text(first['n'])}, {significant(last['gbps'])} GB/s at {size_text(last['n'])}"
        )
    return "; ".join(texts) + "."


def unfinished(curves):
    """A note about kernels that leave several sums, if others in the comparison leave one."""
    sums = {}
    for curve in curves:
        sums[curve["kernel"]] = max(curve["sums"], sums.get(curve["kernel"], 0))
    several = [kernel for kernel, left in sums.items() if left > 1]
    if not several or len(several) == len(sums):
        return ""
    left = ", ".join(f"{kernel} leaves up to {sums[kernel]:,} sums" for kernel in several)
    return f"Not the same work: {left}; the others leave one"


def sizes(data, name):
    curves, library = data["curves"], data["library"]
    kernels = sorted(dict.fromkeys(c["kernel"] for c in curves), key=lambda k: k == library)
    machines = list(dict.fromkeys(c["name"] for c in curves))
    theirs = {c["name"]: c for c in curves if c["kernel"] == library}
    versus = [c for c in curves if c["kernel"] != library and c["name"] in theirs]
    looks = looks_of(kernels, library)
    every = sorted({p["n"] for c in curves for p in c["points"]})
    what = f"From {size_text(every[0])} to {size_text(every[-1])} elements"
    below = lines_of(
        f"Chapter {int(data['chapter'])}: n floats{data['whose']}, on "
        + (machines[0] if len(machines) == 1 else ", ".join(f"{m} ({s})" for m, s in zip(machines, STYLES)))
        + ". Lines are medians over n, bands the 5th to 95th percentile"
    ) + lines_of(unfinished(curves))
    legend = legend_of(looks)
    high, top = 1.6, 0.74 + 0.17 * len(below) + 0.19 * (legend[-1][1] + 1)
    count = 3 if versus else 2
    figure, place, write = sheet(top + count * (high + 0.5) - 0.2, name, NARROW)
    heading(write, what, below)
    colors, _, signs = zip(*looks.values())
    write_legend(write, 0.51 + 0.17 * len(below), legend, colors, signs)
    panels = [place(0.66, top + k * (high + 0.5), NARROW - 0.96, high) for k in range(count)]
    scale_sizes(panels, every)
    for curve in curves:
        color, marker, _ = looks[curve["kernel"]]
        dashes = dict(zip(machines, DASHES)).get(curve["name"], (None, None))
        line = {"color": color, "linewidth": 1.6, "dashes": dashes, "marker": marker, "markersize": 3.5}
        draw_curve(panels, curve, line, theirs[curve["name"]] if curve in versus else None)
    finish_scales(panels, library)
    return figure, what, sizes_words(curves)


# --- the figure of rounding errors by order of summation, with their bounds ---

# Later lines cover earlier ones, so markers are hollow and increase in size.
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
    """Scales both axes of a panel."""
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
    """Draws an order's errors, clipped at `low`, and their bound."""
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
    title = "Error of a float sum, by order of addition"
    below = lines_of(
        "Relative error against a double-double reference, over n; zero is drawn at the lower edge. "
        "Dashed, in the same colour: the theoretical bound"
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


PICTURES = {"blocks": blocks, "sizes": sizes, "errors": errors}
