"""ladder.py: figures of measured times, stage by stage: the ladder, and what each step gains.

A picture takes data from figures.py and the name of its file; it returns the figure, its title, and
its content in words.
"""

from dataclasses import dataclass

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from style import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    GREY,
    SERIES,
    WIDTH,
    significant,
    time_text,
    round_time,
    factor_text,
    kernel_text,
    sheet,
    heading,
    bare,
    decades,
)

# --- what both have in common ---


def rows_of(devices):
    """The chapters of all devices, and the label of each: its title, or the first device's kernel."""
    labels = {}
    for device in devices:
        for stage in device["stages"]:
            labels.setdefault(stage["chapter"], stage["title"] or kernel_text(stage["kernel"]))
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


# --- the ladder ---


def share_text(percent):
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1g} %"


def clear_of(us, others, limits):
    """Where the label of a dot goes on a log axis: behind the rings that it would cover."""
    room = (limits[1] / limits[0]) ** 0.3
    for other in sorted(other for other in others if other > us):
        us = other if other < us * room else us
    return us


@dataclass
class Rungs:
    """The rungs of one device, on the axes of times and of rates."""

    device: dict
    color: str
    chapters: list
    offset: float  # of the device's bars in a row of height 1
    thick: float
    alone: bool  # no other device is on the page
    times: object  # axes
    rates: object

    def row(self, stage):
        return self.chapters.index(stage["chapter"]) + self.offset

    def across(self):
        """From where to where a vertical line goes: all the way, or over the device's own bars."""
        if self.alone:
            return [[-0.6, len(self.chapters) - 0.4]]
        middles = [row + self.offset for row in range(len(self.chapters))]
        return [[middle - self.thick / 2, middle + self.thick / 2] for middle in middles]

    def draw(self):
        if self.alone:
            self.draw_stairs()
        for stage in self.device["stages"]:
            self.draw_time(stage)
            self.draw_rate(stage)
        if self.device["library_us"]:
            line = {"color": self.color, "linewidth": 1, "dashes": (1.5, 2), "zorder": 1}
            for span in self.across():
                self.times.plot([self.device["library_us"]] * 2, span, **line)

    def draw_stairs(self):
        """Down from row to row."""
        stages = self.device["stages"]
        end = self.times.get_xlim()[1]
        x = [min(stage["median_us"], end) for stage in stages for _ in (0, 1)]
        y = [self.row(stage) + half for stage in stages for half in (-0.5, 0.5)]
        y = [y[0] + 0.5, *y[1:-1], y[-1] - 0.5]
        self.times.plot(x, y, color=self.color, linewidth=1.3, alpha=0.5, zorder=2)

    def draw_time(self, stage):
        y, us, times = self.row(stage), stage["median_us"], self.times
        if us > times.get_xlim()[1]:
            self.draw_beyond(y, us)
            return
        if not self.alone:
            times.plot([times.get_xlim()[0], us], [y, y], color=self.color, linewidth=1.3, alpha=0.5)
        others = [other for other in stage["others"] if other <= times.get_xlim()[1]]
        times.plot(
            others,
            [y] * len(others),
            "o",
            markersize=4.2,
            markerfacecolor="none",
            markeredgecolor=self.color,
            markeredgewidth=0.9,
            zorder=3,
        )
        times.plot([us], [y], "o", color=self.color, markersize=6.5, zorder=4)
        times.annotate(
            time_text(us),
            (clear_of(us, others, times.get_xlim()), y),
            (8, 0),
            va="center",
            textcoords="offset points",
            fontsize=8.5,
            annotation_clip=False,
        )

    def draw_beyond(self, y, us):
        """A time that the axis has no room for: an arrow to its end, and how long it is."""
        end = self.times.get_xlim()[1]
        self.times.plot([end], [y], ">", color=self.color, markersize=6.5, clip_on=False, zorder=4)
        style = {"va": "center", "ha": "right", "fontsize": 8.5, "textcoords": "offset points"}
        self.times.annotate(time_text(us), (end, y), (-8, 0), **style)

    def best_rate(self):
        """What 100 % is: what reading alone can do, or what is known instead."""
        rates = [stage["gbps"] for stage in self.device["stages"]]
        return self.device["ceiling_gbps"] or self.device["pin_gbps"] or max(rates)

    def draw_rate(self, stage):
        y, share = self.row(stage), 100 * stage["gbps"] / self.best_rate()
        self.rates.barh(y, share, self.thick, color=self.color)
        wide = share > 45
        self.rates.annotate(
            significant(stage["gbps"], 3 if stage["gbps"] >= 1 else 1),
            (share, y),
            (-5 if wide else 4, 0),
            textcoords="offset points",
            va="center",
            ha="right" if wide else "left",
            color=PAPER if wide else INK,
            fontsize=8.5,
        )
        if self.device["ceiling_gbps"]:
            self.rates.annotate(
                share_text(100 * stage["gbps"] / self.device["ceiling_gbps"]),
                (1, y),
                ((WIDTH - 0.1 - RATES_LEFT - RATES_WIDTH) * 72, 0),
                va="center",
                ha="right",
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                fontsize=8.5,
                annotation_clip=False,
            )


