"""Writes the tables of appendix B from what record_h200.sh brought back.

    python3 agreement.py NCU.csv SIMT.csv TABLE.csv KERNELS.csv

TABLE has one row for each lab, and one for all. equal: launches in which all counters are equal to the
last digit; noise, waiting, ptxas: the others, by why (compare_ncu.reason_for); other: no reason,
listed on standard output. Launches of shapes that only the GPU made are left out. KERNELS has one
row for each kernel of the chapters up to KERNELS_LAST, with the warp instructions of all its
launches. The other tables are the suites' own.
"""
import csv
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_ncu

KERNELS_LAST = "10"
VERDICTS = ("equal", *compare_ncu.REASONS, "other")


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def write(path, columns, rows, facts=()):
    new = f"{path}.new"
    with open(new, "w", newline="") as file:
        file.writelines("# %s\n" % fact for fact in facts)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    os.replace(new, path)


def kernel_of(name):
    """A kernel of a table; those of CUB's DeviceReduce have template arguments that fill a page."""
    kernel = compare_ncu.plain_name(name)
    return kernel.split("<")[0] if kernel.startswith("DeviceReduce") else kernel


def ncu(measured, counted, table, kernels_table):
    pairs, complaints, notes = compare_ncu.pair_up(rows_of(counted), rows_of(measured))
    for complaint in complaints + notes:
        print(complaint)
    labs, kernels = {}, {}
    for mine, hardware in pairs:
        found = compare_ncu.differences(mine, hardware)
        for counter, x, y, reason in found:
            if not reason:
                print("%s: %s grid %s: %s: %s, ncu %s" % (
                    mine["lab"], mine["kernel"], mine["grid"], counter, x, y))
        reasons = {reason or "other" for *_, reason in found}
        verdict = next((v for v in reversed(VERDICTS) if v in reasons), "equal")
        chapter, kernel = mine["lab"][:2], kernel_of(mine["kernel"])
        for lab in (chapter, "all"):
            labs.setdefault(lab, []).append((kernel, verdict))
        kernels.setdefault((chapter, kernel), []).append((mine, hardware))
    write(table, ["chapter", "kernels", "launches", *VERDICTS], [
        [lab, len({kernel for kernel, _ in launches}), len(launches),
         *map([verdict for _, verdict in launches].count, VERDICTS)]
        for lab, launches in sorted(labs.items())])
    write(kernels_table, ["chapter", "kernel", "PTX_instructions", "machine_instructions"], [
        [*key, sum(compare_ncu.number(mine, "warp_insts") for mine, _ in launches),
         sum(compare_ncu.number(hardware, "smsp__inst_executed.sum") for _, hardware in launches)]
        for key, launches in sorted(kernels.items()) if key[0] <= KERNELS_LAST])


def sanitizer(recorded, passed):
    """The columns and the rows of compute-sanitizer's table; `passed`: the cases that the CPU device gets
    right. A report is at the line, or elsewhere, which of a right twin is a false alarm, or without a
    line; the first of these counts. No report at all is silence, unless a tool did not end."""
    verdicts = ("at the line", "elsewhere", "without a line", "time limit", "clean")
    kinds = {}
    for row in rows_of(recorded):
        said = " ".join(row[tool] for tool in ("memcheck", "racecheck", "initcheck", "synccheck"))
        kind = "right twins, no hazard" if row["expected"].startswith("none") else row["expected"]
        kinds.setdefault(kind, []).append((row["case"] in passed, next(v for v in verdicts if v in said)))
    rows = []
    for kind, cases in sorted(kinds.items(), key=lambda item: (item[0].startswith("right"), item[0])):
        count = [sum(verdict == v for _, verdict in cases) for v in verdicts]
        rows.append([kind, len(cases), sum(ok for ok, _ in cases), *count])
    return ["kind", "kernels", "CPU_device_right", "sanitizer_at_the_line", "sanitizer_elsewhere",
            "sanitizer_without_a_line", "sanitizer_hangs", "sanitizer_silent"], rows


if __name__ == "__main__":
    ncu(*sys.argv[1:])
