"""ladder.py: figures of measured times by rung: the ladder, the gain of each step, and lower bounds."""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from style import (
    BLUE, FAINT, GREY, INK, MUTED, NARROW, ORANGE, SERIES, bare, decades, factor_text, heading, lines_of,
    round_time, sheet, significant, time_text,
)

# --- shared by all ---

LABELS, PANELS = 0.3, 2.85  # inches from the left: names of rungs, panels


def label_rows(axes, rungs):
    style = {
        "textcoords": "offset points",
        "xycoords": ("axes fraction", "data"),
        "va": "center",
        "annotation_clip": False,
    }
    left = 72 * (LABELS - PANELS)
    for row, rung in enumerate(rungs):
        axes.annotate(f"{int(rung['chapter'])}", (0, row), (left - 7, 0), ha="right", color=MUTED, **style)
        axes.annotate(rung["name"], (0, row), (left, 0), **style)


def row_places(device_count):
    """The place of each device's bar in a row of height 1, and its thickness."""
    thick = 0.66 / device_count
    return [(i - (device_count - 1) / 2) * thick for i in range(device_count)], 0.9 * thick


def rungs_sheet(data, name, title, below, panels):
    """A sheet with a row per rung and axes side by side. Panels are (left, width, heading)."""
    rungs, devices = data["rungs"], data["devices"]
    high = len(rungs) * max(0.27, 0.165 * len(devices))
    top = 0.95 if len(devices) == 1 else 1.2
    figure, place, write = sheet(top + high + 0.32, name)
    heading(write, title, below, [device["name"] for device in devices])
    every = []
    for left, width, head in panels:
        axes = place(left, top, width, high)
        bare(axes)
        axes.set_ylim(len(rungs) - 0.4, -0.6)
        axes.tick_params(length=0, labelsize=8)
        write(left, top - 0.1, head, fontweight="bold")
        every.append(axes)
    label_rows(every[0], rungs)
    return figure, every


BESIDE = {"textcoords": "offset points", "va": "center", "fontsize": 8, "annotation_clip": False}


# --- the ladder ---


