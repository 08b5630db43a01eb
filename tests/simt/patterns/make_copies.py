"""Writes a program with asynchronous copies (cp.async) of random patterns: where each lane of a warp
copies from, in global memory, and to, in shared memory.

    python3 make_copies.py > copies.cu

h200-copies.csv has what Nsight Compute counted for each of its launches on an H200, in their order.
"""
import random

LANES, COUNT, STEP = 32, 150, 16
NARROW = 3  # of so many patterns one is copied by .ca too: 16 bytes a lane, and half and a quarter of them

MAIN = """
static const Pattern patterns[] = {
%s};

static void halve(Pattern *p) {
    for (int k = 0; k < 32; k++) p->at[k] = p->at[k] < 0 ? -1 : p->at[k] / 2, p->to[k] /= 2;
}

int main() {
    char *in;
    float *out;
    cudaMalloc(&in, 1 << 20);
    cudaMalloc(&out, 4096);
    int k = 0;
    for (Pattern p : patterns) {
        cg16<<<1, 32>>>(in, out, p);
        if (k++ %% %d) continue;
        ca16<<<1, 32>>>(in, out, p);
        halve(&p), ca8<<<1, 32>>>(in, out, p);
        halve(&p), ca4<<<1, 32>>>(in, out, p);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""
HEAD = """// Made by make_copies.py.
struct Pattern {
    int at[32], to[32]; // by lane; at < 0: it copies nothing
};

#define COPY(name, kind, bytes)                                                                    \\
    __global__ void name(const char *in, float *out, Pattern p) {                                  \\
        __shared__ __align__(16) char s[400 * 16];                                                 \\
        int at = 0, to = 0;                                                                        \\
        _Pragma("unroll") for (int k = 0; k < 32; k++) if (threadIdx.x == k) at = p.at[k], to = p.to[k]; \\
        unsigned there = (unsigned)__cvta_generic_to_shared(s + to);                               \\
        if (at >= 0)                                                                               \\
            asm volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ";"                 \\
                         ::"r"(there), "l"(in + at));                                              \\
        asm volatile("cp.async.wait_all;" ::: "memory");                                           \\
        __syncthreads();                                                                           \\
        out[threadIdx.x] = s[threadIdx.x * 16];                                                    \\
    }
COPY(cg16, "cg", 16)
COPY(ca16, "ca", 16)
COPY(ca8, "ca", 8)
COPY(ca4, "ca", 4)
"""


def sources(r):
    """Byte offsets by lane: anywhere, rows with gaps, a stride, a block in another order."""
    span, active, kind = r.choice((16, 32, 64, 128)), r.choice((8, 16, 31, 32)), r.randrange(4)
    if kind == 0:
        at = [STEP * r.randrange(span) for _ in range(LANES)]
    elif kind == 1:
        pitch, row = r.choice((64, 80, 128, 144, 160, 256)), r.choice((2, 3, 4, 5, 8))
        base = STEP * r.randrange(8)
        at = [base + l // row * pitch + l % row * STEP for l in range(LANES)]
    elif kind == 2:
        stride, base = STEP * r.randrange(1, 9), STEP * r.randrange(8)
        at = [base + stride * l for l in range(LANES)]
    else:
        at = list(range(LANES))
        r.shuffle(at)
        base = STEP * r.randrange(8)
        at = [base + STEP * v for v in at]
    return at, active, kind


def places(r):
    """The same in shared memory: as they are, swizzled, in another order, in rows with gaps."""
    kind = r.randrange(7)
    to = list(range(LANES))
    if kind == 4:
        r.shuffle(to)
    return [STEP * (to[l] if kind in (0, 4) else l ^ 1 if kind == 1 else l ^ (l >> 3 & 3) if kind == 2 else
                    l ^ (l >> 2 & 7) if kind == 3 else l * 8 % 256 + l // 32 if kind == 5 else
                    l // 4 * 10 + l % 4) for l in range(LANES)]


def patterns():
    """[(from, to)], by lane; from is -1 where a lane copies nothing."""
    r, made = random.Random(9), []
    for _ in range(COUNT):
        at, active, kind = sources(r)
        to = places(r)
        copies = [r.random() < 0.8 or kind for _ in range(LANES)]
        made.append(([a if l < active and copies[l] else -1 for l, a in enumerate(at)], to))
    return made


def main():
    print(HEAD + MAIN % ("".join("    {{%s}, {%s}},\n" % tuple(", ".join(map(str, part)) for part in pattern)
                                 for pattern in patterns()), NARROW), end="")


if __name__ == "__main__":
    main()
