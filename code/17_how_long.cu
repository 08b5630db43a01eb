// Generated from chapters/17-how-long.md by tangle: edit that file, not this one.
// Chapter 17: what a device can do, measured; and what follows from it.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 17_how_long.cu -o lab && ./lab
// The sum of `mine` over the 32 lanes of a warp, valid in lane 0. All lanes must call it.
static __device__ float warp_sum(float mine) {
    for (unsigned d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
    return mine;
}

// Each warp sums a share of in[0..n): LOADS loads, which wait for nobody, and then their additions.
// Any grid; leaves a partial sum per warp. Reads 4n bytes.
template <unsigned LOADS>
__global__ void sum_chain(const float *in, float *partial, unsigned n) {
    unsigned threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    unsigned i = t;
#pragma unroll 1
    for (; i + (LOADS - 1) * threads < n; i += LOADS * threads) {
        float v[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++) v[k] = in[i + k * threads];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++) sum += v[k];
    }
    for (; LOADS > 1 && i < n; i += threads) sum += in[i];
    sum = warp_sum(sum);
    if (t % 32 == 0) partial[t / 32] = sum;
}

// An operation of a chain: a step takes x and returns what the next step takes; PER instructions.
#define STEP(name, Type, reg, per, text)                                        \
    struct name {                                                               \
        typedef Type Value;                                                     \
        enum { PER = per };                                                     \
        static __device__ Type step(Type x, Type k, Type m) {                   \
            asm volatile(text : "+" reg(x) : reg(k), reg(m) : "memory");        \
            return x;                                                           \
        }                                                                       \
    }
typedef unsigned long long Wide;  // an address, or any 64 bits

STEP(Iadd3, unsigned, "r", 1, "add.u32 %0, %0, %1; add.u32 %0, %0, %2;");
STEP(Lop3, unsigned, "r", 1, "lop3.b32 %0, %0, %1, %2, 0x6a;");
STEP(Shf, unsigned, "r", 1, "shf.l.wrap.b32 %0, %0, %1, %2;");
STEP(Imad, unsigned, "r", 1, "mad.lo.u32 %0, %0, %1, %0;");
STEP(ImadWide, Wide, "l", 1,
     "{ .reg .u32 x, k, l; mov.b64 {l, x}, %0; mov.b64 {k, l}, %1; mul.wide.u32 %0, x, k; }");
STEP(Ffma, float, "f", 1, "fma.rn.f32 %0, %0, %1, %0;");
STEP(Fadd, float, "f", 1, "add.f32 %0, %0, %1;");
STEP(Fmnmx, float, "f", 2, "max.f32 %0, %0, %1; min.f32 %0, %0, %2;");
STEP(Imnmx, int, "r", 2, "max.s32 %0, %0, %1; min.s32 %0, %0, %2;");
STEP(Hfma2, unsigned, "r", 1, "fma.rn.f16x2 %0, %0, %1, %0;");
STEP(Ex2, float, "f", 1, "ex2.approx.ftz.f32 %0, %0;");
STEP(Rcp, float, "f", 1, "rcp.approx.ftz.f32 %0, %0; add.f32 %0, %0, %1;");  // 1 / (1 / x) is x
STEP(I2f, unsigned, "r", 1, "{ .reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f; }");
STEP(F2i, unsigned, "r", 1, "{ .reg .f32 f; mov.b32 f, %0; cvt.rzi.s32.f32 %0, f; }");
STEP(Popc, unsigned, "r", 1, "popc.b32 %0, %0;");
STEP(I2fUp, unsigned, "r", 1, "{ .reg .f32 f; cvt.rp.f32.u32 f, %0; mov.b32 %0, f; }");
STEP(ImadHi, unsigned, "r", 1, "mul.hi.u32 %0, %0, %1;");
STEP(Div, unsigned, "r", 1, "{ .reg .u32 d; or.b32 d, %0, 1; div.u32 %0, 0x12345678, d; }");
STEP(Rem, unsigned, "r", 1, "{ .reg .u32 d; or.b32 d, %0, 1; rem.u32 %0, 0x12345678, d; }");
STEP(MixInt, unsigned, "r", 2, "mad.lo.u32 %0, %0, %1, %0; lop3.b32 %0, %0, %1, %2, 0x6a;");
STEP(F2d, float, "f", 1, "{ .reg .f64 d; cvt.f64.f32 d, %0; cvt.rn.f32.f64 %0, d; }");
STEP(Dadd, double, "d", 1, "add.f64 %0, %0, %1;");
STEP(Dfma, double, "d", 1, "fma.rn.f64 %0, %0, %1, %0;");
STEP(Sel, unsigned, "r", 1, "{ .reg .pred p; setp.gt.u32 p, %0, %1; selp.b32 %0, %1, %2, p; }");
STEP(Shfl, unsigned, "r", 1, "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;");
#if __CUDA_ARCH__ >= 800
STEP(Redux, unsigned, "r", 1, "redux.sync.add.u32 %0, %0, 0xffffffff;");
#else
STEP(Redux, unsigned, "r", 1, "");  // older devices have no such instruction
#endif
STEP(Vote, unsigned, "r", 1,
     "{ .reg .pred p; setp.ne.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff; }");
STEP(Mix, unsigned, "r", 2,
     "{ .reg .f32 f; mov.b32 f, %0; fma.rn.f32 f, f, f, f; mov.b32 %0, f; max.s32 %0, %0, %1; }");
STEP(S2r, unsigned, "r", 1,
     "{ .reg .pred p; setp.ne.u32 p, %0, 0xffffffff; @p mov.u32 %0, %smid; }");
STEP(Warpsync, unsigned, "r", 1, "bar.warp.sync 0xffffffff;");
STEP(Barrier, unsigned, "r", 1, "barrier.sync 0;");

// Shared memory: x is the address of a word that holds this address.
STEP(Lds, unsigned, "r", 1, "ld.volatile.shared.u32 %0, [%0];");
STEP(Lds8, unsigned, "r", 1, "{ .reg .u32 a; ld.volatile.shared.v2.u32 {%0, a}, [%0]; }");
STEP(Lds16, unsigned, "r", 1, "{ .reg .u32 a; ld.volatile.shared.v4.u32 {%0, a, a, a}, [%0]; }");
STEP(Sts, unsigned, "r", 1, "st.volatile.shared.u32 [%0], %0;");
STEP(Sts8, unsigned, "r", 1, "st.volatile.shared.v2.u32 [%0], {%0, %1};");
STEP(Sts16, unsigned, "r", 1, "st.volatile.shared.v4.u32 [%0], {%0, %1, %2, %1};");
STEP(StsLds, unsigned, "r", 2, "st.volatile.shared.u32 [%0], %0; ld.volatile.shared.u32 %0, [%0];");
STEP(LdsShfl, unsigned, "r", 2,
     "ld.volatile.shared.u32 %0, [%0]; shfl.sync.bfly.b32 %0, %0, %1, 31, 0xffffffff;");
STEP(Atoms, unsigned, "r", 1, "atom.shared.add.u32 %0, [%0], %1;");
STEP(LdsFree, unsigned, "r", 1, "{ .reg .u32 a; ld.volatile.shared.u32 a, [%0]; }");  // none waits
STEP(LdsBarrier, unsigned, "r", 1,
     "{ .reg .u32 a; ld.volatile.shared.u32 a, [%0]; barrier.sync 0; }");
STEP(Exchange, unsigned, "r", 1,
     "st.volatile.shared.u32 [%0], %0; barrier.sync 0;"
     "  ld.volatile.shared.u32 %0, [%0]; barrier.sync 0;");
STEP(StsFence, unsigned, "r", 1, "st.volatile.shared.u32 [%0], %0; membar.cta;");

// Global memory: x is the address of eight bytes that hold an address, or of zeros.
STEP(Ldg, Wide, "l", 1, "ld.global.u64 %0, [%0];");
STEP(LdgLow, Wide, "l", 1,  // four bytes, the lower half of an address
     "{ .reg .u32 a, h; mov.b64 {a, h}, %0; ld.global.u32 a, [%0]; mov.b64 %0, {a, h}; }");
STEP(LdgStrong, Wide, "l", 1, "ld.relaxed.gpu.global.u64 %0, [%0];");
STEP(L1_4, Wide, "l", 1,
     "{ .reg .u32 a; .reg .u64 w; ld.global.u32 a, [%0]; cvt.u64.u32 w, a; add.u64 %0, %0, w; }");
STEP(L1_8, Wide, "l", 1, "{ .reg .u64 w; ld.global.u64 w, [%0]; add.u64 %0, %0, w; }");
STEP(L1_16, Wide, "l", 1,
     "{ .reg .u64 w, v; ld.global.v2.u64 {w, v}, [%0]; add.u64 %0, %0, w; add.u64 %0, %0, v; }");
STEP(AtomInt, Wide, "l", 1, "atom.global.add.u64 %0, [%0], %1;");
STEP(AtomCas, Wide, "l", 1, "atom.global.cas.b64 %0, [%0], %0, %0;");
STEP(AtomInt32, Wide, "l", 1,
     "{ .reg .u32 a, h; .reg .u64 w; mov.b64 {a, h}, %1; atom.global.add.u32 a, [%0], a;"
     "  cvt.u64.u32 w, a; add.u64 %0, %0, w; }");
STEP(AtomInc, Wide, "l", 1,
     "{ .reg .u32 a, h; .reg .u64 w; mov.b64 {a, h}, %1; atom.global.inc.u32 a, [%0], a;"
     "  cvt.u64.u32 w, a; add.u64 %0, %0, w; }");
STEP(AtomFloat, Wide, "l", 1,
     "{ .reg .f32 f; .reg .u32 a, h; .reg .u64 w; mov.b64 {a, h}, %1; mov.b32 f, a;"
     "  atom.global.add.f32 f, [%0], f; mov.b32 a, f; cvt.u64.u32 w, a; add.u64 %0, %0, w; }");
STEP(RedInt, Wide, "l", 1,
     "{ .reg .u32 a, h; mov.b64 {a, h}, %1; red.global.add.u32 [%0], a; }");
