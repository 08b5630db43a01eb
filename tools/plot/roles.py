"""roles.py: reads which figures the chapters request.

The block of a lab requests figures, where the chapter names the lab's file:

    ``` {.cuda file=code/04_sum.cu figures="counters sum_global; floors sum_tree"}

A role is a word followed by kernels, as results/ names them; * matches any text and ? any character. Semicolons
separate roles. `tangle -a figures` prints the attributes of all labs as CSV, which this module reads.

  counters [KERNELS]   counters-NN.svg: the CPU device's counters for all kernels of the lab, and in grey for
                       kernels that an earlier chapter counted, also the given KERNELS of earlier chapters.
                       counters(barriers,machine_insts) shows only these counters; those that the CPU device
                       does not count come from the profile of the book's device
  block-sweep KERNEL   block-sweep-NN.svg: the kernel over the number of blocks
  size-sweep KERNELS   size-sweep-NN.svg: the kernels, and the library, over n
  message-sweep KERNELS  message-sweep-NN.svg: the same with n elements on each GPU
  scenes NAMES         NAME-NN.svg for each: the drawings in SCENES
  floors KERNELS       floors-NN.svg: the times of these kernels and their lower bounds;
                       KERNEL=4 has four loads of each thread in flight
  shape-map KERNEL=PEER  shape-map-NN.svg: the ratio of the peer's time to the kernel's at every shape of rows,
                       by total and length, for each CUB that was measured
  shape-rates KERNELS=PEER  shape-rates-NN.svg: the same over the length, at the largest total
  rows KERNELS=BEST    rows-NN.svg: these kernels' speed as a share of BEST's, over the length of their rows:
                       the text that * matches, `all` for one row; or by kind, if it matches a word
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from floors import CEILING, RATES, SCHEDULERS, THREADS, first_of, latency_of, rates_of
from row_data import halves_data, owners_data, ragged_data, warp_roles_data
from shapes import (
    first_add_data, grid_data, last_warp_data, merge_data, orders_data, passes_data, shuffle_data,
    tree_data, two_level_data,
)
from tables import Fault, read_printed
from timelines import (
    all_reduce_data, edges_data, lanes_data, life_data, loads_data, mailbox_data, predicted_data,
    sizes_data, stride_data, ticket_data, waits_data,
)

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
        raise role.fault(f"{role.name} takes no counters: remove the parentheses")
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
        raise role.fault("shape-map takes exactly one kernel")
    for scene in role.patterns if role.name == "scenes" else ():
        if scene not in SCENES:
            raise role.fault(f"there is no scene `{scene}`, only {', '.join(SCENES)}")
    if role.name == "block-sweep" and re.search(r"[ *?]", " ".join(role.patterns)):
        raise role.fault("block-sweep takes exactly one kernel")
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
            raise role.fault(f"{target} belongs to no chapter: start its name with two digits")
        if role.name in roles:
            raise role.fault(f"{role.name} is given twice")
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
    """The first pattern that matches none of these kernels, or None; also None if no kernel is known."""
    fits = lambda pattern: any(fnmatchcase(kernel, pattern.partition("=")[0]) for kernel in kernels)
    return next((pattern for pattern in role.patterns if kernels and not fits(pattern)), None)


# --- drawings that chapters request by name, and their data ---

def machine_data(table):
    """Chapter 1's measurements of the device, at the largest n with all of them."""
    sizes = sorted({row["n"] for row in table.rows if row["chapter"] == RATES}, reverse=True)
    n = next((n for n in sizes if rates_of(table, n)), None)
    l2 = first_of(table.rows, chapter=RATES, kernel="l2_latency", n=n)
    if not l2 or "l2_bytes" not in table.facts:
        return None
    rates = rates_of(table, n)
    return {
        "device": table.facts["device"],
        "sms": rates["sms"],
        "schedulers": SCHEDULERS,
        "warps": THREADS // 32,
        "l2_bytes": table.facts["l2_bytes"],
        "l2_us": latency_of(l2),
        "memory_us": rates["latency_us"],
        "gbps": first_of(table.rows, chapter=RATES, kernel=CEILING, n=n)["gbps"],
        "blocks_per_us": rates["blocks_per_us"],
    }


def little_data(table, bytes_each=4):
    """Chapter 1's throughput and latency, and the bytes in flight if every thread waits for `bytes_each`."""
    machine = machine_data(table)
    if not machine:
        return None
    held = bytes_each * 32 * machine["warps"] * machine["sms"]
    return {key: machine[key] for key in ("device", "gbps", "memory_us")} | {"held": held, "each": bytes_each}


def always(data):
    """The data of a scene that depends on no measurement."""
    return lambda table: data


SCENES = {
    "grid": ("grid", always(grid_data())),
    "machine": ("machine", lambda table: table and machine_data(table)),
    "little": ("little", lambda table: table and little_data(table)),
    "divergence": ("lanes", lambda table: table and lanes_data(table.path.parent, "02-block_sum_interleaved")),
    "tree-interleaved": ("tree", always(tree_data("interleaved"))),
    "tree-strided": ("tree", always(tree_data("strided"))),
    "tree-sequential": ("tree", always(tree_data("sequential"))),
    "first-add": ("first_add", always(first_add_data())),
    "block-life": ("life", always(life_data(["05"]))),
    "last-warp": ("last_warp", always(last_warp_data())),
    "two-lives": ("life", always(life_data(["05", "06"]))),
    "block-sizes": ("places", lambda table: table and sizes_data(table)),
    "one-load": ("places", lambda table: table and stride_data(table)),
    "shuffle": ("shuffle", always(shuffle_data())),
    "two-levels": ("two_level", always(two_level_data())),
    "ticket": ("ticket", always(ticket_data())),
    "mailbox": ("mailbox", always(mailbox_data())),
    "edges": ("edges", always(edges_data())),
    "passes": ("passes", always(passes_data())),
    "merge": ("merge", always(merge_data())),
    "orders": ("orders", always(orders_data())),
    "all-reduce": ("all_reduce", always(all_reduce_data())),
    "row-owners": ("row_owners", always(owners_data())),
    "swap-halves": ("swap_halves", always(halves_data())),
    "ragged-rows": ("ragged", always(ragged_data())),
    "warp-roles": ("warp_roles", always(warp_roles_data())),
    "waits": ("waits", always(waits_data())),
    "load-curve": ("loads", lambda table: table and loads_data(table)),
    "predicted": ("predicted", lambda table: table and predicted_data(table)),
}


def scenes_of(table, role):
    """[file name, kind, data] of the scenes that a chapter requests. table: the book's device or None."""
    found = []
    for name in role.patterns:
        kind, data_of = SCENES[name]
        data = data_of(table)
        found += [[f"{name}-{role.chapter}.svg", kind, data]] if data else []
    return found
