"""The Python cells of the notebooks, in percent format: a line that starts with `# %%` starts a cell.

`weave -t notebook` copies the cells and replaces @name@ by the notebook's name. The cells before
[chapters] follow the title and the question of the chapter or book. weave replaces marks in brackets by
the front matter, the harness, the recorded results and the chapters. [markdown of all] is a cell for
the notebook with all chapters only. `include` inserts the cells of another file. The cells import only
the standard library and what Colab provides, and need Python 3.10 and CUDA 12.4 or later.
"""

# %% [front]

# %% [markdown]
# **Run all cells from top to bottom.** The folded cells find the GPU and the compiler. Each kernel
# has its own cell, which writes it to a file. To see what a change does, edit a kernel's cell, run it,
# and run the next cell that starts with `run(`. If a kernel does not compile or gives a wrong sum,
# the run stops and prints where. Commands such as `make chapter-4` are for a checkout of the
# repository. Here the cell below a chapter's code does the same, and `grade(` does the same as
# `make exercise-4.1`.

# %% [markdown of all]
# **How long it takes.** On an H200 with many cores, Run all took about four minutes, mostly for compiling; chapter 17
# was added later. Compiling the labs of all chapters takes about two minutes of processor time; on two busy cores it
# took seven minutes.

# %% workbench
#@title The workbench: assembles, compiles and runs labs, shows tables and figures
import csv, hashlib, html, json, os, re, shlex, shutil, subprocess, tempfile
from pathlib import Path
from types import SimpleNamespace
from IPython.display import HTML, display

START = globals().get("START") or Path.cwd()  # unchanged when this cell runs again
GPU_PLEASE = (
    "There is no GPU here. In Colab, choose Runtime > Change runtime type > T4 GPU, "
    "then Runtime > Run all."
)
PROBLEM = "The set-up cell has not finished: run it again."  # why no lab can run, or ""
MACHINE = None  # the GPUs, compiler and folders that set_up found
RUNS = {}  # lab: (source hash, CSV text, its rows)


class Stop(Exception):
    """Ends a run of all cells with one plain message."""

    def _render_traceback_(self):
        return [str(self)]


# --- set-up ---


def stop(message):
    """Ends the run. If later cells run nevertheless, each prints the reason, and files go to a temporary folder."""
    global PROBLEM
    PROBLEM = message
    os.chdir(tempfile.mkdtemp())
    raise Stop(message)


def ready():
    """Stops a cell that cannot work because set_up found no GPU or no compiler."""
    if PROBLEM:
        raise Stop(PROBLEM)


