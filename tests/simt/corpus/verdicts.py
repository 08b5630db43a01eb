"""Reads the verdicts that the corpus sources carry (corpus.h explains them)."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ["shared", "sync", "memory", "global", "scattered", "cluster", "partial", "unwritten",
         "volatile", "debug"]
KINDS = {  # the word in a verdict: what a report of that kind says
    "race": r"race",
    "read only": r"write to read-only data",
    "unordered volatile": r"unordered volatile",
    "race or volatile": r"race|unordered volatile",  # a report of each
    "divergent barrier": r"barrier",
    "mask": r"mask|lane",
    "width": r"shuffle width",
    "out of bounds": r"out of bounds|out-of-bounds",
    "misaligned": r"misaligned",
    "use after free": r"use after free|freed",
    "uninitialized": r"uninitiali[sz]ed",
    "cluster": r"block of a cluster",
    "copy": r"asynchronous copy",
    "early": r"race between launches",
}


class Verdict:
    """The report that a case must have. kind None: none. silent: wrong, but not checked."""

    def __init__(self, source):
        self.source, self.kind, self.silent, self.note = source, None, None, False
        self.required = []    # (line, lines of the other side or None)
        self.allowed = set()  # lines that a report may name

    def expected(self):
        if self.kind:
            return "note: " + self.kind if self.note else self.kind
        return "none (%s: not looked for)" % self.silent if self.silent else "none"


def source_path(name):
    return os.path.join(HERE, name + ".cu")


def line_of(name, text):
    """The line of a source that contains a text."""
    with open(source_path(name)) as source:
        return next(number for number, line in enumerate(source, 1) if text in line)


def verdicts(name):
    """{case: Verdict} for the cases of one source that have a HAZARD, a NOTE or a SILENT comment."""
    labels, found, pairs = {}, {}, []
    with open(source_path(name)) as text:
        lines = list(enumerate(text, 1))
    for number, line in lines:
        for label in re.findall(r"// LABEL (\w+)", line):
            labels.setdefault(label, set()).add(number)
        match = re.search(r"// (HAZARD|HAZARD-NEXT|NOTE|SILENT) (\w+): ([a-z ]+?)(?: with (\w+))?\s*$",
                          line)
        if not match:
            continue
        word, case, kind, label = match.groups()
        if word == "HAZARD-NEXT":
            number = next(after for after, text in lines[number:] if "HAZARD-NEXT" not in text)
        if kind not in KINDS:
            raise ValueError("%s.cu:%d: unknown kind %s" % (name, number, kind))
        verdict = found.setdefault(case, Verdict(name))
        if word == "SILENT":
            verdict.silent = kind
            continue
        verdict.kind, verdict.note = kind, word == "NOTE"
        verdict.allowed.add(number)
        pairs.append((verdict, number, label))
    for case, verdict in found.items():
        verdict.allowed |= labels.get(case, set())
    for verdict, number, label in pairs:
        others = labels[label] if label else None
        verdict.required.append((number, others))
        verdict.allowed |= others or set()
    return found


REPORT = re.compile(r"^(\S+\.\w+):(\d+): (.*)$")


def reports(text):
    """[(lines, kind)] of the reports in simt's output: `FILE:LINE: kind in KERNEL: ...`, below it, if there is
    another access, `line LINE: ...`. Further pairs that `also orders lines A and B, ...` names are reports, and so is each
    of the lines that `in each of lines A to B` names."""
    found, lines = [], text.splitlines()
    for at, line in enumerate(lines):
        match = REPORT.match(line)
        if match and re.search("|".join(KINDS.values()), match[3]):
            other = re.match(r" +line (\d+)\b.*: ", "".join(lines[at + 1:at + 2]))
            found.append(([int(match[2])] + ([int(other[1])] if other else []), match[3]))
            also = re.search(r"; this also orders lines (.*)", "".join(lines[at + 2:at + 3])) if other else None
            found += [([int(a), int(b)], match[3]) for a, b in re.findall(r"(\d+) and (\d+)", also[1] if also else "")]
            steps = re.search(r"in each of lines (\d+) to (\d+) ", "".join(lines[at + 2:at + 3])) if other else None
            found += [([n], match[3]) for n in range(int(steps[1]), int(steps[2]) + 1)] if steps else []
    return found


def is_note(text):
    return text.startswith("note: ")


def judge(verdict, found):
    """Lines that say what is wrong with the reports of a case; none if they are as expected."""
    if verdict is None or verdict.kind is None:
        return ["reported, but it is right: line %s: %s" % (lines, text) for lines, text in found]
    wrong = []
    pattern = KINDS[verdict.kind]
    for lines, text in found:
        if not re.search(pattern, text.split(" in ")[0]) or is_note(text) != verdict.note:
            wrong.append("not a %s: line %s: %s" % (verdict.expected(), lines, text))
        elif not set(lines) <= verdict.allowed:
            wrong.append("another line than %s: %s: %s" % (sorted(verdict.allowed), lines, text))
    for line, others in verdict.required:
        if not any(line in lines and (others is None or others & set(lines))
                   for lines, text in found):
            wrong.append("no report of %s at line %d%s" % (
                verdict.kind, line, " with line %s" % sorted(others) if others else ""))
    return wrong
