#!/usr/bin/env python3
"""Counts what the page compares with its own runs: each stage of a lab as nvcc compiles it, at each block size.

    page_counts.py BUILD SOURCE PROGRAM N OUT.csv

Writes rows like those of simt --csv. `kernel` is the stage, which may launch its kernel several times: counters are
sums over its launches, and `launch` is their number. `page` is 1 if the page's engine, with PTX of its own
compiler, has the same accesses: all counters except those of instructions."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BLOCKS = (64, 128, 256, 512, 1024)  # those of labs; USUAL_N of tools/page/run.js is N
HARNESS = "// ---- The harness:"
FIRST_COUNTER = "warp_insts"
INSTRUCTIONS = ("warp_insts", "thread_insts")


def answer(build, source, stage, n, block, folder):
    """What the engine answers the page that runs a stage of an unchanged lab."""
    text = Path(source).read_text(encoding="utf-8").split(HARNESS)[0]
    asked = folder / f"{stage}-{block}.json"
    asked.write_text(json.dumps({"files": [{"name": "lab.cu", "line": 1, "text": text}], "stage": stage, "n": n, "block": block,
                                 "check": False, "trace": False, "banks": False}), encoding="utf-8")
    made = subprocess.run([build / "engine-native", asked], stdout=subprocess.PIPE, text=True)
    return json.loads(made.stdout)


def launches(build, program, stage, n, block, folder):
    """The launches of a stage alone, as simt counts them."""
    rows = folder / f"{stage}-{block}.csv"
    subprocess.run([build / "simt", "--threads", "1", "--quiet", "--csv", rows, program, "-n", str(n), "-b", str(block), "-k", stage],
                   check=True, stdout=subprocess.DEVNULL)
    with open(rows, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def shape(three):
    """As simt writes it: 64, 64x2."""
    while len(three) > 1 and three[-1] == 1:
        three = three[:-1]
    return "x".join(map(str, three))


def row_of(rows, answered, stage):
    """The row of one stage and block size; None if the engine's launches are not the last ones of the lab."""
    count = len(answered["launches"])
    if count == 0:  # the engine does not run this stage: only a single launch is unambiguous
        last = rows[-1:] if len({row["kernel"] for row in rows}) == 1 else []
    else:
        last = rows[-count:]
        if [(row["grid"], row["block"]) for row in last] != [
                (shape(launch["grid"]), shape(launch["block"])) for launch in answered["launches"]]:
            last = []
    if not last:
        return None
    names = list(last[0])[list(last[0]).index(FIRST_COUNTER):]
    sums = {name: sum(int(row[name]) for row in last) for name in names}
    same = count > 0 and all(sums[name] == answered["counters"][name] for name in names if name not in INSTRUCTIONS)
    return {"kernel": stage, "launch": len(last), "grid": last[0]["grid"], "block": last[0]["block"], "page": int(same), **sums}


def main():
    build, source, program, n, out = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), Path(sys.argv[5])
    listed = subprocess.run([build / "simt", "--quiet", program, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout
    stages = [stage for stage in re.findall(r"^(\w+)  ", listed, re.M) if not stage.startswith("cub_")]
    with tempfile.TemporaryDirectory(dir=build) as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)

        def counted(stage, block):
            answered = answer(build, source, stage, n, block, folder)
            row = row_of(launches(build, program, stage, n, block, folder), answered, stage)
            if row and answered["error"] and block == BLOCKS[0]:
                print(f"{program}: {stage}: the page's engine: {answered['error']['message']}", file=sys.stderr)
            return row

        rows = {}
        for row in pool.map(lambda pair: counted(*pair), [(stage, block) for stage in stages for block in BLOCKS]):
            if row:  # a stage with a block size of its own has it five times
                rows[row["kernel"], row["block"]] = row
    with open(out, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(next(iter(rows.values()))), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


main()
