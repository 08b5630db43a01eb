"""Writes small kernels of random structured control flow, and the same in plain C.

    python3 make_flows.py flows > flows.cu
    python3 make_flows.py polling > polling.cu
    python3 make_flows.py machines > machines.cu
    python3 make_flows.py blind_flows > blind_flows.cu
    python3 make_flows.py blind_machines > blind_machines.cu

Loops of every kind with breaks and continues, early returns, switches with and without falling
through, conditions of several parts that read memory, jumps out of two loops, calls that are not
inlined: nested at random, decided by each thread's own data. A third of the kernels end in a loop.

The counters of loads and stores between them show which lanes execute together: if lanes make an access
separately, it is several requests, and neighbours that share a sector or a bank are counted twice.
No loop is unrolled (`unroll 1`), since in an unrolled loop lanes with more rounds leave those with fewer.
A thread writes only its own words and reads only those or tables, so the host can run one thread after
the other: the program compares every word that a kernel has written.

`flows`: plain accesses. No compiler drops, merges or moves them, since each address depends on what
was read before, and for all that a compiler knows `in` and `out` overlap. `polling`: all accesses are
volatile. In loops with such loads, in which a thread may wait for another, ptxas sets YIELD, and there
lanes may leave those that they would else have waited for. `machines`: plain accesses in interpreters,
state machines and other loops that nothing is counted in, so that several ways lead straight back to
the first statement and no place is the last of a round. The blind ones are others of these two kinds, which
an H200 ran once, when the rules had been read off the first ones.
"""
import random
import sys

TABLE, WORDS, SLOTS, THREADS = 256, 1024, 8, 384  # sizes of s and in; words of each thread in out; threads of a grid
# The threads' own words in s: {their stride: where they begin}.
STRIDES = {stride: TABLE + 128 * (stride - 1) for stride in (1, 2, 4, 8)}
PAIRS = {stride: TABLE + 256 * (stride - 1) for stride in (1, 2, 4, 8)}  # two for each thread
STATEMENTS = 20  # the maximum number of compound statements; after that only accesses are written
THREAD_COUNTS = (32, 32, 33, 64, 80, 96, 128)


