#!/usr/bin/env python3
"""colab.py: all labs on a GPU of Google Colab, and their times home into results/.

usage: colab.py [-w SECONDS] BUILD GPU MAKE [ARGS...]      (make colab GPU=T4 calls it)

  -w SECONDS  between two tries where the connection fails (default 20)

It says what it will do, takes a machine with Google's client (google-colab-cli 0.7: colab new, exec,
download, stop), runs the code of notebooks/workbook.ipynb there, and gives the machine back: also
after an error and after Ctrl-C, once it has the machine. Where that fails it says how to do it by
hand. What a lab measured stays on the machine until then: a second try, or a second call that finds
the machine of a first one that was cut off, goes on behind it.

Three ways of the client matter here. `exec` goes on behind a cell that fails, and ends with status 0:
so the last cell writes down what has run. `new` under a name that is taken loses the machine that had
it: so `status` is asked first. And a machine that is being given cannot be stopped yet: so a signal
waits until `new` has ended.
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

# As colab new has them, which takes any other name for an A100, and what is in their devices' names.
GPUS = {"T4": "T4", "L4": "L4", "G4": "RTX PRO 6000", "A100": "A100", "H100": "H100"}
CELL_SECONDS = 1800  # for one lab, compiled and run; exec's own limit is 30 s
TRIES = 3
BY_HAND = (
    "make colab: THE MACHINE COULD NOT BE GIVEN BACK, and may cost compute units until it is:\n"
    "  colab stop -s {name}\n"
    "or at https://colab.research.google.com, Runtime > Manage sessions > Terminate."
)
TAKE_HOME = """import hashlib, json
home = take_home() if not PROBLEM and RUNS else []
(START / "taken.json").write_text(json.dumps({
    "call": "@call@", "problem": PROBLEM, "ran": sorted(RUNS), "left_out": LEFT_OUT,
    "results": {file.relative_to(START).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in home}}))
