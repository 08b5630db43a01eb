"""parts.py: data of ideas.py's pictures: parts of a whole, and how they become one."""

# --- chapter 0: what is part of what, and sees which memory ---


def grid_data(blocks=6, threads=256, lanes=32):
    return {"blocks": blocks, "warps": threads // lanes, "lanes": lanes}


# --- chapter 12: tiles, and who takes them ---


def dealt(tiles, blocks):
    """cub's even share, every blocks-th tile: the tiles of each block."""
    return [list(range(block, tiles, blocks)) for block in range(blocks)]


def passes_data(threads=256, items=16, tiles=11, blocks=4):
    return {"tile": threads * items, "tiles": tiles, "shares": dealt(tiles, blocks)}


# --- chapter 13: two parts of a mean and a variance become one ---


def part_of(values):
    """Count, mean, and the sum of squared distances from it."""
    mean = sum(values) / len(values)
    return (len(values), mean, sum((x - mean) ** 2 for x in values))


def merged(a, b):
    """The operator of chapter 13, on what part_of returns."""
    n, delta = a[0] + b[0], b[1] - a[1]
    return (n, a[1] + delta * b[0] / n, a[2] + b[2] + delta**2 * a[0] * b[0] / n)


def merge_data(a=(1, 2, 6), b=(9, 10, 11, 12, 14, 16)):
    one, other = part_of(a), part_of(b)
    return {"values": [list(a), list(b)], "parts": [one, other], "whole": merged(one, other)}


# --- chapter 14: how many additions an element goes through ---


def chain(nodes, adds):
    """Adds up the nodes one after the other; adds gets (result, left, right)."""
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
    """The additions of n elements, as chapter 14's orders make them: [(result, left, right)]."""
    adds, leaves = [], [str(k) for k in range(n)]
    if how == "sequential":
        chain(leaves, adds)
    elif how == "grid-stride":
        halves([chain(leaves[t::threads], adds) for t in range(threads)], adds)
    else:
        halves(leaves, adds)
    return adds


def depths(adds):
    """How many additions lie above each node: what is added last has the least."""
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
