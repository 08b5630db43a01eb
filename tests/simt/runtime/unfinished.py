"""Tests work that is not waited for (unfinished.cu): --check must report each wrong case, and no right one."""
import json
import random
import signal

import suite
from device import simt
from expect import expect, lines, program, tests

BETWEEN = r"and the two are not ordered: cudaStreamWaitEvent\(\) between them, or one stream for both\n"
EDGE = r"and the two are not ordered: make one node depend on the other\n"
WAIT = r"and may still run: cudaDeviceSynchronize\(\) or another wait first\n"
STREAMS = {  # a case of unfinished.cu: the later work, the bytes, what it does, the earlier work, what that does
    "two_kernels": ("put", "bytes 0 to 255 of 4096 from cudaMalloc", "writes", "put", "writes"),
    "memset_default": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "cudaMemset", "writes"),
    "memset_async": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "cudaMemsetAsync", "writes"),
    "copy_beside": ("cudaMemcpyAsync", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "copy_back_beside": ("cudaMemcpy", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "event_early": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "scratch_for_two": ("put", "bytes 0 to 255 of 4096 from cudaMalloc", "writes", "get", "reads"),
    "writer_behind_one_reader": ("put", "bytes 0 to 255 of 4096 from cudaMalloc", "writes", "get", "reads"),
    "bytes": ("put_bytes", "byte 32 of 4096 from cudaMalloc", "writes", "put_bytes", "writes"),
    "counter_read": ("get", "bytes 0 to 3 of 4096 from cudaMalloc", "reads", "count", "writes"),
    "per_thread": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "destroyed": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes"),
    "pool_freed": ("cudaFreeAsync", "bytes 0 to 255 of 4096 from cudaMalloc", "frees", "get", "reads"),
    "pool_not_there": ("put", "bytes 0 to 255 of 4096 from cudaMalloc", "writes", "cudaMallocAsync", "allocates"),
    "constant_replaced": ("cudaMemcpyToSymbolAsync", "bytes 0 to 127 of 256 of a variable", "writes", "use_constant", "reads"),
    "graph_beside": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes")}
GRAPHS = {"graph_branches": ("put", "bytes 512 to 767 of 4096 from cudaMalloc", "writes", "put", "writes"),
          "captured_apart": ("get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes")}
HOST = {  # a case: what host code does, to which byte, what has not been waited for, what that does
    "host_reads": ("reads", "byte 12 of 4096 from cudaMallocManaged", "put", "writes"),
    "host_reads_later": ("reads", "byte 0 of 4096 from cudaMallocManaged", "put", "writes"),
    "host_reads_at_last": ("reads", "byte 0 of 4096 from cudaMallocHost", "put", "writes"),
    "host_writes": ("writes", "byte 20 of 4096 from cudaMallocManaged", "get", "reads"),
    "host_reads_variable": ("reads", "byte 0 of 256 of a variable", "put", "writes"),
    "host_reads_pinned": ("reads", "byte 0 of 4096 from cudaMallocHost", "put", "writes"),
    "host_reads_copy": ("reads", "byte 36 of 4096 from cudaMallocHost", "cudaMemcpyAsync", "writes"),
    "host_reuses_buffer": ("writes", "byte 0 of 4096 from cudaMallocHost", "cudaMemcpyAsync", "reads"),
    "host_reuses_pages": ("writes", "byte 0 of 16384 from cudaMallocHost", "cudaMemcpyAsync", "reads"),
    "host_reads_before_function": ("reads", "byte 36 of 4096 from cudaMallocHost", "cudaMemcpyAsync", "writes"),
    "host_waits_for_another": ("reads", "byte 0 of 4096 from cudaMallocManaged", "put", "writes"),
    "host_reads_and_aborts": ("reads", "byte 0 of 4096 from cudaMallocManaged", "put", "writes")}


def only(text):
    return r"\nCPU device: 1 hazard\n" + text + r"\Z"


# With --order, pool_freed is another hazard, and scratch_for_two one for each pair of operations that meet.
IN_ORDER = ["pool_freed", "scratch_for_two"]
ORDERS = [["--check"], ["--check", "--order", "1"], ["--check", "--order", "2"]]


def race(where, later, memory, does, earlier, did, end):
    return only(rf".+: race between {where} in {later}, {memory}\n    it {does} what {earlier} \(\S+\) {did}, {end}")


def test_host(unfinished, traced):
    """A position is a line if the program has debug information, else a function."""
    for case, (does, memory, work, did) in HOST.items():
        for options in ORDERS[:1] if "aborts" in case else ORDERS[:2]:  # work that waits when the program aborts never runs
            result = simt([*options, unfinished, case])
            if "AddressSanitizer" in result.err:
                return tests.skip("host code that does not wait", "the sanitizer has that signal")
            expect(" ".join(["unfinished:", case, *options]), result, -signal.SIGABRT if "aborts" in case else 86,
                   only(rf"\w+\(\): host code does not wait: it {does} {memory}\n    {work} \(\S+\) {did} it, {WAIT}"))
    at = lines("unfinished.cu")
    expect("unfinished: the host's lines", simt(["--check", traced, "host_reuses_buffer"]), 86,
           only(rf".*unfinished\.cu:{at['fills']}: host code does not wait: "
                r"it writes byte 0 of 4096 from cudaMallocHost\n"
                rf"    cudaMemcpyAsync \(.*unfinished\.cu:{at['copies']}\) reads it, {WAIT}"))


class Program:
    """A model of work in streams by CUDA's rules and brute force: for each operation, all that are ordered before it."""

    def __init__(self):
        self.pieces, self.finished, self.events = [], set(), {}

    def behind(self, stream):
        """The operations that are ordered before new work of a stream."""
        before = set()
        for k, (other, earlier, _, _) in enumerate(self.pieces):
            if other == stream or 0 in (other, stream) and max(other, stream) < 3:
                before |= earlier | {k}
        return before

    def races(self, op):
        """Whether the operation races with earlier ones."""
        stream, reads, writes = touches(op)
        if not reads | writes:
            return False
        before = self.finished if stream is None else self.finished | self.behind(stream)
        return any(k not in before and (writes & (theirs | also) or reads & also) and not (op[0] == kind == "a")
                   for k, (_, _, (theirs, also), kind) in enumerate(self.pieces))

    def do(self, op):
        stream, reads, writes = touches(op)
        what, at = op[0], [int(digit) for digit in op[1:]]
        if what == "e":
            self.events[at[0]] = self.behind(at[1])
        elif what == "v":  # is also work
            self.pieces.append((at[0], self.behind(at[0]) | self.events.get(at[1], set()), (set(), set()), what))
        elif what in "syd":
            waited = {"s": lambda: self.behind(at[0]), "y": lambda: self.events.get(at[0], set()),
                      "d": lambda: set(range(len(self.pieces)))}
            self.finished |= waited[what]()
        elif stream is not None:
            self.pieces.append((stream, self.behind(stream), (reads, writes), what))


def touches(op):
    """(the stream, None: host code; the arrays that are read; those that are written)"""
    at = [int(digit) for digit in op[1:]]
    if op[0] in "hg":
        return None, {at[0]} if op[0] == "h" else set(), {at[0]} if op[0] == "g" else set()
    if op[0] in "wamrc":
        return at[0], {at[-1]} if op[0] in "rc" else set(), {at[1]} if op[0] != "r" else set()
    return None, set(), set()


def random_op(draw):
    stream, array, event = str(draw.randrange(5)), str(draw.randrange(4)), str(draw.randrange(3))
    return draw.choice(["w" + stream + array, "r" + stream + array, "r" + stream + array, "a" + stream + array,
                        "m" + stream + array, "c" + stream + array + str((int(array) + 1) % 4), "e" + event + stream,
                        "e" + event + stream, "v" + stream + event, "v" + stream + event, "h" + array, "g" + array,
                        "s" + stream, "y" + event, draw.choice(["d", "h" + array, "h" + array])])


def random_scripts(seed):
    """A script without a race, and one whose last operation is the first that races."""
    draw, program, script = random.Random(seed), Program(), []
    while len(script) < 40:
        op = random_op(draw)
        if not program.races(op):
            program.do(op)
            script.append(op)
    while True:
        op = random_op(draw)
        if program.races(op):
            return script, script + [op]
        program.do(op)
        script.append(op)


def test_scripts(unfinished):
    """Random programs: for a right one --check must report nothing, and for one with a race exactly that, in any order."""
    bad, count = [], 80 if tests.whole("random streams and events") else 10
    for seed in range(count):
        for script, status in zip(random_scripts(seed), (0, 86)):
            for order in "0", str(seed + 1):
                result = simt(["--check", "--order", order, unfinished, "script", *script])
                if result.status != status:
                    bad.append(f"seed {seed}: order {order}: status {result.status}, not {status}: {' '.join(script)}")
    tests.check(f"unfinished: {count} random programs, right and with one race", not bad, bad[:5])


def test_clocks():
    """A host clock that is read before a launched kernel has finished is a note, where that is certain."""
    clocks = program("clocks", flags=[*suite.NVCC_FLAGS, "-w", "-g"])
    if not clocks:
        return
    at = lines("clocks.cu")
    for case in ("chrono", "posix", "day", "many"):
        line, launch = (at["posix"], at["launch"]) if case == "posix" else (r"\d+", r"\d+")
        expect("clocks: " + case, simt(["--check", clocks, case]), 0,
               rf"\nCPU device: 1 note\n\S*clocks\.cu:{line}: note: host code does not wait: it reads a clock while put may "
               rf"still run\n    the time since the last reading is that of the launch in line {launch} alone: .*\n\Z", r"\A\Z")
    for case in ("both", "waits", "copies", "waits_event", "told", "before", "two_clocks"):
        expect(f"clocks: {case}: nothing to note", simt(["--strict", clocks, case]), 0, None, r"\A\Z")
    expect("clocks: without --check nothing", simt([clocks, "posix"]), 0, r"\ACPU device|\A\nCPU device", r"\A\Z")


def test_unfinished():
    test_clocks()
    unfinished = program("unfinished", flags=[*suite.NVCC_FLAGS, "-w"])
    traced = program("unfinished", "unfinished_g", [*suite.NVCC_FLAGS, "-w", "-g"])
    if not unfinished or not traced:
        return
    for cases, where, end in (STREAMS, "streams", BETWEEN), (GRAPHS, "nodes of a graph", EDGE):
        for case, words in cases.items():
            every = ORDERS if tests.whole("streams in other orders") else ORDERS[:2]
            for options in ORDERS[:1] if case in IN_ORDER else every:
                expect(" ".join(["unfinished:", case, *options]), simt([*options, unfinished, case]), 86,
                       race(where, *words, end))
    expect("unfinished: pool_freed, where the kernel runs last", simt(["--check", "--order", "1", unfinished, "pool_freed"]), 86,
           r"\nCPU device: 1 hazard\n.*: use after free in get, 64 times: .*\n    free the allocation after the kernel has ended\n\Z")
    at = lines("unfinished.cu")
    expect("unfinished: an event that is recorded after the wait for it", simt(["--check", traced, "wait_before_record"]), 86,
           race("streams", "get", "bytes 0 to 255 of 4096 from cudaMalloc", "reads", "put", "writes", BETWEEN[:-2] +
                rf"; cudaStreamWaitEvent\(\) \(\S+unfinished\.cu:{at['waits']}\) was called before cudaEventRecord\(\), so "
                r"it waited for nothing: record the event before this wait\n"))
    expect("unfinished: the line of a copy by a template of the toolkit", simt(["--check", traced, "symbol_beside"]), 86,
           only(rf"\S*unfinished\.cu:{at['symbol']}: race between streams in cudaMemcpyToSymbolAsync, .*\n    .*\n"))
    test_host(unfinished, traced)
    test_scripts(unfinished)
    for case in ("ends", "ends_destroyed"):
        expect("unfinished: " + case, simt(["--check", unfinished, case]), 86,
               only(r"the program ends before print has: nothing waits for it\n    a GPU drops what it prints: "
                    r"cudaDeviceSynchronize\(\) before the end\n"), r"\A\Z")
    failed = simt(["--check", unfinished, "host_reads_of_failed"])
    expect("unfinished: no other message where a kernel failed and the program did not check", failed, 86, r"^put .*\n(.*\n)*\Z",
           r"\Asimt: fails: .*trap.*\n\Z")
    note = r"\Asimt: note: the program ends before put has: nothing waits for it\n\Z"
    expect("unfinished: a kernel that prints nothing is noted", simt(["--check", unfinished, "ends_without_print"]), 0,
           r"^put .*\n\nCPU device: no hazards in 1 launch\n\Z", note)
    log = tests.file("unfinished.sarif")
    simt(["--check", "--report", log, unfinished, "ends_without_print"])
    found = [(one["ruleId"], one["level"]) for one in json.loads(suite.read(log))["runs"][0]["results"]]
    tests.check("unfinished: and in SARIF it is a note", found == [("work-left-behind", "note")], found)
    early = simt(["--check", unfinished, "elapsed_early"])
    expect("unfinished: the time of an event that may not be done is noted", early, 0,
           r"\nCPU device: 1 note\n\w+\(\): note: host code does not wait: cudaEventElapsedTime uses an event "
           r"that may not have completed\n    .*cudaEventSynchronize\(\) first\n\Z", r"\A\Z")
    for options in (*ORDERS, ["--check", "--html", tests.file("unfinished.html")], []):
        result = simt([*options, unfinished, "right_in_order" if "--order" in options else "right"])
        tests.check(" ".join(["unfinished: nothing is said of what is right", *map(str, options)]),
                    result.status == 0 and not result.err and ("CPU device: no hazards in " in result.out) == bool(options) and
                    "1 hazard" not in result.out, result.tail())
    expect("unfinished: the table names the kernel that waits", simt([unfinished, "right"]), 0,
           r"\nSpin loops run a different number of times on a GPU, so its counts differ: acquire\n")
    for case in ("two_kernels", "host_reads", "ends"):
        expect(f"unfinished: {case} is not looked at without --check", simt([unfinished, case]), 0, r"CPU device: what", r"\A\Z")
