"""Finds the changes of one token that mutate.py tries in a C file: comparisons, off-by-one changes, dropped
statements, swapped arguments, constants."""
import re
from dataclasses import dataclass

TOKEN = re.compile(r"""
    (?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<char>'(?:\\.|[^'\\\n])+')
  | (?P<number>(?:0[xX][\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)[uUlLfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|->|\+\+|--|[<>=!+\-*/%&|^]=|&&|\|\||<<|>>|[-+*/%&|^~!<>=?:;,.(){}\[\]])
""", re.X | re.M | re.S)

BINARY = {  # between two operands, so between two spaces
    "<": ["<=", "< 1 +"], "<=": ["<", "<= 1 +"], ">": [">=", "> 1 +"], ">=": [">", ">= 1 +"],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["+"],
    "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["|"],
    "+=": ["-=", "="], "-=": ["+="], "*=": ["+="], "/=": ["*="], "|=": ["&="], "&=": ["|="],
    "<<=": [">>="], ">>=": ["<<="]}
UNARY = {"!": [""], "~": [""], "++": ["--"], "--": ["++"]}
NAMES = {"true": ["false"], "false": ["true"]}
SYMMETRIC = {"str_equal"}
CONTROL = {"if", "for", "while", "switch"}
NO_CALL = CONTROL | {"sizeof", "return", "_Static_assert", "alignas", "alignof", "__attribute__"}
NO_STATEMENT = CONTROL | {"return", "do", "else", "case", "default", "goto", "static", "const", "struct",
                          "enum", "union", "typedef", "extern", "inline", "unsigned", "signed", "int", "char",
                          "void", "volatile"}
SIZE = re.compile(r"\w+ \*?\w+\[\d+\](, \w+\[\d+\])*;")  # an array's capacity, which rarely has a meaning of its own


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Mutant:
    """Replaces `before` at offset `start` of a file by `after`."""
    file: str
    start: int
    before: str
    after: str

    def applied(self, text):
        return text[:self.start] + self.after + text[self.start + len(self.before):]

    def line(self, text):
        return text.count("\n", 0, self.start) + 1

    def lines(self, text):
        """The lines that it changes, before and after, each joined to one line."""
        first = text.rfind("\n", 0, self.start) + 1
        end = self.start + len(self.before)
        last = text.find("\n", end) % (len(text) + 1)
        return (" ".join(text[first:last].split()),
                " ".join((text[first:self.start] + self.after + text[end:last]).split()))


def tokens_of(text):
    return [Token(match.lastgroup, match[0], match.start(), match.end())
            for match in TOKEN.finditer(text) if match.lastgroup != "skip"]


def other_numbers(text):
    digits, suffix = re.fullmatch(r"(0[xX][\da-fA-F]+|[\d.eE+-]+?)([uUlLfF]*)", text).groups()
    if re.search(r"[.eE]", digits) and not digits.lower().startswith("0x"):
        return [f"{float(digits) * 2!r}{suffix}"]
    value = int(digits, 16) if digits[:2].lower() == "0x" else int(digits)
    written = hex if digits[:2].lower() == "0x" else str
    return [written(value + 1) + suffix] + [written(value - 1) + suffix] * (value > 0)


def other_char(text):
    inner = text[1:-1]
    if len(inner) > 1:
        return {"'\\n'": "'\\t'", "'\\t'": "' '", "'\\0'": "'\\1'"}.get(text, "'#'")
    other = chr(ord(inner) + 1)
    return f"'{other}'" if other not in "'\\" else "'#'"


def replaced(text, token):
    """The possible replacements of a token."""
    if token.kind == "op" and token.text in BINARY:
        spaced = text[token.start - 1].isspace() and text[token.end].isspace()
        return BINARY[token.text] if spaced else []
    if token.kind == "op":
        return UNARY.get(token.text, [])
    if token.kind == "name":
        return NAMES.get(token.text, [])
    return other_numbers(token.text) if token.kind == "number" else [other_char(token.text)]


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
        if depth == 0:
            return i
    return len(tokens) - 1


def control_ends(tokens):
    """The indices of the parentheses that close `if (…)` and the like: a statement follows."""
    return {closing(tokens, i + 1) for i, token in enumerate(tokens[:-1]) if token.text in CONTROL}


def dropped(text, tokens):
    """(start, text) of every statement that is not a declaration."""
    ends, parens = control_ends(tokens), 0
    for i in range(1, len(tokens) - 2):
        before, first, second = tokens[i - 1], tokens[i], tokens[i + 1]
        parens += (before.text in "([") - (before.text in ")]")
        if parens or not (before.text in ("{", "}", ";", "else") or i - 1 in ends):
            continue
        alone = first.text in ("break", "continue", "return") and second.text == ";"
        if not alone:
            if first.text in NO_STATEMENT or not (first.kind == "name" or first.text in ("*", "++", "--", "(")):
                continue
            pointer = second.text == "*" and text[second.end] != " "
            if first.kind == "name" and (second.kind == "name" or pointer or second.text in ":,}"):
                continue
        end = i
        while end < len(tokens) and tokens[end].text not in ";}":
            end = closing(tokens, end) + 1 if tokens[end].text in "([{" else end + 1
        if end < len(tokens) and tokens[end].text == ";":
            yield first.start, text[first.start:tokens[end].start]


def swapped(text, tokens):
    """(start, text, other text) of two neighbouring arguments of a call."""
    for i in range(1, len(tokens) - 1):
        before, name, paren = tokens[i - 1], tokens[i], tokens[i + 1]
        if name.kind != "name" or paren.text != "(" or name.text in NO_CALL | SYMMETRIC:
            continue
        if before.text == "*" or before.kind == "name" and before.text not in ("return", "else", "case"):
            continue
        end, starts, at = closing(tokens, i + 1), [i + 2], i + 2
        while at < end:
            if tokens[at].text == ",":
                starts.append(at + 1)
            at = closing(tokens, at) + 1 if tokens[at].text in "([{" else at + 1
        spans = [(tokens[a].start, tokens[b - 2].end) for a, b in zip(starts, [*starts[1:], end + 1]) if a < b - 1]
        for (a, b), (c, d) in zip(spans, spans[1:]):
            if text[a:b] != text[c:d]:
                yield a, text[a:d], text[c:d] + text[b:c] + text[a:b]


def mutants_of(file, text):
    """Every mutant of a file, in the order of its text."""
    tokens = tokens_of(text)
    found = []
    for token in tokens:
        line = text[text.rfind("\n", 0, token.start) + 1:text.find("\n", token.start)]
        if token.kind == "number" and SIZE.search(line):
            continue
        found += [Mutant(file, token.start, token.text, other) for other in replaced(text, token)]
    found += [Mutant(file, start, statement, "") for start, statement in dropped(text, tokens)]
    found += [Mutant(file, start, before, after) for start, before, after in swapped(text, tokens)]
    return sorted(found, key=lambda mutant: (mutant.start, mutant.before, mutant.after))
