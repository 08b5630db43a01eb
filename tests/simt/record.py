"""Records the reference results of the CPU device's tests, on a machine with a GPU.

    record_h200.sh [PART[:NAME,..]...]      (no part: all of PARTS; NAME: sources without .cu)
    record_h200.sh corpus:new               (cases that are not recorded yet; the others' rows stay)

Reads $B (default build) for labs and simt, writes a file or two for each part into $OUT (default
$B/tests/simt/record): see PARTS. A part that fails says so in record.log; the others still run.
"""
import concurrent.futures
import csv
import glob
import gzip
import io
import itertools
import os
import re
import shutil
import sys
import tarfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = map(str, [HERE, HERE.parent, HERE / "vectors", HERE / "patterns", HERE / "corpus"])
import compare_ncu
import launches
import make_patterns as patterns
import suite
import table
import verdicts
from device import SIMT, generate, path, simt

OUT = os.environ.get("OUT") or os.path.join(suite.BUILD, "tests", "simt", "record")
WORK = os.path.join(suite.BUILD, "tests", "simt", "record-work")
CORES = os.cpu_count() or 1
START = time.time()
LAB_SECONDS, LAB_LAUNCHES = 240, 1200  # for one lab under ncu, at most
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def say(text):
    line = "%6.1f s  %s" % (time.time() - START, text)
    print(line, flush=True)
    with open(os.path.join(OUT, "record.log"), "a") as log:
        log.write(line + "\n")


def tool(name):
    """Finds a CUDA tool in PATH or in its installation folder."""
    places = sorted(glob.glob("/usr/local/cuda*/bin") + glob.glob("/opt/nvidia/nsight-compute/*") +
                    glob.glob("/usr/local/cuda*/compute-sanitizer"), reverse=True)
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))
    if not found:
        raise RuntimeError("no " + name)
    return found


def each(function, items, workers=CORES):
    """[function(item)], several at once; an exception becomes the result."""
    def guarded(item):
        try:
            return function(item)
        except Exception as error:  # one bad item must not end the part
            return error
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(guarded, items))


def compile_one(source):
    """Compiles for this machine only, so no shared runtime is needed."""
    program = os.path.join(WORK, os.path.splitext(os.path.basename(source))[0])
    result = suite.run([tool("nvcc"), "-w", "-O3", "-arch=sm_90", "-lineinfo", "-o", program, source], 300)
    if result.status != 0:
        raise RuntimeError("%s: %s" % (source, result.tail()))
    return program


compiler = concurrent.futures.ThreadPoolExecutor(CORES)
compiling = {}  # source: its program's future


def build(source):
    """Starts or awaits the compilation of a source; its program's path."""
    return start_build(source).result()


def start_build(source):
    source = str(source)
    if source not in compiling:
        compiling[source] = compiler.submit(compile_one, source)
    return compiling[source]


def sources_of(name):
    """The sources that a part compiles."""
    if name == "vectors":
        return [generated("vectors", "make_vectors.py", family, family) for family in table.FAMILIES]
    if name == "patterns":
        return [generated("patterns", "make_patterns.py", "patterns")]
    if name == "flow":
        return [path("flows", "flow.cu")] + sorted(path("kernels", "values").glob("*.cu"))
    if name == "corpus":
        return [verdicts.source_path(source) for source in verdicts.FILES]
    if name == "flows":
        return [*(generated("flows", "make_flows.py", kind, kind) for kind in (
            "flows", "polling", "machines", "blind_flows", "blind_machines")),
                path("flows", "questions.cu")]
    if name == "kernels":
        return sorted(path("kernels").glob("*.cu"))
    return []


def generated(folder, script, name, *arguments):
    return generate(path(folder, script), os.path.join(WORK, name + ".cu"), *arguments)


def device_lines():
    result = suite.run(["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.mem",
                        "--format=csv,noheader"], 30)
    nvcc = suite.run([tool("nvcc"), "--version"], 30).out.strip().splitlines()
    return "# device: %s\n# nvcc: %s\n# date: %s\n" % (
        result.out.strip().splitlines()[0] if result.out else "?", nvcc[-2] if nvcc else "?",
        time.strftime("%Y-%m-%d", time.gmtime()))


