"""trips.py: loads on their way, one and many, and predicted times: data of the pictures of loads.py.

How long an instruction and a trip take is drawn, not measured; what an SM gets was measured.
"""

import csv
import re

from tables import read_table

TRIP, ISSUE, END = 10.0, 0.28, 42.0  # lengths of a load's trip, of an instruction, of the picture
PANELS = (
    ("One warp, one load at a time: it waits", 1, 1, 0.0),
    ("One warp, four loads at a time: four arrive in one trip", 1, 4, 0.0),
    ("Eight warps: while one waits, the others load", 8, 1, 0.0),
    ("Eight warps, two loads at a time: more than memory serves, so every trip takes longer", 8, 2, 9.0),
)


def trips_of(warps, loads, longer):
    """For each warp (start, end) of its trips: of `loads` loads each, which begin one after the other."""
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
    """What an SM got a cycle with so many bytes on their way, from L2 and from memory, and the first trip."""
    curves = []
    for title, key, latency in (("L2", "load_l2_", "latency_l2"), ("memory", "load_dram_", "latency_dram")):
        names = [name for name in table.machine if name.startswith(key) and name.removeprefix(key).isdigit()]
        points = sorted([int(name.removeprefix(key)), table.machine[name]] for name in names)
        if points and latency in table.machine:
            curves.append({"title": title, "points": points, "latency": table.machine[latency]})
    return {"device": table.facts["device"], "curves": curves} if curves else None


def predicted_data(table):
    """Of each device that was predicted, the table's own first: (measured us, predicted by measured, whether it is
    none of a lab's) of its kernels."""
    folder, devices = table.path.parent / "predicted", {table.path.stem: []}
    for path in sorted(folder.glob("*.csv"), key=lambda path: path.stem):
        name = re.sub("-(seen|blind|drawn)$", "", path.stem)
        if not (folder.parent / f"{name}.csv").exists():
            continue
        for row in csv.DictReader(line for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#"):
            if row.get("median_us"):
                measured = float(row["median_us"])
                devices.setdefault(name, []).append([measured, float(row["predicted_us"]) / measured, name != path.stem])
    name_of = lambda name: read_table(folder.parent / f"{name}.csv", "device").facts["device"]
    found = [{"device": name_of(name), "points": points} for name, points in devices.items() if points]
    return {"devices": found} if found else None
