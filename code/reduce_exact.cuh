// Generated from chapters/F-reduce-exact.md by tangle: edit that file, not this one.
// reduce_exact.cuh: the exact sum of an array, rounded once to nearest even, in one kernel launch.
// For C++11 and later, compiled by nvcc; needs no other file. From chapter 14 of the workbook.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
//
//     void *d_workspace;
//     cudaMalloc(&d_workspace, reduction::REDUCE_EXACT_WORKSPACE_BYTES);
//     cudaMemsetAsync(d_workspace, 0, reduction::REDUCE_EXACT_WORKSPACE_BYTES, stream);
//     cudaError_t error = reduction::reduce_exact_float(d_in, d_out, n, d_workspace, stream);
//
// d_in         n elements on the device, at any address that is a multiple of their size
// d_out        room for one element on the device; written, never read
// n            any number up to 2^40, 0 included
// d_workspace  REDUCE_EXACT_WORKSPACE_BYTES, aligned to 16, all zero before the first call; each
//              call leaves it zero. One for each stream: two calls that run at the same time must
//              not share it. If a kernel was cut short by an error, zero it again.
// stream       the call returns at once; d_out is valid when the stream has come this far. Calls
//              can be captured into a graph, and nothing is allocated. No block waits for one that
//              may not have started: any number of calls may run at a time, and whatever else.
// Returns      cudaErrorInvalidValue for a null or misaligned pointer, else what the launch says;
//              older errors stay what they were
//
// Time depends on n alone, not on the elements.
//
// The bits of the result depend on the elements alone: not on their order or place, not on the
// grid, not on the GPU. An overflow on the way does not matter if the sum is finite. NaN if any
// element is NaN, or if there are both infinities; an infinity if there is one, or if the sum is
// too large. -0 only if all elements are -0, or if there are none.
#ifndef REDUCE_EXACT_CUH
#define REDUCE_EXACT_CUH

#include <cuda_runtime.h>
#include <stddef.h>
#include <string.h>

