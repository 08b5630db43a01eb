"""times.py: figures of measured times: the ladder, its steps, and the sweeps.

A picture takes data from plot.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

import math

from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from style import (
    INK,
    MUTED,
    FAINT,
    PAPER,
    ORANGE,
    GREY,
    SERIES,
    WIDTH,
    significant,
    time_text,
    round_time,
    binary_text,
    factor_text,
    kernel_text,
    sheet,
    heading,
    bare,
    decades,
)

# ---- The ladder and its steps ----


def rows_of(devices):
    """The chapters of all devices, and the label of each: the first device's kernel."""
    labels = {}
    for device in devices:
        for stage in device["stages"]:
            labels.setdefault(stage["chapter"], kernel_text(stage["kernel"]))
    return sorted(labels), labels


LABELS, PANELS = 0.3, 2.05  # inches from the left: the names of the rows, what they are about


def label_rows(axes, chapters, labels):
    style = {
        "textcoords": "offset points",
        "xycoords": ("axes fraction", "data"),
        "va": "center",
        "annotation_clip": False,
    }
    left = 72 * (LABELS - PANELS)
    for row, chapter in enumerate(chapters):
        axes.annotate(f"{int(chapter)}", (0, row), (left - 7, 0), ha="right", color=MUTED, **style)
        axes.annotate(labels[chapter], (0, row), (left, 0), **style)


def row_places(device_count):
    """Where in a row of height 1 each device's bar lies, and how thick it is."""
    thick = 0.66 / device_count
    return [(i - (device_count - 1) / 2) * thick for i in range(device_count)], 0.9 * thick


def chapters_sheet(devices, name, title, below, panels):
    """A row per chapter and axes side by side: what the ladder and its steps have in common.

    Panels are (left, width, heading). Returns chapters, figure, axes and a function that writes.
    """
    chapters, labels = rows_of(devices)
    high = len(chapters) * max(0.29, 0.2 * len(devices))
    top = 0.95 if len(devices) == 1 else 1.2
    figure, place, write = sheet(top + high + 0.32, name)
    heading(write, title, below, [device["name"] for device in devices])
    every = []
    for left, width, head in panels:
        axes = place(left, top, width, high)
        bare(axes)
        axes.set_ylim(len(chapters) - 0.4, -0.6)
        axes.tick_params(length=0, labelsize=8)
        write(left, top - 0.1, head, fontweight="bold")
        every.append(axes)
    label_rows(every[0], chapters, labels)
    return (
        chapters,
        figure,
        every,
        lambda left, text, **style: write(left, top - 0.1, text, **style),
    )


def share_text(percent):
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1g} %"


def clear_of(us, others, limits):
    """Where the label of a dot goes on a log axis: behind the rings that it would cover."""
    room = (limits[1] / limits[0]) ** 0.3
    for other in sorted(other for other in others if other > us):
        us = other if other < us * room else us
    return us


