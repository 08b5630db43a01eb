"""Prints `file:line: message` for every `#include "..."` under tools/ of a later component, or out of the tree.

A file may include its own component and those listed before it. A module is a .c file with its header. In
the book's tools at most LONGEST modules may include each other in a cycle."""
import os
import re
import sys

LONGEST = 2
COMPONENTS = {
    "tools": "base numbers markdown tangle book notebook weave collect grade",
    "the CPU device": "base simt/base simt/ptx simt/memory simt/exec simt/ops simt/emit simt/sass simt/lower "
                      "simt/observe simt/time simt/device simt/report simt/program simt/cuda simt/launcher",
    "the native platform": "base simt/base simt/ptx simt/memory simt/exec simt/ops simt/emit simt/sass simt/lower "
                           "simt/observe simt/device simt/report simt/native",
    "the page's engine": "base numbers markdown tangle book notebook weave collect grade simt/base simt/ptx simt/memory "
                         "simt/exec simt/ops simt/emit simt/sass simt/lower simt/observe simt/time simt/device "
                         "simt/report simt/native simt/cudac engine",
    "the compiler": "base simt/cudac",
}


def component(path):
    """The component of a file named from tools/: its first folder, or its first two in simt/."""
    parts = path.split("/")
    return "/".join(parts[:2] if parts[0] == "simt" else parts[:1])


def allowed(own):
    """The components that a file of this component may include."""
    found = set()
    for order in COMPONENTS.values():
        components = order.split()
        if own in components:
            found.update(components[:components.index(own) + 1])
    return found


def circles(included):
    """The sets of modules of the book's tools that include each other, directly or through others."""
    def reached(module):
        found, new = set(), [module]
        while new:
            more = included.get(new.pop(), set()) - found
            found |= more
            new += more
        return found

    every = {module: reached(module) for module in included if not module.startswith("simt/")}
    return {frozenset(other for other in every if other in every[module] and module in every[other])
            for module in every if module in every[module]}


def main():
    included = {}
    tools = sys.argv[1] if len(sys.argv) > 1 else "tools"
    for folder, _, names in sorted(os.walk(tools)):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            own = component(os.path.relpath(path, tools))
            with open(path, encoding="utf-8") as text:
                for number, line in enumerate(text, 1):
                    match = re.match(r'\s*#\s*include\s*"([^"]*)"', line)
                    if not match:
                        continue
                    where = "%s:%d: " % (path, number)
                    module = os.path.relpath(path, tools)[:-2]
                    included.setdefault(module, set()).update({match[1][:-2]} - {module})
                    if not os.path.exists(os.path.join(tools, match[1])):
                        print(where + "%s is not named from %s/" % (match[1], tools))
                    elif not allowed(own):
                        print(where + "%s is a component that this test does not know" % own)
                    elif component(match[1]) not in allowed(own):
                        print(where + "%s/ may not include %s" % (own, match[1]))
    for circle in circles(included):
        if len(circle) > LONGEST:
            print("%s: these modules include each other" % " ".join(sorted(circle)))


main()
