"""Prints, as CSV, what simt --check says of each exhibit of a lab of wrong kernels. record.sh calls it.

    reports.py SIMT LAB CHAPTER >FILE.csv

A line of the chapter becomes CHUNK:LINE, the line in the listing, so that later prose does not change the file. All
cells are in quotes, which preserve the indent of the text.
"""
import csv
import re
import subprocess
import sys

KINDS = ((r"\S+: (.+?) in ", r"\1"), (r"\S+: (host code does not wait)", r"\1"),
         (r"simt: .*the program ignores the error", "failed launch"), (r"simt: .*no progress", "no progress"))


def places_in(chapter):
    """Maps each line of the chapter that is in a chunk to the chunk and the line there."""
    places, name, start = {}, None, 0
    for number, line in enumerate(open(chapter, encoding="utf-8"), 1):
        if not line.startswith("```"):
            places[number] = (name, number - start)
        elif name:
            name = None
        else:
            opening = re.match(r"``` \{[^}]*#([\w-]+)", line)
            name, start = opening and opening.group(1), number
    return {number: place for number, place in places.items() if place[0]}


def in_listing(line, chapter, places):
    def located(match):
        name, number = places.get(int(match.group(1)), ("lab", match.group(1)))
        return f"{name}:{number}"

    def listed(match):
        return re.sub(r"\d+", lambda n: str(places.get(int(n.group()), (0, n.group()))[1]), match.group())
    line = re.sub(r"(?:[^\s(]*/)?" + re.escape(chapter.rsplit("/", 1)[-1]) + r":(\d+)", located, line)
    line = re.sub(r"\blines? \d+(?:(?:, | and )\d+)*", listed, line)
    return re.sub(r"; block \(.*", "", line) if "no progress" in line else line  # which block, depends on time


def report_of(simt, lab, exhibit):
    """The lines of the report: hazards, or else errors, or else the line that there are none."""
    command = [simt, "--check", "--watchdog", "2", lab, "--run", exhibit, "0", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 86):
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    hazards = re.search(r"^CPU device: \d+ hazards?\n(.*)", done.stdout, re.M | re.S)
    errors = [line for line in done.stderr.splitlines() if line.startswith("simt: ")]
    if hazards:
        return hazards.group(1).rstrip().splitlines()
    return errors or re.findall(r"^CPU device: no hazards.*", done.stdout, re.M)


def finding_of(line):
    for pattern, kind in KINDS:
        match = re.match(pattern, line)
        if match:
            return match.expand(kind)
    return ""


def main(simt, lab, chapter):
    listing = subprocess.run([simt, "--quiet", lab, "--list"], capture_output=True, text=True, check=True).stdout
    places, out = places_in(chapter), csv.writer(sys.stdout, lineterminator="\n", quoting=csv.QUOTE_ALL)
    out.writerow(["exhibit", "finding", "text"])
    for exhibit in (line.split()[0] for line in listing.splitlines()):
        lines = report_of(simt, lab, exhibit)
        for number, line in enumerate(lines):
            out.writerow([exhibit, "" if number else finding_of(line), in_listing(line, chapter, places)])


if __name__ == "__main__":
    main(*sys.argv[1:])
