"""Writes patterns.cu: one kernel for each row of h200-access-patterns.csv, and one for each kind and
width of access that runs any pattern from a table, for patterns drawn at random.

    python3 make_patterns.py > patterns.cu

In every kernel the access that the row describes is the only one of its kind: a kernel for shared
memory reads and writes nothing else there, a kernel for global loads loads nothing else, and a
kernel for global stores stores nothing else. The accesses are inline PTX, so no compiler merges or
moves them. Lanes that a row leaves out are predicated off.

The rule itself (`expected`) is written here a second time, from DESIGN section 6 and in no way from
the simulator's code: the random patterns are checked against it, and on a GPU against ncu.
"""
import csv
import os
import random
import re

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "h200-access-patterns.csv")
LANES = range(32)
RANDOM_PER_KIND = 24
KINDS = [(space, op, size) for space in ("shared", "global") for op in ("load", "store")
         for size in (1, 2, 4, 8, 16)]
ACTIVE = {"even lanes active": "t % 2 == 0", "no lane active": "lanes > 32",
          "lanes 0-7 active": "t < 8"}


def rows():
    with open(TABLE, newline="") as text:
        return list(csv.DictReader(text))


def row_kernel(number, row):
    return "row%02d_%s_%s_%s" % (number, row["space"], row["op"], row["bytes_per_lane"])


def split_index(text):
    """'t (even lanes active)' -> ('t', 'even lanes active'); the note may be all there is."""
    match = re.fullmatch(r"(.*?)\s*\(([^()]*active)\)", text)
    return (match[1] or "t", match[2]) if match else (text, None)


