// Generated from chapters/14-rounding.md by tangle: edit that file, not this one.
// Chapter 14: the error of a sum by order and accumulator, and whether it is the same every time.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 14_rounding.cu -o lab && ./lab
// Sums in[0..n) with one thread of one block. Reads 4n bytes, writes 4.
__global__ void sum_one_thread(const float *in, float *sum, unsigned n) {
    float total = 0;
    for (unsigned i = 0; i < n; i++) total += in[i];
    *sum = total;
}

// One float, batches added in order: the grid-stride loop of chapters 8 and 9.
struct Plain {
    typedef float Part;
    float sum;
    __device__ Plain() : sum(0) {}
    __device__ void take(const float v[16]) {
        for (unsigned k = 0; k < 16; k++) sum += v[k];
    }
    __device__ Part part() const { return sum; }
    static __device__ Part none() { return 0; }
    static __device__ Part merge(Part a, Part b) { return a + b; }
    static __device__ float value(Part p) { return p; }
};

struct Pairwise {
    typedef float Part;
    enum { LEVELS = 9 };  // 256 batches for each of 262,144 threads: enough for 2^30 elements
    float level[LEVELS];
    unsigned batches;
    __device__ Pairwise() : batches(0) {}
    __device__ void take(const float v[16]) {
        float s[8];
        for (unsigned k = 0; k < 8; k++) s[k] = v[k] + v[k + 8];
        float carry = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
#pragma unroll
        for (unsigned l = 0; l < LEVELS; l++) {
            if (!(batches >> l & 1)) {
                level[l] = carry;
                break;
            }
            carry += level[l];
        }
        batches++;
    }
    __device__ Part part() const {
        float sum = 0;
#pragma unroll
        for (unsigned l = 0; l < LEVELS; l++)
            if (batches >> l & 1) sum += level[l];
        return sum;
    }
    static __device__ Part none() { return 0; }
    static __device__ Part merge(Part a, Part b) { return a + b; }
    static __device__ float value(Part p) { return p; }
};

struct Kahan {
    struct __align__(8) Part {
        float sum, lost;  // the exact value is nearly sum + lost
    };
    Part mine;
    __device__ Kahan() : mine{0, 0} {}
    __device__ void take(const float v[16]) {
        for (unsigned k = 0; k < 16; k++) {
            float y = v[k] + mine.lost, t = mine.sum + y;
            mine.lost = y - (t - mine.sum);  // the part of y that did not get into t
            mine.sum = t;
        }
    }
    __device__ Part part() const { return mine; }
    static __device__ Part none() { return {0, 0}; }
    static __device__ Part merge(Part a, Part b) {
        float s = a.sum + b.sum, from_b = s - a.sum, from_a = s - from_b;
        float e = (a.sum - from_a) + (b.sum - from_b);
        return {s, (a.lost + b.lost) + e};
    }
    static __device__ float value(Part p) { return p.sum + p.lost; }
};

// The elements are floats, the sum is a double until the very end.
struct Double {
    typedef double Part;
    double sum;
    __device__ Double() : sum(0) {}
    __device__ void take(const float v[16]) {
        for (unsigned k = 0; k < 16; k++) sum += v[k];
    }
    __device__ Part part() const { return sum; }
    static __device__ Part none() { return 0; }
    static __device__ Part merge(Part a, Part b) { return a + b; }
    static __device__ float value(Part p) { return (float)p; }
};

enum { BLOCK = 256, BLOCKS = 1024 };

static __device__ unsigned tickets;  // blocks that are done; the last one sets it back to 0

// Merges the parts of a block with a tree; valid in thread 0.
template <typename Method>
static __device__ typename Method::Part block_tree(typename Method::Part mine) {
    __shared__ typename Method::Part s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = mine;
    __syncthreads();  // every part is in s[] before any two are merged
    for (unsigned d = BLOCK / 2; d > 0; d /= 2) {
        if (t < d) s[t] = Method::merge(s[t], s[t + d]);
        __syncthreads();  // this level is complete before the next one reads it
    }
    return s[0];
}

