"""roles.py: what the chapters ask plot.py to draw.

A lab's block says it, where the chapter names its file:

    ``` {.cuda file=code/04_sum.cu figures="counters sum_global; floors sum_tree"}

A role is a word and the kernels that play it, by the names that results have, * and ? standing for
any text and any character; a semicolon stands between roles. `tangle -a figures` lists the
attributes of all labs as CSV, from which they are read.

  counters [KERNELS]   counters-NN.svg: what the CPU device counted for all kernels of the lab, in
                       grey those that an earlier chapter counted; KERNELS of earlier chapters too.
                       counters(barriers,machine_insts) shows these counters and no others; what the
                       CPU device does not count comes from the profile of the book's device
  block-sweep KERNEL   block-sweep-NN.svg: the kernel over the number of blocks
  size-sweep KERNELS   size-sweep-NN.svg: the kernels, and the library, over n
  message-sweep KERNELS  message-sweep-NN.svg: the same where every GPU has n elements of its own
  scenes NAMES         NAME-NN.svg for each: the drawings of scenes.py
  floors KERNELS       floors-NN.svg: the times of these kernels beside what they cannot fall below;
                       KERNEL=4 has four loads of each thread on their way at once
  shape-map KERNEL=PEER  shape-map-NN.svg: the peer's time by the kernel's at every shape of rows, by
                       total and length, beside each CUB that was measured
  shape-rates KERNELS=PEER  shape-rates-NN.svg: the same over the length, of the largest total
  rows KERNELS=BEST    rows-NN.svg: these kernels' speed as a share of BEST's, over the length of
                       their rows: what * stands for in KERNELS, `all` for one row; or their kind,
                       where it stands for a word
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from scenes import SCENES
from tables import Fault, read_printed

ROLES = ("counters", "block-sweep", "size-sweep", "message-sweep", "floors", "rows", "shape-map")
ROLES += ("shape-rates", "scenes")
HEADER = ["file", "line", "target", "figures"]


@dataclass(frozen=True)
class Role:
    where: str  # chapters/04-bank-conflicts.md:95
    chapter: str  # 04
    name: str  # one of ROLES
    patterns: tuple  # names of kernels, with * and ?
    columns: tuple = ()  # of `counters`: which, none for all that differ

    def names(self, kernel):
        return any(fnmatchcase(kernel, pattern) for pattern in self.patterns)

    def plays(self, row):
        return row["chapter"] == self.chapter and self.names(row["kernel"])

    def fault(self, what):
        return Fault(f"{self.where}: figures: {what}")


def checked(role):
    if role.name not in ROLES:
        raise role.fault(f"there is no role `{role.name}`, only {', '.join(ROLES)}")
    if role.columns and role.name != "counters":
        raise role.fault(f"{role.name} has no counters to choose from")
    if not role.patterns and role.name != "counters":
        raise role.fault(f"{role.name} names {'nothing' if role.name == 'scenes' else 'no kernel'}")
    for pattern in role.patterns if role.name == "floors" else ():
        if not re.fullmatch(r"[^*?=]+(=[1-9]\d?)?", pattern):
            raise role.fault(f"floors: `{pattern}` is not KERNEL or KERNEL=LOADS")
    for pattern in role.patterns if role.name == "rows" else ():
        if not re.fullmatch(r"[^*?=]*\*[^*?=]*=[^*?=]+", pattern):
            raise role.fault(f"rows: `{pattern}` is not KERNELS=BEST with one * in KERNELS")
    for pattern in role.patterns if role.name.startswith("shape-") else ():
        if not re.fullmatch(r"[^*?=]+=[^*?=]+", pattern):
            raise role.fault(f"{role.name}: `{pattern}` is not KERNEL=PEER")
    if role.name == "shape-map" and len(role.patterns) > 1:
        raise role.fault("shape-map is about one kernel")
    for scene in role.patterns if role.name == "scenes" else ():
        if scene not in SCENES:
            raise role.fault(f"there is no scene `{scene}`, only {', '.join(SCENES)}")
    if role.name == "block-sweep" and re.search(r"[ *?]", " ".join(role.patterns)):
        raise role.fault("block-sweep is about one kernel")
    return role


def roles_of(where, target, text):
    """The roles that one lab gives to its kernels."""
    chapter = re.match(r"(\d\d)[-_]", target.rpartition("/")[2])
    roles = {}
    for words in filter(None, (part.split() for part in text.split(";"))):
        name, columns = re.fullmatch(r"(.*?)(?:\((.*)\))?", words[0]).groups()
        columns = tuple(columns.split(",")) if columns else ()
        role = Role(where, chapter[1] if chapter else "", name, tuple(words[1:]), columns)
        if not chapter:
            raise role.fault(f"{target} belongs to no chapter: its name starts with no two digits")
        if role.name in roles:
            raise role.fault(f"{role.name} stands here twice")
        roles[role.name] = checked(role)
    return roles.values()


def read_roles(path):
    """All roles of all labs, by chapter."""
    roles = [
        role
        for file, line, target, text in read_printed(path, HEADER, "tangle -a figures")
        for role in roles_of(f"{file}:{line}", target, text)
    ]
    return sorted(roles, key=lambda role: role.chapter)


def missing_kernel(role, kernels):
    """The first pattern that none of these kernels fits; there is none where no kernel is known."""
    fits = lambda pattern: any(fnmatchcase(kernel, pattern.partition("=")[0]) for kernel in kernels)
    return next((pattern for pattern in role.patterns if kernels and not fits(pattern)), None)
