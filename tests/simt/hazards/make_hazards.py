"""Random kernels whose races are known: accesses of every size and pattern to little memory, by blocks and warps,
in loops, with barriers between them.

    python3 make_hazards.py > hazards.cu
    python3 make_hazards.py wide > hazards.cu
    python3 make_hazards.py partial > hazards.cu
    python3 make_hazards.py bytes > hazards.cu

`races` finds the lines that race from the accesses of every thread to every byte: two accesses to a byte race if
different threads make them, one of them writes, not both are strong, and nothing orders them: no barrier of the
block or of some lanes, and no flag. In most kernels each thread uses only its own places between two barriers, or
lanes of a warp exchange values, or all threads only read; then one statement is changed, or none. In the last ones
threads of any two blocks or warps synchronise through flags, correctly, without a fence, or with too narrow a scope.

The wide ones access more global memory, as most kernels do: some places are only read, others are written
once, by rows, columns, tiles, misaligned or at random, and some are read so often that the checker does not record
each read; then one more access may race. In the next ones a few accesses are to the same words. In the last ones
a few lanes repeat the same accesses, among whole warps, and some store the values that others store.

In the partial ones some threads are ordered and others are not: some of the warps wait at a barrier of their own, or
some lanes of a warp, or two threads use a flag. After three threads made the same access to a word, a later access may
race with any single one of them. In the last ones lanes of a warp call a fence together, and one of them sets a flag:
alone, or because only its swap or store to the flag, out of those of all lanes, has an effect.

In those of bytes, lanes and warps read a few bytes or 16-bit words of shared memory, most of them the same ones, and
one more access follows: a store by one of the readers or by another thread, or a read of what a thread stored.

Three kinds of pairs may be reported or not. Two writes of the same value are no race for simt, even if one of the
threads wrote another value before: simt compares only the last write. Updates by other threads are ordered before
everything that follows a later update of the same word, if a thread uses that update's value.
And simt is more permissive than the memory model where appendix B says so; `races` then accepts both.
"""
import functools
import random
import sys

