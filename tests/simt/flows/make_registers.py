"""Writes 300 small kernels of random PTX, and the same in plain C.

    python3 make_registers.py > registers.cu

The PTX of compilers is regular: blocks are in the order of execution, almost only branches are guarded,
and registers are written once. Here blocks are in any order, edges go anywhere, so loops have several
entries, and most instructions may be guarded, so the order of the text says little about live ranges.
Each kernel has a few long-lived registers and many short-lived ones. In a third of the kernels all threads
of a block take the same path, and wait at barriers whose numbers are in registers.

No register is read before it was written. Each thread computes one number, which the program compares
with that of the C code.
"""
import random

KERNELS, THREADS = 300, 128
FUEL = 40  # the total number of loop rounds
LABELS = 4  # labels of a branch table


class Kernel:
    def __init__(self, number):
        self.random = random.Random(7919 * number + 5)
        r = self.random
        self.number, self.together = number, number % 3 == 0
        self.all_long = ["r%d" % k for k in range(r.randint(2, 20))]
        self.long = []  # the long-lived registers that a block uses
        self.uniform = ["u%d" % k for k in range(3)] if self.together else []
        self.small = ["n%d" % k for k in range(3)]  # barriers' numbers, times, indices of tables
        self.predicates = ["p%d" % k for k in range(r.randint(1, 4))]
        self.deciding = ["d%d" % k for k in range(2)] if self.together else self.predicates
        self.short = self.wide = self.own = 0  # numbers of registers of each class
        self.blocks = [self.block(k) for k in range(r.randint(3, 18))]
        self.ends = [self.end(k) for k in range(len(self.blocks))]

    # ---- Instructions: (PTX, C, what is read, what is written, guard) ----

    def guarded(self, ptx, c, reads, writes, among, often=0.5):
        """Perhaps guards an instruction by a predicate or its negation."""
        if self.random.random() > often:
            return (ptx, c, reads, writes, None)
        guard, yes = self.random.choice(among), self.random.random() < 0.6
        return ("@%s%s %s" % ("" if yes else "!", guard, ptx), "if (%s%s) { %s }" % (
            "" if yes else "!", guard, c), reads, writes, guard)

    def compute(self, to, values, among, often=0.5):
        r = self.random
        a, b, c = (r.choice(values) for _ in range(3))
        ptx, text, reads = r.choice((
            ("add.u32 %s, %s, %s;" % (to, a, b), "%s = %s + %s;" % (to, a, b), [a, b]),
            ("xor.b32 %s, %s, %s;" % (to, a, b), "%s = %s ^ %s;" % (to, a, b), [a, b]),
            ("sub.u32 %s, %s, %s;" % (to, a, b), "%s = %s - %s;" % (to, a, b), [a, b]),
            ("mad.lo.u32 %s, %s, %s, %s;" % (to, a, b, c), "%s = %s * %s + %s;" % (to, a, b, c), [a, b, c]),
            ("shf.l.wrap.b32 %s, %s, %s, 7;" % (to, a, b), "%s = %s << 7 | %s >> 25;" % (to, b, a), [a, b])))
        return self.guarded(ptx, text, reads, [to], among, often)

    def compare(self, to, values):
        r = self.random
        a, b = r.choice(values), r.choice(values)
        sign, name = r.choice((("<", "lt"), (">=", "ge"), ("==", "eq")))
        if len(to) == 2:
            return self.guarded("setp.%s.u32 %s|%s, %s, %s;" % (name, *to, a, b), "%s = %s %s %s, %s = !%s;" % (
                to[0], a, sign, b, to[1], to[0]), [a, b], to, self.predicates)
        return self.guarded("setp.%s.u32 %s, %s, %s;" % (name, to[0], a, b),
                            "%s = %s %s %s;" % (to[0], a, sign, b), [a, b], to, self.predicates)

    def swapped(self):
        """A pair through a wide register: vectors of registers, read and written."""
        r = self.random
        a, b = r.choice(self.long), r.choice(self.long)
        c, d = r.sample(self.long, 2)
        wide = "w%d" % self.wide
        self.wide += 1
        return [("mov.b64 %s, {%s, %s};" % (wide, a, b), "%s = (u64)%s << 32 | %s;" % (wide, b, a), [a, b],
                 [wide], None),
                ("mov.b64 {%s, %s}, %s;" % (c, d, wide), "%s = (u32)%s, %s = (u32)(%s >> 32);" % (
                    c, wide, d, wide), [wide], [c, d], None)]

    def short_ones(self):
        """Registers that live for a few instructions; the last one is copied to a long-lived one."""
        r, made, lines = self.random, [], []
        for _ in range(r.randint(1, 7)):
            made.append("t%d" % self.short)
            self.short += 1
            lines.append(self.compute(made[-1], made[-3:-1] + [r.choice(self.long)], [], 0))
        return lines + [self.compute(r.choice(self.long), made[-2:], self.predicates)]

    def kept(self):
        """A register that only this block uses; it may keep its value from round to round."""
        r = self.random
        name = "c%d" % self.own
        self.own += 1
        return [self.compute(name, self.long, self.predicates, 0.9),
                self.compute(r.choice(self.long), [name, r.choice(self.long)], self.predicates)]

    def instruction(self):
        r, kind = self.random, self.random.randrange(11)
        if kind < 4:
            return self.short_ones()
        if kind == 4:
            return [self.compute(r.choice(self.long), self.long, self.predicates)]
        if kind == 5:
            few = len(self.predicates) < 2 or r.random() < 0.6
            return [self.compare(r.sample(self.predicates, 1 if few else 2), self.long)]
        if kind == 6:
            return self.swapped()
        if kind == 7:
            to, a, b, p = *(r.choice(self.long) for _ in range(3)), r.choice(self.predicates)
            return [("selp.b32 %s, %s, %s, %s;" % (to, a, b, p), "%s = %s ? %s : %s;" % (to, p, a, b),
                     [a, b, p], [to], None)]
        if kind == 8 and self.together:
            return [self.compute(r.choice(self.uniform), self.uniform, self.deciding), self.decide()]
        return self.kept() if kind == 9 else self.use_small()

    def decide(self):
        r = self.random
        to, a, b = r.choice(self.deciding), r.choice(self.uniform), r.choice(self.uniform)
        return ("setp.lt.u32 %s, %s, %s;" % (to, a, b), "%s = %s < %s;" % (to, a, b), [a, b], [to], None)

    def use_small(self):
        r = self.random
        to, a = r.choice(self.small), r.choice(self.small)
        if r.random() < 0.4:
            return [self.guarded("mov.u32 %s, %s;" % (to, a), "%s = %s;" % (to, a), [a], [to], self.deciding)]
        if self.together:
            return [("bar.sync %s, %d;" % (a, THREADS), ";", [a], [], None)]
        return [("nanosleep.u32 %s;" % a, ";", [a], [], None)]

    def block(self, number):
        lines = []
        few = self.random.randint(2, 4)
        self.long = self.random.sample(self.all_long, min(few, len(self.all_long)))
        for _ in range(self.random.randint(1, 6)):
            lines += self.instruction()
        return lines

    # ---- Branches: (PTX, C, what is read, successors) ----

    def end(self, number):
        """A block may branch to any block, or only to later ones if there is no more fuel."""
        r, count = self.random, len(self.blocks)
        onward = number + 1
        if onward == count:
            return ([], [], [], [count])
        kind = r.randrange(6)
        if kind == 0:
            return ([], [], [], [r.randint(onward, count)])
        if kind == 1:
            at, to = r.choice(self.small), [r.randint(1, count) for _ in range(LABELS)]
            spend = min(to) <= number
            jump = ("brx.idx %s, table%d;" % (at, number),
                    "switch (%s) { %s }" % (at, " ".join("case %d: goto L%d;" % pair for pair in enumerate(to))))
        else:
            p, yes, to = r.choice(self.deciding), r.random() < 0.5, [r.randint(1, count), r.randint(onward, count)]
            at, spend = p, to[0] <= number
            jump = ("@%s%s bra L%d;" % ("" if yes else "!", p, to[0]),
                    "if (%s%s) goto L%d;" % ("" if yes else "!", p, to[0]))
        ptx, c, reads = [], [], [at]
        if spend:
            ptx += ["sub.u32 fuel, fuel, 1;", "setp.eq.u32 empty, fuel, 0;", "@empty bra L%d;" % count]
            c += ["if (--fuel == 0) goto L%d;" % count]
            to = to + [count]
        return (ptx + [jump[0]], c + [jump[1]], reads, to)

    # ---- Registers that may be read before they are written are written at the start ----

    def needed_at_start(self):
        count = len(self.blocks)
        before = [set() for _ in range(count)] + [set(self.result())]
        changed = True
        while changed:
            changed = False
            for k in reversed(range(count)):
                needed = set().union(*(before[to] for to in self.ends[k][3])) | set(self.ends[k][2])
                for _, _, reads, writes, guard in reversed(self.blocks[k]):
                    if guard is None:
                        needed -= set(writes)
                    needed |= set(reads) | ({guard} if guard else set())
                changed |= needed != before[k]
                before[k] = needed
        return sorted(before[0])

    def result(self):
        return sorted(random.Random(self.number).sample(self.all_long, 2))

    def start(self):
        ptx, c = [], []
        for k, name in enumerate(self.needed_at_start()):
            if name[0] in "rc":
                ptx.append("mad.lo.u32 %s, tid, %d, %d;" % (name, 2654435761 + 2 * k, 977 * k))
                c.append("%s = tid * %du + %d;" % (name, 2654435761 + 2 * k, 977 * k))
            elif name[0] == "u":
                ptx.append("mov.u32 %s, %d;" % (name, 40503 * (k + 1)))
                c.append("%s = %d;" % (name, 40503 * (k + 1)))
            elif name[0] == "n":
                value = self.random.randrange(LABELS)
                ptx.append("mov.u32 %s, %d;" % (name, value))
                c.append("%s = %d;" % (name, value))
            else:
                bits = 0 if name[0] == "d" else 1 << k % 5
                ptx += ["and.b32 bit, tid, %d;" % bits, "setp.ne.u32 %s, bit, 0;" % name]
                c.append("%s = (tid & %d) != 0;" % (name, bits))
        return ptx + ["mov.u32 fuel, %d;" % FUEL], c + ["fuel = %d;" % FUEL]

    # ---- Texts ----

    def write(self):
        count = len(self.blocks)
        places = list(range(1, count + 1))
        self.random.shuffle(places)
        places = [0] + places  # the last number is the end of the kernel
        start, start_c = self.start()
        temporaries = ["t%d" % k for k in range(self.short)] + ["c%d" % k for k in range(self.own)]
        temporaries += ["bit", "tid", "fuel"]
        ptx = [".reg .u32 %s;" % ", ".join(self.all_long + self.uniform + self.small + temporaries),
               ".reg .pred %s;" % ", ".join(sorted({*self.predicates, *self.deciding, "empty"}))]
        if self.wide:
            ptx.append(".reg .b64 %s;" % ", ".join("w%d" % k for k in range(self.wide)))
        ptx += ["mov.u32 tid, %1;"] + start
        for place, k in enumerate(places):
            ptx.append("L%d:" % k)
            if k == count:
                ptx += ["xor.b32 %%0, %s, %s;" % (self.result()[0], self.result()[-1]), "bra DONE;"]
                continue
            ptx += [line[0] for line in self.blocks[k]]
            if any("brx" in line for line in self.ends[k][0]):
                ptx.append("table%d: .branchtargets %s;" % (k, ", ".join("L%d" % to for to in self.ends[k][3][:LABELS])))
                ptx += self.ends[k][0]
                continue
            ptx += self.ends[k][0]
            onward = self.ends[k][3][0 if not self.ends[k][0] else 1]
            if place + 1 == len(places) or places[place + 1] != onward:
                ptx.append("bra L%d;" % onward)
        print("__global__ void registers_%d(u32 *out) {" % self.number)
        print("    u32 result;\n    asm volatile(\"{\\n\"")
        for line in ptx:
            print("                 \"%s\\n\"" % line)
        print("                 \"DONE:\\n}\" : \"=&r\"(result) : \"r\"(threadIdx.x) : \"memory\");")
        print("    out[threadIdx.x] = result;\n}")
        names = self.all_long + self.uniform + self.small + temporaries[:-2] + ["fuel"]
        print("static u32 expected_%d(u32 tid) {" % self.number)
        print("    u32 %s;" % ", ".join(name + " = 0" for name in names))
        print("    bool %s;" % ", ".join(name + " = false" for name in sorted({*self.predicates, *self.deciding})))
        if self.wide:
            print("    u64 %s;" % ", ".join("w%d = 0" % k for k in range(self.wide)))
        print("    " + "\n    ".join(start_c))
        for k in range(count):
            print("L%d:" % k)
            for line in [line[1] for line in self.blocks[k]] + self.ends[k][1]:
                print("    " + line)
            if not any("switch" in line for line in self.ends[k][1]):
                print("    goto L%d;" % self.ends[k][3][0 if not self.ends[k][1] else 1])
        print("L%d:\n    return %s ^ %s;\n}" % (count, self.result()[0], self.result()[-1]))


