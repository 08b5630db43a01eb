#!/usr/bin/env python3
"""Prints chapter 16's table of calls that sum ragged rows, from a recording of its lab with a newer CUB.

    tests/rows/peers.py results/nvidia-h200-newest.csv >results/compare-peers.csv

A line for each size, way to call and library, in microseconds; ratio: the fastest peer's time divided by ours.
"""
import csv
import itertools
import sys

KINDS = {"equal": "64_each", "random": "0_to_128", "power": "power_law", "giant": "a_giant"}
CALLS = {"rows_ragged": "ours", "cusparse": "cuSPARSE, CSR × ones", "cub_by_key": "CUB, ReduceByKey",
         "cub_bounded": "CUB, max_segment_size given", "cub_offsets": "CUB, offsets only"}
WAYS = {"graph": "", "stream": "_calls"}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    rows = [row for row in csv.DictReader(line for line in lines if not line.startswith("#")) if row["chapter"] == "16"]
    us = {(row["kernel"], int(row["n"])): float(row["median_us"]) for row in rows}
    print(*(line for line in lines if line.startswith(("# device", "# cub", "# toolkit", "# date"))), sep="\n")
    print("n,way,call", *KINDS.values(), sep=",")
    sizes = sorted(n for kernel, n in us if kernel == "cusparse_equal")
    for n, (way, suffix) in itertools.product(sizes, WAYS.items()):
        times = {call: [us[f"{call}_{kind}{suffix}", n] for kind in KINDS] for call in CALLS}
        for call, found in times.items():
            print(f'{n},{way},"{CALLS[call]}"', *("%.2f" % t if t < 100 else "%.0f" % t for t in found), sep=",")
        print(f"{n},{way},ratio", *("%.2f" % (min(of[1:]) / of[0]) for of in zip(*times.values())), sep=",")


if __name__ == "__main__":
    main()
