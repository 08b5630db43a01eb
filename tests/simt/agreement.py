"""The rows of appendix B's tables."""
import compare_ncu
import suite

VERDICTS = ("equal", *compare_ncu.REASONS, "other")


def kernel_of(name):
    """A kernel's name for a table, without the very long template arguments of CUB's DeviceReduce."""
    kernel = compare_ncu.plain_name(name)
    return kernel.split("<")[0] if kernel.startswith("DeviceReduce") else kernel


def worst(found, verdicts):
    """The verdict on a launch; `differences` are (counter, mine, hardware's, reason)."""
    return max({reason or "other" for *_, reason in found} or {"equal"}, key=verdicts.index)


def chapters(launches, verdicts):
    """The columns and the rows of a table of launches (mine, hardware's, what differs) by chapter."""
    told = [(mine["lab"][:2], kernel_of(mine["kernel"]), worst(found, verdicts)) for mine, _, found in launches]
    rows = []
    for chapter in [*sorted({chapter for chapter, *_ in told}), "all"]:
        some = [launch for launch in told if chapter in (launch[0], "all")]
        rows.append([chapter, len({kernel for _, kernel, _ in some}), len(some),
                     *map([verdict for *_, verdict in some].count, verdicts)])
    return ["chapter", "kernels", "launches", *verdicts], rows


def instructions(launches, last):
    """The same of the warp instructions of each kernel of the chapters up to `last`, all launches together."""
    sums = {}
    for mine, hardware, _ in launches:
        both = sums.setdefault((mine["lab"][:2], kernel_of(mine["kernel"])), [0, 0])
        both[0] += compare_ncu.number(mine, "warp_insts")
        both[1] += compare_ncu.number(hardware, "smsp__inst_executed.sum")
    return ["chapter", "kernel", "PTX_instructions", "machine_instructions"], [
        [*key, *both] for key, both in sorted(sums.items()) if key[0] <= last]


def sanitizer(recorded, passed):
    """The columns and the rows of compute-sanitizer's table; `passed`: the cases that the CPU device gets
    right. A report is at the line, elsewhere (for a right twin a false alarm), or without a line; the first
    of these counts. If there is no report, the verdict is clean, unless a tool did not end."""
    verdicts = ("at the line", "elsewhere", "without a line", "time limit", "clean")
    kinds = {}
    for row in suite.csv_rows(recorded):
        said = " ".join(row[tool] for tool in ("memcheck", "racecheck", "initcheck", "synccheck"))
        kind = "right twins, no hazard" if row["expected"].startswith("none") else row["expected"]
        kinds.setdefault(kind, []).append((row["case"] in passed, next(v for v in verdicts if v in said)))
    rows = []
    for kind, cases in sorted(kinds.items(), key=lambda item: (item[0].startswith("right"), item[0])):
        count = [sum(verdict == v for _, verdict in cases) for v in verdicts]
        rows.append([kind, len(cases), sum(ok for ok, _ in cases), *count])
    return ["kind", "kernels", "CPU_device_right", "sanitizer_at_the_line", "sanitizer_elsewhere",
            "sanitizer_without_a_line", "sanitizer_hangs", "sanitizer_silent"], rows
