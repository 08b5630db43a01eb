"""lives.py: when which warp of a block does what: data of machine.py's pictures.

Which warps add on a level, how many barriers there are and how many blocks fit follows from the
kernels' shapes, and how much of the time a place is filled was measured. How long a phase takes is
drawn, not measured.
"""

from floors import THREADS as RESIDENT
from shapes import busy_warps, distances, levels_of

LOAD, LEVEL, WARP_LEVEL = 6, 1.0, 0.55  # lengths of the phases, in units of a level


def block_life(title, threads, alone_from=0):
    """A block with the sequential tree. From distance `alone_from` down warp 0 goes on without barriers,
    and the others have ended."""
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
        "05": ("Chapter 5: all warps come to every barrier", 0),
        "06": ("Chapter 6: from 32 threads on, the last warp alone", 32),
    }
    return {"warps": threads // 32, "panels": [block_life(about[c][0], threads, about[c][1]) for c in chapters]}


def block_after_block(row, rows, tree, share, end):
    """A place of an SM: blocks one after the other, none in step with those of other rows, and a block
    in it for `share` of the time."""
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
    """The places for blocks of so many threads. warps_pct: how many warps there were of those that fit."""
    most = RESIDENT // threads
    rows = [block_after_block(k, most, tree_length(threads), warps_pct / 100, end) for k in range(most)]
    note = f"{most} places, filled {warps_pct:.0f} % of the time"
    return {"title": title, "note": note, "rows": rows, "high": high}


def profiled(table, chapter, kernel):
    """The share of warps that Nsight Compute saw, of the largest n, or None."""
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
        "note": f"{RESIDENT // threads} places, filled {full:.0f} % of the time",
        "rows": [[["load", 0, end - tree], ["add", end - tree, tree]]] * (RESIDENT // threads),
        "high": 0.11,
    }
    return {"device": table.facts["device"], "end": end, "panels": [many, one]}