def output_of(*command):
    """The output of a program; "" if it fails or is missing."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def find_gpus():
    """(compute capability, name) of each GPU, the lowest first."""
    listing = output_of("nvidia-smi", "--query-gpu=compute_cap,name", "--format=csv,noheader")
    found = re.findall(r"^(\d+)\.(\d), *(.+)$", listing, re.MULTILINE)
    return sorted((int(major) * 10 + int(minor), name.strip()) for major, minor, name in found)


def find_nvcc(repository):
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path=f"{home}/bin:/usr/local/cuda/bin")
    if not nvcc and repository:
        nvcc = output_of(str(repository / "tools/build/toolchain.sh"), "nvcc").strip()
    if not nvcc:
        stop("nvcc is missing: install the CUDA Toolkit, 12.4 or later, or use Colab.")
    return nvcc


def check_driver(nvcc):
    """Stops if the driver's CUDA major version is older than the toolkit's: programs would compile but not
    start (CUDA Compatibility, minor version compatibility)."""
    toolkit = re.search(r"release (\d+)\.\d+", output_of(nvcc, "--version"))
    driver = re.search(r"CUDA (?:UMD )?Version: *(\d+)\.\d+", output_of("nvidia-smi"))
    if toolkit and driver and int(toolkit[1]) > int(driver[1]):
        stop(
            f"The GPU's driver is too old for {nvcc}: it runs programs up to CUDA {driver[1]}, "
            f"not CUDA {toolkit[1]}. Install a newer driver or an older CUDA Toolkit."
        )


def machine_code_for(gpus, nvcc):
    """The newest architecture for each GPU that the compiler supports and the GPU runs: same major version,
    not newer. PTX is no alternative, since a driver older than the toolkit cannot compile it."""
    made = [int(number) for number in re.findall(r"sm_(\d+)\b", output_of(nvcc, "--list-gpu-code"))]
    fitting = [
        max((code for code in made if code // 10 == gpu // 10 and code <= gpu), default=0)
        for gpu, _ in gpus
    ]
    if not any(fitting):
        capability, name = gpus[-1]
        age = "a newer" if not made or capability > max(made) else "an older"
        stop(f"{nvcc} makes no code for {name} (sm_{capability}): install {age} CUDA Toolkit.")
    return [f"sm_{code}" for code in sorted({*fitting} - {0})]


def find_simt(repository, build):
    """The CPU device of the repository that contains the notebook; built if it is missing."""
    simt = repository / build / "simt"
    if not simt.exists():
        command = ["make", "-C", repository, f"B={build}", "simt"]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            stop(f"{GPU_PLEASE}\nThe CPU device could not be built:\n{made.stderr}")
    return simt


def set_up(name, arch, n, seconds):
    """Finds the GPUs and the compiler, and changes to the folder for the files that the cells write."""
    global MACHINE, PROBLEM
    build = os.environ.get("B", "build")  # the repository's build folder
    repository = START.parent if (START.parent / "tools/simt").is_dir() else None
    gpus = find_gpus()
    if not gpus and not repository:
        stop(GPU_PLEASE)
    nvcc = find_nvcc(repository)
    simt = None if gpus else find_simt(repository, build)
    if gpus:
        check_driver(nvcc)
    codes = [arch] if arch else machine_code_for(gpus, nvcc) if gpus else ["sm_90"]
    if not re.fullmatch(r"sm_\d+[a-z]?", codes[0]):
        stop(f"ARCH is {arch}: set it to an architecture such as sm_75, or to nothing.")
    n = n or (25_600_000 if gpus else 100_000)
    work = repository / build / "notebooks" / name if repository else START / name
    programs = work.parent / "bin" if repository else work / "bin"
    work.mkdir(parents=True, exist_ok=True)
    programs.mkdir(exist_ok=True)
    os.chdir(work)
    MACHINE = SimpleNamespace(
        gpus=gpus, nvcc=nvcc, simt=simt, codes=codes, n=n, seconds=seconds, programs=programs,
        repository=repository, build=build
    )
    PROBLEM = ""
    if gpus:
        print(f"{gpus[0][1]}: compiling with {nvcc} for {', '.join(codes)}")
    else:
        print("There is no GPU here, so the labs run on the CPU device of the repository that contains this")
        print(f"notebook: correct results and exact counts, no times, {n:,} elements.")


# --- labs ---

REFERENCE = re.compile(r"([ \t]*)<<([^\W\d][\w:.-]*)>>\s*")


def read_chunks():
    """{name: (cell, number of lines before the chunk, text)} of every chunk that a cell wrote."""
    chunks = {}
    if Path("harness.md").exists():
        text = Path("harness.md").read_text(encoding="utf-8")
        fences = r"^(`{3,}|~{3,}) \{\.\w+ #([^}\s]+)\}\n(.*?)^\1$"
        for fence in re.finditer(fences, text, re.MULTILINE | re.DOTALL):
            before = text.count("\n", 0, fence.start(3)) + 1
            chunks[fence[2]] = ("harness", before, fence[3])
    for path in Path().glob("*.cu"):
        name = path.name if path.name[0].isdigit() else path.stem
        text = path.read_text(encoding="utf-8")
        title = re.match("#@title .*\n", text)  # only in folded cells
        chunks[name] = (path.stem, 2 if title else 1, text[title.end() if title else 0 :])
    return chunks


def expand(chunks, name, indent="", users=()):
    """The lines of a chunk with its references expanded: (cell, line in the cell, text)."""
    if name not in chunks:
        raise Stop(f"<<{name}>>: no cell above writes {name}.cu. Run all cells above once.")
    if name in users:
        raise Stop("A chunk contains itself: " + " -> ".join([*users, name]))
    cell, before, text = chunks[name]
    for number, line in enumerate(text.splitlines(), before + 1):
        pulled = REFERENCE.fullmatch(line)
        if pulled:
            yield from expand(chunks, pulled[2], indent + pulled[1], (*users, name))
        else:
            yield cell, number, indent + line if line.strip() else line


def assemble(lab, chunks=None):
    """The program as in code/, and with #line directives, so that compiler messages name a cell and line."""
    plain, lined, at = [], [], None
    for cell, number, text in expand(chunks or read_chunks(), f"{lab}.cu"):
        if at != (cell, number) and not (plain and plain[-1].endswith("\\")):
            lined.append(f'#line {number} "cell {cell}"')
        plain.append(text)
        lined.append(text)
        at = (cell, number + 1)
    return "\n".join(plain) + "\n", "\n".join(lined) + "\n"


