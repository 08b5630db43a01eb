#!/usr/bin/env python3
"""Changes one token of tools/ at a time, and lists the changes that no test notices.

    tests/mutate/mutate.py [-n N] [-s SEED] [-t short] [FILE or folder of tools/...]

Draws N mutants (default 500) from these files (default: COMPONENTS_BY_DEFAULT) in an order that depends
on the seed, builds each in a copy of the tree and runs the suites of its component until one fails; with
-t short it runs the short tests. Two copies work in parallel, under $B/mutate. Verdicts, with the case
that noticed each mutant, are saved in $B/mutate/results.jsonl (or results-short.jsonl), and a later run
continues from there; survivors are tried again if a test has changed. Mutants that do not compile or compile
to the same code do not count. equivalent.txt lists those that no test can notice.
"""
import argparse
import hashlib
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutants import mutants_of

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.path.abspath(ROOT / os.environ.get("B", "build")))
HOME = BUILD / "mutate"
WORKERS = 2
# Quick to compile. A change that no programmer would make, such as a number for a pointer, is an error.
FLAGS = "-O1 -Werror=int-conversion -Werror=incompatible-pointer-types"
MEMORY = 3 << 30  # bytes that the programs of one suite may hold
COMPONENTS_BY_DEFAULT = ["base", "markdown", "tangle", "numbers", "book", "weave", "simt/exec", "simt/observe", "simt/device"]

# The suites of a component, the quickest first. `AREA: CASE` runs the area up to that case. The second list runs
# with sanitizers, if the first list has not noticed the mutant.
UP_TO_DATE = "notebooks: the committed notebooks are what"
ORDER = "simt/runtime: --check: wrong_tail: the same bytes on every run"
REPORTS = "simt/runtime: --lines shows counters beside the source"
FLOW = "simt/flows: random registers, --check"
DEVICE = ["simt/core", "simt/patterns", "simt/corpus", "simt/vectors", FLOW, REPORTS]
SUITES = {"base": (["base", "tangle", "weave", UP_TO_DATE], ["base"]),
          "markdown": (["tangle", "fence", "weave"], ["fence"]), "tangle": (["tangle", "weave"], []),
          "numbers": (["weave", UP_TO_DATE], []), "book": (["weave", UP_TO_DATE], []), "weave": (["weave", UP_TO_DATE], []),
          "notebook": ([UP_TO_DATE, "weave"], []), "collect": (["notebooks"], []),
          "simt/ptx": ([*DEVICE, "simt/runtime"], ["simt/fuzz"]),
          "simt/program": ([REPORTS, "simt/runtime", FLOW], ["simt/fuzz"]), "simt/cuda": ([REPORTS, "simt/runtime", FLOW], ["simt/fuzz"]),
          "simt/report": (["simt/page", "simt/corpus", "simt/runtime"], []), "simt/launcher": ([REPORTS, "simt/runtime"], []),
          "simt/observe": (["simt/corpus", "simt/page", ORDER, "simt/core", FLOW, REPORTS], []),
          "simt/device": ([*DEVICE, "simt/runtime"], []), "simt": (DEVICE, [])}
# These cases compare times, which are wrong on a busy machine.
TIMED = ["a book of 300 KB in 20 ms"]


def component_of(file):
    parts = Path(file).parts
    return "/".join(parts[1:3 if parts[1] == "simt" else 2])


def suites_of(component):
    """[(suite, with sanitizers)], in the order in which they are run."""
    plain, sanitized = SUITES.get(component, SUITES["simt"])
    return [*((name, False) for name in plain), *((name, True) for name in sanitized)]


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


# ---- Programs ----

def descendants(pid):
    """All descendants of a process, and the bytes of memory that they use."""
    children, memory = {}, {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            fields = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry.name))
        memory[int(entry.name)] = int(fields[21]) * 4096
    found = [pid]
    for process in found:
        found += children.get(process, [])
    return found, sum(memory.get(process, 0) for process in found)


