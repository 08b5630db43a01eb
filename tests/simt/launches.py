"""Programs that were recorded under Nsight Compute launch by launch, and their counts on the CPU
device: the same launches in the same order. Suites and record.py share this.
"""
import os
import re

import compare_ncu
import suite
from device import simt

COLUMNS = ("kernel", "grid", "block")
# Counters that the CPU device has only when it executes machine code.
INSTRUCTIONS = {
    "warp_insts": "smsp__inst_executed.sum",
    "thread_insts": "smsp__thread_inst_executed.sum",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
}
# lanes: only thread_insts differ, by a small share; instructions: all three of these counters do.
MACHINE_VERDICTS = ("equal", "noise", "lanes", "instructions", "waiting", "other")
CLOSE = 0.011  # the largest share of a kernel's instructions or lanes by which hardware may differ


def short_name(kernel):
    """A kernel's name in a common spelling; a library's kernel without its very long template
    arguments."""
    name = compare_ncu.plain_name(kernel)
    library = re.search(r"\b(cub|thrust)::", kernel.split("(")[0])
    return name.split("<")[0] if library or len(name) > 100 else name


def same_name(one, other):
    """Whether two names agree. ncu omits a library's namespaces: then one side has template arguments and
    the other only the name."""
    return one == other or ("<" in one) != ("<" in other) and one.split("<")[0] == other.split("<")[0]


def count(program, table, seconds=120, options=()):
    """Runs a program on the CPU device: (its result, one row for each launch)."""
    if os.path.exists(table):
        os.remove(table)
    result = simt([*options, "--csv", table, program], seconds)
    return result, suite.csv_rows(table) if os.path.exists(table) else []


def in_order(counted, measured):
    """([(mine, hardware)], complaints): the launches of one program, one after the other."""
    pairs, complaints = [], []
    if len(counted) != len(measured):
        complaints.append("%d launches on the CPU device, %d under ncu" % (len(counted), len(measured)))
    for number, (mine, hardware) in enumerate(zip(counted, measured), 1):
        names = [short_name(row["kernel"]) for row in (mine, hardware)]
        shapes = [[compare_ncu.shape(row[which]) for which in ("grid", "block")] for row in (mine, hardware)]
        if not same_name(*names) or shapes[0] != shapes[1]:
            complaints.append("launch %d is %s %s, under ncu %s %s" % (
                number, names[0], shapes[0], names[1], shapes[1]))
            break
        pairs.append((mine, hardware))
    compare_ncu.mark_varying(pairs)
    return pairs, complaints


class Bound:
    """The allowed difference of one kernel, and its reason: for counters whose names begin with `counters`,
    hardware's count is between `low` and `high` times the CPU device's."""

    def __init__(self, row):
        self.program, self.kernel, self.counters = row["program"], row["kernel"], row["counters"]
        self.low, self.high, self.used = float(row["low"]), float(row["high"]), False

    def allows(self, kernel, counter, mine, hardware):
        good = kernel == self.kernel and counter.startswith(self.counters) and \
            self.low * mine <= hardware <= self.high * mine
        self.used |= good
        return good


def verdict(mine, hardware, bounds=()):
    """(equal, noise, ptxas or other; a line for each counter without a reason) of one launch."""
    kernel, reasons, lines = short_name(mine["kernel"]), set(), []
    for counter, x, y, reason in compare_ncu.differences(mine, hardware):
        if not reason and any([bound.allows(kernel, counter, x, y) for bound in bounds]):
            reason = "ptxas"
        reasons.add(reason or "other")
        if not reason:
            lines.append(compare_ncu.told(mine, counter, x, y))
    for worst in ("other", "ptxas", "waiting", "noise"):
        if worst in reasons:
            return worst, lines
    return "equal", lines


def machine_verdict(mine, hardware, bounds=(), close=CLOSE):
    """(one of MACHINE_VERDICTS, lines) of a launch that was executed from machine code: instructions,
    lanes and divergent branches are compared too. A difference within a bound is `waiting`."""
    found, lines = verdict(mine, hardware, bounds)
    kernel, verdicts = short_name(mine["kernel"]), {"waiting" if found == "ptxas" else found}
    for counter, metric in INSTRUCTIONS.items():
        x, y = int(mine[counter]), compare_ncu.number(hardware, metric)
        if x == y:
            continue
        if any([bound.allows(kernel, counter, x, y) for bound in bounds]):
            verdicts.add("waiting")
        elif abs(y - x) > close * x:
            verdicts.add("other")
            lines.append(compare_ncu.told(mine, counter, x, y))
        else:
            verdicts.add("lanes" if counter == "thread_insts" else "instructions")
    return max(verdicts, key=MACHINE_VERDICTS.index), lines


def as_recorded(row):
    """A row as ncu would record it if hardware counted like this row: to test the comparison."""
    return {**{column: row[column] for column in COLUMNS},
            **{metric: row[counter] for counter, metric in {**compare_ncu.COUNTERS, **INSTRUCTIONS}.items()}}