// reduction::, and below it a name for this version and these architectures; symbols are hidden, so
// that two shared libraries in a process each have their own.
#define REDUCE_PASTE(a, b, c, d, e, f, g, h, ...) v0_5_##a##_##b##_##c##_##d##_##e##_##f##_##g##_##h
#define REDUCTION_NAME(...) REDUCE_PASTE(__VA_ARGS__, , , , , , , , , )
#ifdef __CUDA_ARCH_LIST__
#define REDUCTION_VERSION REDUCTION_NAME(__CUDA_ARCH_LIST__)
#else
#define REDUCTION_VERSION v0_5
#endif
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif
namespace reduction {
inline namespace REDUCTION_VERSION {

// What a sum must know of its format. LEAST is the exponent of the unit in which its limbs count.
template <class T> struct ExactFormat;
template <> struct ExactFormat<float> {
    typedef unsigned Bits;
    enum { MANTISSA = 24, BIAS = 127, LEAST = -150, LIMBS = 12 };
    static __device__ Bits sign() { return 1u << 31; }
    static __device__ Bits infinity() { return 0xffu << 23; }
    static __device__ float of(Bits bits) { return __uint_as_float(bits); }
};
template <> struct ExactFormat<double> {
    typedef unsigned long long Bits;
    enum { MANTISSA = 53, BIAS = 1023, LEAST = -1074, LIMBS = 68 };
    static __device__ Bits sign() { return 1ull << 63; }
    static __device__ Bits infinity() { return 0x7ffull << 52; }
    static __device__ double of(Bits bits) { return __longlong_as_double((long long)bits); }
};

// What the sum of the finite ones does not say: has anything no sign bit, is there +inf, is there
// -inf? NaN is both, since that is what the two make.
enum { EXACT_PLUS = 1, EXACT_UP = 2, EXACT_DOWN = 4 };

struct ExactSeen {
    int signs;       // negative as long as all are
    double special;  // the sum of the infinities and NaN

    __device__ __forceinline__ void note(double x) {
        signs &= __double2hiint(x);
        if (!(fabs(x) < __longlong_as_double(0x7ffll << 52))) special = __dadd_rn(special, x);
    }
    __device__ unsigned flags() const {
        const unsigned infinite = special > 0 ? EXACT_UP : special < 0 ? EXACT_DOWN : 0;
        return (signs < 0 ? 0 : EXACT_PLUS) | (isnan(special) ? EXACT_UP | EXACT_DOWN : infinite);
    }
};

// Where a block adds up its elements: rows of bins, each for some powers of two, with a column for
// each thread. A thread adds up to ROOM elements before they must be emptied: then SHARE threads
// together add up a row, into three words, of which word k belongs to limb row / PER_LIMB + k.
template <class T, int THREADS> struct ExactBins;

template <int THREADS> struct ExactBins<float, THREADS> {
    enum { ROWS = 16, PER_LIMB = 2, ROOM = 1 << 10, SHARE = THREADS / ROWS };
    static_assert(THREADS % ROWS == 0 && 32 % SHARE == 0, "a part of a warp adds up a row");
    double bin[ROWS][THREADS];

    __device__ void clear() {
#pragma unroll
        for (int row = 0; row < ROWS; row++) bin[row][threadIdx.x] = -0.0;
    }
    __device__ __forceinline__ void put(float x, ExactSeen *) {
        char *column = (char *)&bin[0][threadIdx.x];
        double wide, *mine = (double *)(column + (__float_as_uint(x) >> 27 & 15) * sizeof bin[0]);
        asm("cvt.f64.f32 %0, %1;" : "=d"(wide) : "f"(x));  // subnormals too, whatever -ftz says
        *mine = __dadd_rn(*mine, wide);
    }
    __device__ __forceinline__ void empty(long long (&word)[3], ExactSeen *seen) const;
};

// Adds a row to its words, as an integer in units of 2^(16 row - 150).
template <int THREADS>
__device__ __forceinline__ void ExactBins<float, THREADS>::empty(long long (&word)[3],
                                                                 ExactSeen *seen) const {
    const int row = (int)threadIdx.x / SHARE, first = (int)threadIdx.x % SHARE;
    double some[4] = {-0.0, -0.0, -0.0, -0.0};
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        some[k % 4] = __dadd_rn(some[k % 4], bin[row][first + k * SHARE]);
    const double part = __dadd_rn(__dadd_rn(some[0], some[1]), __dadd_rn(some[2], some[3]));
    seen->note(part);
    const double scale = __longlong_as_double((long long)(1023 + 150 - 16 * row) << 52);
    long long sum = __double2ll_rn(__dmul_rn(part, scale));
    for (int d = SHARE / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    const int by = row % 2 * 16;  // an odd row begins in the middle of its limb
    const unsigned lower = (unsigned)sum, upper = (unsigned)(sum >> 32);
    word[0] += lower << by;
    word[1] += __funnelshift_l(lower, upper, by);
    word[2] += sum >> 32 >> (32 - by);
}

template <int THREADS> struct ExactBins<double, THREADS> {
    enum { ROWS = 64, PER_LIMB = 1, ROOM = 1 << 11, SHARE = 1 };
    static_assert(THREADS == ROWS, "a thread adds up a row");
    unsigned bin[3][ROWS][THREADS];

    __device__ void clear() {
#pragma unroll
        for (int i = 0; i < 3 * ROWS; i++) bin[i / ROWS][i % ROWS][threadIdx.x] = 0;
    }
    __device__ __forceinline__ void put(double x, ExactSeen *seen) {
        const int upper = __double2hiint(x), minus = upper >> 31;  // 0, or all bits
        const unsigned size = (unsigned)upper & 0x7fffffffu, low = (unsigned)__double2loint(x);
        const unsigned place = (unsigned)max((int)(size >> 20) - 1, 0);
        const unsigned high = size - (place << 20);  // with the bit that is not stored
        char *column = (char *)&bin[0][0][threadIdx.x];
        unsigned *mine = (unsigned *)(column + (place & 0x7e0u) * (sizeof bin[0][0] / 32));
        seen->note(x);
        asm("{\n\t.reg .u32 ones;\n\t"
            "add.cc.u32 ones, %6, %6;\n\t"  // -x is ~x + 1: carries 1 if x is negative
            "addc.cc.u32 %0, %0, %3;\n\taddc.cc.u32 %1, %1, %4;\n\taddc.u32 %2, %2, %5;\n\t}"
            : "+r"(mine[0]), "+r"(mine[ROWS * THREADS]), "+r"(mine[2 * ROWS * THREADS])
            : "r"((unsigned)minus ^ low << (place & 31)),
              "r"((unsigned)minus ^ __funnelshift_l(low, high, place)),
              "r"((unsigned)minus ^ __funnelshift_l(high, 0, place)), "r"(minus));
    }
    __device__ __forceinline__ void empty(long long (&word)[3], ExactSeen *) const {
        const int row = (int)threadIdx.x;
#pragma unroll 16
        for (int k = 0; k < THREADS; k++) {
            const int column = (row + k) % THREADS;  // else all lanes would meet in one bank
            word[0] += bin[0][row][column];
            word[1] += bin[1][row][column];
            word[2] += (int)bin[2][row][column];
        }
    }
};

// Boxes are where blocks add up their limbs: 64-bit words, one for each limb. Every block adds its
// limb to the lower 52 bits, and 1 to the 12 above them. So a word tells whoever reads it how many
// blocks it has, and no fence is needed. Several boxes, so that not all blocks add to one place.
// Empty (0) between launches, as is the counter behind them, from which blocks draw numbers.
enum : unsigned { EXACT_BOX_BYTES = 4 * 80 * 8 };  // four boxes of 80 words
static const size_t REDUCE_EXACT_WORKSPACE_BYTES = EXACT_BOX_BYTES + 16;

// The place of this block in the order in which blocks start, valid in thread 0.
__device__ inline unsigned exact_draw(unsigned long long *boxes) {
    unsigned *started = (unsigned *)(boxes + EXACT_BOX_BYTES / 8);
    return threadIdx.x == 0 && gridDim.x > 1 ? atomicInc(started, gridDim.x - 1) : 0;
}

template <class T> struct ExactBoxes {
    enum { BOXES = 4, PITCH = (ExactFormat<T>::LIMBS + 16) / 16 * 16 };
    static_assert(BOXES * PITCH * 8 <= EXACT_BOX_BYTES, "the workspace is too small");

    // Adds a block's word of fewer than 40 bits to word i.
    static __device__ void post(unsigned long long *boxes, int i, long long word) {
        atomicAdd(boxes + blockIdx.x % BOXES * PITCH + i, (1ull << 52) + (unsigned long long)word);
    }
    // Waits until all blocks have added to word i, and empties it.
    static __device__ long long collect(unsigned long long *boxes, int i) {
        const unsigned blocks = gridDim.x;
        unsigned long long word[BOXES];
        for (bool full = false; !full;) {
            full = true;
#pragma unroll
            for (unsigned b = 0; b < BOXES; b++) {
                const unsigned long long *box = boxes + b * PITCH + i;
                const unsigned count = blocks / BOXES + (b < blocks % BOXES);
                asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                             : "=l"(word[b])
                             : "l"(__cvta_generic_to_global(box))
                             : "memory");
                full &= (word[b] + (1ull << 51)) >> 52 == count;  // rounded: a sum may be negative
            }
        }
        long long sum = 0;
#pragma unroll
        for (unsigned b = 0; b < BOXES; b++) {
            sum += (long long)(word[b] << 12) >> 12;
            if (word[b])
                asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(
                                 __cvta_generic_to_global(boxes + b * PITCH + i)),
                             "l"(0ull)
                             : "memory");
        }
        return sum;
    }
};

// Limbs in a warp: lane l has limb l, and of doubles l + 32 and l + 64.
template <class T> struct ExactDigits {
    enum { HOLDS = (ExactFormat<T>::LIMBS + 31) / 32 };
    long long limb[HOLDS];

    static __device__ int lane() { return (int)(threadIdx.x % 32); }
    __device__ explicit ExactDigits(const long long *sum) {
#pragma unroll
        for (int h = 0; h < HOLDS; h++) {
            const int i = lane() + 32 * h;
            limb[h] = i < ExactFormat<T>::LIMBS ? sum[i] : 0;
        }
    }
    // What does not fit into 32 bits, from -2^31 up, is carried on, until there is no more of it.
    __device__ void carry() {
        for (;;) {
            long long over[HOLDS], into = 0;  // lane 0: from the last limb of the 32 before
            bool some = false;
#pragma unroll
            for (int h = 0; h < HOLDS; h++) {
                over[h] = (limb[h] + (1ll << 31)) >> 32;
                some |= over[h] != 0;
            }
            if (!__any_sync(0xffffffffu, some)) return;
#pragma unroll
            for (int h = 0; h < HOLDS; h++) {
                const long long below = __shfl_sync(0xffffffffu, over[h], (lane() + 31) % 32);
                limb[h] += (lane() > 0 ? below : into) - over[h] * (1ll << 32);
                into = below;
            }
        }
    }
    // Makes the digits of a positive sum positive. In an addition a bit that both masks have makes
    // a carry, and a bit that one has passes it on: so do negative digits and zeros.
    __device__ void borrow() {
        unsigned long long sum = 0;
#pragma unroll
        for (int h = 0; h < HOLDS; h++) {
            const unsigned needs = __ballot_sync(0xffffffffu, limb[h] < 0);
            const unsigned passes = __ballot_sync(0xffffffffu, limb[h] <= 0);
            sum = (sum >> 32) + needs + passes;
            const unsigned lent = (unsigned)sum ^ needs ^ passes, taken = needs | (passes & lent);
            limb[h] += (long long)(taken >> lane() & 1) << 32;
            limb[h] -= lent >> lane() & 1;
        }
    }
    // The last limb that is not 0, or -1.
    __device__ int top() const {
        int last = -1;
#pragma unroll
        for (int h = 0; h < HOLDS; h++) {
            const unsigned some = __ballot_sync(0xffffffffu, limb[h] != 0);
            if (some) last = 32 * h + 31 - __clz((int)some);
        }
        return last;
    }
    // Limb i, in all lanes; 0 if there is none.
    __device__ long long at(int i) const {
        long long found = 0;
#pragma unroll
        for (int h = 0; h < HOLDS; h++) {
            const long long held = __shfl_sync(0xffffffffu, limb[h], i & 31);
            if (i >> 5 == h) found = held;
        }
        return found;
    }
    // Makes the limbs digits of 32 bits, and the sum positive; says whether it was negative.
    __device__ bool settle() {
        carry();
        const bool negative = at(top()) < 0;
#pragma unroll
        for (int h = 0; h < HOLDS; h++) limb[h] = negative ? -limb[h] : limb[h];
        borrow();
        return negative;
    }
    // Is any limb below limb i not 0?
    __device__ bool any_below(int i) const {
        bool some = false;
#pragma unroll
        for (int h = 0; h < HOLDS; h++) some |= lane() + 32 * h < i && limb[h] != 0;
        return __any_sync(0xffffffffu, some);
    }
};

// Bits of the number nearest to (bits + fraction) * 2^(exponent - 63), of two such the even one.
// The first of the 64 bits is set; the fraction is between 0 and 1 if `sticky`, and else 0.
template <class T>
__device__ typename ExactFormat<T>::Bits exact_nearest(unsigned long long bits, bool sticky,
                                                       int exponent) {
    typedef ExactFormat<T> F;
    typedef typename F::Bits Bits;
    enum { CUT = 64 - F::MANTISSA };
    if (exponent > F::BIAS) return F::infinity();
    if (exponent <= -F::BIAS)  // subnormal: a sum has no bits below the smallest number
        return (Bits)(bits >> (CUT + 1 - F::BIAS - exponent));
    const unsigned long long rest = bits << F::MANTISSA, half = 1ull << 63;
    Bits kept = (Bits)(bits >> CUT);
    if (rest > half || (rest == half && (sticky || kept % 2))) kept++;
    return kept + ((Bits)(exponent + F::BIAS - 1) << (F::MANTISSA - 1));  // carries go up
}

// The bits of a sum, rounded once. In all lanes of a warp.
template <class T> __device__ typename ExactFormat<T>::Bits exact_round(const long long *sum) {
    typedef ExactFormat<T> F;
    ExactDigits<T> digits(sum);
    const bool negative = digits.settle();
    const int top = digits.top();
    if (top < 0) return 0;
    const unsigned first = (unsigned)digits.at(top), second = (unsigned)digits.at(top - 1);
    const unsigned third = (unsigned)digits.at(top - 2);
    const int lead = __clz((int)first);
    const unsigned long long bits = ((unsigned long long)first << 32 | second) << lead |
                                    (unsigned long long)third << lead >> 32;
    const bool sticky = third << lead || digits.any_below(top - 2);
    const int exponent = F::LEAST + 32 * top + 31 - lead;
    return exact_nearest<T>(bits, sticky, exponent) | (negative ? F::sign() : 0);
}

// What the limbs and what was seen add up to: infinities and NaN as in any sum; -0 only if all
// elements are -0, or if there are none. By the first warp.
template <class T> __device__ T exact_result(const long long *sum) {
    typedef ExactFormat<T> F;
    const long long counts = sum[F::LIMBS], field = (1 << 17) - 1;
    const bool plus = counts & field, up = counts >> 17 & field, down = counts >> 34 & field;
    if (up && down) return F::of(F::infinity() | F::infinity() >> 1);  // NaN
    if (up || down) return F::of(up ? F::infinity() : F::infinity() | F::sign());
    const typename F::Bits bits = exact_round<T>(sum);
    return F::of(bits || plus ? bits : F::sign());
}

// A block's bins, and in their place, once they are empty, the words of its rows and the sum.
template <class T, int THREADS> union ExactShared {
    typedef ExactBins<T, THREADS> Bins;
    Bins bins;
    struct {
        long long word[3][Bins::ROWS], sum[ExactFormat<T>::LIMBS + 1];
    } rows;

    __device__ ExactShared() {}
    // Limb i: what the words of all rows add up to there.
    __device__ long long limb(int i) const {
        long long sum = 0;
#pragma unroll
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < Bins::PER_LIMB; j++) {
                const int row = (i - k) * Bins::PER_LIMB + j;
                if (row >= 0 && row < Bins::ROWS) sum += rows.word[k][row];
            }
        return sum;
    }
};

