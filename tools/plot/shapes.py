"""shapes.py: the trees of the chapters as lists of additions, with the index arithmetic of their kernels.

tests/plot compares them with recorded traces of the CPU device.
"""

ADDS = {  # which thread adds what at distance d: thread t, then s[a] += s[b] as (a, b), or None
    "interleaved": lambda t, d, threads: (t, t + d) if t % (2 * d) == 0 else None,
    "strided": lambda t, d, threads: (2 * d * t, 2 * d * t + d) if 2 * d * t < threads else None,
    "sequential": lambda t, d, threads: (t, t + d) if t < d else None,
}


def distances(shape, threads):
    """1, 2, 4, ... or, for the sequential tree, the reverse."""
    rising = [1 << k for k in range(threads.bit_length() - 1)]
    return rising[::-1] if shape == "sequential" else rising


def levels_of(shape, threads):
    """The distance and the additions of each level: [thread, a, b] for s[a] += s[b]."""
    add = ADDS[shape]
    levels = []
    for d in distances(shape, threads):
        pairs = [(t, add(t, d, threads)) for t in range(threads)]
        levels.append([d, [[t, *pair] for t, pair in pairs if pair]])
    return levels


def turns_of(adds, lanes):
    """The largest number of wavefronts that a warp needs to read its left terms, with as many banks as lanes."""
    banks = {}
    for thread, a, _ in adds:
        banks.setdefault((thread // lanes, a % lanes), set()).add(a)
    return max(map(len, banks.values()))


def busy_warps(adds, lanes):
    return sorted({thread // lanes for thread, *_ in adds})


def tree_data(shape, threads=16, lanes=4):
    """A small tree: a block of `threads` in warps of `lanes` lanes, and as many banks."""
    levels = [
        {"d": d, "adds": adds, "busy": busy_warps(adds, lanes), "turns": turns_of(adds, lanes)}
        for d, adds in levels_of(shape, threads)
    ]
    return {"shape": shape, "threads": threads, "lanes": lanes, "levels": levels}


# --- rows of lanes that add values of other lanes ---


def lane_rows(first, start, block_until=0, lanes=0):
    """Rows of a sequential tree over `start` threads, from thread `first` on: threads that add, threads that
    have not ended, links from the previous row, and the scope of the barrier after the row.

    With `lanes`, only one warp executes the levels below `block_until`; the others have ended."""
    rows = []
    for d in distances("sequential", start):
        own = bool(lanes) and d < block_until
        rows.append(
            {
                "adds": [first + t for t in range(d)],
                "here": [first + t for t in range(lanes if own else start)],
                "links": [[first + t + e, first + t] for t in range(d) for e in (0, d)],
                "barrier": "warp" if own else "block",
            }
        )
    return rows


def last_warp_data(threads=16, lanes=4):
    """A tree with a barrier of all warps at every level, and one that continues with one warp."""
    return {
        "threads": threads,
        "lanes": lanes,
        "panels": [
            ["Chapter 5: every level ends at the block's barrier", lane_rows(0, threads)],
            ["Chapter 6: the last warp continues alone", lane_rows(0, threads, lanes * 2, lanes)],
        ],
    }


def first_add_data(threads=8):
    """The same elements for two blocks with one element per thread, and for one block with two per thread."""
    twice = [lane_rows(0, threads), lane_rows(threads, threads)]
    return {
        "threads": threads,
        "panels": [
            ["Chapter 4: two blocks, one element per thread", twice, [[i, i] for i in range(2 * threads)]],
            [
                "First add on load: one block, two elements per thread",
                twice[:1],
                [[i, i % threads] for i in range(2 * threads)],
            ],
        ],
    }


def shuffle_data(lanes=32):
    """For each level of a warp's shuffles: distance, links [from, to] of lanes, lanes whose sum is used."""
    levels = []
    for d in distances("sequential", lanes):
        links = [[lane + d, lane] for lane in range(lanes - d)]
        levels.append({"d": d, "links": links, "counts": list(range(d))})
    return {"lanes": lanes, "levels": levels}


def two_level_data(warps=8, lanes=32):
    return {"warps": warps, "lanes": lanes}


# --- chapter 0: the hierarchy of threads, and the memory of each level ---


def grid_data(blocks=6, threads=256, lanes=32):
    return {"blocks": blocks, "warps": threads // lanes, "lanes": lanes}


# --- chapter 12: the assignment of tiles ---


def dealt(tiles, blocks):
    """CUB's even share: the tiles of each block, every blocks-th one."""
    return [list(range(block, tiles, blocks)) for block in range(blocks)]


def passes_data(threads=256, items=16, tiles=11, blocks=4):
    return {"tile": threads * items, "tiles": tiles, "shares": dealt(tiles, blocks)}


# --- chapter 13: merging two parts of a mean and a variance ---


def part_of(values):
    """Count, mean, and the sum of squared differences from the mean."""
    mean = sum(values) / len(values)
    return (len(values), mean, sum((x - mean) ** 2 for x in values))


def merged(a, b):
    """Merges two results of part_of with chapter 13's operator."""
    n, delta = a[0] + b[0], b[1] - a[1]
    return (n, a[1] + delta * b[0] / n, a[2] + b[2] + delta**2 * a[0] * b[0] / n)


def merge_data(a=(1, 2, 6), b=(9, 10, 11, 12, 14, 16)):
    one, other = part_of(a), part_of(b)
    return {"values": [list(a), list(b)], "parts": [one, other], "whole": merged(one, other)}


# --- chapter 14: the number of additions on the path of an element ---


def chain(nodes, adds):
    """Adds up the nodes in sequence, and appends each addition to adds as (result, left, right)."""
    total = nodes[0]
    for node in nodes[1:]:
        adds.append((f"{total}+{node}", total, node))
        total = adds[-1][0]
    return total


def halves(nodes, adds):
    """Adds up the nodes as a tree of neighbours."""
    while len(nodes) > 1:
        pairs = [nodes[k : k + 2] for k in range(0, len(nodes), 2)]
        adds += [(f"{a}+{b}", a, b) for a, b in pairs]
        nodes = [f"{a}+{b}" for a, b in pairs]
    return nodes[0]


def order_of(how, n, threads):
    """The additions of n elements in an order of chapter 14: [(result, left, right)]."""
    adds, leaves = [], [str(k) for k in range(n)]
    if how == "sequential":
        chain(leaves, adds)
    elif how == "grid-stride":
        halves([chain(leaves[t::threads], adds) for t in range(threads)], adds)
    else:
        halves(leaves, adds)
    return adds


def depths(adds):
    """For each node, the number of additions between it and the result."""
    above = {adds[-1][0]: 0}
    for result, left, right in reversed(adds):
        above[left] = above[right] = above[result] + 1
    return above


def orders_data(n=16, threads=4):
    orders = []
    for how in ("sequential", "grid-stride", "tree"):
        adds = order_of(how, n, threads)
        orders.append({"how": how, "adds": adds, "most": max(depths(adds).values())})
    return {"n": n, "threads": threads, "orders": orders}