def kill(pid):
    """Stops all descendants of a suite before killing them, so that no process is left."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in descendants(pid)[0]:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass


def lines_of(command, folder, environment, limit):
    """Yields the lines that a program prints, as they come; the last line says how it ended. If the caller
    stops before that, the program is killed."""
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end, rest, stopped = time.time() + limit, b"", None
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not stopped:
                if selector.select(0.5):
                    more = os.read(process.stdout.fileno(), 65536)
                    if not more:
                        break
                    *lines, rest = (rest + more).split(b"\n")
                    yield from (line.decode("utf-8", "replace") for line in lines)
                if time.time() > end:
                    stopped = "time limit"
                elif descendants(process.pid)[1] > MEMORY:
                    stopped = "memory limit"
        if not stopped:
            process.wait(10)
            stopped = f"status {process.returncode}"
        yield f"= {stopped}"
    finally:
        if process.poll() is None:
            kill(process.pid)
        process.wait()
        process.stdout.close()


# ---- Copies of the tree ----

class Copy:
    """A copy of the tree with a build folder of its own, in which mutants are tried."""

    def __init__(self, number, tier):
        self.folder = HOME / f"copy-{number}"
        self.build = self.folder / "build"
        self.mark = HOME / f"copy-{number}.mutated"  # names the file that is mutated at the moment
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("CASE", "AREA", "TIER") and not name.startswith(("MAKE", "MFLAGS"))}
        self.environment.update(B="build", SANITIZE="no", IN_TURN=str(self.build))  # as if make had called itself
        self.environment.update({"TIER": tier} if tier else {})
        self.ready = False
        self.seconds, self.known = {}, {}  # by suite: its seconds, and the cases that fail without a mutant

    def bring_up_to_date(self):
        listed = subprocess.run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=ROOT,
                                stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
        files = {name for name in listed if name and (ROOT / name).is_file()}
        if not self.build.exists():
            shutil.copytree(BUILD, self.build, symlinks=True, ignore=self.left_behind)
        for path in self.folder.rglob("*"):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and not name.startswith("build/") and name not in files:
                path.unlink()
        for name in files:
            ours, theirs = self.folder / name, ROOT / name
            if not ours.exists() or ours.read_bytes() != theirs.read_bytes():
                ours.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(theirs, ours)
                shutil.copymode(theirs, ours)
        if self.mark.exists():
            (self.folder / self.mark.read_text()).touch()
        self.mark.unlink(missing_ok=True)

    @staticmethod
    def left_behind(folder, names):
        """Names of what is not copied: it is large, or made by tests."""
        other = {"mutate", "pandoc", "venv", "venv-jupyter", "toolchain", "cuda"} if Path(folder) == BUILD else set()
        if Path(folder) == BUILD / "tests":
            other = {"make", "notebooks", "plot", "toolchain"}
        return other & set(names)

    def make(self, goals):
        """False if it does not compile."""
        command = ["make", "-s", "-j2", "OPTIMIZE=" + FLAGS, *goals]
        *output, end = lines_of(command, self.folder, self.environment, 900)
        self.output = output
        return end == "= status 0"

    def suite(self, name, sanitize, limit):
        """Runs a suite. Returns its first failure or None, and its seconds."""
        area, _, last = name.partition(": ")
        environment = {**self.environment, **({"SANITIZE": "yes"} if sanitize else {})}
        start, ended, failed = time.time(), False, None
        for line in lines_of([self.folder / "tests" / area / "run"], self.folder, environment, limit):
            case = re.sub(r"^(not ok|ok|skip) \S+: ", "", line)
            if line.startswith("not ok ") and case not in TIMED and line not in self.known.get(name, ()):
                failed = line[7:]
            elif line.startswith("= ") and not (ended and line == "= status 0"):
                failed = f"{area}: {line[2:]}"
            ended = ended or line == f"end {area}"
            if failed or last and case.startswith(last):
                break
        return failed, time.time() - start

    def prepare(self, suites, goals):
        """Builds everything and runs the suites without a mutant: cases that fail then are ignored later.
        Returns False if no mutant can be tried."""
        self.bring_up_to_date()
        if not self.make(goals):
            return self.refuse("the tree does not build:\n" + "\n".join(self.output[-20:]))
        for name, sanitize in suites:
            known, slow = self.known.setdefault(name, set()), True
            while True:
                failed, self.seconds[name, sanitize] = self.suite(name, sanitize, 900)
                if failed and not self.failed_before(failed, known):
                    known.add(f"not ok {failed}")
                elif failed:
                    return self.refuse(f"without a change {failed}")
                elif slow and self.seconds[name, sanitize] > 5:
                    slow = False  # the first run included the suite's own compilation
                else:
                    break
        self.ready = True
        return True

    @staticmethod
    def refuse(why):
        print(f"mutate: {why}", file=sys.stderr)
        return False

    @staticmethod
    def failed_before(failed, known):
        return f"not ok {failed}" in known or re.search(r": (status|time limit|memory limit)", failed)

    def objects(self, file):
        """Compiles a source to an object file."""
        end = Path(file).relative_to("tools").with_suffix(".o").as_posix()
        return [path for path in self.build.glob(f"*/{end}")]

    def code(self, objects):
        """An object's machine code and data, without its line information."""
        bare, codes = HOME / f"{self.folder.name}.o", []
        for path in objects:
            subprocess.run(["strip", "--strip-debug", "-o", bare, path], check=True)
            codes.append(bare.read_bytes())
        return codes

    def try_mutant(self, mutant, text, goals):
        """Tries one mutant: (verdict, the case that noticed it)."""
        source = self.folder / mutant.file
        times, objects = source.stat(), self.objects(mutant.file)
        kept = [path.read_bytes() for path in objects]
        before = self.code(objects)
        self.mark.write_text(mutant.file)
        source.write_text(mutant.applied(text))
        try:
            if not self.make(goals):
                return "not compiled", ""
            if objects and self.code(objects) == before:
                return "same code", ""
            return self.test(mutant)
        finally:
            source.write_text(text)
            if objects:
                os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
            for path, content in zip(objects, kept):
                path.write_bytes(content)
            self.mark.unlink()

    def test(self, mutant):
        for name, sanitize in suites_of(component_of(mutant.file)):
            failed, _ = self.suite(name, sanitize, 10 + 4 * self.seconds[name, sanitize])
            if failed:
                return "killed", failed
        return "survived", ""


