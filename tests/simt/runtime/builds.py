"""Tests which programs simt runs and which it refuses: ways to build a program, damaged files, and the launcher's messages."""
import os
import random
import re
import shlex
import struct

import suite
from device import SIMT, embedded_ptx, simt
from expect import expect, program, refused, source, tests
from suite import NVCC, NVCC_FLAGS, read, run

PLAIN = ["-O3", "-w"]
NO_ARCH = [flag for flag in NVCC_FLAGS if not flag.startswith("-arch")]
OUTPUT = ("early: cudaSuccess 5 98\nlate: 7 100\nsymbols: 128 42\n"
          "CPU device (simt): 132 SMs, 32 blocks, cudaSuccess\n")


def test_launcher(small):
    expect("-h explains options and how to build", simt(["-h"]), 0, r"--no-compress")
    elf = b"\x7fELF"
    for name, arguments, why in (
            ("no program given", [], "no program given: name one"),
            ("unknown option", ["--fast", "x"], "unknown option --fast"),
            ("option without its value", ["--csv"], "--csv needs a value"),
            ("number expected", ["--order", "x1", "x"], "--order takes a number"),
            ("too many multiprocessors", ["--sms", "1025", "x"], "--sms takes a number from 1 to 1024"),
            ("no such multiprocessor", ["--sm-threads", "1000", "x"], "--sm-threads takes 1024, 1536 or 2048"),
            ("an architecture without sm_", ["--as", "100", "x"], "--as takes a GPU architecture, such as sm_100, not \"100\""),
            ("an architecture with a letter", ["--as", "sm_100a", "x"], "--as takes a GPU architecture"),
            ("missing program", ["./no-such-file"], "No such file"),
            ("missing program in PATH", ["no-such-program"], "no such program"),
            ("a folder", [tests.folder], "simt/runtime"),
            ("a script", [tests.keep("script", b"#!/bin/sh\n")], "not a program"),
            ("a source", [source("told.cu")], r"told\.cu is a source file: compile it with "),
            ("an empty file", [tests.keep("empty", b"")], "not a program"),
            ("a program without CUDA", ["/bin/true"], "not a CUDA program"),
            ("a 32-bit program", [tests.keep("elf32", elf + b"\x01\x01\x01" + bytes(45))], "32-bit"),
            ("a program for 64-bit Arm", [tests.keep("arm", elf + b"\x02\x01\x01" + bytes(9) + struct.pack("<HH", 2, 183) +
                                              bytes(44))], "64-bit Arm; build it for x86-64"),
            ("an ELF file cut short", [tests.keep("cut", small.read_bytes()[:3000])], "damaged"),
            ("an ELF file cut in the middle", [tests.keep("cut2", small.read_bytes()[:small.stat().st_size // 2])], "")):
        refused(name, arguments, why)
    folder = tests.fresh("a reader's folder")
    (folder / "a b.cu").touch()
    for where, file, made in (("here", "a b.cu", "./a b"), ("elsewhere", str(folder / "a b.cu"), str(folder / "a b"))):
        said = run([SIMT, file], cwd=folder)
        commands = re.fullmatch(r"simt: .* compile it with (nvcc .*), then run (.*)\n", said.err)
        tests.report(f"a source {where}: the commands can be pasted", suite.unequal(
            commands and [shlex.split(command) for command in commands.groups()],
            [["nvcc", "-O3", "-lineinfo", file, "-o", made], [str(SIMT), made]]))
    (folder / "a b").touch()
    refused("a program of this folder without ./", ["a b"], r"a b: not in PATH; use '\./a b'$", cwd=folder)
    text = tests.file("text.txt")
    text.write_text("no program\n")
    text.chmod(0o644)
    refused("a file that may not be executed", [text], r"text\.txt")


def knows(option):
    """Whether this nvcc has the option."""
    return option in run([NVCC, "--help"]).out


def test_plain():
    """All builds of one program must have the same output and counts."""
    ways = {"plain": []}
    if tests.whole("other ways to build a plain program"):
        ways |= {"not position independent": ["-Xcompiler", "-fno-pie", "-Xlinker", "-no-pie"],
                 "one symbol table for all": ["-Xlinker", "--export-dynamic"],
                 "landing pads": ["-Xcompiler", "-fcf-protection=full"], "shared runtime": ["-cudart", "shared"]}
        for mode in ("none", "size", "speed", "balance") if knows("--compress-mode") else ():
            ways[f"compressed for {mode}"] = [f"--compress-mode={mode}"]
    counts = set()
    for name, flags in ways.items():
        csv, plain = tests.file("counts.csv"), program("plain", name.replace(" ", "_"), [*PLAIN, *flags, "-arch=sm_90"])
        if plain:
            expect(name, simt(["--csv", csv, plain]), 0, r"\A" + re.escape(OUTPUT), r"\A\Z")
            counts.add(read(csv))
    tests.check("all count the same", len(counts) == 1 and "counts,3,2,64," in counts.pop())
    plain = program("plain", "default", PLAIN)
    if plain:
        expect("the default architecture, --check", simt(["--check", plain]), 0, r"\A" + re.escape(OUTPUT))


def test_plain_refused():
    plain, stripped, static = program("plain", flags=[*PLAIN, "-arch=sm_90"]), tests.file("stripped"), tests.file("static")
    if not plain:
        return
    run(["strip", "-o", stripped, plain])
    refused("stripped", [stripped], "names of its functions are stripped: .* -cudart shared$")
    if run([NVCC, *PLAIN, "-Xcompiler", "-static", "-o", static, source("plain.cu")], 300).status:
        tests.skip("linked with -static", "there are no libraries for that")
    else:
        refused("linked with -static", [static], "linked with -static")
    packed = program("plain", "packed", [*PLAIN, "-arch=sm_90", "-cudart", "shared"])
    data = packed.read_bytes() if packed else b""
    if b"\x28\xb5\x2f\xfd" not in data:
        return tests.skip("compressed PTX", "this nvcc compresses by other means")
    folder = tests.fresh("no-zstd")
    for name in ("libzstd.so.1", "libzstd.so"):
        (folder / name).write_bytes(b"")
    stops("no libzstd", [packed], "compressed with zstd.* install it, or build with nvcc --no-compress",
          env={**os.environ, "LD_LIBRARY_PATH": str(folder)})
    at = data.rindex(b"\x28\xb5\x2f\xfd") + 6
    stops("damaged compressed PTX", [tests.keep("damaged", data[:at] + b"\xff" * 60 + data[at + 60:])],
          r"corrupt \(compressed PTX\)")


def stops(name, arguments, why, out=None, **more):
    """The program starts, and its first launch fails: one line, status 2."""
    expect(name, simt(arguments, **more), 2, out, rf"\Asimt: .*{why}.*\n\Z")


def test_linked():
    """With -rdc=true a program of one file runs; one of two files is refused."""
    two = "-rdc=true from 2 files of device code, that of dynamic parallelism counted"
    flags = [*PLAIN, "-rdc=true", "-arch=sm_90"]
    alone = program("linked", "alone", flags)
    if alone:
        expect("-rdc=true, one file", simt([alone]), 0, r"\AcudaSuccess 62\n", r"\A\Z")
    if not tests.whole("-rdc=true from two files"):
        return
    part = tests.file("part.cu")
    suite.write(part, "__device__ int twice(int x) { return 2 * x; }\n")
    for name, more in (("-rdc=true, two files", ["-DPART", part]), ("dynamic parallelism", ["-DNESTED"])):
        linked = program("linked", name.split()[-1], [*flags, *map(str, more)])
        if linked:
            stops(name, [linked], two)


def test_fatbins(small):
    """The program starts; its first launch fails with a code and one line."""
    if tests.whole("programs for several architectures"):
        bare = program("small", "bare", [*NO_ARCH, "-gencode", "arch=compute_90,code=sm_90"])
        if bare:
            stops("machine code only", [bare], "machine code for sm_90 but no PTX", "cudaErrorNoKernelImageForDevice")
        older = program("small", "older", [*NO_ARCH, "-gencode", "arch=compute_80,code=sm_80"])
        if older:
            expect("machine code for older devices: launches fail as on a GPU", simt([older]), 1,
                   "cudaErrorNoKernelImageForDevice", r"\Asimt: the program holds machine code for sm_80, and .*: build with "
                   r"nvcc -arch=sm_90\n\Z")
        name = "of several architectures the newest up to 9.0"
        if "compute_120" not in run([suite.NVCC, "--list-gpu-arch"]).out.split():
            tests.skip(name, "this nvcc knows none above 9.0")
        else:
            newer = program("small", "newer", [*NO_ARCH, "-gencode", "arch=compute_75,code=compute_75",
                                               "-gencode", "arch=compute_120,code=compute_120"])
            if newer:
                expect(name, simt([newer]), 0, "^first 0")
                expect("--as sm_120: the newest up to 12.0", simt(["--as", "sm_120", newer]), 0, "^first 0")
                expect("--as sm_70: none", simt(["--as", "sm_70", newer]), 1, "cudaErrorNoKernelImageForDevice",
                       r"PTX for compute_75, and a device of compute capability 7\.0 runs none .*, or run simt --as sm_75\n")
    good = small.read_bytes()
    start, size, entry, ptx, length = embedded_ptx(good)[0]
    middle = ptx + length // 2
    for name, at, data, why in (
            ("wrong magic number", start, bytes(4), "wrong magic number"),
            ("bad header size", start + 6, b"\0\0", "bad header size"),
            ("size beyond the data", start + 8, (1 << 62).to_bytes(8, "little"), "bad size"),
            ("size of nothing", start + 8, bytes(8), "holds no PTX"),
            ("an entry's header of no size", entry + 4, bytes(4), "an entry does not fit"),
            ("an entry that does not fit", entry + 8, (1 << 40).to_bytes(8, "little"), "an entry does not fit"),
            ("PTX cut off in the middle", middle, bytes(ptx + length - middle), "")):
        stops("corrupt: " + name, [tests.keep("corrupt", good[:at] + data + good[at + len(data):])], why, "cudaError(Invalid|NoKernelImage)")
    stops("corrupt: unknown opcode", [tests.keep("corrupt", good.replace(b"mov.u32 ", b"mow.u32 "))], "mow")
    name = "damaged copies: no crash, no hang"
    if tests.wants(name):
        rng, bad = random.Random(7), []
        for count in range(40 if tests.whole("40 damaged copies") else 10):
            copy = bytearray(good)
            for _ in range(1 + count % 3):
                at = rng.choice([start + rng.randrange(16), entry + rng.randrange(64), *(ptx + rng.randrange(length)
                                                                                         for _ in range(2))])
                copy[at] = rng.randrange(256)
            result = simt(["--watchdog", "2", tests.keep("flipped", copy)], 20)
            if result.hung or result.status < 0 or result.status in (134, 139):
                bad += [f"copy {count}", *result.tail()]
        tests.check(name, not bad, bad)


def test_readers(small):
    """Tests the readers of fat binaries, compressed PTX and ELF files under sanitizers."""
    made = tests.compile_c("fatbins", source("fatbins.c"), modules=["base", "simt/base/limits", "simt/program/fatbin", "simt/program/unpack"],
                           libraries=["-ldl"])
    if made:
        tests.relay(run([made]), "fat binary: ", 28)
    fuzz = tests.compile_c("fuzz_elf", source("fuzz_elf.c"), modules=["base", "simt/launcher/elf", "simt/launcher/standin"])
    if fuzz:
        expect("damaged ELF files", run([fuzz, small], 60), 0, "accepted")


def test_library_paths():
    """A program's own path to the real runtime must not take precedence over the CPU device."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(NVCC))), "lib64")
    for name, option in [("RPATH", "--disable-new-dtags"), ("RUNPATH", "--enable-new-dtags")]:
        made = program("small", name.lower(), [*NVCC_FLAGS, "-Xlinker", option, "-Xlinker", "-rpath," + folder])
        if made:
            expect("a program with " + name, simt([made]), 0, "^first 0, cudaSuccess$")


def test_builds():
    small = program("small")
    if not small:
        return
    test_launcher(small)
    test_fatbins(small)
    test_readers(small)
    test_plain()
    test_linked()
    if tests.whole("plain programs that are refused"):
        test_plain_refused()
    if tests.whole("a path to another runtime inside the program"):
        test_library_paths()
