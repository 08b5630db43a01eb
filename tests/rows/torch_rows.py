#!/usr/bin/env python3
"""Times softmax and layer norm of rows: the header's, PyTorch's, torch.compile's and QuACK's.

    nvcc -O3 -arch=native -shared -Xcompiler -fPIC -I code -o rows.so tests/rows/torch_rows.cu
    tests/rows/torch_rows.py rows.so [--seconds S] >results/compare-torch.csv

PyTorch must be installed; without QuACK (the package quack-kernels) its column is empty. All are timed as the labs'
harness does it: a CUDA graph of as many calls as our function makes in two milliseconds, over different inputs; before
each replay all of them are read, four times as much as L2 holds. A few small shapes are also timed in a stream: the same
calls one after the other, without a graph, from Python; ours go through ctypes. torch.compile runs in its default mode
(compiled) and in the one that searches longest (autotuned), for one shape at a time. Layer norm has weights and biases;
QuACK's are floats, for all types of rows. Results are compared with PyTorch's before anything is timed.

Prints microseconds, a line for each shape and way to call, and the time of PyTorch, and of the fastest peer, by ours. A
peer that fails, or needs more than PEER_SECONDS for a shape, has an empty cell, and stderr says why. A second process does
the work, and is started again after a peer has broken it. After S seconds no further shape begins.
"""
import argparse
import ctypes
import faulthandler
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from types import SimpleNamespace

import torch

MODES = {"compiled": "default", "autotuned": "max-autotune-no-cudagraphs"}  # of torch.compile
PEER_SECONDS = 100
GRAPH_MS, LEAST_SAMPLES, SAMPLE_MS = 2.0, 5, 40
TYPES = {"float": torch.float32, "bfloat16": torch.bfloat16}
LENGTHS, LARGE = (32, 1024, 1025, 16384, 50257, 262144), 25600000  # elements
# Operation, type, rows, columns, and ways to call.
SHAPES = [(operation, elem, rows, 1024, ("graph", "stream")) for rows in (64, 1024)
          for operation in ("softmax", "layer_norm") for elem in TYPES]