def ordinary(times):
    """The times without outliers that are at least ten times the next and would flatten the others."""
    times = sorted(times)
    for k in range(len(times) - 1, len(times) // 2, -1):
        if times[k] > 10 * times[k - 1]:
            times = times[:k]
    return times


def scale_times(axes, times):
    """A log axis that separates neighbouring rungs, with a line at 1, 2 and 5 of every decade."""
    times = ordinary(times)
    low, high = min(times) / 1.35, max(times) * 2.4
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    places = [step * 10.0**e for e in range(-3, 12) for step in (1, 2, 5)]
    axes.xaxis.set_major_locator(FixedLocator([x for x in places if low <= x <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: round_time(x)))
    axes.grid(axis="x", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def draw_time(axes, y, us, color):
    """Draws a dot or, beyond the end of the axis, an arrow with the time."""
    end = axes.get_xlim()[1]
    if us > end:
        axes.plot([end], [y], ">", color=color, markersize=6, clip_on=False, zorder=4)
        axes.annotate(time_text(us), (end, y), (-8, 0), ha="right", **BESIDE)
        return
    axes.plot([axes.get_xlim()[0], us], [y, y], color=color, linewidth=1.3, alpha=0.5)
    axes.plot([us], [y], "o", color=color, markersize=5.5, zorder=4)
    axes.annotate(time_text(us), (us, y), (7, 0), **BESIDE)


def share_text(percent):
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1g} %"


def draw_device(times, shares, device, color, offset, thick):
    for stage in device["stages"]:
        y = stage["rung"] + offset
        draw_time(times, y, stage["median_us"], color)
        if device["ceiling_gbps"]:
            share = 100 * stage["gbps"] / device["ceiling_gbps"]
            shares.barh(y, share, thick, color=color)
            shares.annotate(share_text(share), (share, y), (4, 0), **BESIDE)
    if device["library_us"]:
        middles = [stage["rung"] + offset for stage in device["stages"]]
        for y in middles:
            span = [y - thick / 2, y + thick / 2]
            times.plot([device["library_us"]] * 2, span, color=color, linewidth=1, dashes=(1.5, 1.5), zorder=1)


def ladder_words(data):
    def device_text(device):
        stages = (
            f"{data['rungs'][s['rung']]['name']} {time_text(s['median_us'])}, {significant(s['gbps'])} GB/s"
            for s in device["stages"]
        )
        return f"{device['name']}: " + "; ".join(stages)

    return ". ".join(map(device_text, data["devices"])) + "."


def ladder(data, name):
    devices = data["devices"]
    first, last = (devices[0]["stages"][i]["median_us"] for i in (0, -1))
    story = len(devices[0]["stages"]) > 1
    what = f"Sum of {data['n']:,} floats" + (f": from {time_text(first)} to {time_text(last)}" if story else "")
    library = any(device["library_us"] for device in devices)
    figure, (times, shares) = rungs_sheet(
        data,
        name,
        what,
        "What each rung changed, and its median time"
        + (f" on {devices[0]['name']}" if len(devices) == 1 else "; the number is the chapter's"),
        (
            (PANELS, 2.05, "time, log scale" + (" (dotted: CUB)" if library else "")),
            (5.15, 1.55, "of each card's read ceiling"),
        ),
    )
    scale_times(times, [stage["median_us"] for d in devices for stage in d["stages"]])
    shares.set_xlim(0, 100)
    shares.xaxis.set_major_locator(FixedLocator([0, 50, 100]))
    shares.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f} %"))
    shares.axvline(100, color=FAINT, linewidth=0.9, clip_on=False)
    places, thick = row_places(len(devices))
    for device, color, offset in zip(devices, SERIES, places):
        draw_device(times, shares, device, color, offset, thick)
    return figure, what, ladder_words(data)


# --- its steps ---


def steps_of(device):
    """{rung: (gain over the rung that it improves on, whether the difference is measurable)}."""
    steps = {}
    for stage in device["stages"]:
        before = stage["before"]
        if before:
            apart = stage["p5_us"] > before["p95_us"] or before["p5_us"] > stage["p95_us"]
            steps[stage["rung"]] = before["median_us"] / stage["median_us"], apart
    return steps


def scale_gains(axes, gains):
    """Sets the axis of gains and returns its end; gains in the thousands are beyond it."""
    usual = [gain for gain in gains if gain < 6]
    end = 1.3 * max(usual, default=2)
    axes.set_xlim(min([0.9, *[gain - 0.1 for gain in usual]]), end)
    axes.xaxis.set_major_locator(FixedLocator([x for x in (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7) if x < end]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"×{x:g}"))
    axes.axvline(1, color=MUTED, linewidth=0.9)
    return end


def draw_gain(axes, y, thick, color, end, gain, apart):
    """Draws a bar from 1 to the gain, with an arrow beyond the axis; grey if there is no measurable difference."""
    if gain > end:
        tip, head = 1 + 0.7 * (end - 1), 0.05 * (end - 1)
        axes.barh(y, tip - 1, thick, left=1, color=color)
        axes.fill([tip, tip, tip + head], [y - thick / 2, y + thick / 2, y], color=color, linewidth=0)
        axes.annotate(factor_text(gain), (tip + head, y), (4, 0), **BESIDE)
        return
    axes.barh(y, gain - 1, thick, left=1, color=color if apart else GREY)
    text = factor_text(gain) + ("" if apart else ", no measurable difference")
    axes.annotate(text, (max(gain, 1), y), (5, 0), color=INK if apart else MUTED, **BESIDE)


def speedup_words(data, steps):
    def device_text(device, gains):
        rungs = (f"{data['rungs'][place]['name']} {factor_text(gain)}" for place, (gain, _) in gains.items())
        return f"{device['name']}: " + ", ".join(rungs)

    return "; ".join(map(device_text, data["devices"], steps)) + "."


def speedup(data, name):
    devices, rungs = data["devices"], data["rungs"]
    what = "What each rung gains"
    figure, (gains, totals) = rungs_sheet(
        data,
        name,
        what,
        f"Ratios of median times, {data['n']:,} floats"
        + (f" on {devices[0]['name']}" if len(devices) == 1 else "; the number is the chapter's"),
        ((PANELS, 2.05, "over the rung before"), (5.3, 1.4, f"over {rungs[0]['name']}, log scale")),
    )
    steps = [steps_of(device) for device in devices]
    end = scale_gains(gains, [gain for row in steps for gain, _ in row.values()])
    sums = [
        {stage["rung"]: device["stages"][0]["median_us"] / stage["median_us"] for stage in device["stages"]}
        for device in devices
    ]
    decades(totals, [1, *[total for row in sums for total in row.values()]], lambda x: f"×{x:,.0f}")
    places, thick = row_places(len(devices))
    for color, offset, row, row_sums in zip(SERIES, places, steps, sums):
        for place, total in row_sums.items():
            if place in row:
                draw_gain(gains, place + offset, thick, color, end, *row[place])
            totals.barh(place + offset, total - 1, thick, left=1, color=color)
            if total != 1:
                totals.annotate(factor_text(total), (total, place + offset), (4, 0), **BESIDE)
    return figure, what, speedup_words(data, steps)


# --- times and lower bounds ---

LINE = 0.17  # inches from bar to bar
ASIDE = {"textcoords": "offset points", "va": "center", "annotation_clip": False, "fontsize": 8}


def bars_of(kernel):
    """(label, microseconds, colour) for the time and the lower bounds; the highest bound stands out."""
    highest = max(us for _, us in kernel["floors"])
    bars = [("measured", kernel["time_us"], BLUE)] if kernel["time_us"] else []
    for name, us in kernel["floors"]:
        if name == "load latency":
            name += f", {kernel['loads']} in flight"
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
    return f"{kernel['kernel']}: {time}lower bounds: {floors}"


def floors(data, name):
    kernels = [(kernel, bars_of(kernel)) for kernel in data["kernels"]]
    below = lines_of(
        f"{data['device']}, {data['n']:,} elements. Lower bounds: the time that each resource "
        "alone would take; orange: the highest"
    )
    top = 0.4 + 0.17 * len(below)
    high = sum(len(bars) * LINE + 0.34 for _, bars in kernels)
    figure, place, write = sheet(top + high, name, NARROW)
    what = f"Chapter {int(data['chapter'])}: times and lower bounds"
    heading(write, what, below)
    longest = max(us for _, bars in kernels for _, us, _ in bars)
    for kernel, bars in kernels:
        write(0.08, top + 0.14, kernel["kernel"], fontweight="bold")
        axes = place(1.75, top + 0.2, NARROW - 1.75 - 0.65, len(bars) * LINE)
        draw_kernel(axes, bars, longest)
        top += len(bars) * LINE + 0.34
    return figure, what, "; ".join(words_of(kernel) for kernel, _ in kernels) + "."


PICTURES = {"ladder": ladder, "speedup": speedup, "floors": floors}