// Brings the blocks together. Every block posts its limbs, and all but the one that was the last to
// start (its number says so, in thread 0) are done; that one waits for all words and writes the
// result, as in chapter 11.
template <class T, int THREADS>
__device__ void exact_finish(ExactShared<T, THREADS> &shared, const long long (&word)[3],
                             unsigned flags, unsigned number, T *out, unsigned long long *boxes) {
    typedef ExactBins<T, THREADS> Bins;
    enum { LIMBS = ExactFormat<T>::LIMBS };
    const int t = (int)threadIdx.x;
    const bool alone = gridDim.x == 1;
    long long counts = 0;  // of blocks that have seen it: 17 bits for each of the three
#pragma unroll
    for (int k = 0; k < 3; k++) {
        if (t % Bins::SHARE == 0) shared.rows.word[k][t / Bins::SHARE] = word[k];
        // All words are there when the last of these barriers is behind us.
        if (__syncthreads_or(flags >> k & 1)) counts |= 1ll << 17 * k;
    }
    for (int i = t; i <= LIMBS; i += THREADS) {
        long long mine = shared.limb(i), carry = shared.limb(i - 1) >> 32;
        if (i < LIMBS - 1) mine &= 0xffffffffll;  // its carry is added where it belongs
        mine = i < LIMBS ? mine + carry : counts;
        if (alone) shared.rows.sum[i] = mine;
        if (!alone) ExactBoxes<T>::post(boxes, i, mine);
    }
    // All know whether theirs is the last block; of one alone all limbs are there.
    if (!__syncthreads_or(t == 0 && number + 1 >= gridDim.x)) return;
    for (int i = t; i <= LIMBS && !alone; i += THREADS)
        shared.rows.sum[i] = ExactBoxes<T>::collect(boxes, i);
    __syncthreads();  // all limbs are there before the first warp rounds them
    if (t >= 32) return;
    const T result = exact_result<T>(shared.rows.sum);
    if (t == 0) *out = result;
}