SHAPES += [(operation, elem, LARGE // cols, cols, ("graph",)) for elem in TYPES
           for operation in ("softmax", "layer_norm") for cols in LENGTHS]
NAMES = ["ours", "torch", *MODES, "quack"]
TASKS = len(SHAPES) * len(NAMES)
ABOUT_LINES = 7


def say(what):
    print("torch_rows.py: " + what, file=sys.stderr, flush=True)


def task(k):
    """The shape of task k, and the function that is timed."""
    return SHAPES[k // len(NAMES)], NAMES[k % len(NAMES)]


def describe(k):
    (operation, elem, rows, cols, _), name = task(k)
    return "%s: %s %s %d x %d" % (name, operation, elem, rows, cols)


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr() if tensor is not None else None)


class Shape:
    """Rows of one shape: the inputs, weights for layer norm, and functions that return a call for an input, without
    arguments."""

    def __init__(self, library, workspace, quack, operation, elem, rows, cols):
        self.operation, self.elem = operation, elem
        dtype, n, size = TYPES[elem], rows * cols, torch.finfo(TYPES[elem]).bits // 8
        cold = 4 * torch.cuda.get_device_properties(0).L2_cache_size
        slot = (n * size // 256 + 1) * 256
        count = min(cold // slot + 1, 256)
        self.all = torch.empty(max(count * slot, cold) // size, device="cuda", dtype=dtype).normal_()
        self.inputs = [self.all[k * slot // size:][:n].view(rows, cols) for k in range(count)]
        self.out = torch.empty(rows, cols, device="cuda", dtype=dtype)
        weighted = operation == "layer_norm"
        weights, bias = (torch.randn(cols, device="cuda", dtype=dtype) if weighted else None for _ in range(2))
        function = getattr(library, "%s_%s" % (operation, elem))
        tail = ctypes.c_size_t(rows), ctypes.c_size_t(cols), pointer(weights), pointer(bias), pointer(workspace)

        def ours(x):
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            return partial(function, pointer(x), pointer(self.out), *tail, stream)

        if weighted:
            in_torch = lambda x: torch.nn.functional.layer_norm(x, (cols,), weights, bias)
            wide = [one.float() for one in (weights, bias)]  # QuACK takes these only
            in_quack = lambda x: quack.layer_norm(x, *wide, eps=1e-5)
        else:
            in_torch = lambda x: torch.softmax(x, 1)
            in_quack = lambda x: quack.softmax(x)
        torch._dynamo.reset()
        self.functions = {"ours": ours, "torch": lambda x: partial(in_torch, x), "quack": lambda x: partial(in_quack, x)}
        for name, mode in MODES.items():
            compiled = torch.compile(in_torch, dynamic=False, mode=mode)
            self.functions[name] = partial(partial, compiled)

    def check(self, name):
        """Fails unless a function gives what PyTorch gives, up to rounding, in the first rows."""
        error = 1e-4 if self.elem == "float" else 0.02
        found = self.functions[name](self.inputs[0])()
        if name == "ours":  # which returns an error code
            if found != 0:
                raise RuntimeError("CUDA error %d" % found)
            found = self.out
        wanted, found = self.functions["torch"](self.inputs[0][:64])().float(), found[:64].float()
        if not torch.allclose(found, wanted, rtol=error, atol=0 if self.operation == "softmax" else error):
            raise RuntimeError("another result")


def elapsed(call):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def calls_of(shape):
    """As many calls as the harness puts into a graph."""
    ms = [elapsed(shape.functions["ours"](shape.inputs[0])) for _ in range(3)][-1]
    return 1 if ms > GRAPH_MS else 200 if ms < 0.01 else int(GRAPH_MS / ms)


def time_us(shape, name, calls, way):
    call = shape.functions[name]

    def all_calls():
        bound = [call(x) for x in shape.inputs[:calls]]  # in the stream at hand
        return [bound[k % len(bound)] for k in range(calls)]

    def run(every):
        for one in every:
            one()

    if way == "stream":
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


def load_quack():
    """QuACK's functions, or None without it."""
    try:
        import quack
        from quack.rmsnorm import layernorm_fwd
        return SimpleNamespace(softmax=quack.softmax, layer_norm=layernorm_fwd, version=quack.__version__)
    except Exception as error:
        say("no QuACK: %s" % error)


def work(library, first, pipe):
    """The second process: does the tasks from `first` on, and writes the times of each into the pipe."""
    faulthandler.dump_traceback_later(PEER_SECONDS, exit=True)
    began, report = time.monotonic(), open(pipe, "w", buffering=1)
    library, quack = ctypes.CDLL(library), load_quack()
    library.workspace_bytes.restype = ctypes.c_size_t
    workspace = torch.zeros(library.workspace_bytes(), device="cuda", dtype=torch.uint8)
    print("# device: %s\n# torch: %s\n# triton: %s" % (
        torch.cuda.get_device_name(), torch.__version__, __import__("triton").__version__), file=report)
    print(*map("# %s: %s".__mod__, MODES.items()), "# quack: %s" % (quack.version if quack else "none"),
          "# date: " + time.strftime("%F"), sep="\n", file=report)
    shape = None
    for k in range(first, TASKS):
        faulthandler.dump_traceback_later(PEER_SECONDS, exit=True)
        (*of_shape, ways), name = task(k)
        if shape is None or name == NAMES[0]:
            shape = Shape(library, workspace, quack, *of_shape)
            calls = calls_of(shape)
        times = []
        try:
            if name != "quack" or quack:
                shape.check(name)
                times = [time_us(shape, name, calls, way) for way in ways]
        except Exception as error:
            say("%s: %s: %s" % (describe(k), type(error).__name__, str(error)[:300]))
        torch.cuda.synchronize()  # fails if the device does, and ends this process
        print(json.dumps(times), file=report)
        say("%4.0f s, %s" % (time.monotonic() - began, describe(k)))
    faulthandler.cancel_dump_traceback_later()


def print_shape(shape, found):
    """Prints a line for each way to call; found: the times of each name."""
    operation, elem, rows, cols, ways = shape
    for k, way in enumerate(ways):
        ours, *peers = us = [times[k] if times else math.inf for times in found]
        ratios = [peers[0] / ours, min(peers) / ours]
        cells = ["" if not math.isfinite(t) else "%.2f" % t if t < 10 else "%.1f" % t for t in us]
        cells += ["%.2f" % ratio if 0 < ratio < math.inf else "" for ratio in ratios]
        print(operation.replace("_", " "), elem, cols, rows, way, *cells, sep=",", flush=True)


def all_times(library):
    """Yields the times of one task after another, none for one that ends the second process, and starts that again."""
    k = 0
    while k < TASKS:
        read, write = os.pipe()
        worker = subprocess.Popen([sys.executable, __file__, library, "--worker", str(k), str(write)],
                                  pass_fds=[write], stdout=sys.stderr)
        os.close(write)
        try:
            with open(read) as lines:
                about = list(itertools.islice(lines, ABOUT_LINES))
                if len(about) < ABOUT_LINES:
                    sys.exit("torch_rows.py: the second process could not start: see above")
                if k == 0:
                    print(*about, "operation,elem,cols,rows,way,%s,torch_over_ours,least_over_ours" % ",".join(NAMES), sep="")
                for line in lines:
                    k += 1
                    yield json.loads(line)
            if k < TASKS:
                say("%s: it failed, or took more than %d s" % (describe(k), PEER_SECONDS))
                k += 1
                yield []
        finally:
            worker.kill()
            worker.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--worker", nargs=2, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(args.library, *args.worker)
    began, times = time.monotonic(), all_times(args.library)
    for shape in SHAPES:
        if time.monotonic() - began > args.seconds:
            say("no time for the shapes from %s %s x %d on" % (*shape[:2], shape[3]))
            break
        print_shape(shape, [next(times) for _ in NAMES])
    times.close()


if __name__ == "__main__":
    main()
