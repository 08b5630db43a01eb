"""Tests the tables, CSVs and source lines: columns, names, known counters, and that every run has the same."""
import os

from device import simt
from expect import expect, lines, program, source, tests
from suite import NVCC_FLAGS, csv_rows, difference, read, write

HEADER = ("kernel,launch,grid,block,warp_insts,thread_insts,shared_ld_insts,shared_ld_wavefronts,"
          "shared_ld_conflicts,shared_st_insts,shared_st_wavefronts,shared_st_conflicts,"
          "global_ld_requests,global_ld_sectors,global_st_requests,global_st_sectors,atomics,"
          "barriers,divergent_branches")
LAUNCHES = [("adds<1>", "3", "100"), ("adds<11>", "3", "100"), ("branch<0>", "2", "64"), ("branch<5>", "2", "64"),
            ("branch<32>", "2", "64"), ("barriers<0>", "5", "96"), ("barriers<7>", "5", "96"), ("atomics<9>", "2", "64"),
            ("one_warp_adds<10>", "9", "128"), ("one_warp_adds<50>", "9", "128"), ("reverse", "1", "64"),
            ("adds<11>", "3", "100")]
MORE = [  # two kernels, and by how much the first one's counters are larger
    ("adds<11>", "adds<1>", dict(warp_insts=3 * 4 * 10, thread_insts=3 * 100 * 10, divergent_branches=0)),
    ("branch<32>", "branch<0>", dict(warp_insts=-4 * 3, thread_insts=-4 * 32 * 3, divergent_branches=0)),
    ("branch<5>", "branch<0>", dict(warp_insts=0, thread_insts=-4 * 5 * 3, divergent_branches=4)),
    ("barriers<7>", "barriers<0>", dict(warp_insts=5 * 3 * 7, thread_insts=5 * 96 * 7, barriers=35))]
COUNTED = [("atomics<9>", dict(atomics=2 * 2 * 9 * 2, barriers=4)),  # by lanes and by blocks
           ("reverse", dict(shared_ld_insts=2, shared_st_wavefronts=2, global_ld_sectors=8, barriers=1))]


def table_of(counted, name, *options):
    """(the run, the CSV's text, its rows) with some options."""
    file = tests.file(name)
    result = simt(["--csv", file, *options, counted])
    return result, read(file) or "", csv_rows(file) if file.exists() else []


def test_counts(rows):
    counters = {row["kernel"]: {name: int(row[name]) for name in HEADER.split(",")[4:]} for row in rows}
    for kernel, than, more in MORE:
        wrong = [f"{name}: {counters[kernel][name] - counters[than][name]} more, not {value}"
                 for name, value in more.items() if counters[kernel][name] - counters[than][name] != value]
        tests.check(f"counted: {kernel} against {than}", not wrong, wrong)
    for kernel, known in COUNTED:
        wrong = [f"{name}: {counters[kernel][name]}" for name, value in known.items() if counters[kernel][name] != value]
        tests.check("counted: " + kernel, not wrong, wrong)
    wrong = [kernel for kernel, row in counters.items()
             if not row["warp_insts"] <= row["thread_insts"] <= 32 * row["warp_insts"]]
    tests.check("a warp has one to 32 active lanes", not wrong, wrong)


def test_longest(counted, text):
    """--longest adds a column, and changes nothing else."""
    for threads in ("1", "4"):
        _, longest, rows = table_of(counted, "longest.csv", "--longest", "--threads", threads)
        most = {row["kernel"]: int(row["longest_warp"]) for row in rows}
        insts = {row["kernel"]: int(row["warp_insts"]) for row in rows}
        tests.check(f"--longest: the counters are the same, threads: {threads}",
                    [line.rsplit(",", 1)[0] for line in longest.splitlines()] == text.splitlines(), longest)
        tests.check(f"--longest: where all warps do the same, or one does more, threads: {threads}",
                    most["adds<11>"] * 3 * 4 == insts["adds<11>"] and most["barriers<7>"] * 5 * 3 == insts["barriers<7>"]
                    and most["one_warp_adds<50>"] == most["one_warp_adds<10>"] + 40, str(most))
    head = table_of(counted, "longest.csv", "--longest", "--merge")[1].split("\n")[0]
    tests.check("--longest --merge: launches stay the last column", head == HEADER + ",longest_warp,launches", head)