// The elements i..i + 3, and zeros from n on. `in` is aligned to 16 bytes.
static __device__ float4 load_four(const float *in, unsigned i, unsigned n) {
    if (i + 4 <= n) return *(const float4 *)&in[i];
    return make_float4(i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0);
}

// This thread's part of in[0..n): batches of four times four elements.
template <typename Method>
static __device__ typename Method::Part thread_part(const float *in, unsigned n) {
    Method mine;
    unsigned threads = gridDim.x * BLOCK, stride = 4 * threads;
    for (unsigned i = 4 * (blockIdx.x * BLOCK + threadIdx.x); i < n; i += 4 * stride) {
        float4 v[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++) v[k] = load_four(in, i + k * stride, n);
        mine.take((const float *)v);
    }
    return mine.part();
}

// Sums in[0..n) into out[0], with `parts` as room for a part per block. Grid: up to BLOCKS blocks
// of BLOCK threads, one launch at a time. Reads 4n bytes.
template <typename Method>
static __device__ void sum_by(const float *in, float *out, typename Method::Part *parts,
                              unsigned n) {
    __shared__ bool is_last;
    typename Method::Part mine = block_tree<Method>(thread_part<Method>(in, n));
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = mine;
        __threadfence();  // the part is visible before the ticket is
        is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // all know whether this is the last block
    if (!is_last) return;
    __threadfence();  // the others' parts are read after their tickets
    mine = Method::none();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += BLOCK) mine = Method::merge(mine, parts[b]);
    mine = block_tree<Method>(mine);
    if (threadIdx.x == 0) *out = Method::value(mine);
}

#define SUM(name, Method)                                                                \
    __global__ void name(const float *in, float *out, Method::Part *parts, unsigned n) { \
        sum_by<Method>(in, out, parts, n);                                               \
    }
SUM(sum_grid_stride, Plain)
SUM(sum_pairwise, Pairwise)
SUM(sum_kahan, Kahan)
SUM(sum_double, Double)