STEP(RedFloat, Wide, "l", 1,
     "{ .reg .f32 f; .reg .u32 a, h; mov.b64 {a, h}, %1; mov.b32 f, a;"
     "  red.global.add.f32 [%0], f; }");
STEP(Fence, Wide, "l", 1, "membar.gl;");
STEP(StoreFence, Wide, "l", 1, "st.global.u64 [%0], %1; membar.gl;");

__constant__ unsigned zeros[2048];
struct Ldc {  // an index that the compiler does not know
    typedef unsigned Value;
    enum { PER = 1 };
    static __device__ unsigned step(unsigned x, unsigned, unsigned) {
        return *(const unsigned *)((const char *)zeros + x);
    }
};

// When a warp began and ended a loop, in cycles of its multiprocessor.
typedef struct {
    long long start, middle, stop;
} Span;

template <typename Op, unsigned CHAINS, unsigned UNROLL>
static __device__ void steps(typename Op::Value (&x)[CHAINS], const typename Op::Value (&k)[4],
                             unsigned loops) {
#pragma unroll 1
    for (unsigned i = 0; i < loops; i++) {
#pragma unroll
        for (unsigned u = 0; u < UNROLL; u++)
#pragma unroll
            for (unsigned c = 0; c < CHAINS; c++)
                x[c] = Op::step(x[c], k[u % 2 * 2], k[u % 2 * 2 + 1]);
    }
}

// How chains begin: at `start`, a global address, or where that is 0 at a word of shared memory;
// `spread` bytes from one thread to the next, and round again behind `mask`; if `spread` is
// SCATTERED, at random within `mask`.
enum { SCATTERED = 1 };
typedef struct {
    unsigned loops, spread, mask;
    Wide start;
    const unsigned *operands;  // four zeros, which the compiler does not know
} Begin;

// Any two numbers that differ give two that do, and look like chance.
static __device__ unsigned scatter(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// loops * UNROLL steps of each chain, and then twice as many in a loop of the same length; all that
// twice, for the first time fills the instruction caches. Leaves a Span per warp.
template <typename Op, unsigned CHAINS, unsigned UNROLL>
__global__ void chain(Begin b, Span *spans, Wide *never) {
    typedef typename Op::Value Value;
    __shared__ unsigned s[1024];
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
        s[i] = (unsigned)__cvta_generic_to_shared(&s[i]);
    __syncthreads();  // all of s[] is there
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    Wide first = b.start ? b.start : __cvta_generic_to_shared(s);
    Value x[CHAINS], k[4];
    unsigned at = (b.spread == SCATTERED ? scatter(t) : t * b.spread) & b.mask;
    for (unsigned c = 0; c < CHAINS; c++) x[c] = (Value)(first + at);
    for (unsigned c = 0; c < 4; c++) k[c] = (Value)b.operands[c];
    Span span = {0, 0, 0};
#pragma unroll 1
    for (unsigned pass = 0; pass < 2; pass++) {
        __syncthreads();  // the warps begin together
        span.start = clock64();
        steps<Op, CHAINS, UNROLL>(x, k, b.loops);
        __syncthreads();  // every warp has done the shorter loop
        span.middle = clock64();
        steps<Op, CHAINS, 2 * UNROLL>(x, k, b.loops);
        __syncthreads();  // and the longer one
        span.stop = clock64();
    }
    Wide all = 0;
    for (unsigned c = 0; c < CHAINS; c++) all += (Wide)x[c];
    if (all == (Wide)b.operands[0] + 1) *never = all;
    unsigned warps = (blockDim.x + 31) / 32;
    if (threadIdx.x % 32 == 0) spans[blockIdx.x * warps + threadIdx.x / 32] = span;
}

// Where a closed loop of loads reads, and for how long: mask + 1 bytes from `start` on, a power of
// two, again and again; each lane `apart` bytes from the next, or each lane anywhere.
typedef struct {
    unsigned cycles, apart, mask;
    const char *start;
} Stream;

// Loads that pass L1 by, where another warp's may still lie.
static __device__ unsigned load_words(const char *from, unsigned) {
    unsigned a;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(from));
    return a;
}
static __device__ unsigned load_words(const char *from, uint4) {
    uint4 a;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a.x), "=r"(a.y), "=r"(a.z), "=r"(a.w) : "l"(from));
    return a.x;
}

// CHAINS loads of each thread are on their way at any time: the next of a chain leaves when the
// last has come, and has brought a zero. ANYWHERE: each lane has a sector of its own. Any grid.
// Leaves a Span per warp: from a quarter of the time on, when all are under way, so many loads.
template <typename Word, unsigned CHAINS, bool ANYWHERE>
__global__ void __launch_bounds__(1024) stream(Stream s, Span *spans) {
    unsigned warps = gridDim.x * (blockDim.x / 32), lane = threadIdx.x % 32, loads = 0;
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, a[CHAINS] = {0};
    unsigned step = warps * 32 * s.apart, at = (warp * 32 + lane) * s.apart;  // modulo 2^32
    long long begin = clock64(), start = begin, now = begin;
    do {
#pragma unroll
        for (unsigned k = 0; k < 8; k += CHAINS) {
#pragma unroll
            for (unsigned c = 0; c < CHAINS; c++) {
                unsigned place = ANYWHERE ? scatter(at + c * step) & ~31u : at + c * step;
                a[c] = load_words(s.start + ((place & s.mask) + a[c]), Word());
            }
            at += CHAINS * step;
        }
        now = clock64();
        loads += 8;
        if (now - begin < s.cycles / 4 || start == begin) start = now, loads = 0;
    } while (now - begin < s.cycles || loads == 0);
    for (unsigned c = 0; c < CHAINS; c++) loads += a[c];
    if (lane == 0) spans[warp] = {start, (long long)loads, now};
}

// Times loads of 128 bytes, LOADS_TIMED of each warp, one after the other; the first one, while
// others begin, is not counted. Any grid. Leaves a Span per load.
enum { LOADS_TIMED = 24 };
__global__ void __launch_bounds__(1024) time_loads(Stream s, Span *spans) {
    unsigned warps = gridDim.x * (blockDim.x / 32), lane = threadIdx.x % 32;
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned step = warps * 32 * s.apart, at = (warp * 32 + lane) * s.apart, took[LOADS_TIMED + 1];
#pragma unroll
    for (unsigned k = 0; k <= LOADS_TIMED; k++) {
        long long start = clock64();
        unsigned a = load_words(s.start + (at & s.mask), 0u);
        if (a) __trap();  // it has come
        took[k] = (unsigned)(clock64() - start);
        at += step;
    }
    for (unsigned k = 1; k <= LOADS_TIMED; k++)
        if (lane == 0) spans[warp * LOADS_TIMED + k - 1] = {0, 0, took[k]};
}

// Copies to[0..n4) from `from`; without `from` writes only, without `to` reads only. A block has
// 256 threads and 1,024 vectors.
__global__ void move(const uint4 *from, uint4 *to, size_t n4) {
    size_t i = blockIdx.x * (size_t)1024 + threadIdx.x;
    uint4 v[4] = {};
    for (unsigned k = 0; k < 4; k++)
        if (from && i + k * 256 < n4)
            asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                         : "l"(from + i + k * 256));
    for (unsigned k = 0; k < 4; k++)
        if (to && i + k * 256 < n4) to[i + k * 256] = v[k];
}
// Writes to[0..n4) so many times. Any grid.
__global__ void write_again(uint4 *to, size_t n4, unsigned times) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (unsigned k = 0; k < times; k++)
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n4; i += step)
            asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};"
                         :: "l"(&to[i]), "r"(0) : "memory");
}
// Writes into each of `count` words, a power of two of at most 4096, the lower half of the address
// of one of them that no other has.
__global__ void link_any(char *base, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, to = i;
    for (unsigned k = 0; k < 3; k++) to = to * 0x2c1b3c6du + 0x297a2d39u & count - 1, to ^= to >> 6;
    if (i < count) *(unsigned *)(base + i * 4) = (unsigned)(Wide)(base + to * 4);
}
// Writes addresses: at base + i * apart that of the next, and at the last that of the first.
__global__ void link(char *base, size_t apart, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) *(Wide *)(base + i * apart) = (Wide)(base + (i + 1) % count * apart);
}

// Blocks that wait so many cycles, if any, and write down where, from when and until when.
__global__ void wait_cycles(unsigned cycles, Span *spans) {
    long long start = clock64(), now = start;
    while (now - start < cycles) now = clock64();
    unsigned sm;
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    if (spans && threadIdx.x == 0) spans[blockIdx.x] = {start, (long long)sm, now};
}
// LARGE: with all shared memory, which other launches of the same kernel would pay for, too.
template <bool LARGE>
__global__ void do_nothing() {}
// The next kernel may start while this one is there, and waits for its end.
__global__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
// Writes a word with each thread.
template <bool LARGE>
__global__ void store_word(unsigned *to) {
    to[blockIdx.x % 1024 * blockDim.x + threadIdx.x] = blockIdx.x;
}

// Each thread writes WORDS words of local memory, then reads them, so many times, and all that
// twice. Leaves a Span per warp; *never is never written.
template <unsigned WORDS>
__global__ void use_local(unsigned times, unsigned zero, Span *spans, Wide *never) {
    volatile unsigned own[WORDS];
    Span span = {0, 0, 0};
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned pass = 0; pass < 2; pass++) {
        __syncthreads();  // the warps begin together
        span.start = clock64();
        for (unsigned k = 0; k < times; k++)
#pragma unroll 8
            for (unsigned i = 0; i < WORDS; i++) own[i + zero] = k;
        __syncthreads();  // all have written
        span.middle = clock64();
        for (unsigned k = 0; k < times; k++)
#pragma unroll 8
            for (unsigned i = 0; i < WORDS; i++) sum += own[i + zero];
        __syncthreads();  // all have read
        span.stop = clock64();
    }
    if (sum == zero + 1) *never = sum;
    if (threadIdx.x % 32 == 0) spans[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = span;
}

