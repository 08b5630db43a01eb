"""Writes the tables of appendix B from what record_h200.sh brought back.

    python3 agreement.py ncu NCU.csv SIMT.csv TABLE.csv
    python3 agreement.py sanitizer SANITIZER.csv CORPUS.log TABLE.csv

ncu: one row for each lab, and one for all. equal: launches in which all counters are equal to the
last digit; noise, waiting, ptxas: the others, by why (compare_ncu.reason_for); other: no reason,
listed on standard output. Launches of shapes that only the GPU made are left out. Sums are CPU
device / Nsight Compute. sanitizer: one row for each kind of wrong kernel; CORPUS.log is what
tests/simt-corpus/run printed.
"""
import csv
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_ncu

VERDICTS = ("equal", *compare_ncu.REASONS, "other")


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def write(path, columns, rows, facts=()):
    with open(path + ".new", "w", newline="") as file:
        file.writelines("# %s\n" % fact for fact in facts)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    os.replace(path + ".new", path)


def ncu(measured, counted, target):
    pairs, complaints, notes = compare_ncu.pair_up(rows_of(counted), rows_of(measured))
    for complaint in complaints + notes:
        print(complaint)
    labs, verdicts = {}, {}
    for mine, hardware in pairs:
        found = compare_ncu.differences(mine, hardware)
        for counter, x, y, reason in found:
            if not reason:
                print("%s: %s grid %s: %s: %s, ncu %s" % (
                    mine["lab"], mine["kernel"], mine["grid"], counter, x, y))
        reasons = {reason or "other" for *_, reason in found}
        verdict = next((v for v in reversed(VERDICTS) if v in reasons), "equal")
        for lab in (mine["lab"][:2], "all"):
            labs.setdefault(lab, []).append((mine, hardware))
            verdicts.setdefault(lab, []).append(verdict)
    rows = []
    for chapter, launches in sorted(labs.items()):
        kernels = {compare_ncu.plain_name(mine["kernel"]) for mine, _ in launches}

        def both(counter):
            metric = compare_ncu.COUNTERS[counter]
            return "%d / %d" % (sum(compare_ncu.number(mine, counter) for mine, _ in launches),
                                sum(compare_ncu.number(hardware, metric) for _, hardware in launches))

        def total(column, side):
            return sum(compare_ncu.number(launch[side], column) or 0 for launch in launches)

        rows.append([chapter, len(kernels), len(launches), *map(verdicts[chapter].count, VERDICTS),
                     both("shared_ld_wavefronts"), both("shared_ld_conflicts"),
                     both("shared_st_wavefronts"), both("global_ld_sectors"),
                     both("global_st_sectors"), total("warp_insts", 0),
                     total("smsp__inst_executed.sum", 1)])
    write(target, ["chapter", "kernels", "launches", *VERDICTS,
                   "shared_load_wavefronts", "shared_load_conflicts", "shared_store_wavefronts",
                   "global_load_sectors", "global_store_sectors", "PTX_instructions",
                   "machine_instructions"], rows)


def sanitizer(recorded, corpus, target):
    with open(corpus) as log:
        passed = set(re.findall(r"^ok simt-corpus: (\w+): ", log.read(), re.M))
    kinds = {}
    for row in rows_of(recorded):
        found = [row[tool] for tool in ("memcheck", "racecheck", "initcheck", "synccheck")]
        if any("at the line" in f for f in found):
            verdict = "at_the_line"
        elif any("elsewhere" in f for f in found):
            verdict = "elsewhere"
        elif any("time limit" in f for f in found):
            verdict = "hangs"
        else:
            verdict = "silent"
        kind = "right twins, no hazard" if row["expected"].startswith("none") else row["expected"]
        kinds.setdefault(kind, []).append((row["case"] in passed, verdict))
    rows = []
    for kind, cases in sorted(kinds.items(), key=lambda item: (item[0].startswith("right"), item[0])):
        count = [sum(verdict == v for _, verdict in cases)
                 for v in ("at_the_line", "elsewhere", "hangs", "silent")]
        rows.append([kind, len(cases), sum(ok for ok, _ in cases), *count])
    write(target, ["kind", "kernels", "CPU_device_right", "sanitizer_at_the_line",
                   "sanitizer_elsewhere", "sanitizer_hangs", "sanitizer_silent"], rows)


if __name__ == "__main__":
    {"ncu": ncu, "sanitizer": sanitizer}[sys.argv[1]](*sys.argv[2:])
