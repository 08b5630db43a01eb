"""Random kernels with asynchronous copies, parts of words and clusters, whose races are known.

    python3 make_copies.py > copies.cu
    python3 make_copies.py mixed > mixed.cu

They are made as in make_hazards.py, in shared memory, from which copies may write to global memory. Threads use
their own words, in part and as a whole, and copy into them with cp.async, in groups for which they wait, perhaps too
late or never. One thread makes bulk copies, and some threads wait at its mbarrier. Threads store the value that is
already there, or use the memory of the other block of their cluster. Then one statement is changed, or none. The
mixed kernels do a few of these things to the same bytes, and the last of them were selected: each has one race,
which only one record of the checker shows.

An asynchronous copy acts as a thread of its own: everything that was ordered before its start is ordered before it,
and it is ordered before everything after a wait of its thread, or after a wait at its mbarrier. Two copies of the
same data do not race, unless another thread stores in between: then they may be reported or not.
"""
import sys

from make_hazards import BYTES, SIZES, Access, Event, Kernel, Same, Update, macros, meet

KERNELS, MIXED, FLAGS = 400, 300, 8
GIVEN = bytes((i * 7 + i // 256) % 256 for i in range(3 * BYTES))  # the source of copies
HEAD = """// Written by make_copies.py.
#include <cstdio>
"""
TAIL = """
int main() {
    unsigned char *h;
    unsigned *out;
    static unsigned char given[%d];
    for (unsigned i = 0; i < sizeof given; i++) given[i] = i * 7 + i / 256;
    if (cudaMalloc(&h, sizeof given) || cudaMalloc(&out, 4096)) return 3;
    if (cudaMemcpy(h, given, sizeof given, cudaMemcpyHostToDevice)) return 3;
%s
    return cudaGetLastError() || cudaDeviceSynchronize();
}
"""
OWN = """
#define ASM(...) asm volatile(__VA_ARGS__ : "memory")
#define COMMIT_GROUP() ASM("cp.async.commit_group;" ::)
#define WAIT_GROUP(n) ASM("cp.async.wait_group " #n ";" ::)
#define BULK_LOAD(p, bytes, m) do { \\
    ASM("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(m), "r"(bytes)); \\
    ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(p), "l"(h), "r"(bytes), "r"(m)); } while (0)
#define AWAIT_BULK(m) do { unsigned done; do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(m) : "memory"); while (!done); } while (0)
#define BULK_STORE(p, bytes) do { \\
    ASM("fence.proxy.async.shared::cta;" ::); \\
    ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(h + %BYTES% * (1 + b)), "r"(p), "r"(bytes)); \\
    ASM("cp.async.bulk.commit_group;" ::); } while (0)
#define BULK_WAIT(n) ASM("cp.async.bulk.wait_group " #n ";" ::)
#define CLUSTER() do { ASM("barrier.cluster.arrive.aligned;" ::); ASM("barrier.cluster.wait.aligned;" ::); } while (0)
"""
START = """
__device__ unsigned word(unsigned t, unsigned b, unsigned r, unsigned line) {
    const unsigned word = t * 2654435761u + b * 40503001u + r * 97000033u + line * 7919003u;
    return word ^ word >> 15;
}

#define START(FILL) __shared__ __align__(128) unsigned char memory[%d]; __shared__ unsigned long long flags[%d]; \\
    const unsigned t = threadIdx.x, b = blockIdx.x, s = (unsigned)__cvta_generic_to_shared(memory); \\
    const unsigned m = (unsigned)__cvta_generic_to_shared(flags); \\
    const size_t h = __cvta_generic_to_global(given); unsigned x = 0, r = 0, w = 0; \\
    for (unsigned i = t; i < %d / sizeof(FILL); i += blockDim.x) ((volatile FILL *)memory)[i] = i; \\
    if (t == 0) { for (int i = 0; i < %d; i++) ASM("mbarrier.init.shared.b64 [%%0], 1;" :: "r"(m + 8 * i)); \\
        ASM("fence.mbarrier_init.release.cluster;" ::); } \\
    __syncthreads()
#define START_CLUSTER(FILL) START(FILL); unsigned p; \\
    asm volatile("mapa.shared::cluster.u32 %%0, %%1, %%2;" : "=r"(p) : "r"(s), "r"(b ^ 1)); CLUSTER()
""" % (BYTES, FLAGS, BYTES, FLAGS)


def own_macros():
    for line in [*macros(), *Update.macros()]:
        if "_shared_" in line:
            yield line
            peer = line.replace("_shared_", "_peer_")
            for name in ("ld", "st", "atom", "red"):
                peer = peer.replace(name + ".shared.", name + ".shared::cluster.")
            yield peer
    for size in (4, 8, 16):
        yield '#define ASYNC_shared_%d(p) ASM("cp.async.ca.shared.global [%%0], [%%1], %d;" :: "r"(p), "l"(h + %d * t))' % (
            size, size, size)


class Cluster(Access):
    """The barrier of the cluster."""

    unit = 16

    def __init__(self):
        super().__init__("", "", 0, "0")

    def text(self):
        return "CLUSTER();"


class Group(Access):
    """COMMIT or WAIT: threads close a group of copies, or wait for all but the last `size` ones."""

    unit = 16

    def text(self):
        line = "WAIT_GROUP(%d);" % self.size if self.kind == "WAIT" else "COMMIT_GROUP();"
        return "if (%s) { %s }" % (self.condition, line) if self.condition else line


class Bulk(Access):
    """A bulk copy, number `index`, by one thread of each block: BULK loads `size` bytes from byte `first` on, and OUT
    stores them. AWAIT waits at its mbarrier; AWAIT_OUT waits as the thread that stores."""

    unit = 16

    def __init__(self, kind, index, first, size, condition):
        super().__init__(kind, "shared", size, "0", condition)
        self.index, self.first = index, first

    def text(self):
        line = {"BULK": "BULK_LOAD(s + %d, %d, m + %d);" % (self.first, self.size, 8 * self.index),
                "AWAIT": "AWAIT_BULK(m + %d);" % (8 * self.index),
                "OUT": "BULK_STORE(s + %d, %d);" % (self.first, self.size),
                "AWAIT_OUT": "BULK_WAIT(0);"}[self.kind]
        return "if (%s) %s" % (self.condition, line)


class Began(Event):
    """The access of a copy that begins now and may last until its thread has waited for it, in step `done`."""
    done = None
    stores = ()  # the steps of others' stores to the same place

    def before(self, other):
        return self.done is not None and (
            other.known[self.me] > self.done or self.me == other.me and other.step > self.done)

    def races(self, other):
        if self.written is not None and self.written == other.written and not any(
                self.step < step < other.step for step in self.stores):
            return False
        return not (self.access.kind == other.access.kind == "LOAD") and not self.before(other)


class Kind:
    """The access that a copy makes, at its line."""

    def __init__(self, kind, line):
        self.kind, self.line = kind, line


class Copies(Kernel):
    def make(self):
        r = self.random
        self.cluster = r.random() < 0.3
        self.blocks = 2 if self.cluster else 1
        self.bulks, self.fill = 0, r.choice(("unsigned", "unsigned", "unsigned char", "unsigned short"))
        for _ in range(r.choice((1, 1, 1, 2, 3))):
            self.phase()
            self.parts.append("cluster" if self.cluster and r.random() < 0.8 else "block")
        for _ in range(r.choice((0, 0, 1))):
            self.change()
        self.parts.append("cluster" if self.cluster else "block")

    def part(self, kind, space, size, words):
        """A part of the thread's own `words` words, or all."""
        r, each = self.random, 4 * words // size
        place = "t" if each == 1 else "t * %d + %d" % (each, r.randrange(each))
        return Access(kind, space, size, place, "" if r.random() < 0.7 else self.condition())

    def parts_of_words(self):
        r, words = self.random, self.random.choice((1, 1, 2, 4))
        space = "peer" if self.cluster and r.random() < 0.4 else "shared"
        for _ in range(r.randrange(2, 7)):
            sizes = [size for size in SIZES if size <= 4 * words]
            self.parts.append(self.part(r.choice(("LOAD", "STORE")), space, r.choice(sizes), words))

    def asyncs(self):
        r, count = self.random, self.random.randrange(1, 4)
        size = r.choice([size for size in (4, 8, 16) if self.threads * size * count <= BYTES])
        place = r.choice(("t", "t", "t", "(t ^ %d)" % r.choice((1, 4, 16)), "(%d - t)" % (self.threads - 1)))
        for k in range(count):
            where = place if r.random() < 0.1 else place + " + %d" % (k * self.threads)
            self.parts.append(Access("ASYNC", "shared", size, where, "" if r.random() < 0.8 else self.condition()))
            if r.random() < 0.8:
                self.parts.append(Group("COMMIT", "shared", 0, "0", "" if r.random() < 0.9 else self.condition()))
        if r.random() < 0.3:
            self.parts.append(Access("LOAD", "shared", 4, "t + %d" % (count * self.threads * size // 4)))
        left = r.choice((0, 0, 0, 0, 1, 2))
        self.parts.append(Group("WAIT", "shared", left, "0", "" if r.random() < 0.95 else self.condition()))
        if r.random() < 0.8:
            self.parts.append("block")
        for k in range(max(count - left, 1)):
            self.parts.append(Access(r.choice(("LOAD", "LOAD", "STORE")), "shared", r.choice((1, size, size)),
                                     place + " + %d" % (k * self.threads)))

    def bulk(self):
        r = self.random
        if self.bulks == FLAGS:
            return
        first, size = r.choice(((0, 1024), (0, BYTES), (128, 512), (16, 272), (512, 128), (1024, 1024), (48, 96)))
        who, index = r.randrange(self.threads), self.bulks
        self.bulks += 1
        out = r.random() < 0.35
        if r.random() < 0.4:
            self.parts.append(Access("STORE", "shared", 4, "t"))
            self.parts.append("block")
        self.parts.append(Bulk("OUT" if out else "BULK", index, first, size, "t == %d" % who))
        if r.random() < 0.3:
            self.use(first, size)
        waits = "t == %d" % who if out or r.random() < 0.5 else "t >= 0" if r.random() < 0.6 else self.condition()
        self.parts.append(Bulk("AWAIT_OUT" if out else "AWAIT", index, first, size, waits))
        if r.random() < 0.7:
            self.parts.append("block")
        self.use(first, size)

    def use(self, first, size):
        """An access to the bytes of a copy, or next to them."""
        r, each = self.random, self.random.choice((1, 4, 4, 16))
        place = "t + %d" % (r.choice((first, first, first + size // 2, first + size, 0)) // each)
        self.parts.append(Access(r.choice(("LOAD", "LOAD", "STORE")), "shared", each, place,
                                 "" if r.random() < 0.7 else self.condition()))

    def same(self):
        r = self.random
        space = "peer" if self.cluster and r.random() < 0.5 else "shared"
        if r.random() < 0.2:
            self.parts.append(Access("LOAD", "shared", r.choice((1, 4)), self.any("shared"), self.condition()))
        for _ in range(r.randrange(1, 4)):
            self.parts.append(Same("STORE", space, r.choice((1, 4, 4, 4, 8)), self.any("shared"),
                                   "" if r.random() < 0.6 else self.condition()))
        if r.random() < 0.8:
            self.parts.append(r.choice(("block", "cluster")) if self.cluster else "block")
        if r.random() < 0.5:
            self.parts.append(Access(r.choice(("LOAD", "LOAD", "STORE")), space, r.choice((1, 4)), self.any("shared"),
                                     self.condition()))

    def exchange_all(self):
        """Every thread writes, then reads what others wrote, in this block or the other."""
        r, size = self.random, self.random.choice((1, 2, 4, 4, 8))
        spaces = ("shared", "peer") if self.cluster else ("shared",)
        to, of = r.choice(spaces), r.choice(spaces)
        self.parts.append(Access(r.choice(("STORE", "STORE", "ATOMIC")), to, size, "t"))
        if self.parts[-1].kind == "ATOMIC":
            self.parts[-1].size = 4
        self.parts.append("cluster" if self.cluster and r.random() < 0.7 else "block")
        self.parts.append(Access("LOAD", of, size, r.choice(("t", self.any("shared")))))

    def readers(self):
        """Lanes of a warp read one place, and then one of them writes to it."""
        r, size = self.random, self.random.choice((1, 1, 2, 4))
        count = r.choice((2, 4, 32))
        self.parts.append(Access("LOAD", "shared", size, "t / %d" % count))
        if r.random() < 0.6:
            self.parts.append(r.choice(("warp", "block")))
        self.parts.append(Access("STORE", "shared", size, "t / %d" % count, "t %% %d == %d" % (count, r.randrange(count))))

    def phase(self):
        r = self.random
        does = [self.parts_of_words, self.parts_of_words, self.asyncs, self.bulk, self.bulk, self.same, self.exchange_all,
                self.readers]
        loop = r.random() < 0.15
        if loop:
            self.parts.append(("loop", r.choice((2, 3))))
            does = [self.parts_of_words, self.asyncs]
        r.choice(does)()
        if loop:
            self.parts.append("block" if r.random() < 0.7 else "warp")
            self.parts.append("end")

    def change(self):
        r = self.random
        at = r.randrange(len(self.parts))
        part = self.parts[at]
        if part == "cluster":
            self.parts[at] = "block"
        elif part in ("block", "warp"):
            self.parts[at] = r.choice(("warp", None)) if part == "block" else None
        elif isinstance(part, Group):
            self.parts[at] = None if r.random() < 0.5 else Group("WAIT", "shared", r.choice((0, 1)), "0", self.condition())
        elif isinstance(part, Bulk):
            if part.kind.startswith("AWAIT"):
                self.parts[at] = None
        elif isinstance(part, Access) and part.kind != "ASYNC":
            if r.random() < 0.5:
                part.place = self.any("shared")
            else:
                self.parts.insert(at, Access(r.choice(("LOAD", "STORE")), "shared", r.choice(SIZES), self.any("shared"),
                                             self.condition()))

    # ---- Its text ----

    def lines(self, first):
        kind = "__cluster_dims__(2, 1, 1) " if self.cluster else ""
        parts, self.parts = self.parts, [Cluster() if part == "cluster" else part for part in self.parts]
        out = [line.replace("for (r", '_Pragma("unroll 1") for (r') for line in super().lines(first)]
        self.parts = parts
        out[0] = out[0].replace("__launch_bounds__", kind + "__launch_bounds__")
        out[1] = "    START%s(%s);" % ("_CLUSTER" if self.cluster else "", self.fill)
        return out

    # ---- Which lines race ----

    def groups(self, part):
        if part == "cluster":
            return [range(self.blocks * self.threads)]
        return super().groups(part)

    def events(self):
        count, self.unit = self.blocks * self.threads, self.units()
        self.of, self.known = {}, [[0] * (count + FLAGS * self.blocks)] * count
        self.open, self.closed, self.out, self.bulk_of = {}, {}, {}, {}
        for step, part in enumerate(self.steps(), 1):
            if part in ("block", "warp", "cluster"):
                for group in self.groups(part):
                    meet(self.known, list(group), step)
                continue
            access, r = part
            condition = access.compiled()[1]
            for b in range(self.blocks):
                for t in range(self.threads):
                    if condition(t, b, r):
                        self.do(access, b, t, r, step)
        for events in self.of.values():
            stores = [event.step for event in events if event.access.kind != "LOAD" and not isinstance(event, Began)]
            for event in events:
                event.stores = stores
        return self.of

    def do(self, access, b, t, r, step):
        me = b * self.threads + t
        if access.kind == "COMMIT":
            self.closed.setdefault(me, []).append(self.open.pop(me, []))
        elif access.kind == "WAIT":
            groups = self.closed.get(me, [])
            for group in groups[:max(len(groups) - access.size, 0)]:
                self.finish(group, step)
        elif access.kind == "ASYNC":
            began = self.note(access, Kind("STORE", access.line), b, t, me, step, self.first(access, t, b, r), Began,
                              GIVEN[access.size * t:access.size * (t + 1)])
            self.open.setdefault(me, []).extend(began)
        elif access.kind == "BULK":
            self.begin_bulk(access, b, t, me, step)
        elif access.kind == "OUT":
            self.begin_out(access, b, t, me, step)
        elif access.kind == "AWAIT_OUT":
            self.finish(self.out.pop(me, []), step)
        elif access.kind == "AWAIT":
            self.await_bulk(access, b, me, step)
        else:
            at = b ^ 1 if access.space == "peer" else b
            written = access.value(t, b, r, access.line) if access.kind == "STORE" else None
            self.note(access, access, at, t, me, step, self.first(access, t, b, r), Event, written)

    @staticmethod
    def first(access, t, b, r):
        return access.compiled()[0](t, b, r) % (BYTES // access.size) * access.size

    @staticmethod
    def finish(group, step):
        for event in group:
            event.done = event.done or step

    def note(self, access, kind, at, t, me, step, first, event, written=None, space="shared"):
        made = []
        for k in range(0, access.size, self.unit):
            made.append(event(kind, at, t, me, step, self.known[min(me, len(self.known) - 1)],
                              written and written[k:k + self.unit]))
            self.of.setdefault((space, at, first + k), []).append(made[-1])
        return made

    def begin_out(self, access, b, t, me, step):
        """The copy reads shared memory and writes the block's part of global memory from its start on; simt lets it
        write at once."""
        began = self.note(access, Kind("LOAD", access.line), b, t, me, step, access.first, Began)
        written = self.note(access, Kind("STORE", access.line), b, t, me, step, 0, Event if self.generous else Began,
                            space="global")
        self.out.setdefault(me, []).extend(began if self.generous else began + written)

    def is_judged_generously(self):
        return any(isinstance(part, Bulk) and part.kind == "OUT" for part in self.parts)

    def begin_bulk(self, access, b, t, me, step):
        """The copy as a thread of its own, after everything that is ordered before its start."""
        copy = len(self.known) + b * FLAGS + access.index
        knew = list(self.known[me])
        knew[me] = step
        for k in range(0, access.size, self.unit):
            self.of.setdefault(("shared", b, access.first + k), []).append(
                Event(Kind("STORE", access.line), b, t, copy, step, knew, None))
        self.bulk_of[b, access.index] = copy, step, knew

    def await_bulk(self, access, b, me, step):
        copy, _, knew = self.bulk_of[b, access.index]
        self.known[me] = [max(pair) for pair in zip(self.known[me], knew)]
        self.known[me][copy] = step


class Mixed(Copies):
    """A few accesses of all these kinds to the same bytes, each by all threads, a warp, or some: often only one pair
    of them races."""

    def make(self):
        r = self.random
        self.cluster = r.random() < 0.4
        self.blocks, self.threads = 2 if self.cluster else 1, 64
        self.bulks, self.fill = 0, r.choice(("unsigned", "unsigned", "unsigned char", "unsigned short"))
        self.at = r.choice((0, 128, 128, 272, 1024))
        self.peers = self.cluster and r.random() < 0.8
        does = [self.plain, self.plain, self.plain, r.choice((self.update, self.equal, self.plain)),
                r.choice((self.copies, self.in_bulk, self.plain))]
        if r.random() < 0.2:
            self.parts += [("loop", r.choice((3, 9, 20))), r.choice(("warp", "block")), "end"]
        for _ in range(r.choice((2, 3, 3, 4, 5))):
            r.choice(does)()
            self.meet()
        self.parts.append("cluster" if self.cluster else "block")

    def meet(self):
        r, chance = self.random, self.random.random()
        if chance < 0.3:
            self.parts.append("cluster" if self.cluster else "block")
        elif chance < 0.6:
            self.parts.append("block")
        elif chance < 0.75:
            self.parts.append("warp")

    def who(self):
        r = self.random
        return r.choice(("", "", "t / 32 == %d" % r.randrange(2), "t / 32 == %d" % r.randrange(2), "t < 16",
                         "t == %d" % r.choice((5, 31, 40)), "t %% 2 == %d" % r.randrange(2), self.condition())
                        ) if not self.peers or r.random() < 0.6 else "b == %d" % r.randrange(2)

    def where(self, size):
        r = self.random
        return "%s + %d" % (r.choice(("t", "t", "t", "t % 32", "t % 32", "t ^ 1", "t / 2", "31 - t % 32", "t * 3", "7")),
                            self.at // size)

    def space(self):
        return "peer" if self.peers and self.random.random() < 0.4 else "shared"

    def plain(self):
        r = self.random
        size = r.choice((1, 2, 4, 4, 4, 4, 8, 16))
        self.parts.append(Access(r.choice(("LOAD", "STORE")), self.space(), size, self.where(size), self.who()))

    def update(self):
        self.parts.append(Access("ATOMIC", self.space(), 4, self.where(4), self.who()))

    def equal(self):
        size = self.random.choice((1, 4, 4, 8))
        self.parts.append(Same("STORE", self.space(), size, self.where(size), self.who()))

    def copies(self):
        r, size = self.random, self.random.choice((4, 4, 8, 16))
        self.parts.append(Access("ASYNC", "shared", size, self.where(size), self.who()))
        self.parts.append(Group("COMMIT", "shared", 0, "0"))
        if r.random() < 0.8:
            self.parts.append(Group("WAIT", "shared", r.choice((0, 0, 0, 1)), "0", "" if r.random() < 0.8 else self.who()))

    def in_bulk(self):
        r, index, out = self.random, self.bulks, self.random.random() < 0.3
        who, size = r.randrange(self.threads), r.choice((128, 128, 256, 512, 16, 48, 272))
        first = self.at // 16 * 16 + r.choice((0, 0, 0, -16 if self.at else 16, 128))
        self.bulks += 1
        self.parts.append(Bulk("OUT" if out else "BULK", index, first, size, "t == %d" % who))
        if r.random() < 0.3:
            self.plain()
        if r.random() < 0.8:
            self.parts.append(Bulk("AWAIT_OUT" if out else "AWAIT", index, first, size, "t == %d" % who if out else r.choice(
                ("t == %d" % who, "t >= 0", "t / 32 == %d" % r.randrange(2)))))


class Picked(Copies):
    """Kernels with one race, which only one record shows, whichever of two warps, blocks or threads runs first.
    Most are also in a loop whose first round has no race, so that the checker has seen the instructions before."""

    WARPS, BLOCKS, ONES = ("t / 32 == 0", "t / 32 == 1"), ("b == 0", "b == 1"), ("t == 5", "t == 40")
    MANY = [("loop", 20), "warp", "end"]
    CASES = (  # the two actors, their accesses: (kind, size or first byte, place or bytes, actor)
        # A warp's update overwrites the record of another warp's update.
        (WARPS, [("ATOMIC", 4, "t % 32", None), "warp", ("STORE", 4, "t % 32", 0)]),
        # A copy over another copy's destination, or from it, or an access to it: all its groups of words, or some words.
        (ONES, [("BULK", 0, 256, 0), ("BULK", 0, 128, 1)]),
        (ONES, [("BULK", 0, 256, 0), ("BULK", 48, 128, 1)]),
        (ONES, [("BULK", 0, 256, 0), ("OUT", 0, 128, 1)]),
        (ONES, [("BULK", 0, 256, 0), ("OUT", 48, 96, 1)]),
        (WARPS, [("BULK", 0, 256, None), ("ASYNC", 4, "t", 1)]),
        (WARPS, [("BULK", 0, 256, None), ("LOAD", 4, "t", 1)]),
        # Stores of the value that is there: after a read, and by two lanes before one.
        (WARPS, [("SAME", 4, "t", None), "block", ("LOAD", 4, "t % 32", 0), ("SAME", 4, "t % 32", 1)]),
        (WARPS, [("SAME", 4, "t", None), "block", ("SAME", 4, "t * 3 % 16", 0), ("LOAD", 4, "t % 16", 1)]),
        # Stores of the same value, then of another by one of the threads: by warps, by lanes of a warp, by both.
        (WARPS, [("SAME", 4, "t % 32", None), "warp", ("STORE", 4, "t % 32", 0)]),
        (WARPS, [("SAME", 4, "t / 32", None), ("STORE", 4, "t / 32", "t % 32 == 31")]),
        (WARPS, [("SAME", 4, "t * 3 % 16", 0), ("STORE", 4, "t * 3 % 16", "t == 31")]),
        (WARPS, [("SAME", 4, "t % 8", 1), ("SAME", 4, "t * 3 % 16", 0), "warp", ("STORE", 4, "t % 32", 0)]),
        # A store of the result of two updates.
        (ONES, [("ATOMIC", 4, "5", 0), ("ATOMIC", 4, "5", 1), ("SAME", 4, "5", 0)]),
        # The second byte of a 16-bit word.
        (WARPS, [("STORE", 1, "t % 32 * 2 + 1", 0), ("LOAD", 2, "t % 32", 1)]),
        (WARPS, [("LOAD", 1, "t % 32 * 2 + 1", 0), ("STORE", 2, "t % 32", 1)]),
        # The same threads of another block, with a barrier in each block, or with bytes instead of words.
        (BLOCKS, [("FAR STORE", 4, "t", 0), ("LOAD", 4, "t", 1)]),
        (BLOCKS, [("FAR STORE", 4, "t", 0), "block", ("LOAD", 4, "t", 1)]),
        (BLOCKS, [("FAR LOAD", 4, "t", 0), "block", ("STORE", 4, "t", 1)]),
        (BLOCKS, [("FAR STORE", 1, "t", 0), "block", ("LOAD", 4, "t", 1)]),
        # The same for a byte of words that blocks have read or updated.
        (BLOCKS, [("FAR LOAD", 4, "t", 0), "block", ("STORE", 1, "t * 4 + 1", 1)]),
        (BLOCKS, [("FAR LOAD", 4, "t % 32", 0), "block", ("STORE", 1, "t % 32 * 4 + 1", 1)]),
        (BLOCKS, [("LOAD", 4, "t", 1), ("FAR LOAD", 4, "t", 0), "block", ("STORE", 1, "t * 4 + 1", 1)]),
        (BLOCKS, [("FAR RED", 4, "t", 0), ("RED", 4, "t", 1), "block", ("LOAD", 1, "t * 4 + 1", 1)]),
        (BLOCKS, [*MANY, ("FAR STORE", 4, "t", 0), ("LOAD", 4, "t", 1)]),
    )
    KERNELS = [(whose, parts, again) for whose, parts in CASES for again in (False, True)
               if not again or not any("BULK" in part[0] for part in parts[1:])]
    COUNT = 2 * len(KERNELS)

    def make(self):
        whose, parts, again = self.KERNELS[self.number % self.COUNT // 2]
        who = whose[::-1] if self.number % 2 else whose
        self.bulks, self.cluster = 0, whose == self.BLOCKS
        self.blocks, self.threads, self.fill = 2 if self.cluster else 1, 64, "unsigned"
        self.parts = [part if part in ("warp", "block", *self.MANY) else self.one(who, *part) for part in parts]
        if again:
            self.repeat()
        self.parts.append("cluster" if self.cluster else "block")

    def repeat(self):
        at = next(at for at, part in enumerate(self.parts) if isinstance(part, Access))
        first = self.parts[at]
        first.condition = "r == 1" + (" && " + first.condition if first.condition else "")
        self.parts[at:at] = [("loop", 2), "cluster" if self.cluster else "block"]
        self.parts.append("end")

    def one(self, who, kind, size, place, by):
        condition = "" if by is None else by if isinstance(by, str) else who[by]
        if kind in ("BULK", "OUT"):
            self.bulks += 1
            return Bulk(kind, self.bulks - 1, size, place, condition or "t == 20")
        if kind == "SAME":
            return Same("STORE", "shared", size, place, condition)
        space, kind = "peer" if "FAR" in kind else "shared", kind.split()[-1]
        of, kind = (Update, "ATOMIC") if kind == "RED" else (Access, kind)
        return of(kind, space, size, place, condition)


def program(mixed=False, every=1):
    """(text, kernels): one kernel out of every few."""
    lines = (HEAD + "\n".join(own_macros()) + OWN.replace("%BYTES%", str(BYTES)) + START).split("\n")
    kernels, calls = [], []
    for kind, count in ((Mixed, MIXED), (Picked, Picked.COUNT)) if mixed else ((Copies, KERNELS),):
        kernels += map(kind, range(len(kernels), len(kernels) + count))
    kernels = kernels[::every]
    for kernel in kernels:
        lines += kernel.lines(len(lines) + 1)
        calls.append("    hazards_%d<<<%d, %d>>>(h, out);" % (kernel.number, kernel.blocks, kernel.threads))
    return "\n".join(lines) + TAIL % (len(GIVEN), "\n".join(calls)), kernels


if __name__ == "__main__":
    print(program(sys.argv[1:] == ["mixed"])[0], end="")