// How many cycles of this multiprocessor a nanosecond has: {cycles, 0, nanoseconds}.
__global__ void compare_clocks(unsigned cycles, Span *spans) {
    Wide ns, ns_now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    long long start = clock64(), now = start;
    while (now - start < cycles) now = clock64();
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns_now));
    if (threadIdx.x == 0) spans[blockIdx.x] = {now - start, 0, (long long)(ns_now - ns)};
}

// ---- The lab: how the kernels are launched, and the table of them ----

#include <algorithm>
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum Elem { FLOAT, INT, DOUBLE, HALF };
enum Mode { COLD, HOT, CALLS, UNTIMED, COUNTER_EXAMPLE };
enum { END = ~0u };  // of a list

// One launch: where the data is, how much of it there is, and how many threads share it.
typedef struct {
    const float *d_in;   // n elements, floats unless the stage says otherwise
    float *d_partial;    // room for the partial sums and, behind them, n elements
    unsigned n, block;   // elements; threads per block
    unsigned grid;       // blocks, when a sweep asks for so many, or 0
    unsigned sms, sm_threads;  // multiprocessors there are, and threads that one of them holds
    const float *h_in;   // the same n elements on the host
    unsigned *shape;     // {blocks, threads}: a launch that chooses both writes them here
    cudaStream_t stream;
} Run;

// One row of a lab's table. launch() starts the kernel, returns how many partial sums it leaves.
typedef struct Stage {
    const char *name;
    unsigned (*launch)(Run run);
    const char *note;
    unsigned block;                 // a block size of its own; 0: what -b says
    Elem elem;
    Mode mode;
    const unsigned *sweep, *sizes;  // further grids to time; sizes to check, if not the usual
    double (*input)(unsigned i);    // element i; NULL: element(i)
    void (*check)(const Stage *stage, Run run, unsigned partials);  // NULL: they add up exactly
    bool half_as_many;              // n / 2 elements
    bool later;                     // checked and timed behind all others: see appendix C
} Stage;

// A lab: its table; seconds to sample a stage, if not half a one; and what it does with each stage
// before the checks, while no input is there, with the file that an option of its own names.
typedef struct {
    const Stage *stages;
    size_t count;
    double seconds;
    void (*before)(const Stage *stage, Run run, const char *file);
    const char *option;
} Lab;

static void fail(int status, const char *what, const char *detail) {
    fprintf(stderr, "lab: %s: %s\n", what, detail);
    exit(status);
}

#define CUDA(call) cuda_check((call), #call)
static void cuda_check(cudaError_t error, const char *call) {
    if (error != cudaSuccess) fail(1, call, cudaGetErrorString(error));
}

// Ends the lab unless a result is within an error of what it should be. NaN never is.
static void expect(const Stage *stage, unsigned n, const char *what, double is, double should,
                   double error) {
    if (is == should || fabs(is - should) <= error) return;
    fprintf(stderr, "lab: %s: WRONG %s of %u elements: %.9g, not %.9g\n", stage->name, what, n,
            is, should);
    if (stage->mode != COUNTER_EXAMPLE) exit(1);
}

// Element i: an integer from -8 to 8, never 0, from a hash of i (the finalizer of MurmurHash3).
static int element(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    i ^= i >> 16;
    return i & 8 ? 1 + (int)(i & 7) : -1 - (int)(i & 7);
}

// Writes x as element i, in the type that the elements have.
static void put(Elem elem, void *h, unsigned i, double x) {
    if (elem == FLOAT) ((float *)h)[i] = (float)x;
    else if (elem == INT) ((int *)h)[i] = (int)x;
    else if (elem == DOUBLE) ((double *)h)[i] = x;
    else ((__half *)h)[i] = __float2half((float)x);
}

// The fewest blocks that cover n elements, and one block when there is nothing to cover.
static unsigned blocks_for(unsigned n, unsigned per_block) {
    return n ? (n - 1) / per_block + 1 : 1;
}

template <unsigned LOADS>
static unsigned launch_chain(Run r) {
    sum_chain<LOADS><<<r.sms, r.block, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return r.sms * r.block / 32;
}

static const Stage stages[] = {
    {"sum_chain_1", launch_chain<1>, "one warp an SM, one load at a time", 32},
    {"sum_chain_4", launch_chain<4>, "one warp an SM, four loads at a time", 32},
};

static struct {
    bool timed;      // false on the CPU device: all runs once, a little, and nothing is told
    unsigned sms, sm_threads;
    double ghz;
    char *d_memory;  // zeros, unless a chain is written there
    size_t bytes, l2;
    size_t next;     // what is read next from memory, so that no cache has it
    Span *d_spans, *h_spans;
    unsigned *d_operands;
    Wide *d_never;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    FILE *rows;
} machine;
enum { SPANS = 1 << 20 };

static void tell(const char *name, double value, const char *unit) {
    if (!machine.timed) return;
    if (value < 0) value = 0;  // a difference of two that are the same
    const char *form = value == floor(value) ? "%.0f" : "%.6g";
    char text[32];
    snprintf(text, sizeof text, form, value);
    printf("%-36s %12s  %s\n", name, text, unit);
    if (machine.rows) fprintf(machine.rows, "%s,%s,%s\n", name, text, unit);
}

static void tell_if(const char *name, double value, const char *unit) {
    if (value > 0) tell(name, value, unit);
}

static double median(double *values, size_t count) {
    std::sort(values, values + count);
    return count ? values[count / 2] : 0;
}

// Reads or writes n4 vectors; see move().
static void move_all(const uint4 *from, uint4 *to, size_t n4) {
    move<<<(unsigned)((n4 + 1023) / 1024), 256, 0, machine.stream>>>(from, to, n4);
}
// What else is in the cache goes: the second half of the memory is read.
static void flush() {
    move_all((const uint4 *)(machine.d_memory + machine.bytes / 2), NULL, machine.bytes / 2 / 16);
}

// Copies the spans of the last kernel.
static const Span *spans_of(size_t count) {
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpyAsync(machine.h_spans, machine.d_spans, count * sizeof(Span),
                         cudaMemcpyDeviceToHost, machine.stream));
    CUDA(cudaStreamSynchronize(machine.stream));
    return machine.h_spans;
}

// Microseconds of what `launch` starts: the median of so many times.
template <typename Launch>
static double us_of(Launch launch, unsigned times) {
    double us[100];
    if (!machine.timed) times = 1;
    for (unsigned k = 0; k < times; k++) {
        float ms;
        CUDA(cudaEventRecord(machine.begin, machine.stream));
        launch();
        CUDA(cudaEventRecord(machine.end, machine.stream));
        CUDA(cudaEventSynchronize(machine.end));
        CUDA(cudaEventElapsedTime(&ms, machine.begin, machine.end));
        us[k] = 1e3 * ms;
    }
    CUDA(cudaGetLastError());
    return median(us, times);
}

// A chain's block of so many threads, and what its steps take; see chain().
typedef struct {
    unsigned blocks, threads, loops, spread, mask;
    const char *start;
    bool cold;
} Shape;

static Begin begin_of(Shape s) {
    unsigned loops = machine.timed ? s.loops : 1;
    return {loops, s.spread, s.mask ? s.mask : ~0u, (Wide)s.start, machine.d_operands};
}

// Cycles from a step to the next of all warps of a block: the least of three times. Into `more`
// goes what an iteration costs beyond its steps, into `loop` what one of the shorter loop takes.
template <typename Op, unsigned CHAINS, unsigned UNROLL>
static double cycles(Shape s, double *more = NULL, double *loop = NULL) {
    static double durations[1 << 15];
    double least = 1e30;
    Begin b = begin_of(s);
    for (unsigned time = 0; time < 3; time++) {
        if (s.cold) flush();
        chain<Op, CHAINS, UNROLL>
            <<<s.blocks, s.threads, 0, machine.stream>>>(b, machine.d_spans, machine.d_never);
        unsigned warps = (s.threads + 31) / 32;
        const Span *spans = spans_of(s.blocks * (size_t)warps);
        for (unsigned block = 0; block < s.blocks; block++) {
            Span all = *spans;
            for (unsigned w = 0; w < warps; w++, spans++) {
                all.start = std::min(all.start, spans->start);
                all.middle = std::max(all.middle, spans->middle);
                all.stop = std::max(all.stop, spans->stop);
            }
            double both = (double)(all.stop - all.middle), one = (double)(all.middle - all.start);
            durations[block] = (both - one) / (b.loops * UNROLL * CHAINS * Op::PER);
            if (more) *more = (2 * one - both) / b.loops;
            if (loop) *loop = one / b.loops;
        }
        least = std::min(least, median(durations, s.blocks));
    }
    return least;
}

// A latency, from a chain of one warp, less that of what stands beside the instruction in a step;
// and a rate, from four chains of each of 32 warps.
template <typename Op>
static double latency_and_rate(const char *name, double beside = 0) {
    char title[64];
    double latency = cycles<Op, 1, 64>({1, 32, 64, 4}) - beside;
    snprintf(title, sizeof title, "latency_%s", name);
    tell(title, latency, "cycles");
    snprintf(title, sizeof title, "rate_%s", name);
    tell(title, cycles<Op, 4, 16>({1, 1024, 64, 4}) / 8, "cycles_per_scheduler");
    return latency;
}