// The input in two parts: `vectors` of 16 bytes from a 128-byte boundary on, and the `edges`, which
// are `head` elements in front of them and fewer than a vector behind.
template <class T> struct ExactInput {
    enum { EACH = 16 / sizeof(T) };
    const T *in;
    const uint4 *body;
    size_t vectors;
    unsigned head, edges;
};

template <class T> ExactInput<T> exact_split(const T *d_in, size_t n) {
    size_t head = (128 - (size_t)d_in % 128) % 128 / sizeof(T);
    if (head > n) head = n;
    size_t vectors = (n - head) / ExactInput<T>::EACH;
    ExactInput<T> input = {d_in, (const uint4 *)(d_in + head), vectors, (unsigned)head,
                           (unsigned)(n - vectors * ExactInput<T>::EACH)};
    return input;
}

// A load that stays where it is, in front of the additions that come after it. STREAM: the input is
// more than L2 keeps until the next call, and its lines are the first to be evicted.
template <bool STREAM> __device__ __forceinline__ uint4 exact_fetch(const uint4 *at) {
    uint4 v;
    if (STREAM)
        asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(__cvta_generic_to_global(at)));
    else
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(__cvta_generic_to_global(at)));
    return v;
}

template <class T, class Bins>
__device__ __forceinline__ void exact_put(Bins &bins, const uint4 &vector, ExactSeen *seen) {
    T v[ExactInput<T>::EACH];
    memcpy(v, &vector, sizeof v);
#pragma unroll
    for (int e = 0; e < ExactInput<T>::EACH; e++) bins.put(v[e], seen);
}

