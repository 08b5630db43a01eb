"""figures.py: selects the figures and the data of each, from rows of results and roles.

Data are plain lists, dicts, text and numbers; the pictures use nothing else.
"""

from dataclasses import dataclass
from functools import partial

from floors import first_of, kernel_floors, rates_of
from roles import missing_kernel, scenes_of
from row_data import map_data, rates_data, rows_data
from timelines import instructions_of

CEILING = "read_ceiling"  # reading without summing, in every lab
LIBRARY = "cub_device_reduce"  # the baseline of comparisons


@dataclass
class Figure:
    name: str  # of the file
    kind: str  # of picture: a key of PICTURES in one of the modules that plot.py uses
    data: object  # everything that the picture depends on


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return (values[middle] + values[~middle]) / 2 if values else None


TIMES = ("kernel", "median_us", "p5_us", "p95_us", "gbps")


def pick(row, columns):
    return {column: row[column] for column in columns}


# --- the ladder ---


def usual_n(devices, rungs):
    """The number of elements with which most rungs were measured; of equals the larger."""
    names = {(rung.chapter, rung.kernel) for rung in rungs}
    found = {}
    for i, table in enumerate(devices):
        for row in table.rows:
            if (row["chapter"], row["kernel"]) in names:
                found.setdefault(row["n"], set()).add((i, row["chapter"], row["kernel"]))
    return max(found, key=lambda n: (len(found[n]), n), default=None)


def ladder_data(devices, rungs):
    """The rungs, and for each device its times at the usual n with the times of the rungs that they improve on. Of
    several launch shapes, the first row counts."""
    n = usual_n(devices, rungs)
    ladder = {"n": n, "rungs": [{"chapter": r.chapter, "name": r.name} for r in rungs], "devices": []}
    for table in devices:

        def times(chapter="", kernel=""):
            row = first_of(table.rows, chapter=chapter, kernel=kernel, n=n)
            return row and pick(row, TIMES[1:])

        found = [(i, times(rung.chapter, rung.kernel), times(*rung.after)) for i, rung in enumerate(rungs)]
        stages = [{"rung": i, **row, "before": before} for i, row, before in found if row]
        rows = [row for row in table.rows if row["n"] == n]
        if stages:
            ladder["devices"].append(
                {
                    "name": table.facts["device"],
                    "ceiling_gbps": median([r["gbps"] for r in rows if r["kernel"] == CEILING]),
                    "library_us": min((r["median_us"] for r in rows if r["kernel"] == LIBRARY), default=None),
                    "stages": stages,
                }
            )
    return ladder if ladder["devices"] else None


def ladder_figures(devices, rungs):
    ladder = ladder_data(devices, rungs)
    if not ladder:
        return []
    figures = [Figure("ladder.svg", "ladder", ladder)]
    if any(len(device["stages"]) > 1 for device in ladder["devices"]):
        figures.append(Figure("speedup.svg", "speedup", ladder))
    return figures


# --- sweeps ---


def blocks_data(devices, role):
    """One kernel at one n with many grids: a sweep per device that has at least four points."""
    sweeps = []
    for table in devices:
        rows = list(filter(role.plays, table.rows))
        n = max((row["n"] for row in rows), default=None)
        shapes = {row["grid"]: row for row in rows if row["n"] == n}
        if len(shapes) < 4:
            continue
        ceilings = [
            row["gbps"]
            for row in table.rows
            if (row["chapter"], row["kernel"], row["n"]) == (role.chapter, CEILING, n)
        ]
        sweeps.append(
            {
                "name": table.facts["device"],
                "sm_count": table.facts.get("sm_count") or None,
                "n": n,
                "ceiling_gbps": median(ceilings),
                "points": [pick(shapes[grid], ("grid", *TIMES)) for grid in sorted(shapes)],
            }
        )
    return {"chapter": role.chapter, "sweeps": sweeps} if sweeps else None


