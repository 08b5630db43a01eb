"""floors.py: lower bounds of a kernel's time, each from one resource.

The cost model of the book (chapter 1): a kernel takes at least as long as memory needs for its bytes, the
schedulers for its instructions, the shared-memory pipe for its accesses, the device for starting its blocks,
and the latency for its loads at their number in flight. The limits of the device were measured in chapter 1;
the needs of the kernel were counted.
"""

from statistics import median

SCHEDULERS, THREADS = 4, 2048  # of an SM: CUDA C++ programming guide, compute capability 9.0
BYTES = {"float": 4, "int": 4, "double": 8, "half": 2}
CHASE_STEPS = 1000  # loads of chapter 1's memory_latency, one after the other
RATES, CEILING = "01", "read_ceiling"


def first_of(rows, **wanted):
    return next((r for r in rows if all(r[k] == v for k, v in wanted.items())), None)


def latency_of(row):
    """Microseconds of one load, from a row with a thousand of them."""
    return row["median_us"] / CHASE_STEPS


def rates_of(table, n):
    """The device's measured limits, or None if some are missing."""
    ceiling = first_of(table.rows, chapter=RATES, kernel=CEILING, n=n)
    latency = first_of(table.rows, chapter=RATES, kernel="memory_latency", n=n)
    empty = first_of(table.rows, chapter=RATES, kernel="empty_blocks", n=n)
    clocks = [row["sm_clock_khz"] for row in table.limits]
    if not (ceiling and latency and empty and clocks):
        return None
    sms = table.facts["sm_count"]
    return {
        "bytes_per_us": ceiling["gbps"] * 1e3,
        "sms": sms,
        "cycles_per_us": sms * median(clocks) / 1e3,  # of all SMs
        "latency_us": latency_of(latency),
        "blocks_per_us": empty["grid"] / empty["median_us"],
    }


def pipe_us(rates, limit, counted):
    """The time of the shared-memory pipe, one wavefront per SM and cycle. Machine code has more wavefronts than
    PTX, since a load with all lanes off also takes one."""
    if limit:
        return limit["shared_pipe_pct"] / 100 * limit["profiled_us"]
    waves = sum(counted.get(f"shared_{kind}_wavefronts") or 0 for kind in ("ld", "st"))
    return waves / rates["cycles_per_us"]


def floors_of(rates, row, limit, counted, loads):
    """[[name, microseconds]]: the lower bounds of a kernel. row: its time, or None if it was only counted."""
    size = (row or counted)["n"] * BYTES[row["elem"] if row else "float"]
    insts = limit["machine_insts"] if limit else counted["warp_insts"]
    grid = int(counted["grid"].partition("x")[0]) if counted else row["grid"]
    resident = limit["warps_pct"] / 100 if limit else 1
    in_flight = rates["sms"] * THREADS * resident * loads * size / (row or counted)["n"]
    return [
        ["DRAM bandwidth", size / rates["bytes_per_us"]],
        ["instruction issue" + ("" if limit else " (PTX)"), insts / SCHEDULERS / rates["cycles_per_us"]],
        ["shared-memory pipe" + ("" if limit else " (PTX)"), pipe_us(rates, limit, counted)],
        ["block starts", grid / rates["blocks_per_us"]],
        ["load latency", size * rates["latency_us"] / in_flight],
    ]


def kernel_floors(table, rates, chapter, kernel, loads, n, counted):
    where = {"chapter": chapter, "kernel": kernel, "n": n}
    row, limit = first_of(table.rows, **where), first_of(table.limits, **where)
    if not limit and not counted:
        return None
    return {
        "kernel": kernel,
        "loads": loads,
        "time_us": row and row["median_us"],
        "floors": floors_of(rates, row, limit, counted, loads),
    }
