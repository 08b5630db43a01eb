"""tables.py: reads the CSV files of results/ and checks every cell that a figure may use."""

import csv
import math
from dataclasses import dataclass
from pathlib import Path


class Fault(Exception):
    """What is wrong with an input, and where: the message is `path:line: what`."""


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