static double measure_one_warp() {
    double iadd3 = latency_and_rate<Iadd3>("iadd3");
    latency_and_rate<Lop3>("lop3");
    latency_and_rate<Shf>("shf");
    latency_and_rate<Imad>("imad");
    latency_and_rate<ImadWide>("imad_wide");
    latency_and_rate<Ffma>("ffma");
    double fadd = latency_and_rate<Fadd>("fadd");
    latency_and_rate<Fmnmx>("fmnmx");
    latency_and_rate<Imnmx>("imnmx");
    latency_and_rate<Hfma2>("hfma2");
    latency_and_rate<Ex2>("ex2");
    latency_and_rate<Rcp>("rcp", fadd);
    latency_and_rate<I2f>("i2f");
    latency_and_rate<F2i>("f2i");
    latency_and_rate<Popc>("popc");
    latency_and_rate<I2fUp>("i2f_up");
    latency_and_rate<ImadHi>("imad_hi");
    latency_and_rate<Div>("div_u32", iadd3);
    latency_and_rate<Rem>("rem_u32", iadd3);
    latency_and_rate<F2d>("f2d");
    latency_and_rate<Dadd>("dadd");
    latency_and_rate<Dfma>("dfma");
    latency_and_rate<Sel>("sel");
    latency_and_rate<Shfl>("shfl");
    latency_and_rate<Redux>("redux");
    latency_and_rate<Vote>("vote");
    latency_and_rate<Ldc>("ldc");
    latency_and_rate<S2r>("s2r", 13);  // a predicate for it is there after 13 cycles
    latency_and_rate<Lds>("lds");
    latency_and_rate<Atoms>("atoms");
    tell("rate_sts", cycles<Sts, 4, 16>({1, 1024, 64, 4}) / 8, "cycles_per_scheduler");
    tell("rate_lds_1_warp", cycles<LdsFree, 1, 64>({1, 32, 64, 4}), "cycles_per_scheduler");
    tell("rate_mix", cycles<Mix, 4, 16>({1, 1024, 64, 4}) / 8, "cycles_per_scheduler");
    tell("rate_mix_int", cycles<MixInt, 4, 16>({1, 1024, 64, 4}) / 8, "cycles_per_scheduler");
    double more, loop;
    cycles<Imad, 1, 64>({1, 32, 256, 4}, &more);
    tell("latency_branch", more, "cycles");
    cycles<Fadd, 1, 1>({1, 1024, 1024, 4}, NULL, &loop);  // an addition and three of the loop
    tell("rate_branch", loop / 8 - 4, "cycles_per_scheduler");
    tell("latency_warpsync", cycles<Warpsync, 1, 64>({1, 32, 64}), "cycles");
    tell("latency_atoms_one_address", cycles<Atoms, 1, 64>({1, 32, 64, 0}), "cycles");
    tell("latency_sts_lds", 2 * cycles<StsLds, 1, 64>({1, 32, 64, 4}), "cycles");
    char name[64];
    for (unsigned ways = 2; ways <= 32; ways *= 2) {
        snprintf(name, sizeof name, "latency_lds_%u_ways", ways);
        tell(name, cycles<Lds, 1, 64>({1, 32, 64, 4 * ways, 4095}), "cycles");
    }
    return iadd3;
}

template <typename Op>
static void shared(const char *name, unsigned spread) {
    tell(name, cycles<Op, 4, 16>({1, 1024, 64, spread, 4095}) / 32, "cycles_per_sm");
}

static void measure_shared() {
    char name[64];
    for (unsigned ways = 1; ways <= 32; ways *= 2) {
        snprintf(name, sizeof name, "shared_ld_%u_ways", ways);
        shared<Lds>(name, 4 * ways);
    }
    shared<Lds8>("shared_ld_8_bytes", 8);
    shared<Lds16>("shared_ld_16_bytes", 16);
    for (unsigned ways = 1; ways <= 32; ways *= 2) {
        snprintf(name, sizeof name, "shared_st_%u_ways", ways);
        shared<Sts>(name, 4 * ways);
    }
    shared<Sts8>("shared_st_8_bytes", 8);
    shared<Sts16>("shared_st_16_bytes", 16);
    shared<StsLds>("shared_mix", 4);
    shared<StsLds>("shared_mix_2_ways", 8);
    shared<LdsShfl>("shared_shuffle_mix", 4);
    static const unsigned warps[] = {1, 4, 8};
    for (unsigned w : warps) {
        snprintf(name, sizeof name, "shared_st_32_ways_of_%u_warps", w);
        tell(name, cycles<Sts, 1, 16>({1, 32 * w, 64, 128, 4095}) / w, "cycles_per_sm");
    }
}

static void measure_barriers() {
    char name[64];
    for (unsigned warps = 1; warps <= 32; warps *= 2) {
        snprintf(name, sizeof name, "barrier_%u_warps", warps);
        tell(name, cycles<Barrier, 1, 16>({1, 32 * warps, 128}), "cycles");
    }
    for (unsigned warps = 2; warps <= 32; warps *= 2) {
        unsigned blocks = 64 / warps;
        snprintf(name, sizeof name, "barrier_%u_blocks_%u_warps", blocks, warps);
        tell(name, cycles<Barrier, 1, 16>({blocks * machine.sms, 32 * warps, 1024}), "cycles");
    }
    Shape eight = {8 * machine.sms, 256, 1024, 4, 1023};
    tell("barrier_8_blocks_8_warps_lds", cycles<LdsBarrier, 1, 16>(eight), "cycles");
    for (unsigned blocks = 2; blocks <= 4; blocks *= 2) {
        snprintf(name, sizeof name, "barrier_%u_blocks_8_warps", blocks);
        tell(name, cycles<Barrier, 1, 16>({blocks * machine.sms, 256, 1024}), "cycles");
    }
    static const unsigned exchanges[][2] = {{1, 2}, {16, 2}, {1, 8}, {8, 8}, {1, 32}};
    for (const unsigned(&e)[2] : exchanges) {
        snprintf(name, sizeof name, "exchange_%u_blocks_%u_warps", e[0], e[1]);
        Shape all = {e[0] * machine.sms, 32 * e[1], 256, 4, 4095};
        tell(name, cycles<Exchange, 1, 8>(all), "cycles");
    }
}

// Cycles of a load from a ring of `count` addresses, `apart` bytes from each other.
template <typename Op>
static double chase(size_t apart, unsigned count, unsigned loops, bool cold) {
    link<<<blocks_for(count, 256), 256, 0, machine.stream>>>(machine.d_memory, apart, count);
    double latency = cycles<Op, 1, 8>({1, 1, loops, 0, 0, machine.d_memory, cold});
    CUDA(cudaMemsetAsync(machine.d_memory, 0, count * apart, machine.stream));
    return latency;
}

// A closed loop: blocks and threads, bytes from one lane to the next, and those of a lane that
// count; where it reads, of so many bytes, a power of two; 0: of other memory each time.
typedef struct {
    unsigned blocks, threads, apart, counted;
    size_t bytes;
} Load;

// Where to read: of so many bytes, which the cache then holds; 0: of a part of memory that was not
// read for long.
static Stream place_of(size_t bytes, size_t part, unsigned apart) {
    unsigned cycles = machine.timed ? 40000 : 1;
    if (bytes) {
        move_all((const uint4 *)machine.d_memory, NULL, bytes / 16);
        return {cycles, apart, (unsigned)(bytes - 1), machine.d_memory};
    }
    size_t next = (machine.next + part - 1) / part * part % machine.bytes;
    machine.next = next + part;
    return {cycles, apart, (unsigned)(part - 1), machine.d_memory + next};
}

// Bytes that a block gets in a cycle, the mean; in *slowest, which may be NULL, what the one has
// that gets the least, as a part of the mean.
template <typename Word, unsigned CHAINS, bool ANYWHERE>
static double block_gets(Load l, double *slowest) {
    unsigned warps = l.threads / 32;
    bool alone = ANYWHERE || l.apart > l.counted;  // each lane has to wait for long
    Stream from = place_of(l.bytes, machine.bytes / (alone ? 1 : 8), l.apart);
    if (alone && machine.timed) from.cycles *= 8;
    stream<Word, CHAINS, ANYWHERE>
        <<<l.blocks, l.threads, 0, machine.stream>>>(from, machine.d_spans);
    const Span *spans = spans_of(l.blocks * (size_t)warps);
    double sum = 0, least = 1e30;
    for (unsigned b = 0; b < l.blocks; b++) {
        double block = 0;
        for (unsigned w = 0; w < warps; w++, spans++)
            block += (double)spans->middle / (double)(spans->stop - spans->start);
        sum += block, least = std::min(least, block);
    }
    if (slowest) *slowest = least / (sum / l.blocks);
    return sum / l.blocks * l.counted * 32;
}

// Bytes that an SM gets in a cycle, the mean of all: the median of five times.
template <typename Word, unsigned CHAINS, bool ANYWHERE>
static double loaded(Load l, double *slowest = NULL) {
    double rates[5], least[5];
    for (unsigned k = 0; k < 5; k++) rates[k] = block_gets<Word, CHAINS, ANYWHERE>(l, &least[k]);
    if (slowest) *slowest = median(least, 5);
    return median(rates, 5) * (l.blocks > machine.sms ? l.blocks / machine.sms : 1);
}

// As many blocks of 1,024 threads as all SMs hold at a time.
static unsigned full() { return machine.sms * (machine.sm_threads / 1024); }

// What an SM gets that has so many loads of a warp on their way, first by warps, then by more
// loads of each, which is at most eight. 0: this device has not so many warps.
template <bool ANYWHERE>
static double load_point(unsigned loads, size_t footprint) {
    unsigned most = full() / machine.sms * 32, chains = loads > most ? loads / most : 1;
    unsigned warps = loads / chains, per_block = warps < 32 ? warps : 32;
    Load l = {machine.sms * (warps / per_block), per_block * 32, 4, 4, footprint};
    if (ANYWHERE) l.apart = l.counted = 32;
    if (chains == 1) return loaded<unsigned, 1, ANYWHERE>(l);
    if (chains == 2) return loaded<unsigned, 2, ANYWHERE>(l);
    if (chains == 4) return loaded<unsigned, 4, ANYWHERE>(l);
    if (chains == 8) return loaded<unsigned, 8, ANYWHERE>(l);
    return 0;
}