class Flow:
    """One kernel's text; `calls` are the functions that it calls."""
    KERNELS = 200
    SHARED = TABLE + 256 * 15
    WORD, MEMORY, GIVEN = "unsigned", ", const unsigned *in, unsigned *out", ", in, out"
    ON_DEVICE, ON_HOST, NAMES = ", in, out", ", host_in, host_out", ("s",)
    ZERO = " ".join("s[%d + %d * t] = s[%d + %d * t] = 0;" % (at, stride, at + 128 * stride, stride)
                    for stride, at in PAIRS.items())

    def __init__(self, number):
        self.random = random.Random(self.seed(number))
        self.number, self.labels, self.loops = number, 0, 0
        self.calls, self.in_call, self.left = [], False, STATEMENTS
        self.blocks, self.threads = self.random.choice((1, 1, 2, 3)), self.random.choice(THREAD_COUNTS)

    @staticmethod
    def seed(number):
        return 6007 * number + 3

    # ---- Expressions ----

    def value(self):
        """Some bits of the thread's state."""
        return self.random.choice(("x", "(x >> %d)" % self.random.randrange(1, 12),
                                   "(x + y)", "(x ^ (y >> %d))" % self.random.randrange(1, 8)))

    def condition(self, parts=True):
        r = self.random
        kind = r.randrange(9 if parts else 6)
        if kind == 0:
            return "t %% %d == %d" % (r.choice((2, 3, 4)), r.randrange(2))
        if kind == 1:
            return "t %s %d" % (r.choice("<>"), r.choice((5, 13, 16, 20, 27, 40)))
        if kind == 2:
            return "%s & %d" % (self.value(), r.choice((1, 2, 4, 3, 6)))
        if kind == 3:
            return "%s %% %d %s %d" % (self.value(), r.choice((3, 5, 7)), r.choice(("==", "!=", "<")),
                                      r.randrange(1, 3))
        if kind == 4:
            return "x %s y" % r.choice("<>")
        if kind == 5:
            return "in[(%s + %d) & %d] & %d" % (self.value(), r.randrange(WORDS), WORDS - 1,
                                               r.choice((1, 3, 4)))
        return "(%s) %s (%s)" % (self.condition(False), r.choice(("&&", "||")), self.condition(kind > 7))

    # ---- Statements: lists of lines ----

    def access(self):
        """A load or a store, of shared or global memory."""
        r = self.random
        stride, bit, add = r.choice(sorted(PAIRS)), r.randrange(8), r.randrange(WORDS)
        word = "s[%d + %d * (t + 128 * ((%%s >> %d) & 1))]" % (PAIRS[stride], stride, bit)
        return [r.choice((
            "x = x * 5 + in[(%s + %d) & %d];" % (self.value(), add, WORDS - 1),
            "x += in[(g + (%s & 56) + %d) & %d] >> %d;" % (self.value(), add, WORDS - 1, bit),
            "out[((x >> %d) & 7) * all + g] = x + %d;" % (bit, add),
            "out[((y >> %d) & 7) * all + g] = x ^ %d;" % (bit, add),
            "x ^= s[(%s + %d) & %d];" % (self.value(), add, TABLE - 1),
            "y += s[(x * %d) & %d] + %d;" % (r.choice((2, 4, 8, 32)), TABLE - 1, add),
            word % "x" + " = x + %d;" % add,
            "y = y * 3 + %s;" % word % "y"))]

    def block(self, depth, loop, count=None):
        lines = []
        for _ in range(count or self.random.choice((1, 2, 2, 3))):
            lines += self.statement(depth, loop)
        return lines

    def body(self, depth, loop):
        return ["    " + line for line in self.block(depth, loop) + self.access()]

    def statement(self, depth, loop):
        """loop: the statements (`break`, `continue`, a goto) by which the innermost loop may be left."""
        r = self.random
        self.left -= 1
        if depth == 0 or self.left < 0:
            return self.leave(loop) if r.random() < 0.25 else self.access()
        kinds = (self.access, self.branch, self.branch, self.chain, self.rounds, self.rounds,
                 self.forever, self.at_least_once, self.choice, self.nest, self.leave, self.call)
        kind = r.choice(kinds)
        if kind == self.access:
            return self.access()
        if kind == self.leave:
            return self.leave(loop)
        if kind == self.call:
            return self.call(depth)
        return kind(depth - 1, loop)

    def leave(self, loop):
        """An early exit, taken by some lanes."""
        ways = ["return x;" if self.in_call else "return;", *loop, *loop]
        way = self.random.choice(ways)
        before = self.access() if self.random.random() < 0.5 else []
        if before:
            return ["if (%s) {" % self.condition(), "    " + before[0], "    " + way, "}"]
        return ["if (%s) %s" % (self.condition(), way)]

    def branch(self, depth, loop):
        lines = ["if (%s) {" % self.condition(), *self.body(depth, loop)]
        if self.random.random() < 0.5:
            lines += ["} else {", *self.body(depth, loop)]
        return lines + ["}"]

    def chain(self, depth, loop):
        lines = ["if (%s) {" % self.condition(), *self.body(depth, loop)]
        for _ in range(self.random.choice((1, 2))):
            lines += ["} else if (%s) {" % self.condition(), *self.body(depth, loop)]
        if self.random.random() < 0.5:
            lines += ["} else {", *self.body(depth, loop)]
        return lines + ["}"]

    def counter(self):
        self.loops += 1
        return "i%d" % self.loops

    def trips(self):
        """A number of rounds from 0 to 7, different for each lane or the same for all."""
        r = self.random
        return r.choice(("t %% %d" % r.choice((3, 5, 6)), "%s %% %d" % (self.value(), r.choice((4, 6))),
                         "(%s & 3) + 1" % self.value(), "in[(%s + %d) & %d] & 7" % (
                             self.place(), r.randrange(WORDS), WORDS - 1), str(r.randrange(2, 5))))

    def place(self):
        return self.value()

    def rounds(self, depth, loop):
        i = self.counter()
        return ["#pragma unroll 1", "for (unsigned %s = 0, n = %s; %s < n; %s++) {" % (
            i, self.trips(), i, i), *self.body(depth, ["break;", "continue;"]), "}"]

    def forever(self, depth, loop):
        i = self.counter()
        return ["#pragma unroll 1", "for (unsigned %s = 0;;) {" % i,
                "    if (%s++ > (%s & 7)) break;" % (i, self.value()),
                *self.body(depth, ["break;", "continue;"]), "}"]

    def at_least_once(self, depth, loop):
        i = self.counter()
        return ["unsigned %s = %s;" % (i, self.trips()), "#pragma unroll 1", "do {",
                *self.body(depth, ["break;"]), "} while (%s-- > 1 && %s < 8);" % (i, i)]

    def choice(self, depth, loop):
        """A switch. `break` leaves the switch, so only `continue` can be used for a loop around it."""
        r = self.random
        inside, cases = ["break;"] + [way for way in loop if way != "break;"], r.randrange(3, 7)
        lines = ["switch (%s %% %d) {" % (self.value(), cases + r.randrange(3))]
        for case in range(cases):
            lines += ["case %d: {" % case, *self.body(depth if case < 2 else 0, inside), "}"]
            lines += ["    break;"] if r.random() < 0.7 else []
        if r.random() < 0.5:
            lines += ["default:", "    " + self.access()[0]]
        return lines + ["}"]

    def nest(self, depth, loop):
        """Two loops, left together by a jump."""
        self.labels += 1
        label, i, k = "out%d" % self.labels, self.counter(), self.counter()
        inner = self.body(max(depth - 1, 0), ["goto %s;" % label, "break;"])
        return ["#pragma unroll 1", "for (unsigned %s = 0, n = %s; %s < n; %s++) {" % (
            i, self.trips(), i, i), *self.body(0, ["continue;"]), "#pragma unroll 1",
            "    for (unsigned %s = 0; %s < 3; %s++) {" % (k, k, k),
            *("    " + line for line in inner), "        if (%s) goto %s;" % (self.condition(), label),
            "    }", *self.body(0, ["break;"]), "}", "%s:;" % label]

    def call(self, depth):
        if self.in_call or len(self.calls) == 2:
            return self.branch(depth - 1, [])
        if not self.calls or self.random.random() < 0.4:
            self.in_call = True
            self.calls.append(self.block(depth - 1, [], 3))
            self.in_call = False
        return ["x = call_%03d_%d(x, y, t, g, all GIVEN);" % (self.number, len(self.calls) - 1)]

    # ---- Kernels ----

    def text(self):
        r = self.random
        lines = self.access() + self.block(3, [], r.choice((2, 3))) + self.access()
        end = r.randrange(3)
        if end == 0:  # in a loop
            lines += self.branch(1, []) + r.choice((self.rounds, self.forever, self.nest))(1, [])
        elif end == 1:
            lines += self.leave([])
        if end:
            lines += ["out[g] = x;", "out[all + g] = y;"]
        return lines


