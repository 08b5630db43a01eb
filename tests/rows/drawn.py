#!/usr/bin/env python3
"""Sums up the cases that contest.py has timed: prints a line for each kind and peer.

    tests/rows/drawn.py results/compare-drawn-cases.csv >results/compare-drawn.csv

cases           how many the peer was timed in
peer_over_ours  the peer's time divided by ours, geometric mean
over            in how many cases ours takes more than 1.05 times the peer's time; of the ceiling's, more than 1.25 times
ours_over_peer  our time divided by the peer's, where that is greatest
case            where that is
"""
import csv
import math
import statistics
import sys

OVER = {"cub": 1.05, "torch": 1.05, "ceiling": 1.25}


def words(case):
    """Such as `2499 x 8940 cold from 6`: the shape, the cache's state, floats from an aligned address."""
    shape = {"sum": "{n}", "ragged": "{rows} rows {n} {spread}"}.get(case["kind"], "{rows} x {cols}")
    return (shape + " {state}" + (" from {skip}" if case["skip"] != "0" else "")).format(**case)


def main():
    with open(sys.argv[1]) as file:
        lines = dict.fromkeys(file.read().splitlines())  # a second run has the same head
    cases = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    print(*(line for line in lines if line.startswith("#")), "kind,peer,cases,peer_over_ours,over,ours_over_peer,case", sep="\n")
    for kind in dict.fromkeys(case["kind"] for case in cases):
        for peer in OVER:
            ratios = [(float(case["ours"]) / float(case[peer]), words(case))
                      for case in cases if case["kind"] == kind and case[peer]]
            if ratios:
                mean = math.exp(statistics.fmean(-math.log(ratio) for ratio, _ in ratios))
                over = sum(ratio > OVER[peer] for ratio, _ in ratios)
                print("%s,%s,%d,%.2f,%d,%.2f,%s" % (kind, peer, len(ratios), mean, over, *max(ratios)))


if __name__ == "__main__":
    main()