def main():
    kernels = [Kernel(number) for number in range(KERNELS)]
    print("// Written by make_registers.py.\n#include <cstdio>\n#include <cuda_runtime.h>\n"
          "typedef unsigned u32;\ntypedef unsigned long long u64;")
    for kernel in kernels:
        kernel.write()
    print("typedef struct {\n    void (*kernel)(u32 *);\n    u32 (*expected)(u32);\n} Pair;")
    print("static const Pair pairs[] = {%s};" % ", ".join(
        "{registers_%d, expected_%d}" % (k, k) for k in range(KERNELS)))
    print("""int main() {
    u32 *out, got[%d];
    int wrong = 0;
    if (cudaMalloc(&out, sizeof got) != cudaSuccess) return 2;
    for (int k = 0; k < %d; k++) {
        cudaMemset(out, 0, sizeof got);
        pairs[k].kernel<<<1, %d>>>(out);
        cudaError_t error = cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
        u32 t = 0;
        while (error == cudaSuccess && t < %d && got[t] == pairs[k].expected(t)) t++;
        if (error != cudaSuccess) printf("wrong registers_%%d: %%s\\n", k, cudaGetErrorString(error));
        else if (t == %d) printf("ok registers_%%d\\n", k);
        else printf("wrong registers_%%d: thread %%u has %%u, not %%u\\n", k, t, got[t], pairs[k].expected(t));
        wrong += error != cudaSuccess || t < %d;
    }
    return wrong > 0;
}""" % (THREADS, KERNELS, THREADS, THREADS, THREADS, THREADS))


main()
