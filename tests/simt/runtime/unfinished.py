"""Work that nobody waits for (unfinished.cu): what --check says of each wrong case, and nothing of a right one."""
import signal

import suite
from device import simt
from expect import expect, program, tests

BETWEEN = r"and nothing orders the two: cudaStreamWaitEvent\(\) between them, or one stream for both\n"
EDGE = r"and nothing orders the two: make one node depend on the other\n"
WAIT = r"and may still run: cudaDeviceSynchronize\(\) or another wait first\n"
LINE = r"\S*unfinished\.cu:\d+"
STREAMS = {  # a case of unfinished.cu: the later work, the bytes, what it does, the earlier work, what that does
    "two_kernels": ("put", "bytes 0 to 255 of 4096 from cudaMalloc", "writes", "put", "writes"),
    "memset_default": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "cudaMemset", "writes"),
    "memset_async": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "cudaMemsetAsync", "writes"),
    "copy_beside": ("cudaMemcpyAsync", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "copy_back_beside": ("cudaMemcpy", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "event_early": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "writer_behind_one_reader": ("put", "bytes 0 to 255 of 4096 from cudaMalloc", "writes", "get", "reads"),
    "bytes": ("put_bytes", "byte 32 of 4096 from cudaMalloc", "writes", "put_bytes", "writes"),
    "counter_read": ("get", "bytes 0 to 3 of 4096 from cudaMalloc", "reads", "count", "writes"),
    "per_thread": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "destroyed": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "graph_beside": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes")}
GRAPHS = {"graph_branches": ("put", "bytes 512 to 767 of 4096 from cudaMalloc", "writes", "put", "writes"),
          "captured_apart": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes")}
HOST = {  # a case: what host code does, to which byte, what has not been waited for, what that does
    "host_reads": ("reads", "byte 12 of 4096 from cudaMallocManaged", "put", "writes"),
    "host_reads_later": ("reads", "byte 0 of 4096 from cudaMallocManaged", "put", "writes"),
    "host_writes": ("writes", "byte 20 of 4096 from cudaMallocManaged", "get", "reads"),
    "host_reads_variable": ("reads", "byte 0 of 256 of a variable", "put", "writes"),
    "host_reads_pinned": ("reads", "byte 0 of 4096 from cudaMallocHost", "put", "writes"),
    "host_reads_copy": ("reads", "byte 36 of 4096 from cudaMallocHost", "cudaMemcpyAsync", "writes"),
    "host_reuses_buffer": ("writes", "byte 0 of 4096 from cudaMallocHost", "cudaMemcpyAsync", "reads"),
    "host_waits_for_another": ("reads", "byte 0 of 4096 from cudaMallocManaged", "put", "writes"),
    "host_reads_and_aborts": ("reads", "byte 0 of 4096 from cudaMallocManaged", "put", "writes")}


def only(text):
    return r"\nCPU device: 1 hazard\n" + text + r"\Z"


def race(where, later, memory, does, earlier, did, end):
    return only(rf"\S+: race between {where} in {later}, {memory}\n    it {does} what {earlier} \(\S+\) {did}, {end}")


def test_host(unfinished, traced):
    """The place is a line where the program has debug information, else a function."""
    for case, (does, memory, work, did) in HOST.items():
        result = simt(["--check", unfinished, case])
        if "AddressSanitizer" in result.err:
            return tests.skip("host code that does not wait", "the sanitizer has that signal")
        expect("unfinished: " + case, result, -signal.SIGABRT if "aborts" in case else 86,
               only(rf"\w+\(\): host code does not wait: it {does} {memory}\n    {work} \(\S+\) {did} it, {WAIT}"))
    text = suite.read(tests.here / "unfinished.cu").splitlines()
    at = {mark: 1 + next(k for k, line in enumerate(text) if f"// AT {mark}" in line) for mark in ("copies", "fills")}
    expect("unfinished: the host's lines", simt(["--check", traced, "host_reuses_buffer"]), 86,
           only(rf"\S*unfinished\.cu:{at['fills']}: host code does not wait: it writes byte 0 of 4096 from cudaMallocHost\n"
                rf"    cudaMemcpyAsync \(\S*unfinished\.cu:{at['copies']}\) reads it, {WAIT}"))


def test_unfinished():
    unfinished = program("unfinished", flags=[*suite.NVCC_FLAGS, "-w"])
    traced = program("unfinished", "unfinished_g", [*suite.NVCC_FLAGS, "-w", "-g"])
    if not unfinished or not traced:
        return
    for case, words in STREAMS.items():
        expect("unfinished: " + case, simt(["--check", unfinished, case]), 86, race("streams", *words, BETWEEN))
    for case, words in GRAPHS.items():
        expect("unfinished: " + case, simt(["--check", unfinished, case]), 86, race("nodes of a graph", *words, EDGE))
    test_host(unfinished, traced)
    for case in ("ends", "ends_destroyed"):
        expect("unfinished: " + case, simt(["--check", unfinished, case]), 86,
               only(r"the program ends before print has: nothing waits for it\n    a GPU drops what it prints: "
                    r"cudaDeviceSynchronize\(\) before the end\n"), r"\A\Z")
    note = r"\Asimt: note: the program ends before put has: nothing waits for it\n\Z"
    expect("unfinished: a kernel that prints nothing is noted", simt(["--check", unfinished, "ends_without_print"]), 0,
           r"^put .*\n\Z", note)
    for options in (["--check"], ["--check", "--html", tests.file("unfinished.html")], []):
        result = simt([*options, unfinished, "right"])
        tests.check(" ".join(["unfinished: nothing is said of what is right", *map(str, options)]),
                    result.status == 0 and not result.err and "hazard" not in result.out, result.tail())
    for case in ("two_kernels", "host_reads", "ends"):
        for options in ([], ["--check", "--order", "3"]):
            expect(" ".join([f"unfinished: {case} is not looked at with", *(options or ["nothing"])]),
                   simt([*options, unfinished, case]), 0, r"CPU device: what", r"\A\Z")
