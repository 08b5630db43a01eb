"""names.py: what kernels are called, and which are rungs of the ladder: what `weave -t names` prints."""

import csv
from dataclasses import dataclass

from tables import Fault

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
        named = {key: self.in_words(value) for key, value in data.items()}
        for key in ("kernel", "order", "library"):
            if isinstance(named.get(key), str):
                named[key] = self.words.get(named[key], named[key])
        if "orders" in named:
            named["orders"] = [self.words.get(o, o) if isinstance(o, str) else o for o in named["orders"]]
        return named


def read_names(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    if rows[:1] != [HEADER] or any(len(row) != len(HEADER) for row in rows):
        raise Fault(f"{path}:1: not what `weave -t names` prints")
    words, rungs = {}, []
    for chapter, kernel, name, place, after in rows[1:]:
        words.setdefault(kernel, name)
        if place:
            rungs.append((int(place), Rung(chapter, kernel, name, tuple(after.split("/")) if after else ())))
    return Names(words, [rung for _, rung in sorted(rungs, key=lambda pair: pair[0])])
