"""names.py: what kernels are called, and which are rungs of the ladder: what `weave -t names` prints."""

import re
from dataclasses import dataclass

from tables import Fault, read_printed

DEFAULTS = {"cub_device_reduce": "CUB", "read_ceiling": "reading only"}  # where no chapter names them
NAMED = ("kernel", "order", "library", "best")  # where in the data of figures kernels stand
HEADER = ["chapter", "kernel", "name", "rung", "after"]


@dataclass(frozen=True)
class Rung:
    chapter: str
    kernel: str
    name: str
    after: tuple  # (chapter, kernel) of the rung that this one is a step from, or ()


@dataclass(frozen=True)
class Names:
    words: dict  # kernel: name, the first chapter's where several have one
    rungs: list

    def in_words(self, data):
        """The data of a figure with names in the place of kernels."""
        if isinstance(data, list):
            return [self.in_words(item) for item in data]
        if not isinstance(data, dict):
            return data
        named = lambda key, value: key in NAMED and isinstance(value, str)
        return {k: self.word(v) if named(k, v) else self.in_words(v) for k, v in data.items()}

    def word(self, kernel):
        """What a kernel is called; what no chapter names, as code does, without what all of them do."""
        known = self.words.get(kernel) or DEFAULTS.get(kernel)
        return known or re.sub(r"^(block_)?sum_", "", kernel).replace("_", " ")


def read_names(path):
    words, rungs = {}, []
    for line, row in enumerate(read_printed(path, HEADER, "weave -t names"), 2):
        chapter, kernel, name, place, after = row
        if not re.fullmatch(r"\d*", place, re.ASCII) or after.count("/") != (after != ""):
            raise Fault(f"{path}:{line}: `{place},{after}` is no place of a rung")
        words.setdefault(kernel, name)
        if place:
            rungs.append((int(place), Rung(chapter, kernel, name, tuple(after.split("/")) if after else ())))
    return Names(words, [rung for _, rung in sorted(rungs, key=lambda pair: pair[0])])