// How evenly loads come of which each of so many warps of an SM has one on its way: of all the
// cycles that one takes, what 10, 50, 90 and 99 % of them take at most.
static void measure_spread(const char *where, unsigned warps, size_t footprint) {
    static double cycles[SPANS];
    static const unsigned percents[] = {10, 50, 90, 99};
    unsigned per_block = warps < 32 ? warps : 32, blocks = machine.sms * (warps / per_block);
    if (warps > machine.sm_threads / 32) return;
    time_loads<<<blocks, per_block * 32, 0, machine.stream>>>(
        place_of(footprint, machine.bytes / 8, 4), machine.d_spans);
    size_t count = (size_t)blocks * per_block * LOADS_TIMED;
    const Span *spans = spans_of(count);
    for (size_t k = 0; k < count; k++) cycles[k] = (double)spans[k].stop;
    std::sort(cycles, cycles + count);
    for (unsigned percent : percents) {
        char name[64];
        snprintf(name, sizeof name, "latency_%s_%u_warps_p%u", where, warps, percent);
        tell(name, cycles[count * percent / 100], "cycles");
    }
}

// Gigabytes a second that a read, a write or a copy moves: of half of the memory, beyond what a
// quarter takes.
static double move_gbps(bool reads, bool writes) {
    size_t n4 = machine.bytes / 2 / 16;
    uint4 *to = (uint4 *)machine.d_memory, *from = to + n4;
    auto half = [&](size_t count) { move_all(reads ? from : NULL, writes ? to : NULL, count); };
    double long_us = us_of([&] { half(n4); }, 9), short_us = us_of([&] { half(n4 / 2); }, 9);
    return (reads + writes) * (n4 - n4 / 2) * 16.0 / (long_us - short_us) / 1e3;
}

// Bytes that an SM writes in a cycle, all at it, where L2 holds what is written.
static double write_l2(size_t bytes) {
    auto write = [&](unsigned times) {
        write_again<<<full(), 1024, 0, machine.stream>>>((uint4 *)machine.d_memory,
                                                                  bytes / 16, times);
    };
    unsigned times = machine.timed ? 50 : 1;
    double us = us_of([&] { write(2 * times); }, 9) - us_of([&] { write(times); }, 9);
    return (double)bytes * times / (us * 1e3 * machine.ghz) / machine.sms;
}

static void measure_l1() {
    char name[64];
    tell("latency_l1", chase<Ldg>(128, 128, 64, false), "cycles");
    Shape s = {1, 1024, 64, 4, 0, machine.d_memory};
    tell("rate_l1_4_bytes", cycles<L1_4, 4, 4>(s) / 32, "cycles_per_sm");
    s.spread = 8;
    tell("rate_l1_8_bytes", cycles<L1_8, 4, 4>(s) / 32, "cycles_per_sm");
    s.spread = 16;
    tell("rate_l1_16_bytes", cycles<L1_16, 4, 4>(s) / 32, "cycles_per_sm");
    for (unsigned lines = 2; lines <= 32; lines *= 2) {
        snprintf(name, sizeof name, "l1_%u_lines", lines);
        Shape few = {1, 256, 64, 4 * lines, 0, machine.d_memory};
        tell(name, cycles<L1_4, 4, 4>(few) / 8, "cycles_per_sm");
    }
    for (unsigned lines = 8; lines <= 32; lines *= 2) {  // and no two lanes on one bank
        snprintf(name, sizeof name, "l1_%u_lines_own_banks", lines);
        Shape own = {1, 256, 64, 4 * (lines < 32 ? lines + 1 : 33), 0, machine.d_memory};
        tell(name, cycles<L1_4, 4, 4>(own) / 8, "cycles_per_sm");
    }
    unsigned words = 4096;
    link_any<<<words / 256, 256, 0, machine.stream>>>(machine.d_memory, words);
    tell("latency_gather_l1", cycles<LdgLow, 1, 8>({1, 32, 64, 4, 4 * words - 1, machine.d_memory}),
         "cycles");
    tell("rate_gather_l1",
         cycles<LdgLow, 1, 8>({1, 1024, 64, 4, 4 * words - 1, machine.d_memory}) / 32,
         "cycles_per_sm");
    CUDA(cudaMemsetAsync(machine.d_memory, 0, 4 * words, machine.stream));
}

// Cycles of an SM for an access of a warp to local memory, all at it with 1,024 threads each.
template <unsigned WORDS>
static void measure_local() {
    char name[64];
    unsigned times = machine.timed ? 1024 / WORDS : 1;
    double wrote[1024], read[1024];
    use_local<WORDS><<<machine.sms, 1024, 0, machine.stream>>>(times, 0, machine.d_spans,
                                                              machine.d_never);
    const Span *span = spans_of(machine.sms * 32);
    for (unsigned b = 0; b < machine.sms && b < 1024; b++, span += 32) {
        wrote[b] = (double)(span->middle - span->start) / (times * WORDS * 32);
        read[b] = (double)(span->stop - span->middle) / (times * WORDS * 32);
    }
    snprintf(name, sizeof name, "local_st_%u_words", WORDS);
    tell(name, median(wrote, machine.sms), "cycles_per_sm");
    snprintf(name, sizeof name, "local_ld_%u_words", WORDS);
    tell(name, median(read, machine.sms), "cycles_per_sm");
}

static void measure_l2_and_dram() {
    char name[64];
    size_t in_l2 = 1 << 20;  // a power of two, at most a quarter of the cache
    while (machine.timed && in_l2 * 8 <= machine.l2 && in_l2 < 8 << 20) in_l2 *= 2;
    unsigned sms = machine.sms;
    tell("latency_l2", chase<Ldg>(1152, (unsigned)(in_l2 / 1152), 64, false), "cycles");
    double slowest;
    tell("rate_l2_sm", loaded<uint4, 4, false>({1, 1024, 16, 16, in_l2}), "bytes_per_cycle");
    tell("rate_l2", loaded<uint4, 4, false>({full(), 1024, 16, 16, in_l2}), "bytes_per_cycle_sm");
    tell("rate_l2_write", write_l2(in_l2), "bytes_per_cycle_sm");
    tell("rate_l2_sectors", loaded<unsigned, 4, false>({full(), 1024, 128, 32, in_l2}),
         "bytes_per_cycle_sm");
    loaded<uint4, 4, false>({sms, 1024, 16, 16, in_l2}, &slowest);
    tell("l2_slowest_sm", slowest, "ratio");
    tell("latency_dram", chase<Ldg>(4224, machine.timed ? 3200 : 48, 64, true), "cycles");
    tell("rate_dram_sm", loaded<uint4, 4, false>({1, 1024, 16, 16, 0}), "bytes_per_cycle");
    tell("rate_dram_read", move_gbps(true, false), "GB/s");
    tell("rate_dram_write", move_gbps(false, true), "GB/s");
    tell("rate_dram_copy", move_gbps(true, true), "GB/s");
    tell("rate_dram_sectors", loaded<unsigned, 4, false>({full(), 1024, 128, 32, 0}) * sms *
         machine.ghz, "GB/s");
    loaded<uint4, 4, false>({sms, 1024, 16, 16, 0}, &slowest);
    tell("dram_slowest_sm", slowest, "ratio");
    for (unsigned cold = 0; cold < 2; cold++) {
        size_t bytes = cold ? 0 : in_l2;
        const char *where = cold ? "dram" : "l2";
        for (unsigned loads = 1; loads <= 512; loads *= 2) {
            snprintf(name, sizeof name, "load_%s_%u", where, 128 * loads);
            tell_if(name, load_point<false>(loads, bytes), "bytes_per_cycle_sm");
        }
        snprintf(name, sizeof name, "load_%s_131072", where);
        tell(name, loaded<uint4, 4, false>({full(), 1024, 16, 16, bytes}), "bytes_per_cycle_sm");
        snprintf(name, sizeof name, "load_%s_16_bytes_32768", where);
        if (machine.sm_threads >= 2048)
            tell(name, loaded<uint4, 1, false>({full(), 1024, 16, 16, bytes}),
                 "bytes_per_cycle_sm");
        for (unsigned loads = 1; loads <= 256; loads *= 4) {
            snprintf(name, sizeof name, "gather_%s_%u", where, loads);
            tell_if(name, load_point<true>(loads, bytes), "bytes_per_cycle_sm");
        }
        for (unsigned warps = 1; warps <= 64; warps *= 8) measure_spread(where, warps, bytes);
    }
    measure_local<16>();
    measure_local<96>();
}

// Cycles of the device for each of the steps that all threads of such a shape take, or warps of
// `lanes` threads: what twice as many loops take longer.
template <typename Op>
static double device_cycles(Shape s, unsigned lanes) {
    auto run = [&](unsigned loops) {
        s.loops = loops;
        chain<Op, 1, 8><<<s.blocks, s.threads, 0, machine.stream>>>(begin_of(s), machine.d_spans,
                                                                    machine.d_never);
    };
    unsigned loops = machine.timed ? s.loops : 1;
    double once = us_of([&] { run(loops); }, 5), twice = us_of([&] { run(2 * loops); }, 5);
    double steps = 2.0 * 3 * 8 * loops * s.blocks * (s.threads / lanes);
    return (twice - once) * 1e3 * machine.ghz / steps;
}

// Cycles of a step on one address, the mean over 32 of them: some are farther away than others.
template <typename Op>
static double at_many() {
    double sum = 0;
    for (unsigned k = 0; k < 32; k++)
        sum += cycles<Op, 1, 8>({1, 1, 8, 0, 0, machine.d_memory + k * 4224});
    return sum / 32;
}