def chosen(names, wanted):
    """The wanted sources of a part: all, unless some are named."""
    return [name for name in names if not wanted or Path(name).stem in wanted]


def vectors(*wanted):
    """h200-vectors.txt, and every single result in vectors-all.txt.gz."""
    text, everything = [device_lines()], []
    programs = each(build, chosen(sources_of("vectors"), wanted))
    for name, program in zip(chosen(table.FAMILIES, wanted), programs):
        if isinstance(program, Exception):
            say("vectors: %s" % program)
            continue
        result = suite.run([program], 60)
        twice = suite.run([program], 60)
        stable = dict((line.split()[0], line) for line in twice.out.splitlines() if line)
        ignored = {case.name for case in table.cases() if case.ignored}
        moved = [line.split()[0] for line in result.out.splitlines()
                 if stable.get(line.split()[0]) != line and line.split()[0] not in ignored]
        say("vectors: %s: exit status %d, %d cases%s" % (
            name, result.status, len(stable), "; CHANGES FROM RUN TO RUN: %s" % moved
            if moved else ""))
        text.append(result.out)
        everything.append(suite.run([program, "--all"], 60).out)
    suite.write(os.path.join(OUT, "h200-vectors.txt"), "".join(text))
    with gzip.open(os.path.join(OUT, "vectors-all.txt.gz"), "wt") as out:
        out.write("".join(everything))


def told(part, source, program):
    """Logs a program's own verdicts; returns whether it can be run."""
    if isinstance(program, Exception):
        say("%s: %s" % (part, program))
        return False
    result = suite.run([program], 60)
    lines = result.out.splitlines()
    say("%s: %s: exit status %d%s, %d ok" % (part, Path(source).stem, result.status, " (time limit)" if result.hung else "",
                                             sum(line.startswith("ok ") for line in lines)))
    for line in [line for line in lines if line.startswith("wrong ")][:40] + [result.err.strip()[-400:]]:
        if line:
            say("    " + line)
    return True


def flow():
    """Programs that check themselves must be right on a real GPU; record.log has their verdicts."""
    sources = sources_of("flow")
    for source, program in zip(sources, each(build, sources)):
        told("flow", source, program)


def ncu(command, metrics, seconds, *options):
    """Profiles a program; rows of {kernel, grid, block, metric: value}."""
    log = os.path.join(WORK, "ncu-%s.csv" % re.sub(r"\W+", "_", os.path.basename(command[0])))
    if os.path.exists(log):
        os.remove(log)
    result = suite.run([tool("ncu"), "--clock-control", "none", "--cache-control", "none", "--csv",
                        "--page", "raw", "--print-units", "base", "--log-file", log,
                        "--metrics", ",".join(metrics), *options, *command], seconds)
    text = suite.read(log) or ""
    rows = compare_ncu.parse_ncu(text)
    if not rows:
        raise RuntimeError("ncu %s: %s %s" % (command, result.tail(), text[-800:]))
    return rows


def known_metrics():
    """The compared metrics, and the others that this ncu supports on this chip."""
    listed = suite.run([tool("ncu"), "--query-metrics", "--chip", "gh100"], 60).out
    names = set(re.findall(r"^\s*(\w+__\w+)", listed, re.MULTILINE))
    others = [metric for metric in compare_ncu.OTHERS if metric.rsplit(".", 1)[0] in names]
    if len(others) < len(compare_ncu.OTHERS):
        say("ncu does not know %s" % sorted(set(compare_ncu.OTHERS) - set(others)))
    return list(compare_ncu.COUNTERS.values()) + others


def patterns_part():
    """patterns-ncu.csv: each measured row again, and the random patterns against the rule."""
    program = build(sources_of("patterns")[0])
    measured = ncu([program], known_metrics(), 150)
    by_name = {}
    for row in measured:
        by_name.setdefault(compare_ncu.plain_name(row["kernel"]), []).append(
            {counter: row.get(metric) for counter, metric in compare_ncu.COUNTERS.items()})
    wrong = [f"{name}: {problem}" for name, problems in patterns.judge(by_name) for problem in problems]
    say("patterns: %d launches, %d differ" % (len(measured), len(wrong)))
    for line in wrong[:20]:
        say("    " + line)
    write_rows(os.path.join(OUT, "patterns-ncu.csv"), measured)


