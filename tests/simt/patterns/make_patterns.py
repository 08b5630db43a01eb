"""Writes patterns.cu: one kernel for each row of h200-access-patterns.csv; one for each kind and width of
access, which runs random patterns from a table; and asynchronous copies (cp.async) from and to random
addresses, whose counts on an H200 are in h200-copies.csv, in the same order.

    python3 make_patterns.py > patterns.cu

In every kernel the access that the row describes is the only one of its kind: a kernel for shared
memory reads and writes nothing else there, a kernel for global loads loads nothing else, and a
kernel for global stores stores nothing else. The accesses are inline PTX, so no compiler merges or
moves them. Lanes that a row leaves out are predicated off.

`expected` is an implementation of the rule that is independent of the simulator's: random patterns are
compared with it, and on a GPU with ncu.
"""
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import suite

ROWS = suite.csv_rows(suite.RECORDED / "h200-access-patterns.csv")
LANES = range(32)
RANDOM_PER_KIND = 24
KINDS = [(space, op, size) for space in ("shared", "global") for op in ("load", "store")
         for size in (1, 2, 4, 8, 16)]
ACTIVE = {None: "true", "even lanes active": "t % 2 == 0", "no lane active": "lanes > 32",
          "lanes 0-7 active": "t < 8"}
COPIES, STEP = 150, 16  # patterns of copies; bytes of the largest one
NARROW = 3  # one out of 3 patterns is also copied with .ca: 16 bytes per lane, and half and a quarter of that


def row_kernel(number, row):
    return "row%02d_%s_%s_%s" % (number, row["space"], row["op"], row["bytes_per_lane"])


def split_index(text):
    """'t (even lanes active)' -> ('t', 'even lanes active'); the note may be all there is."""
    match = re.fullmatch(r"(.*?)\s*\(([^()]*active)\)", text)
    return (match[1] or "t", match[2]) if match else (text, None)


def elements(row):
    """The element of each lane of a row, None for idle lanes."""
    index, note = split_index(row["element_index_of_lane_t"])
    if "?" in index:
        index = "(%s) if (%s) else (%s)" % (lambda condition, yes, no: (yes, condition, no))(
            *index.replace("?", ":").split(":"))
    on = ACTIVE[note].replace("true", "True")
    return [eval(index.replace("/", "//"), {"t": t}) if eval(on, {"t": t, "lanes": 32}) else None for t in LANES]