def ladder(data, name):
    devices = data["devices"]
    alone = len(devices) == 1
    story = alone and len(devices[0]["stages"]) > 1
    ends = [time_text(devices[0]["stages"][i]["median_us"]) for i in (0, -1)]
    what = f"Sum of {data['n']:,} floats" + (f": from {ends[0]} to {ends[1]}" if story else "")
    library = any(device["library_us"] for device in devices)
    rates_left, rates_width = 4.6, 1.9
    chapters, figure, (times, rates), write = chapters_sheet(
        devices,
        name,
        what,
        "The fastest kernel of each chapter"
        + (" (rings: its other kernels), median times" if alone else "")
        + f" on {devices[0]['name']}"
        + ("" if alone else ", and the same elsewhere; rings: the other kernels"),
        (
            (PANELS, 2.2, "time" + (" (dotted: CUB)" if library else "")),
            (rates_left, rates_width, "GB/s"),
        ),
    )
    medians = [stage["median_us"] for device in devices for stage in device["stages"]]
    decades(times, medians, round_time)
    full = "pin rate" if all(device["pin_gbps"] for device in devices) else "best"
    rates.set_xlim(0, 100)
    rates.xaxis.set_major_locator(FixedLocator([0, 50, 100]))
    rates.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f} %" if x < 100 else full))

    places, thick = row_places(len(devices))
    for device, color, offset in zip(devices, SERIES, places):
        stages = device["stages"]
        row = {chapter: i + offset for i, chapter in enumerate(chapters)}
        if alone:  # stairs down from row to row
            x = [stage["median_us"] for stage in stages for _ in (0, 1)]
            y = [row[stage["chapter"]] + half for stage in stages for half in (-0.5, 0.5)]
            times.plot(
                x,
                [y[0] + 0.5, *y[1:-1], y[-1] - 0.5],
                color=color,
                linewidth=1.3,
                alpha=0.5,
                zorder=2,
            )
        ceiling = device["ceiling_gbps"]
        pin = device["pin_gbps"] or max([ceiling or 0, *[stage["gbps"] for stage in stages]])
        for stage in stages:
            y, us = row[stage["chapter"]], stage["median_us"]
            if not alone:
                times.plot([times.get_xlim()[0], us], [y, y], color=color, linewidth=1.3, alpha=0.5)
            times.plot(
                stage["others"],
                [y] * len(stage["others"]),
                "o",
                markersize=4.2,
                markerfacecolor="none",
                markeredgecolor=color,
                markeredgewidth=0.9,
                zorder=3,
            )
            times.plot([us], [y], "o", color=color, markersize=6.5, zorder=4)
            times.annotate(
                time_text(us),
                (clear_of(us, stage["others"], times.get_xlim()), y),
                (8, 0),
                va="center",
                textcoords="offset points",
                fontsize=8.5,
                annotation_clip=False,
            )
            share = 100 * stage["gbps"] / pin
            rates.barh(y, share, thick, color=color)
            wide = share > 45
            gbps = significant(stage["gbps"], 3 if stage["gbps"] >= 1 else 1)
            rates.annotate(
                gbps,
                (share, y),
                (-5 if wide else 4, 0),
                textcoords="offset points",
                va="center",
                ha="right" if wide else "left",
                color=PAPER if wide else INK,
                fontsize=8.5,
            )
            if ceiling:
                rates.annotate(
                    share_text(100 * stage["gbps"] / ceiling),
                    (1, y),
                    ((WIDTH - 0.1 - rates_left - rates_width) * 72, 0),
                    va="center",
                    ha="right",
                    xycoords=("axes fraction", "data"),
                    textcoords="offset points",
                    fontsize=8.5,
                    annotation_clip=False,
                )
        across = (
            [[-0.6, len(chapters) - 0.4]]
            if alone
            else [[row[c] - thick / 2, row[c] + thick / 2] for c in chapters]
        )
        if ceiling:
            for span in across:
                rates.plot([100 * ceiling / pin] * 2, span, color=INK, linewidth=1.1, dashes=(3, 2))
        if device["library_us"]:
            for span in across:
                times.plot(
                    [device["library_us"]] * 2,
                    span,
                    color=color,
                    linewidth=1,
                    dashes=(1.5, 2),
                    zorder=1,
                )
    if any(device["ceiling_gbps"] for device in devices):
        write(WIDTH - 0.1, "of read ceiling (dashed)", ha="right", fontweight="bold")
    return (
        figure,
        what,
        "; ".join(
            f"{device['name']}: "
            + ", ".join(
                f"chapter {int(s['chapter'])} {kernel_text(s['kernel'])} {time_text(s['median_us'])}, "
                f"{significant(s['gbps'])} GB/s"
                for s in device["stages"]
            )
            for device in devices
        )
        + ".",
    )


def steps_of(stages):
    """Per stage: the gain over the stage before, and whether a difference can be measured."""
    steps = []
    for before, stage in zip(stages, stages[1:]):
        apart = stage["p5_us"] > before["p95_us"] or before["p5_us"] > stage["p95_us"]
        steps.append((before["median_us"] / stage["median_us"], apart))
    return [(None, True), *steps]