// out[b] = the sum of in[512 b .. 512 b + 511] as a tree. Grid covers n. Reads 4n bytes.
__global__ void tree_pass(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * 512 + threadIdx.x;
    float sum = block_tree<Plain>((i < n ? in[i] : 0) + (i + 256 < n ? in[i + 256] : 0));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Every block adds its part to *out, in the order in which the blocks happen to finish.
__global__ void sum_atomic(const float *in, float *out, unsigned n) {
    float sum = block_tree<Plain>(thread_part<Plain>(in, n));
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

#include <cuda_runtime.h>
#include <stddef.h>
#include <string.h>

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

// A kernel with a name of its own for each row of the table. Grid: exact_blocks().
#define SUM_EXACT(name, T)                                                              \
    __global__ void __launch_bounds__(ExactShape<T>::THREADS, ExactShape<T>::FIT)       \
        name(ExactInput<T> input, T *out, unsigned long long *boxes) {                  \
        typedef ExactShape<T> S;                                                        \
        exact_grid<T, S::THREADS, S::VECTORS, true>(input, out, boxes);                 \
    }
SUM_EXACT(sum_exact, float)
SUM_EXACT(sum_exact_double, double)
SUM_EXACT(sum_exact_scattered, float)

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

static unsigned launch_one_thread(Run r) {
    sum_one_thread<<<1, 1, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return 1;
}

static unsigned grid_for(unsigned n) {
    unsigned enough = blocks_for(n, 16 * BLOCK);
    return enough < BLOCKS ? enough : (unsigned)BLOCKS;
}

template <typename Part, void (*KERNEL)(const float *, float *, Part *, unsigned)>
static unsigned launch_sum(Run r) {
    KERNEL<<<grid_for(r.n), BLOCK, 0, r.stream>>>(r.d_in, r.d_partial, (Part *)(r.d_partial + 64),
                                                  r.n);
    return 1;
}

// Passes of a tree, between two buffers, until one sum is left.
static unsigned launch_tree(Run r) {
    float *buffers[] = {r.d_partial + 1, r.d_partial + 1 + blocks_for(r.n, 512)};
    const float *d_in = r.d_in;
    for (unsigned n = r.n, pass = 0;; pass++) {
        unsigned grid = blocks_for(n, 512);
        float *d_out = grid == 1 ? r.d_partial : buffers[pass % 2];
        tree_pass<<<grid, BLOCK, 0, r.stream>>>(d_in, d_out, n);
        if (grid == 1) return 1;
        d_in = d_out, n = grid;
    }
}

static unsigned launch_atomic(Run r) {
    cudaMemsetAsync(r.d_partial, 0, sizeof(float), r.stream);
    sum_atomic<<<grid_for(r.n), BLOCK, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return 1;
}

// A number in [0, 1) with 24 random bits, from a hash of i (the finalizer of MurmurHash3).
static float uniform(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return (float)((i ^ i >> 16) >> 8) / (1 << 24);
}

enum Data { EVEN, LOPSIDED, CANCELLING, DATA_KINDS };
static const char *const data_names[] = {"even", "lopsided", "cancelling"};

// Element i of n, of one of the kinds of data.
static float datum(int data, unsigned i, unsigned n) {
    if (data == EVEN) return uniform(i);
    if (data == LOPSIDED) return i < n / 4 && i % 4 == 0 ? 1 << 24 : 1;
    if (i < n / 2) return 2 * uniform(i) - 1;
    unsigned mirror = n - 1 - i;  // its opposite, and a little more
    return -(2 * uniform(mirror) - 1) + uniform(i) / 4096;
}

template <class T, void (*KERNEL)(ExactInput<T>, T *, unsigned long long *)>
static unsigned launch_exact(Run r) {
    static unsigned long long *d_boxes;
    if (!d_boxes) {
        cudaMalloc(&d_boxes, REDUCE_EXACT_WORKSPACE_BYTES);
        cudaMemsetAsync(d_boxes, 0, REDUCE_EXACT_WORKSPACE_BYTES, r.stream);
    }
    ExactInput<T> input = exact_split((const T *)r.d_in, r.n);
    bool passes; // the lab's inputs are cold: its kernels are those for large ones
    exact_blocks<T>(input.vectors, &r.shape[0], &passes);
    KERNEL<<<r.shape[0], ExactShape<T>::THREADS, 0, r.stream>>>(input, (T *)r.d_partial, d_boxes);
    return 1;
}

// Element i: from 2^-149 to 2^127, and every second one the opposite of that before it.
static double scattered(unsigned i) {
    unsigned pair = i / 2;
    double x = ldexp(1 + uniform(pair), (int)(276 * uniform(~pair)) - 149);
    return i % 2 ? -x : x;
}

static void check_scattered(const Stage *stage, Run r, unsigned) {
    float sum;
    CUDA(cudaMemcpy(&sum, r.d_partial, sizeof sum, cudaMemcpyDeviceToHost));
    expect(stage, r.n, "SUM", sum, r.n % 2 ? (float)scattered(r.n - 1) : 0, 0);
}

enum Order { SEQUENTIAL, TREE, GRID_STRIDE, PAIRWISE, KAHAN, IN_DOUBLE, ATOMIC, EXACT, ORDERS };

static char notes[ORDERS][128];  // what was measured besides the time

static const Stage stages[] = {
    {"sum_one_thread", launch_one_thread, notes[SEQUENTIAL], 1, FLOAT, UNTIMED},
    {"sum_tree", launch_tree, notes[TREE], BLOCK},
    {"sum_grid_stride", launch_sum<float, sum_grid_stride>, notes[GRID_STRIDE], BLOCK},
    {"sum_pairwise", launch_sum<float, sum_pairwise>, notes[PAIRWISE], BLOCK},
    {"sum_kahan", launch_sum<Kahan::Part, sum_kahan>, notes[KAHAN], BLOCK},
    {"sum_double", launch_sum<double, sum_double>, notes[IN_DOUBLE], BLOCK},
    {"sum_atomic", launch_atomic, notes[ATOMIC], BLOCK},
    {"sum_exact", launch_exact<float, sum_exact>, notes[EXACT], ExactShape<float>::THREADS},
    {"sum_exact_double", launch_exact<double, sum_exact_double>, "bins of integers",
     ExactShape<double>::THREADS, DOUBLE, COLD, NULL, NULL, NULL, NULL, true},
    {"sum_exact_scattered", launch_exact<float, sum_exact_scattered>, "any power of two",
     ExactShape<float>::THREADS, FLOAT, COLD, NULL, NULL, scattered, check_scattered},
};

// The most additions that an element of n goes through.
static double additions(Order order, unsigned n) {
    double batches = ceil(n / (16.0 * BLOCK * grid_for(n))), block = 8, blocks = grid_for(n);
    double finish = ceil(blocks / BLOCK) + block;
    double passes = 1;
    for (unsigned left = blocks_for(n, 512); left > 1; left = blocks_for(left, 512)) passes++;
    switch (order) {
    case SEQUENTIAL: return n;
    case TREE: return passes * (1 + block);
    case PAIRWISE: return 4 + ceil(log2(batches + 1)) + 1 + block + finish;
    case ATOMIC: return 16 * batches + block + blocks;
    default: return 16 * batches + block + finish;
    }
}

// The largest relative error that theory allows for a sum of this condition.
static double bound_of(Order order, unsigned n, double condition) {
    const double u = 1.0 / (1 << 24), tiny = u * u * 32;  // half a unit of float and of double
    double k = additions(order, n);
    if (order == KAHAN) return u + (2 * u + 8 * k * u * u) * condition;
    if (order == IN_DOUBLE) return u + k * tiny / (1 - k * tiny) * condition;
    if (order == EXACT) return u;
    if (order == SEQUENTIAL) return k * u * condition;  // Jeannerod and Rump (2013): any n
    return k * u / (1 - k * u) * condition;
}

typedef struct {
    double high, low;
} DoubleDouble;

static void add_exactly(DoubleDouble *sum, double x) {
    double s = sum->high + x, from_x = s - sum->high, from_sum = s - from_x;
    double e = (sum->high - from_sum) + (x - from_x) + sum->low;
    sum->high = s + e;
    sum->low = e - (sum->high - s);
}

enum { SIZES = 8 };  // 1024, 4096, ..., 16 Mi

static double errors[ORDERS][DATA_KINDS][SIZES];

// The exact sum of n elements of one kind, and how far they cancel; kept, for the next order.
typedef struct {
    DoubleDouble sum;
    double condition;
} Exact;

static Exact exact_sum(int data, int size) {
    static Exact known[DATA_KINDS][SIZES];
    Exact *exact = &known[data][size];
    DoubleDouble absolute = {0, 0};
    unsigned n = 1024u << 2 * size;
    for (unsigned i = 0; exact->condition == 0 && i < n; i++) {
        add_exactly(&exact->sum, datum(data, i, n));
        add_exactly(&absolute, fabsf(datum(data, i, n)));
    }
    if (exact->condition == 0) exact->condition = absolute.high / fabs(exact->sum.high);
    return *exact;
}

// The sum of the first n elements of an input.
static float sum_once(const Stage *stage, Run r, unsigned n) {
    float sum;
    r.n = n;
    stage->launch(r);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpyAsync(&sum, r.d_partial, sizeof sum, cudaMemcpyDeviceToHost, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
    return sum;
}

static void place(Run r, int data, unsigned n) {
    for (unsigned i = 0; i < n; i++) ((float *)r.h_in)[i] = datum(data, i, n);
    CUDA(cudaMemcpy((float *)r.d_in, r.h_in, n * sizeof(float), cudaMemcpyHostToDevice));
}

// The errors of a stage for one kind of data, at every size.
static void measure_errors(const Stage *stage, Run r, int data) {
    Order order = (Order)(stage - stages);
    printf("%-16s errors, %-11s", stage->name, data_names[data]);
    for (int size = 0; size < SIZES && 1024u << 2 * size <= r.n; size++) {
        unsigned n = 1024u << 2 * size;
        Exact exact = exact_sum(data, size);
        place(r, data, n);
        double s = sum_once(stage, r, n), bound = bound_of(order, n, exact.condition);
        double error = fabs((s - exact.sum.high) - exact.sum.low) / fabs(exact.sum.high);
        printf("  %7.1e", error);
        errors[order][data][size] = error;
        if (error <= bound) continue;
        fprintf(stderr, "\nlab: %s: ERROR %.3g of %u elements is above the bound %.3g\n",
                stage->name, error, n, bound);
        exit(1);
    }
    printf("\n");
}

// How many different results a hundred runs on the first n elements of the input have.
static int distinct_results(const Stage *stage, Run r, unsigned n) {
    float seen[100];
    int count = 0;
    for (int run = 0; run < 100; run++) {
        float sum = sum_once(stage, r, n);
        int k = 0;
        while (k < count && memcmp(&seen[k], &sum, sizeof sum)) k++;
        if (k == count) seen[count++] = sum;
    }
    return count;
}

// Counts the different results of a stage; only the atomic sum may have more than one.
static int count_distinct(const Stage *stage, Run r) {
    unsigned some = r.n < 1u << 20 ? r.n : 1u << 20;
    place(r, EVEN, some);
    int count = distinct_results(stage, r, some);
    printf("%-16s %3d different results in 100 runs\n", stage->name, count);
    if (count != 1 && stage != &stages[ATOMIC]) fail(1, stage->name, "results vary");
    return count;
}

// Writes the errors so far as CSV: a file of its own, since they are the same on every device.
static void write_errors(const char *path, unsigned most) {
    FILE *file = fopen(path, "w");
    if (!file) fail(1, "cannot write", path);
    fprintf(file, "order,data,n,relative_error,bound,condition\n");
    for (int data = 0; data < DATA_KINDS; data++)
        for (int size = 0; size < SIZES && 1024u << 2 * size <= most; size++)
            for (int order = 0; order < ATOMIC; order++) {  // no varying or exact sums
                if (!*notes[order]) continue;               // left out by -k
                double condition = exact_sum(data, size).condition;
                unsigned n = 1024u << 2 * size;
                fprintf(file, "%s,%s,%u,%.4g,%.4g,%.4g\n", stages[order].name, data_names[data], n,
                        errors[order][data][size], bound_of((Order)order, n, condition), condition);
            }
    if (fclose(file)) fail(1, "cannot write", path);
}

static void measure_rounding(const Stage *stage, Run r, const char *file) {
    if (stage - stages >= ORDERS) return;  // the last rows are variants of the exact sum
    Order order = (Order)(stage - stages);
    double last[DATA_KINDS] = {0};
    for (int data = 0; data < DATA_KINDS; data++) {
        measure_errors(stage, r, data);
        for (int size = 0; size < SIZES && 1024u << 2 * size <= r.n; size++)
            last[data] = errors[order][data][size];
    }
    int distinct = order == SEQUENTIAL ? 1 : count_distinct(stage, r);
    snprintf(notes[order], sizeof notes[order], "errors %.1e, %.1e, %.1e; results in 100 runs: %d",
             last[EVEN], last[LOPSIDED], last[CANCELLING], distinct);
    if (file) write_errors(file, r.n);
}

static const Lab lab = {stages, sizeof stages / sizeof *stages, 0, measure_rounding, "--errors"};

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
