"""timelines.py: data of the pictures of machine.py and protocols.py that show time.

The warps that add at each level, the barriers and the number of resident blocks follow from the kernels' shapes;
occupancy was measured. The durations of phases are illustrative.
"""

import csv
import re

from floors import THREADS as RESIDENT
from shapes import busy_warps, distances, levels_of
from tables import read_table

LOAD, LEVEL, WARP_LEVEL = 6, 1.0, 0.55  # durations of the phases, in units of a level


def block_life(title, threads, alone_from=0):
    """A block with the sequential tree. From distance `alone_from` down, warp 0 continues without barriers, and
    the others have ended."""
    rows = [[["load", 0, LOAD]] for _ in range(threads // 32)]
    now, barriers = LOAD, [LOAD]
    for d, adds in levels_of("sequential", threads):
        if d <= alone_from:
            rows[0].append(["add", now, WARP_LEVEL])
            now += WARP_LEVEL
            continue
        for warp, spans in enumerate(rows):
            spans.append(["add" if warp in busy_warps(adds, 32) else "wait", now, LEVEL])
        now += LEVEL
        barriers.append(now)
    return {"title": title, "rows": rows, "barriers": barriers}


def life_data(chapters, threads=256):
    """The life of a block in these chapters."""
    about = {
        "05": ("Chapter 5: all warps wait at every barrier", 0),
        "06": ("Chapter 6: from 32 threads on, the last warp alone", 32),
    }
    return {"warps": threads // 32, "panels": [block_life(about[c][0], threads, about[c][1]) for c in chapters]}


def block_after_block(row, rows, tree, share, end):
    """A slot of an SM: a sequence of blocks, out of step with those of other rows, that occupies `share` of the
    time."""
    busy = LOAD + tree
    each = busy / share
    now, spans = -each * ((row * 5) % rows) / rows, []
    while now < end:
        for kind, length in (("load", LOAD), ("add", tree), (None, each - busy)):
            start, stop = max(now, 0), min(now + length, end)
            if kind and start < stop:
                spans.append([kind, start, stop - start])
            now += length
    return spans


def tree_length(threads):
    """The levels with a block barrier, and those of the last warp."""
    return sum(LEVEL if d > 32 else WARP_LEVEL for d in distances("sequential", threads))


def places_panel(title, threads, warps_pct, end, high):
    """The slots for blocks of this size. warps_pct: the number of resident warps, in percent of the maximum."""
    most = RESIDENT // threads
    rows = [block_after_block(k, most, tree_length(threads), warps_pct / 100, end) for k in range(most)]
    note = f"{most} block slots, achieved occupancy {warps_pct:.0f} %"
    return {"title": title, "note": note, "rows": rows, "high": high}


def profiled(table, chapter, kernel):
    """The occupancy that Nsight Compute measured at the largest n, or None."""
    rows = [row for row in table.limits if (row["chapter"], row["kernel"]) == (chapter, kernel)]
    return max(rows, key=lambda row: row["n"])["warps_pct"] if rows else None


def sizes_data(table, end=60):
    """Chapter 7: small, middle and large blocks."""
    panels = []
    for threads, high in ((64, 0.05), (256, 0.11), (1024, 0.3)):
        share = profiled(table, "07", f"block_sum_unrolled_{threads}")
        if not share:
            return None
        panels.append(places_panel(f"Blocks of {threads:,} threads", threads, share, end, high))
    return {"device": table.facts["device"], "end": end, "panels": panels}


def stride_data(table, threads=256, end=60):
    """Chapter 8: a block for each slice, and a grid-stride loop."""
    share, full = profiled(table, "08", "block_sum_unrolled_256"), profiled(table, "08", "block_sum_grid_stride")
    if not share or not full:
        return None
    many = places_panel("Chapter 7: a block for every 512 elements", threads, share, end, 0.11)
    tree = tree_length(threads)
    one = {
        "title": "Grid-stride: the same blocks from beginning to end",
        "note": f"{RESIDENT // threads} block slots, achieved occupancy {full:.0f} %",
        "rows": [[["load", 0, end - tree], ["add", end - tree, tree]]] * (RESIDENT // threads),
        "high": 0.11,
    }
    return {"device": table.facts["device"], "end": end, "panels": [many, one]}


# --- chapters 10 and 11: actions of blocks over time, in inches; illustrative, not measured ---


def ticket_data():
    """Blocks in the order in which they finish, which may differ from their numbers."""
    return {"order": [0, 2, 1], "starts": [1.6, 2.65, 3.7]}


def mailbox_data():
    """Blocks 0 and 1 post; block 2 has already added its own part, and polls three times."""
    return {"starts": [1.75, 3.2, 2.2], "looks": 3}


# --- chapter 11: the input cut into vectors and edges ---


def edges_data(offset=72, n=77, line=128, vector=16, size=4):
    """reduce_split of code/reduce.cuh, for an input that starts `offset` bytes after a line."""
    head = min((line - offset % line) % line // size, n)
    vectors = (n - head) // (vector // size)
    return {
        "offset": offset // size,
        "n": n,
        "line": line // size,
        "vector": vector // size,
        "head": head,
        "vectors": vectors,
        "tail": n - head - vectors * (vector // size),
    }


# --- chapter 15: rings and trees ---


def step_of(state, sends, merge):
    """Does all sends (from, to, chunk) of a step at once: the receiver merges or replaces its chunk."""
    after = [list(map(set, row)) for row in state]
    for start, end, piece in sends:
        after[end][piece] = state[start][piece] | (state[end][piece] if merge else set())
    return after


def ring_data(gpus=4):
    """States of a ring all-reduce, [[which GPUs' elements each chunk contains] per GPU], and its sends."""
    state = [[{gpu}] * gpus for gpu in range(gpus)]
    steps = [{"sends": [], "state": state}]
    for k in range(2 * (gpus - 1)):
        merge = k < gpus - 1
        lag = k if merge else k - gpus  # a GPU's finished chunk has the number of its right neighbour
        sends = [[gpu, (gpu + 1) % gpus, (gpu - lag) % gpus] for gpu in range(gpus)]
        state = step_of(state, sends, merge)
        steps.append({"sends": sends, "state": state})
    return counted(steps)


def tree_data(gpus=4):
    """The same for a binary tree with a single chunk: up to GPU 0, and down again."""
    state = [[{gpu}] for gpu in range(gpus)]
    steps = [{"sends": [], "state": state}]
    distances = [1 << k for k in range((gpus - 1).bit_length())]
    for merge, order in ((True, distances), (False, distances[::-1])):
        for d in order:
            low = range(0, gpus - d, 2 * d)
            sends = [[gpu + d, gpu, 0] if merge else [gpu, gpu + d, 0] for gpu in low]
            state = step_of(state, sends, merge)
            steps.append({"sends": sends, "state": state})
    return counted(steps)


def counted(steps):
    """The number of GPUs whose elements are in each chunk."""
    return [{**s, "state": [[len(piece) for piece in row] for row in s["state"]]} for s in steps]


def all_reduce_data(gpus=4):
    return {"gpus": gpus, "ring": ring_data(gpus), "tree": tree_data(gpus)}


# --- loads in flight and predicted times, for the pictures of machine.py ---

TRIP, ISSUE, END = 10.0, 0.28, 42.0  # durations of a load and of an instruction, and the end of the picture
PANELS = (
    ("One warp, one load at a time: it waits", 1, 1, 0.0),
    ("One warp, four loads at a time: four arrive within one latency", 1, 4, 0.0),
    ("Eight warps: while one waits, the others load", 8, 1, 0.0),
    ("Eight warps, two loads at a time: memory is saturated, so each load takes longer", 8, 2, 9.0),
)


def trips_of(warps, loads, longer):
    """(start, end) of the loads of each warp, `loads` in sequence."""
    rows = []
    for warp in range(warps):
        trips, now = [], warp * (TRIP + longer) / warps * 0.9
        while now + loads * ISSUE < END:
            trips += [(now + k * ISSUE, min(now + k * ISSUE + TRIP + longer, END)) for k in range(loads)]
            now += loads * ISSUE + TRIP + longer + 2 * ISSUE
        rows.append(trips)
    return rows


def waits_data():
    return {"panels": [{"title": t, "loads": n, "rows": trips_of(w, n, more)} for t, w, n, more in PANELS]}


def loads_data(table):
    """The rate of an SM by bytes in flight, from L2 and from memory, and the latency of one load."""
    curves = []
    for title, key, latency in (("L2", "load_l2_", "latency_l2"), ("memory", "load_dram_", "latency_dram")):
        names = [name for name in table.machine if name.startswith(key) and name.removeprefix(key).isdigit()]
        points = sorted([int(name.removeprefix(key)), table.machine[name]] for name in names)
        if points and latency in table.machine:
            curves.append({"title": title, "points": points, "latency": table.machine[latency]})
    return {"device": table.facts["device"], "curves": curves} if curves else None


def predicted_data(table):
    """For each device with predictions, the table's own first: (measured us, predicted / measured, whether the
    kernel belongs to no lab) of its kernels whose times are not unknown."""
    folder, devices = table.path.parent / "predicted", {table.path.stem: []}
    for path in sorted(folder.glob("*.csv"), key=lambda path: path.stem):
        name = re.sub("-(seen|blind|drawn|unseen)$", "", path.stem)
        if not (folder.parent / f"{name}.csv").exists():
            continue
        for row in csv.DictReader(line for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#"):
            if row.get("median_us") and row["predicted_us"]:
                measured = float(row["median_us"])
                devices.setdefault(name, []).append([measured, float(row["predicted_us"]) / measured, name != path.stem])
    name_of = lambda name: read_table(folder.parent / f"{name}.csv", "device").facts["device"]
    found = [{"device": name_of(name), "points": points} for name, points in devices.items() if points]
    return {"devices": found} if found else None


# --- a divergent warp, from the CPU device's trace, for the picture in counts.py ---


def instructions_of(rows):
    """The rows of one warp as [op, bytes, accesses], None for a barrier.

    Accesses are [lane, address]. A trace lists the lanes of an instruction in ascending order, so a lane
    that is not larger than the previous one, or another line of code, starts the next instruction.
    """
    instructions, key, last = [], None, -1
    for row in rows:
        if row["space"] == "barrier":
            instructions.append(None)
            key = None
        elif row["space"] == "shared":
            here = (row["op"], row["bytes"], row["line"])
            if here != key or row["lane"] <= last:
                instructions.append([row["op"], row["bytes"], []])
            instructions[-1][2].append([row["lane"], row["address"]])
            key, last = here, row["lane"]
    return instructions


def lanes_data(folder, name):
    """The lanes of the first warp of a trace at each of its accesses to shared memory; None for a barrier."""
    path = folder / f"trace-{name}.csv"
    table = read_table(path, "trace") if path.exists() else None
    launches = {}
    for row in table.rows if table else []:
        launches.setdefault(row["launch"], []).append(row)
    if not launches:
        return None
    rows = max(launches.values(), key=len)
    first = (rows[0]["block"], rows[0]["warp"])
    times = instructions_of([row for row in rows if (row["block"], row["warp"]) == first])
    steps = [access and [access[0], [lane for lane, _ in access[2]]] for access in times]
    return {"kernel": rows[0]["kernel"], "steps": steps}