def source_hash(text):
    """64-bit FNV-1a, as in weave."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}"


def target_flags():
    """Only machine code for a GPU, so that the driver never compiles; only PTX for the CPU device."""
    if MACHINE.simt:
        ptx = MACHINE.codes[0].replace("sm", "compute")
        return [f"-gencode=arch={ptx},code={ptx}", "-cudart", "shared", "--no-compress"]
    return [f"-gencode=arch={code.replace('sm', 'compute')},code={code}" for code in MACHINE.codes]


def compile_lab(lab, link):
    plain, lined = assemble(lab)
    flags = ["-O3", *target_flags(), "-lineinfo", *shlex.split(link)]
    key = hashlib.sha256("\n".join([plain, MACHINE.nvcc, *flags]).encode()).hexdigest()[:16]
    program, source = MACHINE.programs / f"{lab}-{key}", Path("program") / f"{lab}.cu"
    source.parent.mkdir(exist_ok=True)
    source.write_text(lined, encoding="utf-8")
    if not program.exists():
        new = f"{program}.{os.getpid()}"
        command = [MACHINE.nvcc, *flags, "-o", new, str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Stop(f"{lab} does not compile:\n{done.stderr or done.stdout}")
        print(done.stderr, end="")
        os.replace(new, program)
    return program, source_hash(plain)


def machine_of(lab):
    """The file of a lab that measures the limits of the device."""
    return Path(f"{lab}.machine.csv")


def measure(lab, program, n, options, machine):
    """Runs a lab, prints its output, and returns the path of its CSV."""
    table = Path(f"{lab}.csv")
    command = [str(program), "-n", str(n or MACHINE.n), *shlex.split(options)]
    if MACHINE.simt:
        command = [str(MACHINE.simt), "--last", "--csv", str(table), *command]
    else:
        command += ["-t", str(MACHINE.seconds), "--csv", str(table)]
        command += ["--machine", str(machine_of(lab))] if machine else []
    table.unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Stop(f"{done.stdout}\n{done.stderr}\n{lab} failed with status {done.returncode}.")
    print(done.stdout.split("\n\nCPU device:")[0] if MACHINE.simt else done.stdout)
    if MACHINE.simt:  # the names of kernels as in results/
        table.write_text(output_of(tool("collect"), "names", table), encoding="utf-8")
    return table


def count_exhibits(lab, program):
    """Runs a lab of wrong kernels, which has no times."""
    command = [str(MACHINE.simt), "--quiet", str(program)] if MACHINE.simt else [str(program)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    print(done.stdout + done.stderr)
    if done.returncode:
        raise Stop(f"{lab} failed with status {done.returncode}.")


def run(lab, n=0, options="", link="", machine=False, exhibits=False):
    """Assembles a lab from the cells above, compiles it, runs it, and shows its results."""
    ready()
    RUNS.pop(lab, None)
    if link and MACHINE.simt:
        print(f"{lab} needs {link} and real GPUs, so it does not run on the CPU device.")
        return
    try:
        program, source = compile_lab(lab, link)
    except Stop as stop:
        if not link or not re.search(r"cannot find -l|fatal error: .*: No such file", str(stop)):
            raise
        print(f"{lab} needs {link}, which is not installed here: not run.")
        return
    if exhibits:
        count_exhibits(lab, program)
        return
    table = measure(lab, program, n, options, machine)
    if not table.exists():
        return
    text = table.read_text(encoding="utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    RUNS[lab] = (source, text, rows)
    (show_counts if MACHINE.simt else show_times)(lab, rows)


# --- exercises ---


def tool(name):
    """The path of a program of the repository, which is built if it is missing."""
    path = MACHINE.repository / MACHINE.build / name
    if not path.exists():
        goal = f"{MACHINE.build}/{name}"
        command = ["make", "-C", MACHINE.repository, f"B={MACHINE.build}", goal]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Stop(f"{name} could not be built:\n{done.stderr}")
    return path


def grade_here(number, *options):
    """Prints what `make exercise-N.M` prints, for the program in exercises/ of the current folder."""
    folder = os.path.abspath("exercises")
    command = [tool("grade"), "-b", MACHINE.build, "-c", MACHINE.nvcc, "-w", folder, *options, number]
    home = MACHINE.repository
    chapters = sorted(str(path.relative_to(home)) for path in home.glob("chapters/*.md"))
    done = subprocess.run([*command, *chapters], capture_output=True, text=True, cwd=home)
    print((done.stdout + done.stderr).replace(folder + os.sep, ""))


def time_on_gpu(program):
    """Microseconds per launch, from the output of an exercise's program with --time."""
    return float(re.search(r"^time = (\S+)$", output_of(program, "--time"), re.MULTILINE)[1])


