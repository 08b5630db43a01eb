"""Shared by the suites of the CPU device: its launcher, and functions that find PTX and machine code in programs."""
import csv
import io
import os
import re
import struct
import sys
from pathlib import Path

sys.path[:0] = map(str, Path(__file__).resolve().parents[:2])
import suite

HERE = Path(__file__).resolve().parent
SIMT = suite.BUILD / "simt"
# The components below the CUDA runtime, which starts by itself when loaded.
CORE = [f"simt/{room.name}" for room in sorted((suite.TOOLS / "simt").iterdir())
        if room.is_dir() and room.name not in ("program", "cuda", "launcher", "report", "native", "cudac")]


def objects(modules):
    """The objects that `make simt` made of these modules and components of tools/."""
    sources = [source for module in modules for source in suite.sources_of(module)]
    made = [suite.BUILD / "simt-objects" / source.relative_to(suite.TOOLS).with_suffix(".o") for source in sources]
    return [path for path in made if path.exists()]


def path(*parts):
    """A file of tests/simt/."""
    return HERE.joinpath(*parts)


def simt(arguments, seconds=60, **more):
    return suite.run([SIMT, *arguments], seconds, **more)


def ready(tests):
    """Whether this area can run; if not, prints why."""
    if not suite.NVCC:
        tests.skip("all", "no nvcc")
        return False
    return tests.need("the launcher is built", os.access(SIMT, os.X_OK), [f"no {SIMT}"])


def same_toolkit():
    """Whether ptxas is the recordings' version: others make different machine code."""
    release = [re.search(r"release (\d+\.\d+)", text) for text in (
        suite.read(suite.RECORDED / "h200-kernels.csv"), suite.run([suite.NVCC, "--version"]).out)]
    return release[0][1] == release[1][1]


def check_table(tests, name, columns, rows):
    """Compares a new table of appendix B with results/NAME."""
    table = tests.file(name)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    suite.write(table, text.getvalue())
    tests.check("results/%s is what is counted now" % name, os.path.exists("results/" + name) and
                suite.read(table) == suite.read("results/" + name), ["copy it from %s" % table])


def generate(script, target, *arguments):
    """Runs a generator of tests/simt/ and keeps its standard output as `target`."""
    result = suite.run([sys.executable, "-B", script, *arguments])
    if result.status != 0:
        sys.exit(f"{script}: {result.err}")
    suite.write(target, result.out)
    return target


def kernel_base(name):
    """A demangled kernel name without return type, parameters or template arguments."""
    name = re.sub(r"^(void|static void) ", "", name.strip())
    return re.split(r"[(<]", name)[0]


FATBIN_MAGIC = bytes.fromhex("50ed55ba")  # 0xBA55ED50, little endian


PTX, MACHINE_CODE = 1, 2  # kinds of an entry of a fat binary


def entries(program, kind):
    """[(offset of the fat binary, its size, offset of the entry, offset of its contents, their size)] of a
    program's entries of this kind."""
    found, at = [], program.find(FATBIN_MAGIC)
    while 0 <= at <= len(program) - 16:
        header, size = struct.unpack_from("<HQ", program, at + 6)
        entry, end = at + header, at + header + size
        while header == 16 and entry + 64 <= end <= len(program):
            of_kind, = struct.unpack_from("<H", program, entry)
            head, = struct.unpack_from("<I", program, entry + 4)
            payload, = struct.unpack_from("<Q", program, entry + 8)
            if of_kind == kind:
                found.append((at, header + size, entry, entry + head, payload))
            if head < 64:
                break
            entry += head + payload
        at = program.find(FATBIN_MAGIC, at + 4)
    return found


def embedded_ptx(program):
    """The same of uncompressed PTX."""
    return entries(program, PTX)


def cubins(program):
    """The positions of a program's machine code: [(offset, size)]."""
    return [entry[3:] for entry in entries(program, MACHINE_CODE)]
