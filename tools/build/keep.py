#!/usr/bin/env python3
"""keep.py: runs a command that writes generated files, and loses nobody's work.

usage: keep.py PATH... -- COMMAND...    the PATHs are files and folders that COMMAND may change

This is the rule for all that make generates outside of its build folder. A file may be replaced without a
word if its content can be had again: git has it, in HEAD or in the index, or a command run from here wrote
it (.made keeps a hash of all of that; make clean leaves it alone). Any other content is somebody's work.
Where COMMAND replaces such a file, the old content stays beside it as FILE.mine, which git ignores, and one
line says so. Where COMMAND removes one, it is put back.

Git starts no merge over changes that nobody committed, so what a merge left in conflict is no work either.
"""

import filecmp
import hashlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

MADE = Path(".made")


def hash_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]


def files_in(roots):
    """Each file with what tells whether it was written since."""
    found = [root for root in roots if os.path.isfile(root)]
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            found += [os.path.join(folder, name) for name in names]
    found = [path for path in found if not re.search(r"/\.[^/]*$|\.(mine|new|tmp)$", path) and not os.path.islink(path)]
    return {path: (status.st_mtime_ns, status.st_size, status.st_ino) for path in found for status in [os.stat(path)]}


def git(*arguments):
    """The paths that git lists; None: there is no git, or not this checkout, or no commit yet."""
    try:
        result = subprocess.run(["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return {os.fsdecode(path) for path in result.stdout.split(b"\0")} if result.returncode == 0 else None


def is_work(paths, roots):
    """Those of the paths whose content neither git nor .made knows."""
    made = set(MADE.read_text().split()) if MADE.exists() else set()
    if git("ls-files", "--error-unmatch", "Makefile") is not None:
        tracked = git("ls-files", "-z", "--", *roots)
        changed = git("ls-files", "-z", "-m", "--", *roots)
        since_head = git("diff", "-z", "--name-only", "--relative", "HEAD", "--", *roots)
        if since_head is not None:
            changed &= since_head
        changed -= {entry.split("\t")[-1] for entry in git("ls-files", "-z", "-u", "--", *roots)}
        paths = [path for path in paths if path not in tracked or path in changed]
    return [path for path in paths if hash_of(path) not in made]


def copy(path):
    for number in itertools.count(1):
        mine = f"{path}.mine" if number == 1 else f"{path}.{number}.mine"
        if not os.path.exists(mine) or filecmp.cmp(path, mine, shallow=False):
            shutil.copy2(path, mine)
            return mine


def home_of(path, mine):
    """Where the change belongs: the chapter that the file names, and of code the line of it."""
    text = Path(path).read_bytes().decode(errors="replace")
    named = re.search(r"Generated from (\S+) .*by (?:tangle|weave)", text)
    lined = Path(os.environ.get("B", "build"), path)
    if not path.startswith("code/") or not lined.exists():
        return named and named[1]
    pairs = itertools.zip_longest(text.split("\n"), Path(mine).read_bytes().decode(errors="replace").split("\n"))
    wanted = next(number for number, (new, old) in enumerate(pairs) if new != old)
    chapter, line, number = "", 0, 0
    for text in lined.read_text(errors="replace").split("\n"):
        if text.startswith("#line "):
            _, line, chapter = text.split(" ", 2)
            line = int(line)
            continue
        if number >= wanted and chapter:
            return f"{chapter.strip(chr(34))}:{line}"
        number, line = number + 1, line + 1
    return named and named[1]


def settle(path, mine):
    """What becomes of a copy when the command has ended."""
    if not os.path.exists(path):
        os.replace(mine, path)
        return print(f"make: {path} stays: make did not write it", file=sys.stderr)
    if filecmp.cmp(path, mine, shallow=False):
        return os.unlink(mine)
    home = home_of(path, mine)
    advice = f"; to make the change last, edit {home}" if home else ""
    print(f"make: you changed {path}: your version is now {mine}{advice}", file=sys.stderr)


def run(command):
    """Its status. Whoever ends this process ends the command, and what that has written is noted."""
    child = subprocess.Popen(command)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: child.send_signal(number))
    status = child.wait()
    return status if status >= 0 else 128 - status


def main():
    split = sys.argv.index("--")
    roots, command = sys.argv[1:split], sys.argv[split + 1 :]
    before = files_in(roots)
    copies = {path: copy(path) for path in is_work(before, roots)}
    try:
        return run(command)
    finally:
        written = [path for path, state in files_in(roots).items() if state != before.get(path)]
        if written:
            with MADE.open("a") as made:
                made.write("".join(hash_of(path) + "\n" for path in written))
        for path, mine in copies.items():
            settle(path, mine)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        print(f"make: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
