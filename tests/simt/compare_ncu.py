"""Compares counters of the CPU device with those of Nsight Compute, launch by launch.

    python3 compare_ncu.py NCU.csv SIMT.csv

The same runs of the labs, on an H200 under ncu (tests/recorded/h200-labs.csv) and on the CPU device
(simt --csv, with a column `lab`). Lists every launch that differs for no known reason (see reason_for());
exit status 1 if there is one. Launches on one side only are counted in a note: on a GPU, a lab also times its
kernels, and runs one more, read_ceiling.
"""
import csv
import io
import math
import re
import sys

# Labs whose kernels have changed since they were recorded: record them again, and remove them from this list.
TO_BE_RECORDED = []

# CSV column of the CPU device: metric of Nsight Compute.
COUNTERS = {
    "shared_ld_insts": "smsp__sass_inst_executed_op_shared_ld.sum",
    "shared_ld_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_ld_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_st_insts": "smsp__sass_inst_executed_op_shared_st.sum",
    "shared_st_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_st_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "global_ld_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_ld_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_st_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_st_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
# Recorded for the book but not compared, because ptxas changes instructions and branches.
OTHERS = ["smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
          "smsp__sass_branch_targets_threads_divergent.sum",
          "smsp__sass_branch_targets_threads_uniform.sum", "smsp__inst_executed_op_branch.sum"]
# Arbitration noise, as a share of the wavefronts: mostly below a tenth, and in small launches one or two
# events (18 instead of 16). More is accepted as noise only if another run of the same launch had a
# different count (96 to 106 instead of 80, where four groups of warps load and store independently;
# 571 and 589 instead of 490, with other warps spinning).
NOISE, FEW, SEEN_TO_VARY = 0.1, 2, 1 / 3
# If one thread reads values and their indices with eight successive 16-byte loads (as the machine code
# shows), hardware counted up to one wavefront more for each load, and in the next launch of that shape
# none (155 and 112 instead of 112).
ONE_THREAD, ONE_MORE_EACH = re.compile("reduce_argmax_"), 1
# In CUB's block reduction one thread reads the warps' sums one by one, at constant addresses. ptxas
# merges these loads: seven become LDS, LDS.64 and LDS.128.
CUB = ("block_sum_cub_warps", "DeviceReduceKernel", "DeviceReduceSingleTileKernel",
       "DeviceSegmentedReduceKernel")
# Kernels for which hardware counts differently for a known reason: the counts y that it may have if the CPU
# device counts x in a launch of that many blocks, and how many more requests. Kernels that wait for other
# blocks read their mailboxes repeatedly, and then empty them: how often, and how many lanes at a time,
# depends on timing. One spin read loads each word of a result, with at most one sector per lane. ptxas
# loads the warps' minima 16 bytes at a time. For a value and its index it makes 34 loads instead of 49,
# and one store less; for mean and variance it loads two words at a time. In sum_cluster it merges two of
# the loads with which the first block of each cluster, of up to 16 blocks or of 8, reads the sums. The
# machine code shows all this, and `simt --machine` counts the same. If a block has several warps, each also reads the ticket that its block has drawn.
MAILBOXES = re.compile("reduce_kernel|sum_bulk|sum_cluster|sum_overlapped|sum_by_index|sum_exact|mean_variance|"
                       "reduce_(sum|min|max|product|argmax)_(float|double|half|int)")


def words_of(kernel):
    """The number of four-byte words of a block's result, by a kernel's plain name."""
    if kernel == "reduce_argmax_double":
        return 4
    if kernel == "mean_variance":
        return 3
    if kernel == "sum_exact":
        return 12
    return 2 if re.search("double|[aA]rg|naive", kernel) else 1


def looked_again(kernel, counter, x, y, blocks, requests):
    """Whether a kernel with mailboxes may have read or emptied them that often."""
    words = words_of(kernel)
    if not MAILBOXES.match(kernel) or not counter.startswith("global") or blocks == 1 or y <= x:
        return False
    most, looks = 2 * words * blocks, words * math.ceil(blocks / 32)  # the reads that both make at least
    return y - x <= (most if counter.endswith("requests") else max(most, 32 * (requests + looks)))


EXCEPTIONS = [
    (("sum_grid_sync",), "global_ld", "waiting", lambda x, y, blocks: blocks > 1),
    (CUB, "shared_ld_insts", "ptxas", lambda x, y, blocks: 3 * x <= 7 * y <= 4 * x),
    (("reduce_kernel",), "shared_ld", "ptxas", lambda x, y, blocks: x == 4 * y),
    (("reduce_argmax_double",), "shared_ld", "ptxas", lambda x, y, blocks: 34 * x == 49 * y),
    (("reduce_argmax_double",), "global_st", "ptxas", lambda x, y, blocks: x - y == 1),
    (("mean_variance",), "shared_ld_insts", "ptxas", lambda x, y, blocks: 4 * x <= 5 * y < 5 * x),
    (("sum_cluster",), "shared_ld", "ptxas", lambda x, y, blocks: x - y in (1, blocks // 8)),
]
REASONS = ("noise", "waiting", "ptxas")
METRICS = list(COUNTERS.values()) + OTHERS


def parse_ncu(text):
    """The rows of `ncu --csv --page raw`: a header, a row of units, one row for each launch."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    rows = []
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        if not (row.get("ID") or "").isdigit():
            continue  # units
        kept = {"kernel": row["Kernel Name"], "grid": row["Grid Size"], "block": row["Block Size"]}
        for metric in METRICS:
            if row.get(metric):
                kept[metric] = row[metric].replace(",", "")
        rows.append(kept)
    return rows


def plain_name(kernel):
    """One spelling for both sides: no return type, parameters, namespaces, casts or blanks."""
    kernel = re.sub(r"^(static )?void ", "", kernel.strip())
    kernel = re.sub(r"\((?:unsigned )?(?:int|bool|long|short|char|long long)\)(?=[-\d\w])", "",
                    kernel)
    kernel = re.sub(r"\([\w:]+\)(?=-?\d)", "", kernel)  # an enumerator: (cub::BlockScanAlgorithm)2
    depth, end = 0, len(kernel)
    for i, c in enumerate(kernel):
        depth += c == "<"
        depth -= c == ">"
        if c == "(" and depth == 0 and not kernel[i:].startswith("(anonymous"):
            end = i
            break
    name = re.sub(r"(\w+) const\b", r"const \1", re.sub(r"\w+::", "", kernel[:end]))
    name = re.sub(r"\s+", "", name).replace("true", "1").replace("false", "0")
    return re.sub(r"(?<=\d)u?l{0,2}(?=[,>])", "", name)  # 256u, 4ul


def shape(text):
    """'(4, 1, 1)' or '4x1x1' or '4' -> (4, 1, 1)."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return tuple(numbers + [1] * (3 - len(numbers)))


def number(row, column):
    value = row.get(column)
    return None if value in (None, "", "n/a") else round(float(value))


def reason_for(counter, mine, hardware):
    """Why hardware counts differently, one of REASONS, or "" if that is a fault.

    noise: shared wavefronts and conflicts are both a little higher, by the same number; more than a
    little only if they vary (mark_varying). waiting and ptxas: one of EXCEPTIONS allows it.
    """
    whole, blocks = plain_name(mine["kernel"]), math.prod(shape(mine["grid"]))
    kernel = whole.split("<")[0]
    both = lambda name: (number(mine, name), number(hardware, COUNTERS[name]))
    drawn = blocks * (math.prod(shape(mine["block"])) // 32) if blocks > 1 and MAILBOXES.match(kernel) else 0
    for kernels, counters, reason, allowed in EXCEPTIONS:
        if kernel in kernels and counter.startswith(counters):
            alike = drawn if counters.startswith("shared_ld") else 0
            if allowed(*(count - alike for count in both(counter)), blocks):
                return reason
    if counter.startswith("global"):
        requests = both(counter.rsplit("_", 1)[0] + "_requests")
        more = looked_again(whole, counter, *both(counter), blocks, requests[1] - requests[0])
        return "waiting" if more else ""
    match = re.fullmatch("(shared_(?:ld|st))_(?:wavefronts|conflicts)", counter)
    if not match:
        return ""
    insts, waves, conflicts = [both(match[1] + what) for what in ("_insts", "_wavefronts", "_conflicts")]
    if None in insts + waves + conflicts:
        return ""
    # Each load is by one thread or at one address, so it is one wavefront.
    joined = kernel in (*CUB, "mean_variance", "reduce_argmax_double") and match[1] == "shared_ld"
    right = insts[1] if joined else waves[0]
    more = waves[1] - right
    varying = ONE_MORE_EACH if ONE_THREAD.match(kernel) else SEEN_TO_VARY
    most = max(FEW, (varying if match[1] in hardware.get("varying", ()) else NOISE) * right)
    if more != conflicts[1] - conflicts[0] or not 0 <= more <= most:
        return ""
    return "noise" if more else "ptxas" if joined else ""


def differences(mine, hardware):
    """[(counter, mine, hardware, reason)] of one launch."""
    found = []
    for counter, metric in COUNTERS.items():
        x, y = number(mine, counter), number(hardware, metric)
        if y is not None and x != y:
            found.append((counter, x, y, reason_for(counter, mine, hardware)))
    return found


def told(mine, counter, x, y):
    """The line that says how a launch differs."""
    return "%s grid %s block %s: %s: CPU device %s, ncu %s" % (
        plain_name(mine["kernel"]), mine["grid"], mine["block"], counter, x, y)


def mark_varying(pairs):
    """Which of shared_ld and shared_st hardware counted differently in launches of one shape, whose
    shared accesses the CPU device counts alike: set as "varying" in the hardware's rows."""
    same = {}
    for mine, hardware in pairs:
        shared = [counter for counter in COUNTERS if counter.startswith("shared")]
        alike = tuple(mine.get(name) for name in ("lab", "kernel", "grid", "block", *shared))
        same.setdefault(alike, []).append(hardware)
    for launches in same.values():
        varying = {what for what in ("shared_ld", "shared_st")
                   if len({number(row, COUNTERS[what + "_wavefronts"]) for row in launches}) > 1}
        for row in launches:
            row["varying"] = varying


def sample(launches):
    """Selects the first and the last launch of one kernel for each grid and block, in order, each with
    `skipped`, the number of launches left out just before it."""
    ends = {}
    for k, row in enumerate(launches):
        ends.setdefault((row["grid"], row["block"]), [k, k])[1] = k
    kept = sorted(set(sum(ends.values(), [])))
    return [{"skipped": k - before - 1, **launches[k]} for before, k in zip([-1, *kept], kept)]


def pair_up(counted, measured):
    """Launches in order, lab by lab and kernel by kernel: ([(mine, hardware)], complaints, notes)."""
    pairs, complaints, alone = [], [], {}
    queues = {}
    for row in counted:
        queues.setdefault((row["lab"], plain_name(row["kernel"])), []).append(row)
    shapes = {(row["lab"], plain_name(row["kernel"]), shape(row["grid"])) for row in counted}
    for row in measured:
        key = (row["lab"], plain_name(row["kernel"]))
        if not queues.get(key) or (*key, shape(row["grid"])) not in shapes:
            alone[key] = alone.get(key, 0) + 1
            continue
        del queues[key][:int(row.get("skipped") or 0)]
        if not queues[key]:
            complaints.append("%s: %s: fewer launches on the CPU device than were recorded" % key)
            continue
        mine = queues[key].pop(0)
        if shape(mine["grid"]) != shape(row["grid"]) or shape(mine["block"]) != shape(row["block"]):
            complaints.append("%s: %s: grid %s block %s, on the CPU device %s and %s" % (
                *key, row["grid"], row["block"], mine["grid"], mine["block"]))
            continue
        pairs.append((mine, row))
    mark_varying(pairs)
    notes = ["note: %s: %s: %d launches under ncu only" % (*key, alone[key]) for key in alone]
    notes += ["note: %s: %s: %d launches on the CPU device only" % (*key, len(queues[key]))
              for key in queues if queues[key]]
    return pairs, complaints, notes


def read_rows(name):
    """The launches of a CSV file in order. A row is `launches` successive equal launches. Before each
    of them the recording left out `skipped` launches of its kernel."""
    with open(name, newline="") as text:
        rows = csv.DictReader(line for line in text if not line.startswith("#"))
        return [dict(row) for row in rows for _ in range(int(row.pop("launches", 1)))]


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: compare_ncu.py NCU.csv SIMT.csv")
    pairs, complaints, notes = pair_up(read_rows(arguments[1]), read_rows(arguments[0]))
    lines = ["%s: %s" % (mine["lab"], told(mine, counter, x, y)) for mine, hardware in pairs
             for counter, x, y, reason in differences(mine, hardware) if not reason]
    print("\n".join(notes + complaints + lines))
    print("%d launches compared, %d differences" % (len(pairs), len(complaints) + len(lines)))
    return 1 if complaints or lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
