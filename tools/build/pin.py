#!/usr/bin/env python3
"""pin.py: update the hashes in a pin file.

usage: tools/build/pin.py FILE...

A pin file is a list of requirements for pip: NAME==VERSION, with `; python_version < "3.14"` if the version
depends on Python's. To pin another version, edit the file and run pin.py. It downloads the wheels that pip
chooses for Python 3.10 to 3.14 on x86-64 Linux (glibc 2.28 or later), and writes their SHA-256 after each
requirement. The first line has the size in MB of the largest download for one Python. Lines `-r FILE` remain.
"""
import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(28, 4, -1)] + ["manylinux2014_x86_64", "manylinux1_x86_64"]
REQUIREMENT = re.compile(r'([\w.-]+==[\w.]+)(?:; python_version (<|>=) "3\.(\d+)")?')


def holds(operator, minor, python):
    """Whether a requirement with this marker applies to this version of Python."""
    mine = int(python.split(".")[1])
    return operator is None or (mine < int(minor) if operator == "<" else mine >= int(minor))


def wheels_of(pins, python, folder):
    """{requirement: file} of the wheels that pip downloads for these requirements and this Python."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder]
    command += ["--python-version", python, *(word for platform in PLATFORMS for word in ("--platform", platform))]
    subprocess.run([*command, *pins], check=True)
    return {pin: file for pin in pins for file in folder.iterdir() if name_of(file.name) == name_of(pin)}


def name_of(pin):
    """`kiwisolver 1.4.9` from a requirement or the name of a wheel."""
    name, version = pin.split("==") if "==" in pin else pin.split("-")[:2]
    return f"{re.sub('[-_.]+', '-', name).lower()} {version}"


def main():
    if not sys.argv[1:] or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for path in map(Path, sys.argv[1:]):
        head, *lines = [line for line in path.read_text().splitlines() if "--hash" not in line]
        found = [REQUIREMENT.fullmatch(line.rstrip(" \\")) for line in lines]
        hashes, megabytes = {}, 0
        for python in PYTHONS:
            with tempfile.TemporaryDirectory() as folder:
                pins = [match[1] for match in found if match and holds(match[2], match[3], python)]
                wheels = wheels_of(pins, python, Path(folder))
                megabytes = max(megabytes, sum(file.stat().st_size for file in wheels.values()) / 1e6)
                for pin, file in wheels.items():
                    hashes.setdefault(pin, set()).add(hashlib.sha256(file.read_bytes()).hexdigest())
                if all("-py3-none-" in file.name for file in wheels.values()):
                    break  # the wheels are the same for every Python
        text = re.sub(r"^# \d+ MB", f"# {max(1, round(megabytes))} MB", head) + "\n"
        for line, match in zip(lines, found):
            sums = sorted(hashes[match[1]]) if match else []
            text += " \\\n    ".join([match[0] if match else line, *(f"--hash=sha256:{one}" for one in sums)]) + "\n"
        path.write_text(text)


main()
