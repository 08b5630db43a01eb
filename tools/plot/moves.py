"""moves.py: what travels: data of protocols.py's pictures, from the arithmetic of the chapters' code."""

# --- chapters 10 and 11: when which block does what, in inches of the drawing; drawn, not measured ---


def ticket_data():
    """Blocks in the order in which they finish, which need not be that of their numbers."""
    return {"order": [0, 2, 1], "starts": [1.6, 2.65, 3.7]}


def mailbox_data():
    """Blocks 0 and 1 post; block 2 has added its own part before, and looks three times."""
    return {"starts": [1.75, 3.2, 2.2], "looks": 3}


# --- chapter 11: the input cut into vectors and edges ---


def edges_data(offset=72, n=77, line=128, vector=16, size=4):
    """reduce_split of code/reduce.cuh, for an input `offset` bytes behind a line's start."""
    head = min((line - offset % line) % line // size, n)
    vectors = (n - head) // (vector // size)
    return {
        "offset": offset // size,
        "n": n,
        "line": line // size,
        "vector": vector // size,
        "head": head,
        "vectors": vectors,
        "tail": n - head - vectors * (vector // size),
    }


# --- chapter 15: rings and trees ---


def step_of(state, sends, merge):
    """All sends (from, to, piece) of a step at once: the receiver merges, or takes what it gets."""
    after = [list(map(set, row)) for row in state]
    for start, end, piece in sends:
        after[end][piece] = state[start][piece] | (state[end][piece] if merge else set())
    return after


def ring_data(gpus=4):
    """States of a ring's all-reduce, [[which GPUs' elements are in it per piece] per GPU], and sends."""
    state = [[{gpu}] * gpus for gpu in range(gpus)]
    steps = [{"sends": [], "state": state}]
    for k in range(2 * (gpus - 1)):
        merge = k < gpus - 1
        lag = k if merge else k - gpus  # a GPU's finished piece is its right neighbour's number
        sends = [[gpu, (gpu + 1) % gpus, (gpu - lag) % gpus] for gpu in range(gpus)]
        state = step_of(state, sends, merge)
        steps.append({"sends": sends, "state": state})
    return counted(steps)


def tree_data(gpus=4):
    """The same for a binary tree and a message in one piece: up to GPU 0, and down again."""
    state = [[{gpu}] for gpu in range(gpus)]
    steps = [{"sends": [], "state": state}]
    distances = [1 << k for k in range((gpus - 1).bit_length())]
    for merge, order in ((True, distances), (False, distances[::-1])):
        for d in order:
            low = range(0, gpus - d, 2 * d)
            sends = [[gpu + d, gpu, 0] if merge else [gpu, gpu + d, 0] for gpu in low]
            state = step_of(state, sends, merge)
            steps.append({"sends": sends, "state": state})
    return counted(steps)


def counted(steps):
    """How many GPUs' elements are in each piece."""
    return [{**s, "state": [[len(piece) for piece in row] for row in s["state"]]} for s in steps]


def all_reduce_data(gpus=4):
    return {"gpus": gpus, "ring": ring_data(gpus), "tree": tree_data(gpus)}