def speedup(data, name):
    devices = data["devices"]
    alone = len(devices) == 1
    what = "What each stage gains"
    chapters, figure, (gains, totals), _ = chapters_sheet(
        devices,
        name,
        what,
        f"Ratios of median times, {data['n']:,} floats"
        + (f" on {devices[0]['name']}" if alone else ""),
        ((PANELS, 2.2, "against the stage before"), (4.9, 1.65, "against chapter 1")),
    )
    steps = [steps_of(device["stages"]) for device in devices]
    # The first step is worth thousands and would flatten the others: its bar leaves the axis.
    ordinary = [gain for row in steps for gain, _ in row if gain and gain < 6]
    end = 1.3 * max(ordinary, default=2)
    gains.set_xlim(min([0.9, *[gain - 0.1 for gain in ordinary]]), end)
    gains.xaxis.set_major_locator(
        FixedLocator([x for x in (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7) if x < end])
    )
    gains.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"×{x:g}"))
    gains.axvline(1, color=MUTED, linewidth=0.9)
    sums = [
        [device["stages"][0]["median_us"] / stage["median_us"] for stage in device["stages"]]
        for device in devices
    ]
    decades(totals, [1, *[total for row in sums for total in row]], lambda x: f"×{x:,.0f}")

    places, thick = row_places(len(devices))
    for device, color, offset, row_steps, row_sums in zip(devices, SERIES, places, steps, sums):
        for stage, (gain, apart), total in zip(device["stages"], row_steps, row_sums):
            y = chapters.index(stage["chapter"]) + offset
            text = {
                "textcoords": "offset points",
                "va": "center",
                "fontsize": 8.5,
                "annotation_clip": False,
            }
            if gain is None:
                gains.annotate("the start", (1, y), (5, 0), color=MUTED, **text)
            elif gain > end:
                tip = 1 + 0.8 * (end - 1)
                gains.barh(y, tip - 1, thick, left=1, color=color)
                gains.fill(
                    [tip, tip, tip + 0.05 * (end - 1)],
                    [y - thick / 2, y + thick / 2, y],
                    color=color,
                    linewidth=0,
                )
                gains.annotate(factor_text(gain), (tip + 0.05 * (end - 1), y), (4, 0), **text)
            else:
                gains.barh(y, gain - 1, thick, left=1, color=color if apart else GREY)
                gains.annotate(
                    factor_text(gain) + ("" if apart else ", no measurable difference"),
                    (max(gain, 1), y),
                    (5, 0),
                    color=INK if apart else MUTED,
                    **text,
                )
            totals.barh(y, total - 1, thick, left=1, color=color)
            if total != 1:
                totals.annotate(factor_text(total), (total, y), (4, 0), **text)
    return (
        figure,
        what,
        "; ".join(
            f"{device['name']}: "
            + ", ".join(
                f"chapter {int(stage['chapter'])} {factor_text(gain)}"
                for stage, (gain, _) in zip(device["stages"], row_steps)
                if gain
            )
            for device, row_steps in zip(devices, steps)
        )
        + ".",
    )


# ---- Sweeps ----


