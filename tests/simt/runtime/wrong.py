"""Tests programs that fail, do not end, or need features that the CPU device does not have: one clear message each."""
import os
import re
import signal
import time

import suite
from device import SIMT, simt
from expect import expect, lines, program, source, tests
from suite import run

FEW = "of the warp have exited or do not exist: a matrix instruction needs all 32 lanes"
FAULTS = [  # a case of wrong.cu, the kernel and the line's mark, the error, the message, and --check's name for it
    ("out_of_bounds", "out_of_bounds", "IllegalAddress",
     "global store of 4 bytes at 0x[0-9a-f]+, element 1073741824 of argument 1, is outside", "out of bounds"),
    ("misaligned", "misaligned", "MisalignedAddress", "global store of 4 bytes at .* is not aligned", "misaligned access"),
    ("asserts", "asserts", "Assert", r".*block: \[0,0,0\], thread: \[\d+,0,0\] Assertion `at == nullptr` failed", None),
    ("traps", "traps", "LaunchFailure", "trap", None),
    ("used_after_free", "used_after_free", None, None, "use after free"),
    ("freed_twice", "freed_twice", "LaunchFailure", "free of 0x", "invalid free"),
    ("beyond", "beyond", None, None, "out of bounds"),
    ("not_allocated", "not_allocated", "LaunchFailure", "free of 0x", "invalid free"),
    ("product_short", "product", "LaunchFailure", "lanes 0xffff0000 " + FEW, "mask of lanes"),
    ("product_left", "product", "LaunchFailure", "lanes 0x00000020 " + FEW, "mask of lanes"),
    ("product_apart", "product_apart", "LaunchFailure", "lanes 0x[0-9a-f]+ of the warp are at another matrix instruction",
     "mask of lanes"),
    ("rows_misaligned", "rows", "MisalignedAddress", "shared load of 16 bytes at .* is not aligned", "misaligned access"),
    ("rows_outside", "rows", "IllegalAddress", "shared load of 16 bytes at .* is outside", "out of bounds"),
    ("rows_unordered", "rows_unordered", None, None, "race"),
    ("two_barriers", "two_barriers", "LaunchTimeout", "deadlock: waits at the barrier of its cluster for threads", None),
    ("not_arrived", "not_arrived", "LaunchFailure", ".*call barrier_arrive.. first", None),
    ("arrived_twice", "arrived_twice", "LaunchFailure", r".*call barrier_wait.. in between; .*thread \(5,0,0\)", None),
    ("no_block", "no_block", "IllegalAddress", "shared store of 4 bytes", None),
    ("past_end", "past_end", "IllegalAddress", "shared store of 4 bytes at 0x61a80 is outside", None),
    ("block_ended", "block_ended", "LaunchFailure", r".*shared memory of block \(1,0,0\) of the cluster, which has ended",
     None),
    ("own_space", "own_space", "IllegalAddress", "shared store of 4 bytes", None),
    ("bulk_bytes", "bulk", "MisalignedAddress", "copy of 24 bytes: no multiple of 16", None),
    ("bulk_from", "bulk", "MisalignedAddress", "copy from of 32 bytes at 0x[0-9a-f]+8 is not aligned", None),
    ("bulk_to", "bulk", "MisalignedAddress", "copy to of 32 bytes at 0x[0-9a-f]*4 is not aligned", None),
    ("bulk_barrier", "bulk", "MisalignedAddress", "mbarrier of 8 bytes at 0x[0-9a-f]*4 is not aligned", None),
    ("bulk_past_shared", "bulk", "IllegalAddress", r"copy to of 512 bytes at 0x[0-9a-f]+ is outside", None),
    ("bulk_past_global", "bulk", "IllegalAddress", r"copy from of 512 bytes at 0x[0-9a-f]+ is outside", None)]
OVERFLOW = r"call stack overflow in `\w+`; block \(\d,0,0\), thread \(\d+,0,0\)\n\Z"
MISSING = {"tensor": "product of matrices of this form", "texture": "textures", "surface": "surfaces",
           "tensor_map": "tensor maps", "group": "matrix instructions of warp groups"}
NOT_SUPPORTED = "cudaErrorNotSupported cudaErrorNotSupported cudaErrorNotSupported$"


def said(kernel, mark):
    at = lines("wrong.cu").get(mark, r"\d+")
    return rf"\Asimt: {kernel}: .*wrong\.cu:{at}: "


def errors(case, error):
    return f"^{case}: cudaError{error} cudaError{error} cudaError{error}$"


