"""Tests that a run fails if the CPU device was not used: folders with odd names, programs that escape from it."""
import os
import shutil

import suite
from device import SIMT
from expect import expect, program, tests
from suite import NVCC_FLAGS, run

ODD = "a b:c;d'e\"f\ng"  # characters that end a word for the loader, a shell or make
RACE = r"^CPU device: \d hazards?\b.*\n(.*\n)*?.*race in races"
UNSEEN = r"\Asimt: .*watched\w* was not watched to its end: .* \(exec\).*\n\Z"
PLAIN = ["-arch=sm_90"]  # which links the runtime into the program


def test_folder(shared, static):
    """Tests the launcher, its libraries and the program in a folder with such a name."""
    folder = tests.fresh(ODD)
    shutil.copy(SIMT, folder)
    shutil.copytree(SIMT.with_name("simt-runtime"), folder / "simt-runtime")
    rpath = program("watched", "watched_rpath", [*NVCC_FLAGS, "-Xlinker", "--disable-new-dtags", "-Xlinker", "-rpath,/nowhere"])
    for name, built in (("a shared runtime", shared), ("the runtime linked in", static), ("RPATH", rpath)):
        if built:
            shutil.copy(built, folder / "odd program")
            expect(f"in a folder with an odd name, {name}", run([folder / "simt", "--check", folder / "odd program"]), 86, RACE)
    files = [word for option in ("csv", "lines-csv", "html", "report", "trace") for word in (f"--{option}", folder / option)]
    result = run([folder / "simt", "--check", *files, folder / "odd program"])
    lost = [f"no {path.name}" for path in files[1::2] if not path.exists()]
    tests.report("in a folder with an odd name, every file is written", *lost, result.status != 86 and result.text())


def test_escapes(name, watched, child):
    def tried(what, status, out, err, *arguments, **more):
        expect(f"{name}: {what}", run([SIMT, "--check", *arguments], 30, **more), status, out, err)
    tried("a program that makes no call has been watched", 0, r"\A", r"\A\Z", watched, "idle")
    tried("so has one that ends by _exit", 0, r"\A", r"\A\Z", watched, "idle _exit")
    tried("a child is on the CPU device too", 86, rf"{RACE}(.*\n)*child: 86\n(.*\n)*{RACE[1:]}", r"\A\Z", watched, "fork", child)
    tried("so it is where all descriptors are closed", 86, rf"{RACE}(.*\n)*child: 86\n(.*\n)*{RACE[1:]}", r"\A\Z", watched,
          "descriptors", child)
    tried("another program in its place is not watched", 2, r"\Alaunched: cudaSuccess\n\Z", UNSEEN, watched, "exec", "/bin/true")
    tried("nor is what the first one did before a watched one", 2, RACE, UNSEEN, watched, "exec", child)
    tried("an end by a bare system call", 2, r"\Alaunched: cudaSuccess\n\Z", UNSEEN, watched, "system call")
    if os.geteuid() != 0:
        return
    setuid = tests.keep("setuid", watched.read_bytes())
    os.chown(setuid, 65534, -1)
    setuid.chmod(0o4755)
    tried("a setuid program runs without the CPU device, and fails", 2, None,
          r"simt: .*setuid ran without the CPU device: nothing was counted or checked\. .*setuid.*\n\Z", setuid, "idle")


def test_watched():
    shared, static = program("watched"), program("watched", "watched_static", PLAIN)
    if shared and static:
        test_folder(shared, static)
        test_escapes("shared runtime", shared, shared)
        test_escapes("runtime linked in", static, shared)
    if os.geteuid() != 0:
        tests.skip("a setuid program", "only root can make one of another user")
