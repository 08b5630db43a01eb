"""Random kernels whose races are known: some accesses of every size and pattern to little memory, in blocks,
warps and loops, with barriers between.

    python3 make_hazards.py > hazards.cu

Which lines race, `races` finds from what every thread does to every byte: of two accesses to a byte, by
different threads, one writes, not both are atomic, and neither a __syncthreads() between them nor, within
a warp, a __syncwarp() orders them. In most kernels each thread keeps to places of its own between two
barriers, or lanes of a warp exchange what they have, or all only read; then one thing is changed, or
nothing.

Two kinds of pairs may be told or not. Two writes of the same bytes are no race for simt. And what another
block updated is ordered before what comes behind an own update of the same word, if that came later.
"""
import random

KERNELS = 300
BYTES = 2048  # of shared memory, and of global memory
WARP, ALL, SIZES, SPACES = 32, 0xFFFFFFFF, (1, 2, 4, 8, 16), ("shared", "global")
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}
HEAD = """// Written by make_hazards.py.
#include <cstdio>

// Each access is made as it stands in the kernel: no compiler merges, moves or drops it. `x` keeps what
// was loaded, and `w` is what a thread stores there and then.
"""
TAIL = """
int main() {
    unsigned char *g;
    unsigned *out;
    if (cudaMalloc(&g, %d) || cudaMalloc(&out, 4096)) return 3;
%s
    return cudaGetLastError() || cudaDeviceSynchronize();
}
"""