def test_faults(wrong):
    for case, kernel, error, words, hazard in FAULTS:
        if error:
            expect("fault: " + case, simt([wrong, case]), 0, errors(case, error), said(kernel, kernel) + words)
        if hazard:
            at = lines("wrong.cu").get(kernel, r"\d+")
            expect("--check: " + case, simt(["--check", wrong, case]), 86,
                   rf"^.*wrong\.cu:{at}: {hazard} in {kernel}\b")
    for case in ("hello", "divide", "product", "deep_enough"):
        expect("no fault: " + case, simt([wrong, case]), 0, f"^{case}: cudaSuccess cudaSuccess cudaSuccess$", r"\A\Z")
    for options in ([], ["--check"]):
        expect(" ".join(["more calls than the stack holds", *options]), simt([*options, wrong, "overflow"]), 2, None,
               said("overflow", "overflow") + OVERFLOW)
    expect("more calls than the stack holds, deep", simt([wrong, "deep"]), 2, errors("deep", "IllegalAddress"),
           said("deep", "deep") + OVERFLOW)
    name, result = "fault: host code reads device memory", simt([wrong, "host_reads"])
    if "AddressSanitizer" in result.err:
        tests.skip(name, "the sanitizer has that signal")
    else:
        expect(name, result, -signal.SIGSEGV, None, "^simt: host code touched device memory at 0x[0-9a-f]+: ")


def test_no_end(wrong):
    cases = [("endless", ""), *(("endless_" + what, ".*no progress for 1 s") for what in (
        "barrier", "syncwarp", "shuffle", "grid", "pairs")), ("deadlock", ".*(deadlock|progress)")]
    for case, words in cases if tests.whole("each kernel without end") else cases[:2]:
        started = time.time()
        expect(f"{case}: watchdog", simt(["--watchdog", "1", wrong, case]), 0, errors(case, "LaunchTimeout"),
               said(case, "") + words)
        tests.check(f"{case}: the watchdog is in time", time.time() - started < 15, f"{time.time() - started:.1f} s")
        result = suite.interrupted([SIMT, wrong, case], 1, 10)
        expect(f"{case}: an interrupt says where the kernel is", result, -signal.SIGINT, None,
               said(case, "") + "interrupted")


def test_machine():
    """Tests machine code, and sm_90a, which has features that the CPU device does not have."""
    wrong = program("wrong", "wrong_machine", [*suite.NVCC_FLAGS[1:], "-w", "-DWARP_GROUPS", "-gencode",
                                              "arch=compute_90a,code=[sm_90a,compute_90a]"])
    for case, kernel, error, words, _ in FAULTS[:4] if wrong else ():
        expect(f"fault: {case}, from machine code", simt(["--machine", wrong, case]), 0, errors(case, error),
               said(kernel, kernel) + words)
    if wrong:
        test_missing(wrong, "group")


def test_missing(wrong, case):
    """Expects one message with the source line, errors from then on, status 2 at the end, and no row in the table."""
    result = simt([wrong, case])
    expect("refused: " + case, result, 2, f"^{case}: {NOT_SUPPORTED}",
           said(case, case) + rf"the CPU device has no {MISSING[case]}: `\S+` \(in \w+\)\n\Z")
    tests.check(f"refused: {case} is not in the table", "\nhello " in result.out and f"\n{case} " not in result.out,
                result.tail())


def test_refusals(wrong):
    for case in MISSING:
        if case != "group":
            test_missing(wrong, case)
    expect("refused: more local memory than a thread may have", simt([wrong, "hoard"]), 2, f"^hoard: {NOT_SUPPORTED}",
           said("hoard", "") + r"bytes of local memory per thread: 600000, at most 524288\n\Z")
    for case, what in (("call", "cudaCreateTextureObject"), ("pool", "cudaMemPoolCreate"),
                       ("used", "cudaMemPoolGetAttribute of how many bytes a pool holds")):
        expect("refused: a call, " + case, simt([wrong, case]), 2, f"^{case}: {NOT_SUPPORTED}",
               rf"\Asimt: {what} is not supported by the CPU device\n\Z")
    for way in ("exit", "_exit", "quick_exit", "abort", "crash", "kill"):
        expect("refused: status 2 also after " + way, simt([wrong, "tensor", way]), 2, f"^tensor: {NOT_SUPPORTED}",
               said("tensor", "tensor"))
    expect("nothing refused: a crash stays a crash", simt([wrong, "hello", "abort"]), -signal.SIGABRT)


