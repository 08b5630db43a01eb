"""shapes.py: the trees of the chapters as lists of additions, in the index arithmetic of their kernels.

tests/plot holds them to the recorded traces of the CPU device.
"""

ADDS = {  # which thread adds what at distance d: thread t, then s[a] += s[b] as (a, b), or None
    "interleaved": lambda t, d, threads: (t, t + d) if t % (2 * d) == 0 else None,
    "strided": lambda t, d, threads: (2 * d * t, 2 * d * t + d) if 2 * d * t < threads else None,
    "sequential": lambda t, d, threads: (t, t + d) if t < d else None,
}


def distances(shape, threads):
    """1, 2, 4, ... or, for the sequential tree, the other way round."""
    rising = [1 << k for k in range(threads.bit_length() - 1)]
    return rising[::-1] if shape == "sequential" else rising


def levels_of(shape, threads):
    """Per level its distance and its additions: [thread, a, b] for s[a] += s[b]."""
    add = ADDS[shape]
    levels = []
    for d in distances(shape, threads):
        pairs = [(t, add(t, d, threads)) for t in range(threads)]
        levels.append([d, [[t, *pair] for t, pair in pairs if pair]])
    return levels


def turns_of(adds, lanes):
    """The most wavefronts that one warp needs to read its left terms, with as many banks as lanes."""
    banks = {}
    for thread, a, _ in adds:
        banks.setdefault((thread // lanes, a % lanes), set()).add(a)
    return max(map(len, banks.values()))


def busy_warps(adds, lanes):
    return sorted({thread // lanes for thread, *_ in adds})


def tree_data(shape, threads=16, lanes=4):
    """A tree drawn small: a block of `threads` in warps of `lanes` lanes, over as many banks."""
    levels = [
        {"d": d, "adds": adds, "busy": busy_warps(adds, lanes), "turns": turns_of(adds, lanes)}
        for d, adds in levels_of(shape, threads)
    ]
    return {"shape": shape, "threads": threads, "lanes": lanes, "levels": levels}


# --- rows of lanes: who takes whose value over ---


def lane_rows(first, start, block_until=0, lanes=0):
    """Rows of a sequential tree over `start` threads, from thread `first` on: threads that add, those that
    have not ended, links from the row above, and who meets at the barrier behind the row.

    With `lanes`, the levels below `block_until` are one warp's own, and the other warps have ended."""
    rows = []
    for d in distances("sequential", start):
        own = bool(lanes) and d < block_until
        rows.append(
            {
                "adds": [first + t for t in range(d)],
                "here": [first + t for t in range(lanes if own else start)],
                "links": [[first + t + e, first + t] for t in range(d) for e in (0, d)],
                "meet": "warp" if own else "block",
            }
        )
    return rows


def last_warp_data(threads=16, lanes=4):
    """A tree with a barrier of all warps on every level, and one whose last warp goes on alone."""
    return {
        "threads": threads,
        "lanes": lanes,
        "panels": [
            ["Chapter 5: every level ends at the block's barrier", lane_rows(0, threads)],
            ["Chapter 6: the last warp goes on alone", lane_rows(0, threads, lanes * 2, lanes)],
        ],
    }


def first_add_data(threads=8):
    """The same elements for two blocks, an element to a thread, and for one block, two to a thread."""
    twice = [lane_rows(0, threads), lane_rows(threads, threads)]
    return {
        "threads": threads,
        "panels": [
            ["Chapter 4: two blocks, an element to a thread", twice, [[i, i] for i in range(2 * threads)]],
            [
                "First add on load: one block, two to a thread",
                twice[:1],
                [[i, i % threads] for i in range(2 * threads)],
            ],
        ],
    }


def shuffle_data(lanes=32):
    """Per level of a warp's shuffles: distance, links [from, to] of lanes, and lanes whose sum counts."""
    levels = []
    for d in distances("sequential", lanes):
        links = [[lane + d, lane] for lane in range(lanes - d)]
        levels.append({"d": d, "links": links, "counts": list(range(d))})
    return {"lanes": lanes, "levels": levels}


def two_level_data(warps=8, lanes=32):
    return {"warps": warps, "lanes": lanes}