// What is behind the last whole tile, from this thread's place `at` on, and the edges.
template <class T, int THREADS, int VECTORS, bool STREAM, class Bins>
__device__ __forceinline__ void exact_rest(const ExactInput<T> &input, const uint4 *at, Bins &bins,
                                           ExactSeen *seen) {
    const uint4 *end = input.body + input.vectors;
    const unsigned t = threadIdx.x;
    uint4 raw[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (at + k * THREADS < end) raw[k] = exact_fetch<STREAM>(at + k * THREADS);
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (at + k * THREADS < end) exact_put<T>(bins, raw[k], seen);
    if (t < input.edges)
        bins.put(input.in[t < input.head ? t : t + input.vectors * ExactInput<T>::EACH], seen);
}

// Sums the input into *out: the exact sum, rounded once. Any grid of up to 2,048 blocks of THREADS
// gives the same bits. Reads every element once.
template <class T, int THREADS, int VECTORS, bool STREAM>
__device__ void exact_grid(const ExactInput<T> &input, T *out, unsigned long long *boxes) {
    typedef ExactBins<T, THREADS> Bins;
    enum { EACH = ExactInput<T>::EACH, TILE = VECTORS * THREADS, TAKES = VECTORS * EACH };
    __shared__ ExactShared<T, THREADS> shared;
    const unsigned t = threadIdx.x, number = exact_draw(boxes);
    const unsigned tiles = (unsigned)(input.vectors / TILE);
    const uint4 *at = input.body + blockIdx.x * (size_t)TILE + t;
    long long word[3] = {0, 0, 0};
    ExactSeen seen = {-1, 0};
    uint4 raw[VECTORS];
    unsigned tile = blockIdx.x;
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (tile < tiles) raw[k] = exact_fetch<STREAM>(at + k * THREADS);
    do {
        int room = Bins::ROOM - (TAKES + 1);  // what comes behind the tiles always fits
        shared.bins.clear();
#pragma unroll 1
        for (; tile < tiles && room >= TAKES; room -= TAKES) {
            tile += gridDim.x;
            at += gridDim.x * (size_t)TILE;
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                exact_put<T>(shared.bins, raw[k], &seen);
                if (tile < tiles) raw[k] = exact_fetch<STREAM>(at + k * THREADS);
            }
        }
        if (tile == tiles) {
            exact_rest<T, THREADS, VECTORS, STREAM>(input, at, shared.bins, &seen);
            tile++;  // once
        }
        __syncthreads();  // every thread has added its elements
        shared.bins.empty(word, &seen);
        __syncthreads();  // every row was added up before its bins are cleared, or used for words
    } while (tile < tiles);
    exact_finish<T, THREADS>(shared, word, seen.flags(), number, out, boxes);
}

