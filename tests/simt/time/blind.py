#!/usr/bin/env python3
"""Predicts kernels whose times were predicted before they were measured: blind.cu, used to improve the model since, and mixed.cu.

    blind.py PROGRAM MACHINE.csv [FLAG...]  writes the predictions: case,predicted_us,limiter
    blind.py PREDICTED.csv MEASURED.csv     with what the program printed on a GPU beside them: results/predicted/
                                            DEVICE-seen.csv, DEVICE-blind.csv, and DEVICE-drawn.csv of a second seed"""
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
    launches = [row for row in rows_of(table) if not row["kernel"].startswith("mark")]
    print("case,predicted_us,limiter")
    for name, launch in zip(ran.stdout.split(), launches, strict=True):
        print(f"{name},{launch['predicted_us']},{launch['limiter']}")


def compare(predicted, measured):
    times = {row["case"]: float(row["us"]) for row in rows_of(measured)}
    print("case,predicted_us,limiter,median_us")
    for row in rows_of(predicted):
        print("%s,%s,%s,%.4f" % (row["case"], row["predicted_us"], row["limiter"], times[row["case"]]))


(compare if sys.argv[1].endswith(".csv") else predict)(*sys.argv[1:])