LIBRARIES = [  # soname, its functions and the message about calls of them
    ("libcublas.so.13", "cublas", "cuBLAS"), ("libcufft.so.12", "cufft", "cuFFT"),
    ("libcurand.so.10", "curand", "cuRAND"), ("libnvrtc.so.13", "nvrtc", "NVRTC"), ("libcuda.so.1", "cu", "the driver API")]


def test_libraries():
    """A program that is linked with a library of machine code runs until it calls one of its functions."""
    for soname, start, what in LIBRARIES:
        name, library, stem = f"{start}Compute", tests.file(soname), tests.file(soname.split(".")[0])
        versions = "" if start == "cu" else f"{soname} {{ global: {start}*; }};"  # as NVIDIA's have them
        suite.write(tests.file("library.c"), f"int {name}(int x) {{ return x; }} int cublasCreate_v2(void **x) {{ return !x; }}"
                    "int cublasSetMathMode(void *x, int y) { return y; }")
        suite.write(tests.file("library.map"), versions)
        made = run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", tests.file("library.c"), "-o", library,
                    *([f"-Wl,--version-script={tests.file('library.map')}"] if versions else [])])
        linked = made.status == 0 and tests.compile_cu(source("library.cu"), stem.name, [
            *suite.NVCC_FLAGS, f"-DCOMPUTE={name}", *(["-DBLAS"] if start == "cublas" else []),
            "-Xlinker", f"--no-as-needed,{os.path.relpath(library)}"], [library])  # nvcc splits a path with a space
        if not tests.check(f"a program with {what} is built", linked, made.tail()):
            continue
        library.unlink()  # no longer needed
        expect(f"linked with {what}: it runs", simt([linked]), 0, r"\A7\n", r"\A\Z")
        expect(f"linked with {what}: refused at the call", simt([linked, "call"]), 2, r"\A7\n[1-9]\d*\n",
               rf"\Asimt: {name} \({re.escape(what)}\) is not supported by the CPU device\n\Z")
    driver = tests.file("driver")
    suite.write(tests.file("driver.c"), "int cuInit(unsigned); int main(void) { return cuInit(0) == 801 ? 5 : 6; }")
    suite.write(tests.file("cuda.c"), "int cuInit(unsigned flags) { return (int)flags; }")
    made = run(["cc", "-shared", "-Wl,-soname,libcuda.so.1", tests.file("cuda.c"), "-o", tests.file("libcuda.so.1")])
    made = made.status or run(["cc", "-Wl,-z,now", tests.file("driver.c"), tests.file("libcuda.so.1"), "-o", driver]).status
    if tests.check("a program of the driver alone is built", not made):
        expect("refused: the driver API, without the runtime", simt([driver]), 2, r"\A\Z",
               r"\Asimt: cuInit \(the driver API\) is not supported by the CPU device\n\Z")


def test_signals():
    """A run that does not return from main must report what it did so far."""
    signals = program("signals")
    if not signals:
        return
    table = r"\Aready\n\nCPU device: (.*\n)+counted +3 "
    for where in ("waiting", "allocating", "calling", "kernel"):
        for number in (signal.SIGTERM, signal.SIGINT):
            result = suite.interrupted([SIMT, signals, where], 0.7, 20, number)
            words = r"^simt: spins: .*signals\.cu:\d+: interrupted" if where == "kernel" else r"\A\Z"
            expect(f"{number.name} while {where}: the table so far", result, -number, table, words)
    expect("timeout: the table so far", run(["timeout", "0.7", SIMT, signals, "waiting"]), 124, table)
    expect("a program's own handler stays", suite.interrupted([SIMT, signals, "own"], 0.7, 20, signal.SIGTERM), 40,
           table)
    table += r"(.*\n)+races +1 (.*\n)+CPU device: 1 hazard\n"
    for how, status in (("_exit", 86), ("_Exit", 3), ("quick_exit", 86), ("child", 86), ("assert", -signal.SIGABRT),
                        ("divide", -signal.SIGFPE), ("copy", -signal.SIGSEGV)):
        expect(f"{how}: the table and the hazards so far", run([SIMT, "--check", signals, how, "racing"]), status, table)


