"""tables.py: reads the CSV files of results/ and checks every cell that a figure may use."""

import csv
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

class Fault(Exception):
    """An error in an input; its message is `path:line: what`."""


@dataclass
class Table:
    path: Path
    facts: dict  # `# name: value` lines
    columns: list
    rows: list  # of dicts: text, or numbers where the column is numeric; None for an empty cell
    limits: list = field(default_factory=list)  # of a device: the profile of its kernels, likewise
    shapes: "Table" = None  # of a device: rows of every shape
    newest_shapes: "Table" = None  # the same with a newer CUB
    machine: dict = None  # of a device: its measured limits, by name


TEXT = {  # grids and blocks of the CPU device may have several dimensions: 64x2
    "device": {"chapter", "kernel", "elem", "source", "note"},
    "counters": {"chapter", "kernel", "source", "grid", "block"},
    "limits": {"chapter", "kernel", "source"},
    "shapes": {"chapter", "kernel", "elem", "source"},
    "trace": {"kernel", "space", "op", "block"},
    "errors": {"order", "data"},
    "machine": {"name", "unit"},
}
NEEDED = {
    "device": ("chapter", "kernel", "n", "grid", "median_us", "p5_us", "p95_us", "gbps"),
    "counters": ("chapter", "kernel", "n", "thread_insts"),
    "limits": (
        "chapter",
        "kernel",
        "n",
        "profiled_us",
        "sm_clock_khz",
        "machine_insts",
        "shared_pipe_pct",
        "warps_pct",
    ),
    "shapes": ("chapter", "kernel", "n", "cols", "elem", "median_us", "p5_us", "p95_us"),
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
    "machine": ("name", "value", "unit"),
}
WHOLE = {"n", "cols", "block", "grid", "samples", "sweep", "sm_count", "l2_bytes"}  # in every table
WHOLE |= {"launch", "warp", "line", "bytes", "lane", "address"}  # in traces
MAY_BE_EMPTY = {"line", "bytes", "lane", "address"}  # on the barrier rows of a trace
ACCESSES = ("load", "store", "atomic", "barrier")
TIMED = ("device", "limits", "shapes")  # tables with times
LARGEST = 1e12  # microseconds, GB/s, percent
COUNTS_END = 1 << 53  # doubles are not exact from here on

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"[+-]?\d+|0[xX][0-9a-fA-F]+", re.ASCII)  # addresses are hexadecimal
CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def number(text):
    """A decimal number, an int if it is written as one, or a hexadecimal number with 0x."""
    if INTEGER.fullmatch(text):
        return int(text, 16 if text[:2] in ("0x", "0X") else 10)
    if NUMBER.fullmatch(text):
        return float(text)
    raise ValueError(f"`{text}`")


def fault_of(kind, column, value):
    """The error in a number of this column, or None; the rules are weave's, numbers/read.h."""
    if kind == "counters" or column in WHOLE:
        if not isinstance(value, int):
            return "not a whole number"
        least = 1 if kind == "shapes" else 0
        return None if least <= value < COUNTS_END else f"not a count of at least {least} and less than 2^53"
    if kind in TIMED and value > LARGEST:
        return "more than 1e12"
    if kind in TIMED and column.endswith("_us"):
        return None if value > 0 else "not positive"
    return "negative" if value < 0 else None


def read_number(kind, column, cell):
    try:
        value = number(cell)
    except ValueError:
        raise ValueError(f"`{cell}` under {column} is not a number") from None
    fault = fault_of(kind, column, value)
    if fault:
        raise ValueError(f"{column} is {cell}, {fault}")
    return value


def read_row(kind, columns, cells):
    """Parses and checks a row into a dict; ValueError has the problem."""
    if len(cells) != len(columns):
        raise ValueError(f"{len(cells)} cells under {len(columns)} columns")
    row = {}
    for column, cell in zip(columns, (cell.strip() for cell in cells)):
        if column in TEXT[kind]:
            row[column] = cell
        else:
            row[column] = read_number(kind, column, cell) if cell else None
    if kind == "trace" and row["op"] not in ACCESSES:
        raise ValueError(f"op is `{row['op']}`, not one of {', '.join(ACCESSES)}")
    barrier = row.get("space") == "barrier"
    for column in NEEDED[kind]:
        if row[column] in (None, "") and not (barrier and column in MAY_BE_EMPTY):
            raise ValueError(f"{column} is empty")
    if kind in ("device", "shapes") and not row["p5_us"] <= row["median_us"] <= row["p95_us"]:
        values = ", ".join(f"{row[name]:g}" for name in ("p5_us", "median_us", "p95_us"))
        raise ValueError(f"p5_us, median_us and p95_us are not in order: {values}")
    return row


