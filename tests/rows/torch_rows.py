#!/usr/bin/env python3
"""Times PyTorch's softmax and layer norm at the shapes that code/row_shapes.cuh measures, and prints both times.

    ./shapes --csv shapes.csv && tests/rows/torch_rows.py shapes.csv >results/compare-torch.csv

Both on the same GPU, one after the other; PyTorch must be there. A time is the median of replays of a
CUDA graph whose calls go through as many inputs as no cache holds, as the labs' harness does it. Prints
some shapes of the largest total: microseconds of ours, of PyTorch as it is called, and of what
torch.compile makes for this shape, which are kernels in Triton; and the first of these two by ours.
After them, of the shapes of the tables and of those drawn at random, the least of these and the
geometric mean, with the shape where it is least.
"""
import csv
import math
import statistics
import sys

import torch

COLD = 256 << 20  # bytes of inputs, more than any cache has
BUDGET = 400  # approximate microseconds of a graph
SAMPLES = 7
SHOWN = {32, 1024, 1025, 16384, 50257, 262144}  # lengths
KERNELS = {"softmax": "softmax", "layer_norm_weights": "layer norm", "drawn_softmax": "softmax", "drawn_layer_norm": "layer norm"}
TYPES = {"float": torch.float32, "bfloat16": torch.bfloat16}


def call_of(operation, cols, dtype, weighted):
    if operation == "softmax":
        return lambda x: torch.softmax(x, 1)
    weights, bias = (torch.ones(cols, device="cuda", dtype=dtype) if weighted else None for _ in range(2))
    return lambda x: torch.nn.functional.layer_norm(x, (cols,), weights, bias)


def elapsed(call):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3


def time_us(call, rows, cols, dtype):
    bytes_in = rows * cols * torch.empty((), dtype=dtype).element_size()
    inputs = [torch.randn(rows, cols, device="cuda", dtype=dtype) for _ in range(min(COLD // bytes_in + 1, 100))]
    with torch.cuda.stream(torch.cuda.Stream()):
        call(inputs[0])
    torch.cuda.synchronize()
    times = max(len(inputs), min(100, int(BUDGET / elapsed(lambda: call(inputs[0])))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for k in range(times):
            call(inputs[k % len(inputs)])
    graph.replay()
    return statistics.median(elapsed(graph.replay) / times for _ in range(SAMPLES))


def compiled_us(call, rows, cols, dtype):
    torch._dynamo.reset()
    return time_us(torch.compile(call, dynamic=False), rows, cols, dtype)


def main(path):
    lines = [line for line in open(path) if not line.startswith("#")]
    ours = [row for row in csv.DictReader(lines) if row["kernel"].removesuffix("_bf16") in KERNELS]
    largest, ratios = max(int(row["n"]) // int(row["cols"]) * int(row["cols"]) for row in ours), {}
    print("# device: %s\n# torch: %s" % (torch.cuda.get_device_name(), torch.__version__))
    print("operation,elem,cols,rows,ours,torch,compiled,torch_over_ours")
    for row in ours:
        kernel = row["kernel"].removesuffix("_bf16")
        n, cols, mine, drawn = int(row["n"]), int(row["cols"]), float(row["median_us"]), kernel.startswith("drawn")
        shape = KERNELS[kernel], row["elem"], cols, n // cols
        dtype = TYPES[row["elem"]]
        call = call_of(shape[0], cols, dtype, not drawn)
        theirs = time_us(call, n // cols, cols, dtype)
        ratios.setdefault(drawn, []).append((theirs / mine, shape, mine, theirs))
        if not drawn and n > largest // 2 and cols in SHOWN:
            compiled = compiled_us(call, n // cols, cols, dtype)
            print("%s,%s,%d,%d,%.1f,%.1f,%.1f,%.2f" % (*shape, mine, theirs, compiled, theirs / mine), flush=True)
    for drawn, found in sorted(ratios.items()):
        what = "%d shapes %s" % (len(found), "drawn at random" if drawn else "of the tables")
        ratio, shape, mine, theirs = min(found)
        mean = math.exp(statistics.fmean(math.log(one[0]) for one in found))
        print("least of %s: %s,%s,%d,%d,%.1f,%.1f,,%.2f" % (what, *shape, mine, theirs, ratio))
        print("geometric mean of %s,,,,,,,%.2f" % (what, mean))


main(sys.argv[1])
