"""shape_rates.py: rows of every shape, from DEVICE-shapes.csv: the data of shape-map and shape-rates.

A shape is n elements in rows of `cols` each. Those of even length are powers of two.
"""

import math


def cell_of(row):
    """(power of two at or above n, which leaves no whole row; at or below cols; is cols odd, and no 1)."""
    return (row["n"] - 1).bit_length(), row["cols"].bit_length() - 1, row["cols"] % 2 == 1 < row["cols"]


def pairs_of(table, role, pattern):
    """(the kernel's row, its peer's) of each shape."""
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

    Slower is more than the two intervals account for."""
    pairs = pairs_of(table, role, pattern)
    cells = [
        [*cell_of(ours), peer["median_us"] / ours["median_us"], ours["p5_us"] > peer["p95_us"]]
        for ours, peer in pairs
    ]
    return {"cub": table.facts.get("cub", ""), "cells": cells, "mean": mean_of([cell[3] for cell in cells])}


def map_data(devices, role):
    """The first device with shapes, beside its own CUB and, where that was measured, a newer one."""
    for table in devices:
        peers = [shapes for shapes in (table.newest_shapes, table.shapes) if shapes]
        if peers:
            panels = [panel_of(shapes, role, role.patterns[0]) for shapes in peers]
            return {"chapter": role.chapter, "device": table.facts["device"], "panels": panels}
    return None


def curve_of(table, role, pattern, elem):
    """The peer's time by the kernel's over the length, of the largest total: even lengths, odd ones."""
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
    """A panel for each type of elements: a pattern is one of its curves if its kernel has such rows."""
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
