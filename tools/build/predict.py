#!/usr/bin/env python3
"""Predicts the recorded rows of a device, and compares the predictions with its times.

    predict.py -d DEVICE [-o FOLDER] [-n MOST] [-m MACHINE.csv] LAB...

LAB is a file such as code/04_bank_conflicts.cu, which is compiled with predict.cu. Rows with more than MOST elements
are left out (default 25,600,000), and so are rows that were recorded from other code than the lab has now. The program
prints each row, then the errors of the predictions. With -o FOLDER it writes the rows of results/DEVICE.csv with
predicted_us, limiter and stall to FOLDER/DEVICE.csv. Then, or without a LAB only this, it writes errors.csv, worst.csv
and order.csv for all devices of the folder. These also include kernels that belong to no lab, from each
DEVICE-NAME.csv: OTHERS describes them. The error of a prediction p of a time m is max(p / m, m / p). A row without a
prediction is unknown: it counts as a row and as unknown, and in no other number."""
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


def source_of(lab):
    """The hash of the lab's code, as in the column `source`: other code's times say nothing about this code."""
    command = [str(BUILD / "collect"), "source", Path(lab).stem]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


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
        chapter, source = Path(lab).stem[:2], source_of(lab)
        mine = [row for row in recorded if row["chapter"] == chapter and row["source"] == source]
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


def is_known(row):
    return bool(row["predicted_us"]) and "median_us" in row


def quotient(row):
    return float(row["predicted_us"]) / float(row["median_us"])


def off(row):
    return max(quotient(row), 1 / quotient(row))


GROUPS = { # of rows with at least SHORT_US: what they are, the goal for their errors, a filter
    "ladder": ("chapters 1 to 9, 25,600,000 elements", {"median": 1.04, "worst": 1.10}, lambda row:
               row["n"] == "25600000" and "01" <= row["chapter"] <= "09" and row["sweep"] == "0"),
    "sweeps": ("sweeps of blocks and of sizes", {"median": 1.06, "nine_of_ten": 1.15}, lambda row:
               row["sweep"] == "1" or row["n"] != "25600000"),
    "recorded": ("all recorded", {"median": 1.07, "nine_of_ten": 1.20}, lambda row: True),
}
BLIND = {"median": 1.10, "nine_of_ten": 1.25}
OTHERS = { # further files of a device, DEVICE-NAME.csv
    "seen": ("unlike the labs, seen since", BLIND),
    "blind": ("drawn, before they were measured", BLIND),
    "drawn": ("drawn again, before they were measured", BLIND),
    "unseen": ("drawn a third time, before they were measured", {"median": 1.08, "nine_of_ten": 1.30, "worst": 3}),
}
FAR = 1.5 # worst.csv lists what is off by more than this
WORDS = {"median": "half", "nine_of_ten": "nine of ten", "worst": "each"}


def groups_of(rows, others):
    """(key, description, goal, rows) of each group of a device."""
    long = [row for row in rows if float(row["median_us"]) >= SHORT_US]
    for key, (name, goal, of) in GROUPS.items():
        yield key, name, goal, list(filter(of, long))
    yield "short", "below %d µs" % SHORT_US, {}, [row for row in rows if float(row["median_us"]) < SHORT_US]
    for key, some in others.items():
        yield (key, *OTHERS.get(key, (key, BLIND)), some)


def verdict(found, goal):
    """Whether the errors meet their goal."""
    return "" if not goal else "met" if all(found[name] <= most for name, most in goal.items()) else "missed"


def errors_of(device, rows, others):
    """The rows of errors.csv: the errors of each group's predictions."""
    for key, name, goal, some in groups_of(rows, others):
        known = list(filter(is_known, some))
        errors = list(map(off, known))
        if errors:
            found = {"median": quantile(errors, .5), "nine_of_ten": quantile(errors, .9), "worst": max(errors)}
            yield {"device": device, "key": key, "kernels": name, "rows": len(some), "unknown": len(some) - len(known),
                   **{name: "%.2f" % value for name, value in found.items()},
                   "too_short": sum(quotient(row) < 1 for row in known), "too_long": sum(quotient(row) > 1 for row in known),
                   "far": sum(error > FAR for error in errors),
                   "goal": ", ".join("%s %.2f" % (WORDS[name], most) for name, most in goal.items()),
                   "result": verdict(found, goal)}


def worst_of(device, rows, others):
    """The rows of worst.csv: each kernel that is off by more than FAR, with its worst case."""
    named = [(row["chapter"] + "/" + row["kernel"], row) for row in rows]
    named += [(key + "/" + row["case"], row) for key, some in others.items() for row in some]
    far = {}
    for name, row in named:
        if is_known(row) and off(row) > FAR:
            far.setdefault(name, []).append(row)
    for name, some in far.items():
        worst = max(some, key=off)
        yield {"device": device, "kernel": name, "cases": len(some), "measured_us": "%.1f" % float(worst["median_us"]),
               "predicted_us": "%.1f" % float(worst["predicted_us"]), "off_by": "%.2f" % off(worst),
               "it_is": "too short" if quotient(worst) < 1 else "too long"}


def order(rows):
    """(correctly ordered, all) pairs of rows of one chapter and size whose times differ by at least 5 %."""
    right = pairs = 0
    rows = list(filter(is_known, rows))
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
        print("%s %-34s %9s %5s %8s  measured %10.2f  predicted %10s  %8s  %s" % (
            row["chapter"], row["kernel"], row["n"], row["block"], row["partials"], float(row["median_us"]),
            row["predicted_us"] or "unknown", "%+.1f %%" % (100 * quotient(row) - 100) if is_known(row) else "",
            row["limiter"]))


def write_table(path, rows, head=()):
    with open(f"{path}.new", "w", encoding="utf-8", newline="") as file:
        file.writelines(head)
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    os.replace(f"{path}.new", path)


def sum_up(folder):
    """Writes and prints errors.csv, worst.csv and order.csv for all devices of the folder."""
    errors, worst, ranks = [], [], []
    for path in sorted(folder.glob("*.csv")):
        device = path.stem
        if Path(f"results/{device}.csv").exists():
            rows = rows_of(path)
            files = {of.stem[len(device) + 1:]: of for of in folder.glob(f"{device}-*.csv")}
            others = {name: rows_of(files[name]) for name in sorted(files, key=[*OTHERS, *sorted(files)].index)}
            errors += errors_of(device, rows, others)
            worst += worst_of(device, rows, others)
            for what, goal, (right, of) in (("pairs in the right order", 98, order(rows)),
                                            ("longest stall as profiled", 80, stalls(rows, device))):
                if of:
                    part = 100 * right / of
                    ranks.append({"device": device, "what": what, "of": of, "right": right, "percent": "%.1f" % part,
                                  "goal": goal, "result": "met" if part >= goal else "missed"})
    for name, found in ("errors", errors), ("worst", worst), ("order", ranks):
        if found:
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