template <class T, int THREADS, int FIT, int VECTORS, bool STREAM>
__global__ void __launch_bounds__(THREADS, FIT)
    exact_kernel(ExactInput<T> input, T *out, unsigned long long *boxes) {
    exact_grid<T, THREADS, VECTORS, STREAM>(input, out, boxes);
}

// The shape of a launch: threads of a block, blocks that fit, vectors of a thread.
template <class T> struct ExactShape;
template <> struct ExactShape<float> {
    enum { THREADS = 256, FIT = 4, VECTORS = 4 };
};
template <> struct ExactShape<double> {
    enum { THREADS = 64, FIT = 4, VECTORS = 8 };
};

// The current device's multiprocessors and the bytes of its L2 cache, asked for once by each host
// thread and device.
inline cudaError_t exact_device(int *sms, size_t *cache_bytes) {
    static thread_local int known = -1, known_sms, known_bytes;
    int device, now_sms = 0, now_bytes = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess && device != known) {
        error = cudaDeviceGetAttribute(&now_sms, cudaDevAttrMultiProcessorCount, device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&now_bytes, cudaDevAttrL2CacheSize, device);
        if (error == cudaSuccess) known = device, known_sms = now_sms, known_bytes = now_bytes;
    }
    *sms = known_sms, *cache_bytes = (size_t)known_bytes;
    return error;
}

