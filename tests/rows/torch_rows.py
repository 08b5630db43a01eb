#!/usr/bin/env python3
"""Times softmax and layer norm of rows in one process: the header's, PyTorch's, torch.compile's and QuACK's.

    nvcc -O3 -arch=native -shared -Xcompiler -fPIC -I code -o rows.so tests/rows/torch_rows.cu
    tests/rows/torch_rows.py results/nvidia-h200-shapes.csv rows.so >results/compare-torch.csv

Takes the shapes, not the times, from a file of the sweep of chapter 16. PyTorch must be installed; without QuACK (the
package quack-kernels) its column is empty. All are timed as the labs' harness does it: a CUDA graph of as many calls as
our function makes in two milliseconds, over inputs that are four times as large as the L2 cache, which is filled with
the last of them before each replay. A few small shapes are also timed in a stream: the same calls one after the other,
without a graph, from Python; ours go through ctypes. torch.compile runs in the mode that searches longest, for one shape at a time.
Results are compared with PyTorch's before anything is timed.

Prints microseconds for the small shapes and for some of the largest total, then, of the shapes of the sweep and of those
drawn at random, PyTorch's time by ours where that is least, and the geometric mean.
"""
import csv
import ctypes
import math
import statistics
import sys
from functools import partial

import torch

try:
    import quack
    from quack.rmsnorm import layernorm_fwd
    QUACK = quack.__version__
except ImportError as error:
    QUACK, layernorm_fwd = "none", None
    print("torch_rows.py: no QuACK: %s" % error, file=sys.stderr)

MODE = "max-autotune-no-cudagraphs"  # of torch.compile
GRAPH_MS, LEAST_SAMPLES, SAMPLE_MS = 2.0, 5, 40
SHOWN = {32, 1024, 1025, 16384, 50257, 262144}  # lengths
SMALL = [(operation, elem, rows, 1024) for rows in (64, 1024) for operation in ("softmax", "layer_norm")
         for elem in ("float", "bfloat16")]
KERNELS = {"softmax": "softmax", "layer_norm_weights": "layer_norm", "drawn_softmax": "softmax",
           "drawn_layer_norm": "layer_norm"}
TYPES = {"float": torch.float32, "bfloat16": torch.bfloat16}
COLUMNS = "ours torch compiled quack".split()


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr() if tensor is not None else None)


