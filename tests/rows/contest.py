#!/usr/bin/env python3
"""Times the headers' calls beside CUB's and PyTorch's, on cases drawn at random: kind, shape, address and cache state.

    tests/rows/contest.py contest.so SEED COUNT [KIND...] >drawn.csv      (contest.cu says how to compile it)

Draws COUNT cases of each kind: sums of an array, of rows and of ragged rows, softmax, layer norm. All calls are timed in
the same way: a CUDA graph with as many calls as take some 300 microseconds, median of its replays, in random order.

cold      each call has another input, and all of them together are four times as large as L2
hot       each call has the same input; before the first replay other data fills L2
written   a kernel writes the input before each call; the time of such kernels alone is subtracted

A case that takes 3 % longer than a peer is timed five times more, and the medians count. A result that differs from
a peer's is reported. Prints a line for each case, in microseconds, and on stderr each kind's worst.
"""
import ctypes
import math
import random
import statistics
import sys

import torch

POOL = 1 << 27  # floats of input, and of output
SHIFTS = 64  # further floats, for addresses that are not aligned
GRAPH_US, SAMPLES, AGAIN, NEAR = 300, 7, 5, 1.03
KINDS = "sum", "rows", "ragged", "softmax", "layer_norm"
MAPS = "softmax", "layer_norm"  # rows in, rows out