// How many blocks share so many vectors: one for each tile, until the device is full; and whether
// they only pass through L2: they are more than it keeps until the next call.
template <class T> cudaError_t exact_blocks(size_t vectors, unsigned *blocks, bool *passes) {
    typedef ExactShape<T> S;
    const size_t tile = S::THREADS * S::VECTORS, tiles = (vectors + tile - 1) / tile;
    int sms = 0;
    size_t cache_bytes = 0;
    const cudaError_t error = exact_device(&sms, &cache_bytes);
    const size_t fit = sms * S::FIT < 2048 ? sms * S::FIT : 2048;
    *blocks = tiles == 0 ? 1 : tiles < fit ? (unsigned)tiles : (unsigned)fit;
    *passes = vectors * 16 > cache_bytes / 5 * 4;
    return error;
}

template <class T>
cudaError_t exact_sum(const T *d_in, T *d_out, size_t n, void *d_workspace, cudaStream_t stream) {
    typedef ExactShape<T> S;
    if ((n > 0 && !d_in) || (size_t)d_in % sizeof(T) || !d_out || (size_t)d_out % sizeof(T) ||
        !d_workspace || (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    ExactInput<T> input = exact_split(d_in, n);
    unsigned blocks = 1;
    bool passes = false;
    cudaError_t error = exact_blocks<T>(input.vectors, &blocks, &passes);
    if (error != cudaSuccess) return error;
    const void *kernel =
        passes ? (const void *)exact_kernel<T, S::THREADS, S::FIT, S::VECTORS, true>
               : (const void *)exact_kernel<T, S::THREADS, S::FIT, S::VECTORS, false>;
    void *arguments[] = {&input, &d_out, &d_workspace};
    return cudaLaunchKernel(kernel, dim3(blocks), dim3(S::THREADS), arguments, 0, stream);
}

inline cudaError_t reduce_exact_float(const float *d_in, float *d_out, size_t n, void *d_workspace,
                                      cudaStream_t stream) {
    return exact_sum(d_in, d_out, n, d_workspace, stream);
}
inline cudaError_t reduce_exact_double(const double *d_in, double *d_out, size_t n,
                                       void *d_workspace, cudaStream_t stream) {
    return exact_sum(d_in, d_out, n, d_workspace, stream);
}

}  // inline namespace
}  // namespace reduction
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#undef REDUCTION_VERSION
#undef REDUCTION_NAME
#undef REDUCE_PASTE
#endif