def test_lines(counted, rows):
    """The counters of all source lines add up to the kernels' own."""
    table = tests.file("lines.csv")
    result = simt(["--lines-csv", table, counted])
    if not tests.need("--lines-csv", result.status == 0 and table.exists(), result.tail()):
        return
    lines = csv_rows(table)
    wrong = [name for name in HEADER.split(",")[4:] if name in lines[0] and
             sum(int(row[name]) for row in rows) != sum(int(row[name] or 0) for row in lines)]
    tests.check("the lines' counters add up", not wrong, wrong)
    text = read(source("count.cu")).splitlines()
    number = next(n for n, line in enumerate(text, 1) if "s[threadIdx.x] = out" in line)
    expect("--lines shows counters beside the source", simt(["--lines", counted]), 0,
           rf"^reverse in .*count\.cu\n(.*\n)*? +{number} .*\|     s\[threadIdx\.x\] =")
    narrow = simt(["--lines", counted], env={**os.environ, "COLUMNS": "60"}).out.splitlines()
    beside = [line.split("|", 1)[1] for line in narrow if "|" in line]
    long = next("".join(line.split()) for line in text if "add.s32 %0, %0, 3" in line)
    tests.check("a line too long for the screen is wrapped", long in "".join("".join(beside).split()) and
                max(len(line) for line in narrow if "|" in line) <= 60, beside)


def test_hazard_texts():
    """A report has one line each for the hazard, the other access and the advice, none wider than the screen."""
    told, at = program("told"), lines("told.cu")
    if not told:
        return
    first = (rf"CPU device: 1 hazard\n\S*told\.cu:{at['load']}: race in neighbour, 64 times: thread \(32,0,0\) of "
             r"block \(0,0,0\) reads element 0 of s in shared memory\n"
             rf"    line {at['store']}: thread \(0,0,0\) writes it, and nothing orders the two\n"
             rf"    put __syncthreads\(\) between lines {at['store']} and {at['load']}\n\Z")
    front = (rf"told\.cu:{at['front']}: out of bounds in a_kernel_with_a_name_of_some_length<float, 1>: "
             r"thread \(0,0,0\) of block \(0,0,0\) reads element -1 of argument 2: 4 bytes, 4 before an allocation of "
             r"256 bytes\n    guard the access with a test of the index\n\Z")
    expect("a missing barrier in three lines", simt(["--check", told]), 86, first)
    expect("a negative index is reported as such, with the array that was meant", simt(["--check", told, "front"]), 86, front)
    expect("several threads that add to a word get advice about atomics, not barriers", simt(["--check", told, "counter"]), 86,
           rf"^\S*told\.cu:{at['count']}: race in counter.*\n.*\n    updates get lost: use atomicAdd")
    narrow = simt(["--check", told, "front"], env={**os.environ, "COLUMNS": "60"})
    report = narrow.out[narrow.out.index("CPU device: 1 hazard"):].splitlines()
    tests.check("no line of it is wider than the screen", len(report) > 4 and max(map(len, report)) <= 60 and
                "before an allocation" in " ".join(" ".join(report).split()), report)
    test_advice(told, at)
    unplaced = program("told", "told_unplaced", [flag for flag in NVCC_FLAGS if flag != "-lineinfo"])
    expect("without -lineinfo: the PTX's lines, and how to get others", simt(["--check", unplaced]), 86,
           r"^CPU device: 1 hazard; build with nvcc -lineinfo for the source's lines\n"
           r"PTX:\d+: race in neighbour at ld\.shared\.(f32|u32|b32), 64 times: .*\n    PTX:\d+: thread \(0,0,0\) writes it, .*\n")


