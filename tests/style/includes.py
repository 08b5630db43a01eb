"""Prints `file:line: message` for every `#include "..."` under tools/ that goes up, or out of the tree.

A file may include its own room and those listed before it; all rooms may use base."""
import os
import re
import sys

ROOMS = {
    "tools": "base numbers markdown tangle book notebook weave collect grade",
    "the CPU device": "base simt/base simt/ptx simt/memory simt/exec simt/ops simt/lower simt/sass "
                      "simt/observe simt/time simt/device simt/report simt/program simt/cuda simt/launcher",
}


def room(path):
    """The room of a file named from tools/: its first folder, or its first two in simt/."""
    parts = path.split("/")
    return "/".join(parts[:2] if parts[0] == "simt" else parts[:1])


def allowed(own):
    """The rooms that a file of this room may include."""
    found = set()
    for order in ROOMS.values():
        rooms = order.split()
        if own in rooms:
            found.update(rooms[:rooms.index(own) + 1])
    return found


def main():
    tools = sys.argv[1] if len(sys.argv) > 1 else "tools"
    for folder, _, names in sorted(os.walk(tools)):
        for name in sorted(names):
            if not name.endswith((".c", ".h")):
                continue
            path = os.path.join(folder, name)
            own = room(os.path.relpath(path, tools))
            with open(path, encoding="utf-8") as text:
                for number, line in enumerate(text, 1):
                    match = re.match(r'\s*#\s*include\s*"([^"]*)"', line)
                    if not match:
                        continue
                    where = "%s:%d: " % (path, number)
                    if not os.path.exists(os.path.join(tools, match[1])):
                        print(where + "%s is not named from %s/" % (match[1], tools))
                    elif not allowed(own):
                        print(where + "%s is a room that this test does not know" % own)
                    elif room(match[1]) not in allowed(own):
                        print(where + "%s/ may not include %s" % (own, match[1]))


main()
