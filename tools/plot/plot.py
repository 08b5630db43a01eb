#!/usr/bin/env python3
"""plot.py: draw the figures that results/*.csv has data for.

usage: plot.py [-D DEVICE] [-r RESULTS] [-o FIGURES] [--check]

  -D DEVICE    the device that the book speaks of, RESULTS/DEVICE.csv: it comes first, and where a
               figure shows a chapter's fastest kernel it is the fastest there
  -r RESULTS   folder of recorded results (default: results)
  -o FIGURES   folder for the SVG files (default: figures)
  --check      draw nothing; list the figures that are out of date, status 1 if there are any

Each is an SVG file and, for notebooks, a PNG beside it.
A figure is a function of its data and of this program, and says so in its first line with a hash of
both. A file that has the right hash is left alone; when all have, matplotlib is not even imported.
A figure of this program's that results no longer have data for is removed. The paths of the figures
drawn and removed are printed. A fault in a CSV file stops everything before any figure
is touched.
"""

import argparse
import csv
import hashlib
import json
import math
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True
from traces import trace_steps

# The ladder is one question, how fast can this sum be: it ends at the speed of light. Later
# chapters ask other things.
LADDER_LAST = "11"
SWEEP_CHAPTER, SWEEP_KERNEL = "08", "block_sum_grid_stride"
SIZES_CHAPTER = "09"
COUNTERS_LAST = "09"  # beyond it a chapter's kernels do not follow on one stage before
CEILING = "read_ceiling"
LIBRARY = "cub_device_reduce"


class Fault(Exception):
    """What is wrong with an input, and where: the message is `path:line: what`."""


# ---- Reading ----


@dataclass
class Table:
    path: Path
    facts: dict  # `# name: value` lines
    columns: list
    rows: list  # of dicts: text, or numbers where the column is numeric; None for an empty cell


TEXT = {  # grids and blocks of the CPU device may have several dimensions: 64x2
    "device": {"chapter", "kernel", "elem", "source", "note"},
    "counters": {"chapter", "kernel", "source", "grid", "block"},
    "trace": {"kernel", "space", "op", "block"},
    "errors": {"order", "data"},
}
NEEDED = {
    "device": ("chapter", "kernel", "n", "grid", "median_us", "p5_us", "p95_us", "gbps"),
    "counters": ("chapter", "kernel", "n", "thread_insts"),
    "trace": (
        "kernel",
        "launch",
        "block",
        "warp",
        "line",
        "space",
        "op",
        "bytes",
        "lane",
        "address",
    ),
    "errors": ("order", "data", "n", "relative_error", "bound", "condition"),
}
POSITIVE = {"median_us", "p5_us", "p95_us", "n"}
WHOLE = {"n", "grid", "launch", "warp", "line", "bytes", "lane", "address", "thread_insts"}
MAY_BE_EMPTY = {"line", "bytes", "lane", "address"}  # on the barrier rows of a trace
ACCESSES = ("load", "store", "atomic", "barrier")


def number(text):
    """A finite number, an int where it is written as one; hexadecimal with 0x."""
    try:
        return int(text, 0 if text[:2] in ("0x", "0X") else 10)
    except ValueError:
        value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def read_row(kind, columns, cells):
    """A row as a dict, checked; ValueError says what is wrong with it."""
    if len(cells) != len(columns):
        raise ValueError(f"{len(cells)} cells under {len(columns)} columns")
    row = {}
    for column, cell in zip(columns, (cell.strip() for cell in cells)):
        if column in TEXT[kind]:
            row[column] = cell
        elif cell:
            try:
                row[column] = number(cell)
            except ValueError:
                raise ValueError(f"`{cell}` under {column} is not a number") from None
        else:
            row[column] = None
    if kind == "trace" and row["op"] not in ACCESSES:
        raise ValueError(f"op is `{row['op']}`, not one of {', '.join(ACCESSES)}")
    barrier = row.get("space") == "barrier"
    for column in NEEDED[kind]:
        if row[column] in (None, "") and not (barrier and column in MAY_BE_EMPTY):
            raise ValueError(f"{column} is empty")
        if column in WHOLE and not isinstance(row[column], (int, type(None))):
            raise ValueError(f"{column} is {row[column]}, not a whole number")
        if kind == "device" and column in POSITIVE and row[column] <= 0:
            raise ValueError(f"{column} is {row[column]}, not positive")
    return row


