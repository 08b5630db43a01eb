"""Records chapter 18's exhibits on a machine with a GPU: how many runs are right, and what compute-sanitizer reports.

    record_wrong.sh OUT [--counts] [--with COMMAND]

Run it from the root of the checkout. It needs nvcc, a C compiler and, without --counts, compute-sanitizer. It compiles
code/18_what_goes_wrong.cu for this machine, and writes OUT/DEVICE-wrong.csv and OUT/compare-wrong-DEVICE.csv: copy both
into results/. Logs are in OUT/logs/. --with puts a command before the lab, such as "build/simt --quiet" for a test.
"""
import concurrent.futures
import csv
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

LAB = "18_what_goes_wrong"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
AT_ONCE, SECONDS = 8, 60
START = time.time()


def say(text):
    print("%6.1f s  %s" % (time.time() - START, text), flush=True)


def tool(name):
    places = sorted(glob.glob("/usr/local/cuda*/bin") + glob.glob("/usr/local/cuda*/compute-sanitizer") +
                    glob.glob("/opt/nvidia/cuda*/bin"), reverse=True)
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))
    if not found:
        sys.exit(f"record_wrong.py: no {name}: add its folder to PATH")
    return found


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"record_wrong.py: {shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(out):
    """Compiles the lab and collect, both at once; returns the lab and the hash of its source."""
    lab, collect = os.path.join(out, "logs", "lab"), os.path.join(out, "logs", "collect")
    modules = [path for path in sorted(glob.glob("tools/*/*.c"))
               if not path.endswith("/main.c") and not path.startswith("tools/engine/")]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        labs = pool.submit(output_of, tool("nvcc"), "-O3", "-arch=sm_90", "-lineinfo", "-o", lab, f"code/{LAB}.cu")
        collects = pool.submit(output_of, os.environ.get("CC", "cc"), "-std=c11", "-Itools", "-o", collect,
                               "tools/collect/main.c", *modules, "-lm")
        labs.result(), collects.result()
    return lab, output_of(collect, "source", LAB).strip()


def sanitized(sanitizer, program, exhibit, kind, logs):
    """The number of reports as text; empty: no result within the time limit, or the tool failed."""
    command = [sanitizer, "--tool", kind, "--print-limit", "8", *program, "--run", exhibit, "0", "1"]
    log = os.path.join(logs, f"{exhibit}-{kind}.txt")
    with open(log, "w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the lab, too
            process.wait()
            return ""
    match = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", open(log, errors="replace").read())
    return match.group(1) if match else ""


def write(path, facts, rows):
    with open(path, "w", newline="") as file:
        file.writelines(f"# {name}: {value}\n" for name, value in facts)
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    say(path)


def main(out, *options):
    logs = os.path.join(out, "logs")
    os.makedirs(logs, exist_ok=True)
    prefix = shlex.split(options[options.index("--with") + 1]) if "--with" in options else []
    smi = output_of(tool("nvidia-smi"), "--query-gpu=name", "--format=csv,noheader").splitlines()[0].strip()
    device = smi.lower().replace(" ", "-")
    lab, source = build(out)
    program = [*prefix, lab]
    say(f"compiled for {smi}; source {source}")
    counted = os.path.join(logs, "counts.csv")
    done = subprocess.run([*program, "--csv", counted], capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="", flush=True)
    if done.returncode not in (0, 1):  # 1: a fixed version is wrong
        sys.exit(done.returncode)
    lines = open(counted).read().splitlines()
    facts = [("chapter", LAB[:2]), ("source", source)] + [tuple(line[2:].split(": ", 1)) for line in lines
                                                         if line.startswith("# ")]
    rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    write(os.path.join(out, f"{device}-wrong.csv"), facts, rows)
    if "--counts" in options:
        return done.returncode
    sanitizer = tool("compute-sanitizer")
    hanging = {row["exhibit"] for row in rows if not any(int(row[name]) for name in ("right", "wrong", "stopped"))}
    exhibits = [row["exhibit"] for row in rows]
    work = [(exhibit, kind) for exhibit in exhibits if exhibit not in hanging for kind in TOOLS]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        cells = dict(zip(work, pool.map(lambda one: sanitized(sanitizer, program, *one, logs), work)))
    write(os.path.join(out, f"compare-wrong-{device}.csv"), facts,
          [{"exhibit": exhibit, **{kind: cells.get((exhibit, kind), "not run") for kind in TOOLS}}
           for exhibit in exhibits])
    say("done")
    return done.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