def write_rows(name, rows, head=""):
    columns = []
    for row in rows:
        columns += [key for key in row if key not in columns]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    suite.write(name, head + text.getvalue())


def sanitizer_verdict(text, hung, verdict):
    """`clean`, `time limit`, `failed`, or the number of errors that a tool reported: `N at the line`,
    `N elsewhere`, or `N without a line`."""
    if hung:
        return "time limit"
    match = re.search(r"ERROR SUMMARY: (\d+) error", text) or \
        re.search(r"RACECHECK SUMMARY: (\d+) hazard", text)
    if not match:
        return "failed"
    if match[1] == "0":
        return "clean"
    lines = {int(number) for number in re.findall(r"\.cu:(\d+)", text)}
    wanted = {line for line, others in verdict.required} if verdict else set()
    where = "at the line" if lines & wanted else "elsewhere" if lines else "without a line"
    return "%s %s" % (match[1], where)


def corpus(*wanted):
    """h200-compute-sanitizer.csv, with what the tool printed in sanitizer-logs.tar.gz."""
    recorded = suite.RECORDED / "h200-compute-sanitizer.csv"
    kept = {row["case"]: row for row in suite.csv_rows(recorded)} if wanted == ("new",) else {}
    wanted = () if kept else wanted
    programs = each(build, chosen(sources_of("corpus"), wanted))
    cases, sanitizer = [], tool("compute-sanitizer")
    for name, program in zip(chosen(verdicts.FILES, wanted), programs):
        if isinstance(program, Exception):
            say("corpus: %s" % program)
            continue
        known = verdicts.verdicts(name)
        cases += [(program, case, known.get(case)) for case in suite.run([program], 20).out.split()]
    logs = {}

    def one(item):
        (program, case, verdict), kind = item
        extra = ["--racecheck-report", "all"] if kind == "racecheck" else []
        result = suite.run([sanitizer, "--tool", kind, "--print-limit", "8", *extra, program, case],
                           40)
        logs["%s.%s.txt" % (case, kind)] = "\n".join([result.out, result.err])
        return sanitizer_verdict(result.out + result.err, result.hung, verdict)

    work = [(case, kind) for case in cases for kind in TOOLS if case[1] not in kept]
    answers = iter(each(one, work, max(2, CORES * 3 // 4)))
    rows = []
    for program, case, verdict in cases:
        row = {"case": case, "expected": verdict.expected() if verdict else "none"}
        rows.append(kept.get(case) or {**row, **{kind: next(answers) for kind in TOOLS}})
    write_rows(os.path.join(OUT, "h200-compute-sanitizer.csv"), rows)
    pack("sanitizer-logs.tar.gz", logs)
    say("corpus: %d cases, %d runs failed, %d over the time limit" % (
        len(rows), sum("failed" in row.values() for row in rows),
        sum("time limit" in row.values() for row in rows)))


def pack(name, texts):
    with tarfile.open(os.path.join(OUT, name), "w:gz") as archive:
        for item in sorted(texts):
            data = texts[item].encode()
            entry = tarfile.TarInfo(item)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def labs(*wanted):
    """h200-labs.csv: the launches of each lab's checks, kernel by kernel, as compare_ncu.sample() selects
    them; successive equal ones are one row.

    A lab first checks all its kernels on the same sizes everywhere, then times them if there is a
    GPU; ncu stops after as many launches as the CPU device saw, or after LAB_LAUNCHES."""
    programs = sorted(path for path in glob.glob(os.path.join(suite.BUILD, "labs", "*"))
                      if os.access(path, os.X_OK) and not os.path.isdir(path) and
                      "@" not in path and (not wanted or os.path.basename(path) in wanted))
    for lab in set(wanted) - {os.path.basename(path) for path in programs}:
        say("labs: there is no %s" % lab)
    metrics, measured = known_metrics(), []
    arguments = ["-n", "1000000", "-b", "256"]

    def count(program):
        target = os.path.join(WORK, os.path.basename(program) + ".simt.csv")
        if not os.access(SIMT, os.X_OK):
            return []
        result = simt(["--csv", target, program, *arguments], 200)
        if result.status != 0:
            say("labs: simt %s: %s" % (program, result.tail()))
            return []
        return suite.csv_rows(target)

    for program, rows in zip(programs, each(count, programs, max(1, CORES // 4))):
        name = os.path.basename(program)
        rows = [] if isinstance(rows, Exception) else rows
        limit = min(len(rows) or 60, LAB_LAUNCHES)
        try:
            found = ncu([program, *arguments], metrics, LAB_SECONDS,
                        "--launch-count", str(limit), "--kill", "on")
        except Exception as error:
            say("labs: %s: %s" % (name, error))
            continue
        kernels = {}
        for row in found:
            kernels.setdefault(row["kernel"], []).append(row)
        kept = [row for rows in kernels.values() for row in compare_ncu.sample(rows)]
        measured += [{"launches": len(list(equal)), "skipped": row.pop("skipped"), "lab": name, **row}
                     for row, equal in itertools.groupby(kept)]
        say("labs: %s: %d launches profiled, %d counted" % (name, len(found), len(rows)))
        write_rows(os.path.join(OUT, "h200-labs.csv"), measured)


def programs(part, target, *wanted):
    """Every launch of programs that check themselves, in order; see launches.py."""
    sources = [source for source in map(Path, sources_of(part)) if not wanted or source.stem in wanted]
    metrics, rows = known_metrics(), []
    for source, program in zip(sources, each(build, sources)):
        if not told(part, source, program):
            continue
        try:
            found = ncu([program], metrics, LAB_SECONDS)
        except Exception as error:
            say("%s: %s: %s" % (part, source.stem, error))
            continue
        rows += [{"program": source.stem, **row, "kernel": launches.short_name(row["kernel"])}
                 for row in found]
        say("%s: %s: %d launches profiled" % (part, source.stem, len(found)))
        write_rows(os.path.join(OUT, target), rows, device_lines())


def flows(*wanted):
    programs("flows", "h200-flows.csv", *wanted)
    result = suite.run([build(path("flows", "recursion.cu"))], 60)  # prints which lanes are together
    say("flows: recursion: exit status %d" % result.status)
    suite.write(os.path.join(OUT, "h200-recursion.csv"), device_lines() + result.out)


def kernels(*wanted):
    programs("kernels", "h200-kernels.csv", *wanted)


def torch():
    """compare-torch.csv: softmax and layer norm beside PyTorch, torch.compile and QuACK. Needs some minutes, and python3
    with torch; without QuACK its column is empty."""
    rows, library = HERE.parent / "rows", os.path.join(WORK, "rows.so")
    for command, seconds in (
            ([tool("nvcc"), "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-I", suite.ROOT / "code", "-o",
              library, rows / "torch_rows.cu"], 300), (["python3", rows / "torch_rows.py", library, "--seconds", 700], 1300)):
        result = suite.run(list(map(str, command)), seconds)
        if result.status != 0:
            raise RuntimeError(result.tail())
    for line in result.err.splitlines():
        if line.startswith("torch_rows.py: "):
            say(line)
    suite.write(os.path.join(OUT, "compare-torch.csv"), result.out)


PARTS = {"vectors": vectors, "patterns": patterns_part, "flow": flow, "labs": labs,
         "corpus": corpus, "flows": flows, "kernels": kernels, "torch": torch}


def main(names):
    parts = [name.partition(":") for name in names or PARTS]
    unknown = [name for name, _, _ in parts if name not in PARTS]
    if unknown:
        sys.exit("record: no part %s (there are %s)" % (unknown[0], " ".join(PARTS)))
    os.makedirs(OUT, exist_ok=True)
    os.makedirs(WORK, exist_ok=True)
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(tool("nvcc"))))
    os.environ["LD_LIBRARY_PATH"] = os.pathsep.join(
        [os.path.join(toolkit, "lib64"), os.environ.get("LD_LIBRARY_PATH", "")])
    for name, _, only in parts:
        for source in chosen(sources_of(name), only.split(",") if only not in ("", "new") else ()):
            start_build(source)
    for name, _, only in parts:
        say("--- " + name)
        try:
            PARTS[name](*only.split(",") if only else ())
        except Exception as error:
            say("%s FAILED: %s" % (name, error))
            say(traceback.format_exc())
    say("done: " + " ".join(sorted(os.listdir(OUT))))


if __name__ == "__main__":
    main(sys.argv[1:])
