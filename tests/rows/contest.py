#!/usr/bin/env python3
"""Times the headers' calls beside CUB's and PyTorch's, on cases drawn at random: kind, shape, address and cache state.

    tests/rows/contest.py contest.so SEED COUNT [--seconds S] [--kinds KIND...] >results/compare-drawn-cases.csv

contest.cu says how to compile contest.so. Draws COUNT cases of each kind: sums of an array, of rows and of ragged rows,
softmax, layer norm. The first case of every kind comes first, then the second of every kind, until COUNT is reached or
another such round may not end within S seconds. All calls of a case are timed in the same way: a CUDA graph with as many
calls as ours makes in some 300 microseconds, median of its replays, the peers in random order.

cold      each call has another input; before each replay other data fills L2. All inputs together are four times as large
          as L2, or there are 256 of them
hot       each call has the same input; before the first replay other data fills L2
written   a kernel writes the input before each call; the time of such kernels alone is subtracted. What a call evicts,
          which slows the next write, counts as its own time

From 16 Mi elements on the ceiling is timed, too: a kernel that reads the same elements, and the offsets of ragged rows,
at the same addresses, and writes as many results, but computes nothing. For softmax and layer norm it moves what a copy
moves.

A case is timed five times more, and the medians count, if it takes 3 % longer than CUB or PyTorch, or if it runs at less
than 80 % of the ceiling's speed. That corrects bad luck and not good luck, so means are slightly in our favour. Of the
first million results, those that differ from a peer's are reported on stderr.

Prints a line for each case, in microseconds. Runs with other seeds can be appended. drawn.py sums them up.
"""
import time

STARTED = time.monotonic()

import argparse
import ctypes
import math
import random
import statistics
import sys

import torch

from drawn import OVER

POOL = 1 << 27  # floats of input, and of output
SHIFTS = 64  # further floats, for addresses that are not aligned
GRAPH_US, SAMPLES, AGAIN = 300, 7, 5
LEAST_US = 0.1  # no call is faster; the difference that gives the time of one after its input is written is noisy
CEILING_FROM = 1 << 24  # elements
NEAR = 1.03
KINDS = "sum", "rows", "ragged", "softmax", "layer_norm"
MAPS = "softmax", "layer_norm"  # rows in, rows out


class Device:
    """What all cases share. All work is in one stream, so that PyTorch uses its memory again."""

    def __init__(self, library):
        torch.cuda.init()
        self.library = ctypes.CDLL(library)
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self.inputs, self.outputs, self.others = (torch.empty(POOL + SHIFTS, device="cuda").uniform_(-1, 1)
                                                  for _ in range(3))
        self.workspace = torch.zeros(4 << 20, dtype=torch.uint8, device="cuda")
        self.l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        # Graphs allocate from one pool of memory. It exists as long as one of them does.
        self.pool = torch.cuda.graph_pool_handle()
        self.keeper = self.graph_of(lambda: self.workspace.zero_())

    def fill_cache(self):
        self.others.sum()

    def graph_of(self, work):
        """Does less than torch.cuda.graph, which also collects garbage and empties PyTorch's cache each time."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        graph.capture_begin(pool=self.pool)
        work()
        graph.capture_end()
        return graph


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class Case:
    """Rows of equal length, or ragged ones with `offsets`, that begin `skip` floats after an aligned address."""

    def __init__(self, device, kind, rows, cols, skip, state, spread="equal", offsets=None):
        self.device, self.kind, self.rows, self.cols, self.skip, self.state = device, kind, rows, cols, skip, state
        self.spread, self.offsets = spread, offsets
        self.n, self.longest = rows * cols, cols
        if offsets is not None:
            self.n, self.longest = int(offsets[-1]), int(offsets.diff().max())
        self.slot = self.n // SHIFTS * SHIFTS + 2 * SHIFTS
        cold = min(-(-device.l2_bytes // self.n), (POOL - skip) // self.slot, 256)
        self.slots = max(cold, 1) if state == "cold" else 1

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
        torch.neg(self.device.others[self.skip:][:self.n], out=self.input(k))

    def call_of(self, name):
        """The library's function of that name, as a call for the k-th input."""
        function, size = getattr(self.device.library, name), ctypes.c_size_t
        shape = [size(self.n)] if self.kind == "sum" else [size(self.rows), size(self.cols)]
        offsets = []
        if self.kind == "ragged":
            shape, offsets = [size(self.rows), size(self.n)], [pointer(self.offsets)]
        tail = [*shape, pointer(self.device.workspace), ctypes.c_void_p(self.device.stream.cuda_stream)]

        def call(k):
            error = function(pointer(self.input(k)), *offsets, pointer(self.output(k)), *tail)
            if error:
                raise RuntimeError(f"CUDA error {error}")
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
        """Reports results of a peer that are further from ours than rounding explains; leaves out a peer that fails."""
        found = {}
        for name, call in list(calls.items()):
            try:
                self.output(0).fill_(math.nan)  # a peer that writes nothing must not find our results
                result = call(0)
            except RuntimeError as error:
                if name == "ours":
                    raise
                print(f"contest.py: {self}: {name}: {error}", file=sys.stderr)
                del calls[name]
                continue
            result = result if self.kind == "layer_norm" and name == "torch" else self.output(0)
            found[name] = result.flatten()[:1 << 20].double()  # a copy
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
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def calls_in_graph(case, call):
    """As many calls as take GRAPH_US, and at least one for each input."""
    call(0)
    about = max(1.5, elapsed_us(lambda: call(0)) - 6)  # less what a launch takes
    return max(case.slots, min(100, int(GRAPH_US / about) + 1))


