#!/usr/bin/env python3
"""How fast the CPU device runs: thread instructions per second on one core.

    [B=build] tests/simt/bench/bench.py [ELEMENTS]      default 4,000,000

Prints the rate of each kernel of a reduction ladder with counting and with --check, a tiled
128 x 128 x 128 matrix product, and each lab in $B/labs as a whole. `make bench-simt` runs it.
DESIGN section 6 sets the goals."""
import glob
import os
import resource
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import suite

COUNTING, CHECKING, MATMUL_MS = 1.0, 0.3, 50.0


def instructions(table):
    """Thread instructions by kernel, and their sum."""
    by_name = {}
    for row in suite.csv_rows(table):
        name = suite.kernel_base(row["kernel"])
        by_name[name] = by_name.get(name, 0) + int(row["thread_insts"])
    return by_name, sum(by_name.values())


def ladder(tests, program, options, elements, goal):
    table = tests.file("ladder.csv")
    result = suite.simt(["--threads", "1", *options, "--csv", table, program, "time", elements], 600)
    if result.status != 0:
        sys.exit("\n".join(result.tail()))
    counts, _ = instructions(table)
    for line in result.out.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "time" and words[1] in counts:
            rate = counts[words[1]] / float(words[2]) / 1e6
            print("%-22s %-9s %12d insts %9.1f ms %7.2f G/s%s" % (
                words[1], " ".join(options) or "counting", counts[words[1]], float(words[2]), rate,
                "" if rate >= goal else "   below the goal of %.1f" % goal))


def matmul(tests, program):
    result = suite.simt([program, "5"], 60)
    best = [line.split()[1] for line in result.out.splitlines() if line.startswith("best_ms ")]
    if not best:
        sys.exit("\n".join(result.tail()))
    print("%-22s %-9s %36s ms%s" % ("matmul 128^3", "counting", best[0], "" if float(best[0]) <
                                    MATMUL_MS else "   above the goal of %.0f" % MATMUL_MS))


def labs(tests):
    table, total = tests.file("lab.csv"), 0
    for program in sorted(glob.glob(os.path.join(suite.BUILD, "labs", "*"))):
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            continue
        start = time.time()
        result = suite.simt(["--csv", table, program], 600)
        seconds = time.time() - start
        if result.status != 0:
            print("%-32s %s" % (os.path.basename(program), result.tail()))
            continue
        total += seconds
        print("%-32s %15d insts %9.1f s with all cores, program and report included" % (
            os.path.basename(program), instructions(table)[1], seconds))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print("all labs: %.1f s; greatest memory of any run: %.0f MB" % (total, peak))


def main():
    if not suite.NVCC:
        sys.exit("bench-simt: no nvcc")
    elements = sys.argv[1] if len(sys.argv) > 1 else "4000000"
    tests = suite.Suite("simt-bench")
    told = [suite.path("foreign", "told.h")]
    program = tests.compile(suite.path("foreign", "ladder.cu"), inputs=told)
    product = tests.compile(suite.path("foreign", "matmul.cu"), inputs=told)
    if not program or not product:
        sys.exit(1)
    ladder(tests, program, [], elements, COUNTING)
    ladder(tests, program, ["--check"], elements, CHECKING)
    matmul(tests, product)
    labs(tests)


if __name__ == "__main__":
    main()
