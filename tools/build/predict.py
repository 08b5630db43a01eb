#!/usr/bin/env python3
"""Predicts the recorded rows of a device, and compares the predictions with its times.

    predict.py -d DEVICE [-o FOLDER] [-n MOST] [-m MACHINE.csv] LAB...

LAB is a file such as code/04_bank_conflicts.cu, which is compiled with predict.cu. Rows with more than MOST elements
are left out (default 25,600,000). The program prints each row, then the errors of the predictions. With -o FOLDER it
writes the rows of results/DEVICE.csv with predicted_us, limiter and stall to FOLDER/DEVICE.csv. Then, or without a
LAB only this, it writes errors.csv and order.csv for all devices of the folder. These also include kernels that were
predicted before they were measured (DEVICE-blind.csv, DEVICE-drawn.csv), or that once were and have been seen since
(DEVICE-seen.csv)."""
import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(os.environ.get("B", "build"))
HERE = Path(__file__).resolve().parent
COLD, HOT = "0", "1"  # modes of appendix C; calls that the host waits for are not predicted
SHORT_US = 5  # shorter kernels are in a group of their own
KEY = ("kernel", "n", "block", "partials", "sweep")
WRITTEN = ("chapter", "source", *KEY, "elem", "median_us", "predicted_us", "limiter", "stall", "unknown")


def rows_of(path):
    """The rows of a results file, without its comment lines."""
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def compile_lab(lab, flags):
    """Compiles the lab's kernels with the main program of predict.cu."""
    program = BUILD / "predict" / Path(lab).stem
    program.parent.mkdir(parents=True, exist_ok=True)
    newest = max(Path(lab).stat().st_mtime, (HERE / "predict.cu").stat().st_mtime)
    if not program.exists() or program.stat().st_mtime < newest:
        subprocess.run(["nvcc", *flags, f'-DLAB="{Path(lab).resolve()}"', "-o", program, HERE / "predict.cu"],
                       check=True)
    return program


def launches(program, machine, n, *more):
    """[(row, [its launches])] of a lab for n elements."""
    table = BUILD / "predict" / f"{program.name}@{n}.csv"
    command = [BUILD / "simt", "--time", machine, *more, "--quiet", "--csv", table, program, "-n", str(n)]
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{program.name} -n {n}: {ran.stderr.strip() or ran.returncode}")
    listed = [line.split(",")[1:] for line in ran.stdout.splitlines() if line.startswith("row,")]
    found, skips = [], True
    for launch in rows_of(table):
        mark = launch["kernel"][:8]
        if mark == "row_mark":
            found.append([])
        elif mark != "row_skip" and not skips:
            found[-1].append(launch)
        skips = mark == "row_skip" or skips and mark != "row_mark"
    return list(zip(listed, found))


def predict(labs, device, machine, most, flags):
    """The recorded rows that could be predicted, with predicted_us and limiter."""
    recorded, out = rows_of(f"results/{device}.csv"), []
    for lab in labs:
        chapter = Path(lab).stem[:2]
        mine = [row for row in recorded if row["chapter"] == chapter]
        sizes = sorted({int(row["n"]) for row in mine if int(row["n"]) <= most})
        program = compile_lab(lab, flags) if sizes else None
        for n in sizes:
            found = launches(program, machine, n)
            by_key = {tuple(row[:5]): of for row, of in found if row[5] == COLD}
            if any(row[5] == HOT for row, _ in found):
                by_key.update({tuple(row[:5]): of for row, of in launches(program, machine, n, "--warm")
                               if row[5] == HOT})
            for row in mine:
                of = by_key.get(tuple(row[name] for name in KEY))
                if row["n"] == str(n) and of:
                    unknown = next((launch for launch in of if launch["unknown"]), None)
                    longest = unknown or max(of, key=lambda launch: float(launch["predicted_us"]))
                    us = "" if unknown else "%.4f" % sum(float(x["predicted_us"]) for x in of)
                    out.append({**row, "predicted_us": us, **{name: longest[name] for name in WRITTEN[-3:]}})
    return out


def quantile(values, part):
    return sorted(values)[min(int(part * len(values)), len(values) - 1)] if values else float("nan")


def off(row):
    return float(row["predicted_us"]) / float(row["median_us"]) - 1


GROUPS = { # of rows with at least SHORT_US: the goal for their errors, and a filter
    "chapters 2 to 9, 25,600,000 elements": ("median 4, each 10", lambda row: row["n"] == "25600000" and
                                             "02" <= row["chapter"] <= "09" and row["sweep"] == "0"),
    "sweeps of blocks and of sizes": ("median 6, nine of ten 15", lambda row: row["sweep"] == "1" or
                                      row["n"] != "25600000"),
    "all recorded": ("median 7, nine of ten 20", lambda row: True),
}
BLIND = "median 10, nine of ten 25"
OTHERS = { # further files of a device: kernels that belong to no lab
    "seen": "unlike the labs, seen since",
    "blind": "drawn, before they were measured",
    "drawn": "drawn again, before they were measured",
}