class Shape:
    """Rows of one shape: the inputs, weights if wanted, and functions that return a call for an input, without arguments."""

    def __init__(self, library, workspace, operation, elem, rows, cols, weighted):
        self.operation, self.elem, self.rows, self.cols = operation, elem, rows, cols
        dtype, n, size = TYPES[elem], rows * cols, torch.finfo(TYPES[elem]).bits // 8
        cold = 4 * torch.cuda.get_device_properties(0).L2_cache_size
        slot = (n * size // 256 + 1) * 256
        count = min(cold // slot + 1, 256)
        self.all = torch.empty(max(count * slot, cold) // size, device="cuda", dtype=dtype).normal_()
        self.inputs = [self.all[k * slot // size:][:n].view(rows, cols) for k in range(count)]
        self.out = torch.empty(rows, cols, device="cuda", dtype=dtype)
        weights, bias = (torch.randn(cols, device="cuda", dtype=dtype) if weighted else None for _ in range(2))
        function = getattr(library, "%s_%s" % (operation, elem))
        tail = ctypes.c_size_t(rows), ctypes.c_size_t(cols), pointer(weights), pointer(bias), pointer(workspace)

        def ours(x):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            return partial(function, pointer(x), pointer(self.out), *tail, stream)

        self.ours = ours
        if operation == "softmax":
            self.torch = lambda x: partial(torch.softmax, x, 1)
            self.to_compile = lambda x: torch.softmax(x, 1)
            self.quack = lambda x: partial(quack.softmax, x)
        else:
            self.torch = lambda x: partial(torch.nn.functional.layer_norm, x, (cols,), weights, bias)
            self.to_compile = lambda x: torch.nn.functional.layer_norm(x, (cols,), weights, bias)
            wide = [one.float() if weighted else None for one in (weights, bias)]  # QuACK takes these only
            self.quack = lambda x: partial(layernorm_fwd, x, *wide, eps=1e-5)

    def agrees(self, call):
        """Whether a function gives what PyTorch gives, up to rounding, in the first rows."""
        error = 1e-4 if self.elem == "float" else 0.02
        found = call(self.inputs[0])()
        if isinstance(found, int):  # ours returns an error code
            found = self.out if found == 0 else self.inputs[0]
        wanted, found = self.torch(self.inputs[0][:64])().float(), found[:64].float()
        return torch.allclose(found, wanted, rtol=error, atol=0 if self.operation == "softmax" else error)


def elapsed(call):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def calls_of(shape):
    """As many calls as the harness puts into a graph."""
    ms = [elapsed(shape.ours(shape.inputs[0])) for _ in range(3)][-1]
    return 1 if ms > GRAPH_MS else 200 if ms < 0.01 else int(GRAPH_MS / ms)


def time_us(shape, call, calls, in_stream=False):
    def all_calls():
        bound = [call(x) for x in shape.inputs[:calls]]  # in the stream at hand
        return [bound[k % len(bound)] for k in range(calls)]

    def run(every):
        for one in every:
            one()

    if in_stream:
        replay = partial(run, all_calls())
        replay()
    else:
        with torch.cuda.stream(torch.cuda.Stream()):
            call(shape.inputs[0])()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run(all_calls())
        replay = graph.replay
    found = []
    while len(found) < LEAST_SAMPLES or (len(found) < 1000 and sum(found) < SAMPLE_MS):
        shape.all.sum()
        found.append(elapsed(replay))
    return statistics.median(found) * 1e3 / calls


def print_all(shape, calls, ways):
    """Prints a line for each way to call; returns the times of the first. A cell is empty where there is no such function,
    or it refuses this shape."""
    functions = {"ours": shape.ours, "torch": shape.torch}
    torch._dynamo.reset()
    compiled = torch.compile(shape.to_compile, dynamic=False, mode=MODE)
    functions["compiled"] = lambda x: partial(compiled, x)
    if layernorm_fwd:
        functions["quack"] = shape.quack
    found = {way: dict.fromkeys(COLUMNS) for way in ways}
    for name, call in functions.items():
        try:
            if not shape.agrees(call):
                raise RuntimeError("another result")
            for way in ways:
                found[way][name] = time_us(shape, call, calls, way == "stream")
        except Exception as error:
            what = "%s: %s %s %d x %d: %s" % (name, shape.operation, shape.elem, shape.rows, shape.cols, str(error)[:300])
            if name == "ours":
                sys.exit("torch_rows.py: " + what)
            print("torch_rows.py: " + what, file=sys.stderr)
    for way, times in found.items():
        peers = [times[name] for name in COLUMNS[1:] if times[name]]
        print(line(shape, way, times.values(), min(peers) / times["ours"]), flush=True)
    return found[ways[0]]


def line(shape, way, times, ratio):
    cells = ["%.2f" % us if us and us < 10 else "%.1f" % us if us else "" for us in times]
    what = shape.operation.replace("_", " "), shape.elem, str(shape.cols), str(shape.rows), way
    return ",".join([*what, *cells, "%.2f" % ratio])


def main(path, library):
    wanted = [row for row in csv.DictReader(line for line in open(path) if not line.startswith("#"))
              if row["kernel"].removesuffix("_bf16") in KERNELS]
    largest, ratios = max(int(row["n"]) // int(row["cols"]) * int(row["cols"]) for row in wanted), {}
    library = ctypes.CDLL(library)
    library.workspace_bytes.restype = ctypes.c_size_t
    workspace = torch.zeros(library.workspace_bytes(), device="cuda", dtype=torch.uint8)
    print("# device: %s\n# torch: %s\n# triton: %s\n# compiled: %s\n# quack: %s" % (
        torch.cuda.get_device_name(), torch.__version__, __import__("triton").__version__, MODE, QUACK))
    print("operation,elem,cols,rows,way,%s,least_over_ours" % ",".join(COLUMNS))
    for operation, elem, rows, cols in SMALL:
        shape = Shape(library, workspace, operation, elem, rows, cols, operation == "layer_norm")
        print_all(shape, calls_of(shape), ("graph", "stream"))
    for row in wanted:
        kernel, n, cols = row["kernel"].removesuffix("_bf16"), int(row["n"]), int(row["cols"])
        drawn = kernel.startswith("drawn")
        shape = Shape(library, workspace, KERNELS[kernel], row["elem"], n // cols, cols, kernel == "layer_norm_weights")
        if not shape.agrees(shape.ours):
            sys.exit("torch_rows.py: ours gives another result: %s" % row)
        calls = calls_of(shape)
        if not drawn and n > largest // 2 and cols in SHOWN:
            times = print_all(shape, calls, ("graph",))
            mine, theirs = times["ours"], times["torch"]
        else:
            mine, theirs = time_us(shape, shape.ours, calls), time_us(shape, shape.torch, calls)
        ratios.setdefault(drawn, []).append((theirs / mine, line(shape, "graph", (mine, theirs, None, None), theirs / mine)))
        shape.ours = None  # which refers to the shape: its memory is free at once
    for drawn, found in sorted(ratios.items()):
        what = "%d shapes %s" % (len(found), "drawn at random" if drawn else "of the tables")
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in found))
        print("least of %s: %s" % (what, min(found)[1]))
        print("geometric mean of %s%s,%.2f" % (what, "," * (len(COLUMNS) + 4), mean))


main(*sys.argv[1:])