KERNELS, MESSAGES = 300, 200  # of both kinds
WIDE, OFTEN, MEETING, AGAIN = 150, 60, 300, 200  # of the wide ones, of each kind
PARTIAL, LANES, PARTS = 600, 300, 600
BYTES = 2048  # of shared memory, and of global memory
ROOM_AT, ROOM = 2176, 32768  # more global memory, after the flags
WARP, ALL, SIZES, SPACES = 32, 0xFFFFFFFF, (1, 2, 4, 8, 16), ("shared", "global")
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}
HEAD = """// Written by make_hazards.py.
#include <cstdio>

// Each access is made as the kernel has it: no compiler merges, moves or drops it. `x` keeps what
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


@functools.lru_cache(maxsize=None)
def function_of(expression):
    """Turns a C expression of t, b and r into a function."""
    return eval("lambda t, b, r: " + expression.replace("/", "//").replace("&&", "and"))


class Access:
    """`place` and `condition` are expressions of t, b and r in C; the place in elements of `size` bytes."""

    room = 0, BYTES
    looks = True  # whether the old value of an atomic operation is used
    unit = property(lambda self: self.size)  # the number of bytes that are accessed together

    def __init__(self, kind, space, size, place, condition="", often=1):
        self.kind, self.space, self.size, self.place, self.condition = kind, space, size, place, condition
        self.often = often

    def text(self):
        at = self.space[0] + (" + %d" % self.room[0] if self.room[0] else "")
        line = "%s_%s_%d(%s + %d * ((%s) %% %d));" % (
            self.kind, self.space, self.size, at, self.size, self.place, self.room[1] // self.size)
        if self.often > 1:
            line = "for (unsigned k = 0; k < %d; k++) %s" % (self.often, line)
        if self.kind == "STORE":
            line = "w = word(t, b, r, __LINE__); " + line
        return "if (%s) { %s }" % (self.condition, line) if self.condition else line

    def compiled(self):
        """Functions of t, b and r: the place, and whether that thread makes the access."""
        return function_of(self.place), function_of(self.condition or "True")

    def value(self, t, b, r, line):
        """The bytes that a store writes; see `word` in the program."""
        word = (t * 2654435761 + b * 40503001 + r * 97000033 + line * 7919003) & 0xFFFFFFFF
        word ^= word >> 15
        return b"".join(((word + k) & 0xFFFFFFFF).to_bytes(4, "little") for k in range(4))[:self.size]


class Same(Access):
    """A store of the value that others store there too."""

    def text(self):
        return super().text().replace("word(t, b, r, __LINE__)", "7")

    def value(self, t, b, r, line):
        return b"".join((7 + k).to_bytes(4, "little") for k in range(4))[:self.size]


class Alike(Access):
    """A store of the value that some others store there too."""

    def text(self):
        return super().text().replace("word(t, b, r, __LINE__)", "7 + t % 3 % 2")

    def value(self, t, b, r, line):
        return b"".join((7 + t % 3 % 2 + k).to_bytes(4, "little") for k in range(4))[:self.size]


class Update(Access):
    """An atomic operation whose old value is not used."""

    looks = False

    @staticmethod
    def macros():
        for space, address in ("shared", "r"), ("global", "l"):
            yield '#define RED_%s_4(p) asm volatile("red.%s.add.u32 [%%0], 1;" :: "%s"(p) : "memory")' % (space, space, address)

    def text(self):
        return super().text().replace("ATOMIC_", "RED_")


class Named:
    """A barrier of some warps of a block, given as bits, as are the warps that only arrive and do not wait. Each
    barrier has another number."""

    def __init__(self, number, warps, arriving=0):
        self.number, self.warps, self.arriving = number, warps, arriving

    def text(self):
        threads = WARP * bin(self.warps).count("1")
        return " else ".join('if (0x%xu >> t / 32 & 1) asm volatile("bar.%s %d, %d;" ::: "memory");' % (
            warps, how, self.number, threads) for warps, how in ((self.arriving, "arrive"), (self.warps & ~self.arriving, "sync")) if warps)

    def waiting(self, group):
        return [me for me in group if not self.arriving >> me // WARP & 1]


class Message:
    """Thread t of block b sets a flag, or waits until it is set. `how`: its memory order, or the fence before or after it."""

    def __init__(self, kind, how, flag, b, t):
        self.kind, self.how, self.flag, self.b, self.t = kind, how, flag, b, t
        self.line = 0

    def text(self):
        return "if (b == %d && t == %d) %s_%s(f + %d);" % (self.b, self.t, self.kind, self.how, 4 * self.flag)

    fences = property(lambda self: self.how.startswith("fence"))
    orders = property(lambda self: self.how.startswith(("release", "acquire")))  # without a fence
    far = property(lambda self: not self.how.endswith("_cta"))  # at device scope
    FENCES = {"fence": "__threadfence()", "fence_cta": "__threadfence_block()"}
    # With a fence, which has its own scope, the flag itself is written and read at device scope.
    seen_far = property(lambda self: self.far or self.fences)

    @staticmethod
    def macros():
        for how in ("release", "release_cta", "fence", "fence_cta", "relaxed"):
            fence = Message.FENCES.get(how, "0")
            order = {"release": "release.gpu", "release_cta": "release.cta"}.get(how, "relaxed.gpu")
            yield '#define POST_%s(p) do { %s; asm volatile("st.%s.global.u32 [%%0], 1;" :: "l"(p) : "memory"); } while (0)' % (
                how, fence, order)
        for how in ("acquire", "acquire_cta", "fence", "fence_cta", "relaxed"):
            fence = Message.FENCES.get(how, "0")
            order = {"acquire": "acquire.gpu", "acquire_cta": "acquire.cta"}.get(how, "relaxed.gpu")
            yield '#define AWAIT_%s(p) do { unsigned v; do asm volatile("ld.%s.global.u32 %%0, [%%1];" : "=r"(v) : "l"(p) : "memory"); while (!v); %s; } while (0)' % (
                how, order, fence)


class Post(Message):
    """A flag set by relaxed operations of all lanes of a warp; only that of thread t changes the flag, or is the last."""

    def __init__(self, way, flag, b, t):
        first = t // WARP * WARP
        super().__init__("POST", "relaxed", flag, b, {"alone": t, "swap": t, "first": first, "last": first + WARP - 1}[way])
        self.way = way

    @staticmethod
    def macros():
        yield '#define SWAP(p, old) asm volatile("{ .reg .u32 v; atom.relaxed.gpu.global.cas.b32 v, [%0], %1, 1; }" :: "l"(p), "r"(old) : "memory")'

    def text(self):
        if self.way == "alone":
            return super().text()
        at = "f + %d" % (4 * self.flag)
        how = {"swap": "SWAP(%s, t == %d ? 0 : 77)" % (at, self.t), "first": "SWAP(%s, 0)" % at, "last": "POST_relaxed(%s)" % at}
        return "if (b == %d && t / 32 == %d) %s;" % (self.b, self.t // WARP, how[self.way])


class Fences:
    """Threads of a block each call a fence."""

    def __init__(self, how, b, threads):
        self.how, self.b, self.threads = how, b, threads

    def text(self):
        return "if (b == %d && (%s)) %s;" % (self.b, " || ".join("t == %d" % t for t in self.threads) if len(self.threads) < WARP else
                                             "t / 32 == %d" % (self.threads[0] // WARP), Message.FENCES[self.how])

    def messages(self):
        return [Message("POST", self.how, 0, self.b, t) for t in self.threads]


class Letter:
    """A release: the steps known to a thread of block b when it called a fence or released, at block or device scope."""

    def __init__(self, b, far, me, step, knew):
        self.b, self.far, self.me, self.step, self.knew = b, far, me, step, knew

    def near(self):
        return Letter(self.b, False, self.me, self.step, self.knew)


class Kernel:
    """A list of accesses, and of "block", "warp", a mask of lanes that synchronise, ("loop", rounds), "end"."""

    def __init__(self, number):
        self.number, self.random = number, random.Random(7411 * number + 3)
        r = self.random
        self.blocks, self.threads = r.choice((1, 1, 2, 3)), r.choice((32, 32, 64, 64, 96, 128, 40))
        self.whole_warps = self.threads % WARP == 0
        self.parts = []
        self.make()

    def make(self):
        r = self.random
        for _ in range(r.randrange(2, 5)):
            self.phase()
            self.parts.append("block")
        for _ in range(r.choice((0, 1, 1, 2))):
            self.change()

    # ---- Making a kernel ----

    def own(self, space):
        """A place that only this thread uses."""
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
        """Lanes read the places of other lanes of their warp, synchronise, and write to their own."""
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
        """The text, whose first line has this number; records the line of each access."""
        out = ["__global__ void __launch_bounds__(128) hazards_%d(unsigned char *given, unsigned *out) {" % self.number,
               "    START"]
        for part in self.parts:
            if isinstance(part, (Named, Fences)):
                out.append("    " + part.text())
            elif isinstance(part, (Access, Message)):
                part.line = first + len(out)
                out.append("    " + part.text())
            elif part in ("block", "warp"):
                out.append("    __sync%s();" % ("threads" if part == "block" else "warp"))
            elif isinstance(part, int):
                out.append("    if (0x%xu >> t %% 32 & 1) __syncwarp(0x%xu);" % (part, part))
            elif part == "end":
                out.append("    } r = 0;")
            elif part:
                out.append("    %sfor (r = 0; r < %d; r++) {" % (self.unroll, part[1]))
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
                    out += [(p, r) if isinstance(p, Access) else p for p in body if p]
                start = None
            elif start is None and part:
                out.append((part, 0) if isinstance(part, Access) else part)
        return out

    def units(self):
        """The largest number of bytes that every access uses together, so that they need not be examined singly."""
        return min([part.unit for part in self.parts if isinstance(part, Access)], default=4)

    generous, unroll = False, ""

    def events(self):
        """{(space, block or 0, first byte of a unit): [Event]}, in the order of the steps."""
        of, posted = {}, {}
        self.unit = self.units()
        known = [[0] * self.blocks * self.threads] * self.blocks * self.threads
        self.ready, self.pending, self.fenced = {}, {}, {}
        for step, part in enumerate(self.steps(), 1):
            if part in ("block", "warp") or isinstance(part, (int, Named)):
                for group in self.groups(part):
                    waiting = part.waiting(group) if isinstance(part, Named) else group
                    meet(known, group, step, waiting)
                    if self.generous:
                        meet_behind_fences(self.ready, group, waiting)
                        meet_behind_fences(self.pending, group, waiting)
            elif isinstance(part, Message):
                self.pass_on(part, of, posted, step, known)
            elif isinstance(part, Fences):
                for message in part.messages():
                    me = message.b * self.threads + message.t
                    self.call_fence(message, Letter(message.b, message.far, me, step, known[me]), known)
            else:
                self.touch(of, *part, step, known)
        return of

    def groups(self, part):
        """The groups of threads that synchronise, by their numbers in the grid."""
        for b in range(self.blocks):
            if part == "block":
                yield [b * self.threads + t for t in range(self.threads)]
                continue
            if isinstance(part, Named):
                yield [b * self.threads + t for t in range(self.threads) if part.warps >> t // WARP & 1]
                continue
            for warp in range(0, self.threads, WARP):
                yield [b * self.threads + t for t in range(warp, min(warp + WARP, self.threads))
                       if part == "warp" or part >> t % WARP & 1]

    def pass_on(self, message, of, posted, step, known):
        """A flag carries the releases of the thread that sets it, by the store itself or by an earlier fence. The
        reader acquires them with the load itself, or with its next fence."""
        me = message.b * self.threads + message.t
        own = Letter(message.b, message.far, me, step, known[me])
        if message.kind == "POST":
            if message.fences:
                self.call_fence(message, own, known)
            letters = [letter if self.fenced.get(me) else letter.near() for letter in self.ready.get(me, ())
                       if me in self.fenced]
            letters += [own] if message.orders else []
            posted[message.flag] = [letter if message.seen_far else letter.near() for letter in letters]
        else:
            letters = [letter for letter in posted.get(message.flag, ()) if message.seen_far or letter.b == message.b]
            if message.orders:
                self.take(message, letters, known)
            else:
                self.pending[me] = [*self.pending.get(me, ()), *letters]
            if message.fences:
                self.call_fence(message, own, known)
        of.setdefault(("flag", 0, message.flag), []).append(
            Event(message, message.b, message.t, me, step, known[me], None))

    def call_fence(self, message, own, known):
        self.take(message, self.pending.get(own.me, ()), known)
        own.knew = known[own.me]
        self.ready[own.me] = [*self.ready.get(own.me, ()), own]
        self.fenced[own.me] = self.fenced.get(own.me, False) or message.far

    def take(self, message, letters, known):
        me = message.b * self.threads + message.t
        for letter in letters:
            if letter.b == message.b or letter.far and message.far:
                known[me] = [max(pair) for pair in zip(known[me], letter.knew)]
                known[me][letter.me] = max(known[me][letter.me], letter.step)

    def touch(self, of, access, r, step, known):
        place, condition = access.compiled()
        for b in range(self.blocks):
            for t in range(self.threads):
                me = b * self.threads + t
                if not condition(t, b, r):
                    continue
                first = place(t, b, r) % (access.room[1] // access.size) * access.size + access.room[0]
                written = access.value(t, b, r, access.line) if access.kind == "STORE" else None
                for k in range(0, access.size, self.unit):
                    key = access.space, b if access.space == "shared" else 0, first + k
                    of.setdefault(key, []).append(Event(access, b, t, me, step, known[me],
                                                        written and written[k:k + self.unit]))

    def races(self):
        """(pairs of lines that race, pairs that may be reported or not)"""
        found, maybe = self.racing()
        if self.is_judged_generously():
            self.generous = True
            kept, _ = self.racing()
            self.generous = False
            found, maybe = found & kept, maybe | found
        return found, maybe - found

    def is_judged_generously(self):
        return any(isinstance(part, Fences) or isinstance(part, Message) and part.fences for part in self.parts)

    def racing(self):
        found, maybe = set(), set()
        for events in self.events().values():
            if {event.access.kind for event in events} in ({"LOAD"}, {"ATOMIC"}):
                continue
            stored = {(event.me, event.written): event.step for event in events if event.access.kind == "STORE"}
            for i, one in enumerate(events):
                for other in events[i + 1:]:
                    if not one.races(other):
                        continue
                    lines = tuple(sorted((one.access.line, other.access.line)))
                    if lines not in found:
                        same = one.stores_as(other, stored) or other.stores_as(one, stored)
                        (maybe if same or one.observed(other, events) else found).add(lines)
        return found, maybe


class Messages(Kernel):
    """Threads make accesses, one of them sets a flag, another waits for it, and threads make further accesses."""

    def make(self):
        r = self.random
        self.blocks, self.threads = r.choice((1, 2, 2, 3)), r.choice((32, 64, 96))
        for flag in range(r.randrange(1, 4)):
            b, other = r.randrange(self.blocks), r.randrange(self.blocks)
            t, waiting = r.randrange(self.threads), r.randrange(self.threads)
            if (b, t) == (other, waiting):
                continue
            hows = ["release", "fence"] * 4 + ["release_cta", "fence_cta", "relaxed"]
            size = r.choice(SIZES[:4])
            self.use(b, t, b, size)
            self.maybe("block", 0.8)
            self.parts.append(Message("POST", r.choice(hows), flag, b, t))
            if r.random() < 0.2:
                self.use(b, t, b, size)
            how = r.choice(hows).replace("release", "acquire")
            self.parts.append(Message("AWAIT", how, flag, other, waiting))
            self.maybe("block", 0.8)
            self.use(other, waiting, b, size)
            self.maybe("block", 0.5)
        self.parts.append("block")

    def maybe(self, part, likely):
        if self.random.random() < likely:
            self.parts.append(part)

    def use(self, b, t, of, size):
        """Accesses of threads of block b, or of one of them, to the places of block `of`."""
        r = self.random
        who = "b == %d" % b if r.random() < 0.6 else "b == %d && t == %d" % (b, t)
        place = r.choice(("t", "t", "%d" % t, "t / 32", "(t ^ 1)")) + " + %d" % (128 * of)
        self.parts.append(Access(r.choice(("LOAD", "STORE", "STORE")), "global", size, place, who))


class WideAccess(Access):
    room = ROOM_AT, ROOM


class SameWide(WideAccess, Same):
    pass


class AlikeWide(WideAccess, Alike):
    pass


class Wide(Kernel):
    """Some places are only read and others are written once, as kernels traverse arrays."""

    AREA = ROOM // 4  # bytes of each array

    def make(self):
        r = self.random
        self.blocks, self.threads = r.choice((1, 2, 2, 3)), r.choice((32, 64, 64, 96, 40))
        self.whole_warps = self.threads % WARP == 0
        for area in range(r.randrange(1, 4)):
            kind = r.choice(("LOAD", "STORE"))
            for _ in range(r.randrange(1, 4) if kind == "LOAD" else 1):
                self.pass_over(area, kind)
            if r.random() < 0.3:
                self.parts.append(r.choice(("block", "warp")))
        for _ in range(r.choice((0, 1, 1, 2))):
            self.disturb()

    def pass_over(self, area, kind, condition=""):
        """All threads traverse an area; each writes only its own places."""
        r = self.random
        size, rounds = r.choice((4, 4, 4, 8, 16)), r.choice((2, 3, 5))
        thread, threads = "(t + b * %d)" % self.threads, self.threads * self.blocks
        places = ["%s * %d + r" % (thread, rounds), "r * %d + %s" % (threads + r.choice((0, 1, 8)), thread),
                  "t %% 16 + t / 16 * 20 + b * 140 + r * %d" % (140 * self.blocks),
                  "t %% 8 * %d + t / 8 + b * 16 + r * %d" % (16 * self.blocks, 128 * self.blocks)]
        if kind == "LOAD":
            places += ["(t * 40503 + r * 9973) / 64", "t / %d + r" % r.choice((4, 16, 32)), "t ^ %d" % r.choice((1, 8, 31)),
                       "%d + r" % r.randrange(64)]
        else:
            size = 4 if threads * rounds * 16 > self.AREA else size
        place = "(%s + %d) %% %d + %d" % (r.choice(places), r.choice((0, 0, 1, 5, 32)), self.AREA // size,
                                          area * self.AREA // size)
        self.parts += [("loop", rounds), WideAccess(kind, "global", size, place, condition), "end"]

    def disturb(self):
        """One more access: by few threads, or by all of them."""
        r = self.random
        area, kind, condition = r.randrange(4), r.choice(("LOAD", "STORE")), r.choice(("", self.condition()))
        if r.random() < 0.3:
            self.parts.append("block")
        if r.random() < 0.5:
            self.pass_over(area, kind, condition)
            return
        size = r.choice(SIZES)
        place = r.choice(("t", "t + %d" % r.randrange(200), "t * %d" % r.choice((2, 5, 33)), "%d" % r.randrange(200)))
        self.parts.append(WideAccess(kind, "global", size, "%s + %d" % (place, area * self.AREA // size), condition))


class Often(Wide):
    """Places that are read very often before they are written, or not written."""

    def make(self):
        r = self.random
        self.blocks, self.threads = r.choice((1, 2, 3)), 128
        for _ in range(r.randrange(1, 4)):
            self.read_often(r.choice((0, 0, 1)))
            if r.random() < 0.3:
                self.parts.append(r.choice(("block", "warp")))
        for _ in range(r.choice((0, 1, 1, 2))):
            self.disturb()
        if r.random() < 0.3:
            self.read_often(0)

    def read_often(self, area):
        r = self.random
        size = r.choice((4, 4, 8, 16))
        place = r.choice(("t", "t + b * 128", "t ^ 1", "t / 32", "t % 16 + t / 16 * 24", "t * 3", "%d" % r.randrange(128),
                          "(t * 40503) / 64", "b * 32 + t % 32", "t / 2"))
        place = "(%s + %d) %% %d + %d" % (place, r.choice((0, 0, 1, 5)), self.AREA // size, area * self.AREA // size)
        condition = self.condition() if r.random() < 0.4 else ""
        # So often that each is some thousand accesses of warps, some of which fill the checker's list.
        self.parts.append(WideAccess("LOAD", "global", size, place, condition, r.choice((1, 700, 1500, 4000))))


class Meeting(Wide):
    """Two to four accesses to the same few words, by all threads, a warp, a block or a thread. Between them
    others may be repeated so often that the checker does not record each of them."""

    def make(self):
        r = self.random
        self.blocks, self.threads = r.choice((1, 2, 2, 2, 3)), 64
        self.at = 32 * r.randrange(8) + r.choice((0, 0, 0, 5))
        whole, by = r.choice(("t % 32", "t")), r.choice((["LOAD", "STORE"], ["STORE", "LOAD"], ["LOAD", "LOAD", "STORE"],
                                                        ["LOAD", "LOAD", "STORE"], ["STORE", "STORE"], ["LOAD", "STORE", "LOAD"],
                                                        ["LOAD", "LOAD", "LOAD", "STORE"]))
        for kind in by:
            if self.parts and r.random() < 0.5:
                self.parts.append(r.choice(("block", "block", "warp")))
            if r.random() < 0.2:
                self.parts.append(WideAccess("LOAD", "global", 4, "t %% %d + 4097" % r.choice((32, 64)), "", 6000))
            self.one(kind, whole)

    def one(self, kind, whole):
        r = self.random
        size = r.choice((4, 4, 4, 4, 8, 16))
        place = r.choice((whole, whole, whole, "t % 32 + 5", "t % 32 * 3", "t ^ 1", "t % 32 / 2", "31 - t % 32", "7",
                          "t % 8 * 9 + t % 32 / 8", "t / 32 + 3", "t + b * 64"))
        condition = r.choice(("", "", "t / 32 == %d" % r.randrange(2), "b == %d" % r.randrange(2),
                              "b == %d && t / 32 == %d" % (r.randrange(2), r.randrange(2)), "t == %d" % r.choice((5, 31, 40, 63)),
                              "b == %d && t == %d" % (r.randrange(2), r.choice((7, 31, 39)))))
        self.parts.append(WideAccess(kind, "global", size, "%s + %d" % (place, self.at), condition))


class Chosen(Wide):
    """Kernels with one race, which only one of several recorded reads shows."""

    LAST = "t % 32 + 5"  # the words of most of them
    OTHERS = "LOAD", "t % 32 + 4097", "", 9000
    FIRST, THEN = "t / 32 == 0", "t / 32 == 1"
    KERNELS = [  # blocks, accesses
        (1, [("LOAD", "7", FIRST), ("STORE", "7", "t == 31")]),
        (1, [("LOAD", "7", FIRST), OTHERS, ("STORE", "7", "t == 31")]),
        (2, [("LOAD", LAST, "b == 0"), ("LOAD", LAST, "b == 1"), OTHERS, "block", ("STORE", LAST, "b == 1")]),
        (2, [("LOAD", LAST, ""), OTHERS, OTHERS, "block", ("STORE", LAST, "b == 1 && t / 32 == 1")]),
    ]
    for first, then in (FIRST, THEN), (THEN, FIRST):  # either warp may run first
        for place in LAST, "t % 32 * 3":
            KERNELS += [(1, [("LOAD", place, first), ("LOAD", place, then), ("STORE", place, then)]),
                        (1, [("LOAD", place, first), ("LOAD", place, then), OTHERS, ("STORE", place, then)])]

    def make(self):
        self.threads = 64
        self.blocks, parts = self.KERNELS[self.number % len(self.KERNELS)]
        for part in parts:
            if isinstance(part, tuple):
                kind, place, condition, *often = part
                part = WideAccess(kind, "global", 4, place, condition, *often)
            self.parts.append(part)


class Again(Wide):
    """A few lanes access the same few words repeatedly, and so do whole warps between them; some store the
    values that others store."""

    unroll = '_Pragma("unroll 1") '  # so that the same instruction is executed again
    PLACES = ("t % 32 * 2 + t % 3 % 2", "t % 32 * 2 + t % 3 % 2", "t % 32", "t % 32 * 3", "t % 32 / 4", "7", "(t * 40503) / 64 % 64")

    def make(self):
        r = self.random
        self.blocks, self.threads = r.choice((1, 1, 2)), 64
        self.places = [r.choice(self.PLACES) for _ in range(r.choice((1, 1, 2)))]
        r.choice((self.mixed, self.read_again, self.store_alike, self.rows))()

    def mixed(self):
        r = self.random
        for _ in range(r.randrange(1, 4)):
            self.loop(r.choice((["LOAD"], ["LOAD", "LOAD"], ["LOAD", "STORE"], ["STORE"], ["SAME"], ["ALIKE"], ["STORE", "LOAD"])))
            self.parts.append(r.choice(("block", "block", "warp", None)))
        if r.random() < 0.6:
            self.one(r.choice(("STORE", "STORE", "LOAD")))

    def read_again(self):
        """Then a lane or a warp stores, perhaps after a barrier of the block."""
        r = self.random
        for _ in range(r.randrange(1, 3)):
            self.loop(["LOAD"] * r.choice((1, 1, 2)))
        if r.random() < 0.5:
            self.parts.append("block")
            self.loop(["LOAD"])
        self.one("STORE")

    def store_alike(self):
        """Then one of the threads that stored makes another access."""
        r = self.random
        self.one(r.choice(("SAME", "ALIKE")), r.choice(("7", "t % 32 / 4", "t / 64")))
        self.parts.append(r.choice((None, None, "block", "warp")))
        self.one(r.choice(("SAME", "LOAD", "STORE")), r.choice(("7", "t % 32 / 4", "t / 64")), lanes=1)

    def rows(self):
        """Whole warps access consecutive words or any."""
        r = self.random
        for kind in r.choice((["STORE", "STORE"], ["STORE", "STORE", "STORE"], ["SAME", "STORE"], ["LOAD", "STORE"], ["STORE", "LOAD"])):
            row = r.choice(("t % 32", "t % 32 + 32", "t", "t % 32 * 2 + t % 3 % 2", "(t * 40503) / 64 % 64", "t % 32 * 31 % 32 + t % 2 * 32"))
            self.one(kind, row, lanes=WARP)
            self.parts.append(r.choice((None, None, "block")))

    def loop(self, kinds):
        r = self.random
        rounds = r.choice((0, 2, 3, 4))
        self.parts.append(("loop", rounds) if rounds else None)
        for kind in kinds:
            self.one(kind, None, r.choice(("", "", " + r", " + r * 7")) if rounds else "")
            if rounds and r.random() < 0.3:
                self.parts.append(r.choice(("block", "block", "warp")))
        self.parts.append("end" if rounds else None)

    def one(self, kind, place=None, shift="", lanes=None):
        r = self.random
        of, kind = {"SAME": (SameWide, "STORE"), "ALIKE": (AlikeWide, "STORE")}.get(kind, (WideAccess, kind))
        who = r.choice(("", "t / 32 == %d" % r.randrange(2), "t / 32 == %d" % r.randrange(2), "b == %d" % r.randrange(self.blocks)))
        few = r.choice(("t %% 32 < %d" % r.choice((1, 2, 4)), "t %% 32 %% %d == %d" % (r.choice((5, 9, 13)), r.randrange(3)),
                        "t % 32 == 3", "t % 32 == 0", ""))
        if lanes:
            few = "t %% 32 == %d" % r.choice((0, 1, 2, 3, 3, 31)) if lanes == 1 else ""
        self.parts.append(of(kind, "global", r.choice((4, 4, 4, 4, 8)), (place or r.choice(self.places)) + shift,
                             " && ".join(filter(None, (who, few)))))


class Told(Again):
    """The kernels, out of 12,000, in which a pair of lines is easily missed, found by damaging the checker: each
    pair must be reported."""

    NUMBERS = (10402, 10429,  # reads by a lane besides older ones by whole warps
               10020, 10024,  # whole warps store where whole groups of words were stored
               11051, 19058, 12570, 19122,  # reads that are already in a list
               10483, 21002, 21399)  # neighbours store the same value, or not


class Partial(Kernel):
    """A few accesses to the same words by blocks, warps or lanes; then not all four of them synchronise."""

    OF = {"b": ("b == %d", "b != %d"), "t / 32": ("t / 32 == %d", "t / 32 != %d"), "t": ("t == %d", "t != %d && t < 4")}

    def make(self):
        r = self.random
        self.group = r.choice(("b", "t / 32", "t / 32", "t"))
        self.blocks, self.threads = {"b": (4, 32), "t / 32": (1, 128), "t": (1, 32)}[self.group]
        self.space = "global" if self.group == "b" else r.choice(SPACES)
        self.size, self.flags, self.barriers = r.choice((4, 4, 4, 1, 8)), 0, 0
        self.place = "7" if self.group == "t" else r.choice(("7", "7", "t % 32", "t % 4", "t % 32 / 8"))
        kind = r.choice(("LOAD", "LOAD", "ATOMIC", "RED", "RED", "SAME"))
        for _ in range(r.choice((1, 1, 2))):
            self.three(kind)
            for _ in range(r.choice((1, 2, 2))):
                self.some_meet()
            self.one(r.choice(("STORE", "LOAD")) if kind != "LOAD" else "STORE", self.few())
            self.parts.append("block")

    def one(self, kind, condition):
        of, kind = {"SAME": (Same, "STORE"), "RED": (Update, "ATOMIC")}.get(kind, (Access, kind))
        size = 4 if kind == "ATOMIC" else self.size
        place = self.place if size == self.size or self.place != "7" else "7 * %d / 4" % self.size
        self.parts.append(of(kind, self.space, size, place, condition))

    def three(self, kind):
        """The accesses are on one line or on three."""
        r = self.random
        only, but = self.OF[self.group]
        members = r.sample(range(4), 4)
        if r.random() < 0.5:
            self.one(kind, but % members[3])
            return
        for member in members[:3]:
            self.one(kind, only % member + ("" if self.group == "t" else r.choice(("", "", " && t % 32 < 4"))))

    def few(self):
        r = self.random
        who = self.OF[self.group][0] % r.randrange(4)
        return who if self.group == "t" else who + r.choice(("", " && t % 32 == 0", " && t % 32 == 0", " && t % 32 == 31"))

    def some_meet(self):
        r, chance = self.random, self.random.random()
        if self.group == "b":
            chance = max(chance, 0.6)
        if chance < 0.5 and self.group == "t":
            self.parts.append(r.choice((0b1101, 0b1011, 0b0111, 0b1110, 0b11, 0b110, 0xFFFF)))
        elif chance < 0.5:
            self.barriers += 1
            warps = r.choice((0b1101, 0b1011, 0b0111, 0b1110, 0b1001, 0b1111, 0b1111))
            arriving = r.choice((0, 0, 0b0001, 0b0010, 0b0100, 0b1010)) & warps
            self.parts.append(Named(self.barriers, warps, arriving if arriving != warps else 0))
        elif chance < 0.65:
            self.parts.append(r.choice(("warp", "warp", "block")))
        else:
            for _ in range(r.choice((1, 1, 2))):
                self.message()

    def message(self):
        """Orders one of the four before another, most often all threads of the first before all of the other."""
        r = self.random
        sides = [{"b": (k, 0), "t / 32": (0, 32 * k), "t": (0, k)}[self.group] for k in r.sample(range(4), 2)]
        together = "warp" if r.random() < 0.7 else None
        self.parts += [together, Message("POST", r.choice(("release", "release", "release_cta", "fence")), self.flags, *sides[0]),
                       Message("AWAIT", r.choice(("acquire", "acquire", "acquire_cta", "fence")), self.flags, *sides[1]), together]
        self.flags += 1


class Parts(Kernel):
    """Lanes and warps read a few bytes or 16-bit words in turn, and a lane or two store, after them or before, with
    the same size or whole words."""

    PLACES = ("7", "7", "7", "7", "t / 8 % 4", "t % 4", "t % 32 / 16", "t % 32", "t % 32 + t % 2", "t % 32 / 3 + t % 32 % 3", "t * 5 % 32")
    LANES = ("t % 32 == 0", "t % 32 == 0", "t % 32 == 7", "t % 32 == 31", "t % 32 == 31", "t % 32 % 31 == 0", "t % 32 < 2")

    # Found by damaging the checker: the race is with the older of two records.
    CHOSEN = ([("LOAD", "t == 0"), ("LOAD", ""), ("STORE", "t == 0")],
              [("SAME", "t % 31 == 0"), ("LOAD", "t == 31")],
              [("SAME", "t % 31 == 0"), ("LOAD", "")])

    def make(self):
        r = self.random
        self.blocks, self.threads = 1, r.choice((32, 32, 64, 96))
        self.size, self.place = r.choice((1, 1, 2)), r.choice(self.PLACES)
        if self.number < len(self.CHOSEN):
            self.threads, self.size, self.place = 32, 1, "7"
            for kind, condition in self.CHOSEN[self.number]:
                self.one(kind, condition, 1)
            return
        reads = [("LOAD", r.choice(("", "", "", "t % 32 < 20", *self.LANES))) for _ in range(r.choice((1, 2, 2, 3)))]
        store = [(r.choice(("STORE", "STORE", "SAME")), r.choice(self.LANES))]
        for kind, lanes in r.choice((store + reads, store + reads, reads + store, reads + store, reads + store)):
            who = "t / 32 == %d" % r.randrange(self.threads // WARP) if kind != "LOAD" or r.random() < 0.7 else ""
            size = 4 if kind != "LOAD" and r.random() < 0.2 else self.size
            self.one(kind, " && ".join(filter(None, (who, lanes))), size)
            self.parts.append(r.choice(("warp", "warp", "block", None, None, None)))

    def one(self, kind, condition, size):
        of, kind = {"SAME": (Same, "STORE")}.get(kind, (Access, kind))
        place = self.place if size == self.size else "(%s) * %d / 4" % (self.place, self.size)
        self.parts.append(of(kind, "shared", size, place, condition))


class Lanes(Kernel):
    """Lanes of a warp make accesses and call a fence together. One of them sets a flag, another thread waits for it,
    and that thread, or its warp, accesses the same places."""

    def make(self):
        r = self.random
        self.blocks, self.threads = r.choice(((2, 32), (2, 32), (3, 32), (1, 64), (2, 64)))
        for flag in range(r.choice((1, 1, 2))):
            b, warp = r.randrange(self.blocks), r.randrange(self.threads // WARP)
            other = r.choice([(k, w) for k in range(self.blocks) for w in range(self.threads // WARP) if (k, w) != (b, warp)])
            self.place = r.choice(("t % 32", "t % 32", "t % 32", "t % 32", "t % 8", "7")) + " + %d" % (32 * flag)
            self.send(flag, b, warp)
            how = r.choice(("acquire", "fence") * 4 + ("relaxed", "fence_cta"))
            self.parts.append(Message("AWAIT", how, flag, other[0], WARP * other[1] + r.choice((0, 0, 9))))
            self.parts.append(r.choice(("warp", "warp", "warp", None)))
            self.one(r.choice(("LOAD", "STORE")), *other, few=r.random() < 0.5)

    def send(self, flag, b, warp):
        r = self.random
        lanes = range(WARP * warp, WARP * warp + WARP)
        self.one(r.choice(("LOAD", "STORE", "STORE")), b, warp, few=r.random() < (0.3 if "t % 32" in self.place else 0.8))
        self.parts.append(r.choice((None, "warp", "warp", "warp", 0xFF, 0x10001)))
        fenced = lanes if r.random() < 0.8 else sorted(r.sample(lanes, 4))
        self.parts.append(Fences(r.choice(("fence",) * 5 + ("fence_cta",)), b, fenced))
        self.parts.append(r.choice((None, None, None, "warp", 0xFF, 0x8001)))
        if r.random() < 0.2:
            self.one("LOAD", b, warp, few=True)
        # Lanes that synchronised may run separately from the others: then the first or last lane is unspecified.
        apart = any(isinstance(part, int) for part in self.parts)
        way = r.choice(("alone", "swap") if apart else ("alone", "alone", "swap", "first", "last"))
        self.parts.append(Post(way, flag, b, r.choice(fenced)))

    def one(self, kind, b, warp, few):
        lane = " && t %% 32 == %d" % self.random.choice((0, 0, 5, 9, 31)) if few else ""
        self.parts.append(Access(kind, "global", 4, self.place, "b == %d && t / 32 == %d%s" % (b, warp, lane)))


def meet(known, group, step, waiting=None):
    """Merges the threads' knowledge of all threads' steps when they synchronise in this step: for all of them, or
    for those that wait."""
    different = {id(known[me]): known[me] for me in group}.values()
    joined = [max(column) for column in zip(*different)]
    for me in group:
        joined[me] = step
    for me in group if waiting is None else waiting:
        known[me] = joined


def meet_behind_fences(letters, group, waiting):
    """The pending releases and acquires of any of them count for all that wait."""
    met = list({id(letter): letter for me in group for letter in letters.get(me, ())}.values())
    for me in waiting if met else ():
        letters[me] = met


class Event:
    """An access of thread `me` of the grid to one or more bytes in a step, and the steps of others ordered before it."""

    def __init__(self, access, b, t, me, step, known, written):
        self.access, self.b, self.t, self.me = access, b, t, me
        self.step, self.known, self.written = step, known, written

    def before(self, other):
        """Whether this event, which is not in a later step, is ordered before the other."""
        return self.me == other.me or other.known[self.me] > self.step

    def strong(self, other):
        """Whether the access is strong, at a scope that includes the other thread."""
        how = getattr(self.access, "how", "")
        return self.access.kind in ("ATOMIC", "POST", "AWAIT") and (
            self.b == other.b or how not in ("release_cta", "acquire_cta"))

    def races(self, other):
        if self.me == other.me or other.known[self.me] > self.step or self.access.kind == other.access.kind == "LOAD":
            return False
        return not (self.strong(other) and other.strong(self))

    def stores_as(self, other, stored):
        """Whether this thread, now or later, stores the same value as the other: then the checker may find no race.
        `stored`: {(thread, value): the last step in which it is stored}."""
        return (self.access.kind == other.access.kind == "STORE" and
                stored.get((self.me, other.written), -1) >= self.step)

    def observed(self, other, events):
        """Whether one of the two is an update, and the other comes after another update of the byte: that update may
        have observed the first, and then the first is ordered before everything after it."""
        def behind(update, access):
            return update.access.kind == "ATOMIC" and any(
                own.access.kind == "ATOMIC" and own.access.looks and own.me != update.me and own.step < access.step and own.before(access)
                for own in events)
        return behind(self, other) or behind(other, self)


PROGRAMS = {
    "": ((Kernel, KERNELS), (Messages, MESSAGES)),
    "wide": ((Wide, WIDE), (Often, OFTEN), (Meeting, MEETING), (Chosen, len(Chosen.KERNELS)), (Again, AGAIN), (Told, Told.NUMBERS)),
    "partial": ((Partial, PARTIAL), (Lanes, LANES)),
    "bytes": ((Parts, PARTS),),
}


def program(which="", every=1):
    """(text, kernels): one kernel out of every few."""
    own = (*Update.macros(), *Post.macros()) if which == "partial" else ()
    lines = (HEAD + "\n".join([*macros(), *Message.macros(), *own])).split("\n") + [
        "", "__device__ unsigned word(unsigned t, unsigned b, unsigned r, unsigned line) {",
        "    const unsigned word = t * 2654435761u + b * 40503001u + r * 97000033u + line * 7919003u;",
        "    return word ^ word >> 15;", "}", "",
        "#define START __shared__ __align__(16) unsigned char memory[%d]; \\" % BYTES,
        "    const unsigned t = threadIdx.x, b = blockIdx.x, s = (unsigned)__cvta_generic_to_shared(memory); \\",
        "    const size_t g = __cvta_generic_to_global(given), f = g + %d; unsigned x = 0, r = 0, w = 0; \\" % BYTES,
        "    for (unsigned i = t; i < %d; i += blockDim.x) ((unsigned *)memory)[i] = i; \\" % (BYTES // 4),
        "    __syncthreads();", ""]
    room = ROOM_AT + ROOM if which == "wide" else BYTES + 64
    kernels = []
    for kind, numbers in PROGRAMS[which]:
        kernels += map(kind, range(len(kernels), len(kernels) + numbers) if isinstance(numbers, int) else numbers)
    calls = []
    kernels = kernels[::every]
    for kernel in kernels:
        lines += kernel.lines(len(lines) + 1)
        calls.append("    cudaMemset(g, 1, %d), cudaMemset(g + %d, 0, 64), hazards_%d<<<%d, %d>>>(g, out);" % (
            room if which == "wide" else BYTES, BYTES, kernel.number, kernel.blocks, kernel.threads))
    return "\n".join(lines) + TAIL % (room, "\n".join(calls)), kernels


if __name__ == "__main__":
    print(program(*sys.argv[1:])[0], end="")