class Device:
    """What all cases share."""

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.inputs, self.outputs, self.others = (torch.empty(POOL + SHIFTS, device="cuda").uniform_(-1, 1)
                                                  for _ in range(3))
        self.workspace = torch.zeros(4 << 20, dtype=torch.uint8, device="cuda")
        self.l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size

    def fill_cache(self):
        self.others.sum()


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class Case:
    """Rows of `lengths` elements, or `rows` times `cols`, that begin `skip` floats after an aligned address."""

    def __init__(self, device, kind, rows, cols, skip, state, lengths=None):
        self.device, self.kind, self.rows, self.cols, self.skip, self.state = device, kind, rows, cols, skip, state
        self.spread, lengths = lengths or ("equal", None)
        self.n, self.longest = (sum(lengths), max(lengths)) if lengths else (rows * cols, cols)
        self.slot = self.n // SHIFTS * SHIFTS + 2 * SHIFTS
        cold = min(-(-device.l2_bytes // self.n), (POOL - skip) // self.slot, 256)
        self.slots = max(cold, 1) if state == "cold" else 1
        self.offsets = None
        if lengths:
            self.offsets = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32).cuda()

    def __str__(self):
        return "%s,%s,%d,%d,%d,%d,%s" % (self.kind, self.spread, self.rows, self.cols, self.n, self.skip, self.state)

    def part(self, pool, k):
        return pool[k % self.slots * self.slot + self.skip:][:self.n]

    def input(self, k):
        return self.part(self.device.inputs, k)

    def output(self, k):
        """Results always go to the same place, rows beside each other as they came in."""
        return self.part(self.device.outputs, k) if self.kind in MAPS else self.device.outputs[:self.rows]

    def write(self, k):
        self.input(k).copy_(self.device.others[self.skip:][:self.n])

    def call_of(self, name):
        """The library's function of that name, as a call for the k-th input."""
        function, size = getattr(self.device.library, name), ctypes.c_size_t
        shape = [size(self.n)] if self.kind == "sum" else [size(self.rows), size(self.cols)]
        offsets = []
        if self.kind == "ragged":
            shape, offsets = [size(self.rows), size(self.n)], [pointer(self.offsets)]

        def call(k):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            error = function(pointer(self.input(k)), *offsets, pointer(self.output(k)), *shape,
                             pointer(self.device.workspace), stream)
            if error:
                raise RuntimeError(f"{name}: CUDA error {error}: {self}")
        return call

    def calls(self):
        matrix = lambda k: self.input(k).view(self.rows, self.cols)
        calls = {"ours": self.call_of(self.kind)}
        if self.kind not in MAPS:
            calls["cub"] = self.call_of("cub_" + self.kind)
        if self.kind == "sum":
            calls["torch"] = lambda k: torch.sum(self.input(k), 0, out=self.output(k)[0])
        elif self.kind == "rows":
            calls["torch"] = lambda k: torch.sum(matrix(k), 1, out=self.output(k))
        elif self.kind == "softmax":
            calls["torch"] = lambda k: torch.softmax(matrix(k), 1, out=self.output(k).view(self.rows, self.cols))
        elif self.kind == "layer_norm":
            calls["torch"] = lambda k: torch.nn.functional.layer_norm(matrix(k), (self.cols,))
        return calls

    def compare(self, calls):
        """Reports results of a peer that are further from ours than rounding explains."""
        found = {}
        for name, call in calls.items():
            result = call(0)
            result = result if self.kind == "layer_norm" and name == "torch" else self.output(0)
            found[name] = result.flatten()[:1 << 20].double().clone()
        bound = 1e-4 * (1 if self.kind in MAPS else math.sqrt(max(self.longest, 1)))
        for name in found:
            apart = float((found["ours"] - found[name]).abs().max())
            if not apart <= bound:
                print(f"contest.py: {self}: ours and {name} differ by {apart:g}", file=sys.stderr)


def elapsed_us(call):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3


def time_us(case, call):
    """Microseconds of a call; without one, of the kernel that writes its input."""
    def once(k):
        if case.state == "written":
            case.write(k)
        if call:
            call(k)
    with torch.cuda.stream(torch.cuda.Stream()):
        once(0)
    torch.cuda.synchronize()
    about = max(1.5, elapsed_us(lambda: once(0)) - 6)
    times = max(case.slots, min(100, int(GRAPH_US / about) + 1))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for k in range(times):
            once(k)
    for _ in range(4):  # the clock rises, and L2 is full of other data
        case.device.fill_cache()
    for _ in range(3):
        graph.replay()
    return statistics.median(elapsed_us(graph.replay) / times for _ in range(SAMPLES))


def measure(case, calls):
    written = time_us(case, None) if case.state == "written" else 0
    us = {name: time_us(case, calls[name]) - written for name in random.sample(list(calls), len(calls))}
    return {name: us[name] for name in calls}


def worst(us):
    return max(us["ours"] / us[name] for name in us if name != "ours")


def log_uniform(draw, low, high):
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


def draw_lengths(draw, n, rows):
    """How lengths are spread, and the lengths of `rows` rows, together about n elements."""
    spread = draw.choice(("equal", "even", "power", "giant", "mostly empty"))
    random_of = torch.Generator().manual_seed(draw.randrange(1 << 30))
    u, v = (torch.rand(rows, generator=random_of, dtype=torch.float64) for _ in range(2))
    weights = {"equal": u * 0 + 1, "even": u, "power": (u + 1e-6) ** -0.8, "giant": u * 0 + 1,
               "mostly empty": (u > 0.95) * v}[spread]
    if spread == "giant":
        weights[draw.randrange(rows)] = rows * draw.choice((1, 10))
    if weights.sum() == 0:
        weights[0] = 1
    lengths = (weights / weights.sum() * n).long().tolist()
    if sum(lengths) == 0:
        lengths[0] = n
    return spread, lengths


def draw_case(device, draw, kind):
    n = log_uniform(draw, 1 << 10, 1 << 26)
    rows = 1 if kind == "sum" else log_uniform(draw, 1, n)
    cols = max(2 if kind in MAPS else 1, n // rows)
    if kind == "sum" and draw.random() < 0.25:  # about as large as L2
        cols = int(device.l2_bytes / 4 * draw.uniform(0.25, 1.5))
    skip = draw.choice((0, 0, 0, draw.randrange(32)))
    state = draw.choice(("cold", "hot", "written"))
    return Case(device, kind, rows, cols, skip, state, draw_lengths(draw, n, rows) if kind == "ragged" else None)


def run(device, case):
    calls = case.calls()
    case.compare(calls)
    us = measure(case, calls)
    if worst(us) > NEAR:
        more = [measure(case, calls) for _ in range(AGAIN)]
        us = {name: statistics.median(one[name] for one in more) for name in us}
    columns = ["%.3f" % us[name] if name in us else "" for name in ("ours", "cub", "torch")]
    print(f"{case},{','.join(columns)},{worst(us):.3f}", flush=True)
    return worst(us), str(case)


def main(library, seed, count, *kinds):
    device, draw = Device(library), random.Random(int(seed))
    print("# device: %s\n# torch: %s\n# cub: %d\n# seed: %s" % (
        torch.cuda.get_device_name(), torch.__version__, device.library.cub_version(), seed))
    print("kind,spread,rows,cols,n,skip,state,ours,cub,torch,ours_over_best")
    for kind in kinds or KINDS:
        found = sorted((run(device, draw_case(device, draw, kind)) for _ in range(int(count))), reverse=True)
        over = sum(ratio > 1.05 for ratio, _ in found)
        print("%s: %d cases, median %.2f; %d take more than 1.05 times a peer's time" % (
            kind, len(found), statistics.median(ratio for ratio, _ in found), over), file=sys.stderr)
        for ratio, case in found[:max(over, 3)]:
            print("  %.3f %s" % (ratio, case), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