# ---- Saved results ----

def read_equivalents():
    """{(file, code, changed code)}: the mutants that no test can notice."""
    found, file, code = {}, "", ""
    for line in (ROOT / "tests/mutate/equivalent.txt").read_text().splitlines():
        if line.startswith("file "):
            file = line[5:]
        elif line.startswith("- "):
            code = line[2:]
        elif line.startswith("+"):
            found[file, code, line[2:]] = True
    return found


class Results:
    """The results file, one JSON object per mutant and line. Survivors are forgotten if a test has changed."""

    def __init__(self, tier):
        self.path = HOME / f"results{'-' * bool(tier)}{tier}.jsonl"
        own = Path(__file__).resolve().parent
        tests = sorted(path for path in (ROOT / "tests").rglob("*") if path.is_file() and own not in path.parents)
        self.tests = hashlib.sha256(b"".join(path.read_bytes() for path in tests)).hexdigest()[:16]
        self.lock = threading.Lock()
        HOME.mkdir(parents=True, exist_ok=True)
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.found = {result["key"]: result for result in map(json.loads, lines)
                      if result["verdict"] != "survived" or result["tests"] == self.tests}

    def add(self, **result):
        with self.lock, open(self.path, "a") as out:
            self.found[result["key"]] = result = {**result, "tests": self.tests}
            out.write(json.dumps(result) + "\n")


class Draw:
    """The mutants in the order of the seed, and which of them count."""

    def __init__(self, files, seed):
        self.texts = {file: (ROOT / file).read_text() for file in files}
        mutants = [mutant for file in files for mutant in mutants_of(file, self.texts[file])]
        seen, self.keys = Counter(), {}
        for mutant in mutants:
            key = digest(mutant.file, *mutant.lines(self.texts[mutant.file]), mutant.before, mutant.after)
            self.keys[mutant] = f"{key}-{seen[key]}"
            seen[key] += 1
        # Each mutant's position depends only on itself, so editing tools/ does not reorder the others.
        self.order = sorted(mutants, key=lambda mutant: digest(str(seed), self.keys[mutant]))
        self.equivalents = read_equivalents()

    def equivalent(self, mutant):
        code, changed = mutant.lines(self.texts[mutant.file])
        return (mutant.file, code, changed) in self.equivalents