def test_unread():
    """Tests failed launches and unchecked errors; memory that is not freed."""
    unread, placed = (program("unread", name, flags=[*suite.NVCC_FLAGS, "-w", *more])
                      for name, more in (("unread", []), ("placed", ["-g"])))
    if not unread or not placed:
        return
    start = r"simt: k: main\(\): not launched: "
    asked = (r"; the program ignores the error: check cudaGetLastError\(\) after the launch "
             r"\(nvcc -g adds the line of the launch\)\n")
    large = r"\A" + start + "2,048 threads per block; at most 1,024" + asked
    rest = (start + r"0 static and 100,000 dynamic bytes of shared memory; at most 49,152 "
            r"\(cudaFuncSetAttribute\(\) allows more\)" + asked + start + "a grid of 0 blocks" + asked)
    note = r"simt: note: cudaMemcpy returned cudaErrorInvalidValue \(invalid argument\)\n"
    expect("failed launches are reported at the end", simt([unread, "never"]), 0, None, large + rest + r"\Z")
    expect("with --check they fail the run, and calls that failed are noted", simt(["--check", unread, "never"]), 86,
           None, large + rest + note + r"\Z")
    for option, status in (("--check", 0), ("--strict", 86)):
        expect(f"{option}: a call that failed, noted", simt([option, unread, "noted"]), status, None, r"\A" + note + r"\Z")
    expect("a program that ends badly keeps its status", simt(["--check", unread, "badly"]), 3, None, large + r"\Z")
    expect("with -g at their lines", simt(["--check", placed, "never"]), 86, None,
           r"\A(simt: k: \S*unread\.cu:\d+: not launched: .*after the launch\n){3}simt: note: cudaMemcpy ")
    expect("so they are where it aborts", simt([unread, "aborts"]), -signal.SIGABRT, None, large + r"\Z")
    expect("--leaks: memory that was never freed", simt(["--leaks", unread, "asked"]), 86, None,
           r"\Asimt: never freed: 1 allocation by cudaMalloc or its like, 256 bytes\n\Z")
    expect("--leaks: no report if all memory was freed", simt(["--leaks", unread, "freed"]), 0, None, r"\A\Z")
    for way in ("asked", "peeked", "later"):
        expect(f"no message about an error that is {way}", simt(["--check", unread, way]), 0, None, r"\A\Z")


FAILED = {  # a case of failed.cu: the kernel, and what the report says after "not launched: "
    "no_blocks": ("plain", "a grid of 0 blocks"),
    "no_threads": ("plain", "a block of 0 threads"),
    "threads": ("plain", "1,025 threads per block; at most 1,024"),
    "threads_2d": ("plain", "32 x 33 x 1 threads per block; at most 1,024 in all"),
    "deep_block": ("plain", "a block of 65 threads in z; at most 64"),
    "high_grid": ("plain", "a grid of 1 x 70,000 x 1 blocks; at most 2,147,483,647 x 65,535 x 65,535"),
    "bounds": ("bounded", r"256 threads per block; this kernel allows 128 \(__launch_bounds__\)"),
    "shared": ("fixed", r"16 static and 49,152 dynamic bytes of shared memory; at most 49,152 "
                        r"\(cudaFuncSetAttribute\(\) allows more\)"),
    "much_shared": ("fixed", "16 static and 300,000 dynamic bytes of shared memory; at most 49,152"),
    "captured": ("plain", "2,000 threads per block; at most 1,024")}
FAILED_CALLS = {  # the same for calls that return the error
    "call": ("plain", "a grid of 0 blocks; cudaLaunchKernel returned cudaErrorInvalidValue"),
    "template_call": ("plain", "a grid of 0 blocks; cudaLaunchKernel returned cudaErrorInvalidValue"),
    "cooperative": ("together", "3,907 blocks at a time; this kernel and device hold 1,056; "
                    "cudaLaunchCooperativeKernel returned cudaErrorCooperativeLaunchTooLarge"),
    "in_clusters": ("plain", "a grid of 3 x 1 x 1 blocks, not a multiple of its clusters, 2 x 1 x 1 blocks; "
                    "cudaLaunchKernelExC returned cudaErrorInvalidClusterSize"),
    "large_clusters": ("plain", "a cluster of 16 x 1 x 1 blocks; at most 8; "
                       "cudaLaunchKernelExC returned cudaErrorInvalidClusterSize"),
    "in_graph": ("plain", "a grid of 0 blocks; cudaGraphAddKernelNode returned cudaErrorInvalidValue")}


