#!/usr/bin/env python3
"""keep.py: run a command that writes generated files, without losing a reader's edits.

usage: keep.py PATH... -- COMMAND...    COMMAND may change the files and folders PATH

make runs every command that writes outside its build folder through this script. COMMAND may replace a file
if its content can be recovered: git has it, in HEAD or in the index, or an earlier COMMAND wrote it. (.made
holds the hashes of what COMMANDs wrote; make clean does not remove it.) Any other content is an edit. If COMMAND
replaces an edited file, this script saves the old content as FILE.mine, which git ignores, and prints a
message. If COMMAND removes an edited file, this script restores it.

Git refuses to merge over uncommitted changes, so a file with merge conflicts contains no edit.
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
    """{path: (time, size, inode)}: these change when a file is written."""
    found = [root for root in roots if os.path.isfile(root)]
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            found += [os.path.join(folder, name) for name in names]
    found = [path for path in found if not re.search(r"/\.[^/]*$|\.(mine|new|tmp)$", path) and not os.path.islink(path)]
    return {path: (status.st_mtime_ns, status.st_size, status.st_ino) for path in found for status in [os.stat(path)]}


def git(*arguments):
    """The paths that git lists, or None if it fails: no git, no checkout, or no commit."""
    try:
        result = subprocess.run(["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return {os.fsdecode(path) for path in result.stdout.split(b"\0")} if result.returncode == 0 else None


def edited(paths, roots):
    """The paths whose content is neither in git nor in .made."""
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
    """Where to make the edit permanent: the chapter that the file is generated from, and for code its line."""
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


def resolve(path, mine):
    """After the command: restores the file from its copy, or saves or removes the copy."""
    if not os.path.exists(path):
        os.replace(mine, path)
        return print(f"make: restored {path}, which you had changed", file=sys.stderr)
    if filecmp.cmp(path, mine, shallow=False):
        return os.unlink(mine)
    home = home_of(path, mine)
    advice = f"; to make the change last, edit {home}" if home else ""
    print(f"make: you changed {path}: your version is saved as {mine}{advice}", file=sys.stderr)


def run(command):
    """Runs the command, forwards signals to it, and returns its status."""
    child = subprocess.Popen(command)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: child.send_signal(number))
    status = child.wait()
    return status if status >= 0 else 128 - status


def main():
    split = sys.argv.index("--")
    roots, command = sys.argv[1:split], sys.argv[split + 1 :]
    before = files_in(roots)
    copies = {path: copy(path) for path in edited(before, roots)}
    try:
        status = run(command)
        locked = [root for root in roots if os.path.exists(root) and not os.access(root, os.W_OK)]
        if status and locked:
            print(f"make: cannot write to {', '.join(locked)}: make this folder writable, as by: chmod -R u+w .", file=sys.stderr)
        return status
    finally:
        written = [path for path, state in files_in(roots).items() if state != before.get(path)]
        if written:
            with MADE.open("a") as made:
                made.write("".join(hash_of(path) + "\n" for path in written))
        for path, mine in copies.items():
            resolve(path, mine)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as error:
        print(f"make: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