def blocks(data, name):
    """One device: GB/s over blocks. Several: what each makes of itself, % over blocks per SM."""
    alone = len(data) == 1 or not all(s["sm_count"] and s["ceiling_gbps"] for s in data)
    top = 1.0 if len(data) == 1 else 0.85 + 0.2 * len(data)
    figure, place, write = sheet(top + 2.75, name)
    what = "How many blocks does a sum want?"
    heading(
        write,
        what,
        f"Chapter 8: the grid-stride sum of {data[0]['n']:,} floats"
        + (f" on {data[0]['name']}" if len(data) == 1 else ""),
    )
    axes = place(0.62, top, WIDTH - 0.85, 2.3)
    axes.set_xscale("log", base=2)
    for sweep, color in zip(data, SERIES):
        per_x = 1 if alone else sweep["sm_count"]
        per_y = 1 if alone else sweep["ceiling_gbps"] / 100
        points = sweep["points"]
        x, y = [p["grid"] / per_x for p in points], [p["gbps"] / per_y for p in points]
        axes.fill_between(
            x,
            [v * p["median_us"] / p["p95_us"] for v, p in zip(y, points)],
            [v * p["median_us"] / p["p5_us"] for v, p in zip(y, points)],
            color=color,
            alpha=0.22,
            linewidth=0,
        )
        axes.plot(x, y, "o-", color=color, markersize=3.2, linewidth=1.6, zorder=3)
        best = max(range(len(y)), key=lambda i: y[i])
        axes.plot([x[best]], [y[best]], "o", color=color, markersize=7, zorder=4)
        grid, sms = points[best]["grid"], sweep["sm_count"]
        text = f"best: {significant(points[best]['gbps'])} GB/s at {grid:,} blocks"
        if sms and grid % sms == 0:
            text += f", {grid // sms} per SM"
        if len(data) > 1:
            row = 0.7 + 0.2 * data.index(sweep)
            write(0.08, row, f"■ {sweep['name']}, {text}", color=color, fontweight="bold")
            continue
        early = math.log2(x[best] / x[0]) < 0.62 * math.log2(x[-1] / x[0])
        axes.annotate(
            text,
            (x[best], y[best]),
            (8 if early else -8, -22),
            textcoords="offset points",
            color=color,
            fontweight="bold",
            ha="left" if early else "right",
            zorder=5,
        )
    every = [p["grid"] / (1 if alone else s["sm_count"]) for s in data for p in s["points"]]
    axes.set_xlim(min(every) / 1.15, max(every) * 1.15)
    step = 2 if max(every) / min(every) < 2**20 else 4
    axes.xaxis.set_major_locator(FixedLocator([2.0**e for e in range(-8, 31, step)]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(
            lambda x, _: f"1/{1 / x:.0f}" if x < 1 else f"{x:.0f}" if x < 1024 else binary_text(x)
        )
    )
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("blocks" if alone else "blocks per multiprocessor", labelpad=2)
    axes.set_ylabel("GB/s" if alone else "% of the read ceiling", labelpad=3)
    ceiling = data[0]["ceiling_gbps"] if alone else 100
    axes.set_ylim(0, 1.1 * max(ceiling or 0, axes.dataLim.y1))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    if ceiling:
        axes.axhline(ceiling, color=INK, linewidth=1, dashes=(4, 2.5))
        axes.annotate(
            "read ceiling",
            (0, ceiling),
            (5, 4),
            fontsize=8.5,
            textcoords="offset points",
            xycoords=("axes fraction", "data"),
        )
    sms = data[0]["sm_count"] if alone else 1
    if sms:
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
    return (
        figure,
        what,
        "; ".join(
            f"{s['name']}: best {significant(max(p['gbps'] for p in s['points']))} GB/s at "
            f"{max(s['points'], key=lambda p: p['gbps'])['grid']:,} blocks"
            for s in data
        )
        + ".",
    )


def looks_of(kernels, library):
    """A colour and a marker for each kernel; orange is the library's. Then a place in a legend."""
    palette = [color for color in SERIES if color != ORANGE or library not in kernels]
    looks, left, row = {library: (ORANGE, None, "■")}, 0.08, 0
    for i, kernel in enumerate(k for k in kernels if k != library):
        marker, sign = ((None, "■"), ("o", "●"), ("^", "▲"), ("D", "◆"))[i // len(palette) % 4]
        looks[kernel] = (palette[i % len(palette)], marker, sign)
    legend = []
    for kernel in kernels:
        width = 0.3 + 0.08 * len(kernel)
        if left > 0.08 and left + width > WIDTH:
            left, row = 0.08, row + 1
        legend.append((left, row, kernel))
        left += width
    return looks, legend


def sizes(data, name):
    curves, library = data["curves"], "cub_device_reduce"
    kernels = sorted(dict.fromkeys(c["kernel"] for c in curves), key=lambda k: k == library)
    machines = list(dict.fromkeys(c["name"] for c in curves))
    versus = [
        c
        for c in curves
        if c["kernel"] != library
        and any(l["kernel"] == library and l["name"] == c["name"] for l in curves)
    ]
    looks, legend = looks_of(kernels, library)
    rows = legend[-1][1] + (len(machines) > 1)  # the legend's, beyond the first
    lower = 0.2 * rows
    tall = 1.6 if len(kernels) > 4 else 0.65  # the panel below: speed against the library
    figure, place, write = sheet(3.95 + lower + (0.6 + tall if versus else 0), name)
    every = sorted({p["n"] for c in curves for p in c["points"]})
    what = f"From {binary_text(every[0])} to {binary_text(every[-1])} elements"
    write(0.08, 0.24, what, fontsize=12, fontweight="bold")
    write(
        0.08,
        0.45,
        f"Chapter {int(data['chapter'])}: n floats"
        + (f" on {machines[0]}" if len(machines) == 1 else "")
        + ". Lines are medians, bands the 5th to 95th percentile",
        color=MUTED,
    )
    dashes = dict(zip(machines, ((None, None), (5, 2), (1.5, 1.5), (6, 1.5, 1.5, 1.5))))
    for left, row, kernel in legend:
        color, _, sign = looks[kernel]
        write(left, 0.7 + 0.2 * row, f"{sign} {kernel}", color=color, fontweight="bold")
    if len(machines) > 1:
        styles = ("solid", "dashed", "dotted", "dash-dotted")
        text = ", ".join(f"{m}: {s}" for m, s in zip(machines, styles))
        write(0.08, 0.7 + 0.2 * rows, text, color=MUTED)
    time_axes = place(0.66, 1.05 + lower, 2.75, 2.4)
    rate_axes = place(4.2, 1.05 + lower, 2.75, 2.4)
    panels = [time_axes, rate_axes]
    if versus:
        panels.append(place(0.66, 4.1 + lower, WIDTH - 0.91, tall))
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
        x, (color, marker, _) = [p["n"] for p in points], looks[curve["kernel"]]
        line = {"color": color, "linewidth": 1.6, "dashes": dashes.get(curve["name"], (None, None))}
        line.update(marker=marker, markersize=3.5)
        time_axes.fill_between(
            x,
            [p["p5_us"] for p in points],
            [p["p95_us"] for p in points],
            color=color,
            alpha=0.22,
            linewidth=0,
        )
        time_axes.plot(x, [p["median_us"] for p in points], **line)
        work = [p["gbps"] * p["median_us"] for p in points]
        rate_axes.fill_between(
            x,
            [w / p["p95_us"] for w, p in zip(work, points)],
            [w / p["p5_us"] for w, p in zip(work, points)],
            color=color,
            alpha=0.22,
            linewidth=0,
        )
        rate_axes.plot(x, [p["gbps"] for p in points], **line)
        if curve in versus:
            theirs = next(
                c for c in curves if c["kernel"] == library and c["name"] == curve["name"]
            )
            theirs = {p["n"]: p["median_us"] for p in theirs["points"]}
            both = [p for p in points if p["n"] in theirs]
            panels[2].plot(
                [p["n"] for p in both], [theirs[p["n"]] / p["median_us"] for p in both], **line
            )
    time_axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: round_time(us)))
    rate_axes.yaxis.set_major_formatter(FuncFormatter(lambda gbps, _: significant(gbps, 1)))
    if versus:
        panels[2].set_title(
            f"speed against {library}", loc="left", fontsize=9, fontweight="bold", pad=5
        )
        panels[2].axhline(1, color=ORANGE, linewidth=1.2)
        low, high = panels[2].get_ylim()
        panels[2].set_ylim(max(min(low, 0.9), 0.5), max(high, 1.1))  # slower than half: not shown
        panels[2].yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
        panels[2].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"×{y:g}"))
        panels[2].xaxis.set_major_locator(FixedLocator([2**e for e in range(10, 31, 3)]))
    return (
        figure,
        what,
        "; ".join(
            f"{c['kernel']} on {c['name']}: {time_text(c['points'][0]['median_us'])} at "
            f"{binary_text(c['points'][0]['n'])}, {significant(c['points'][-1]['gbps'])} GB/s at "
            f"{binary_text(c['points'][-1]['n'])}"
            for c in curves
        )
        + ".",
    )


PICTURES = {"ladder": ladder, "speedup": speedup, "blocks": blocks, "sizes": sizes}