template <typename Op>
static void atomics(const char *op, const char *type) {
    char name[64];
    unsigned sms = machine.sms;
    snprintf(name, sizeof name, "%s_one_address_%s", op, type);
    Shape s = {32 * sms, 1, 1, 0, 0, machine.d_memory};
    tell(name, device_cycles<Op>(s, 1), "cycles_of_device");
    snprintf(name, sizeof name, "%s_one_address_%s_warp", op, type);
    tell(name, device_cycles<Op>({4 * sms, 256, 1, 0, 0, machine.d_memory}, 32),
         "cycles_of_device");
    snprintf(name, sizeof name, "%s_own_address_%s_warp", op, type);
    tell(name, device_cycles<Op>({4 * sms, 256, 32, 4, (1 << 20) - 1, machine.d_memory}, 32),
         "cycles_of_device");
    snprintf(name, sizeof name, "%s_own_sector_%s_warp", op, type);
    tell(name, device_cycles<Op>({4 * sms, 256, 8, 32, (1 << 20) - 1, machine.d_memory}, 32),
         "cycles_of_device");
    snprintf(name, sizeof name, "%s_own_line_%s_warp", op, type);
    tell(name, device_cycles<Op>({4 * sms, 256, 8, 128, (1 << 20) - 1, machine.d_memory}, 32),
         "cycles_of_device");
    snprintf(name, sizeof name, "%s_16_kib_%s_warp", op, type);  // each lane another line of those
    tell(name, device_cycles<Op>({4 * sms, 256, 8, 516, (1 << 14) - 1, machine.d_memory}, 32),
         "cycles_of_device");
    for (unsigned words = 16; words <= 16384; words *= 4) {
        s = {4 * sms, 256, 4, SCATTERED, 4 * words - 4, machine.d_memory};
        snprintf(name, sizeof name, "%s_%u_words_%s_warp", op, words, type);
        tell(name, device_cycles<Op>(s, 32), "cycles_of_device");
        s.spread = 4;  // adjacent lanes have adjacent words
        snprintf(name, sizeof name, "%s_%u_words_in_order_%s_warp", op, words, type);
        tell(name, device_cycles<Op>(s, 32), "cycles_of_device");
    }
}

static void measure_atomics(double iadd3) {
    tell("latency_atom_int", chase<AtomInt>(4224, 96, 32, false), "cycles");
    tell("latency_atom_float", at_many<AtomFloat>() - 2 * iadd3, "cycles");
    tell("latency_cas", chase<AtomCas>(4224, 96, 32, false), "cycles");
    tell("latency_strong_load", chase<LdgStrong>(4224, 96, 32, false), "cycles");
    atomics<RedInt>("red", "int");
    atomics<RedFloat>("red", "float");
    atomics<AtomInt32>("atom", "int");
    atomics<AtomFloat>("atom", "float");
    tell("atom_one_address_inc",
         device_cycles<AtomInc>({32 * machine.sms, 1, 1, 0, 0, machine.d_memory}, 1),
         "cycles_of_device");
    // One SM alone: cycles of it for a warp's instruction.
    Shape alone = {1, 1024, 64, 4, 0, machine.d_memory};
    tell("rate_red_sm", cycles<RedFloat, 1, 8>(alone) / 32, "cycles_per_sm");
    tell("rate_atom_sm", cycles<AtomFloat, 1, 8>(alone) / 32, "cycles_per_sm");
    alone.spread = 128;
    tell("rate_red_sm_own_line", cycles<RedFloat, 1, 8>(alone) / 32, "cycles_per_sm");
    Shape few = {32 * machine.sms, 1, 8, 128, 64 * 128 - 1, machine.d_memory};
    tell("red_64_addresses_float", device_cycles<RedFloat>(few, 1), "cycles_of_device");
    tell("latency_fence", at_many<Fence>(), "cycles");
    tell("latency_store_fence", at_many<StoreFence>(), "cycles");
    Shape eight = {8 * machine.sms, 1, 8, 4224, ~0u, machine.d_memory};  // eight on each SM
    tell("latency_store_fence_8_blocks", cycles<StoreFence, 1, 8>(eight), "cycles");
    tell("latency_fence_block", cycles<StsFence, 1, 8>({1, 1, 32}), "cycles");
}

// Cycles from the first instruction of a block to that of the next one on its SM, the mean: of
// blocks that all started before the first one ended.
static double starts(unsigned blocks) {
    spans_of(blocks);
    Span *spans = machine.h_spans, *end = spans + blocks;
    std::sort(spans, end, [](const Span &a, const Span &b) {
        return a.middle != b.middle ? a.middle < b.middle : a.start < b.start;
    });
    double sum = 0;
    size_t count = 0;
    for (Span *span = spans + 1; span < end; span++)
        if (span->middle == span[-1].middle) sum += (double)(span->start - span[-1].start), count++;
    return count ? sum / (double)count : 0;
}

static void measure_blocks(int most_shared) {
    unsigned sms = machine.sms, many = machine.timed ? 100000 : 100;
    for (unsigned threads = 32; threads <= 1024; threads += 992) {
        auto start = [&](unsigned blocks) {
            wait_cycles<<<blocks, threads, 0, machine.stream>>>(0, NULL);
        };
        double us = us_of([&] { start(2 * many); }, 5) - us_of([&] { start(many); }, 5);
        tell(threads == 32 ? "block_start" : "block_start_1024", us * 1e3 * machine.ghz / many,
             "cycles_of_device");
    }
    CUDA(cudaFuncSetAttribute(do_nothing<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              (int)most_shared));
    CUDA(cudaFuncSetAttribute(store_word<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              (int)most_shared));
    for (unsigned threads = 256; threads <= 1024; threads += 768) {
        unsigned blocks = sms * machine.sm_threads / threads, rounds = machine.timed ? 200 : 1;
        for (unsigned time = 0; time < 2; time++)  // the first loads the kernel
            wait_cycles<<<blocks, threads, 0, machine.stream>>>(machine.timed ? 20000 : 1,
                                                                machine.d_spans);
        tell(threads == 256 ? "block_start_sm" : "block_start_sm_1024", starts(blocks), "cycles");
        auto alone = [&](unsigned times) {  // a block with all of its SM's shared memory
            do_nothing<true><<<times * sms, threads, most_shared, machine.stream>>>();
        };
        auto stores = [&](unsigned times) {  // the same, and each thread stores a word
            store_word<true><<<times * sms, threads, most_shared, machine.stream>>>(
                (unsigned *)machine.d_memory);
        };
        double us = us_of([&] { alone(2 * rounds); }, 5) - us_of([&] { alone(rounds); }, 5);
        tell(threads == 256 ? "block_turnover" : "block_turnover_1024",
             us * 1e3 * machine.ghz / rounds, "cycles");
        us = us_of([&] { stores(2 * rounds); }, 5) - us_of([&] { stores(rounds); }, 5);
        tell(threads == 256 ? "block_turnover_store" : "block_turnover_store_1024",
             us * 1e3 * machine.ghz / rounds, "cycles");
    }
}

