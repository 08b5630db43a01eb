"""Draws CUDA programs of the kind that learners write: sums, tiles, histograms, stencils, scans, rows, warps, extremes
and counters, with the names, types, loops and indices that a seed chooses. Some leave out a barrier.

    make_learners.py SEED PROGRAMS >program.cu         all in one file, with a main that prints their results
    make_learners.py SEED PROGRAMS wrong FOLDER        files 0.cu, 1.cu..: each a kernel with one mistake; prints the
                                                       lines of the mistakes"""
import random
import re
import sys
from pathlib import Path

BLOCK, BLOCKS = 64, 3
N = BLOCK * BLOCKS - 7


class Program:
    """A kernel `learnerK(const T *in, T *out, int n)`, and the functions and macros before it. Its grid is BLOCKS
    blocks of BLOCK threads, in two dimensions if `rows` is set. Results are whole numbers, so that they are exact."""

    def __init__(self, seed, number):
        self.chance, self.number = random.Random(seed * 1000 + number), number
        self.elem = self.pick("float", "float", "double", "int")
        self.index, self.thread = self.pick("i", "idx", "gid", "me"), self.pick("t", "tid", "lane_id", "k0")
        self.rows, self.before = 0, ""
        self.body = self.pick(self.sums, self.tile, self.histogram, self.stencil, self.scan, self.each_row, self.warp,
                              self.extreme, self.digits, self.strided)()

    def pick(self, *choices):
        return self.chance.choice(choices)

    def kind(self):
        return self.pick("int", "unsigned", "unsigned int", "const int", "size_t")

    def barrier(self):
        """Missing in one of eight places."""
        return self.pick(*7 * ["    __syncthreads();\n"], "")

    def places(self):
        """Declares the thread's number in its block and in the grid."""
        t, i = self.thread, self.index
        where = self.pick(f"blockIdx.x * blockDim.x + {t}", f"threadIdx.x + blockDim.x * blockIdx.x", f"{BLOCK} * blockIdx.x + {t}")
        return f"    {self.pick('int', 'unsigned')} {t} = threadIdx.x;\n    {self.kind()} {i} = {where};\n"

    def value(self):
        """The thread's element, or 0 after the end."""
        T, i = self.elem, self.index
        if self.pick(0, 1):
            self.before += f"#define INSIDE{self.number}(x) ((x) < n)\n"
            return f"INSIDE{self.number}({i}) ? in[{i}] : {self.pick('0', f'({T})0', f'{T}(0)')}"
        return f"({self.pick('', '(int)')}{i} < n) ? in[{i}] : 0"

    def sums(self):
        T, t, s = self.elem, self.thread, self.pick("s", "shared", "cache", "sdata")
        size = self.pick(str(BLOCK), "SIZE", "SIZE")
        if size == "SIZE":
            size = f"SIZE{self.number}"
            self.before += f"#define {size} {BLOCK}\n"
        loop = self.pick(
            f"    for (int d = 1; d < {size}; d *= 2) {{\n        if ({t} % (2 * d) == 0)\n            {s}[{t}] += {s}[{t} + d];\n    BARRIER    }}\n",
            f"    for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {{\n        if ({t} < d) {s}[{t}] = {s}[{t}] + {s}[{t} + d];\n    BARRIER    }}\n",
            f"    int d = {size} / 2;\n    while (d != 0) {{\n        if ({t} < d) {{\n            {s}[{t}] += {s}[{t} + d];\n        }}\n    BARRIER        d /= 2;\n    }}\n",
            f"    if ({t} == 0) {{\n        {T} total = 0;\n        for (int j = 0; j < {size}; ++j) total += {s}[j];\n        {s}[0] = total;\n    }}\n")
        return (f"    __shared__ {T} {s}[{size}];\n" + self.places() + f"    {s}[{t}] = {self.value()};\n" + self.barrier() +
                loop.replace("BARRIER", self.barrier() or "") + f"    if ({t} == 0) out[blockIdx.x] = {s}[0];\n")

    def tile(self):
        T, wide = self.elem, self.pick("8", "9")
        self.rows = 8
        return (f"    __shared__ {T} tile[8][{wide}];\n    int x = threadIdx.x, y = threadIdx.y;\n"
                f"    int from = blockIdx.x * 64 + y * 8 + x;\n    tile[y][x] = from < n ? in[from] : 0;\n" + self.barrier() +
                f"    out[blockIdx.x * 64 + {self.pick('y * 8 + x', 'x + 8 * y')}] = {self.pick('tile[x][y]', 'tile[x][y] + tile[y][x]', 'tile[7 - y][x]')};\n")

    def histogram(self):
        bins = self.pick(8, 16, 32)
        return (f"    __shared__ int bins[{bins}];\n" + self.places() + f"    if ({self.thread} < {bins}) bins[{self.thread}] = 0;\n" +
                self.barrier() + f"    if ({self.index} < n) atomicAdd(&bins[(int)in[{self.index}] % {bins}], {self.pick('1', '2')});\n" + self.barrier() +
                f"    if ({self.thread} < {bins}) out[blockIdx.x * {bins} + {self.thread}] = bins[{self.thread}];\n")

    def stencil(self):
        T, t = self.elem, self.thread
        self.before += (f"__device__ {T} three{self.number}({T} a, {T} b, {T} c) {{ return a {self.pick('+', '-')} 2 * b + c; }}\n")
        return (f"    __shared__ {T} row[{BLOCK} + 2];\n" + self.places() + f"    row[{t} + 1] = {self.value()};\n"
                f"    if ({t} == 0) {{\n        row[0] = {self.index} > 0 && {self.index} <= n ? in[{self.index} - 1] : 0;\n"
                f"        row[{BLOCK} + 1] = {self.index} + {BLOCK} < n ? in[{self.index} + {BLOCK}] : 0;\n    }}\n" + self.barrier() +
                f"    if ({self.index} >= n) return;\n    out[{self.index}] = three{self.number}(row[{t}], row[{t} + 1], row[{t} + 2]);\n")

    def scan(self):
        T, t = self.elem, self.thread
        return (f"    __shared__ {T} both[2][{BLOCK}];\n" + self.places() + f"    int now = 0;\n    both[now][{t}] = {self.value()};\n" + self.barrier() +
                f"    for (int d = 1; d < {BLOCK}; d {self.pick('*= 2', '<<= 1', '+= d')}) {{\n        int next = {self.pick('1 - now', 'now ^ 1', '!now')};\n"
                f"        both[next][{t}] = both[now][{t}];\n        if ({t} >= d) both[next][{t}] += both[now][{t} - d];\n"
                f"        now = next;\n    {self.barrier()}    }}\n    out[{self.index}] = both[now][{t}];\n")

    def each_row(self):
        T, wide = self.elem, self.pick(3, 5, 8)
        skip = self.pick("", f"        if (in[{self.index} * {wide} + c] < 0) continue;\n", "        if (sum > 1000) break;\n")
        return (self.places() + f"    if ({self.index} * {wide} + {wide} > n) return;\n    {T} sum = 0;\n    for (int c = 0; c < {wide}; c++) {{\n{skip}"
                f"        sum += {self.pick('', '2 * ')}in[{self.index} * {wide} + c];\n    }}\n    out[{self.index}] = sum;\n")

    def warp(self):
        T = self.elem
        self.before += (f"template <typename T> __device__ T over_warp{self.number}(T x) {{\n"
                        f"    for (int d = 16; d > 0; d /= 2) x += {self.pick('__shfl_down_sync(0xffffffff, x, d)', '__shfl_xor_sync(0xffffffff, x, d)')};\n    return x;\n}}\n")
        return (self.places() + f"    {T} mine = {self.value()};\n    mine = over_warp{self.number}{self.pick('', f'<{T}>')}(mine);\n"
                f"    if ({self.thread} % 32 == 0) out[{self.index} / 32] = mine;\n")

    def extreme(self):
        T, t = self.elem, self.thread
        self.before += (f"struct Best{self.number} {{ {T} value, where; }};\n__device__ void better{self.number}(Best{self.number} &a, const Best{self.number} &b) {{\n"
                        f"    if (b.value {self.pick('<', '>')} a.value) a = b;\n}}\n")
        return (f"    __shared__ Best{self.number} best[{BLOCK}];\n" + self.places() + f"    best[{t}].value = {self.value()};\n    best[{t}].where = {t};\n" + self.barrier() +
                f"    for (int d = {BLOCK // 2}; d > 0; d /= 2) {{\n        if ({t} < d) better{self.number}(best[{t}], best[{t} + d]);\n    {self.barrier()}    }}\n"
                f"    if ({t} == 0) {{\n        out[2 * blockIdx.x] = best[0].value;\n        out[2 * blockIdx.x + 1] = best[0].where;\n    }}\n")

    def digits(self):
        return (self.places() + f"    if ({self.index} >= n) return;\n    unsigned x = (unsigned)in[{self.index}] * {self.pick('2654435761u', '40503u')}, count = 0;\n"
                f"    {self.pick('do {', 'while (x != 0) {', 'for (; x; ) {')}\n        switch (x & 3) {{\n        case 0: count += 1; break;\n        case 1: count += 3;\n"
                f"        case 2: count ^= x; break;\n        default: count--;\n        }}\n        x >>= 2;\n    }}{{DO}}\n    out[{self.index}] = count % 1000;\n")

    def strided(self):
        T = self.elem
        return (f"    {T} sum = {self.pick('0', '0.0f')};\n    int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;\n"
                f"    for (int j = first; j < n; j += stride) sum += in[j] {self.pick('', '* in[j]', '% 7' if T == 'int' else '/ 1')};\n"
                f"    {self.pick('out[first] = sum;', f'atomicAdd(&out[{0}], sum);', 'if (sum != 0) atomicAdd(out, sum);')}\n")

    def text(self):
        body = self.body.replace("}{DO}", "} while (x);" if "do {" in self.body else "}")
        return f"{self.before}__global__ void learner{self.number}(const {self.elem} *in, {self.elem} *out, int n) {{\n{body}}}\n"