def test_failed():
    """Launches that fail: the kernel, the line, what was requested and what is possible."""
    at = lines("failed.cu")
    for name, more in (("-g", ["-g"]), ("-O3 -g", ["-O3", "-g"])):
        failed = program("failed", "failed" + name.replace(" ", ""), [*suite.NVCC_FLAGS, "-w", *more])
        if not failed:
            return
        for case, (kernel, why) in FAILED.items():
            expect(f"a launch that fails, {name}: {case}", simt(["--check", failed, case]), 86, None,
                   rf"\Asimt: {kernel}: \S*failed\.cu:{at[case]}: not launched: {why}; the program ignores the error: "
                   r"check cudaGetLastError\(\) after the launch\n(simt: note: .*\n)*\Z")
            if name == "-g":
                expect("it is checked: " + case, simt(["--check", failed, case, "checked"]), 0, None, r"\A\Z")
        for case, (kernel, why) in FAILED_CALLS.items():
            line = at["in_clusters" if case == "large_clusters" else case]
            where, hint = rf"\S*failed\.cu:{line}", ""
            if name != "-g":  # the compiler may have inlined the runtime's template
                where, hint = rf"({where}|.*\(\))", r"( \(nvcc -g -O0 adds the line of the launch\))?"
            for option, status in (("--check", 0), ("--strict", 86)):
                expect(f"a call that fails to launch, {option} {name}: {case}", simt([option, failed, case]), status, None,
                       rf"\Asimt: note: {kernel}: {where}: not launched: {why}: check it{hint}\n\Z")
    for case in ("right", "right_shared", "right_cooperative", "right_clusters"):
        expect("a launch at its limit: " + case, simt(["--strict", failed, case]), 0, None, r"\A\Z")


def test_copied():
    """Unwritten memory that is copied to the host is a note; if a kernel reads it, it is a hazard."""
    copied = program("copied")
    if not copied:
        return
    for way in ("all", "one_less", "padded", "symbol", "rows"):
        result = simt(["--check", copied, way])
        tests.check(f"a copy to the host: {way}, nothing to note", result.status == 0 and "uninit" not in result.out,
                    result.tail())
    for way, bytes_, missing, first in (("one_short", 4000, 4, 3996), ("tail", 4000, 928, 3072), ("row_short", 1000, 100, 4608),
                                        ("nothing", 4000, 4000, 0), ("around", 4000, 400, 3600)):
        expect(f"a copy to the host: {way}, noted", simt(["--check", copied, way]), 0,
               rf"(.*\n)*\nCPU device: 1 note\nnote: uninitialized read in a copy to the host\n"
               rf"    {missing} of {bytes_} bytes were never written, the first at byte {first}: .*\n\Z", r"\A\Z")
    for way in ("set", "filled", "copied", "file"):
        result = simt(["--check", copied, "managed_" + way])
        tests.check(f"managed memory: {way}, nothing to note", result.status == 0 and "uninit" not in result.out, result.tail())
    for way in ("managed", "managed_later"):
        expect(f"{way} memory that was never written is zero, noted once", simt(["--check", copied, way]), 0,
               r"(.*\n)*\nCPU device: 1 note\n.*copied.cu:\d+: note: uninitialized read in count, 32 times: thread \(0,0,0\) "
               r"of block \(0,0,0\) updates element 0 of argument \d, managed memory that neither host nor device has written .*\n"
               r"    set it before the launch\n\Z", r"\A\Z")
    expect("--strict: it is a hazard", simt(["--strict", copied, "tail"]), 86,
           r"(.*\n)*\nCPU device: 1 hazard\nuninitialized read in a copy to the host\n")
    expect("a copy that ends short, and a kernel that reads on", simt(["--check", copied, "in_elements"]), 86,
           r"(.*\n)*tests/simt/runtime/copied.cu:\d+: uninitialized read in sum, 750 times: .*, of whose "
           r"allocation only the first 1000 of 4000 bytes were written\n    fill the rest before the launch; sizes of .* are in bytes\n")


def test_poison():
    """Lanes that do not exist, and memory past the end of an allocation, give implausible values."""
    poison, value = program("poison"), "2139062143"
    if poison:
        expect("values that do not exist", simt([poison]), 0, rf"\A0( {value}){{5}}( {value}){{3}} 1 cudaSuccess\n")


def test_wrong():
    wrong = program("wrong", flags=[*suite.NVCC_FLAGS, "-w"])
    if not wrong:
        return
    test_faults(wrong)
    test_no_end(wrong)
    test_refusals(wrong)
    test_libraries()
    test_unread()
    test_failed()
    test_poison()
    test_copied()
    if tests.whole("faults from machine code"):
        test_machine()
    if tests.whole("signals"):
        test_signals()
