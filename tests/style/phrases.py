#!/usr/bin/env python3
"""Prints FILE:LINE: phrase: what to write instead, for each phrase of phrases.txt in prose, a message or a comment.

Prose is Markdown without its code, comments and strings are those of tools/ and tests/. Files of test data are left out.
"""
import re
import subprocess
import sys
from pathlib import Path

PHRASES = Path(__file__).with_name("phrases.txt")
DATA = re.compile(r"tests/(fuzzed|recorded|mutate/equivalent|.*/(book|corpus\.md))|tests/.*\.md$")
PROSE = re.compile(r"^( *)(`{3,}|~{3,})[^\n]*\n.*?^\1\2`*$|`[^`\n]+`|\]\([^)\n]*\)", re.S | re.M)
STRING = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
CODE = {  # comments and strings; the first alternative that matches wins
    "c": re.compile(r"//[^\n]*|/\*.*?\*/|" + STRING, re.S),
    "js": re.compile(r"//[^\n]*|/\*.*?\*/|`(?:\\.|[^`\\])*`|" + STRING, re.S),
    "py": re.compile(r'#[^\n]*|""".*?"""|' + STRING, re.S),
    "sh": re.compile(r"(?<![$\w{])#[^\n]*|\"(?:\\.|[^\"\\])*\"|'[^']*'", re.S),
}
KINDS = {".c": "c", ".h": "c", ".cu": "c", ".cuh": "c", ".js": "js", ".css": "c", ".py": "py", ".sh": "sh", ".mk": "sh"}


def kind_of(path, text):
    if path.suffix == ".md":
        return "md"
    first = text.partition("\n")[0]
    if first.startswith("#!"):
        return "py" if "python" in first else "sh"
    return "sh" if path.name == "Makefile" else KINDS.get(path.suffix)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def apart(text):
    """The text blanked, with a \\0 at its first character, so that no phrase reaches across it."""
    return re.sub(r"\S", "\0", blank(text[: len(text) - len(text.lstrip())]) + text.lstrip()[:1]) + blank(text.lstrip()[1:])


def words_of(text, kind):
    """The text with everything else blanked, so that offsets and lines stay."""
    if kind == "md":
        return PROSE.sub(lambda code: apart(code[0]), text)
    out, end = [], 0
    for found in CODE[kind].finditer(text):
        between = text[end : found.start()]
        out.append(apart(between))
        out.append(re.sub(r"^(//+|/\*+|#+|[\"'`]+)|(\*/|[\"'`]+)$|^ *\*|\\n", lambda mark: " " * len(mark[0]), found[0], flags=re.M))
        end = found.end()
    return "".join([*out, "\0"])


def phrases():
    for line in PHRASES.read_text().splitlines():
        if not line.startswith("#"):
            phrase, _, instead = line.partition(" => ")
            yield re.compile(phrase.replace(" ", r"\s+"), re.I), instead


def main():
    paths = sys.argv[1:] or subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "chapters", "tools", "tests", "Makefile", "README.md", "CONTRIBUTING.md", "CHANGES.md"],
        stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    listed = list(phrases())
    for path in map(Path, paths):
        if not path.is_file() or (DATA.match(str(path)) and path.name != "README.md"):
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        kind = kind_of(path, text)
        words = kind and words_of(text, kind)
        hits = [(found.start(), found[0], instead) for phrase, instead in listed if words for found in phrase.finditer(words)]
        for start, phrase, instead in sorted(hits):
            print(f"{path}:{words.count(chr(10), 0, start) + 1}: {' '.join(phrase.split())}: {instead}")


main()