// Microseconds of a launch, of a graph of many as in the harness.
template <typename Launch>
static double us_in_graph(Launch launch) {
    unsigned times = machine.timed ? 200 : 1;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA(cudaStreamBeginCapture(machine.stream, cudaStreamCaptureModeThreadLocal));
    for (unsigned k = 0; k < times; k++) launch();
    CUDA(cudaStreamEndCapture(machine.stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    double us = us_of([&] { CUDA(cudaGraphLaunch(replay, machine.stream)); }, 50);
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    return us / times;
}

// The same in a stream, without a graph: a kernel that waits gives the host time to queue them.
template <typename Launch>
static double us_in_stream(Launch launch) {
    const unsigned times = machine.timed ? 200 : 1;
    float ms;
    wait_cycles<<<1, 32, 0, machine.stream>>>(machine.timed ? 8000000 : 1, NULL);
    CUDA(cudaEventRecord(machine.begin, machine.stream));
    for (unsigned k = 0; k < times; k++) launch();
    CUDA(cudaEventRecord(machine.end, machine.stream));
    CUDA(cudaEventSynchronize(machine.end));
    CUDA(cudaEventElapsedTime(&ms, machine.begin, machine.end));
    return 1e3 * ms / times;
}

static void measure_launches() {
    int major;
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    const unsigned early_starts = major >= 9;  // older devices start one kernel behind the other
    unsigned sms = machine.sms, cycles = machine.timed ? 2000 : 1;
   auto nothing = [&](unsigned blocks) { do_nothing<false><<<blocks, 256, 0, machine.stream>>>(); };
    auto waits = [&](unsigned blocks) {
        wait_cycles<<<blocks, 256, 0, machine.stream>>>(cycles, NULL);
    };
    double waited = cycles / machine.ghz / 1e3;
    unsigned *word = (unsigned *)machine.d_memory;
    double one = us_in_graph([&] { nothing(1); });
    tell("launch_1_block", one, "us");
    tell("launch_stream", us_in_stream([&] { nothing(1); }), "us");
    tell("launch_store", us_in_graph([&] {
             store_word<false><<<1, 256, 0, machine.stream>>>(word);
         }), "us");
    tell("launch_memset", us_in_graph([&] {
             CUDA(cudaMemsetAsync(word, 0, 4, machine.stream));
             nothing(1);
         }) - one, "us");
    tell("launch_overlapped", us_in_graph([&] {
             cudaLaunchAttribute early;
             early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
             early.val.programmaticStreamSerializationAllowed = 1;
             cudaLaunchConfig_t config = {};
             config.gridDim = 1, config.blockDim = 256, config.stream = machine.stream;
             config.attrs = &early, config.numAttrs = early_starts;
             CUDA(cudaLaunchKernelEx(&config, let_next_start));
         }), "us");
    tell("launch_1_block_per_sm", us_in_graph([&] { nothing(sms); }), "us");
    tell("launch_8_blocks_per_sm", us_in_graph([&] { nothing(8 * sms); }), "us");
    tell("launch_delay", us_in_graph([&] { waits(sms); }) - waited, "us");
    tell("launch_delay_8", us_in_graph([&] { waits(8 * sms); }) - waited, "us");
}

static void open_machine(Run r) {
    int bits = 0, l2 = 0;
    CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
    machine.timed = bits > 0;  // else this is the CPU device
    machine.sms = machine.timed ? r.sms : 2;
    machine.sm_threads = r.sm_threads;
    machine.l2 = (size_t)l2;
    machine.bytes = 1 << 20;
    while (machine.timed && (machine.bytes < 32 * machine.l2 || machine.bytes < 512 << 20))
        machine.bytes *= 2;
    machine.stream = r.stream;
    CUDA(cudaMalloc(&machine.d_memory, machine.bytes));
    CUDA(cudaMemset(machine.d_memory, 0, machine.bytes));
    CUDA(cudaMalloc(&machine.d_spans, SPANS * sizeof(Span)));
    machine.h_spans = (Span *)malloc(SPANS * sizeof(Span));
    CUDA(cudaMalloc(&machine.d_operands, 64));
    CUDA(cudaMemset(machine.d_operands, 0, 64));
    CUDA(cudaMalloc(&machine.d_never, 64));
    CUDA(cudaEventCreate(&machine.begin));
    CUDA(cudaEventCreate(&machine.end));
    CUDA(cudaDeviceSynchronize());
}

// A fact that the device tells.
static double fact(const char *name, cudaDeviceAttr attribute, const char *unit) {
    int value = 0;
    CUDA(cudaDeviceGetAttribute(&value, attribute, 0));
    tell(name, value, unit);
    return value;
}

static void measure_device(Run r) {
    tell("sm_count", machine.sms, "count");
    tell("warps_per_sm", r.sm_threads / 32, "count");
    fact("blocks_per_sm", cudaDevAttrMaxBlocksPerMultiprocessor, "count");
    fact("shared_bytes_per_sm", cudaDevAttrMaxSharedMemoryPerMultiprocessor, "B");
    fact("registers_per_sm", cudaDevAttrMaxRegistersPerMultiprocessor, "count");
    fact("l2_bytes", cudaDevAttrL2CacheSize, "B");
    unsigned cycles = machine.timed ? 40000000 : 1;
    compare_clocks<<<machine.sms, 128, 0, machine.stream>>>(cycles, machine.d_spans);
    const Span *span = spans_of(1);
    machine.ghz = machine.timed ? (double)span->start / (double)span->stop : 1;
    tell("clock_ghz", machine.ghz, "GHz");
}

// Measures the device before the first stage is checked, if a file is named, and writes there what
// came out.
static void measure_machine(const Stage *stage, Run r, const char *file) {
    if (stage != stages || !file) return;
    open_machine(r);
    if (!machine.timed)
        printf("the CPU device has no clock: each kernel runs, nothing is measured\n");
    if (machine.timed && !(machine.rows = fopen(file, "w"))) fail(1, "cannot write", file);
    if (machine.rows) fprintf(machine.rows, "name,value,unit\n");
    measure_device(r);
    int most_shared;
    CUDA(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    double iadd3 = measure_one_warp();
    measure_shared();
    measure_barriers();
    measure_l1();
    measure_l2_and_dram();
    measure_atomics(iadd3);
    measure_blocks(most_shared);
    measure_launches();
    if (machine.rows && fclose(machine.rows)) fail(1, "cannot write", file);
}

static const Lab lab = {stages, sizeof stages / sizeof *stages, 0, measure_machine, "--machine"};

// ---- The harness: the same in every lab, byte for byte. Appendix C explains it. ----

static struct {
    unsigned n, block;
    double seconds;
    const char *only, *csv, *file;
    cudaDeviceProp device;
    double pin_gbps, read_gbps, read_bytes;  // pins: 0 on the CPU device; the ceiling, for so much
    char *h_in, *d_in;
    float *d_partial;
    size_t slot, slots, bytes;  // bytes from one input to the next; inputs; bytes of all
    unsigned shape[2];          // of the last launch
    cudaStream_t stream;
    cudaEvent_t start, stop;
    FILE *rows;  // the CSV, once every kernel has been right
} bench = {25600000, 256, 0.5};

static unsigned block_of(const Stage *stage) { return stage->block ? stage->block : bench.block; }
static unsigned count_of(const Stage *stage) { return bench.n >> stage->half_as_many; }
static size_t bytes_of(const Stage *stage) {
    static const size_t each[] = {sizeof(float), sizeof(int), sizeof(double), sizeof(__half)};
    return count_of(stage) * each[stage->elem];
}

// Writes a stage's elements into as many inputs as there is room for, unless they are there.
static void fill(const Stage *stage) {
    static const Stage *there;
    bool same = there && there->elem == stage->elem && there->input == stage->input;
    there = stage;
    if (same) return;
    for (unsigned i = 0; i < count_of(stage); i++)
        put(stage->elem, bench.h_in, i, stage->input ? stage->input(i) : element(i));
    size_t bytes = bytes_of(stage);
    bench.slot = (bytes / 256 + 1) * 256;
    bench.slots = bench.bytes / bench.slot < 256 ? bench.bytes / bench.slot : 256;
    for (size_t k = 0; k < bench.slots; k++)
        CUDA(cudaMemcpy(bench.d_in + k * bench.slot, bench.h_in, bytes, cudaMemcpyHostToDevice));
}

// A launch of a stage on the first n elements of one of the inputs.
static Run run_of(const Stage *stage, unsigned n, unsigned grid, size_t input) {
    const char *d_in = bench.d_in + (bench.slots ? input % bench.slots * bench.slot : 0);
    bench.shape[0] = 0, bench.shape[1] = block_of(stage);
    return {(const float *)d_in, bench.d_partial, n >> stage->half_as_many, block_of(stage), grid,
            (unsigned)bench.device.multiProcessorCount,
            (unsigned)bench.device.maxThreadsPerMultiProcessor, (const float *)bench.h_in,
            bench.shape, bench.stream};
}

// A partial sum per warp, a million for sweeps of small inputs, and n elements.
static size_t partial_bytes(unsigned n) { return ((1u << 20) + (size_t)n / 32 + n) * 4; }

// What the first n elements add up to. Each stage asks for all of them, which takes a while.
static double sum_of_first(unsigned n) {
    static double sum_of_all;
    static bool known;
    if (n == bench.n && known) return sum_of_all;
    double sum = 0;
    for (unsigned i = 0; i < n; i++) sum += element(i);
    if (n == bench.n) sum_of_all = sum, known = true;
    return sum;
}

// Adds the partial sums on the host, in a step that is never timed.
static void check_sum(const Stage *stage, Run run, unsigned partials) {
    double sum = 0, *h = (double *)malloc((partials + 1) * sizeof *h);
    size_t bytes = partials * (stage->elem == DOUBLE ? sizeof(double) : sizeof(float));
    CUDA(cudaMemcpy(h, run.d_partial, bytes, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < partials; i++)
        sum += stage->elem == DOUBLE ? h[i] : stage->elem == INT ? ((int *)h)[i] : ((float *)h)[i];
    free(h);
    expect(stage, run.n, "SUM", sum, sum_of_first(run.n), 0);
}

// Runs a stage twice over poisoned output, and checks what it leaves.
static void check(const Stage *stage, unsigned n, unsigned grid) {
    for (int repeat = 0; repeat < 2; repeat++) {
        Run run = run_of(stage, n, grid, 0);
        CUDA(cudaMemsetAsync(run.d_partial, 0xFF, partial_bytes(n), run.stream));
        unsigned partials = stage->launch(run);
        CUDA(cudaGetLastError());
        CUDA(cudaStreamSynchronize(run.stream));
        (stage->check ? stage->check : check_sum)(stage, run, partials);
    }
}

static void check_sizes(const Stage *stage) {
    unsigned block = block_of(stage), some = bench.n < 100003 ? bench.n : 100003;
    unsigned usual[] = {0, 1, 31, 32, 33, 1000, block - 1, block, block + 1, some, END};
    fill(stage);
    for (const unsigned *grid = stage->sweep; grid && *grid != END; grid++)
        if (bench.pin_gbps > 0 || *grid <= 4096) check(stage, some, *grid);  // else never timed
    for (const unsigned *n = stage->sizes ? stage->sizes : usual; *n != END; n++)
        if (*n <= bench.n) check(stage, *n, 0);
    check(stage, bench.n, 0);
}

// Reads n4 vectors of 16 bytes, four to a thread, and keeps nothing: no sum can be faster.
__global__ void read_ceiling(const float4 *in, float *never, unsigned n4, float nan) {
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
        float4 v = i < n4 ? in[i] : make_float4(0, 0, 0, 0);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == nan) *never = sum;
}

static unsigned launch_read(Run r) {
    unsigned n4 = r.n / 4, grid = blocks_for(n4, 4 * r.block);
    read_ceiling<<<grid, r.block, 0, r.stream>>>((const float4 *)r.d_in, r.d_partial, n4, NAN);
    return grid;
}
static const Stage ceiling = {"read_ceiling", launch_read, "reads all and keeps nothing", 256};

typedef struct { double median, p5, p95; int samples; } Timing;  // microseconds per launch

static void launch(const Stage *stage, unsigned n, unsigned grid, unsigned times) {
    for (unsigned k = 0; k < times; k++)
        stage->launch(run_of(stage, n, grid, stage->mode == HOT ? 0 : k));
}

// Milliseconds of so many launches, or of the graph that holds them.
static float time_once(const Stage *stage, unsigned n, unsigned grid, unsigned times,
                       cudaGraphExec_t replay) {
    float ms;
    CUDA(cudaEventRecord(bench.start, bench.stream));
    if (replay) CUDA(cudaGraphLaunch(replay, bench.stream));
    else launch(stage, n, grid, times);
    CUDA(cudaEventRecord(bench.stop, bench.stream));
    CUDA(cudaEventSynchronize(bench.stop));
    CUDA(cudaEventElapsedTime(&ms, bench.start, bench.stop));
    return ms;
}

// Times a stage on n elements: samples of as many launches as take two milliseconds, divided.
static Timing measure(const Stage *stage, unsigned n, unsigned grid) {
    static float us[1000];
    float ms = 0;
    int samples = 0;
    cudaGraph_t graph;
    cudaGraphExec_t replay = NULL;
    for (int warm = 0; warm < 3; warm++) ms = time_once(stage, n, grid, 1, NULL);
    unsigned times = ms > 2 ? 1 : ms < 0.01f ? 200 : (unsigned)(2 / ms);
    if (stage->mode != CALLS) {
        CUDA(cudaStreamBeginCapture(bench.stream, cudaStreamCaptureModeThreadLocal));
        launch(stage, n, grid, times);
        CUDA(cudaStreamEndCapture(bench.stream, &graph));
        CUDA(cudaGraphInstantiate(&replay, graph, 0));
        CUDA(cudaGraphDestroy(graph));
    }
    for (double spent = 0; samples < 5 || (samples < 1000 && spent < bench.seconds); samples++) {
        if (stage->mode == COLD) launch_read(run_of(&ceiling, (unsigned)(bench.bytes / 4), 0, 0));
        ms = time_once(stage, n, grid, times, replay);
        us[samples] = 1e3f * ms / (float)times;
        spent += ms / 1e3;
    }
    if (replay) CUDA(cudaGraphExecDestroy(replay));
    std::sort(us, us + samples);
    return {us[samples / 2], us[samples / 20], us[samples - 1 - samples / 20], samples};
}

static void open_csv(void) {
    const cudaDeviceProp *d = &bench.device;
    char date[32];
    time_t now = time(NULL);
    int driver = 0;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    CUDA(cudaDriverGetVersion(&driver));
    if (!(bench.rows = fopen(bench.csv, "w"))) fail(1, "cannot write", bench.csv);
    fprintf(bench.rows, "# device: %s\n# compute_capability: %d.%d\n# sm_count: %d\n"
            "# l2_bytes: %d\n# pin_gbps: %.1f\n# driver: %d\n# toolkit: %d\n# date: %s\n"
            "kernel,n,block,partials,sweep,elem,median_us,p5_us,p95_us,samples,gbps,pin_pct,"
            "read_pct,note\n", d->name, d->major, d->minor, d->multiProcessorCount, d->l2CacheSize,
            bench.pin_gbps, driver, CUDART_VERSION, date);
}

// Times one stage; prints its row, with the step from the row above; adds it to the CSV.
static void time_and_report(const Stage *stage, unsigned grid) {
    static const char *const elems[] = {"float", "int", "double", "half"};
    static Timing above;
    double bytes = (double)bytes_of(stage);
    fill(stage);
    unsigned partials = stage->launch(run_of(stage, bench.n, grid, 0)), block = bench.shape[1];
    if (bench.shape[0]) partials = bench.shape[0];
    Timing t = measure(stage, bench.n, grid);
    if (bytes != bench.read_bytes) {
        Timing reading = stage == &ceiling ? t : measure(&ceiling, (unsigned)(bytes / 4), 0);
        bench.read_bytes = bytes, bench.read_gbps = bytes / reading.median / 1e3;
    }
    double gbps = bytes / t.median / 1e3;
    double pin = 100 * gbps / bench.pin_gbps, read = 100 * gbps / bench.read_gbps;
    printf("%-24s %7u %8.2f %8.2f %8.2f %6.0f %6.1f", stage->name, partials, t.p5, t.median,
           t.p95, gbps, read);
    if (!above.samples) printf("\n");
    else if (t.p5 <= above.p95 && above.p5 <= t.p95) printf("  =\n");
    else printf("  %.2fx\n", above.median / t.median);
    if (bench.rows)
        fprintf(bench.rows, "%s,%u,%u,%u,%d,%s,%.4f,%.4f,%.4f,%d,%.5g,%.4g,%.4g,\"%s\"\n",
                stage->name, bench.n, block, partials, grid != 0, elems[stage->elem], t.median,
                t.p5, t.p95, t.samples, gbps, pin, read, stage->note);
    above = t;
}

static void explain(void) {
    printf("usage: lab [-n ELEMENTS] [-b BLOCK] [-t SECONDS] [-k KERNEL] [--csv FILE] [--list]\n"
           "  -n ELEMENTS  how many to sum, 0 to 1073741824 (default 25600000)\n"
           "  -b BLOCK     threads per block: 64, 128, 256, 512 or 1024 (default 256)\n"
           "  -t SECONDS   how long to sample each kernel (default %g)\n"
           "  -k KERNEL    run only this one\n"
           "  --csv FILE   write the times to FILE too, once every kernel has been right\n"
           "  --list       name the kernels and stop\n", bench.seconds);
    if (lab.option) printf("  %s FILE  write what else the lab measures\n", lab.option);
}

static void list_stages(void) {
    for (const Stage *stage = lab.stages; stage < lab.stages + lab.count; stage++)
        printf("%-28s %s\n", stage->name, stage->note);
}

static void read_options(int argc, char **argv) {
    const char *own = lab.option ? lab.option : "";
    if (lab.seconds > 0) bench.seconds = lab.seconds;
    for (int i = 1; i < argc; i += 2) {
        const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        char *end;
        double x = strtod(value, &end);
        bool number = *value && !*end && x >= 0;
        if (!strcmp(flag, "-h")) explain(), exit(0);
        else if (!strcmp(flag, "--list")) list_stages(), exit(0);
        else if (!strcmp(flag, "-n") && number && x <= 1u << 30) bench.n = (unsigned)x;
        else if (!strcmp(flag, "-b") && number && x >= 64 && x <= 1024 && !((int)x & ((int)x - 1)))
            bench.block = (unsigned)x;
        else if (!strcmp(flag, "-t") && number) bench.seconds = x;
        else if (!strcmp(flag, "-k") && *value) bench.only = value;
        else if (!strcmp(flag, "--csv") && *value) bench.csv = value;
        else if (!strcmp(flag, own) && *value) bench.file = value;
        else fprintf(stderr, "lab: cannot use %s %s (-h explains)\n", flag, value), exit(2);
    }
}

static void open_device(void) {
    int count = 0, khz = 0, bits = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver)
        fail(3, cudaGetErrorString(error), "update the driver, or build with an older toolkit");
    if (error != cudaSuccess || count == 0)
        fail(3, "no CUDA device", "run this where there is an NVIDIA GPU, or as: build/simt LAB");
    CUDA(cudaGetDeviceProperties(&bench.device, 0));
    if (cudaFuncGetAttributes(&attributes, (const void *)read_ceiling) != cudaSuccess)
        fail(3, "not built for this device's architecture", "build it with: nvcc -arch=native");
    CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0));
    CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    bench.pin_gbps = 2.0 * khz * bits / 8 / 1e6;  // two transfers per clock
    size_t widest = bytes_of(&ceiling);
    for (size_t i = 0; i < lab.count; i++)
        if (bytes_of(&lab.stages[i]) > widest) widest = bytes_of(&lab.stages[i]);
    widest = (widest / 256 + 1) * 256;
    bench.bytes = widest + (bench.pin_gbps > 0 ? 4 * (size_t)bench.device.l2CacheSize : 0);
    bench.h_in = (char *)malloc(widest);
    CUDA(cudaMalloc(&bench.d_in, bench.bytes));
    CUDA(cudaMemset(bench.d_in, 0, bench.bytes));
    CUDA(cudaMalloc(&bench.d_partial, partial_bytes(bench.n)));
    CUDA(cudaStreamCreate(&bench.stream));
    CUDA(cudaEventCreate(&bench.start));
    CUDA(cudaEventCreate(&bench.stop));
}

