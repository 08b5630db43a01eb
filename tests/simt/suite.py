"""What the tests of the CPU device share: where things are, compiling, running, reporting."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("B", "build")
SIMT = os.path.join(BUILD, "simt")
NVCC = os.environ.get("NVCC") or shutil.which("nvcc")
FLAGS = ["-O3", "-arch=sm_90", "-cudart", "shared", "--no-compress", "-lineinfo"]


def path(*parts):
    """A file of tests/simt/."""
    return os.path.join(HERE, *parts)


class Result:
    """What a finished program left: its status (negative: a signal), its text, whether it hung."""

    def __init__(self, status, out, err, hung):
        self.status, self.out, self.err, self.hung = status, out, err, hung

    def tail(self):
        text = (self.out + self.err).strip().splitlines()[-12:]
        return ["exit status %d%s" % (self.status, " (time limit)" if self.hung else "")] + text


def run(command, seconds=60, **more):
    """Runs a program to its end, or kills it and its children after `seconds`."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True, **more)
    hung = False
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        hung = True
    return Result(process.returncode, out.decode("utf-8", "replace"),
                  err.decode("utf-8", "replace"), hung)


class Suite:
    """One test area: prints its lines and keeps its files under $B/tests/AREA."""

    def __init__(self, area):
        self.area = area
        self.folder = os.path.join(BUILD, "tests", area)
        os.makedirs(self.folder, exist_ok=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def check(self, name, good, details=()):
        print("%s %s: %s" % ("ok" if good else "not ok", self.area, name), flush=True)
        if not good:
            for line in details:
                print("    " + str(line), flush=True)
        return good

    def skip(self, name, why):
        print("skip %s: %s: %s" % (self.area, name, why), flush=True)

    def ready(self):
        """False, with the line that says so, when nothing in this area can run."""
        if not NVCC:
            self.skip("all", "no nvcc")
            return False
        return self.check("the launcher is built", os.access(SIMT, os.X_OK), ["no " + SIMT])

    def compile(self, source, name=None, flags=None, inputs=(), nvcc=None):
        """Compiles one .cu to $B/tests/AREA/NAME unless that was done already from the same text.

        Returns the program's path; None after reporting a failure."""
        name = name or os.path.splitext(os.path.basename(source))[0]
        target = self.file(name)
        command = [nvcc or NVCC] + (FLAGS if flags is None else flags)
        digest = hashlib.sha256(repr(command).encode())
        for item in (source, *inputs):
            with open(item, "rb") as text:
                digest.update(text.read())
        digest = digest.hexdigest()
        if os.path.exists(target) and read(target + ".from") == digest:
            return target
        result = run(command + ["-o", target, source], seconds=600)
        if not self.compiled(result, name):
            return None
        write(target + ".from", digest)
        return target

    def compiled(self, result, name):
        if result.status == 0 and not result.hung:
            return True
        return self.check("%s compiles" % name, False, result.tail())


def read(name):
    try:
        with open(name) as text:
            return text.read()
    except FileNotFoundError:
        return None


def write(name, text):
    """Writes a file, unless it already holds this text."""
    if read(name) == text:
        return
    with open(name, "w") as out:
        out.write(text)


def simt(arguments, seconds=60, **more):
    return run([SIMT] + list(arguments), seconds, **more)


def generate(script, target, *arguments):
    """Runs a generator of tests/simt/ and keeps its standard output as `target`."""
    result = run([sys.executable, "-B", script, *arguments])
    if result.status != 0:
        sys.exit("%s: %s" % (script, result.err))
    write(target, result.out)
    return target


def kernel_base(name):
    """A demangled kernel name without return type, parameters or template arguments."""
    name = re.sub(r"^(void|static void) ", "", name.strip())
    return re.split(r"[(<]", name)[0]


def csv_rows(name):
    """The rows of a CSV file as dictionaries; comment lines start with '#'."""
    import csv
    with open(name, newline="") as text:
        return list(csv.DictReader(line for line in text if not line.startswith("#")))


FATBIN_MAGIC = bytes.fromhex("50ed55ba")  # 0xBA55ED50, little endian


def embedded_ptx(program):
    """Where a program's PTX is: [(offset of the fat binary, its bytes, offset of the entry,
    offset of the text, its bytes)], for each fat binary with uncompressed PTX."""
    found, at = [], program.find(FATBIN_MAGIC)
    while at >= 0:
        header = int.from_bytes(program[at + 6:at + 8], "little")
        size = int.from_bytes(program[at + 8:at + 16], "little")
        entry, end = at + header, at + header + size
        while header == 16 and entry + 64 <= end <= len(program):
            kind = int.from_bytes(program[entry:entry + 2], "little")
            entry_header = int.from_bytes(program[entry + 4:entry + 8], "little")
            payload = int.from_bytes(program[entry + 8:entry + 16], "little")
            if kind == 1:
                found.append((at, header + size, entry, entry + entry_header, payload))
            entry += entry_header + payload
            if entry_header < 64:
                break
        at = program.find(FATBIN_MAGIC, at + 4)
    return found
