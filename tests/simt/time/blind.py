#!/usr/bin/env python3
"""Predicts programs whose times were predicted before they were measured: blind.cu, used to improve the model since,
mixed.cu and unseen.cu.

    blind.py PROGRAM MACHINE.csv [FLAG...]  writes the predictions: case,predicted_us,limiter,unknown
    blind.py PREDICTED.csv MEASURED.csv     with what the program printed on a GPU beside them: results/predicted/
                                            DEVICE-seen.csv, DEVICE-blind.csv, DEVICE-drawn.csv of a second seed, and
                                            DEVICE-unseen.csv"""
import csv
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[2] / "build"
FLAGS = ["-O3", "-arch=sm_90", "-lineinfo", "-cudart", "shared", "--no-compress"]


def rows_of(path):
    return list(csv.DictReader(line for line in Path(path).read_text().splitlines() if not line.startswith("#")))


def predict(name, machine, *flags):
    program, table = BUILD / "predict" / name, BUILD / "predict" / f"{name}.csv"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["nvcc", *FLAGS, *flags, "-o", program, HERE / f"{name}.cu"], check=True)
    ran = subprocess.run([BUILD / "simt", "--time", machine, "--quiet", "--csv", table, program],
                         capture_output=True, text=True, check=True)
    programs, launches = [], []
    for row in rows_of(table):
        if row["kernel"].startswith("mark"): # the end of a program
            programs.append(launches)
            launches = []
        else:
            launches.append(row)
    print("case,predicted_us,limiter,unknown")
    for name, launches in zip(ran.stdout.split(), programs, strict=True):
        unknown = [row["unknown"] for row in launches if row["unknown"]]
        if unknown:
            print(f"{name},,,{unknown[0]}")
            continue
        most = max(launches, key=lambda row: float(row["predicted_us"]))
        print(f"{name},{sum(float(row['predicted_us']) for row in launches):.4f},{most['limiter']},")


def compare(predicted, measured):
    times = {row["case"]: float(row["us"]) for row in rows_of(measured)}
    rows = rows_of(predicted)
    print(",".join([*rows[0], "median_us"]))
    for row in rows:
        print("%s,%.4f" % (",".join(row.values()), times[row["case"]]))


(compare if sys.argv[1].endswith(".csv") else predict)(*sys.argv[1:])
