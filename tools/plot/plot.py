#!/usr/bin/env python3
"""plot.py: draw the figures that results/*.csv has data for.

usage: plot.py [-D DEVICE] [-r RESULTS] [-o FIGURES] [-a ROLES] [-n NAMES] [--check]

  -D DEVICE    the device of the book, RESULTS/DEVICE.csv: it comes first, and its times decide which
               kernel of a chapter is the fastest
  -r RESULTS   folder of recorded results (default: results)
  -o FIGURES   folder for the SVG files (default: figures)
  -a ROLES     the output of `tangle -a figures`: which kernels the chapters request in which figures
               (see roles.py). Without it only the ladder, traces and rounding errors are drawn
  -n NAMES     the output of `weave -t names`: names of kernels, and the rungs of the ladder. Without it
               kernels have their names in code, and there is no ladder
  --check      draw nothing; list the figures that are out of date; exit with 1 if there are any

Each figure is an SVG file and, for notebooks, a WebP file. Its first line has a hash of its data and of this
program. plot.py leaves files with the right hash unchanged; if all are right, it does not even import
matplotlib. It removes its figures that no longer have data, and prints the paths of figures drawn and removed.
An error in a CSV file or a role stops it before it changes any figure.
"""

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from figures import figures_of
from roles import read_roles
from tables import Fault, Names, read_names, read_results

# --- hashes, files ---

HASH_LINE = re.compile(rb"<!-- drawn by tools/plot/plot\.py from inputs ([0-9a-f]{16}) -->")


def source_bytes():
    return b"".join(path.read_bytes() for path in sorted(Path(__file__).resolve().parent.glob("*.py")))


def hash_of(source, figure):
    data = json.dumps([figure.name, figure.kind, figure.data], sort_keys=True)
    return hashlib.sha256(source + data.encode()).hexdigest()[:16]


def recorded_hash(path):
    """The hash in the first line of a figure, or None."""
    try:
        with open(path, "rb") as file:
            found = HASH_LINE.match(file.readline(200))
    except OSError:
        return None
    return found.group(1).decode() if found else None


def ends_with(path, end):
    try:
        with open(path, "rb") as file:
            file.seek(-len(end), os.SEEK_END)
            return file.read() == end
    except OSError:
        return False


def is_whole_webp(path):
    """Whether the file is complete: a RIFF header has the number of bytes that follow."""
    try:
        with open(path, "rb") as file:
            head = file.read(12)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return False
    return head[8:] == b"WEBP" and int.from_bytes(head[4:8], "little") + 8 == size


def is_drawn(path, wanted):
    """Whether the SVG file and its WebP file, which is written first, have this hash and are complete."""
    return (
        recorded_hash(path) == wanted
        and ends_with(path, b"</svg>\n")
        and is_whole_webp(path.with_suffix(".webp"))
    )


def abandoned(folder, figures):
    """Figures in the folder that this program drew and that no longer have data."""
    names = {figure.name for figure in figures}
    return [p for p in sorted(folder.glob("*.svg")) if p.name not in names and recorded_hash(p)]


def write_whole(path, content):
    """Writes a temporary file and renames it, so that the file is never partly written."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=argparse.SUPPRESS,
    )
    quiet = {"help": argparse.SUPPRESS}
    parser.add_argument("-D", dest="device", default="", **quiet)
    parser.add_argument("-r", dest="results", type=Path, default=Path("results"), **quiet)
    parser.add_argument("-o", dest="figures", type=Path, default=Path("figures"), **quiet)
    parser.add_argument("-a", dest="roles", type=Path, **quiet)
    parser.add_argument("-n", dest="names", type=Path, **quiet)
    parser.add_argument("--check", action="store_true", **quiet)
    return parser.parse_args()


def report(folder, due, old):
    """Prints the result of --check and returns its exit status."""
    for figure in due:
        print(f"{folder / figure.name}: out of date")
    for path in old:
        print(f"{path}: no longer drawn")
    return 1 if due or old else 0


def draw(folder, due, hashes):
    """Draws all figures, and then writes the files."""
    try:
        import counts
        import ladder
        import machine
        import protocols
        import row_curves
        import row_scenes
        import style
        import sweeps
        import trees
    except ImportError as error:
        raise Fault(
            f"{folder / due[0].name}: out of date, but this Python has no {error.name}: "
            'run plot.py with the Python that "tools/build/toolchain.sh python" prints'
        ) from None
    modules = (counts, ladder, machine, protocols, row_curves, row_scenes, sweeps, trees)
    # A picture takes a figure's data and name; it returns the drawing, its title, and its content in words.
    pictures = {kind: picture for module in modules for kind, picture in module.PICTURES.items()}
    drawn = [(folder / f.name, style.draw(pictures[f.kind], f, hashes[f.name])) for f in due]
    folder.mkdir(parents=True, exist_ok=True)
    for path, (svg, webp) in drawn:
        write_whole(path.with_suffix(".webp"), webp)
        write_whole(path, svg)
        print(path)


def main():
    options = read_options()
    roles = read_roles(options.roles) if options.roles else []
    names = read_names(options.names) if options.names else Names({}, [])
    figures = figures_of(*read_results(options.results, options.device), roles, names)
    source = source_bytes()
    hashes = {figure.name: hash_of(source, figure) for figure in figures}
    due = [f for f in figures if not is_drawn(options.figures / f.name, hashes[f.name])]
    old = abandoned(options.figures, figures)
    if options.check:
        return report(options.figures, due, old)
    for path in old:
        path.with_suffix(".webp").unlink(missing_ok=True)
        path.unlink()
        print(f"{path}: removed")
    if due:
        draw(options.figures, due, hashes)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fault as fault:
        print(fault, file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