def errors_of(device, rows, others):
    """The rows of errors.csv: the errors of each group's predictions, in percent."""
    long = [row for row in rows if float(row["median_us"]) >= SHORT_US]
    groups = {name: (goal, list(filter(of, long))) for name, (goal, of) in GROUPS.items()}
    groups["below %d µs" % SHORT_US] = ("", [row for row in rows if float(row["median_us"]) < SHORT_US])
    groups.update({OTHERS[name]: (BLIND, of) for name, of in others.items()})
    for name, (goal, some) in groups.items():
        errors = [100 * abs(off(row)) for row in some if "median_us" in row]
        if errors:
            yield {"device": device, "kernels": name, "rows": len(errors), "median": "%.1f" % quantile(errors, .5),
                   "nine_of_ten": "%.1f" % quantile(errors, .9), "at_most": "%.1f" % max(errors),
                   "too_short": sum(off(row) < 0 for row in some), "goal": goal}


def order(rows):
    """(correctly ordered, all) pairs of rows of one chapter and size whose times differ by at least 5 %."""
    right = pairs = 0
    for i, a in enumerate(rows):
        for b in rows[:i]:
            x, y = float(a["median_us"]), float(b["median_us"])
            if (a["chapter"], a["n"]) != (b["chapter"], b["n"]) or max(x, y) < 1.05 * min(x, y):
                continue
            pairs += 1
            right += (x < y) == (float(a["predicted_us"]) < float(b["predicted_us"]))
    return right, pairs


def stalls(rows, device):
    """(rows whose longest predicted stall is the profiler's, all profiled rows)."""
    path, right, known = Path(f"results/{device}-limits.csv"), 0, 0
    profiled = {(row["chapter"], row["kernel"], row["n"]): row for row in (rows_of(path) if path.exists() else [])}
    for row in rows:
        of = profiled.get((row["chapter"], row["kernel"], row["n"]))
        if of and row["sweep"] == "0":
            cycles = {name[6:]: float(of[name] or 0) for name in of if name.startswith("stall_") and
                      name != "stall_selected"}
            known += 1
            right += max(cycles, key=cycles.get) == row["stall"]
    return right, known


def report(rows):
    for row in rows:
        print("%s %-34s %9s %5s %8s  measured %10.2f  predicted %10.2f  %+6.1f %%  %s" % (
            row["chapter"], row["kernel"], row["n"], row["block"], row["partials"], float(row["median_us"]),
            float(row["predicted_us"]), 100 * off(row), row["limiter"]))


def write_table(path, rows, head=()):
    with open(f"{path}.new", "w", encoding="utf-8", newline="") as file:
        file.writelines(head)
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    os.replace(f"{path}.new", path)


def sum_up(folder):
    """Writes and prints errors.csv and order.csv for all devices of the folder."""
    errors, ranks = [], []
    for path in sorted(folder.glob("*.csv")):
        device = path.stem
        if Path(f"results/{device}.csv").exists():
            rows = rows_of(path)
            others = {name: path.with_name(f"{device}-{name}.csv") for name in OTHERS}
            errors += errors_of(device, rows, {name: rows_of(of) for name, of in others.items() if of.exists()})
            (right, pairs), (same, profiled) = order(rows), stalls(rows, device)
            ranks.append({"device": device, "pairs": pairs, "in_order": right, "profiled": profiled,
                          "same_stall": same, "goal": "98 % in order, 80 % the same stall"})
    for name, found in ("errors", errors), ("order", ranks):
        write_table(folder / f"{name}.csv", found)
        print((folder / f"{name}.csv").read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-d", "--device", required=True)
    parser.add_argument("-m", "--machine")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("-n", "--most", type=int, default=25600000)
    parser.add_argument("-f", "--flags", default="-O3 -arch=sm_90 -lineinfo -cudart shared --no-compress")
    parser.add_argument("labs", nargs="*")
    given = parser.parse_args()
    if given.output and not given.labs:
        return sum_up(given.output)
    rows = predict(given.labs, given.device, given.machine or given.device, given.most, given.flags.split())
    if not rows:
        sys.exit(f"predict.py: results/{given.device}.csv has no rows of these labs")
    report(rows)
    if given.output:
        given.output.mkdir(parents=True, exist_ok=True)
        head = [line for line in open(f"results/{given.device}.csv", encoding="utf-8") if line.startswith("#")]
        write_table(given.output / f"{given.device}.csv", [{name: row[name] for name in WRITTEN} for row in rows], head)
        sum_up(given.output)


main()