RATES_LEFT, RATES_WIDTH = 4.6, 1.9  # inches


def ordinary(times):
    """Those without the few that are ten times as long as the next: they would flatten the others."""
    times = sorted(times)
    for k in range(len(times) - 1, len(times) // 2, -1):
        if times[k] > 10 * times[k - 1]:
            times = times[:k]
    return times


def scale_times(axes, times):
    """A log axis on which neighbouring stages stay apart: a line at 1, 2 and 5 of every decade."""
    times = ordinary(times)
    low, high = min(times) / 1.35, max(times) * 2.2
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    places = [step * 10.0**e for e in range(-3, 12) for step in (1, 2, 5)]
    axes.xaxis.set_major_locator(FixedLocator([x for x in places if low <= x <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: round_time(x)))
    axes.grid(axis="x", color=FAINT, linewidth=0.7)
    axes.set_axisbelow(True)


def ladder_sheet(data, name, what):
    """The empty page: its axes with their scales, and the chapters beside them."""
    devices = data["devices"]
    alone = len(devices) == 1
    library = any(device["library_us"] for device in devices)
    chapters, figure, (times, rates), write = chapters_sheet(
        devices,
        name,
        what,
        "A kernel of each chapter"
        + (" (rings: its other kernels), median times" if alone else "")
        + f" on {devices[0]['name']}"
        + ("" if alone else ", and the same elsewhere; rings: the other kernels"),
        (
            (PANELS, 2.2, "time" + (" (dotted: CUB)" if library else "")),
            (RATES_LEFT, RATES_WIDTH, "GB/s"),
        ),
    )
    scale_times(times, [stage["median_us"] for d in devices for stage in d["stages"]])
    full = "read ceiling" if all(device["ceiling_gbps"] for device in devices) else "best"
    rates.set_xlim(0, 100)
    rates.xaxis.set_major_locator(FixedLocator([0, 50, 100]))
    rates.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f} %" if x < 100 else full))
    return chapters, figure, times, rates, write


def ladder_words(devices):
    stage_text = lambda s: (
        f"chapter {int(s['chapter'])} {kernel_text(s['kernel'])} {time_text(s['median_us'])}, "
        f"{significant(s['gbps'])} GB/s"
    )
    return (
        "; ".join(f"{d['name']}: " + ", ".join(map(stage_text, d["stages"])) for d in devices) + "."
    )


def ladder(data, name):
    devices = data["devices"]
    story = len(devices) == 1 and len(devices[0]["stages"]) > 1
    ends = [time_text(devices[0]["stages"][i]["median_us"]) for i in (0, -1)]
    what = f"Sum of {data['n']:,} floats" + (f": from {ends[0]} to {ends[1]}" if story else "")
    chapters, figure, times, rates, write = ladder_sheet(data, name, what)
    places, thick = row_places(len(devices))
    for device, color, offset in zip(devices, SERIES, places):
        Rungs(device, color, chapters, offset, thick, len(devices) == 1, times, rates).draw()
    if any(device["ceiling_gbps"] for device in devices):
        write(WIDTH - 0.1, "of read ceiling", ha="right", fontweight="bold")
    return figure, what, ladder_words(devices)


# --- its steps ---


def steps_of(stages, chapters):
    """Per stage: the gain over the stage before, and whether a difference can be measured.

    None and False where the stage before was not recorded."""
    steps = []
    for before, stage in zip(stages, stages[1:]):
        if chapters.index(stage["chapter"]) != chapters.index(before["chapter"]) + 1:
            steps.append((None, False))
            continue
        apart = stage["p5_us"] > before["p95_us"] or before["p5_us"] > stage["p95_us"]
        steps.append((before["median_us"] / stage["median_us"], apart))
    return [(None, True), *steps]


# How gains and totals are labelled.
BESIDE = {
    "textcoords": "offset points",
    "va": "center",
    "fontsize": 8.5,
    "annotation_clip": False,
}


def scale_gains(axes, steps):
    """The axis of gains, and where it ends.

    The first step is worth thousands and would flatten the others: its bar leaves the axis."""
    ordinary = [gain for row in steps for gain, _ in row if gain and gain < 6]
    end = 1.3 * max(ordinary, default=2)
    axes.set_xlim(min([0.9, *[gain - 0.1 for gain in ordinary]]), end)
    axes.xaxis.set_major_locator(
        FixedLocator([x for x in (0.5, 1, 1.5, 2, 3, 4, 5, 6, 7) if x < end])
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"×{x:g}"))
    axes.axvline(1, color=MUTED, linewidth=0.9)
    return end


