"""Shared by the suites in Python: result lines, the filter CASE, programs with time limits,
compilers, output folders. suite.sh is the same for the shell.

A suite is a program tests/AREA/run. It makes one Suite, reports its cases, and ends with
Suite.finish(): a suite that stops before that has failed. README.md explains the lines it prints.
"""
import csv
import functools
import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
TOOLS = ROOT / "tools"
RECORDED = TESTS / "recorded"  # results of a GPU and its tools
FUZZED = TESTS / "fuzzed"  # inputs that fuzzers found
BUILD = Path(os.path.abspath(ROOT / os.environ.get("B", "build")))
CASE = os.environ.get("CASE", "")
SHORT = os.environ.get("TIER") == "short"  # make test runs only the short tests of this area
CC = os.environ.get("CC", "cc").split()
# Compile to PTX only, with unoptimised host code: the CPU device runs the same PTX, and compiling is faster.
NVCC_FLAGS = ["-arch=compute_90", "-cudart", "shared", "--no-compress", "-lineinfo"]
C_FLAGS = ["-std=c11", "-g1", "-O1", "-ffp-contract=off", f"-I{TOOLS}"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def nvcc_flags(arch):
    """NVCC_FLAGS for another architecture: sm_90 has PTX and machine code."""
    return [f"-arch={arch}", *NVCC_FLAGS[1:]]


def tool(name):
    """The path of a tool that make uses, as tools/build/toolchain.sh finds or has installed it, or None."""
    asked = subprocess.run([TOOLS / "build/toolchain.sh", "-f", name], env={**os.environ, "B": str(BUILD)},
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return str(ROOT / asked.stdout.strip()) if asked.returncode == 0 else None


NVCC = tool("nvcc")


class Suite:
    """The suite of one area, by its script's __file__; its files are kept under $B/tests/AREA."""

    def __init__(self, script):
        script = Path(script).resolve()
        self.here = script.parent
        self.area = (script.parent if script.name == "run" else script).relative_to(TESTS).as_posix()
        self.folder = BUILD / "tests" / self.area
        self.folder.mkdir(parents=True, exist_ok=True)
        self.names, self.left_out = [], set()
        os.chdir(ROOT)

    # ---- Result lines ----

    def wants(self, *names):
        """Whether one of these cases is wanted. Lets a suite leave out work; report() filters by itself."""
        for name in names:
            if CASE not in name and name not in self.left_out:
                self.left_out.add(name)
                print(f"left out {self.area}: {name}", flush=True)
        return any(CASE in name for name in names)

    def whole(self, *names):
        """Whether all cases are wanted. If only short tests are, it prints that this case or group of cases is
        left to make test-all."""
        if SHORT:
            for name in names:
                print(f"later {self.area}: {name}", flush=True)
        return not SHORT

    def cases(self, *names, whole=False):
        """Decorates a slow function that reports exactly these cases: it runs only if one of them is
        wanted; with `whole`, not among the short tests."""
        def decorated(function):
            def guarded(*arguments):
                if not self.wants(*names) or whole and not self.whole(*names):
                    return
                before = len(self.names)
                function(*arguments)
                unlike = set(names) ^ set(self.names[before:])
                if unlike:
                    self.broken(f"{function.__name__} reports the cases it is said to", *unlike)
            return guarded
        return decorated

    def report(self, name, *problems):
        """Reports one case, which passes if every problem is empty. Returns whether it passed."""
        problems = [problem for problem in problems if problem]
        return self.check(name, not problems, problems)

    def check(self, name, good, details=()):
        """Reports one case, which passes if `good`, else with a message. Returns whether it passed."""
        self.names.append(name)
        if self.wants(name):
            self.tell(name, good, details)
        return bool(good)

    def need(self, name, good, details=()):
        """Reports a case on which others depend: a failure is printed whatever CASE is."""
        return self.check(name, True) if good else self.broken(name, *details)

    def broken(self, name, *details):
        """Reports that a prerequisite of cases failed, whatever CASE is. Returns False."""
        self.tell(name, False, details)
        return False

    def tell(self, name, good, details):
        details = [details] if isinstance(details, str) else details
        lines = [line for detail in details for line in str(detail).splitlines()]
        told = [f"{'ok' if good else 'not ok'} {self.area}: {name}"]
        told += [] if good else ["    " + line for line in lines[:40]]
        print("\n".join(told) + "\n", end="", flush=True)  # one call, so that output of other threads does not come between

    def skip(self, name, why):
        """Reports a case that cannot run here; the name `all` means the rest of the suite."""
        self.names.append(name)
        if name == "all" or self.wants(name):
            print(f"skip {self.area}: {name}: {why}", flush=True)

    def relay(self, result, prefix="", at_least=1):
        """Reports the lines `ok NAME` and `not ok NAME` of a program, the latter with indented lines below, as
        cases, and one more case: that it runs to its end."""
        cases = re.findall(r"^(ok|not ok) (.*)\n((?:    .*\n)*)", result.out, re.M)
        for verdict, name, details in cases:
            self.check(prefix + name, verdict == "ok", [line.strip() for line in details.splitlines()])
        self.check(f"{prefix}runs to its end", result.status == 0 and len(cases) >= at_least,
                   result.tail())

    def finish(self):
        print(f"end {self.area}", flush=True)

    # ---- Files ----

    def file(self, name):
        return self.folder / name

    def keep(self, name, content):
        """Writes an executable file of these bytes."""
        path = self.file(name)
        path.write_bytes(content)
        path.chmod(0o755)
        return path

    def fresh(self, name):
        """Makes an empty folder."""
        folder = self.file(name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    # ---- Compilers ----

    def compile_c(self, name, *sources, modules=(), flags=(), libraries=(), sanitize=True,
                  compiler=None):
        """Builds $B/tests/AREA/NAME from C files (or objects) and modules of tools/, "tangle/expand" or a
        whole component, "base"; with ASan and UBSan if the compiler has them. An object is compiled again
        only if its source, a header or the flags have changed; all suites share the objects of tools/.
        Returns None after reporting a failure."""
        compiler = compiler or CC
        flags = [*C_FLAGS, *flags, *(SANITIZE if sanitize and has_sanitizers(*compiler) else [])]
        sources = [*sources, *(source for module in modules for source in sources_of(module))]
        of_tools, of_suite = (b"".join(header.read_bytes() for header in sorted(folder.rglob("*.h")))
                              for folder in (TOOLS, self.here))

        def object_of(source):
            source = Path(source).resolve()
            if source.suffix == ".o":
                return source, None
            shared = TOOLS in source.parents
            command = [*compiler, *flags, *(["-w"] if shared else WARNINGS)]
            headers = of_tools if shared else of_tools + of_suite
            digest = digest_of(command, headers, source.read_bytes())
            folder = ROOT / BUILD / "tests/objects" if shared else self.folder / "objects"
            target = folder / source.relative_to(ROOT).with_suffix(f".{digest[:16]}.o")
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                new = target.with_suffix(f".{os.getpid()}.{name}.o")  # two suites may want it at once
                made = run([*command, "-c", "-o", new, source], 300)
                if made.status:
                    return target, made
                os.replace(new, target)
            return target, None

        with ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(object_of, sources))
        failed = [made for _, made in objects if made]
        if not failed:
            program = self.file(name)
            made = run([*compiler, *flags, "-o", program, *(o for o, _ in objects), *libraries], 300)
            if made.status == 0:
                return program
            failed = [made]
        self.broken(f"{name} compiles", failed[0].text())
        return None

    def compile_cu(self, source, name=None, flags=NVCC_FLAGS, inputs=()):
        """Compiles $B/tests/AREA/NAME from one .cu, unless the program was made from the same text, that of
        `inputs` included. Returns None after reporting a failure."""
        target = self.file(name or Path(source).stem)
        return self.compiled(target, [NVCC, *standard_of(source), *flags, "-o", target, source], source, *inputs)

    def compile_edited(self, source, whole, flags=NVCC_FLAGS):
        """The same for a .cu that differs only in its kernels from the source of `whole`, an object of
        compile_cu: edited.sh puts the new device code into that object."""
        target = self.file(Path(source).stem)
        command = [TESTS / "edited.sh", NVCC, whole, source, target, *standard_of(source), *flags]
        return self.compiled(target, command, source, whole)

    def compiled(self, target, command, *inputs):
        digest = digest_of(list(map(str, command)), *(Path(item).read_bytes() for item in inputs))
        if target.exists() and read(f"{target}.from") == digest:
            return target
        made = run(command, 600)
        if made.status or made.hung:
            self.broken(f"{target.name} compiles", *made.tail())
            return None
        write(f"{target}.from", digest)
        return target


def standard_of(source):
    """The flag for C++14, if the program needs no more: nvcc takes 0.55 s for an empty program, and 0.9 s
    as C++17, whose headers are longer. CUDA's own library needs C++17, as do programs whose comment says so."""
    later = re.search(rb'#include [<"](cooperative_groups|cub/|thrust/|cuda/|\S*clusters\.h)|// .*C\+\+17',
                      Path(source).read_bytes())
    return [] if later else ["-std=c++14"]


@functools.lru_cache(maxsize=None)
def has_sanitizers(*compiler):
    """Whether this C compiler has ASan and UBSan, and they are wanted (SANITIZE=no: they are not)."""
    if os.environ.get("SANITIZE") == "no":
        return False
    command = [*(compiler or CC), *SANITIZE, "-x", "c", "-", "-o", "/dev/null"]
    return run(command, 60, input=b"int main(void) { return 0; }\n").status == 0


def sources_of(module):
    """A module's source, or the sources of a component without its main.c."""
    if (TOOLS / module).is_dir():
        return [source for source in sorted((TOOLS / module).rglob("*.c")) if source.name != "main.c"]
    return [TOOLS / f"{module}.c"]


def digest_of(*parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest()


# ---- Programs ----


def in_path(folder):
    """A name for a folder that PATH can hold even if the folder's own has a colon: through this process's descriptor."""
    if ":" not in str(folder):
        return str(folder)
    return f"/proc/{os.getpid()}/fd/{os.open(folder, os.O_PATH)}"


class Result:
    """The result of a program: its status (negative: a signal), its output as bytes and as
    text, and whether it hung."""

    def __init__(self, status, stdout, stderr, hung):
        self.status, self.stdout, self.stderr, self.hung = status, stdout, stderr, hung
        self.out, self.err = stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")

    def text(self):
        how = f"exit status {self.status}{' (time limit)' if self.hung else ''}"
        return f"{how}\n{self.out}{self.err}"

    def failure(self):
        """A problem if the program failed or hung, else None."""
        return self.text() if self.status or self.hung else None

    def tail(self):
        lines = self.text().strip().splitlines()
        return lines[:1] + lines[1:][-12:]


def run(command, seconds=60, input=None, **more):
    """Runs a program, and kills it and its children after `seconds`."""
    more.setdefault("stdin", subprocess.DEVNULL if input is None else subprocess.PIPE)
    more.setdefault("stdout", subprocess.PIPE)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, **more)
    hung = False
    try:
        out, err = process.communicate(input, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        hung = True
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return Result(process.returncode, out or b"", err, hung)


def interrupted(command, after, seconds, number=signal.SIGINT):
    """Runs a program, sends it a signal after `after` seconds and waits for `seconds` more. If the tests run
    in the background, SIGINT is ignored: the program must not inherit that."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(after)
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=seconds)
        return Result(process.returncode, out, err, False)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Result(process.returncode, out, err, True)


# ---- Files and comparisons ----


def read(path):
    """A file's text, or None if there is no such file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def write(path, text):
    """Writes a file, unless it already has this text."""
    if read(path) != text:
        Path(path).write_text(text, encoding="utf-8")


def csv_rows(path):
    """The rows of a CSV file as dictionaries; comment lines start with '#'."""
    with open(path, newline="") as text:
        return list(csv.DictReader(line for line in text if not line.startswith("#")))


def unequal(got, wanted):
    """A problem if two values differ, else None."""
    return None if got == wanted else f"wanted {wanted!r}\ngot    {got!r}"


def lacks(text, *wanted):
    """A problem if a text lacks some of these, else None."""
    return "\n".join(f"no {w!r} in: {text[-1500:]}" for w in wanted if w not in text) or None


def difference(got, wanted):
    """A problem with the first line in which two texts differ, or None."""
    if got == wanted:
        return None
    got, wanted = got.splitlines(), wanted.splitlines()
    for number, (a, b) in enumerate(zip(got + [None] * len(wanted), wanted + [None] * len(got)), 1):
        if a != b:
            return f"line {number}:\ngot    {a!r}\nwanted {b!r}"
    return "line ends differ"