def sizes_of(table, chapter, kernel):
    """The rows of one kernel over n, the first of each n, if there are enough for a curve."""
    rows = {}
    for row in table.rows:
        if (row["chapter"], row["kernel"]) == (chapter, kernel):
            rows.setdefault(row["n"], row)
    return [pick(rows[n], ("n", *TIMES[1:])) for n in sorted(rows)] if len(rows) >= 5 else []


def left_by(table, kernel, points):
    """The largest number of sums that the kernel leaves at these n: one per block for block_sum kernels, else
    one."""
    if not kernel.startswith("block_sum_"):
        return 1
    sizes = {point["n"] for point in points}
    return max(row["grid"] for row in table.rows if row["kernel"] == kernel and row["n"] in sizes)


def library_sizes(table, chapter, sizes):
    """The library's curve from this chapter, or from the chapter with most of these sizes."""
    chapters = sorted({row["chapter"] for row in table.rows if row["kernel"] == LIBRARY})
    curves = [
        [point for point in sizes_of(table, c, LIBRARY) if point["n"] in sizes]
        for c in ([chapter] if chapter in chapters else chapters)
    ]
    return max(curves, key=len, default=[])


def sizes_data(devices, role, each=False):
    """Time over n: a curve per device, for each kernel of the role and for the library.

    With more than two kernels, only the first device is shown. each: n is the number of elements per GPU."""
    curves = []
    for table in devices:
        kernels = dict.fromkeys(row["kernel"] for row in filter(role.plays, table.rows))
        found = {k: sizes_of(table, role.chapter, k) for k in kernels if k not in (CEILING, LIBRARY)}
        found = {kernel: points for kernel, points in found.items() if points}
        if not found or len({curve["kernel"] for curve in curves} - {LIBRARY}) > 2:
            continue
        sizes = {point["n"] for points in found.values() for point in points}
        found[LIBRARY] = library_sizes(table, role.chapter, sizes)
        curves += [
            {
                "name": table.facts["device"],
                "kernel": kernel,
                "points": points,
                "sums": left_by(table, kernel, points),
            }
            for kernel, points in found.items()
            if points
        ]
    if not curves:
        return None
    several = any(curve["kernel"].endswith("_gpus") for curve in curves)
    whose = " on every GPU" if each else " in all" if several else ""
    return {"chapter": role.chapter, "library": LIBRARY, "whose": whose, "curves": curves}


# --- counts ---

NO_COUNTERS = ("chapter", "source", "kernel", "n", "launch", "grid", "block", "launches", "thread_insts")


def counted_name(row, timed):
    """A kernel's name, followed by its block size if a lab has a stage of that name."""
    name = row["kernel"]
    return f"{name}_{row['block']}" if f"{name}_{row['block']}" in timed else name


def counted_kernels(table, timed, wanted):
    """{name: row} of the chapters for which `wanted` is true: the largest launch in the latest chapter.

    Kernels are in the order of their runs, without the libraries' internal kernels, which are in namespaces."""
    rows = [row for row in table.rows if wanted(row["chapter"]) and "::" not in row["kernel"]]
    kernels = dict.fromkeys(counted_name(row, timed) for row in rows)
    for row in sorted(rows, key=lambda row: (row["chapter"], row["n"], row["thread_insts"])):
        kernels[counted_name(row, timed)] = row
    return kernels


def profiled_value(devices, row, name, column):
    """A value of the profile on the first device that has it, or None."""
    where = {"chapter": row["chapter"], "kernel": name, "n": row["n"]}
    found = (first_of(table.limits, **where) for table in devices if table.limits)
    return next((limit.get(column) for limit in found if limit), None)


def chosen_counters(table, devices, bars, role):
    """{counter: values} for a role's counters: from the CPU device, or else from the profile."""
    known = {column for device in devices for limit in device.limits for column in limit}
    chosen = {}
    for column in role.columns:
        if column in table.columns:
            chosen[column] = [row[column] for _, row in bars]
            continue
        if known and column not in known:
            raise role.fault(f"counters: neither the CPU device nor the profile counts `{column}`")
        values = [profiled_value(devices, row, name, column) for name, row in bars]
        if None not in values:
            chosen[column] = values
    return chosen