#include <cuda_profiler_api.h>

// Launches a stage once for a profiler, behind other data; its row of the CSV has no times.
static void profile_stage(const Stage *stage) {
    if (stage->mode != COLD) return;
    fill(stage);
    CUDA(cudaProfilerStart());
    launch_read(run_of(&ceiling, (unsigned)(bench.bytes / 4), 0, 0));
    stage->launch(run_of(stage, bench.n, 0, 0));
    CUDA(cudaStreamSynchronize(bench.stream));
    CUDA(cudaProfilerStop());
    if (bench.rows)
        fprintf(bench.rows, "%s,%u,,,,,,,,,,,,\n", stage->name, bench.n);
}

static void time_stage(const Stage *stage) {
    if (stage->mode >= UNTIMED) return;
    time_and_report(stage, 0);
    for (const unsigned *grid = stage->sweep; grid && *grid != END; grid++)
        time_and_report(stage, *grid);
}

static void check_stages(const Stage *stage, const Stage *end, bool later) {
    for (; stage < end; stage++)
        if (stage->later == later && (bench.only || stage->mode != COUNTER_EXAMPLE))
            check_sizes(stage);
}

static void measure_stage(const Stage *stage) {
    (bench.seconds > 0 ? time_stage : profile_stage)(stage);
}

static void measure_stages(const Stage *stage, const Stage *end, bool later) {
    for (; stage < end; stage++)
        if (stage->later == later) measure_stage(stage);
}

// A wrong sum behind the first rows leaves none of them in the file.
static void drop_rows(void) {
    if (bench.rows) (void)!freopen(bench.csv, "w", bench.rows);
}

static void start_table(void) {
    if (bench.csv) open_csv(), atexit(drop_rows);
    if (bench.seconds > 0)
        printf("microseconds; last the step from the row above, =: no measurable difference\n"
               "%-24s %7s %8s %8s %8s %6s %6s\n", "kernel", "blocks", "p5", "median", "p95",
               "GB/s", "% read");
}

int main(int argc, char **argv) {
    int driver = 0;  // its version; 0 where there is none
    read_options(argc, argv);
    const Stage *first = lab.stages, *end = first + lab.count;
    if (bench.only) {
        while (first < end && strcmp(bench.only, first->name)) first++;
        if (first == end) fail(2, "no such kernel (--list names them)", bench.only);
        end = first + 1;
    }
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
        fail(3, "no GPU here", "try build/simt ./lab");
    open_device();
    for (const Stage *stage = first; lab.before && stage < end; stage++)
        lab.before(stage, run_of(stage, bench.n, 0, 0), bench.file);
    bool measured = bench.pin_gbps > 0 && bench.n >= 4;
    check_stages(first, end, false);
    if (!measured) check_stages(first, end, true);
    printf("%s: %u elements, every result right\n", bench.device.name, bench.n);
    if (bench.pin_gbps == 0) printf("no GPU: not measured\n");
    if (!measured) return 0;
    start_table();
    measure_stage(&ceiling);
    measure_stages(first, end, false);
    check_stages(first, end, true);
    measure_stages(first, end, true);
    if (bench.rows && fclose(bench.rows)) fail(1, "cannot write", bench.csv);
    bench.rows = NULL;
    return 0;
}