def draw_gain(axes, y, thick, color, end, gain, apart):
    """A bar from 1 to the gain, an arrow where it leaves the axis; grey without a difference."""
    if gain is None:
        axes.annotate("the start" if apart else "the stage before was not recorded", (1, y), (5, 0), color=MUTED, **BESIDE)
    elif gain > end:
        tip, head = 1 + 0.8 * (end - 1), 0.05 * (end - 1)
        axes.barh(y, tip - 1, thick, left=1, color=color)
        axes.fill(
            [tip, tip, tip + head], [y - thick / 2, y + thick / 2, y], color=color, linewidth=0
        )
        axes.annotate(factor_text(gain), (tip + head, y), (4, 0), **BESIDE)
    else:
        axes.barh(y, gain - 1, thick, left=1, color=color if apart else GREY)
        axes.annotate(
            factor_text(gain) + ("" if apart else ", no measurable difference"),
            (max(gain, 1), y),
            (5, 0),
            color=INK if apart else MUTED,
            **BESIDE,
        )


def draw_total(axes, y, thick, color, total):
    axes.barh(y, total - 1, thick, left=1, color=color)
    if total != 1:
        axes.annotate(factor_text(total), (total, y), (4, 0), **BESIDE)


def speedup_words(devices, steps):
    def device_text(device, row):
        gains = [
            f"chapter {int(stage['chapter'])} {factor_text(gain)}"
            for stage, (gain, _) in zip(device["stages"], row)
            if gain
        ]
        return f"{device['name']}: " + ", ".join(gains)

    return "; ".join(map(device_text, devices, steps)) + "."


def speedup(data, name):
    devices = data["devices"]
    what = "What each stage gains"
    start = min(stage["chapter"] for device in devices for stage in device["stages"])
    chapters, figure, (gains, totals), _ = chapters_sheet(
        devices,
        name,
        what,
        f"Ratios of median times, {data['n']:,} floats"
        + (f" on {devices[0]['name']}" if len(devices) == 1 else ""),
        (
            (PANELS, 2.2, "against the stage before"),
            (4.9, 1.65, f"against chapter {int(start)}"),
        ),
    )
    steps = [steps_of(device["stages"], chapters) for device in devices]
    end = scale_gains(gains, steps)
    sums = [
        [device["stages"][0]["median_us"] / stage["median_us"] for stage in device["stages"]]
        for device in devices
    ]
    decades(totals, [1, *[total for row in sums for total in row]], lambda x: f"×{x:,.0f}")
    places, thick = row_places(len(devices))
    for device, color, offset, row_steps, row_sums in zip(devices, SERIES, places, steps, sums):
        for stage, (gain, apart), total in zip(device["stages"], row_steps, row_sums):
            y = chapters.index(stage["chapter"]) + offset
            draw_gain(gains, y, thick, color, end, gain, apart)
            draw_total(totals, y, thick, color, total)
    return figure, what, speedup_words(devices, steps)


PICTURES = {"ladder": ladder, "speedup": speedup}