def read_lines(path):
    """The lines of a file without their ends, counted as weave counts them."""
    try:
        content = path.read_bytes()
        lines = content.decode("utf-8").removesuffix("\n").split("\n")
    except OSError as error:
        raise Fault(f"{path}:1: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Fault(f"{path}:{line}: not UTF-8") from None
    if lines[0].startswith("\ufeff"):
        raise Fault(f"{path}:1: the file starts with a byte order mark (BOM): save it without one")
    lines = [line.removesuffix("\r") for line in lines]
    for i, line in enumerate(lines, 1):
        if CONTROL.search(line):
            raise Fault(f"{path}:{i}: a control character")
    return lines


def read_printed(path, header, command):
    """The rows that another tool of the book prints, without the header, which is checked."""
    rows = list(csv.reader(read_lines(path)))
    if rows[:1] != [header] or any(len(row) != len(header) for row in rows):
        raise Fault(f"{path}:1: not the output of `{command}`")
    return rows[1:]


def read_fact(line, facts):
    """Parses `# name: value`; facts that figures calculate with become numbers."""
    name, colon, value = line[1:].partition(":")
    name, value = name.strip(), value.strip()
    if name in ("sm_count", "l2_bytes"):
        value = read_number("device", name, value)
    if colon:
        facts.setdefault(name, value)


def columns_of(kind, cells):
    columns = [cell.strip() for cell in cells]
    if kind == "device" and "grid" not in columns:  # one partial sum per block
        columns = ["grid" if column == "partials" else column for column in columns]
    return columns


def check_columns(path, line, kind, columns):
    for column in NEEDED[kind]:
        if column not in columns:
            raise Fault(f"{path}:{line}: no column `{column}`")


def read_table(path, kind):
    """Reads a whole CSV file; None for a file without `# device:` or `median_us`, which is no device table."""
    facts, columns, rows = {}, None, []
    lines = read_lines(path)
    for number_of_line, line in enumerate(lines, 1):
        try:
            cells = [] if line.startswith("#") else next(csv.reader([line], strict=True), [])
            if line.startswith("#"):
                read_fact(line, facts)
            elif cells and columns:
                rows.append(read_row(kind, columns, cells))
        except (ValueError, csv.Error) as error:
            raise Fault(f"{path}:{number_of_line}: {error}") from None
        if cells and not columns:
            columns = columns_of(kind, cells)
            if kind == "device" and ("device" not in facts or "median_us" not in columns):
                return None
            check_columns(path, number_of_line, kind, columns)
    if not columns and kind != "device":
        check_columns(path, len(lines), kind, [])
    return Table(path, facts, columns, rows) if columns else None


def list_results(folder):
    """(kind, device, path) of each file of results, by path, as `collect files` classifies them."""
    program = Path(os.environ.get("B", "build")) / "collect"
    try:
        listing = subprocess.run([program, "files", folder], stdout=subprocess.PIPE, text=True, check=True).stdout
    except OSError as error:
        raise Fault(f"{program}: {error.strerror}: build it with make {program}") from None
    rows = [(row["kind"], row["device"], Path(row["path"])) for row in csv.DictReader(listing.splitlines())]
    return sorted(rows, key=lambda row: row[2])


def read_results(folder, first=""):
    """All tables of the folder: devices by file name, `first` first; the counters or None; traces by file name;
    and the tables of `errors`, which belong to no device."""
    devices, counters, traces, errors, of_device = [], None, [], [], {}
    for kind, device, path in list_results(folder):
        if kind == "trace":
            traces.append(read_table(path, "trace"))
        elif kind == "counts":
            counters = read_table(path, "counters")
        elif kind == "errors":
            errors.append(read_table(path, "errors"))
        elif kind in ("machine", "limits", "shapes"):
            of_device[kind, device] = read_table(path, kind)
        elif kind == "times":
            table = read_table(path, "device")
            devices += [table] if table else []
    for table in devices:
        device = table.path.stem
        rows_of = lambda kind: of_device[kind, device].rows if (kind, device) in of_device else []
        table.limits = rows_of("limits")
        table.machine = {row["name"]: row["value"] for row in rows_of("machine")}
        table.shapes = of_device.get(("shapes", device))
        table.newest_shapes = of_device.get(("shapes", f"{device}-newest"))
    devices.sort(key=lambda table: table.path.stem != first)
    return devices, counters, traces, errors


# --- names of kernels and rungs of the ladder, from `weave -t names` ---

DEFAULTS = {"cub_device_reduce": "CUB", "read_ceiling": "reading only"}  # unless a chapter names them
NAMED = ("kernel", "order", "library", "best")  # keys of figures' data that hold kernels
HEADER = ["chapter", "kernel", "name", "rung", "after"]


@dataclass(frozen=True)
class Rung:
    chapter: str
    kernel: str
    name: str
    after: tuple  # (chapter, kernel) of the rung that it improves on, or ()


@dataclass(frozen=True)
class Names:
    words: dict  # kernel: name, from the first chapter that has one
    rungs: list

    def in_words(self, data):
        """The data of a figure with kernels replaced by their names."""
        if isinstance(data, list):
            return [self.in_words(item) for item in data]
        if not isinstance(data, dict):
            return data
        named = lambda key, value: key in NAMED and isinstance(value, str)
        return {k: self.word(v) if named(k, v) else self.in_words(v) for k, v in data.items()}

    def word(self, kernel):
        """The name of a kernel, or else its name in code without the common prefix."""
        known = self.words.get(kernel) or DEFAULTS.get(kernel)
        return known or re.sub(r"^(block_)?sum_", "", kernel).replace("_", " ")


def read_names(path):
    words, rungs = {}, []
    for line, row in enumerate(read_printed(path, HEADER, "weave -t names"), 2):
        chapter, kernel, name, place, after = row
        if not re.fullmatch(r"\d*", place, re.ASCII) or after.count("/") != (after != ""):
            raise Fault(f"{path}:{line}: `{place},{after}` is not the position of a rung")
        words.setdefault(kernel, name)
        if place:
            rungs.append((int(place), Rung(chapter, kernel, name, tuple(after.split("/")) if after else ())))
    return Names(words, [rung for _, rung in sorted(rungs, key=lambda pair: pair[0])])