def program(seed, count):
    made = [Program(seed, number) for number in range(count)]
    calls = "".join(f"    run<{each.elem}>({each.number}, learner{each.number}, dim3({f'8, {each.rows}' if each.rows else BLOCK}));\n" for each in made)
    return f"""#include <cstdio>
{"".join(each.text() for each in made)}template <typename T> void run(int number, void (*kernel)(const T *, T *, int), dim3 block) {{
    T in[{N}], out[{BLOCK * BLOCKS}], *d_in, *d_out;
    for (int i = 0; i < {N}; i++) in[i] = i * 37 % 101;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemset(d_out, 0, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    kernel<<<{BLOCKS}, block>>>(d_in, d_out, {N});
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < {BLOCK * BLOCKS}; i++) printf("learner%d %d %g\\n", number, i, (double)out[i]);
}}
int main() {{
{calls}    return 0;
}}
"""


# What a mistake replaces, and by what; it is made at one of the places that fit.
MISTAKES = [(r";(?=\n)", ""), (r"\bthreadIdx\b", "threadIndex"), (r"\)(?=;)", ""), (r"\((?=\w+ [<>%])", ""), (r"\bblockIdx\.x", "blockIdx.w"),
            (r"\bint (?=\w+ = )", "integer "), (r"\bout\[", "outt["), (r"= in\[\w+\]|in\[(\w+)\]", "in(0)"), (r"(?<=\w)\](?=[; ])", ""),
            (r"\bif \(", "if "), (r"\bn\b(?=[ );])", "nn"), (r"__syncthreads\(\)", "__syncthread()"), (r"__shared__", "__share__"),
            (r"\bout\[.*\] = ", "in[0] = "), (r" = 0;", " = \"zero\";"), (r" = 0;", " = in;"), (r"\bfor \(int (\w+) = ", "for (int = "),
            (r"\{\n(?=    )", "{\n    int n = 3;\n    int n = 4;\n"), (r"^}$", "    break;\n}"), (r"^}$", "    return 1;\n}"), (r"^}$", "    else n = 1;\n}"),
            (r"(?=^__global__)", "#include \"nothing_of_this_name.h\"\n"), (r"(?=^__global__)", "#if 1\n"), (r"^}$", "    5 = n;\n}"), (r"^}$", "    n();\n}"),
            (r"^}$", "    *n = 1;\n}"), (r"^}$", "    out.x = 1;\n}"), (r"^}$", "    in[0]++;\n}"), (r"^}$", "    float x = 1.5 % 2;\n}"),
            (r"^}$", "    learner();\n}"), (r"^}$", "    int a[n];\n}"), (r"^}$", "    *out = 'ab;\n}"), (r"^}$", "    printf2(\"%d\", n)\n}")]


def wrong(seed, number):
    """The line of a mistake, and the kernel that has it. Each kind comes once before one comes again."""
    chance = random.Random(seed * 1000 + number)
    pattern, text = MISTAKES[number % len(MISTAKES)]
    for other in range(number, number + 1000, 50):  # a program where the mistake can be made
        right = Program(seed, other).text()
        found = list(re.finditer(pattern, right, re.M))
        if found:
            place = chance.choice(found)
            return 1 + right[:place.start()].count("\n"), right[:place.start()] + text + right[place.end():]
    raise SystemExit(f"no program has a place for {pattern}")


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) == 3:
        print(program(seed, count), end="")
        return
    for number in range(count):
        line, text = wrong(seed, number)
        Path(sys.argv[4], f"{number}.cu").write_text(text, encoding="utf-8")
        print(line)


main()
