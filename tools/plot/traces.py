"""Traces of the CPU device, cut into the steps of an algorithm: what counts.py draws as banks."""


def instructions_of(rows):
    """The rows of one warp as [op, bytes, accesses], None for a barrier.

    Accesses are [lane, address]. A trace lists the lanes of an instruction in order: a lane that
    does not come after the last one, or another line of code, begins the next instruction.
    """
    instructions, key, last = [], None, -1
    for row in rows:
        if row["space"] == "barrier":
            instructions.append(None)
            key = None
        elif row["space"] == "shared":
            here = (row["op"], row["bytes"], row["line"])
            if here != key or row["lane"] <= last:
                instructions.append([row["op"], row["bytes"], []])
            instructions[-1][2].append([row["lane"], row["address"]])
            key, last = here, row["lane"]
    return instructions


def trace_steps(table):
    """The shared-memory accesses of one warp by steps of its algorithm: [label, op, bytes, accesses].

    The warp is the first of the first block of the launch that touches shared memory most. A step
    ends at a barrier and where a load follows a store; it is shown by its load with the most lanes.
    """
    launches = {}
    for row in table.rows:
        if row["space"] == "shared":
            launches.setdefault(row["launch"], []).append(row)
    if not launches:
        return None
    launch, rows = max(launches.items(), key=lambda item: (len(item[1]), -item[0]))
    block = min(row["block"] for row in rows)
    warp = min(row["warp"] for row in rows if row["block"] == block)
    here = (launch, block, warp)
    groups = [[]]
    for access in instructions_of(
        [row for row in table.rows if (row["launch"], row["block"], row["warp"]) == here]
    ):
        stored = any(op == "store" for op, _, _ in groups[-1])
        if access is None or (stored and access[0] == "load"):
            groups.append([])
        if access:
            groups[-1].append(access)
    steps, tree_step = [], 0
    for group in filter(None, groups):
        loads = [access for access in group if access[0] == "load"]
        label = "read" if len(loads) == len(group) else "write"
        if 0 < len(loads) < len(group):
            tree_step += 1
            label = f"step {tree_step}"
        steps.append([label, *max(loads or group, key=lambda access: len(access[2]))])
    kernel = rows[0]["kernel"]
    return {"kernel": kernel, "block": block, "warp": warp, "steps": steps}