def counters_data(table, devices, timed, role):
    """The kernels of a lab, preceded by those of earlier chapters that the role names, and the counters that the
    role names, or all that differ between the kernels."""
    kernels = counted_kernels(table, timed, lambda chapter: chapter == role.chapter)
    before = counted_kernels(table, timed, lambda chapter: chapter < role.chapter)
    own = [name for name in kernels if name not in before]
    asked = [name for name in before if role.names(name) and name not in kernels]
    bars = [*((name, before[name]) for name in asked), *kernels.items()]
    bars = [bar for bar in bars if own and bar[1]["n"] == kernels[own[0]]["n"]]
    counters = [column for column in table.columns if column not in NO_COUNTERS]
    changed = {c: [row[c] for _, row in bars] for c in counters if len({row[c] for _, row in bars}) > 1}
    shown = chosen_counters(table, devices, bars, role) if role.columns and own else changed
    if not shown:
        return None
    profiles = (device.facts["device"] for device in devices if device.limits)
    return {
        "chapter": role.chapter,
        "n": bars[0][1]["n"],
        "chosen": bool(role.columns),
        "profile": next(profiles, "") if set(shown) - set(table.columns) else "",
        "counters": list(shown),
        "bars": [
            {"kernel": name, "own": name in own, "values": [values[i] for values in shown.values()]}
            for i, (name, _) in enumerate(bars)
        ],
    }


# --- floors ---


def floors_data(devices, counters, timed, role):
    """The kernels of a role on the first profiled device: times and lower bounds."""
    counted = counted_kernels(counters, timed, lambda c: c == role.chapter) if counters else {}
    for table in (table for table in devices if table.limits):
        asked = [pattern.partition("=") for pattern in role.patterns]
        profiled = [row["n"] for row in table.limits if row["chapter"] == role.chapter]
        n = max(profiled, default=None)
        rates = rates_of(table, n)
        kernels = [
            kernel_floors(table, rates, role.chapter, name, int(loads or 1), n, counted.get(name))
            for name, _, loads in asked
            if rates
        ]
        if any(kernels):
            return {
                "chapter": role.chapter,
                "device": table.facts["device"],
                "n": n,
                "kernels": list(filter(None, kernels)),
            }
    return None


def trace_figures(traces, counters):
    """A figure per trace-NN-KERNEL.csv, and one for each chapter with several, in the lab's order."""
    figures, chapters = [], {}
    for table in traces:
        steps = trace_steps(table)
        if steps:
            figures.append(Figure(f"banks-{table.path.stem[6:]}.svg", "banks", steps))
            chapters.setdefault(table.path.stem[6:8], []).append(steps)
    rows = counters.rows if counters else []
    for chapter, shapes in chapters.items():
        order = [row["kernel"] for row in rows if row["chapter"] == chapter]
        if len(shapes) > 1:
            shapes.sort(key=lambda trace: [*order, trace["kernel"]].index(trace["kernel"]))
            data = {"chapter": chapter, "traces": shapes}
            figures.append(Figure(f"banks-{chapter}.svg", "bank_shapes", data))
    return figures


# --- rounding errors ---


def errors_data(table):
    """For each kind of data, the errors of every order over n, and the condition number, to two digits."""
    panels = {}
    for row in table.rows:
        panel = panels.setdefault(row["data"], {"data": row["data"], "lines": {}})
        panel["condition"] = format(float(f"{row['condition']:.1e}"), ",.0f")
        line = panel["lines"].setdefault(row["order"], {"order": row["order"], "points": []})
        point = {"n": row["n"], "error": row["relative_error"], "bound": row["bound"]}
        line["points"].append(point)
    for panel in panels.values():
        panel["lines"] = list(panel["lines"].values())
    return {"panels": list(panels.values())}


# --- all figures ---


def steady(data):
    """Rounds numbers to nine digits, since further ones vary: from Python 3.12, sum() compensates for rounding,
    and C libraries differ in the last digit of a logarithm."""
    if isinstance(data, float):
        return float(f"{data:.9g}")
    if isinstance(data, (list, tuple)):
        return type(data)(map(steady, data))
    if isinstance(data, dict):
        return {key: steady(value) for key, value in data.items()}
    return data


