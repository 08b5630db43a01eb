"""Runs one small program with every option of simt -h, and with every pair of them. Either the run
succeeds and shows the effect of each option, if one run can show it, or one line refuses the pair and names
both."""
import itertools
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import suite
from device import SIMT, path
from suite import NVCC_FLAGS, run

CHECKING, MACHINE = {"--check", "--strict", "--orders"}, {"--machine", "--time"}
ASKS = {"-h", "--version"}  # with these simt prints its answer and ignores all other options
LISTED = "--opcodes"
FAILED = re.compile("AddressSanitizer|runtime error:|Segmentation")


class Run:
    """One run with some options, and its files."""

    def __init__(self, simt, small, options, folder):
        self.options = options
        arguments = [str(word) for option in options for word in OPTIONS[option][0]]
        self.files = {word: folder / word.split("/")[1] for word in arguments if word.startswith("FILE/")}
        folder.mkdir(exist_ok=True)
        self.result = run([simt, *(self.files.get(word, word) for word in arguments), small], 60,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "COLUMNS": "100"})
        self.out = self.result.out

    def begins(self, name, *words):
        """A condition: the first line of a file has these words."""
        first = (suite.read(self.files["FILE/" + name]) or "").split("\n")[0]
        return all(word in first for word in words)

    def csv_has(self, *columns):
        """A condition: if a CSV is written, it has these columns."""
        return "--csv" not in self.options or self.begins("csv", *columns)

    def prints(self, words):
        """A condition that must hold unless --quiet is given."""
        return (words in self.out) is ("--quiet" not in self.options)


def is_json(run):
    return json.loads(suite.read(run.files["FILE/report"]))["version"] == "2.1.0"


def found_none(run):
    return run.prints("\nCPU device: no hazards in ")


OPTIONS = {  # an option's words, and a condition on a run with it
    "--csv": (["--csv", "FILE/csv"], lambda r: r.begins("csv", "kernel,launch,grid,block,warp_insts")),
    "--merge": (["--merge"], lambda r: r.csv_has(",launches")),
    "--longest": (["--longest"], lambda r: r.csv_has(",longest_warp")),
    "--last": (["--last"], lambda r: not re.search(r"^scale<7> +4 +256 +3 ", r.out, re.M)),
    "--lines": (["--lines"], lambda r: r.prints("reverse in ")),
    "--lines-csv": (["--lines-csv", "FILE/lines"], lambda r: r.begins("lines", "kernel,file,line,warp_insts")),
    "--html": (["--html", "FILE/html"], lambda r: r.begins("html", "<!DOCTYPE html>")),
    "--report": (["--report", "FILE/report"], is_json),
    "--quiet": (["--quiet"], lambda r: r.out == "first 0, cudaSuccess\n"),
    "--machine": (["--machine"], lambda r: "(PTX)" not in r.out),
    "--time": (["--time", "nvidia-h200"], lambda r: r.prints(" us in a graph on nvidia-h200") and r.csv_has(",predicted_us")),
    "--warm": (["--warm"], lambda r: r.prints("caches warm")),
    LISTED: ([LISTED], lambda r: "EXIT" in r.out and "first" not in r.out),
    "--check": (["--check"], found_none),
    "--orders": (["--orders", "2"], found_none),
    "--strict": (["--strict"], found_none),
    "--allow-volatile": (["--allow-volatile"], lambda r: True),
    "--leaks": (["--leaks"], lambda r: "never freed: 1 allocation" in r.result.err),
    "--order": (["--order", "3"], lambda r: True),
    "--trace": (["--trace", "FILE/trace"], lambda r: r.begins("trace", "kernel,launch,block,warp,pc_line")),
    "--threads": (["--threads", "2"], lambda r: True),
    "--sms": (["--sms", "40"], lambda r: True),
    "--sm-threads": (["--sm-threads", "1536"], lambda r: True),
    "--as": (["--as", "sm_90"], lambda r: True),
    "--ptx": (["--ptx", path("runtime", "reverse.ptx")], lambda r: "--quiet" in r.options or re.search(
        r"^reverse .* 2 +64 .* 0$", r.out, re.M)),
    "--watchdog": (["--watchdog", "50"], lambda r: True),
    "-h": (["-h"], lambda r: r.out.startswith("usage: simt")),
    "--version": (["--version"], lambda r: re.fullmatch(r"simt [0-9.]+\n", r.out)),
}


def refusal(options):
    """A pattern for the message that refuses these options, or None if simt accepts them together."""
    options = set(options)
    if options & ASKS:
        return None
    if LISTED in options and len(options) > 1:
        return f"{LISTED} and {next(iter(options - {LISTED}))} exclude each other: "
    for one, others in (*((one, MACHINE) for one in {*CHECKING, "--as", "--ptx"}), ("--orders", {"--order", "--trace"})):
        if one in options and options & others:
            return f"{one} and {next(iter(options & others))} exclude each other: "
    if "--warm" in options and "--time" not in options:
        return "--warm needs --time DEVICE"
    return None


def problem(run):
    """A sentence that says why a run is wrong, or None."""
    result, why = run.result, refusal(run.options)
    if result.hung or result.status < 0 or FAILED.search(result.err):
        return "it crashed or hung"
    if why:
        good = result.status == 2 and not result.out and re.fullmatch(f"simt: {why}.*\n", result.err)
        return None if good else f"not refused by {why!r}"
    asked = [*(option for option in run.options if option in ASKS), *({LISTED} & {*run.options})][:1]
    if asked:
        return None if result.status == 0 and OPTIONS[asked[0]][1](run) else f"no answer to {asked[0]}"
    leaks = "--leaks" in run.options
    if result.status != (86 if leaks else 0) or len(result.err.splitlines()) != leaks:
        return "its status or its messages"
    if not run.out.startswith("first 0, cudaSuccess\n") or not run.prints("CPU device: what each kernel launch did"):
        return "the program's output or the table"
    return "; ".join(f"{option} shows nothing" for option in run.options if not OPTIONS[option][1](run)) or None


def compiled(tests):
    """The small program."""
    return tests.compile_cu(path("runtime", "small.cu"), "pair", ["-arch=sm_90", *NVCC_FLAGS[1:]])


def try_all(tests, name, simt, small, chosen):
    folder = tests.fresh("pairs")

    def tried(numbered):
        number, options = numbered
        run = Run(simt, small, options, folder / str(number))
        wrong = problem(run)
        return wrong and f"{' '.join(options)}: {wrong}\n" + "\n".join(run.result.tail()[:4])
    with ThreadPoolExecutor(2) as pool:
        tests.report(name, *pool.map(tried, enumerate(chosen)))


PAIRS = [(one,) for one in OPTIONS] + [*itertools.combinations(OPTIONS, 2)]


def test_options(tests):
    small = compiled(tests)
    if not small:
        return
    listed = re.findall(r"^  (-[\w-]+)", run([SIMT, "-h"]).out, re.M)
    known = {*listed} - {"-lineinfo", "-arch"}  # which are nvcc's
    tests.report("every option of -h is tried here", suite.unequal(sorted(known), sorted(OPTIONS)))
    try_all(tests, "options alone and in pairs", SIMT, small, PAIRS)


def test_sanitized(tests, simt):
    """The pairs that simt accepts, with a simt that was built with sanitizers."""
    small = compiled(tests)
    if small:
        try_all(tests, "with AddressSanitizer: options in pairs", simt, small, [pair for pair in PAIRS if not refusal(pair)])