def grade_on_gpu(number, name, chunks, hole):
    """Checks every result, and times both the program and the solution."""
    programs = {}
    for whose, text in (("own", chunks[hole]), ("solution", chunks[f"{hole}.solution"])):
        source = Path("exercises") / f"{name}.{whose}.cu"
        source.write_text(assemble(name, {**chunks, hole: text})[1], encoding="utf-8")
        programs[whose] = str(source.with_suffix("").absolute())
        command = [MACHINE.nvcc, "-O3", *target_flags(), "-o", programs[whose], str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"The program does not compile:\n{done.stderr or done.stdout}")
            return
    done = subprocess.run([programs["own"]], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    print(done.stdout + done.stderr)
    if done.returncode:
        print(f"Exercise {number}: not yet solved.")
        return
    times = {whose: min(time_on_gpu(program) for _ in range(3)) for whose, program in programs.items()}
    print(f"Exercise {number}: every result is right. {times['own']:.2f} µs, the solution {times['solution']:.2f} µs.")
    print(f"Other requirements are counts. To check them, run make exercise-{number} in the repository.")


def grade(number, name, hole, starter):
    """Assembles the program of an exercise from the cells above, and prints which requirements it fails."""
    ready()
    chunks = read_chunks()
    if source_hash(assemble(name)[0]) == starter:
        print(f"Exercise {number} is unchanged: edit the cell that writes {hole}.cu, then run it and this cell.")
        return
    Path("exercises").mkdir(exist_ok=True)
    if not MACHINE.simt:
        grade_on_gpu(number, name, chunks, hole)
        return
    source = Path("exercises") / f"{name}.cu"
    source.write_text(assemble(name)[1], encoding="utf-8")
    grade_here(number)


def answer(number, value):
    """Prints whether a number is the answer of an exercise."""
    ready()
    if value is None:
        print(f"Exercise {number} asks for a number: replace None with your answer.")
    elif MACHINE.simt:
        grade_here(number, "-a", str(value))
    else:
        print("The CPU device is not available here: open the answer above to compare.")


# --- tables and figures ---


def show_table(caption, heads, rows):
    """The first column is aligned to the left, the others to the right."""
    cells = lambda row, tag: "".join(
        f'<{tag} style="text-align:{"left" if i == 0 else "right"}">{html.escape(str(cell))}</{tag}>'
        for i, cell in enumerate(row)
    )
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    head = f"<caption>{html.escape(caption)}</caption><tr>{cells(heads, 'th')}</tr>"
    display(HTML(f"<table>{head}{body}</table>"))


def device_name():
    """The GPU that the labs ran on: the one that they reported, else the first."""
    texts = [text for _, text, _ in RUNS.values()]
    named = re.search(r"^# device: (.*)$", texts[0], re.MULTILINE) if texts else None
    return named[1] if named else MACHINE.gpus[0][1]


def medians(lab, row):
    """{device: microseconds}: this run first, then the devices in RECORDED."""
    known = {r[0]: r[4] for r in RECORDED if r[1:4] == (lab, int(row["n"]), row["kernel"])}
    return {f"{device_name()}, here": float(row["median_us"]), **known}


def show_times(lab, rows):
    rows = [row for row in rows if row.get("sweep", "0") == "0"]
    sizes = sorted({int(row["n"]) for row in rows})
    others = sorted({name for row in rows for name in list(medians(lab, row))[1:]})
    heads = ["kernel", "median µs", "5 % to 95 %", "GB/s", "% of read ceiling"]
    heads += [f"{name}, µs" for name in others]
    body, bars = [], []
    for row in rows:
        name = name_of(lab, row["kernel"]) + (f", {int(row['n']):,}" if len(sizes) > 1 else "")
        known = medians(lab, row)
        span = f"{float(row['p5_us']):.2f} to {float(row['p95_us']):.2f}"
        cells = [name, f"{float(row['median_us']):.2f}", span, row["gbps"], row["read_pct"]]
        body.append(cells + [f"{known[other]:.2f}" if other in known else "" for other in others])
        bars.append((name, known))
    caption = f"{sizes[0]:,} elements" if len(sizes) == 1 else "Several numbers of elements"
    show_table(caption, heads, body)
    draw(bars, "microseconds")


COUNTS = {
    "warp_insts": "warp instructions",
    "shared_ld_wavefronts": "shared load wavefronts",
    "shared_ld_conflicts": "shared load conflicts",
    "global_ld_sectors": "global load sectors",
    "barriers": "barriers",
    "divergent_branches": "divergent branches",
}


def show_counts(lab, rows):
    rows = [row for row in rows if not row["kernel"].startswith("read_ceiling")]
    numbers = [[int(row[column]) for column in COUNTS] for row in rows]
    body = [
        [name_of(lab, row["kernel"]), row["grid"], row["block"], *(f"{x:,}" for x in counts)]
        for row, counts in zip(rows, numbers)
    ]
    show_table("Last launch of each kernel", ["kernel", "grid", "block", *COUNTS.values()], body)
    draw(
        [(name_of(lab, row["kernel"]), {"CPU device": c[0]}) for row, c in zip(rows, numbers) if c[0]],
        "warp instructions",
    )


def plain(name):
    """A name for a figure, with dollar signs escaped so that they do not start a formula."""
    return name.replace("$", r"\$")


def draw(bars, unit, lines=()):
    """Draws a line per kernel with a dot per device on a log scale, and a vertical line per (name, value)."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.ticker import LogLocator
    except ImportError:
        print("matplotlib is missing, so there is no figure: install it.")
        return
    if not bars:
        return
    figure, axes = plt.subplots(figsize=(9, 0.9 + 0.32 * len(bars)))
    devices = list(dict.fromkeys(name for _, values in bars for name in values))
    for which, device in enumerate(devices):
        points = [(values[device], y) for y, (_, values) in enumerate(bars) if device in values]
        color, marker = ["#0072b2", "#d55e00", "#009e73", "#aa4499"][which % 4], "osD^"[which % 4]
        axes.scatter(*zip(*points), color=color, marker=marker, label=plain(device), zorder=3)
        for x, y in points if which == 0 else []:
            text = f"{x:,.0f}" if x >= 1000 else f"{x:.4g}"
            axes.annotate(text, (x, y), (7, 5), textcoords="offset points", fontsize=8)
    for (name, value), style in zip(lines, [":", "--"]):
        axes.axvline(value, color="#656d76", linestyle=style, label=plain(name), zorder=1)
    axes.set_xscale("log")
    shown = [value for _, values in bars for value in values.values()]
    if max(shown) < 30 * min(shown):
        axes.xaxis.set_major_locator(LogLocator(subs=[1, 2, 5]))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
    axes.xaxis.set_minor_formatter(lambda x, _: "")
    axes.set_xlabel(unit)
    axes.set_yticks(range(len(bars)), [plain(name) for name, _ in bars])
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    if len(devices) > 1 or lines:
        axes.legend(loc="best", fontsize=8)
    plt.show()


# --- all labs ---


def name_of(lab, kernel):
    """The name that the chapter gives to a kernel."""
    return NAMES.get(lab, {}).get(kernel, kernel)


def stages():
    """[(name, {device: value})] for each rung of the ladder that ran."""
    bars = {}
    for lab in sorted(RUNS):
        for row in RUNS[lab][2]:
            if row.get("sweep", "0") != "0" or row["kernel"] not in RUNGS:
                continue
            values = {"CPU device": int(row["warp_insts"])} if MACHINE.simt else medians(lab, row)
            if all(values.values()):
                bars.setdefault(row["kernel"], (f"{int(lab[:2])}  {name_of(lab, row['kernel'])}", values))
    return list(bars.values())


def show_all():
    """Draws every rung that ran in one figure."""
    ready()
    if len(RUNS) < 2:
        print("Only one lab ran: its figure is above." if RUNS else "No lab has run: run the cells above.")
        return
    if MACHINE.simt:
        draw(stages(), "warp instructions")
        return
    times = {}
    for _, _, rows in RUNS.values():
        for row in rows:
            times.setdefault(row["kernel"], []).append(float(row["median_us"]))
    known = (("reading alone", "read_ceiling"), ("CUB", "cub_device_reduce"))
    draw(stages(), "microseconds", [(name, min(times[k])) for name, k in known if k in times])


# %% include results.py

# %% include predictions.py

# %% setup
#@title Set up: find the GPU and the compiler
ARCH = ""  #@param {type:"string"}
N = 0  #@param {type:"integer"}
SECONDS = 0.1  #@param {type:"number"}
# ARCH: the architecture to compile for, such as sm_75; "": that of the GPU. N: how many elements to sum;
# 0: 25,600,000 on a GPU, 100,000 on the CPU device. SECONDS: how long to sample each kernel.
set_up("@name@", ARCH, N, SECONDS)

# %% [harness]

# %% [recorded]

# %% [chapters]

# %% [markdown]
# ## All results
# Every stage that ran, and its results to download.

# %% all-results
show_all()

# %% take-home
results = take_home()
try:
    from google.colab import files
except ImportError:
    pass
else:
    for file in results:
        files.download(str(file))
