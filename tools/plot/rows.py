"""rows.py: data of row_scenes.py's pictures: who gets a row, how lanes swap halves, and shares of ragged rows.

It follows code/reduce_rows.cuh; tests/plot holds it to the kernels that the CPU device recorded.
"""

VECTOR = 4  # floats in 16 bytes
PER = 4  # vectors of a thread where a block has the row


# --- who gets a row ---


def lanes_of(cols):
    """rows_with_lanes() for aligned rows of floats: lanes of a row, and vectors of each lane."""
    vectors = -(-cols // VECTOR)
    if vectors <= 1:
        return 1, 1
    return next(((lanes, 2) for lanes in (1, 2, 4, 8, 16, 32) if vectors <= 2 * lanes), (32, 4))


def threads_of(cols):
    """rows_reduce(): the threads of a row's block; 0 where lanes of a warp have it."""
    bytes_of_row = 4 * cols
    if bytes_of_row <= 2048:
        return 0
    return next((t for t in (64, 128, 256) if bytes_of_row <= 64 * t + 64), 512)


def lanes_panel(cols, elements):
    """Rows of so many elements, each with its lanes: which lane loads which vector, and the shuffles."""
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
    """A row for one block: the warp that loads each piece of 32 vectors, piece by piece."""
    threads = threads_of(cols)
    pieces = cols // (32 * VECTOR)
    return {"cols": cols, "threads": threads, "warps": [k % (threads // 32) for k in range(pieces)]}


def parts_panel(cols):
    """A row for several blocks of 256 threads, as many as it has pieces of 16 KB: the floats of each."""
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
    """Per step what every lane has: [[row, from how many lanes] per lane]; at first all rows, of itself."""
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
    """The step of the path at which each row begins, and behind the last one the path's end."""
    begins = [0]
    for n in lengths:
        begins.append(begins[-1] + n + 1)
    return begins


def share_of(block, share, begins):
    """rows_ragged(): what a block finds at its first step, writes, leaves and collects, were an end one step."""
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
