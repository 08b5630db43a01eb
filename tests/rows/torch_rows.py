#!/usr/bin/env python3
"""PyTorch's softmax and layer norm at the shapes that code/row_shapes.cuh has measured, beside its times.

    ./shapes --csv shapes.csv && tests/rows/torch_rows.py shapes.csv >results/compare-torch.csv

Both on the same GPU, one after the other; PyTorch must be there. A time is the median of replays of a
CUDA graph whose calls go through as many inputs as no cache holds, as the labs' harness does it. Prints
some shapes of the largest total: microseconds, and PyTorch's time by ours; behind them the least of these
and the geometric mean of all shapes.
"""
import csv
import math
import statistics
import sys

import torch

COLD = 256 << 20  # bytes of inputs that no cache holds
BUDGET = 400  # microseconds of a graph, about
SAMPLES = 7
SHOWN = {32, 1024, 1025, 8192, 16384, 50257, 65536, 262144, 262145}  # lengths
KERNELS = {"softmax": ("softmax", torch.float32), "softmax_bf16": ("softmax", torch.bfloat16),
           "layer_norm_weights": ("layer norm", torch.float32), "layer_norm_weights_bf16": ("layer norm", torch.bfloat16)}


def call_of(operation, cols, dtype):
    if operation == "softmax":
        return lambda x: torch.softmax(x, 1)
    weights, bias = (torch.ones(cols, device="cuda", dtype=dtype) for _ in range(2))
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
    inputs = [torch.randn(rows, cols, device="cuda", dtype=dtype) for _ in range(COLD // bytes_in + 1)]
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


def main(path):
    lines = [line for line in open(path) if not line.startswith("#")]
    ours = [row for row in csv.DictReader(lines) if row["kernel"] in KERNELS]
    largest, ratios = max(int(row["n"]) // int(row["cols"]) * int(row["cols"]) for row in ours), []
    print("# device: %s\n# torch: %s" % (torch.cuda.get_device_name(), torch.__version__))
    print("operation,elem,cols,rows,ours,torch,torch_over_ours")
    for row in ours:
        n, cols, mine = int(row["n"]), int(row["cols"]), float(row["median_us"])
        operation, dtype = KERNELS[row["kernel"]]
        theirs = time_us(call_of(operation, cols, dtype), n // cols, cols, dtype)
        ratios.append(theirs / mine)
        if n > largest // 2 and cols in SHOWN:
            print("%s,%s,%d,%d,%.1f,%.1f,%.2f" % (operation, row["elem"], cols, n // cols, mine, theirs, theirs / mine))
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print("least of %d shapes,,,,,,%.2f\ngeometric mean,,,,,,%.2f" % (len(ratios), min(ratios), mean))


main(sys.argv[1])