def check_kernels(devices, counters, roles):
    """Reports a role for a kernel without results, unless its chapter has none at all."""
    timed = [row for table in devices for row in table.rows]
    names = {row["kernel"] for row in timed}
    counted = counters.rows if counters else []
    for role in (role for role in roles if role.name not in ("scenes", "shape-map", "shape-rates")):
        if role.name == "counters":
            before = [row for row in counted if row["chapter"] < role.chapter]
            known = {counted_name(row, names) for row in before}
        else:
            known = {row["kernel"] for row in timed if row["chapter"] == role.chapter}
        missing = missing_kernel(role, known)
        if missing:
            of = f"{'before' if role.name == 'counters' else 'of'} chapter {role.chapter}"
            raise role.fault(f"{role.name}: the results have no kernel `{missing}` {of}")


def figures_of(devices, counters, traces, errors, roles, names):
    """Every figure that has data, with kernels called by their names."""
    check_kernels(devices, counters, roles)
    play = lambda name: [role for role in roles if role.name == name]
    figures = [Figure(f"{t.path.stem}.svg", "errors", errors_data(t)) for t in errors if t.rows]
    figures += ladder_figures(devices, names.rungs)
    timed = {row["kernel"] for table in devices for row in table.rows}
    for name, kind, data_of, source in (
        ("block-sweep", "blocks", blocks_data, devices),
        ("size-sweep", "sizes", sizes_data, devices),
        ("message-sweep", "sizes", partial(sizes_data, each=True), devices),
        ("counters", "counters", partial(counters_data, devices=devices, timed=timed), counters),
        ("floors", "floors", partial(floors_data, counters=counters, timed=timed), devices),
        ("rows", "rows", rows_data, devices),
        ("shape-map", "shape_map", map_data, devices),
        ("shape-rates", "shape_rates", rates_data, devices),
    ):
        for role in play(name) if source else []:
            data = data_of(source, role=role)
            figures += [Figure(f"{name}-{role.chapter}.svg", kind, data)] if data else []
    book = devices[0] if devices else None
    for role in play("scenes"):
        figures += [Figure(*scene) for scene in scenes_of(book, role)]
    figures += trace_figures(traces, counters)
    return [Figure(figure.name, figure.kind, steady(names.in_words(figure.data))) for figure in figures]


# --- traces of the CPU device by steps of an algorithm, for the banks in counts.py ---

def trace_steps(table):
    """The shared-memory accesses of one warp by steps of its algorithm: [label, op, bytes, accesses].

    The warp is the first of the first block in the launch with the most accesses to shared memory. A step
    ends at a barrier and where a load follows a store; its load with the most lanes represents it.
    """
    launches = {}
    for row in table.rows:
        if row["space"] == "shared":
            launches.setdefault(row["launch"], []).append(row)
    if not launches:
        return None
    launch, rows = max(launches.items(), key=lambda item: (len(item[1]), -item[0]))
    block = min(row["block"] for row in rows)
    warp = min(row["warp"] for row in rows if row["block"] == block)
    here = (launch, block, warp)
    groups = [[]]
    for access in instructions_of(
        [row for row in table.rows if (row["launch"], row["block"], row["warp"]) == here]
    ):
        stored = any(op == "store" for op, _, _ in groups[-1])
        if access is None or (stored and access[0] == "load"):
            groups.append([])
        if access:
            groups[-1].append(access)
    steps, tree_step = [], 0
    for group in filter(None, groups):
        loads = [access for access in group if access[0] == "load"]
        label = "read" if len(loads) == len(group) else "write"
        if 0 < len(loads) < len(group):
            tree_step += 1
            label = f"step {tree_step}"
        steps.append([label, *max(loads or group, key=lambda access: len(access[2]))])
    kernel = rows[0]["kernel"]
    return {"kernel": kernel, "block": block, "warp": warp, "steps": steps}