def macros():
    for space in SPACES:
        address = "l" if space == "global" else "r"
        for size, kind in TYPES.items():
            count = max(size // 4, 1)
            regs = ", ".join("%%%d" % k for k in range(count))
            regs = "{%s}" % regs if count > 1 else regs
            yield '#define LOAD_%s_%d(p) do { unsigned v[4] = {}; asm volatile("ld.%s.%s %s, [%%%d];" : %s : "%s"(p) : "memory"); x += v[0] + v[1] + v[2] + v[3]; } while (0)' % (
                space, size, space, kind, regs, count, ", ".join('"=r"(v[%d])' % k for k in range(count)), address)
            regs = regs.replace("%", "@")
            for k in reversed(range(count)):
                regs = regs.replace("@%d" % k, "%%%d" % (k + 1))
            yield '#define STORE_%s_%d(p) asm volatile("st.%s.%s [%%0], %s;" :: "%s"(p), %s : "memory")' % (
                space, size, space, kind, regs, address, ", ".join('"r"(w + %d)' % k for k in range(count)))
        yield '#define ATOMIC_%s_4(p) do { unsigned v; asm volatile("atom.%s.add.u32 %%0, [%%1], 1;" : "=r"(v) : "%s"(p) : "memory"); x += v; } while (0)' % (
            space, space, address)


class Access:
    """`place` and `condition` are expressions of t, b and r in C; the place in elements of `size` bytes."""

    def __init__(self, kind, space, size, place, condition=""):
        self.kind, self.space, self.size, self.place, self.condition = kind, space, size, place, condition

    def text(self):
        line = "%s_%s_%d(%s + %d * ((%s) %% %d));" % (
            self.kind, self.space, self.size, self.space[0], self.size, self.place, BYTES // self.size)
        if self.kind == "STORE":
            line = "w = word(t, b, r, __LINE__); " + line
        return "if (%s) { %s }" % (self.condition, line) if self.condition else line

    def compiled(self):
        place = compile(self.place.replace("/", "//"), "", "eval")
        condition = compile(self.condition.replace("/", "//").replace("&&", "and") or "True", "", "eval")
        return place, condition

    def value(self, t, b, r, line):
        """What a store writes, byte by byte; see `word` in the program."""
        word = (t * 2654435761 + b * 40503001 + r * 97000033 + line * 7919003) & 0xFFFFFFFF
        word ^= word >> 15
        return b"".join(((word + k) & 0xFFFFFFFF).to_bytes(4, "little") for k in range(4))[:self.size]


class Kernel:
    """A list of accesses, and of "block", "warp", a mask of lanes that meet, ("loop", rounds), "end"."""

    def __init__(self, number):
        self.number, self.random = number, random.Random(7411 * number + 3)
        r = self.random
        self.blocks, self.threads = r.choice((1, 1, 2, 3)), r.choice((32, 32, 64, 64, 96, 128, 40))
        self.whole_warps = self.threads % WARP == 0
        self.parts = []
        for _ in range(r.randrange(2, 5)):
            self.phase()
            self.parts.append("block")
        for _ in range(r.choice((0, 1, 1, 2))):
            self.change()

    # ---- What a kernel does ----

    def own(self, space):
        """A place that is this thread's alone."""
        r = self.random
        place = r.choice(("t", "t", "(t ^ %d)" % r.choice((1, 3, 16, 31)), "(%d - t)" % (self.threads - 1),
                          "(t * %d %% 128)" % r.choice((3, 5, 33))))
        return place + (" + b * 128" if space == "global" else "")

    def any(self, space):
        r = self.random
        return r.choice(("%d" % r.randrange(128), "t / %d" % r.choice((2, 4, 32)), "t + %d" % r.choice((1, 2, 7, 32)),
                         "t * %d" % r.choice((2, 3, 8, 17)), "(t * 40503 + %d) / 64" % r.randrange(64),
                         "t + r")) + (r.choice(("", " + b", " + b * 128")) if space == "global" else "")

    def phase(self):
        r = self.random
        size, kinds = {}, {}
        for space in SPACES:
            size[space], kinds[space] = r.choice(SIZES), r.choice(("own", "own", "exchange", "read", "atomic"))
        own = {space: self.own(space) for space in SPACES}
        while any(self.reach(own[space], size[space]) for space in SPACES):
            own = {space: self.own(space) for space in SPACES}
            size = {space: r.choice(SIZES[:4]) for space in SPACES}
        loop = r.random() < 0.2
        if loop:
            self.parts.append(("loop", r.choice((2, 3))))
        for _ in range(r.randrange(1, 5)):
            space = r.choice(SPACES)
            condition = "" if r.random() < 0.7 else self.condition()
            if kinds[space] == "exchange":
                self.exchange(space, r.choice(SIZES[:4]))
            elif kinds[space] == "own":
                self.parts.append(Access(r.choice(("LOAD", "STORE")), space, size[space], own[space], condition))
            elif kinds[space] == "atomic":
                self.parts.append(Access("ATOMIC", space, 4, self.any(space), condition))
            else:
                self.parts.append(Access("LOAD", space, r.choice(SIZES), self.any(space), condition))
        if loop:
            if r.random() < 0.5:
                self.parts.append(r.choice(("block", "warp")))
            self.parts.append("end")

    def exchange(self, space, size):
        """Lanes read what others of their warp have, meet, and write to their own places."""
        r = self.random
        base = " + b * 128" if space == "global" else ""
        if self.reach(base, size):
            return
        place = r.choice(("(t ^ %d)" % r.choice((1, 2, 16, 31)), "t / 32 * 32", "t / 2 * 2", "t / 32 * 32 + (t + 1) % 32"))
        before = r.choice(("LOAD", "LOAD", "STORE", None))
        if before:
            self.parts.append(Access(before, space, size, "t" + base))
            if before == "STORE" and r.random() < 0.9:
                self.parts.append("warp")
        self.parts.append(Access("LOAD", space, size, place + base, self.condition() if r.random() < 0.2 else ""))
        meet = r.random()
        if meet < 0.7:
            self.parts.append("warp")
        elif meet < 0.85 and self.whole_warps:
            self.parts.append(r.choice((0xFFFF, 0xFFFF0000, 0x55555555, 0xFF)))
        self.parts.append(Access("STORE", space, size, "t" + base, self.condition() if r.random() < 0.5 else ""))

    @staticmethod
    def reach(place, size):
        """Whether blocks would share places: 128 elements each are too many."""
        return "b * 128" in place and size > BYTES // 128 // 3

    def condition(self):
        r = self.random
        return r.choice(("t %% %d == %d" % (r.choice((2, 3, 4)), r.randrange(2)), "t < %d" % r.choice((1, 5, 16, 20, 33)),
                         "t == %d" % r.randrange(self.threads), "t / 32 == %d" % r.randrange(2)))

    def change(self):
        r = self.random
        at = r.randrange(len(self.parts))
        part = self.parts[at]
        if part in ("block", "warp"):
            self.parts[at] = r.choice(("warp", None)) if part == "block" else None
        elif isinstance(part, Access):
            if part.kind == "ATOMIC":
                part.kind = r.choice(("LOAD", "STORE"))
            elif r.random() < 0.3 and part.size == 4:
                part.kind = "ATOMIC"
            elif r.random() < 0.5:
                part.place = self.any(part.space)
            else:
                self.parts.insert(at, Access(r.choice(("LOAD", "STORE")), part.space, r.choice(SIZES), self.any(part.space),
                                             self.condition()))

    # ---- Its text ----

    def lines(self, first):
        """The text, of which the first line has this number; notes which access stands where."""
        out = ["__global__ void __launch_bounds__(128) hazards_%d(unsigned char *given, unsigned *out) {" % self.number,
               "    START"]
        for part in self.parts:
            if isinstance(part, Access):
                part.line = first + len(out)
                out.append("    " + part.text())
            elif part in ("block", "warp"):
                out.append("    __sync%s();" % ("threads" if part == "block" else "warp"))
            elif isinstance(part, int):
                out.append("    if (0x%xu >> t %% 32 & 1) __syncwarp(0x%xu);" % (part, part))
            elif part == "end":
                out.append("    } r = 0;")
            elif part:
                out.append("    for (r = 0; r < %d; r++) {" % part[1])
        return out + ["    out[t + b * 128] = x;", "}", ""]

    # ---- Which lines race ----

    def steps(self):
        """The kernel as it runs: [(access, r)] and barriers, loops written out."""
        out, start = [], None
        for at, part in enumerate(self.parts):
            if isinstance(part, tuple):
                start, rounds = at, part[1]
            elif part == "end":
                body = self.parts[start + 1:at]
                for r in range(rounds):
                    out += [(p, r) if isinstance(p, Access) else p for p in body]
                start = None
            elif start is None and part:
                out.append((part, 0) if isinstance(part, Access) else part)
        return out

    def events(self):
        """{(space, byte): [Event]}, in the order of the steps."""
        of, met, known = {}, 0, [[0] * WARP for _ in range(WARP)]
        for step, part in enumerate(self.steps(), 1):
            if part == "block":
                met += 1
            if part in ("block", "warp") or isinstance(part, int):
                known = meet(known, part if isinstance(part, int) else ALL, step)
            elif part:
                self.touch(of, *part, step, met, known)
        return of

    def touch(self, of, access, r, step, met, known):
        place, condition = access.compiled()
        for b in range(self.blocks):
            for t in range(self.threads):
                names = {"t": t, "b": b, "r": r}
                if not eval(condition, names):
                    continue
                first = eval(place, names) % (BYTES // access.size) * access.size
                written = access.value(t, b, r, access.line) if access.kind == "STORE" else [None] * 16
                for k in range(access.size):
                    key = access.space, b if access.space == "shared" else 0, first + k
                    of.setdefault(key, []).append(Event(access, b, t, step, met, known, written[k]))

    def races(self):
        """(pairs of lines that race, pairs that may be told or not)"""
        found, maybe = set(), set()
        for events in self.events().values():
            if {event.access.kind for event in events} in ({"LOAD"}, {"ATOMIC"}):
                continue
            for i, one in enumerate(events):
                for other in events[i + 1:]:
                    if one.races(other):
                        lines = tuple(sorted((one.access.line, other.access.line)))
                        same = one.written is not None and one.written == other.written
                        (maybe if same or one.observed(other, events) else found).add(lines)
        return found, maybe - found


def meet(known, mask, step):
    """What each lane knows of the others' steps once the lanes of a mask have met in this step."""
    lanes = [lane for lane in range(WARP) if mask >> lane & 1]
    joined = [max(known[lane][other] for lane in lanes) for other in range(WARP)]
    for lane in lanes:
        joined[lane] = step
    return [joined if mask >> lane & 1 else known[lane] for lane in range(WARP)]


class Event:
    """What a thread does to a byte in a step, and what it knows of its warp's lanes then."""

    def __init__(self, access, b, t, step, met, known, written):
        self.access, self.b, self.t, self.step = access, b, t, step
        self.met, self.known, self.written = met, known, written

    def before(self, other):
        """Whether this one, which is of no later step, is ordered before the other."""
        if self.b != other.b:
            return False
        if self.t == other.t or self.met < other.met:
            return True
        return self.t // WARP == other.t // WARP and other.known[other.t % WARP][self.t % WARP] > self.step

    def races(self, other):
        kinds = self.access.kind, other.access.kind
        if kinds in (("LOAD", "LOAD"), ("ATOMIC", "ATOMIC")) or (self.b, self.t) == (other.b, other.t):
            return False
        return not self.before(other)

    def observed(self, other, events):
        """Whether one of the two is an update, and the other's block has updated the byte before."""
        def behind(update, access):
            return update.access.kind == "ATOMIC" and any(
                own.access.kind == "ATOMIC" and own.b == access.b and own.step < access.step and own.before(access)
                for own in events)
        return self.b != other.b and (behind(self, other) or behind(other, self))


def program():
    """(text, kernels)"""
    lines = (HEAD + "\n".join(macros())).split("\n") + [
        "", "__device__ unsigned word(unsigned t, unsigned b, unsigned r, unsigned line) {",
        "    const unsigned word = t * 2654435761u + b * 40503001u + r * 97000033u + line * 7919003u;",
        "    return word ^ word >> 15;", "}", "",
        "#define START __shared__ __align__(16) unsigned char memory[%d]; \\" % BYTES,
        "    const unsigned t = threadIdx.x, b = blockIdx.x, s = (unsigned)__cvta_generic_to_shared(memory); \\",
        "    const size_t g = __cvta_generic_to_global(given); unsigned x = 0, r = 0, w = 0; \\",
        "    for (unsigned i = t; i < %d; i += blockDim.x) ((unsigned *)memory)[i] = i; \\" % (BYTES // 4),
        "    __syncthreads();", ""]
    kernels = [Kernel(number) for number in range(KERNELS)]
    calls = []
    for kernel in kernels:
        lines += kernel.lines(len(lines) + 1)
        calls.append("    cudaMemset(g, 1, %d), hazards_%d<<<%d, %d>>>(g, out);" % (
            BYTES, kernel.number, kernel.blocks, kernel.threads))
    return "\n".join(lines) + TAIL % (BYTES, "\n".join(calls)), kernels


if __name__ == "__main__":
    print(program()[0], end="")
