"""Makes a CUDA program of random kernels in the forms that learners write: loops, early returns, switches, arrays in
registers and in shared memory, structs, references, templates, helper functions, macros. Each kernel writes numbers
that do not depend on the order of threads or on rounding; the program prints them.

    make_random.py SEED KERNELS >program.cu"""
import random
import sys

LANES = 64
HEAD = """#include <stdio.h>
#define SQUARE(x) ((x) * (x))
#define CLAMP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
struct Both { int first; unsigned second; short third; };
template <class T> struct Pair { T a, b; };
template <class T> __device__ T larger(T a, T b) { return a > b ? a : b; }
template <int N> __device__ int rotated(int x) { return (x << N | x >> (16 - N)) & 0xffff; }
__device__ void exchange(int &a, int &b) { int t = a; a = b; b = t; }
__device__ Both joined(const Both &a, int x) { Both r = {a.first + x, a.second ^ (unsigned)x}; r.third = (short)x; return r; }
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
"""


class Kernel:
    def __init__(self, chance, number):
        self.chance, self.number, self.depth, self.names, self.loops = chance, number, 0, 0, 0
        self.ints, self.fixed = ["x", "y", "t"], ["t"]  # variables in scope; those that must not change
        self.helpers = []

    def pick(self, *choices):
        return self.chance.choice(choices)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def small(self):
        return str(self.chance.randrange(1, 20))

    def leaf(self):
        return self.pick(self.chance.choice(self.ints), self.chance.choice(self.ints), self.small(),
                         "(int)blockDim.x", "in[t]", f"table[{self.chance.choice(self.ints)} & 7]")

    def value(self, depth=0):
        """An int expression; its value stays far from overflow."""
        if depth > 2 or self.chance.random() < 0.2:
            return self.leaf()
        a, b = self.value(depth + 1), self.value(depth + 1)
        return self.pick(
            f"({a} + {b})", f"({a} - {b})", f"(({a} & 0xff) * ({b} & 0x7f))", f"({a} / {self.small()})",
            f"({a} % {self.small()})", f"({a} >> {self.chance.randrange(5)})", f"(({a} & 0xff) << {self.chance.randrange(8)})",
            f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"({self.truth(depth + 1)} ? {a} : {b})", f"min({a}, {b})",
            f"max({a}, {b})", f"abs({a})", f"larger((int){a}, (int){b})", f"larger<int>({a}, {b} & 0xfff)", f"rotated<{self.pick(1, 3, 7)}>({a} & 0xffff)",
            f"(int)(unsigned char)({a})", f"(int)(short)({a})", f"(int)((unsigned)({a}) / {self.small()}u)", f"__popc({a})",
            f"(int)(float({a} & 0xff) * 2.0f + {b[:0]}1)", f"SQUARE({a} & 0x1f)", f"CLAMP({a}, 2, {self.small()}0)",
            f"(int)((double)({a}) * 0.5)", f"(int)((long long)({a}) * {self.small()} % 1000)", f"-({a})", f"(~{a} & 0xffff)",
            f"(int)sizeof(int[{self.small()}])", f"(({a} & 15) < 7)", f"!({a} & 1)", f"({a}, {b})")

    def truth(self, depth=0):
        a, b = self.value(depth + 1), self.value(depth + 1)
        compare = f"{a} {self.pick('<', '>', '<=', '>=', '==', '!=')} {b}"
        return self.pick(compare, compare, f"{a} % 3", f"!({compare})", f"{compare} && {b} & 1", f"{compare} || t > 9")

    def statements(self, count):
        kept = len(self.ints)
        self.depth += 1
        text = "".join(self.statement() for _ in range(count))
        self.depth -= 1
        del self.ints[kept:]
        return text

    def block(self):
        return "{\n" + self.statements(self.chance.randrange(1, 4)) + "}\n"

    def target(self):
        return self.chance.choice([name for name in self.ints if name not in self.fixed])

    def statement(self):
        forms = [self.declare, self.assign, self.assign, self.step, self.swap, self.struct, self.array, self.wide]
        if self.depth < 4:
            forms += [self.branch, self.branch, self.counted, self.whiled, self.switched, self.unrolled]
        if self.depth == 1:
            forms += [self.shared, self.shuffle, self.helper]
        if self.loops:
            forms += [self.leave]
        return self.chance.choice(forms)()

    def declare(self):
        name, value = self.name(), f"{self.value()} & 0xffff"
        self.ints.append(name)
        return self.pick(f"int {name} = {value};\n", f"int {name}({value});\n", f"auto {name} = {value};\n",
                         f"const int {name}k = {value}; int {name} = {name}k + 1;\n", f"int {name}; {name} = {value};\n")

    def assign(self):
        to, value = self.target(), self.value()
        return self.pick(f"{to} = ({value}) & 0xffff;\n", f"{to} = ({value}) & 0xfff;\n", f"{to} += ({value}) & 0xff, {to} &= 0xffff;\n",
                         f"{to} ^= ({value}) & 0xffff;\n", f"{to} >>= {self.chance.randrange(3)};\n", f"{to} /= {self.small()};\n",
                         f"{to} %= {self.small()};\n", f"{to} -= ({value}) & 0xf;\n", f"{to} = {self.target()} = ({value}) & 0xff;\n")

    def step(self):
        to = self.target()
        return self.pick(f"{to}++;\n", f"--{to};\n", f"y = {to}++ & 0xff;\n", f"x = (++{to} & 7) + 1;\n")

    def swap(self):
        return f"exchange({self.pick('x', 'y')}, {self.target()});\n"

    def struct(self):
        name = self.name()
        return self.pick(
            f"Both {name} = {{{self.value()} & 0xffff, 3u}}; {name} = joined({name}, {self.value()} & 0xfff); "
            f"x = ({name}.first + (int)({name}.second & 0xff) + {name}.third) & 0xffff;\n",
            f"Pair<int> {name} = {{{self.value()} & 0xff}}; {name}.b += x & 0xff; y = {name}.a * 2 + {name}.b;\n",
            f"int2 {name} = make_int2({self.value()} & 0xff, y & 0xff); x = {name}.x - {name}.y;\n")

    def array(self):
        name, count = self.name(), self.chance.randrange(2, 6)
        return (f"int {name}[{count}] = {{{self.value()} & 0xff, 1}};\nfor (int k = 1; k < {count}; k++) "
                f"{name}[k] += {name}[k - 1] + (x & {self.small()});\n" +
                self.pick(f"y = {name}[{count - 1}] & 0xffff;\n", f"y = {name}[(x & 0xff) % {count}] & 0xffff;\n",
                          f"int *p{name} = {name}; p{name}++; y = *p{name} + p{name}[-1];\n"))

    def wide(self):
        name = self.name()
        return self.pick(f"unsigned {name} = x * 2654435761u; y = {name} >> 20;\n",
                         f"long long {name} = (long long)x << 20; {name} /= {self.small()}; y = (int)({name} & 0xffff);\n",
                         f"unsigned char {name} = x; {name} += 200; {name}++; y = {name};\n",
                         f"short {name} = (short)(x * 3); {name} -= y; x = {name} & 0xfff;\n",
                         f"double {name} = x * 0.25; {name} += 2; y = (int){name} & 0xffff;\n",
                         f"float {name} = (float)(x & 0xff); {name} *= 3; if ({name} > 100.5f) {name} -= 1; y = (int){name};\n",
                         f"bool {name} = {self.truth()}; {name} = !{name} || x > 5; y = {name} + {name};\n")

    def branch(self):
        text = f"if ({self.truth()}) {self.block()}"
        return text + self.pick("", f"else {self.block()}", f"else if ({self.truth()}) {self.block()}else {self.block()}")

    def loop(self, head, fixed=None):
        self.loops += 1
        if fixed:
            self.ints.append(fixed), self.fixed.append(fixed)
        text = head + self.block()
        if fixed:
            self.ints.remove(fixed), self.fixed.remove(fixed)
        self.loops -= 1
        return text

    def counted(self):
        i = self.name()
        return self.loop(self.pick(f"for (int {i} = 0; {i} < {self.small()}; {i}++) ", f"for (int {i} = {self.small()}; {i} > 0; {i} /= 2) ",
                                   f"for (int {i} = t & 3; {i} < (y & 15); {i} += 2) ", f"for (int {i} = 16; {i}; {i} >>= 1) "), i)

    def unrolled(self):
        i = self.name()
        return self.loop(f"{self.pick('#pragma unroll', '#pragma unroll 2', '#pragma unroll 1')}\nfor (int {i} = 0; {i} < {self.chance.randrange(1, 9)}; {i}++) ", i)

    def whiled(self):
        i = self.name()
        return f"int {i} = {self.small()};\n" + self.pick(self.loop(f"while ({i}-- > 0) ", None),
                                                        self.loop(f"for (;; {i}--) {{ if ({i} <= 0) break; ", None) + "}\n",
                                                        self.loop("do ", None) + f"while (--{i} > 0);\n")

    def leave(self):
        return f"if ({self.truth()}) {self.pick('break', 'continue', 'break')};\n"

    def switched(self):
        loops, self.loops = self.loops, 0
        text = (f"switch (({self.value()}) & 7) {{\ncase 0: {self.block()}break;\ncase 1:\ncase 3: {self.block()}"
                f"case 4: {self.block()}break;\ndefault: {self.block()}}}\n")
        self.loops = loops
        return text

    def shared(self):
        name = self.name()
        return (f"__shared__ int {name}[{LANES}];\n{name}[t] = {self.value()} & 0xffff;\n__syncthreads();\n" +
                self.pick(f"x = {name}[{LANES - 1} - t];\n", f"x = {name}[(t + {self.small()}) % {LANES}] & 0xff;\n",
                          f"for (unsigned d = {LANES // 2}; d > 0; d /= 2) {{\nif (t < d) {name}[t] += {name}[t + d] & 0xff;\n"
                          f"__syncthreads();\n}}\ny = {name}[0] & 0xffff;\n"))

    def shuffle(self):
        return self.pick("x += __shfl_down_sync(0xffffffffu, x, 3) & 0xff;\n", "y = __shfl_xor_sync(~0u, y, 5);\n",
                         "y = __popc(__ballot_sync(0xffffffff, x & 1));\n", "x = __shfl_sync(0xffffffff, x, t & 7);\n")

    def helper(self):
        name = f"helper{self.number}_{self.name()}"
        kept, depth, loops, self.depth, self.loops = self.ints, self.depth, self.loops, 2, 0
        self.ints = ["x", "y", "t"]
        body = "".join(self.statement() for _ in range(3))
        self.helpers.append(f"static __device__ int {name}(int x, int y, int t, const int *in) {{\nif (x > y + 900) return 7;\n"
                            f"for (int k = 0; k < 4; k++) if (k == (x & 7)) return k + y;\n{body}return (x ^ y) & 0xffff;\n}}\n")
        self.ints, self.depth, self.loops = kept, depth, loops
        return f"x = {name}(x, {self.value()} & 0xffff, t, in) & 0xffff;\n"

    def text(self):
        body = self.statements(9)
        return ("".join(self.helpers) + f"__global__ void kernel{self.number}(int *out, const int *in) {{\nint t = threadIdx.x;\n"
                f"int x = in[t], y = in[t + 1] & 0xff;\n{body}out[t] = x;\nout[t + blockDim.x] = y;\n}}\n")


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    kernels = "".join(Kernel(random.Random(seed * 1000 + k), k).text() for k in range(count))
    calls = "".join(f"    kernel{k}<<<1, {LANES}>>>(d_out, d_in);\n    show({k}, d_out);\n" for k in range(count))
    print(f"""{HEAD}{kernels}static void show(int kernel, int *d_out) {{
    int out[{2 * LANES}];
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < {2 * LANES}; i++) printf("kernel%d %d %d\\n", kernel, i, out[i]);
}}
int main() {{
    int in[{LANES + 1}], *d_in, *d_out;
    for (int i = 0; i <= {LANES}; i++) in[i] = i * 37 % 1009;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, {8 * LANES});
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
{calls}    return 0;
}}""")


main()