class PollingFlow(Flow):
    """The same of volatile accesses."""
    KERNELS = 60
    SHARED = TABLE + 128 * 15
    WORD, MEMORY, GIVEN, ON_DEVICE, ON_HOST = "volatile unsigned", "", "", "", ""
    NAMES = ("in", "out", "s")
    ZERO = " ".join("s[%d + %d * t] = 0;" % (at, stride) for stride, at in STRIDES.items())

    @staticmethod
    def seed(number):
        return 7919 * number + 1

    def place(self):
        return "g"

    def access(self):
        r = self.random
        kind, stride, slot = r.randrange(8), r.choice(sorted(STRIDES)), r.randrange(SLOTS)
        own = "s[%d + %d * t]" % (STRIDES[stride], stride)
        return [("x = x * 5 + in[(%s + %d) & %d];" % (self.value(), r.randrange(WORDS), WORDS - 1),
                 "x += in[(g + %d) & %d] >> %d;" % (r.randrange(WORDS), WORDS - 1, r.randrange(1, 9)),
                 "out[%d * all + g] = x;" % slot,
                 "out[%d * all + g] = y + %d;" % (slot, r.randrange(99)),
                 "x ^= s[%s & %d];" % (self.value(), TABLE - 1),
                 "y += s[(x * %d) & %d];" % (r.choice((2, 4, 8, 32)), TABLE - 1),
                 "%s = x + %d;" % (own, r.randrange(99)),
                 "y = y * 3 + %s;" % own)[kind]]