class Timer:
    """A graph of calls that can be timed again and again; without a call, of the kernel that writes the input."""

    def __init__(self, case, call, calls):
        def once(k):
            if case.state == "written":
                case.write(k)
            if call:
                call(k)

        def all_calls():
            for k in range(self.calls):
                once(k)

        once(0)
        self.device, self.calls, self.cold = case.device, calls, case.state == "cold"
        self.graph = self.device.graph_of(all_calls)

    def us(self):
        for _ in range(4):  # the clock rises, and L2 is full of other data
            self.device.fill_cache()
        for _ in range(3):
            self.graph.replay()
        return statistics.median(self.sample() for _ in range(SAMPLES))

    def sample(self):
        if self.cold:  # small inputs would all stay in L2
            self.device.fill_cache()
        return elapsed_us(self.graph.replay) / self.calls


def measure(timers, written):
    """Microseconds of each call."""
    before = written.us() if written else 0
    us = {name: timers[name].us() for name in random.sample(list(timers), len(timers))}
    return {name: max(us[name] - before, LEAST_US) for name in timers}


def worst(us):
    """The greatest ratio of our time to CUB's or PyTorch's."""
    return max((us["ours"] / us[name] for name in us if name not in ("ours", "ceiling")), default=0)


def far(us):
    """Whether the case is to be timed again."""
    return worst(us) > NEAR or us["ours"] > OVER["ceiling"] * us.get("ceiling", math.inf)


def log_uniform(draw, low, high):
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


def draw_offsets(draw, n, rows):
    """How lengths are spread, and the offsets of `rows` rows, together about n elements."""
    spread = draw.choice(("equal", "even", "power", "giant", "mostly empty"))
    random_of = torch.Generator("cuda").manual_seed(draw.randrange(1 << 30))
    uniform = lambda: torch.rand(rows, generator=random_of, dtype=torch.float64, device="cuda")
    if spread == "even":
        weights = uniform()
    elif spread == "power":
        weights = (uniform() + 1e-6) ** -0.8
    elif spread == "mostly empty":
        weights = (uniform() > 0.95) * uniform()
    else:
        weights = torch.ones(rows, dtype=torch.float64, device="cuda")
    if spread == "giant":
        weights[draw.randrange(rows)] = rows * draw.choice((1, 10))
    if not weights.any():
        weights[0] = 1
    offsets = torch.zeros(rows + 1, dtype=torch.int32, device="cuda")
    lengths = (weights * (n / weights.sum())).long()
    if not lengths.any():
        lengths[0] = n
    offsets[1:] = lengths.cumsum(0)
    return spread, offsets


def draw_case(device, draw, kind):
    n = log_uniform(draw, 1 << 10, 1 << 26)
    rows = 1 if kind == "sum" else log_uniform(draw, 1, n)
    cols = max(2 if kind in MAPS else 1, n // rows)
    if kind == "sum" and draw.random() < 0.25:  # about as large as L2
        cols = int(device.l2_bytes / 4 * draw.uniform(0.25, 1.5))
    skip = draw.choice((0, 0, 0, draw.randrange(32)))
    state = draw.choice(("cold", "hot", "written"))
    return Case(device, kind, rows, cols, skip, state, *(draw_offsets(draw, n, rows) if kind == "ragged" else ()))


def time_case(case):
    """Microseconds of each call."""
    calls = case.calls()
    case.compare(calls)
    if case.n >= CEILING_FROM:
        calls["ceiling"] = case.call_of("ceiling_" + case.kind)
    count = calls_in_graph(case, calls["ours"])
    timers = {name: Timer(case, calls[name], count) for name in calls}
    written = Timer(case, None, count) if case.state == "written" else None
    us = measure(timers, written)
    if far(us):
        more = [measure(timers, written) for _ in range(AGAIN)]
        us = {name: statistics.median(one[name] for one in more) for name in us}
    return us


def rounds(count, seconds):
    """Counts up to `count`, and stops before a round that may end too late."""
    longest = 0
    for k in range(count):
        begin = time.monotonic()
        if begin - STARTED + longest > seconds:
            return
        yield k
        longest = max(longest, time.monotonic() - begin)


def case_line(seed, case, us):
    cells = ["%.3f" % us[name] if name in us else "" for name in ("ours", *OVER)]
    return "%s,%s,%s,%.3f" % (seed, case, ",".join(cells), worst(us))


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("seed")
    parser.add_argument("count", type=int)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    return parser.parse_args()


def main():
    args = arguments()
    device = Device(args.library)
    print("# device: %s\n# torch: %s\n# cub: %d\n# date: %s" % (
        torch.cuda.get_device_name(), torch.__version__, device.library.cub_version(), time.strftime("%F")))
    print("seed,kind,spread,rows,cols,n,skip,state,ours,%s,ours_over_best" % ",".join(OVER))
    draw = {kind: random.Random(args.seed + " " + kind) for kind in args.kinds}
    for _ in rounds(args.count, args.seconds):
        for kind in args.kinds:
            case = draw_case(device, draw[kind], kind)
            print(case_line(args.seed, case, time_case(case)), flush=True)


if __name__ == "__main__":
    main()