def expected(space, op, size, pattern):
    """Counters of one warp access. pattern[lane]: element index, or None for an idle lane."""
    active = [lane for lane in LANES if pattern[lane] is not None]
    if space == "global":
        sectors = {(pattern[lane] * size + byte) // 32 for lane in active for byte in range(size)}
        return {"requests": 1 if active else 0, "sectors": len(sectors)}

    def paired(distance):
        return all(pattern[lane ^ distance] in (None, pattern[lane]) for lane in active)

    group = {8: 16, 16: 8}.get(size, 32)
    if op == "load" and size > 4 and active and (paired(1) or paired(2)):
        group *= 2
    wavefronts = groups = 0
    for first in range(0, 32, group):
        banks = {}
        for lane in set(range(first, first + group)) & set(active):
            for word in range(max(1, size // 4)):
                address = pattern[lane] * size // 4 + word
                banks.setdefault(address % 32, set()).add(address)
        groups += bool(banks)
        wavefronts += max(map(len, banks.values()), default=0)
    return {"wavefronts": wavefronts, "bank_conflicts": wavefronts - groups}


def problems(row, space, op, counts, idle):
    """Problems with a launch's counters, named as in the CPU device's CSV; counters of other kinds of
    global accesses are not compared."""
    short, other = ("ld", "st") if op == "load" else ("st", "ld")
    want = {f"{space}_{short}_{name.replace('bank_', '')}": int(count) for name, count in counts.items()}
    if space == "shared":
        want[f"shared_{short}_insts"] = int(not idle)
        want.update({f"shared_{other}_{what}": 0 for what in ("insts", "wavefronts", "conflicts")})
    return ["%s: %s, not %d" % (name, row.get(name), count) for name, count in want.items()
            if row.get(name) != str(count)]


def judge(launches):
    """(a case's name, what is wrong) for each measured row and each kind of random patterns;
    `launches`: {kernel: rows of counters}."""
    for number, row in enumerate(ROWS, 1):
        counts = {name: row[name] for name in ("wavefronts", "bank_conflicts", "requests", "sectors") if row[name]}
        found = launches.get(row_kernel(number, row), [])
        kind = row["space"], row["op"]
        wrong = problems(found[0], *kind, counts, not any(e is not None for e in elements(row))) if len(found) == 1 \
            else ["%d launches, not 1" % len(found)]
        yield "measured: %s %s %s bytes, %s" % (*kind, row["bytes_per_lane"], row["element_index_of_lane_t"]), wrong
    drawn = random_patterns()
    for kind in KINDS:
        found = launches.get("any_%s_%s_%d" % kind, [])
        wrong = [] if len(found) == len(drawn[kind]) else ["%d launches, not %d" % (len(found), len(drawn[kind]))]
        for pattern, row in zip(drawn[kind], found):
            idle = all(index is None for index in pattern)
            wrong += ["%s for %s" % (line, pattern) for line in problems(
                row, *kind[:2], expected(*kind, pattern), idle)]
        yield "the rule: %d random patterns, %s %s %d bytes" % (len(drawn[kind]), *kind), wrong[:6]


def draw(random_, size):
    """One pattern of 32 element indices, None for idle lanes: regular, nearly regular or random."""
    limit = 8192 // size
    stride, shift, span = (random_.choice([0, 1, 1, 2, 3, 4, 5, 6, 8, 12, 16, 17, 32, 33, -1, -2, -7, -32]),
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
    mask = random_.choice([~0, ~0, 0x55555555, 0x33333333, 0xff, 0xffff0000, 0x10001,
                           random_.getrandbits(32), random_.getrandbits(32)])
    return [pattern[lane] % limit if mask >> lane & 1 else None for lane in LANES]


def random_patterns():
    """{(space, op, size): [pattern]}, the same in every run."""
    random_ = random.Random(20261121)
    return {kind: [draw(random_, kind[2]) for _ in range(RANDOM_PER_KIND)] for kind in KINDS}


def sources(r):
    """Byte offsets by lane: random, rows with gaps, a stride, a permuted block."""
    span, active, kind = r.choice((16, 32, 64, 128)), r.choice((8, 16, 31, 32)), r.randrange(4)
    if kind == 0:
        return [STEP * r.randrange(span) for _ in LANES], active, kind
    if kind == 1:
        pitch, row = r.choice((64, 80, 128, 144, 160, 256)), r.choice((2, 3, 4, 5, 8))
        at = [lane // row * pitch + lane % row * STEP for lane in LANES]
    elif kind == 2:
        stride = STEP * r.randrange(1, 9)
        at = [stride * lane for lane in LANES]
    else:
        at = [STEP * lane for lane in LANES]
        r.shuffle(at)
    base = STEP * r.randrange(8)
    return [base + offset for offset in at], active, kind


def places(r):
    """The same in shared memory: unchanged, swizzled, permuted, in rows with gaps."""
    kind, order = r.randrange(7), list(LANES)
    if kind == 4:
        r.shuffle(order)
    ways = [order, [t ^ 1 for t in LANES], [t ^ (t >> 3 & 3) for t in LANES], [t ^ (t >> 2 & 7) for t in LANES],
            order, [t * 8 % 256 for t in LANES], [t // 4 * 10 + t % 4 for t in LANES]]
    return [STEP * to for to in ways[kind]]


def copies():
    """[(from, to)], by lane; from is -1 where a lane copies nothing."""
    r, made = random.Random(9), []
    for _ in range(COPIES):
        at, active, kind = sources(r)
        to = places(r)
        some = [r.random() < 0.8 or kind for _ in LANES]
        made.append(([a if lane < active and some[lane] else -1 for lane, a in enumerate(at)], to))
    return made


def access(space, op, size, predicate):
    """A C statement in inline PTX: one access at `address`, of the words v[0..]."""
    words, load = max(1, size // 4), op == "load"
    values = ["%%%d" % (i if load else i + 1) for i in range(words)]
    vector = values[0] if words == 1 else "{" + ", ".join(values) + "}"
    name = "%s.%s%s.u%d" % ("ld" if load else "st", space, "" if words == 1 else ".v%d" % words, min(32, 8 * size))
    place = "[%%%d]" % (words if load else 0)
    body = "%s %s, %s;" % (name, *((vector, place) if load else (place, vector)))
    ins = ['"%s"(address)' % ("r" if space == "shared" else "l")]
    if predicate:
        body = "{ .reg .pred p; setp.ne.u32 p, %%%d, 0; @p %s }" % (words + 1, body)
    registers = ['"%sr"(v[%d])' % ("+" if load else "", i) for i in range(words)]
    outs, ins = (registers, ins) if load else ([], ins + registers)
    ins += ['"r"((unsigned)on)'] if predicate else []
    return 'asm volatile("%s" : %s : %s : "memory");' % (body, ", ".join(outs), ", ".join(ins))


def kernel(name, space, op, size, index, active, parameters):
    """The kernel's text. Loaded words are stored to the other space, so that the loads are not removed."""
    words = max(1, size // 4)
    text = ['extern "C" __global__ void %s(%s) {' % (name, parameters), "unsigned t = threadIdx.x;"]
    if space == "shared" or op == "load":
        text.append("__shared__ __align__(128) unsigned shared[2048];")
    if active != "true":
        text.append("bool on = %s;" % active)
    place = "unsigned address = (unsigned)__cvta_generic_to_shared(shared)" if space == "shared" else \
        "char *address = global"
    text += ["%s + (%s) * %du;" % (place, index, size), "unsigned v[%d] = {%s};" % (words, ", ".join(["t"] * words)),
             access(space, op, size, active != "true")]
    if op == "load":
        text.append("%s = %s;" % ("((unsigned *)global)[t]" if space == "shared" else
                                  "*(volatile unsigned *)&shared[t]", " + ".join("v[%d]" % i for i in range(words))))
    return "\n    ".join(text) + "\n}\n"


HEAD = r"""// Written by make_patterns.py from h200-access-patterns.csv.
#pragma nv_diag_suppress 550  // arrays that only inline PTX touches
#include <stdio.h>

#define IDLE 0xffffffffu
struct Pattern { unsigned element[32]; };  // by lane
struct Copy { int at[32], to[32]; };       // by lane; at < 0: it copies nothing

#define COPY(name, kind, bytes) __global__ void name(const char *in, float *out, Copy p) {      \
        __shared__ __align__(16) char s[400 * 16];                                              \
        int at = 0, to = 0;                                                                     \
        _Pragma("unroll") for (int k = 0; k < 32; k++)                                          \
            if (threadIdx.x == k) at = p.at[k], to = p.to[k];                                   \
        unsigned there = (unsigned)__cvta_generic_to_shared(s + to);                            \
        if (at >= 0) asm volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ";"     \
                                  ::"r"(there), "l"(in + at));                                  \
        asm volatile("cp.async.wait_all;" ::: "memory");                                        \
        __syncthreads();                                                                        \
        out[threadIdx.x] = s[threadIdx.x * 16];                                                 \
    }
COPY(cg16, "cg", 16)
COPY(ca16, "ca", 16)
COPY(ca8, "ca", 8)
COPY(ca4, "ca", 4)

static void halve(Copy *p) {
    for (int k = 0; k < 32; k++) p->at[k] = p->at[k] < 0 ? -1 : p->at[k] / 2, p->to[k] /= 2;
}
"""
MAIN = r"""
static void copy(const char *in, float *out) {
    int k = 0;
    for (Copy p : copies) {
        cg16<<<1, 32>>>(in, out, p);
        if (k++ %% %d) continue;
        ca16<<<1, 32>>>(in, out, p);
        halve(&p), ca8<<<1, 32>>>(in, out, p);
        halve(&p), ca4<<<1, 32>>>(in, out, p);
    }
}

int main(void) {
    char *global;
    if (cudaMalloc((void **)&global, 1 << 20) != cudaSuccess) return 3;
    cudaMemset(global, 0, 1 << 20);
%s
    for (int i = 0; i < %d; i++) {
%s
    }
    copy(global, (float *)global);
    cudaError_t error = cudaDeviceSynchronize();
    puts(error == cudaSuccess ? "ran" : cudaGetErrorString(error));
    return error != cudaSuccess;
}
"""


def program():
    out, drawn, calls = [HEAD], random_patterns(), []
    for number, row in enumerate(ROWS, 1):
        index, note = split_index(row["element_index_of_lane_t"])
        out.append(kernel(row_kernel(number, row), row["space"], row["op"], int(row["bytes_per_lane"]), index,
                          ACTIVE[note], "char *global, unsigned lanes"))
        calls.append("    %s<<<1, 32>>>(global, 32);" % row_kernel(number, row))
    for kind in KINDS:
        out.append(kernel("any_%s_%s_%d" % kind, *kind, "(on ? pattern.element[t] : 0)", "pattern.element[t] != IDLE",
                          "Pattern pattern, char *global"))
    texts = [", ".join("{{%s}}" % ", ".join("IDLE" if index is None else str(index) for index in pattern)
                       for pattern in drawn[kind]) for kind in KINDS]
    out.append("static const Pattern patterns[][%d] = {{%s}};" % (RANDOM_PER_KIND, "},\n{".join(texts)))
    out.append("static const Copy copies[] = {%s};" % ",\n".join(
        "{{%s}, {%s}}" % tuple(", ".join(map(str, part)) for part in pattern) for pattern in copies()))
    anys = ["        any_%s_%s_%d<<<1, 32>>>(patterns[%d][i], global);" % (*kind, number)
            for number, kind in enumerate(KINDS)]
    return "\n".join(out) + MAIN % (NARROW, "\n".join(calls), RANDOM_PER_KIND, "\n".join(anys))


if __name__ == "__main__":
    print(program(), end="")