class MachineFlow(Flow):
    """Loops whose rounds have no common end. `fuel` bounds their number."""
    KERNELS = 60

    @staticmethod
    def seed(number):
        return 4001 * number + 11

    def few(self, loop, count=1):
        """Some accesses, and perhaps a branch, a loop or an exit."""
        r = self.random
        lines = self.access()
        for _ in range(r.randrange(count + 1)):
            kind = r.randrange(5)
            lines += (self.branch(0, loop) if kind == 0 else self.rounds(0, []) if kind == 1 else
                      self.leave(loop) if kind == 2 else self.access())
        return lines

    def next_state(self, states):
        r = self.random
        if r.random() < 0.4:
            return ["state = %s ? %d : %d;" % (self.condition(), r.randrange(states), r.randrange(states))]
        return ["state = %s %% %d;" % (self.value(), states)]

    def interpreter(self, loop):
        """A switch in an endless loop: some cases continue the loop, some leave the switch, one halts."""
        r = self.random
        states, self.loops = r.randrange(3, 9), self.loops + 1
        fuel, label = "fuel%d" % self.loops, "halt%d" % self.loops
        head = r.choice((["for (;;) {"], ["while (1) {"], ["while (%s < 99) {" % fuel]))
        behind = r.random() < 0.25
        lines = ["{", "unsigned state = %s %% %d, %s = %s;" % (self.value(), states, fuel, self.fuel()),
                 "#pragma unroll 1", *head]
        lines += ["    " + line for line in (self.few([], 0) if r.random() < 0.5 else [])]
        lines += ["    switch (state) {"]
        for case in range(states):
            lines += ["    case %d: {" % case, *("        " + line for line in self.few([], 1)),
                      "        if (%s-- == 0) %s" % (fuel, r.choice(("return;", "goto %s;" % label))),
                      *("        " + line for line in self.few(["continue;"], 1)),
                      *("        " + line for line in self.next_state(states)), "    }"]
            lines += ["        " + r.choice(("break;", "break;", "continue;"))] if r.random() < 0.85 else []
        if r.random() < 0.5:
            lines += ["    default:", "        " + self.access()[0], "        return;"]
        lines += ["    }"] + (["    " + line for line in self.access()] if behind else [])
        return [*lines, "    if (%s > 99) break;" % fuel, "}", "}", *self.target(label, lines)]

    def fuel(self):
        return self.random.choice(("(%s & 7) + 1" % self.value(), "t % 6 + 1", "in[(g + 7) & 1023] & 15",
                                   str(self.random.randrange(2, 9))))

    def goes_round(self, loop):
        """Several `continue`s, each after different work."""
        r = self.random
        self.loops += 1
        fuel, label = "fuel%d" % self.loops, "halt%d" % self.loops
        lines = ["{", "unsigned %s = %s;" % (fuel, self.fuel()), "#pragma unroll 1",
                 r.choice(("while (%s - 1 < 98) {" % fuel, "for (;;) {\n    if (%s - 1 >= 98) break;" % fuel))]
        for _ in range(r.randrange(2, 5)):
            lines += ["    if (%s) {" % self.condition(), "        %s--;" % fuel,
                      *("        " + line for line in self.few([], 1)), "        " + r.choice((
                          "continue;", "continue;", "if (%s) goto %s;" % (self.condition(), label),
                          "if (%s) { %s continue; }" % (self.condition(), self.access()[0]))), "    }"]
            lines += ["    " + line for line in (self.access() if r.random() < 0.6 else [])]
        lines += ["    %s--;" % fuel] + ["    " + line for line in (self.access() if r.random() < 0.5 else [])]
        return [*lines, "}", "}", *self.target(label, lines)]

    @staticmethod
    def target(label, lines):
        """A label, if there is a jump to it."""
        return [label + ":;"] if any("goto %s;" % label in line for line in lines) else []

    def text(self):
        r = self.random
        lines = self.access()
        for _ in range(r.choice((1, 1, 2))):
            kind = r.choice((self.interpreter, self.interpreter, self.goes_round))
            if r.random() < 0.3:
                i = self.counter()
                lines += ["#pragma unroll 1", "for (unsigned %s = 0; %s < %s; %s++) {" % (
                    i, i, r.choice(("2", "t % 3 + 1")), i), *("    " + line for line in kind([])), "}"]
            else:
                lines += kind([])
            lines += self.access()
        return lines + ["out[g] = x;", "out[all + g] = y;"]


