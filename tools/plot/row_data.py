"""row_data.py: data of the pictures in row_scenes.py and row_curves.py.

The assignment of rows, the swaps of halves and the shares of ragged rows follow code/reduce_rows.cuh; tests/plot
compares them with recorded traces of the CPU device. Everything else was measured.
"""

import math
import re
from collections import Counter

from floors import first_of

VECTOR = 4  # floats in 16 bytes
PER = 4  # vectors per thread if a block has the row


# --- assignment of rows ---


def lanes_of(cols):
    """rows_with_lanes() for aligned rows of floats: lanes per row, and vectors per lane."""
    vectors = -(-cols // VECTOR)
    if vectors <= 1:
        return 1, 1
    return next(((lanes, 2) for lanes in (1, 2, 4, 8, 16, 32) if vectors <= 2 * lanes), (32, 4))


def threads_of(cols):
    """rows_reduce(): threads of a row's block, or 0 if lanes of a warp take the row."""
    bytes_of_row = 4 * cols
    if bytes_of_row <= 2048:
        return 0
    return next((t for t in (64, 128, 256) if bytes_of_row <= 64 * t + 64), 512)


def lanes_panel(cols, elements):
    """Rows of this length with their lanes: the vectors that each lane loads, and the shuffles."""
    lanes, per = lanes_of(cols)
    vectors = cols // VECTOR
    return {
        "cols": cols,
        "rows": elements // cols,
        "lanes": lanes,
        "loads": [[v, v % lanes] for v in range(vectors)],
        "distances": [1 << k for k in range(lanes.bit_length() - 1)][::-1],
        "most": lanes * per * VECTOR,  # the longest row that these lanes read at once
    }


def block_panel(cols):
    """A row for one block: which warp loads each part of 32 vectors."""
    threads = threads_of(cols)
    pieces = cols // (32 * VECTOR)
    return {"cols": cols, "threads": threads, "warps": [k % (threads // 32) for k in range(pieces)]}


def parts_panel(cols):
    """A row for several blocks of 256 threads, one for each 16 KB: the number of floats of each."""
    tile, count = 256 * PER * VECTOR, 4 * cols // 16384 + 1
    return {"cols": cols, "parts": [min(tile, cols - k * tile) for k in range(count)]}


def owners_data(elements=64):
    return {
        "elements": elements,
        "lanes": [lanes_panel(cols, elements) for cols in (4, 16, 64)],
        "block": block_panel(1024),
        "parts": parts_panel(20_000),
    }


# --- swapping halves ---


def halves_data(lanes=8, marked=5):
    """For each step, [row, number of lanes summed] per lane; at first every lane has all rows of its own."""
    has = [{row: {lane} for row in range(lanes)} for lane in range(lanes)]
    steps, d = [{"d": 0, "has": has}], lanes // 2
    while d:
        after = []
        for lane, mine in enumerate(has):
            rows = sorted(mine)
            kept = rows[len(rows) // 2 :] if lane & d else rows[: len(rows) // 2]
            after.append({row: mine[row] | has[lane ^ d][row] for row in kept})
        has = after
        steps.append({"d": d, "has": has})
        d //= 2
    return {"lanes": lanes, "marked": marked, "steps": [counted(step) for step in steps]}


def counted(step):
    return {**step, "has": [[[row, len(of)] for row, of in lane.items()] for lane in step["has"]]}


# --- ragged rows ---

LENGTHS = (5, 0, 3, 2, 1, 22, 1, 0, 4, 3, 0, 3, 1, 1)


def path_of(lengths):
    """All elements of a row, then its end, then the next row: [row, is it the end?] per step."""
    return [[row, k == n] for row, n in enumerate(lengths) for k in range(n + 1)]


def begins_of(lengths):
    """The step of the path at which each row begins, and finally the length of the path."""
    begins = [0]
    for n in lengths:
        begins.append(begins[-1] + n + 1)
    return begins


def share_of(block, share, begins):
    """rows_ragged() with one step per end: what a block reads first, writes, leaves and collects."""
    rows, start = len(begins) - 1, block * share
    stop = min(start + share, begins[-1])
    first = max(row for row in range(rows + 1) if begins[row] <= start)
    done = [row for row in range(first, rows) if begins[row + 1] <= stop]
    after = first + len(done)
    joined = first if start > begins[first] else None
    return {
        "start": start,
        "stop": stop,
        "first": first,
        "began": begins[first],
        "writes": done,
        "posts": after if after < rows and stop > begins[after] else None,
        "collects": list(range(begins[first] // share, block)) if joined in done else [],
    }


def ragged_data(lengths=LENGTHS, blocks=5):
    begins, path = begins_of(lengths), path_of(lengths)
    share = -(-len(path) // blocks)
    shares = [share_of(b, share, begins) for b in range(blocks) if b * share < len(path)]
    return {"rows": len(lengths), "elements": sum(lengths), "path": path, "shares": shares}


def warp_roles_data(tiles=6, first=5, later=9, copy=7, add=5, end=46):
    """When the roles of a block of ragged rows work: a tile is copied after its cut is known and one of two buffers is
    empty, and added after that. The durations are illustrative."""
    groups = [["cuts 0–1", 0, first], ["cuts 1–8", 0, later], ["cuts 8–15", first, later], ["cuts 15–22", later, later]]
    known = [first] + [later] * (tiles - 1)
    copies, adds = [], []
    for tile in range(tiles):
        empty = sum(adds[tile - 2]) if tile > 1 else 0
        copies.append((max(known[tile], empty), copy))
        adds.append((max(sum(copies[tile]), sum(adds[-1]) if adds else 0), add))
    return {"search": [groups[0::2], groups[1::2]], "copies": copies, "adds": adds, "end": end}


# --- speed as a share of the best, by length of rows or kind ---

def usual_n(table, role):
    """The number of elements with most rows, among those at which the role's kernels were measured."""
    sizes = {row["n"] for row in table.rows if row["chapter"] == role.chapter and shape_of(role, row["kernel"])}
    many = Counter(row["n"] for row in table.rows)
    return max(sizes, key=lambda n: (many[n], n), default=None)


def shape_of(role, kernel):
    """(the pattern that matches the kernel, what its star stands for: a number, `all` or a word), or None."""
    for pattern in role.patterns:
        before, after = pattern.partition("=")[0].split("*")
        found = re.fullmatch(f"{re.escape(before)}([0-9]+|[a-z]+){re.escape(after)}", kernel)
        if found:
            return pattern, found[1]
    return None


def point_of(row, best):
    """Percent of the best kernel's speed, for the median and the 5th and 95th percentile."""
    of = lambda us: 100 * best["median_us"] / us
    pct = {"pct": of(row["median_us"]), "slow": of(row["p95_us"]), "fast": of(row["p5_us"])}
    return {"kernel": row["kernel"], "us": row["median_us"], **pct}


def series_of(table, role, n, pattern):
    """The kernels of one pattern, as points over the length and points by kind."""
    name, _, best_name = pattern.partition("=")
    best = first_of(table.rows, chapter=role.chapter, kernel=best_name, n=n)
    if not best:
        raise role.fault(f"rows: the results have no kernel `{best_name}` of chapter {role.chapter}")
    series = {"name": name.replace("*", "").strip("_"), "best": best_name, "points": [], "kinds": {}}
    for row in table.rows:
        shape = (row["chapter"], row["n"]) == (role.chapter, n) and shape_of(role, row["kernel"])
        if not shape or shape[0] != pattern:
            continue
        point = point_of(row, best)
        if shape[1].isdigit() or shape[1] == "all":
            series["points"].append({"length": int(shape[1]) if shape[1] != "all" else n, **point})
        else:
            series["kinds"][shape[1]] = point
    series["points"].sort(key=lambda point: point["length"])
    return series


def rows_data(devices, role):
    """The kernels of a role on the first device that has results for them."""
    for table in devices:
        n = usual_n(table, role)
        if n is not None:
            series = [series_of(table, role, n, pattern) for pattern in role.patterns]
            return {"chapter": role.chapter, "device": table.facts["device"], "n": n, "series": series}
    return None


# --- rows of every shape, from DEVICE-shapes.csv: the data of shape-map and shape-rates ---

def cell_of(row):
    """(smallest power of two >= n, largest <= cols, whether cols is odd and not 1)."""
    return (row["n"] - 1).bit_length(), row["cols"].bit_length() - 1, row["cols"] % 2 == 1 < row["cols"]


def pairs_of(table, role, pattern):
    """(the kernel's row, the peer's row) of each shape."""
    name, _, peer = pattern.partition("=")
    rows = {
        kernel: {(row["n"], row["cols"]): row for row in table.rows if (row["chapter"], row["kernel"]) == (role.chapter, kernel)}
        for kernel in (name, peer)
    }
    if not rows[name] or not rows[peer]:
        raise role.fault(f"{role.name}: {table.path.name} has no kernel `{peer if rows[name] else name}`")
    return [(row, rows[peer][shape]) for shape, row in rows[name].items() if shape in rows[peer]]


def mean_of(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def panel_of(table, role, pattern):
    """A peer's times by the kernel's: (total, length, odd, ratio, slower) of each shape.

    slower: whether the kernel is slower and the intervals do not overlap."""
    pairs = pairs_of(table, role, pattern)
    cells = [
        [*cell_of(ours), peer["median_us"] / ours["median_us"], ours["p5_us"] > peer["p95_us"]]
        for ours, peer in pairs
    ]
    return {"cub": table.facts.get("cub", ""), "cells": cells, "mean": mean_of([cell[3] for cell in cells])}


def map_data(devices, role):
    """The first device with shapes, compared with its own CUB and, if measured, a newer one."""
    for table in devices:
        peers = [shapes for shapes in (table.newest_shapes, table.shapes) if shapes]
        if peers:
            panels = [panel_of(shapes, role, role.patterns[0]) for shapes in peers]
            return {"chapter": role.chapter, "device": table.facts["device"], "panels": panels}
    return None


def curve_of(table, role, pattern, elem):
    """The ratio of the peer's time to the kernel's over the length, at the largest total: for even and odd
    lengths."""
    pairs = [pair for pair in pairs_of(table, role, pattern) if pair[0]["elem"] == elem]
    largest = max((cell_of(ours)[0] for ours, _ in pairs), default=0)
    points = sorted((ours["cols"], 100 * peer["median_us"] / ours["median_us"]) for ours, peer in pairs if cell_of(ours)[0] == largest)
    return {
        "name": pattern.partition("=")[0],
        "total": 1 << largest,
        "even": [point for point in points if point[0] % 2 == 0],
        "odd": [point for point in points if point[0] % 2],
    }


def rates_data(devices, role):
    """A panel for each element type, with a curve for each pattern whose kernel has such rows."""
    for table in devices:
        if not table.shapes:
            continue
        panels = {}
        for pattern in role.patterns:
            for elem in dict.fromkeys(ours["elem"] for ours, _ in pairs_of(table.shapes, role, pattern)):
                panels.setdefault(elem, []).append(curve_of(table.shapes, role, pattern, elem))
        return {
            "chapter": role.chapter,
            "device": table.facts["device"],
            "panels": [{"elem": elem, "curves": curves} for elem, curves in panels.items()],
        }
    return None