def test_advice(told, at):
    """The advice names the lines and what to put there; one missing barrier is one report."""
    step = "another thread may write between the comparison and the write: replace both by one "
    for case, advice, status in (
            ("tiles", "put __syncthreads() between lines {second_store} and {first_load}; this also orders lines "
             "{second_store} and {second_load}", 86),
            ("rounds", "put __syncthreads() after line {round_load}, before the loop's next round reaches line {round_store}", 86),
            ("least", step + "atomicMin() or atomicMax(), or by a loop around atomicCAS()", 86),
            ("claim", step + "atomicCAS()", 86),
            ("no_release", "put __threadfence() into the writing thread, after line {part} and before the flag or ticket of line "
             "{ticket}", 86),
            ("no_acquire", "put __threadfence() into the reading thread, after the flag or ticket of line {ticket} and before line "
             "{parts}", 86),
            ("divergent_tail", "read only from lanes that get here, or let the whole warp get here, outside of any if and before "
             "any return, where lanes without data have a neutral element (0 for a sum)", 86),
            ("collective", "this is a collective operation: move its call out of the if, so that all threads of the block make "
             "it; a thread without data passes a neutral element (0 for a sum)", 0),
            ("far_out", "an index so far out has probably passed 2^31 as an int: compute it in size_t; otherwise guard it", 1)):
        result = simt(["--check", "--quiet", told, "advice", case])
        said = result.err[result.err.find("CPU device: 1 "):].splitlines()
        tests.check(f"advice: {case}: one report, which says what to do", result.status == status and len(said) in (3, 4) and
                    said[-1] == "    " + advice.format(**at), result.tail())


def test_reports():
    test_hazard_texts()
    counted = program("count")
    if not counted:
        return
    first, text, rows = table_of(counted, "count.csv")
    if not tests.need("the program runs", first.status == 0, first.tail()):
        return
    tests.check("the CSV's columns", text.splitlines()[0] == HEADER, text.splitlines()[0])
    found = [(row["kernel"], row["grid"], row["block"]) for row in rows]
    if not tests.need("launches by name, in order", found == LAUNCHES and
                      len({row["launch"] for row in rows}) == len(LAUNCHES), map(str, found)):
        return
    expect("the table follows the program's output", simt([counted], env={**os.environ, "COLUMNS": "200"}), 0,
           r"\Acounted\n\n(.*\n){3}adds<1> +3 +100 +1 .*\nadds<11> +3 +100 +2 ")
    tests.check("the table names every kernel, and none that waits", "loops that wait" not in first.out and
                all(name in first.out for name, _, _ in LAUNCHES), first.tail())
    test_counts(rows)
    for name, options in (("again", []), ("one thread", ["--threads", "1"]), ("four threads", ["--threads", "4"]),
                          ("--check", ["--check"])):
        result, other, _ = table_of(counted, "other.csv", *options)
        tests.check("the same counters: " + name, other == text and (options or result.out == first.out),
                    difference(other, text) or result.tail())
    _, merged, rows_merged = table_of(counted, "merged.csv", "--merge")
    tests.check("--merge: equal launches in one row", merged.startswith(HEADER + ",launches\n") and
                [row["launches"] for row in rows_merged] == ["1", "2", *["1"] * (len(LAUNCHES) - 3)], merged)
    test_longest(counted, text)
    test_lines(counted, rows)
    expect("the program's exit status is simt's", simt([counted, "5"]), 5)
    expect("a CSV that cannot be written", simt(["--csv", tests.fresh("folder.csv"), counted]), 1, "^counted",
           r"^.*folder\.csv: ")
    odd, trace = tests.file("odd.cu"), tests.file("odd.csv")
    write(odd, '#line 1 "one, two.cu"\n' + read(source("count.cu")))
    of_odd = tests.compile_cu(odd, inputs=[])
    said = of_odd and simt(["--trace", trace, of_odd])
    found = csv_rows(trace) if said and said.status == 0 else []
    tests.check("a trace of a file with a comma in its name", found and
                all(None not in row and row["file"] in ("", "one, two.cu") for row in found), found[:3])
    if os.path.exists("/dev/full"):
        expect("a trace that cannot be written", simt(["--trace", "/dev/full", counted]), 1, None,
               r"^simt: .*: cannot write /dev/full$")