"""
CELL = re.compile(r"\[colab\] Executing cell (\d+)/(\d+)(?: - (.*))?\.\.\.\s*")


class Failure(Exception):
    """Ends the run with one message."""


class Told(Exception):
    """A signal has ended the run."""


def say(text):
    try:
        print(text, flush=True)
    except OSError:  # the terminal is gone; the machine is still to be given back
        pass


# --- the client ---


class Client:
    """Google's client. A signal ends the command that is under way if that can do no harm, and stops
    the run behind it otherwise."""

    def __init__(self):
        self.told = 0
        self.child = None
        self.patient = 0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.tell)
        signal.signal(signal.SIGALRM, lambda *_: self.signal_child(signal.SIGKILL))

    def tell(self, number, _):
        self.told = self.told or number
        if not self.patient:
            self.signal_child(signal.SIGINT)
            signal.alarm(10)  # what does not end by then is killed

    def signal_child(self, number):
        if self.child and self.child.poll() is None:
            os.killpg(self.child.pid, number)

    def rest(self, seconds):
        """Waits, but not through a signal that nobody has heard yet."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and (self.patient or not self.told):
            time.sleep(min(0.1, seconds))

    def __call__(self, *arguments, show=None, patient=0):
        """(status, output) of `colab ARGUMENTS`; show() gets the output as it comes. In a session of
        its own it meets no Ctrl-C but through tell(); a patient call none for so many seconds."""
        self.patient = patient
        if self.told and not patient:
            raise Told
        self.child = subprocess.Popen(
            ["colab", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True
        )
        signal.alarm(patient)
        output = b""
        while piece := self.child.stdout.read1(65536):
            output += piece
            if show:
                show(piece)
        status = self.child.wait()
        self.child = None
        signal.alarm(0)
        if self.told and not patient:
            raise Told
        return status, output.decode("utf-8", "replace")


def passed_on(piece):
    """Shows output as it is: the client may ask there for a sign-in."""
    try:
        sys.stdout.buffer.write(piece)
        sys.stdout.flush()
    except OSError:
        pass


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it says nothing"


# --- the notebook ---


def code_cell(name, source):
    return {"cell_type": "code", "id": name, "metadata": {}, "execution_count": None, "outputs": [],
            "source": source}


def write_notebook(path, call, gpu):
    """The workbook's code, for this GPU alone, with a last cell that says what has run; the names of its
    labs."""
    notebook = json.loads(Path("notebooks/workbook.ipynb").read_text(encoding="utf-8"))
    cells = {cell["id"]: cell for cell in notebook["cells"] if cell["cell_type"] == "code"}
    cells["take-home"] = code_cell("take-home", TAKE_HOME.replace("@call@", call))
    go_on = code_cell("go-on", f"import os\nos.environ.update(GO_ON='make colab', GPU_WANTED={GPUS[gpu]!r})")
    notebook["cells"] = [go_on, *cells.values()]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return [name[len("run-"):] for name in cells if name.startswith("run-")]


class Progress:
    """What exec prints: each lab's turn is told, all of it is kept, lab by lab and in the log."""

    def __init__(self, log):
        self.log, self.rest, self.lab = log, b"", ""
        self.said = {}

    def __call__(self, piece):
        self.log.write(piece)
        self.log.flush()
        *lines, self.rest = (self.rest + piece).split(b"\n")
        for line in lines:
            self.take(line.decode("utf-8", "replace"))

    def take(self, line):
        cell = CELL.fullmatch(line)
        if not cell:
            self.said.setdefault(self.lab, []).append(line)
            return
        self.lab = (cell[3] or "").removeprefix("run-")
        self.said[self.lab] = []
        if self.lab != cell[3]:
            say(f"  {self.lab} (cell {cell[1]} of {cell[2]})")


# --- one machine ---


class Machine:
    """The machine of this name: there from take() to give_back()."""

    def __init__(self, client, gpu, folder, pause):
        self.client, self.gpu, self.folder, self.pause = client, gpu, folder, pause
        self.name = f"reduction-workbook-{gpu.lower()}"
        self.orphans = set()  # machines without a name here, which others have left
        self.held = False  # may there be one of this name?

    def unnamed(self, listing):
        return set(re.findall(r"^\[\?\] (\S+)", listing, re.MULTILINE))

    def is_there(self):
        """True, False, or None: Colab cannot be asked."""
        status, output = self.client("status", "-s", self.name)
        return None if status else f"[{self.name}]" in output

    def take(self):
        """A machine of that name: the one that an earlier call has left, or a new one."""
        status, listing = self.client("sessions", show=passed_on)  # signs in, where that is needed
        if status:
            raise Failure(f"the client does not reach Colab, and no machine was taken: {last_line(listing)}")
        self.orphans = self.unnamed(listing)
        there = self.is_there()
        if there is None:
            raise Failure("Colab does not answer, and no machine was taken: try again later")
        self.held = True
        if there:
            say(f"make colab: {self.name} is there from an earlier call: going on where that was")
            self.client("restart-kernel", "-s", self.name)  # what still runs there would disturb
            return
        status, output = self.client(
            "new", "-s", self.name, "--gpu", self.gpu, show=passed_on, patient=600)
        if self.client.told:
            raise Told
        if status:
            raise Failure(f"there is no {self.gpu} to be had: {last_line(output)}")

    def run(self, notebook, progress):
        """All cells, from the start or behind what was measured already."""
        for again in range(TRIES):
            status, output = self.client(
                "exec", "-s", self.name, "-f", str(notebook), "--timeout", str(CELL_SECONDS),
                "--output-image", str(self.folder / "figure.png"), show=progress)
            if status == 0:
                return
            say(f"make colab: the run was cut off: {last_line(output)}")
            if again + 1 == TRIES:
                break
            self.client.rest(self.pause)
            if self.is_there() is False:
                raise Failure("the machine is gone: call make colab again for a new one")
            say("make colab: going on where it was")
            self.client("restart-kernel", "-s", self.name)
        raise Failure(f"the run did not get through in {TRIES} tries; {self.folder / 'log'} has all of it")

    def fetch(self, remote, local, is_whole):
        """The bytes of a file from there, which is kept under its name once it is whole."""
        new = local.with_suffix(".new")
        for again in range(TRIES):
            new.unlink(missing_ok=True)
            status, output = self.client("download", "-s", self.name, remote, str(new))
            if status == 0 and new.exists() and is_whole(new.read_bytes()):
                os.replace(new, local)
                return local.read_bytes()
            if again + 1 < TRIES:
                self.client.rest(self.pause)
        raise Failure(f"{remote} cannot be fetched: {last_line(output)}")

    def give_back(self):
        """Is it certain that nothing is left running?"""
        for again in range(TRIES):
            status, output = self.client("stop", "-s", self.name, patient=120)
            if status == 0 and "not found" not in output:
                say("make colab: the machine was given back")
                return True
            if status == 0:  # nothing of that name: none was given, or its name was lost
                status, listing = self.client("sessions", patient=120)
                if status == 0 and not self.unnamed(listing) - self.orphans:
                    say("make colab: there is no machine to give back")
                    return True
                break
            if again + 1 < TRIES:
                self.client.rest(self.pause)
        say(BY_HAND.format(name=self.name))
        return False


# --- all of it ---


def check(taken, call, labs, progress):
    """Has everything run that can run there?"""
    if taken.get("call") != call:
        raise Failure("the notebook did not get to its end")
    if taken["problem"]:
        raise Failure(taken["problem"])
    for lab, link in taken["left_out"].items():
        say(f"make colab: {lab} needs {link}, which is not there: left out")
    failed = [lab for lab in labs if lab not in taken["ran"] and lab not in taken["left_out"]]
    for lab in failed:
        say(f"make colab: {lab} failed:")
        for line in progress.said.get(lab, [])[-12:]:
            say(f"    {line}")
    if failed:
        raise Failure(f"results/ takes whole runs only, and {len(failed)} of {len(labs)} labs failed")


def is_json(content):
    try:
        return isinstance(json.loads(content), dict)
    except ValueError:
        return False


def bring_home(machine, call, labs, progress):
    """The results of a whole run, in results/: the file of the times, and maybe what the device can do."""
    taken = machine.fetch("content/taken.json", machine.folder / "taken.json", is_json)
    taken = json.loads(taken)
    check(taken, call, labs, progress)
    names = [Path(file).name for file in taken["results"]]
    for (file, sha256), name in zip(taken["results"].items(), names):
        machine.fetch(f"content/{file}", machine.folder / name,
                      lambda content, sha256=sha256: hashlib.sha256(content).hexdigest() == sha256)
    Path("results").mkdir(exist_ok=True)
    for name in names:
        os.replace(machine.folder / name, f"results/{name}")
    return f"results/{names[0]}"


def announce(machine):
    say(f"""make colab: all labs on a {machine.gpu} of Google Colab, with your account. That may cost compute units.
  1  colab new: a machine, {machine.name}
  2  colab exec: the code of notebooks/workbook.ipynb; a quarter of an hour or so, log in {machine.folder}/log
  3  colab download: the times, into results/
  4  colab stop: the machine is given back, also after an error or Ctrl-C
  5  make figures: drawn with these times too""")


def use(machine):
    """Takes the machine, and brings its times home; the file of results, or None and why."""
    call = os.urandom(8).hex()
    notebook = machine.folder / "workbook.ipynb"
    labs = write_notebook(notebook, call, machine.gpu)
    with open(machine.folder / "log", "wb") as log:
        progress = Progress(log)
        try:
            machine.take()
            machine.run(notebook, progress)
            return bring_home(machine, call, labs, progress), ""
        except Failure as failure:
            return None, str(failure)
        except Told:
            return None, "interrupted"


def read_options():
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=__doc__)
    parser.add_argument("-w", dest="pause", type=float, default=20)
    parser.add_argument("build", type=Path)
    parser.add_argument("gpu", type=str.upper)
    parser.add_argument("make", nargs=argparse.REMAINDER)
    return parser.parse_args()


def main():
    options = read_options()
    if options.gpu not in GPUS:
        sys.exit(f"make colab: GPU is one of {', '.join(GPUS)}")
    folder = options.build / "colab"
    folder.mkdir(parents=True, exist_ok=True)
    lock = open(folder / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("make colab: another make colab is at work here")
    client = Client()
    machine = Machine(client, options.gpu, folder, options.pause)
    announce(machine)
    if subprocess.run([*options.make, "notebooks"]).returncode:
        sys.exit("make colab: the notebooks could not be woven, and no machine was taken")
    results, problem = use(machine)
    if problem:
        say(f"make colab: {problem}")
    returned = machine.give_back() if machine.held else True
    status = 128 + client.told if client.told else 1 if problem or not returned else 0
    if results:
        say(f"make colab: {results} is there")
        if not client.told:
            status = subprocess.run([*options.make, "figures"]).returncode or status
    return status


if __name__ == "__main__":
    sys.exit(main())