def work(copy, draw, results, queue, counted, n, goals):
    """Tries mutants until n of them count."""
    while True:
        with results.lock:
            if len(counted) >= n or not queue:
                return
            mutant = queue.pop(0)
            counted.add(mutant)  # until its verdict says otherwise
        key, text = draw.keys[mutant], draw.texts[mutant.file]
        if key not in results.found and not draw.equivalent(mutant):
            start = time.time()
            verdict, by = copy.try_mutant(mutant, text, goals)
            seconds = round(time.time() - start, 2)
            results.add(key=key, file=mutant.file, by=by, verdict=verdict, seconds=seconds)
            print(f"{verdict:12} {seconds:5.1f} s  {place(mutant, text)}{by and '  by '}{by}", flush=True)
        if not draw.equivalent(mutant) and results.found[key]["verdict"] not in ("killed", "survived"):
            counted.discard(mutant)


def place(mutant, text):
    before, after = (" ".join(part.split()) for part in (mutant.before, mutant.after))
    return f"{mutant.file}:{mutant.line(text)}: `{before}` -> `{after}`"


def tell(draw, results, counted):
    """Prints the survivors with their positions, and the table by component."""
    verdict = {mutant: "equivalent" if draw.equivalent(mutant) else results.found[draw.keys[mutant]]["verdict"]
               for mutant in counted}
    for mutant in sorted((m for m in counted if verdict[m] == "survived"), key=lambda m: (m.file, m.start)):
        text = draw.texts[mutant.file]
        code, changed = mutant.lines(text)
        print(f"{place(mutant, text)}\n    - {code}\n    + {changed}")
    print("\n| component | mutants | killed | equivalent | survivors | killed of what can be |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for component in [*sorted({component_of(mutant.file) for mutant in counted}), "all"]:
        count = Counter(verdict[m] for m in counted if component in (component_of(m.file), "all"))
        alive = count["killed"] + count["survived"]
        print(f"| {component} | {sum(count.values())} | {count['killed']} | {count['equivalent']} | "
              f"{count['survived']} | {100 * count['killed'] / max(alive, 1):.0f} % |")


def files_of(names):
    """The C sources among these files and in these folders of tools/."""
    found = set()
    for name in names or [f"tools/{component}" for component in COMPONENTS_BY_DEFAULT]:
        path = ROOT / name
        if not path.exists() or not (ROOT / "tools") in path.parents:
            sys.exit(f"mutate: no file or folder of tools/: {name}")
        found |= {path} if path.is_file() else {file for file in path.rglob("*.[ch]")}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def goals_of(suites):
    areas = sorted({name.partition(": ")[0] for name, _ in suites})
    asked = subprocess.run([ROOT / "tests/run", "-n", *areas], stdout=subprocess.PIPE, text=True, cwd=ROOT,
                           env={**os.environ, "B": "build"}, check=True)
    return [goal for goal in asked.stdout.split() if goal not in ("labs", "notebooks", "all")]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[1])
    parser.add_argument("-n", type=int, default=500)
    parser.add_argument("-s", type=int, default=1)
    parser.add_argument("-t", choices=["short"], default="", dest="tier")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    draw, results = Draw(files_of(options.files), options.s), Results(options.tier)
    suites = sorted({suite for file in draw.texts for suite in suites_of(component_of(file))})
    goals, copies = goals_of(suites), [Copy(number, options.tier) for number in range(WORKERS)]
    queue, counted = list(draw.order), set()
    threads = [threading.Thread(target=lambda copy=copy: copy.prepare(suites, goals) and work(
        copy, draw, results, queue, counted, options.n, goals)) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not all(copy.ready for copy in copies):
        return 1
    tell(draw, results, counted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