def expected(space, op, size, elements):
    """Counters of one warp access. elements[lane]: element index, or None for an idle lane."""
    active = [lane for lane in LANES if elements[lane] is not None]
    if space == "global":
        sectors = {(elements[lane] * size + byte) // 32 for lane in active for byte in range(size)}
        return {"requests": 1 if active else 0, "sectors": len(sectors)}

    def paired(distance):
        return all(elements[lane ^ distance] in (None, elements[lane]) for lane in active)

    group = {8: 16, 16: 8}.get(size, 32)
    if op == "load" and size > 4 and active:
        if paired(1) or paired(2):
            group *= 2
    wavefronts = groups = 0
    for first in range(0, 32, group):
        banks = {}
        for lane in range(first, first + group):
            if elements[lane] is None:
                continue
            for word in range(max(1, size // 4)):
                address = elements[lane] * size // 4 + word
                banks.setdefault(address % 32, set()).add(address)
        if banks:
            groups += 1
            wavefronts += max(len(words) for words in banks.values())
    return {"wavefronts": wavefronts, "bank_conflicts": wavefronts - groups}


def draw(random_, size):
    """One pattern of 32 element indices, None for idle lanes: regular, broken or wild."""
    limit = 8192 // size
    stride, shift, span = (random_.choice([0, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 32, 33, -1, -2,
                                            -7, -32]),
                           random_.randrange(64), random_.choice([1, 2, 4, 8, 32, 64]))
    shape = random_.randrange(6)
    if shape == 0:
        pattern = [lane * stride + shift for lane in LANES]
    elif shape == 1:
        pattern = [lane // span + shift for lane in LANES]
    elif shape == 2:
        pattern = [random_.randrange(span) for lane in LANES]
    elif shape == 3:
        pattern = random_.sample(range(64), 32)
    elif shape == 4:  # pairs of neighbours at one address: the case in which wide loads merge
        step = random_.choice([1, 2])
        pattern = [(lane & ~step) * stride + shift for lane in LANES]
    else:
        pattern = [random_.randrange(limit) for lane in LANES]
    pattern = [index % limit for index in pattern]
    mask = random_.choice([~0, ~0, 0x55555555, 0x33333333, 0xff, 0xffff0000, 0x10001,
                           random_.getrandbits(32), random_.getrandbits(32)])
    return [pattern[lane] if mask >> lane & 1 else None for lane in LANES]


def random_patterns():
    """[(space, op, size, pattern)], the same list in every run."""
    random_ = random.Random(20261121)
    return [(*kind, draw(random_, kind[2])) for kind in KINDS for _ in range(RANDOM_PER_KIND)]


def access(space, op, size, predicate):
    """A C statement in inline PTX: one access at `address`, of the words v[0..]."""
    words = max(1, size // 4)
    values = ["%%%d" % (i if op == "load" else i + 1) for i in range(words)]
    vector = values[0] if words == 1 else "{" + ", ".join(values) + "}"
    name = "%s.%s%s.u%d" % ("ld" if op == "load" else "st", space,
                            "" if words == 1 else ".v%d" % words, min(32, 8 * size))
    kind = '"r"' if space == "shared" else '"l"'
    place = "%%%d" % (words if op == "load" else 0)
    body = "%s %s;" % (name, vector + ", [" + place + "]" if op == "load"
                       else "[" + place + "], " + vector)
    if predicate:
        body = "{ .reg .pred p; setp.ne.u32 p, %%%d, 0; @p %s }" % (words + 1, body)
    registers = ['"%sr"(v[%d])' % ("+" if op == "load" else "", i) for i in range(words)]
    ins = ["%s(address)" % kind] + (['"r"((unsigned)on)'] if predicate else [])
    if op == "load":
        return 'asm volatile("%s" : %s : %s : "memory");' % (body, ", ".join(registers),
                                                            ", ".join(ins))
    return 'asm volatile("%s" : : %s : "memory");' % (
        body, ", ".join([ins[0]] + registers + ins[1:]))


def kernel(name, space, op, size, index, active, parameters):
    """The kernel's text. Loaded words leave through the other space, so they are needed."""
    words = max(1, size // 4)
    text = ["extern \"C\" __global__ void %s(%s) {" % (name, parameters),
            "    unsigned t = threadIdx.x;"]
    if space == "shared" or op == "load":
        text.append("    __shared__ __align__(128) unsigned shared[2048];")
    if parameters.startswith("Pattern"):
        text.append("    unsigned element = pattern.element[t];")
        text.append("    bool on = element != IDLE;")
        index = "(on ? element : 0)"
    elif active:
        text.append("    bool on = %s;" % active)
    if space == "shared":
        text.append("    unsigned address = (unsigned)__cvta_generic_to_shared(shared) + "
                    "(%s) * %du;" % (index, size))
    else:
        text.append("    char *address = global + (%s) * %du;" % (index, size))
    text.append("    unsigned v[%d] = {%s};" % (words, ", ".join(["t"] * words)))
    text.append("    " + access(space, op, size, bool(active)))
    if op == "load":
        total = " + ".join("v[%d]" % i for i in range(words))
        if space == "shared":
            text.append("    ((unsigned *)global)[t] = %s;" % total)
        else:
            text.append("    *(volatile unsigned *)&shared[t] = %s;" % total)
    text.append("}")
    return "\n".join(text) + "\n"


def program():
    out = ["// Written by make_patterns.py from h200-access-patterns.csv.",
           "#pragma nv_diag_suppress 550  // arrays that only inline PTX touches",
           "#include <stdio.h>", "#include <stdlib.h>", "#include <cuda_runtime.h>", "",
           "#define IDLE 0xffffffffu",
           "struct Pattern { unsigned element[32]; };  // by lane", ""]
    table = rows()
    for number, row in enumerate(table, 1):
        index, note = split_index(row["element_index_of_lane_t"])
        out.append("// %s" % ",".join(row.values()))
        out.append(kernel(row_kernel(number, row), row["space"], row["op"],
                          int(row["bytes_per_lane"]), index, ACTIVE[note] if note else None,
                          "char *global, unsigned lanes"))
    for space, op, size in KINDS:
        out.append(kernel("any_%s_%s_%d" % (space, op, size), space, op, size, None, "table",
                          "Pattern pattern, char *global"))
    out.append("static const Pattern patterns[%d][%d] = {" % (len(KINDS), RANDOM_PER_KIND))
    drawn = random_patterns()
    for kind in KINDS:
        out.append("    {")
        for space, op, size, pattern in drawn:
            if (space, op, size) == kind:
                out.append("        {{%s}}," % ", ".join(
                    "IDLE" if index is None else str(index) for index in pattern))
        out.append("    },")
    out.append("};\n")
    out.append("int main(void) {")
    out.append("    char *global;")
    out.append("    if (cudaMalloc((void **)&global, 65536) != cudaSuccess) return 3;")
    out.append("    cudaMemset(global, 0, 65536);")
    for number, row in enumerate(table, 1):
        out.append("    %s<<<1, 32>>>(global, 32);" % row_kernel(number, row))
    out.append("    for (int i = 0; i < %d; i++) {" % RANDOM_PER_KIND)
    for number, kind in enumerate(KINDS):
        out.append("        any_%s_%s_%d<<<1, 32>>>(patterns[%d][i], global);" % (*kind, number))
    out.append("    }")
    out.append("    cudaError_t error = cudaDeviceSynchronize();")
    out.append('    puts(error == cudaSuccess ? "ran" : cudaGetErrorString(error));')
    out.append("    return error != cudaSuccess;")
    out.append("}")
    return "\n".join(out)


if __name__ == "__main__":
    print(program())