def read_table(path, kind):
    """A whole CSV file. A file without `# device:` or `median_us` is no device table: None."""
    try:
        lines = path.read_bytes().decode("utf-8").splitlines()
    except OSError as error:
        raise Fault(f"{path}:1: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise Fault(f"{path}:{line}: not UTF-8") from None
    facts = {}
    first = 0
    while first < len(lines) and (not lines[first].strip() or lines[first].startswith("#")):
        name, colon, value = lines[first].lstrip("# ").partition(":")
        if colon:
            facts[name.strip()] = value.strip()
        first += 1
    columns = [cell.strip() for cell in next(csv.reader(lines[first : first + 1]), [])]
    if kind == "device" and "grid" not in columns:  # a lab leaves one partial sum per block
        columns = ["grid" if column == "partials" else column for column in columns]
    if kind == "device" and ("device" not in facts or "median_us" not in columns):
        return None
    for column in NEEDED[kind]:
        if column not in columns:
            raise Fault(f"{path}:{first + 1}: no column `{column}`")
    rows = []
    reader = csv.reader(lines[first + 1 :], strict=True)
    try:
        for cells in reader:
            if cells:
                rows.append(read_row(kind, columns, cells))
    except (ValueError, csv.Error) as error:
        raise Fault(f"{path}:{first + 1 + reader.line_num}: {error}") from None
    if kind == "device" and "pin_gbps" in facts:
        try:
            facts["pin_gbps"] = float(facts["pin_gbps"])
            facts["sm_count"] = int(facts.get("sm_count", "0"))
        except ValueError:
            raise Fault(f"{path}:1: pin_gbps or sm_count is not a number") from None
    return Table(path, facts, columns, rows)


def read_results(folder, first=""):
    """All tables of the folder: devices by file name, but one first, the counters or None, traces
    by file name, and those of its folder `errors`, which are not a device's."""
    devices, counters, traces = [], None, []
    errors = [read_table(path, "errors") for path in sorted((folder / "errors").glob("*.csv"))]
    for path in sorted(folder.glob("*.csv")):
        if path.name.startswith("trace-"):
            traces.append(read_table(path, "trace"))
        elif path.name == "cpu.csv":
            counters = read_table(path, "counters")
        else:
            table = read_table(path, "device")
            devices += [table] if table else []
    devices.sort(key=lambda table: table.path.stem != first)
    return devices, counters, traces, errors


# ---- From rows to the data of a figure ----


@dataclass
class Figure:
    name: str  # of the file
    kind: str  # of the picture: a function of times.py, counts.py or errors.py
    data: object  # all that the picture depends on: lists, dicts, text and numbers


def numbered(row):
    return row["chapter"].isdigit()


def is_stage(row):
    """Rows that compete on the ladder: no counter-example, not the library, not the CPU."""
    return (
        numbered(row)
        and "01" <= row["chapter"] <= LADDER_LAST
        and "sum" in row["kernel"]
        and not row["kernel"].startswith(("cpu_", "cub_", "thrust_"))
        and row.get("elem", "float") == "float"
        and not re.search(r"counter-example|not a stage", row.get("note", ""))
    )


def stages_of(rows):
    """Per chapter its own stage rows: one per kernel that no earlier chapter has.

    A chapter times its predecessor's kernel again, to compare. Of several launch shapes of a kernel
    the first counts; those of a sweep follow it.
    """
    chapters, seen = {}, set()
    for row in sorted(filter(is_stage, rows), key=lambda row: row["chapter"]):
        if row["kernel"] not in seen:
            seen.add(row["kernel"])
            chapters.setdefault(row["chapter"], []).append(row)
    return chapters


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return (values[middle] + values[~middle]) / 2 if values else None


def usual_n(devices):
    """The number of elements that most chapters were measured at; the larger one of two."""
    chapters = {}
    for i, table in enumerate(devices):
        for row in filter(is_stage, table.rows):
            chapters.setdefault(row["n"], set()).add((i, row["chapter"]))
    return max(chapters, key=lambda n: (len(chapters[n]), n), default=None)


TIMES = ("kernel", "median_us", "p5_us", "p95_us", "gbps")


def pick(row, columns):
    return {column: row[column] for column in columns}


def ladder_data(devices):
    """Per device the best kernel of each chapter at the usual n, and the times of the others.

    The best on the first device that has the chapter is shown for the others too."""
    n = usual_n(devices)
    ladder, shown = {"n": n, "devices": []}, {}
    for table in devices:
        rows = [row for row in table.rows if row["n"] == n]
        stages = []
        for chapter, kernels in stages_of(rows).items():
            best = min(kernels, key=lambda row: row["median_us"])
            best = next((row for row in kernels if row["kernel"] == shown.get(chapter)), best)
            shown.setdefault(chapter, best["kernel"])
            others = [row["median_us"] for row in kernels if row is not best]
            stages.append({"chapter": chapter, **pick(best, TIMES), "others": others})
        library = [row["median_us"] for row in rows if row["kernel"] == LIBRARY]
        if stages:
            ladder["devices"].append(
                {
                    "name": table.facts["device"],
                    "pin_gbps": table.facts.get("pin_gbps") or None,
                    "ceiling_gbps": median([r["gbps"] for r in rows if r["kernel"] == CEILING]),
                    "library_us": min(library, default=None),
                    "stages": stages,
                }
            )
    return ladder if ladder["devices"] else None


def steps_data(ladder):
    """What the speed-ups are made of: nothing but times."""
    return {
        "n": ladder["n"],
        "devices": [
            {
                "name": device["name"],
                "stages": [
                    pick(s, ("chapter", "kernel", "median_us", "p5_us", "p95_us"))
                    for s in device["stages"]
                ],
            }
            for device in ladder["devices"]
        ],
    }


def blocks_data(devices):
    """Chapter 8's sweep: one kernel, one n, many grids."""
    sweeps = []
    for table in devices:
        rows = [r for r in table.rows if r["chapter"] == SWEEP_CHAPTER]
        n = max((r["n"] for r in rows if r["kernel"] == SWEEP_KERNEL), default=None)
        shapes = {r["grid"]: r for r in rows if r["kernel"] == SWEEP_KERNEL and r["n"] == n}
        if len(shapes) < 4:
            continue
        sweeps.append(
            {
                "name": table.facts["device"],
                "sm_count": table.facts.get("sm_count") or None,
                "n": n,
                "ceiling_gbps": median(
                    [r["gbps"] for r in rows if r["kernel"] == CEILING and r["n"] == n]
                ),
                "points": [pick(shapes[g], ("grid", *TIMES[1:])) for g in sorted(shapes)],
            }
        )
    return sweeps


def sizes_of(table, chapter, kernel):
    """The rows of one kernel over n, if there are enough for a curve: the first of each n.

    Rows whose note says `not a stage` are variants of another curve, and have none of their own.
    """
    rows = {}
    for row in table.rows:
        same = row["chapter"] == chapter and "not a stage" not in row.get("note", "")
        if same and row["kernel"] == kernel and row.get("elem", "float") == "float":
            rows.setdefault(row["n"], row)
    return [pick(rows[n], ("n", *TIMES[1:])) for n in sorted(rows)] if len(rows) >= 5 else []


def library_sizes(table, chapter, sizes):
    """The library's curve: this chapter's, or that of the chapter with the most of these sizes."""
    chapters = sorted({row["chapter"] for row in table.rows if row["kernel"] == LIBRARY})
    curves = [
        [point for point in sizes_of(table, c, LIBRARY) if point["n"] in sizes]
        for c in ([chapter] if chapter in chapters else chapters)
    ]
    return max(curves, key=len, default=[])


def sizes_data(devices, chapter):
    """Time over n for a chapter's kernels and for the library: a curve per kernel and device.

    In SIZES_CHAPTER one kernel, the fastest at the largest n on the first device. Where there are
    more than four kernels, the first device alone."""
    curves, chosen = [], None
    for table in devices:
        kernels = list(dict.fromkeys(r["kernel"] for r in table.rows if r["chapter"] == chapter))
        found = {k: sizes_of(table, chapter, k) for k in kernels if k not in (CEILING, LIBRARY)}
        # What was recorded under mpirun too is drawn once.
        again = {k for k in found if k.removesuffix("_mpi") in found and k.endswith("_mpi")}
        found = {kernel: points for kernel, points in found.items() if points and kernel not in again}
        if not found or (curves and len({curve["kernel"] for curve in curves} - {LIBRARY}) > 4):
            continue
        if chapter == SIZES_CHAPTER:
            fastest = min(found, key=lambda kernel: found[kernel][-1]["median_us"])
            chosen = chosen if chosen in found else fastest
            found = {chosen: found[chosen]}
        sizes = {point["n"] for points in found.values() for point in points}
        found[LIBRARY] = library_sizes(table, chapter, sizes)
        curves += [
            {"name": table.facts["device"], "kernel": kernel, "points": points}
            for kernel, points in found.items()
            if points
        ]
    return curves


def table_name(signature):
    """A C++ signature as the labs' tables name the kernel: `void sum<(int)64>(int*)` is sum_64."""
    name = re.sub(r"\(\w[\w ]*\)(?=\d)|(?<=\d)u(?=[,>])", "", signature.removeprefix("void "))
    return re.sub(r"[<,]\s*", "_", name.partition("(")[0].rstrip("> "))


def counters_data(table, ladder):
    """Per chapter: the stage before it, then its own kernels, and the counters that differ.

    The stage of a chapter is its fastest kernel on the first device, and without one its last.
    """
    fixed = (
        "chapter",
        "source",
        "kernel",
        "n",
        "launch",
        "grid",
        "block",
        "launches",
        "thread_insts",
    )
    counters = [column for column in table.columns if column not in fixed]
    fastest = {s["kernel"] for s in ladder["devices"][0]["stages"]} if ladder else set()
    charts, seen, before = {}, set(), None
    chapters = {row["chapter"] for row in table.rows if numbered(row)}
    for chapter in sorted(c for c in chapters if c <= COUNTERS_LAST):
        rows = [r for r in table.rows if r["chapter"] == chapter and "sum" in r["kernel"]]
        kernels = {}  # the largest launch of each
        for row in sorted(rows, key=lambda row: (row["n"], row["thread_insts"])):
            kernels[table_name(row["kernel"])] = row
        # Without those of the libraries, in the order of the file.
        names = dict.fromkeys(table_name(row["kernel"]) for row in rows)
        bars = [(name, kernels[name]) for name in names if ":" not in name]
        own = [bar for bar in bars if bar[0] not in seen]
        if before and own and before[0] not in names:
            bars.insert(0, before)
        bars = [bar for bar in bars if own and bar[1]["n"] == own[0][1]["n"]]
        changed = [c for c in counters if len({row[c] for _, row in bars}) > 1]
        if changed:
            charts[chapter] = {
                "chapter": chapter,
                "n": own[0][1]["n"],
                "counters": changed,
                "bars": [
                    {
                        "kernel": name,
                        "own": name not in seen,
                        "values": [row[column] for column in changed],
                    }
                    for name, row in bars
                ],
            }
        seen.update(names)
        before = next((bar for bar in own if bar[0] in fastest), (own or [before])[-1])
    return charts


def errors_data(table):
    """Per kind of data the errors of every order over n, and the condition, to two digits."""
    panels = {}
    for row in table.rows:
        panel = panels.setdefault(row["data"], {"data": row["data"], "lines": {}})
        panel["condition"] = format(float(f"{row['condition']:.1e}"), ",.0f")
        line = panel["lines"].setdefault(row["order"], {"order": row["order"], "points": []})
        point = {"n": row["n"], "error": row["relative_error"], "bound": row["bound"]}
        line["points"].append(point)
    for panel in panels.values():
        panel["lines"] = list(panel["lines"].values())
    orders = list(dict.fromkeys(row["order"] for row in table.rows))
    return {"orders": orders, "panels": list(panels.values())}


def figures_of(devices, counters, traces, errors):
    figures = [Figure(f"{t.path.stem}.svg", "errors", errors_data(t)) for t in errors if t.rows]
    ladder = ladder_data(devices)
    if ladder:
        figures.append(Figure("ladder.svg", "ladder", ladder))
        if any(len(device["stages"]) > 1 for device in ladder["devices"]):
            figures.append(Figure("speedup.svg", "speedup", steps_data(ladder)))
    sweeps = blocks_data(devices)
    if sweeps:
        figures.append(Figure("block-sweep.svg", "blocks", sweeps))
    chapters = sorted({r["chapter"] for t in devices for r in t.rows if numbered(r)})
    for chapter in chapters:
        curves = sizes_data(devices, chapter)
        if curves:
            name = "size-sweep.svg" if chapter == SIZES_CHAPTER else f"size-sweep-{chapter}.svg"
            figures.append(Figure(name, "sizes", {"chapter": chapter, "curves": curves}))
    if counters:
        for chapter, chart in counters_data(counters, ladder).items():
            figures.append(Figure(f"counters-{chapter}.svg", "counters", chart))
    return figures + trace_figures(traces, counters)


def trace_figures(traces, counters):
    """A figure per trace-NN-KERNEL.csv, and one for a chapter with several, in the lab's order."""
    figures, chapters = [], {}
    for table in traces:
        steps = trace_steps(table)
        if steps:
            steps["kernel"] = table_name(steps["kernel"])
            figures.append(Figure(f"banks-{table.path.stem[6:]}.svg", "banks", steps))
            chapters.setdefault(table.path.stem[6:8], []).append(steps)
    rows = counters.rows if counters else []
    for chapter, shapes in chapters.items():
        order = [table_name(row["kernel"]) for row in rows if row["chapter"] == chapter]
        if len(shapes) > 1:
            shapes.sort(key=lambda trace: [*order, trace["kernel"]].index(trace["kernel"]))
            data = {"chapter": chapter, "traces": shapes}
            figures.append(Figure(f"banks-{chapter}.svg", "bank_shapes", data))
    return figures


# ---- Hashes, files ----

HASH_LINE = re.compile(rb"<!-- drawn by tools/plot/plot\.py from inputs ([0-9a-f]{16}) -->")


SOURCES = ("plot.py", "traces.py", "style.py", "times.py", "counts.py", "errors.py")


def source_bytes():
    here = Path(__file__).resolve().parent
    return b"".join((here / name).read_bytes() for name in SOURCES)


def hash_of(source, figure):
    data = json.dumps([figure.name, figure.kind, figure.data], sort_keys=True)
    return hashlib.sha256(source + data.encode()).hexdigest()[:16]


def recorded_hash(path):
    """The hash in the first line of a figure, or None."""
    try:
        with open(path, "rb") as file:
            found = HASH_LINE.match(file.readline(200))
    except OSError:
        return None
    return found.group(1).decode() if found else None


def is_drawn(path, wanted):
    """Of these inputs, as SVG and, which was written before it, as PNG."""
    return recorded_hash(path) == wanted and path.with_suffix(".png").exists()


def abandoned(folder, figures):
    """Figures in the folder that this program once drew, and draws no more."""
    names = {figure.name for figure in figures}
    return [p for p in sorted(folder.glob("*.svg")) if p.name not in names and recorded_hash(p)]


def write_whole(path, content):
    """Under a temporary name first: the file is the old one or the new one, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    parser.add_argument("-D", dest="device", default="", help=argparse.SUPPRESS)
    parser.add_argument(
        "-r", dest="results", type=Path, default=Path("results"), help=argparse.SUPPRESS
    )
    parser.add_argument(
        "-o", dest="figures", type=Path, default=Path("figures"), help=argparse.SUPPRESS
    )
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()

    figures = figures_of(*read_results(options.results, options.device))
    source = source_bytes()
    hashes = {figure.name: hash_of(source, figure) for figure in figures}
    due = [f for f in figures if not is_drawn(options.figures / f.name, hashes[f.name])]
    old = abandoned(options.figures, figures)
    if options.check:
        for figure in due:
            print(f"{options.figures / figure.name}: out of date")
        for path in old:
            print(f"{path}: no longer drawn")
        return 1 if due or old else 0
    for path in old:
        path.with_suffix(".png").unlink(missing_ok=True)
        path.unlink()
        print(f"{path}: removed")
    if not due:
        return 0
    try:
        import counts
        import errors
        import style
        import times
    except ImportError as error:
        raise Fault(
            f"{options.figures / due[0].name}: out of date, and this Python has no {error.name}: "
            'draw with the one that "tools/build/toolchain.sh python" names'
        ) from None
    pictures = {**times.PICTURES, **counts.PICTURES, **errors.PICTURES}
    drawn = [
        (options.figures / f.name, style.draw(pictures[f.kind], f, hashes[f.name]))
        for f in due
    ]
    options.figures.mkdir(parents=True, exist_ok=True)
    for path, (svg, png) in drawn:
        write_whole(path.with_suffix(".png"), png)
        write_whole(path, svg)
        print(path)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        print(fault, file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