def indented(lines):
    return "".join(line + "\n" if line.startswith("#") else "    " + line + "\n" for line in lines)


def functions(flow, body, host):
    """A kernel and the functions that it calls, for the GPU or in plain C."""
    arguments = "unsigned x, unsigned y, unsigned t, unsigned g, unsigned all MEMORY"
    text = ""
    for which, lines in enumerate(flow.calls):
        text += "%s unsigned call_%03d_%d(%s) {\n%s    return x + y;\n}\n\n" % (
            "static" if host else "__device__ __noinline__", flow.number, which, arguments,
            indented(lines))
    if host:
        return text + "static void flow_%03d(%s) {\n%s}\n\n" % (flow.number, arguments, indented(body))
    return text + "__global__ void flow_%03d(unsigned all MEMORY) {\n    START;\n%s}\n\n" % (
        flow.number, indented(body))


HEAD = """// Made by make_flows.py.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define WORDS %(words)d
#define TABLE %(table)d
#define OUT (%(slots)d * %(threads)d)
#define MEMORY %(memory)s
#define GIVEN %(given)s

__device__ %(word)s device_in[WORDS], device_out[OUT];
__shared__ %(word)s device_s[%(shared)d];
static %(word)s host_in[WORDS], host_out[OUT], host_s[%(shared)d];

// x and y of a thread; its own words in s are 0, as all threads' are on the host.
#define START                                                                   \\
    unsigned t = threadIdx.x, g = blockIdx.x * blockDim.x + t;                  \\
    unsigned x = in[g], y = 40503 * g;                                          \\
    _Pragma("unroll 1") for (unsigned i = t; i < TABLE; i += blockDim.x) s[i] = in[i]; \\
    %(zero)s                                                                    \\
    __syncthreads()

"""

