"""scenes.py: the drawings that a chapter can ask for by name, and the data of each.

A scene is NAME: (kind of picture, data of the book's device). It is None where the device has not
been recorded, or not what the scene shows. Most need no device: they follow from the kernels' code.
"""

from floors import CEILING, RATES, SCHEDULERS, THREADS, first_of, latency_of, rates_of
from lives import life_data, sizes_data, stride_data
from moves import all_reduce_data, edges_data, mailbox_data, ticket_data
from parts import grid_data, merge_data, orders_data, passes_data
from rows import halves_data, owners_data, ragged_data
from shapes import first_add_data, last_warp_data, shuffle_data, tree_data, two_level_data
from trips import loads_data, predicted_data, waits_data


def machine_data(table):
    """What chapter 1 measured of the device, at the largest n that it was all measured at."""
    sizes = sorted({row["n"] for row in table.rows if row["chapter"] == RATES}, reverse=True)
    n = next((n for n in sizes if rates_of(table, n)), None)
    l2 = first_of(table.rows, chapter=RATES, kernel="l2_latency", n=n)
    if not l2 or "l2_bytes" not in table.facts:
        return None
    rates = rates_of(table, n)
    return {
        "device": table.facts["device"],
        "sms": rates["sms"],
        "schedulers": SCHEDULERS,
        "warps": THREADS // 32,
        "l2_bytes": table.facts["l2_bytes"],
        "l2_us": latency_of(l2),
        "memory_us": rates["latency_us"],
        "gbps": first_of(table.rows, chapter=RATES, kernel=CEILING, n=n)["gbps"],
        "blocks_per_us": rates["blocks_per_us"],
    }


def always(data):
    """Of a scene that no measurement changes."""
    return lambda table: data


SCENES = {
    "grid": ("grid", always(grid_data())),
    "machine": ("machine", lambda table: table and machine_data(table)),
    "tree-interleaved": ("tree", always(tree_data("interleaved"))),
    "tree-strided": ("tree", always(tree_data("strided"))),
    "tree-sequential": ("tree", always(tree_data("sequential"))),
    "first-add": ("first_add", always(first_add_data())),
    "block-life": ("life", always(life_data(["05"]))),
    "last-warp": ("last_warp", always(last_warp_data())),
    "two-lives": ("life", always(life_data(["05", "06"]))),
    "block-sizes": ("places", lambda table: table and sizes_data(table)),
    "one-load": ("places", lambda table: table and stride_data(table)),
    "shuffle": ("shuffle", always(shuffle_data())),
    "two-levels": ("two_level", always(two_level_data())),
    "ticket": ("ticket", always(ticket_data())),
    "mailbox": ("mailbox", always(mailbox_data())),
    "edges": ("edges", always(edges_data())),
    "passes": ("passes", always(passes_data())),
    "merge": ("merge", always(merge_data())),
    "orders": ("orders", always(orders_data())),
    "all-reduce": ("all_reduce", always(all_reduce_data())),
    "row-owners": ("row_owners", always(owners_data())),
    "swap-halves": ("swap_halves", always(halves_data())),
    "ragged-rows": ("ragged", always(ragged_data())),
    "waits": ("waits", always(waits_data())),
    "load-curve": ("loads", lambda table: table and loads_data(table)),
    "predicted": ("predicted", lambda table: table and predicted_data(table)),
}


def scenes_of(table, role):
    """[name of the file, kind, data] of the scenes that a chapter asks for. table: the book's device or None."""
    found = []
    for name in role.patterns:
        kind, data_of = SCENES[name]
        data = data_of(table)
        found += [[f"{name}-{role.chapter}.svg", kind, data]] if data else []
    return found