MAIN = """
struct Flow {
    const char *name;
    void (*kernel)(unsigned all MEMORY);
    void (*plain)(unsigned x, unsigned y, unsigned t, unsigned g, unsigned all MEMORY);
    unsigned grid, block;
};

static const Flow flows[] = {
%(rows)s};

static unsigned zero[OUT], found[OUT];
static unsigned *in, *out;  // on the device

static int failed(cudaError_t error, const char *name) {
    if (error != cudaSuccess) printf("wrong %%s: %%s\\n", name, cudaGetErrorName(error));
    return error != cudaSuccess;
}

// Every thread alone, in plain C.
static void run_plain(const Flow *flow) {
    unsigned all = flow->grid * flow->block;
    for (unsigned i = 0; i < OUT; i++) host_out[i] = 0;
    for (unsigned g = 0; g < all; g++) {
        for (unsigned i = 0; i < %(shared)d; i++) host_s[i] = i < TABLE ? host_in[i] : 0;
        flow->plain(host_in[g], 40503 * g, g %% flow->block, g, all%(on_host)s);
    }
}

static int check(const Flow *flow) {
    if (failed(cudaMemcpyToSymbol(device_out, zero, sizeof zero), flow->name)) return 1;
    flow->kernel<<<flow->grid, flow->block>>>(flow->grid * flow->block%(on_device)s);
    if (failed(cudaGetLastError(), flow->name) || failed(cudaDeviceSynchronize(), flow->name) ||
        failed(cudaMemcpyFromSymbol(found, device_out, sizeof found), flow->name))
        return 1;
    run_plain(flow);
    unsigned all = flow->grid * flow->block;
    for (unsigned i = 0; i < OUT; i++)
        if (found[i] != host_out[i]) {
            printf("wrong %%s: slot %%u of thread %%u is %%u, not %%u\\n", flow->name, i / all, i %% all,
                   found[i], host_out[i]);
            return 1;
        }
    printf("ok %%s\\n", flow->name);
    return 0;
}

int main(int count, char **names) {
    unsigned words[WORDS], wrong = 0;
    for (unsigned i = 0; i < WORDS; i++) host_in[i] = words[i] = (i * 2654435761u) >> 9;
    if (failed(cudaMemcpyToSymbol(device_in, words, sizeof words), "input") ||
        failed(cudaGetSymbolAddress((void **)&in, device_in), "input") ||
        failed(cudaGetSymbolAddress((void **)&out, device_out), "output"))
        return 1;
    for (const Flow &flow : flows)
        if (count < 2 || !strcmp(flow.name, names[1])) wrong += (unsigned)check(&flow);
    return wrong != 0;
}
"""


class BlindFlow(Flow):
    KERNELS = 100

    @staticmethod
    def seed(number):
        return Flow.seed(number + 5000)


class BlindMachineFlow(MachineFlow):
    @staticmethod
    def seed(number):
        return MachineFlow.seed(number + 5000)


KINDS = {"flows": Flow, "polling": PollingFlow, "machines": MachineFlow, "blind_flows": BlindFlow,
         "blind_machines": BlindMachineFlow}


def main(name):
    kind = KINDS[name]
    facts = {"words": WORDS, "table": TABLE, "slots": SLOTS, "threads": THREADS, "shared": kind.SHARED,
             "zero": kind.ZERO, "word": kind.WORD, "memory": kind.MEMORY, "given": kind.GIVEN,
             "on_device": kind.ON_DEVICE, "on_host": kind.ON_HOST}
    flows = [kind(number) for number in range(kind.KERNELS)]
    texts = [(flow, flow.text()) for flow in flows]
    print(HEAD % facts)
    for place in ("device", "host"):
        print("namespace %s {\n%s" % (place, "".join(
            "#define %s %s_%s\n" % (name, place, name) for name in kind.NAMES)))
        for flow, body in texts:
            print(functions(flow, body, place == "host"), end="")
        print("%s}  // namespace %s\n" % ("".join("#undef %s\n" % name for name in kind.NAMES), place))
    rows = "".join('    {"flow_%03d", device::flow_%03d, host::flow_%03d, %d, %d},\n' % (
        *(flow.number,) * 3, flow.blocks, flow.threads) for flow in flows)
    print(MAIN % {**facts, "rows": rows}, end="")


main(*sys.argv[1:])
