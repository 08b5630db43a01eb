// Generated from chapters/16-rows.md by tangle: edit that file, not this one.
// Chapter 16: rows, each reduced to one result or to a row, in one launch, beside CUB.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 16_rows.cu -o lab && ./lab
template <class T, int VEC> struct RowsPack;
template <class Op, int LANES, int COUNT>
__device__ void rows_mix(typename Op::Acc (&mine)[COUNT], unsigned lane);
// Reduces rows, each by LANES lanes of a warp, COUNT rows of them at a time: PER vectors of VEC
// elements for each lane and row, all on their way at once. Blocks of 256 threads, any number of
// rows. VEC divides cols, stride and the address. Reads every element once. ONCE: cache lines
// are the first to be evicted.
template <class Op, class T, int VEC, int LANES, int PER, int COUNT, bool ONCE>
__global__ void __launch_bounds__(256)
    rows_by_lanes(const T *in, size_t rows, unsigned cols, size_t stride, typename Op::Out *out) {
    enum { TEAMS = 32 / LANES, STEP = LANES * VEC, KEPT = COUNT > LANES ? COUNT / LANES : 1 };
    const unsigned lane = threadIdx.x % LANES, team = threadIdx.x % 32 / LANES;
    const size_t first = ((size_t)blockIdx.x * 8 + threadIdx.x / 32) * (TEAMS * COUNT) + team;
    typename Op::Acc mine[COUNT];
#pragma unroll
    for (int r = 0; r < COUNT; r++) mine[r] = Op::identity();
    for (unsigned from = lane * VEC; from - lane * VEC < cols; from += STEP * PER) {
        RowsPack<T, VEC> v[COUNT][PER];
        int valid = 0;
#pragma unroll
        for (int r = 0; r < COUNT; r++)
#pragma unroll
            for (int p = 0; p < PER; p++) {
                const size_t row = first + (r % KEPT * LANES + r / KEPT) * TEAMS;
                v[r][p].fill(Op::fill());
                if (row < rows && from + p * STEP < cols)
                    v[r][p].load(in + row * stride + from + p * STEP, ONCE);
            }
#pragma unroll
        for (int p = 0; p < PER; p++)
            if (from + p * STEP < cols) valid += VEC;
#pragma unroll
        for (int r = 0; r < COUNT; r++) {
            float x[PER * VEC];
#pragma unroll
            for (int p = 0; p < PER; p++) v[r][p].widen(x + p * VEC);
            mine[r] =
                Op::combine(mine[r], Op::template gather<PER * VEC, VEC>(x, valid, from, STEP));
        }
    }
    rows_mix<Op, LANES, COUNT>(mine, lane);
    if (COUNT < LANES && lane % (LANES / (COUNT < LANES ? COUNT : LANES)) != 0) return;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        const int r = (COUNT < LANES ? (int)lane * COUNT / LANES : (int)lane * KEPT) + k;
        const size_t row = first + (r % KEPT * LANES + r / KEPT) * TEAMS;
        if (row < rows) out[row] = Op::finish(mine[k], cols);
    }
}

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <type_traits>

// Elements come as float, half or bfloat16, and are reduced as floats.
__device__ inline float rows_float(float x) { return x; }
__device__ inline float rows_float(__half x) { return __half2float(x); }
__device__ inline float rows_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline void rows_narrow(float x, float *to) { *to = x; }
__device__ inline void rows_narrow(float x, __half *to) { *to = __float2half(x); }
__device__ inline void rows_narrow(float x, __nv_bfloat16 *to) { *to = __float2bfloat16(x); }
__device__ inline void rows_narrow(float x, float y, float *to) { to[0] = x, to[1] = y; }
__device__ inline void rows_narrow(float x, float y, __half *to) {
    __half2 pair = __floats2half2_rn(x, y); // one instruction for two
    memcpy(to, &pair, sizeof pair);
}
__device__ inline void rows_narrow(float x, float y, __nv_bfloat16 *to) {
    __nv_bfloat162 pair = __floats2bfloat162_rn(x, y);
    memcpy(to, &pair, sizeof pair);
}
template <class T> constexpr bool rows_element() {
    return std::is_same<T, float>::value || std::is_same<T, __half>::value ||
           std::is_same<T, __nv_bfloat16>::value;
}
// Rows of up to MOST elements that are not aligned are short: they have windows, or are loaded
// element by element. If there are few rows, those of up to FEW elements are short, too.
template <class T> struct RowsShort {
    enum : unsigned { FEW = 288, MOST = sizeof(T) == 4 ? FEW : 66 };
};

// How many elements lie between an address and the last boundary of 16 bytes at or before it.
template <class T> __device__ unsigned rows_phase(const T *at) {
    return (unsigned)((size_t)at % 16 / sizeof(T));
}

template <int BYTES> struct RowsWord;
template <> struct RowsWord<16> { typedef uint4 Type; };
template <> struct RowsWord<8> { typedef uint2 Type; };
template <> struct RowsWord<4> { typedef unsigned Type; };
template <> struct RowsWord<2> { typedef unsigned short Type; };

// VEC elements side by side, which one instruction loads or stores.
template <class T, int VEC> struct RowsPack {
    typedef typename RowsWord<VEC *(int)sizeof(T)>::Type Word;
    Word word;
    // Once: its cache line is the first to be evicted, since nobody will find it in L2 again.
    __device__ void load(const T *from, bool once = false) {
        const Word *const at = reinterpret_cast<const Word *>(from);
        word = once ? __ldcs(at) : *at;
    }
    __device__ void store(T *to, bool once = false) const {
        Word *const at = reinterpret_cast<Word *>(to);
        once ? __stcs(at, word) : (void)(*at = word);
    }
    // Elements at..at + VEC - 1 of an array of n that nobody changes; `check`: some may not be
    // there.
    __device__ void load_some(const T *array, long long at, size_t n, bool check) {
        T some[VEC];
        if (!check || (at >= 0 && at + VEC <= (long long)n)) {
            word = __ldg(reinterpret_cast<const Word *>(array + at));
            return;
        }
        fill(0);
        memcpy(some, &word, sizeof word);
#pragma unroll
        for (int j = 0; j < VEC; j++)
            if ((size_t)(at + j) < n) some[j] = __ldg(array + at + j);
        memcpy(&word, some, sizeof word);
    }
    __device__ void widen(float *x) const {
        T at[VEC];
        memcpy(at, &word, sizeof word);
#pragma unroll
        for (int j = 0; j < VEC; j++) x[j] = rows_float(at[j]);
    }
    __device__ void narrow(const float *x) {
        T at[VEC];
        if (VEC == 1) rows_narrow(x[0], &at[0]);
#pragma unroll
        for (int j = 0; j + 1 < VEC; j += 2) rows_narrow(x[j], x[j + 1], at + j);
        memcpy(&word, at, sizeof word);
    }
    __device__ void fill(float x) {
        T one, at[VEC];
        rows_narrow(x, &one);
#pragma unroll
        for (int j = 0; j < VEC; j++) at[j] = one;
        memcpy(&word, at, sizeof word);
    }
};

// n elements, the first `before` of which lie in front of a boundary: whole packs are between
// `head` and `tail`. The elements in front of them and behind are edges, `more` of them on each
// side.
template <class T, class N> struct RowsEnds {
    enum : unsigned { VEC = 16 / sizeof(T) };
    N head, tail, n;
    __device__ RowsEnds(N before, N count, N more = 0) : n(count) {
        head = min(n, before + more);
        tail = head + (n - min(n, head + more)) / VEC * VEC;
    }
    // How many elements of packs there are from number i on, or `most`.
    __device__ unsigned left(N i, unsigned most) const {
        return tail > i ? (unsigned)min(tail - i, (N)most) : 0;
    }
    __device__ unsigned edges() const { return (unsigned)(n - (tail - head)); }
    __device__ N edge(unsigned k) const { return k < head ? k : k + (tail - head); }
};
// So many elements lie in front of the next boundary of LINE bytes.
template <int LINE, class T> __device__ unsigned rows_before(const T *at) {
    return (unsigned)((LINE - (size_t)at % LINE) % LINE / sizeof(T));
}

// Elements side by side at any address, out of the two packs of 16 bytes in which they lie: `phase`
// is how many elements of the first one come before them.
template <class T, int VEC>
__device__ RowsPack<T, VEC> rows_cut(const RowsPack<T, VEC> &low, const RowsPack<T, VEC> &high,
                                     unsigned phase) {
    const unsigned bytes = phase * (unsigned)sizeof(T);
    unsigned w[8];
    memcpy(w, &low.word, 16);
    memcpy(w + 4, &high.word, 16);
#pragma unroll
    for (int k = 0; k < 6; k++) w[k] = bytes & 8 ? w[k + 2] : w[k];
#pragma unroll
    for (int k = 0; k < 5; k++) w[k] = bytes & 4 ? w[k + 1] : w[k];
#pragma unroll
    for (int k = 0; k < 4 && sizeof(T) < 4; k++) w[k] = __funnelshift_r(w[k], w[k + 1], bytes * 8);
    RowsPack<T, VEC> cut;
    memcpy(&cut.word, w, 16);
    return cut;
}

// An operator has a partial result Acc and a result Out; an identity; combine(), associative;
// fill(), an element that changes nothing; finish(), the result of a row of n elements; and
// gather(), which makes a partial result of the N elements x[]: element j is number first +
// j / VEC * step + j % VEC of its row, and only the first `valid` are not filled in. For ragged
// rows it also has moved(): the partial result of the same elements with numbers higher by so many.

__device__ inline bool rows_above(float a, float b) {
    return (a > b) | ((a == b) & (signbit(a) == 0));
}
// The greater of two, and the smaller: NaN if one of them is, and -0 is below +0.
__device__ inline float rows_most(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
    return most;
#else
    return (a != a) | rows_above(a, b) ? a : b;
#endif
}
__device__ inline float rows_least(float a, float b) { return -rows_most(-a, -b); }

// 2 to the power of x, in one instruction: within two units in the last place.
__device__ inline float rows_exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// x[0] to x[N - 1] combined as a tree.
template <class Op, int N> struct RowsTree {
    static __device__ float of(const float *x) {
        return Op::combine(RowsTree<Op, N / 2>::of(x), RowsTree<Op, N - N / 2>::of(x + N / 2));
    }
};
template <class Op> struct RowsTree<Op, 1> {
    static __device__ float of(const float *x) { return x[0]; }
};

template <class Op> struct RowsPlain { // for operators whose partial results are results
    typedef float Acc;
    typedef float Out;
    static __device__ float fill() { return Op::identity(); }
    static __device__ Acc moved(Acc a, unsigned) { return a; }
    static __device__ Out finish(Acc a, size_t) { return a; }
    template <int N, int VEC>
    static __device__ Acc gather(const float *x, int, unsigned, unsigned) {
        return RowsTree<Op, N>::of(x);
    }
};
struct RowsSum : RowsPlain<RowsSum> { // -0 is the identity: +0 would make +0 of a row of -0
    static __device__ Acc identity() { return -0.0f; }
    static __device__ Acc combine(Acc a, Acc b) { return a + b; }
};

template <bool GREATEST> struct RowsExtreme : RowsPlain<RowsExtreme<GREATEST>> {
    static __device__ float identity() { return GREATEST ? -INFINITY : INFINITY; }
    static __device__ float combine(float a, float b) {
        return GREATEST ? rows_most(a, b) : rows_least(a, b);
    }
};
typedef RowsExtreme<false> RowsMin;
typedef RowsExtreme<true> RowsMax;

struct __align__(8) RowsPlace {
    float value;
    unsigned index;
};
struct RowsArgMax { // the first of equals; the first NaN, if there is one
    typedef RowsPlace Acc;
    typedef RowsPlace Out;
    static __device__ Acc identity() { return {-INFINITY, UINT_MAX}; }
    static __device__ float fill() { return -INFINITY; }
    static __device__ Acc combine(Acc a, Acc b) {
        const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
        const bool same = (a.value == b.value) | (a_nan & b_nan);
        const bool wins = (a.value > b.value) | (a_nan & !b_nan) | (same & (a.index < b.index));
        return wins ? a : b;
    }
    static __device__ Acc moved(Acc a, unsigned by) { return {a.value, a.index + by}; }
    static __device__ Out finish(Acc a, size_t) { return a; }
    template <int N, int VEC>
    static __device__ Acc gather(const float *x, int valid, unsigned first, unsigned step) {
        Acc best = identity();
#pragma unroll
        for (int j = 0; j < N; j++) {
            // Indices rise: a later one wins only if it is greater, or the first NaN.
            const Acc next = {x[j], first + j / VEC * step + j % VEC};
            const bool better = j == 0 ? valid > 0
                                       : (next.value > best.value) | ((next.value != next.value) &
                                                                      (best.value == best.value));
            if (better) best = next;
        }
        return best;
    }
};

struct RowsMoments {
    float count, mean, m2; // m2: the sum of squared distances from the mean
};
struct __align__(8) RowsMeanVariance {
    float mean, variance;
};
struct RowsVariance { // of the whole row, divided by n; NaN for an empty one
    typedef RowsMoments Acc;
    typedef RowsMeanVariance Out;
    static __device__ Acc identity() { return {0, 0, 0}; }
    static __device__ float fill() { return 0; }
    static __device__ Acc combine(Acc a, Acc b) {
        const float count = a.count + b.count, share = count > 0 ? __fdividef(b.count, count) : 0;
        const float apart = b.mean - a.mean, weight = a.count * share; // 0 if one of them is empty
        return {count, a.mean + apart * share, a.m2 + b.m2 + apart * weight * apart};
    }
    static __device__ Acc moved(Acc a, unsigned) { return a; }
    static __device__ Out finish(Acc a, size_t n) {
        const Out none = {NAN, NAN}, some = {a.mean, a.m2 / a.count};
        return n > 0 ? some : none;
    }
    template <int N, int VEC>
    static __device__ Acc gather(const float *x, int valid, unsigned, unsigned) {
        enum { SUMS = VEC > 1 ? VEC : N < 4 ? N : 4 };
        float sums[SUMS], m2 = 0; // what is filled in are zeros
#pragma unroll
        for (int j = 0; j < N; j++) sums[j % SUMS] = j < SUMS ? x[j] : sums[j % SUMS] + x[j];
        const float sum = RowsTree<RowsSum, SUMS>::of(sums);
        const float mean = valid == N ? sum * (1.0f / N) : valid > 0 ? sum / (float)valid : 0;
        if (VEC == 1 && valid == N) { // no question for each element
#pragma unroll
            for (int j = 0; j < N; j++) m2 += (x[j] - mean) * (x[j] - mean);
            return {(float)valid, mean, m2};
        }
#pragma unroll
        for (int p = 0; p < N; p += VEC)
            if (p < valid)
#pragma unroll
                for (int j = p; j < p + VEC; j++) m2 += (x[j] - mean) * (x[j] - mean);
        return {(float)valid, mean, m2};
    }
};

// Of a row's exponentials: their sum is sum * e^most. `most` is the greatest element that is a
// number; NaN makes the sum NaN.
struct __align__(8) RowsExpSum {
    float most, sum;
};
struct RowsLogSumExp {
    typedef RowsExpSum Acc;
    typedef float Out;
    static __device__ Acc identity() { return {-INFINITY, 0}; }
    static __device__ float fill() { return -INFINITY; }
    static __device__ float base(float most) { return fabsf(most) == INFINITY ? 0 : most; }
    static __device__ float power(float x) { return rows_exp2(x * 1.4426950408889634f); } // of e
    static __device__ Acc combine(Acc a, Acc b) {
        const float most = fmaxf(a.most, b.most), to = base(most);
        const float left = a.most == -INFINITY ? a.sum : a.sum * power(base(a.most) - to);
        const float right = b.most == -INFINITY ? b.sum : b.sum * power(base(b.most) - to);
        return {most, left + right};
    }
    static __device__ Acc moved(Acc a, unsigned) { return a; }
    static __device__ Out finish(Acc a, size_t) {
        return base(a.most) + log2f(a.sum) * 0.69314718055994531f;
    }
    template <int N, int VEC>
    static __device__ Acc gather(const float *x, int, unsigned, unsigned) {
        enum { SUMS = VEC > 1 ? VEC : N < 4 ? N : 4 };
        float most[SUMS], sums[SUMS];
#pragma unroll
        for (int j = 0; j < N; j++) most[j % SUMS] = j < SUMS ? x[j] : fmaxf(most[j % SUMS], x[j]);
#pragma unroll
        for (int j = 1; j < SUMS; j++) most[0] = fmaxf(most[0], most[j]);
        const float to = base(most[0]);
#pragma unroll
        for (int j = 0; j < N; j++)
            sums[j % SUMS] = j < SUMS ? power(x[j] - to) : sums[j % SUMS] + power(x[j] - to);
        return {most[0], RowsTree<RowsSum, SUMS>::of(sums)};
    }
};

struct RowsSquares : RowsPlain<RowsSquares> {
    static __device__ Acc identity() { return 0; }
    static __device__ Acc combine(Acc a, Acc b) { return a + b; }
    template <int N, int VEC>
    static __device__ Acc gather(const float *x, int, unsigned, unsigned) {
        enum { SUMS = VEC > 1 ? VEC : N < 4 ? N : 4 };
        float s[SUMS];
#pragma unroll
        for (int j = 0; j < N; j++)
            s[j % SUMS] = j < SUMS ? x[j] * x[j] : fmaf(x[j], x[j], s[j % SUMS]);
        return RowsTree<RowsSum, SUMS>::of(s);
    }
};

// A value of 4-byte words from lane ^ d.
template <class V> __device__ V rows_lane_xor(V x, int d) {
    unsigned w[sizeof(V) / 4];
    memcpy(w, &x, sizeof x);
#pragma unroll
    for (unsigned k = 0; k < sizeof(V) / 4; k++) w[k] = __shfl_xor_sync(0xffffffffu, w[k], d);
    memcpy(&x, w, sizeof x);
    return x;
}

// Combined over teams of `lanes` lanes, for each of them.
template <class Op> __device__ typename Op::Acc rows_lanes_all(typename Op::Acc mine, int lanes) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        if (d < lanes) mine = Op::combine(mine, rows_lane_xor(mine, d));
    return mine;
}

// COUNT values in each lane, value r to be combined over LANES lanes. In each step lanes in pairs
// swap half of what they have; in the end lane l has the values from l * COUNT / LANES on.
template <class Op, int LANES, int COUNT>
__device__ void rows_mix(typename Op::Acc (&mine)[COUNT], unsigned lane) {
#pragma unroll
    for (int d = LANES / 2, half = COUNT / 2; d > 0; d /= 2, half /= 2) {
        const bool upper = lane & (unsigned)d;
        if (half == 0) mine[0] = Op::combine(mine[0], rows_lane_xor(mine[0], d));
#pragma unroll
        for (int k = 0; k < COUNT / 2; k++)
            if (k < half) {
                const typename Op::Acc got = rows_lane_xor(upper ? mine[k] : mine[k + half], d);
                mine[k] = Op::combine(upper ? got : mine[k], upper ? mine[k + half] : got);
            }
    }
}

// Combined over a block of THREADS, for every thread. Calls one after the other count `turn` up, so
// that they use two places in turns.
template <class Op, int THREADS>
__device__ typename Op::Acc rows_block_all(typename Op::Acc mine, unsigned turn) {
    enum { WARPS = THREADS / 32 };
    __shared__ typename Op::Acc of_warp[2][WARPS];
    mine = rows_lanes_all<Op>(mine, 32);
    if (WARPS == 1) return mine;
    if (threadIdx.x % 32 == 0) of_warp[turn % 2][threadIdx.x / 32] = mine;
    __syncthreads(); // every warp's value is there before any is read
    return rows_lanes_all<Op>(of_warp[turn % 2][threadIdx.x % WARPS], WARPS);
}

// Mailboxes as in chapter 11: 64 bits of flag and value for each word, one piece, so that whoever
// sees the flag sees the value. In device memory, empty (0) between launches.
template <class A>
__device__ void rows_post(volatile unsigned long long *box, A value, unsigned long long flag) {
    unsigned bits[sizeof(A) / 4];
    memcpy(bits, &value, sizeof value);
#pragma unroll
    for (unsigned k = 0; k < sizeof(A) / 4; k++) box[k] = flag << 32 | bits[k];
}

// Waits for a value with this flag.
template <class A> __device__ A rows_await(volatile unsigned long long *box, unsigned flag) {
    unsigned bits[sizeof(A) / 4];
    bool full;
    do {
        full = true;
#pragma unroll
        for (unsigned k = 0; k < sizeof(A) / 4; k++) {
            const unsigned long long word = box[k];
            full = full && word >> 32 == flag;
            bits[k] = (unsigned)word;
        }
    } while (!full);
    A value;
    memcpy(&value, bits, sizeof value);
    return value;
}

// Waits for the value, and leaves the mailbox empty.
template <class A> __device__ A rows_collect(volatile unsigned long long *box) {
    const A value = rows_await<A>(box, 1);
#pragma unroll
    for (unsigned k = 0; k < sizeof(A) / 4; k++) box[k] = 0;
    return value;
}

// A block's place in the order in which the `parts` blocks of a row start, valid in thread 0.
// Whoever draws the last number knows that all others have started.
__device__ inline unsigned rows_draw(unsigned *counter, unsigned parts) {
    return threadIdx.x == 0 && parts > 1 ? atomicInc(counter, parts - 1) : 0;
}

// Each block of a row has a part of it, and a number, and posts its part. The last one to start
// waits for all mail and has the whole then, in all its threads: true. The others are done.
template <class Op, int THREADS>
__device__ bool rows_join(typename Op::Acc &mine, unsigned number, unsigned part, unsigned parts,
                          unsigned long long *boxes) {
    typedef typename Op::Acc Acc;
    __shared__ unsigned drawn;
    const unsigned t = threadIdx.x;
    mine = rows_block_all<Op, THREADS>(mine, 0);
    if (parts == 1) return true;
    enum { WORDS = sizeof(Acc) / 4 };
    if (t == 0) rows_post(boxes + (size_t)part * WORDS, mine, 1);
    if (t == 0) drawn = number;
    __syncthreads(); // all threads know the block's number
    if (drawn + 1 < parts) return false;
    mine = Op::identity();
    for (unsigned k = t; k < parts; k += THREADS)
        mine = Op::combine(mine, rows_collect<Acc>(boxes + (size_t)k * WORDS));
    mine = rows_block_all<Op, THREADS>(mine, 1);
    return true;
}

enum : unsigned {
    ROWS_BOXES = 65536,   // parts of rows that are on their way, the most of a launch
    ROWS_COUNTERS = 32768 // rows that several blocks share
};
enum { ROWS_GRID = -1 }; // a row for blocks of the whole grid
// Three words for each part, a counter for blocks and one for clusters, and those of rows.
static const size_t ROWS_WORKSPACE_BYTES = ROWS_BOXES * 3u * 8u + 16u + ROWS_COUNTERS * 4u;

// What thread t of THREADS makes of a part of a row that is at any address, PER vectors of 16 bytes
// on their way at once. As in chapter 11 a part is every parts-th tile of THREADS * PER vectors;
// whose turn it is after the last whole tile takes what is left, and the elements in front of the
// first boundary of LINE bytes and behind the last vector. Reads every element once.
template <class Op, class T, int THREADS, int PER, bool ONCE = false>
__device__ typename Op::Acc rows_piece(const T *from, unsigned cols, unsigned t, unsigned part,
                                       unsigned parts) {
    enum { VEC = 16 / sizeof(T), TILE = THREADS * PER, N = PER * VEC };
    enum { LINE = THREADS >= 128 ? 128 : 32 }; // as many edges have a thread each
    const RowsEnds<T, unsigned> ends(rows_before<LINE>(from), cols);
    const unsigned head = ends.head, vectors = (ends.tail - head) / VEC, edges = ends.edges();
    typename Op::Acc mine = Op::identity();
    unsigned first = part * TILE;
    for (; first + TILE <= vectors; first += parts * TILE) {
        RowsPack<T, VEC> v[PER];
        float x[N];
#pragma unroll
        for (int p = 0; p < PER; p++)
            v[p].load(from + head + (size_t)(first + t + p * THREADS) * VEC, ONCE);
#pragma unroll
        for (int p = 0; p < PER; p++) v[p].widen(x + p * VEC);
        mine = Op::combine(
            mine, Op::template gather<N, VEC>(x, N, head + (first + t) * VEC, THREADS * VEC));
    }
    if (first < vectors || (first == vectors && edges > 0)) {
        RowsPack<T, VEC> v[PER];
        float x[N], edge = Op::fill();
        const unsigned left = vectors - first, at = ends.edge(t);
        int valid = 0;
#pragma unroll
        for (int p = 0; p < PER; p++) {
            v[p].fill(Op::fill());
            if (t + p * THREADS < left)
                v[p].load(from + head + (size_t)(first + t + p * THREADS) * VEC, ONCE);
        }
        if (t < edges) edge = rows_float(from[at]);
#pragma unroll
        for (int p = 0; p < PER; p++) {
            v[p].widen(x + p * VEC);
            if (t + p * THREADS < left) valid += VEC;
        }
        mine = Op::combine(
            mine, Op::template gather<N, VEC>(x, valid, head + (first + t) * VEC, THREADS * VEC));
        mine = Op::combine(mine, Op::template gather<1, 1>(&edge, t < edges, at, 1));
    }
    return mine;
}

// Reduces rows at any address and stride, each by a team: a warp, of which a block has eight, or
// `parts` blocks of TEAM threads, which have a counter for their row, 0 between launches.
template <class Op, class T, int TEAM, int PER, bool ONCE>
__global__ void __launch_bounds__(TEAM > 32 ? TEAM : 256)
    rows_by_blocks(const T *in, size_t rows, unsigned cols, size_t stride, unsigned parts,
                   typename Op::Out *out, unsigned long long *boxes, unsigned *counters) {
    typedef typename Op::Acc Acc;
    enum { WARP = TEAM == 32 };
    const unsigned t = threadIdx.x % TEAM, part = WARP ? 0 : blockIdx.x % parts;
    const size_t row = WARP ? ((size_t)blockIdx.x * 256 + threadIdx.x) / 32 : blockIdx.x / parts;
    if (WARP && row >= rows) return;
    const unsigned number = WARP ? 0 : rows_draw(counters + row, parts);
    Acc mine =
        rows_piece<Op, T, TEAM, PER, ONCE>(in + row * stride, cols, t, part, WARP ? 1 : parts);
    if (WARP) {
        mine = rows_lanes_all<Op>(mine, 32);
    } else {
        boxes += row * parts * (sizeof(Acc) / 4);
        if (!rows_join<Op, TEAM>(mine, number, part, parts, boxes)) return;
    }
    if (t == 0) out[row] = Op::finish(mine, cols);
}

// Ragged rows: row r has the elements from offset r to offset r + 1. Think of a path that takes all
// elements of a row, then its end, then the next row. An end is as many steps as its offset and a
// result of 4 bytes would be elements: so equal lengths of the path are equally many bytes to move.
template <class T, class O> struct RowsPath {
    enum { END = (sizeof(O) + 4) / sizeof(T) };
    const O *offsets;
    long long rows, zero, last; // zero: the first element; last: the last one's end
    // At which step a row begins whose first element is `begin`.
    __device__ long long step_of(long long row, long long begin) const {
        return begin - zero + END * row;
    }
    __device__ long long steps() const { return step_of(rows, last); }
};

// Where the path is cut: the row that ends next, the next element, the row's first element.
struct RowsCut {
    long long row, e, begin;
};

// Cuts the path at KEYS steps at once: 32 / KEYS lanes have one, and look for the first row that
// does not end before it, from row `low` to `high`. A round asks for PROBES rows in each lane.
template <int KEYS, int PROBES, class T, class O> struct RowsSearch {
    enum { LANES = 32 / KEYS, ASKED = LANES * PROBES, END = RowsPath<T, O>::END };
    long long low, high, by, end[PROBES];

    __device__ void ask(const O *offsets) {
        by = (high - low) / ASKED + 1;
#pragma unroll
        for (int k = 0; k < PROBES; k++) {
            const long long r = low + (threadIdx.x % LANES + LANES * k + 1) * by - 1;
            end[k] = r < high ? offsets[r + 1] + END * r : LLONG_MAX;
        }
    }
    // To be called when it has asked once.
    __device__ RowsCut find(const RowsPath<T, O> &path, long long step) {
        const unsigned first = threadIdx.x % 32 - threadIdx.x % LANES; // lane of this step
        while (true) {
            int before = 0;
#pragma unroll
            for (int k = 0; k < PROBES; k++) {
                const unsigned less = __ballot_sync(0xffffffffu, end[k] < step + path.zero);
                before += __popc(less >> first & ((1u << LANES) - 1));
            }
            low += before * by;
            high = min(high, low + by - 1);
            if (!__any_sync(0xffffffffu, low < high)) break;
            ask(path.offsets);
        }
        const long long begin = path.offsets[low];
        return {low, max(begin, step + path.zero - END * low), begin};
    }
};

// What one warp of a block leaves in shared memory for others: they wait until the gate has opened
// so many times. It opens when `arrivals` warps have arrived and the bytes announced are there.
struct RowsGate {
    unsigned long long word;
    __device__ unsigned address() const { return (unsigned)__cvta_generic_to_shared(&word); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    __device__ void init(unsigned arrivals) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                     : "memory");
    }
    __device__ void wait(unsigned times) const {
        unsigned open = times == 0;
        while (!open)
            asm volatile("{ .reg .pred p;"
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
                         " mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
#else
                         " mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
#endif
                         " selp.u32 %0, 1, 0, p; }"
                         : "=r"(open)
                         : "r"(address()), "r"((times - 1) & 1)
                         : "memory");
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __device__ void arrive(unsigned bytes = 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address()),
                     "r"(bytes)
                     : "memory");
    }
#else
    __device__ void arrive() {
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address()) : "memory");
    }
#endif
#else
    __device__ void init(unsigned arrivals) { word = (unsigned long long)arrivals << 32; }
    __device__ void wait(unsigned times) {
        const unsigned want = (unsigned)(word >> 32) * times;
        while ((int)(atomicAdd((unsigned *)&word, 0u) - want) < 0) {
        }
        __threadfence_block(); // what others did is seen behind their arrival
    }
    __device__ void arrive() {
        __threadfence_block(); // what the warp did is seen before its arrival
        atomicAdd((unsigned *)&word, 1u);
    }
#endif
};
// One of N places, used in turns, and how often it was.
template <int N> struct RowsTurn {
    unsigned at, times;
    __device__ void next() {
        if (++at == N) at = 0, times++;
    }
};
// A barrier of the warps that add.
template <int THREADS> __device__ void rows_adders() {
    asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory");
}

// Elements from..upto - 1 of an array of which low..high - 1 may be read, on their way into shared
// memory, to `to` plus what the first is behind a multiple of 128 bytes: vectors of 16 bytes, and
// what does not fill one at the ends of the array.
struct RowsSpan {
    enum { LINE = 128 };
    size_t begin, end, vectors, stop; // addresses; the vectors are from `vectors` to `stop`
    unsigned char *to;

    template <class U>
    __device__ RowsSpan(unsigned char *to_line, const U *in, long long from, long long upto,
                        long long low, long long high)
        : begin((size_t)(in + from)), end((size_t)(in + upto)), to(to_line - begin / LINE * LINE) {
        vectors = begin / 16 * 16, stop = (end + 15) / 16 * 16;
        if (vectors < (size_t)(in + low)) vectors += 16;
        if (stop > (size_t)(in + high)) stop -= 16;
        if (from >= upto) vectors = stop = end = begin;
    }
    __device__ unsigned bytes() const { return vectors < stop ? (unsigned)(stop - vectors) : 0; }
    // A warp copies what does not fill a vector.
    template <class U> __device__ void copy_ends() const {
        const size_t of_lane = threadIdx.x % 32 * sizeof(U);
        const size_t x = begin + of_lane, y = max(stop, begin) + of_lane;
        if (x < min(vectors, end)) *(U *)(to + x) = *(const U *)x;
        if (vectors <= stop && y < end) *(U *)(to + y) = *(const U *)y;
    }
};

// 16 bytes on their way into shared memory, past the registers where the device can do that. With
// `once` their line may leave the L2 cache first.
__device__ inline void rows_copy_async(void *to, const void *from, bool once = false) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    if (once)
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(at),
                     "l"(from), "l"(policy)
                     : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
    (void)once;
    *(uint4 *)to = *(const uint4 *)from;
#endif
}

// Sends a span's vectors on their way: the copy engine, which one lane asks, or before compute
// capability 9.0 all lanes of a warp, themselves.
__device__ inline void rows_send(const RowsSpan &s, RowsGate &gate, bool once) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (s.bytes() > 0)
        asm volatile(
            "{ .reg .b64 first, normal; .reg .pred once; setp.ne.u32 once, %4, 0;\n"
            "createpolicy.fractional.L2::evict_first.b64 first;\n"
            "createpolicy.fractional.L2::evict_normal.b64 normal;\n"
            "selp.b64 first, first, normal, once;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
            " [%0], [%1], %2, [%3], first; }" ::"r"(
                (unsigned)__cvta_generic_to_shared(s.to + s.vectors)),
            "l"(s.vectors), "r"(s.bytes()), "r"(gate.address()), "r"((unsigned)once)
            : "memory");
#else
    for (size_t x = s.vectors + threadIdx.x % 32 * 16; x < s.stop; x += 32 * 16)
        rows_copy_async(s.to + x, (const void *)x, once);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(gate.address()) : "memory");
#endif
#endif
}

// A warp has two spans copied, and arrives at a gate, which opens when they are there.
__device__ inline void rows_deliver(RowsGate &gate, const RowsSpan &a, const RowsSpan &b,
                                    bool once) {
    __syncwarp(); // what other lanes wrote is there before the warp arrives
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 > 0) return;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    gate.arrive(a.bytes() + b.bytes());
    rows_send(a, gate, once), rows_send(b, gate, once);
#else
    rows_send(a, gate, once), rows_send(b, gate, once);
    __syncwarp(); // all lanes have copied, or the gate knows of their copies
    if (threadIdx.x % 32 == 0) gate.arrive();
#endif
}

// What the warps that add are told of a tile.
struct RowsTile {
    long long row, base, before; // the row that ends first; the element at 0, counted also from
                                 // the row's first
    int count, from, limit;      // how many rows end; where elements begin, and end
    unsigned ends;               // where the offsets of the ends are, in bytes
};

// What a block keeps in shared memory, and what its warps do there: SEARCHERS search, one has
// tiles copied, WARPS of them add. A tile is STEPS steps of the path, SIZE elements at most.
template <class Op, class T, class O, int WARPS, int SIZE> struct RowsDeal {
    typedef typename Op::Acc Acc;
    typedef RowsPath<T, O> Path;
    enum {
        VEC = 16 / sizeof(T),
        LEAF = 8,   // elements of a tree's lowest nodes
        NEAR = 128, // elements that a share takes on or leaves
        STEPS = SIZE - RowsSpan::LINE / sizeof(T) - NEAR, // a tile begins somewhere in a line
        BYTES = SIZE * sizeof(T) + 3 * RowsSpan::LINE,
        ADDERS = 32 * WARPS,
        THREADS = ADDERS + 96,
        PART = SIZE / WARPS, // of a tile, for a warp
        KEYS = 8,            // cuts of a group
        FIRST = 2,           // of the first
        SEARCHERS = 2,       // warps that search, in turns
        GROUPS = 4           // of cuts
    };
    typedef RowsSearch<FIRST, 4, T, O> First;
    typedef RowsSearch<KEYS, 4, T, O> More;
    __align__(128) unsigned char bytes[2][BYTES];
    __align__(16) Acc node[2][SIZE / LEAF * 3 / 2]; // trees, in turns; level after level
    RowsTile tile[2];
    RowsGate full[2], empty[2]; // tiles
    RowsCut cut[GROUPS][KEYS];
    RowsGate known[GROUPS], used[GROUPS];
    Acc open[2], mail[WARPS]; // of the row that goes on, in turns
    unsigned share, began;    // the block's; the one in which its first row began
    long long joined;         // the row that began in an earlier share, or -1
    bool on;                  // a row goes on behind the share
    size_t ended;             // how many elements the joined row has, when its end is found
    Acc early;                // what this share has of it

    __device__ void init() {
        if (threadIdx.x == 0) {
            for (int s = 0; s < 2; s++) full[s].init(1), empty[s].init(WARPS);
            for (int g = 0; g < GROUPS; g++) known[g].init(1), used[g].init(1);
            joined = -1, on = false, ended = 0;
        }
        RowsPack<T, VEC> fill; // trees grow from whole vectors
        fill.fill(Op::fill());
        for (unsigned i = threadIdx.x; i < sizeof bytes / 16; i += THREADS)
            reinterpret_cast<RowsPack<T, VEC> *>(bytes)[i] = fill;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // before copies write
#endif
    }

    // Cuts a group's tiles, from tile t on; returns the row of the last cut. Where a share begins
    // or ends soon after a row has begun, the cut is where the row begins.
    template <class Search>
    __device__ long long cut_group(Search &search, const Path &path, RowsTurn<GROUPS> turn,
                                   long long t, long long end, bool begins) {
        const unsigned lane = threadIdx.x % 32, key = lane / Search::LANES;
        RowsCut at = search.find(path, min(min(t + key, end) * STEPS, path.steps()));
        const bool border = t + key >= end || (begins && key == 0);
        if (border && at.e - at.begin <= NEAR) at.e = at.begin;
        used[turn.at].wait(turn.times);
        if (lane % Search::LANES == 0) cut[turn.at][key] = at;
        __syncwarp(); // the cuts are there
        if (lane == 0) known[turn.at].arrive();
        return __shfl_sync(0xffffffffu, at.row, 31);
    }

    // The warps that search: cut tiles t..end - 1 of the path, each every SEARCHERS-th group.
    __device__ void search(First &first, const Path &path, int searcher, long long t,
                           long long end) {
        enum { MOST = SEARCHERS * (KEYS - 1) * (STEPS / Path::END + 1) + 1 }; // rows until its next
        RowsTurn<GROUPS> turn = {0, 0};
        long long low = 0, high = path.rows;
        if (searcher == 0) {
            low = cut_group(first, path, turn, t, end, true);
            high = min(path.rows, low + MOST);
        }
        t += FIRST - 1, turn.next();
        for (int g = 1; t < end; g++, t += KEYS - 1, turn.next()) {
            if (g % SEARCHERS != searcher) continue;
            More more;
            more.low = low, more.high = high;
            more.ask(path.offsets);
            low = cut_group(more, path, turn, t, end, false);
            high = min(path.rows, low + MOST);
        }
    }

    // The warp that copies. A share is `each` tiles.
    __device__ void copy(const Path &path, const T *in, long long t, long long end, unsigned each,
                         bool once) {
        const bool leads = threadIdx.x % 32 == 0;
        RowsTurn<GROUPS> turn = {0, 0};
        RowsTurn<2> stage = {0, 0};
        for (int tiles = FIRST - 1; t < end; tiles = KEYS - 1) {
            known[turn.at].wait(turn.times + 1);
            for (int k = 0; k < tiles && t < end; k++, t++) {
                const RowsCut a = cut[turn.at][k], b = cut[turn.at][k + 1];
                if (leads && t == (long long)share * each && a.begin < a.e) {
                    joined = a.row;
                    began = (unsigned)((path.step_of(a.row, a.begin) + NEAR) / STEPS) / each;
                }
                if (leads && t + 1 == end) on = b.begin < b.e;
                copy_tile(path, in, a, b, stage, once);
                stage.next();
            }
            if (leads) used[turn.at].arrive(); // rows_deliver() waited: all have read the cuts
            turn.next();
        }
    }
    // From one cut to the next: elements, and behind them the offsets at which rows end.
    __device__ void copy_tile(const Path &path, const T *in, const RowsCut &a, const RowsCut &b,
                              RowsTurn<2> stage, bool once) {
        enum { LINE = RowsSpan::LINE };
        unsigned char *const to = bytes[stage.at];
        RowsTile now;
        now.from = (int)((size_t)(in + a.e) % LINE / sizeof(T)), now.base = a.e - now.from;
        now.row = a.row, now.before = now.base - a.begin;
        now.count = (int)(b.row - a.row), now.limit = (int)(b.e - now.base);
        const unsigned behind = (now.limit * (unsigned)sizeof(T) + LINE - 1) / LINE * LINE;
        now.ends = behind + (unsigned)((size_t)(path.offsets + a.row + 1) % LINE);
        const RowsSpan elements(to, in, a.e, b.e, path.zero, path.last);
        const RowsSpan ends(to + behind, path.offsets, a.row + 1, b.row + 1, 0, path.rows + 1);
        empty[stage.at].wait(stage.times);
        if (threadIdx.x % 32 == 0) tile[stage.at] = now;
        elements.template copy_ends<T>();
        ends.template copy_ends<O>();
        rows_deliver(full[stage.at], elements, ends, once);
    }

    static __device__ Acc of_pack(const RowsPack<T, VEC> *pack, int at) {
        float x[VEC];
        pack[at].widen(x);
        return Op::template gather<VEC, 4>(x, VEC, VEC * (unsigned)at, 4);
    }
    static __device__ Acc of_leaf(const RowsPack<T, VEC> *pack, int at) {
        if (VEC == LEAF) return of_pack(pack, at);
        const int other = at / 4 % 2;
        return Op::combine(of_pack(pack, 2 * at + other), of_pack(pack, 2 * at + 1 - other));
    }
    // Of four nodes side by side.
    static __device__ Acc of_four(const Acc *from) {
        uint4 words[sizeof(Acc) / 4];
        Acc a[4];
#pragma unroll
        for (unsigned k = 0; k < sizeof(Acc) / 4; k++)
            words[k] = reinterpret_cast<const uint4 *>(from)[k];
        memcpy(a, words, sizeof a);
        return Op::combine(Op::combine(a[0], a[1]), Op::combine(a[2], a[3]));
    }

    // The trees above a tile, one for each warp's part of it, as far as there are elements.
    static __device__ void grow(const unsigned char *elements, Acc *tree, int limit) {
        const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
        if (warp * PART >= limit) return;
        const RowsPack<T, VEC> *pack = reinterpret_cast<const RowsPack<T, VEC> *>(elements);
#pragma unroll
        for (int i = 0; i < PART / LEAF; i += 32) {
            const int at = warp * (PART / LEAF) + i + lane;
            tree[at] = of_leaf(pack, at);
        }
        __syncwarp(); // all nodes of eight elements are there
        const Acc *below = tree;
#pragma unroll
        for (int all = SIZE / LEAF, mine = PART / LEAF; mine % 4 == 0; all /= 4, mine /= 4) {
            Acc *const above = tree += all;
#pragma unroll
            for (int i = 0; i < mine / 4; i += 32) {
                const int at = warp * (mine / 4) + i + lane;
                if (i + lane < mine / 4) above[at] = of_four(below + 4 * at);
            }
            __syncwarp(); // all nodes of this level are there
            below = above;
        }
    }

    static __device__ Acc element(const T *elements, int i) {
        const float x = rows_float(elements[i]);
        return Op::template gather<1, 1>(&x, 1, (unsigned)i, 1);
    }
    // Elements from..to - 1 of the tile: of each level at most three nodes on each side, and of the
    // highest all.
    static __device__ Acc between(const T *elements, const Acc *tree, int from, int to) {
        Acc left = Op::identity(), right = left;
        int head = min(-from & (LEAF - 1), to - from);
        int tail = min(to & (LEAF - 1), to - from - head);
#pragma unroll
        for (int k = 0; k < LEAF - 1; k++) {
            if (k < head) left = Op::combine(left, element(elements, from + k));
            if (k < tail) right = Op::combine(element(elements, to - 1 - k), right);
        }
        from = (from + head) / LEAF, to = (to - tail) / LEAF;
#pragma unroll
        for (int all = SIZE / LEAF, mine = PART / LEAF; mine % 4 == 0; all /= 4, mine /= 4) {
            if (from >= to) return Op::combine(left, right);
            head = min(-from & 3, to - from), tail = min(to & 3, to - from - head);
#pragma unroll
            for (int k = 0; k < 3; k++) {
                if (k < head) left = Op::combine(left, tree[from + k]);
                if (k < tail) right = Op::combine(tree[to - 1 - k], right);
            }
            from = (from + head) >> 2, to = (to - tail) >> 2;
            tree += all;
        }
        for (int k = from; k < to; k++) left = Op::combine(left, tree[k]);
        return Op::combine(left, right);
    }

    // The rows that end in the share's tile number t, a thread for each, and one for what is left.
    __device__ void take_rows(const RowsTile &now, const unsigned char *tile_bytes, int t,
                              bool last, typename Op::Out *out, unsigned long long *boxes) {
        const O *const ends = reinterpret_cast<const O *>(tile_bytes + now.ends);
        const T *const elements = reinterpret_cast<const T *>(tile_bytes);
        const unsigned base = (unsigned)now.base;
        for (int k = (int)threadIdx.x; k <= now.count; k += ADDERS) {
            const int from = k > 0 ? (int)((unsigned)ends[k - 1] - base) : now.from;
            const int upto = k < now.count ? (int)((unsigned)ends[k] - base) : now.limit;
            // What the tile's first element is in the row
            const long long before = k > 0 ? -(long long)from : now.before;
            Acc mine = Op::identity();
            if (from < upto)
                mine = Op::moved(between(elements, node[t % 2], from, upto), (unsigned)before);
            if (k == 0 && t > 0) mine = Op::combine(open[t % 2], mine);
            if (k == now.count) {
                open[(t + 1) % 2] = mine;
                if (last && on) rows_post(boxes + share * (sizeof(Acc) / 4), mine, 1);
            } else if (k == 0 && now.row == joined) {
                early = mine, ended = (size_t)(before + upto);
            } else {
                out[now.row + k] = Op::finish(mine, (size_t)(before + upto));
            }
        }
    }

    // The result of a row that began in an earlier share: the parts of the shares before, which
    // their blocks post, and this one's. Few parts are for one warp.
    __device__ void join(typename Op::Out *out, unsigned long long *boxes) {
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const bool few = share - began <= 32;
        if (joined < 0 || ended == 0 || (few && warp > 0)) return;
        Acc mine = Op::identity();
        for (unsigned s = began + threadIdx.x; s < share; s += ADDERS)
            mine = Op::combine(mine, rows_collect<Acc>(boxes + s * (sizeof(Acc) / 4)));
        __syncwarp(); // all parts have come
        mine = rows_lanes_all<Op>(mine, 32);
        if (!few) {
            if (lane == 0) mail[warp] = mine;
            rows_adders<ADDERS>(); // every warp's parts are there
            if (warp > 0) return;
            mine = rows_lanes_all<Op>(lane < WARPS ? mail[lane] : Op::identity(), 32);
        }
        if (lane == 0) out[joined] = Op::finish(Op::combine(mine, early), ended);
    }

    // The warps that add.
    __device__ void add(typename Op::Out *out, unsigned long long *boxes, int tiles) {
        RowsTurn<2> stage = {0, 0};
        for (int t = 0; t < tiles; t++, stage.next()) {
            full[stage.at].wait(stage.times + 1);
            const RowsTile &now = tile[stage.at];
            grow(bytes[stage.at], node[t % 2], now.limit);
            rows_adders<ADDERS>(); // the tree is whole
            take_rows(now, bytes[stage.at], t, t + 1 == tiles, out, boxes);
            __syncwarp(); // all lanes are done with the tile
            if (threadIdx.x % 32 == 0) empty[stage.at].arrive();
        }
        rows_adders<ADDERS>(); // what the last tile left is there
        join(out, boxes);
    }
};

// Has a block's part of the offsets brought into L2, a line of 128 bytes for each thread at most.
template <class O> __device__ void rows_prefetch(const O *offsets, long long rows) {
    const long long lines = ((rows + 1) * (long long)sizeof(O) - 1) / 128 + 1;
    const long long each = (lines + gridDim.x - 1) / gridDim.x;
    const long long line = blockIdx.x * each + threadIdx.x;
    if (threadIdx.x < each && line < lines)
        asm volatile("prefetch.global.L2 [%0];" ::"l"((size_t)offsets + (size_t)line * 128));
}

// Reduces ragged rows, in any grid. Reads every element once, and the offsets.
template <class Op, class T, class O, int WARPS, int SIZE>
__global__ void __launch_bounds__(RowsDeal<Op, T, O, WARPS, SIZE>::THREADS, 2)
    rows_ragged(const T *in, const O *offsets, long long rows, bool once, typename Op::Out *out,
                unsigned long long *boxes, unsigned *started) {
    typedef RowsDeal<Op, T, O, WARPS, SIZE> Deal;
    extern __shared__ __align__(128) unsigned char rows_deal_bytes[];
    Deal &deal = *reinterpret_cast<Deal *>(rows_deal_bytes);
    const int warp = (int)threadIdx.x / 32;
    typename Deal::First search;
    search.low = 0, search.high = rows;
    if (warp == WARPS) search.ask(offsets);
    rows_prefetch(offsets, rows);
    if (threadIdx.x == 0) { // blocks are numbered as they start, and wait for lower numbers only
        deal.share = gridDim.x > 1 ? atomicInc(started, gridDim.x - 1) : 0;
    }
    const RowsPath<T, O> path = {offsets, rows, offsets[0], offsets[rows]};
    deal.init();
    __syncthreads(); // gates are there, and what no copy will write is filled in
    // Everybody waits for this division: of 32 bits it is a few instructions.
    const unsigned tiles = (unsigned)((path.steps() + Deal::STEPS - 1) / Deal::STEPS);
    const unsigned each = (tiles - 1) / gridDim.x + 1; // tiles of a share
    const long long first = (long long)deal.share * each;
    const long long end = min(first + each, (long long)tiles);
    if (first >= end) return;
    if (warp < WARPS)
        deal.add(out, boxes, (int)(end - first));
    else if (warp < WARPS + Deal::SEARCHERS)
        deal.search(search, path, warp - WARPS, first, end);
    else
        deal.copy(path, in, first, end, each, once);
}

// A row of more than two chunks, of `size` elements each from the first one of all on, is long:
// blocks of their own take the chunks that lie in it whole, and the block of the row what is in
// front of these and behind. Not where a chunk's number would be too high for its mailboxes.
template <class Op, class T, class O, int THREADS, int PER> struct RowsLong {
    typedef typename Op::Acc Acc;
    enum { MOST = 32768 };     // counters for them
    long long begin, end, low; // elements; where its first whole chunk begins
    long long size, first;     // of a chunk; number of its first
    unsigned chunks;

    __device__ RowsLong(const O *offsets, long long row, long long chunk)
        : begin(offsets[row]), end(offsets[row + 1]), size(chunk) {
        const long long zero = offsets[0];
        first = (begin - zero + size - 1) / size;
        low = zero + first * size, chunks = (unsigned)((end - zero) / size - first);
    }
    __device__ bool is_long() const {
        return end - begin > 2 * size && first + (long long)chunks <= MOST;
    }
    // Elements from..to - 1 of the row, for every thread.
    static __device__ Acc piece(const T *in, long long from, long long to) {
        return rows_piece<Op, T, THREADS, PER>(in + from, (unsigned)(to - from), threadIdx.x, 0, 1);
    }
    // Part k is chunk k, and the last part what is left.
    __device__ void take(const T *in, unsigned k, typename Op::Out *out, unsigned long long *boxes,
                         unsigned *counters) const {
        const unsigned number = rows_draw(counters + first, chunks + 1);
        const long long high = low + chunks * size, from = low + k * size;
        Acc mine;
        if (k < chunks)
            mine = Op::moved(piece(in, from, from + size), (unsigned)(from - begin));
        else
            mine = Op::combine(piece(in, begin, low),
                               Op::moved(piece(in, high, end), (unsigned)(high - begin)));
        boxes += 2 * first * (long long)(sizeof(Acc) / 4); // two for each chunk
        if (!rows_join<Op, THREADS>(mine, number, k, chunks + 1, boxes)) return;
        if (threadIdx.x == 0) *out = Op::finish(mine, (size_t)(end - begin));
    }
};

// The row that element `at` lies in, the last one that begins there or before: all threads of a
// block look, at THREADS places at a time.
template <int THREADS, class O>
__device__ long long rows_row_of(const O *offsets, long long rows, long long at) {
    long long low = 0, high = rows; // it is low or behind, and in front of high
    while (high - low > 1) {
        const long long by = (high - low - 1) / THREADS + 1, r = low + (threadIdx.x + 1) * by;
        low += by * __syncthreads_count(r < high && offsets[r] <= at);
        high = min(high, low + by);
    }
    return low;
}

// Reduces ragged rows. The first `helpers` blocks take chunks of long rows; without any, no row is
// long. Of the others each has a row, or (SHARED) each warp one that is not longer than WARP, and
// the block those that are.
template <class Op, class T, class O, int THREADS, int PER, bool SHARED>
__global__ void __launch_bounds__(THREADS)
    rows_ragged_few(const T *in, const O *offsets, long long rows, typename Op::Out *out,
                    unsigned helpers, long long chunk, unsigned long long *boxes,
                    unsigned *counters) {
    typedef RowsLong<Op, T, O, THREADS, PER> Long;
    enum { WARP = 128 * PER, EACH = SHARED ? THREADS / 32 : 1 };
    if (blockIdx.x < helpers) {
        const long long zero = offsets[0], last = offsets[rows];
        for (long long from = zero + blockIdx.x * chunk; from + chunk <= last;
             from += helpers * chunk) {
            const long long row = rows_row_of<THREADS>(offsets, rows, from);
            const Long mine(offsets, row, chunk);
            if (!mine.is_long() || mine.end < from + chunk) continue;
            mine.take(in, (unsigned)((from - mine.low) / chunk), out + row, boxes, counters);
            __syncthreads(); // all are done with the block's shared memory
        }
        return;
    }
    const unsigned blocks = gridDim.x - helpers, block = blockIdx.x - helpers;
    __shared__ long long begins[EACH], lengths[EACH];
    if (SHARED) {
        const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const long long row = block + (long long)warp * blocks;
        long long begin = 0, n = 0;
        if (row < rows) begin = offsets[row], n = offsets[row + 1] - begin;
        if (lane == 0) begins[warp] = begin, lengths[warp] = n;
        if (row < rows && n <= WARP) {
            typename Op::Acc mine =
                rows_piece<Op, T, 32, PER>(in + begin, (unsigned)n, lane, 0, 1);
            mine = rows_lanes_all<Op>(mine, 32);
            if (lane == 0) out[row] = Op::finish(mine, (size_t)n);
        }
        if (!__syncthreads_or(n > WARP)) return; // mostly no row is longer
    }
    unsigned turn = 0;
    for (int k = 0; k < EACH; k++) {
        const long long row = block + (long long)k * blocks;
        if (SHARED && lengths[k] <= WARP) continue;
        const long long begin = SHARED ? begins[k] : offsets[row];
        const long long n = SHARED ? lengths[k] : offsets[row + 1] - begin;
        if (helpers && n > 2 * chunk) {
            const Long mine(offsets, row, chunk);
            __syncthreads(); // all are done with the row before
            if (mine.is_long()) {
                mine.take(in, mine.chunks, out + row, boxes, counters);
                __syncthreads(); // and with this one
                continue;
            }
        }
        const typename Op::Acc mine = rows_block_all<Op, THREADS>(
            rows_piece<Op, T, THREADS, PER>(in + begin, (unsigned)n, threadIdx.x, 0, 1), turn++);
        if (threadIdx.x == 0) out[row] = Op::finish(mine, (size_t)n);
    }
}

// What a row's columns have, such as weights, lies in packs like the row's own elements; or so that
// packs have to be cut; or anyhow, and at the ends only some are there.
enum RowsLie { ROWS_PACKS, ROWS_CUT, ROWS_ANY };

// N numbers of an array of `cols`, from number i on, are factors of x or are added to it.
template <class T, int N, RowsLie LIE, bool ADD>
__device__ void rows_column(float *x, const T *all, size_t i, size_t cols) {
    enum { VEC = 16 / sizeof(T), CUT = LIE != ROWS_PACKS };
    if (N < VEC || (LIE == ROWS_ANY && N < 33)) { // packs are not worth it
#pragma unroll
        for (int j = 0; j < N; j++)
            if (LIE != ROWS_ANY || i + j < cols)
                x[j] = ADD ? x[j] + rows_float(__ldg(all + i + j))
                           : x[j] * rows_float(__ldg(all + i + j));
        return;
    }
    const unsigned phase = CUT ? rows_phase(all + i) : 0;
    const long long first = (long long)i - phase;
    RowsPack<T, VEC> low, high, pack;
    low.load_some(all, first, cols, LIE == ROWS_ANY);
#pragma unroll
    for (int k = 0; k < N; k += VEC) {
        float w[VEC];
        if (CUT || k + VEC < N) high.load_some(all, first + k + VEC, cols, LIE == ROWS_ANY);
        pack = low;
        if (CUT && (LIE != ROWS_ANY || phase > 0)) pack = rows_cut(low, high, phase);
        pack.widen(w);
#pragma unroll
        for (int j = k; j < N && j < k + VEC; j++) x[j] = ADD ? x[j] + w[j - k] : x[j] * w[j - k];
        low = high;
    }
}

struct RowsNoColumns {
    size_t at() const { return 0; }
    template <class T> __device__ bool cut(size_t) const { return false; }
    template <class T, int N, RowsLie LIE> __device__ void apply(float *, size_t, size_t) const {}
};
struct RowsAffine { // each NULL if there are none
    const void *weight, *bias;
    float epsilon;
    size_t at() const { return (size_t)weight | (size_t)bias; }
    // Do packs of the columns from number i on have to be cut?
    template <class T> __device__ bool cut(size_t i) const {
        return (weight && rows_phase((const T *)weight + i)) ||
               (bias && rows_phase((const T *)bias + i));
    }
    template <class T, int N, RowsLie LIE>
    __device__ void apply(float *x, size_t i, size_t cols) const {
        if (weight) rows_column<T, N, LIE, false>(x, (const T *)weight, i, cols);
        if (bias) rows_column<T, N, LIE, true>(x, (const T *)bias, i, cols);
    }
};

// What becomes of a row is a reduction, whose result everybody needs, and a step for each element;
// then come factors and terms of its columns.
struct RowsMap {
    enum { REDUCES = 0 };
    template <class P, class R> static __device__ void put(const P &, size_t, const R &) {}
};
struct RowsSoftmax : RowsMap {
    typedef RowsLogSumExp Op;
    typedef RowsNoColumns Parameters;
    static __device__ float scale(const RowsExpSum &all, size_t, const Parameters &) {
        return 1 / all.sum;
    }
    static __device__ float step(float x, const RowsExpSum &all, float scale) {
        return RowsLogSumExp::power(x - all.most) * scale;
    }
};

struct RowsLayerNorm : RowsMap {
    typedef RowsVariance Op;
    typedef RowsAffine Parameters;
    static __device__ float scale(const RowsMoments &all, size_t, const RowsAffine &affine) {
        return rsqrtf(all.m2 / all.count + affine.epsilon);
    }
    static __device__ float step(float x, const RowsMoments &all, float scale) {
        return (x - all.mean) * scale;
    }
};
struct RowsRmsNorm : RowsMap {
    typedef RowsSquares Op;
    typedef RowsAffine Parameters;
    static __device__ float scale(float all, size_t cols, const RowsAffine &affine) {
        return rsqrtf(all / (float)cols + affine.epsilon);
    }
    static __device__ float step(float x, float, float scale) { return x * scale; }
};

// Where rows come from and go to; strides in elements.
template <class T> struct RowsTask {
    const T *in;
    size_t in_stride;
    T *out;
    size_t out_stride, rows, cols;
};

// Combined over a cluster of blocks, for every thread of them. All of them have arrived at the
// cluster's barrier once before: a block's shared memory can be written when it has started.
template <class Op, int CLUSTER>
__device__ typename Op::Acc rows_cluster_all(typename Op::Acc mine) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    typedef typename Op::Acc Acc;
    __shared__ Acc of_block[CLUSTER];
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); // every block has started
    if (threadIdx.x < CLUSTER) {
        unsigned to, words[sizeof(Acc) / 4], at = blockIdx.x % CLUSTER;
        memcpy(words, &mine, sizeof mine);
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(to)
                     : "r"((unsigned)__cvta_generic_to_shared(&of_block[at])), "r"(threadIdx.x));
#pragma unroll
        for (unsigned k = 0; k < sizeof(Acc) / 4; k++)
            asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to + 4 * k), "r"(words[k])
                         : "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); // every block's value is here
    mine = of_block[0];
#pragma unroll
    for (int k = 1; k < CLUSTER; k++) mine = Op::combine(mine, of_block[k]);
#endif
    return mine;
}

// What this thread has asked for since the last call is a group.
__device__ inline void rows_copy_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits until no more than so many groups are on their way: 0 to 3, known when compiled.
__device__ inline void rows_copy_wait(int groups) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (groups == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (groups == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
    if (groups == 2) asm volatile("cp.async.wait_group 2;" ::: "memory");
    if (groups == 3) asm volatile("cp.async.wait_group 3;" ::: "memory");
#endif
}

// How the blocks of the grid share rows: `parts` blocks have one. `hold` packs of a thread are in
// shared memory, `again` are read twice, and the last `cached` of these may stay in L2. `once`: the
// row makes way in the cache, for its weights or for others' data. `even`: all rows and weights lie
// at boundaries of 16 bytes, and end there. The row that is `ahead` is asked for.
struct RowsShare {
    unsigned parts, hold, again, cached, ahead;
    bool once, even;
};

// What a thread has of a row, and where it keeps it from the one load to the one store: packs that
// lie STEP elements apart. The first KEPT are in registers, `hold` more in shared memory, and what
// fits nowhere is read again.
template <class T, class N, int STEP, int KEPT, bool HOLD, bool AGAIN, bool ONCE> struct RowsKept {
    enum { VEC = 16 / sizeof(T), SOME = 16 / VEC, PER = 4, WIDE = !HOLD && KEPT * VEC <= 32 };
    static_assert(!HOLD || KEPT % SOME == 0,
                  "packs in shared memory go through v[], SOME at a time");
    typedef RowsPack<T, VEC> Pack;
    Pack v[KEPT], *held;
    float wide[WIDE ? KEPT * VEC : 1]; // few packs that are only in registers stay floats
    const T *from;                     // the thread's first element, and where it goes
    T *to;
    N i, cols;     // its column
    unsigned left; // so many elements, from the first one on, are in the row's packs
    unsigned skew; // of input and output: packs follow the output, and are cut out of two
    RowsShare share;

    // Packs k to k + COUNT - 1, on their way before the first is looked at; what is not there is
    // filled in. Of packs that are cut two at a time: four would take too many registers.
    template <int COUNT>
    __device__ void load(Pack *into, unsigned k, float fill, bool once) const {
        const T *const at = from + k * STEP;
#pragma unroll
        for (int p = 0; p < COUNT; p++) {
            into[p].fill(fill);
            if ((k + p) * STEP < left && skew == 0) into[p].load(at + p * STEP, once);
        }
        if (skew == 0) return;
#pragma unroll
        for (int q = 0; q < COUNT; q += 2) {
            Pack high[2];
#pragma unroll
            for (int p = q; p < COUNT && p < q + 2; p++)
                if ((k + p) * STEP < left) {
                    into[p].load(at - skew + p * STEP, once);
                    high[p - q].load(at - skew + p * STEP + VEC, once);
                }
#pragma unroll
            for (int p = q; p < COUNT && p < q + 2; p++)
                if ((k + p) * STEP < left) into[p] = rows_cut(into[p], high[p - q], skew);
        }
    }
    // Packs of shared memory are copied in four groups.
    __device__ unsigned group(int g) const {
        return KEPT + min(share.hold, (share.hold + 4 * SOME - 1) / (4 * SOME) * SOME * g);
    }
    __device__ Pack *in_shared(unsigned k) const { return held + (k - KEPT) * (STEP / VEC); }
    __device__ void load_all(float fill) {
        load<KEPT>(v, 0, fill, HOLD ? share.once : ONCE);
        for (int g = 0; HOLD && g < 4; g++) {
            for (unsigned k = group(g); k < group(g + 1) && k * STEP < left; k++) {
                if (skew == 0) {
                    rows_copy_async(in_shared(k), from + k * STEP, share.once);
                } else {
                    Pack one;
                    load<1>(&one, k, fill, share.once);
                    *in_shared(k) = one;
                }
            }
            rows_copy_group();
        }
    }
    // What packs k to k + COUNT - 1 are to an operator.
    template <class Op, int COUNT> __device__ typename Op::Acc gather(const Pack *of, unsigned k) {
        float mine[COUNT * VEC], *const x = WIDE ? wide + k * VEC : mine;
        const unsigned rest = left > k * STEP ? (left - k * STEP + STEP - 1) / STEP : 0;
#pragma unroll
        for (int p = 0; p < COUNT; p++) of[p].widen(x + p * VEC);
        return Op::template gather<COUNT * VEC, VEC>(x, (int)min(rest, COUNT) * VEC, 0, STEP);
    }
    template <class Op> __device__ typename Op::Acc gather_all() {
        enum { MOST = WIDE ? KEPT : SOME, REST = KEPT % MOST, FULL = KEPT - REST };
        Pack some[PER];
        typename Op::Acc all = gather<Op, MOST>(v, 0);
#pragma unroll
        for (int q = MOST; q < FULL; q += MOST) all = Op::combine(all, gather<Op, MOST>(v + q, q));
        if (REST > 0) all = Op::combine(all, gather<Op, REST ? REST : 1>(v + FULL, FULL));
        const unsigned first = KEPT + share.hold, end = first + share.again;
        for (unsigned k = first; AGAIN && k < end && k * STEP < left; k += PER) {
            load<PER>(some, k, Op::fill(), k + share.cached < end);
#pragma unroll
            for (int q = 0; q < PER; q += SOME)
                all = Op::combine(all, gather<Op, SOME>(some + q, k + q));
        }
#pragma unroll
        for (int g = 0; HOLD && g < 4; g++) {
            rows_copy_wait(3 - g);
            for (unsigned k = group(g); k < group(g + 1) && k * STEP < left; k += SOME) {
#pragma unroll
                for (int p = 0; p < SOME; p++) {
                    some[p].fill(Op::fill());
                    if ((k + p) * STEP < left) some[p] = *in_shared(k + p);
                }
                all = Op::combine(all, gather<Op, SOME>(some, k));
            }
        }
        return all;
    }
    // The step for packs k to k + COUNT - 1. All weights are asked for before the first is stored.
    template <class Map, RowsLie LIE, int COUNT>
    __device__ void store(Pack *of, unsigned k, const typename Map::Op::Acc &all, float scale,
                          const typename Map::Parameters &parameters) {
        float mine[COUNT * VEC], *const x = WIDE ? wide + k * VEC : mine;
#pragma unroll
        for (int p = 0; p < COUNT; p++) {
            uint4 &w = of[p].word; // as it is, not as floats, until now
            if (!WIDE) asm volatile("" : "+r"(w.x), "+r"(w.y), "+r"(w.z), "+r"(w.w));
            if (!WIDE) of[p].widen(x + p * VEC);
#pragma unroll
            for (int j = p * VEC; j < (p + 1) * VEC; j++) x[j] = Map::step(x[j], all, scale);
            parameters.template apply<T, VEC, LIE>(
                x + p * VEC, i + ((k + p) * STEP < left ? (k + p) * STEP : 0), cols);
        }
#pragma unroll
        for (int p = 0; p < COUNT; p++)
            if ((k + p) * STEP < left) {
                of[p].narrow(x + p * VEC);
                of[p].store(to + (k + p) * STEP, HOLD ? share.once : ONCE);
            }
    }
    // Backwards what is read again: what came last is in the cache.
    template <class Map, RowsLie LIE>
    __device__ void store_all(const typename Map::Op::Acc &all, float scale,
                              const typename Map::Parameters &parameters) {
        enum { COUNT = HOLD ? SOME : 1 };
        const unsigned first = KEPT + share.hold;
        for (unsigned k = (share.again + PER - 1) / PER * PER; AGAIN && k > 0; k -= PER) {
            Pack some[PER];
            if ((first + k - PER) * STEP >= left) continue;
            load<PER>(some, first + k - PER, 0, true);
#pragma unroll
            for (int p = 0; p < PER; p++)
                if ((first + k - PER + p) * STEP < left)
                    store<Map, LIE, 1>(some + p, first + k - PER + p, all, scale, parameters);
        }
#pragma unroll
        for (int q = 0; q < KEPT; q += COUNT)
            if (q * STEP < left) store<Map, LIE, COUNT>(v + q, q, all, scale, parameters);
        for (unsigned k = KEPT; HOLD && k < first && k * STEP < left; k += SOME) {
#pragma unroll
            for (int p = 0; p < SOME; p++)
                if ((k + p) * STEP < left) v[p] = *in_shared(k + p);
            store<Map, LIE, SOME>(v, k, all, scale, parameters);
        }
    }
};

// A row of n elements, on its way as far as L2: a thread asks for each line of 128 bytes, one of as
// many as a block has.
template <class T> __device__ void rows_prefetch(const T *row, unsigned lane, size_t n) {
    for (size_t i = lane * (128 / sizeof(T)); i < n; i += blockDim.x * (128 / sizeof(T)))
        asm volatile("prefetch.global.L2 [%0];" ::"l"(row + i));
}

// Everybody tells everybody its result through mailboxes, whose flag is the turn: blocks of a row
// in a cooperative launch, which guarantees that all of them are on the device.
template <class Op, int THREADS>
__device__ typename Op::Acc rows_grid_all(typename Op::Acc mine, unsigned parts, unsigned turn,
                                          unsigned long long *boxes) {
    typedef typename Op::Acc Acc;
    enum { WORDS = sizeof(Acc) / 4 };
    const unsigned t = threadIdx.x, first = blockIdx.x / parts * parts;
    unsigned long long *mail = boxes + (turn % 2 * gridDim.x) * WORDS;
    if (t == 0) rows_post(mail + blockIdx.x * WORDS, mine, turn);
    mine = Op::identity();
    for (unsigned b = t; b < parts; b += THREADS)
        mine = Op::combine(mine, rows_await<Acc>(mail + (first + b) * WORDS, turn));
    return rows_block_all<Op, THREADS>(mine, 1);
}
// The last block to be done empties the mailboxes.
template <class Acc> __device__ void rows_grid_end(unsigned long long *boxes) {
    __shared__ bool is_last;
    __syncthreads(); // all of this block have read their mail
    if (threadIdx.x == 0) {
        __threadfence(); // their reads come before the count
        unsigned *const done = (unsigned *)(boxes + 3 * ROWS_BOXES) + 1;
        is_last = atomicInc(done, gridDim.x - 1) + 1 == gridDim.x;
        __threadfence(); // and what the last one does, behind all counts
    }
    __syncthreads(); // all know whether everybody else has, too
    if (!is_last) return;
    for (unsigned b = threadIdx.x; b < 2 * gridDim.x * (sizeof(Acc) / 4); b += blockDim.x)
        boxes[b] = 0;
}

// Rows in, rows out, each for a team of LANES threads, or, with SPAN, for blocks of LANES threads:
// one, a cluster of so many, or all of the grid (ROWS_GRID), for as many rows at a time as it has
// teams of them. Blocks of LANES threads if these are more than a warp, else of 256. ONCE: without
// SPAN, cache lines are the first to be evicted.
template <class Map, class T, int LANES, int KEPT, int SPAN, int BLOCKS, bool ONCE = false>
__global__ void __launch_bounds__(LANES > 32 ? LANES : 256, BLOCKS)
    rows_map(RowsTask<T> task, typename Map::Parameters parameters, RowsShare share,
             unsigned long long *boxes) {
    typedef typename Map::Op Op;
    typedef typename std::conditional<SPAN == 0, unsigned, size_t>::type N; // numbers of elements
    enum { VEC = 16 / sizeof(T), STEP = LANES * VEC, THREADS = LANES > 32 ? LANES : 256 };
    // Shorter rows come here only if they are aligned.
    enum { ANY = SPAN != 0 || STEP * KEPT > (int)RowsShort<T>::MOST, GRID = SPAN == ROWS_GRID };
    enum { EDGES = ANY ? (2 * (2 * VEC - 1) + LANES - 1) / LANES : 0, PARTS = SPAN > 0 ? SPAN : 1 };
    extern __shared__ __align__(16) unsigned char rows_bytes[];
    const unsigned lane = threadIdx.x % LANES, parts = GRID ? share.parts : PARTS;
    const unsigned rank = SPAN ? blockIdx.x % parts : 0, teams = THREADS / LANES;
    size_t row = SPAN ? blockIdx.x / parts : blockIdx.x * (size_t)teams + threadIdx.x / LANES;
    unsigned turn = 1;
    do {
        const T *const from = task.in + row * task.in_stride;
        T *const to = task.out + row * task.out_stride;
        const N n = SPAN || row < task.rows ? (N)task.cols : 0;
        // Where packs are cut edges are a pack longer: so both packs are inside the row.
        unsigned before = 0, skew = 0, edges = 0;
        bool cut = false;
        if (ANY && !share.even) {
            before = rows_before<16>(to), skew = rows_phase(from + before);
            cut = parameters.template cut<T>(before);
        }
        const RowsEnds<T, N> ends(before, n, skew || cut ? VEC : 0);
        if (ANY && !share.even && rank == 0) edges = ends.edges();
        const unsigned most = (KEPT + (SPAN ? share.hold : 0) + (GRID ? share.again : 0)) * STEP;
        const N i = ends.head + (N)rank * most + lane * VEC;
        RowsKept<T, N, STEP, KEPT, SPAN != 0, GRID, ONCE> kept;
        kept.held = reinterpret_cast<RowsPack<T, VEC> *>(rows_bytes) + lane;
        kept.from = from + i, kept.to = to + i, kept.i = i, kept.cols = (N)task.cols;
        kept.left = ends.left(i, most), kept.skew = skew, kept.share = share;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if (SPAN > 1) asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
        kept.load_all(Op::fill());
        if (LANES >= 512 && SPAN == 0 && share.ahead > 0 && row + share.ahead < task.rows)
            rows_prefetch(from + share.ahead * task.in_stride, lane, task.cols);
        float edge[EDGES + 1];
#pragma unroll
        for (int e = 0; e < EDGES && edges > 0; e++) {
            const unsigned k = lane + (unsigned)e * LANES;
            edge[e] = k < edges ? rows_float(from[ends.edge(k)]) : Op::fill();
            asm volatile("" : "+f"(edge[e])); // now, and not where it is looked at
        }
        typename Op::Acc all = kept.template gather_all<Op>();
        if (lane < edges) {
            const int mine = (int)((edges - lane + LANES - 1) / LANES);
            all = Op::combine(all, Op::template gather<EDGES + !EDGES, 1>(edge, mine, 0, 1));
        }
        all = LANES > 32 ? rows_block_all<Op, THREADS>(all, 0) : rows_lanes_all<Op>(all, LANES);
        if (SPAN > 1) all = rows_cluster_all<Op, PARTS>(all);
        if (GRID) all = rows_grid_all<Op, THREADS>(all, parts, turn, boxes);
        const float scale = Map::scale(all, task.cols, parameters);
        if (cut)
            kept.template store_all<Map, ROWS_CUT>(all, scale, parameters);
        else
            kept.template store_all<Map, ROWS_PACKS>(all, scale, parameters);
#pragma unroll
        for (int e = 0; e < EDGES && edges > 0; e++) {
            const unsigned k = lane + (unsigned)e * LANES;
            if (k >= edges) continue;
            const N at = ends.edge(k);
            float x = Map::step(edge[e], all, scale);
            parameters.template apply<T, 1, ROWS_PACKS>(&x, at, task.cols);
            rows_narrow(x, to + at);
        }
        row += gridDim.x / parts, turn++;
    } while (GRID && row < task.rows);
    if (GRID) rows_grid_end<typename Op::Acc>(boxes);
}

// n elements on their way into a window: shared memory, in which they lie as far behind a boundary
// of 16 bytes as in memory. Between two boundaries 16 bytes move at a time; at both ends elements
// move one by one, so that nothing but these n is read.
template <class T>
__device__ void rows_bring(T *window, const T *from, unsigned n, unsigned lane, unsigned lanes) {
    const RowsEnds<T, unsigned> ends(rows_before<16>(from), n);
    for (unsigned i = ends.head + lane * ends.VEC; i < ends.tail; i += lanes * ends.VEC)
        rows_copy_async(window + i, from + i);
    for (unsigned k = lane; k < ends.edges(); k += lanes) window[ends.edge(k)] = from[ends.edge(k)];
}
// And out of a window, in which they lie as they will in memory.
template <class T>
__device__ void rows_send(const T *window, T *to, unsigned n, unsigned lane, unsigned lanes) {
    const RowsEnds<T, unsigned> ends(rows_before<16>(to), n);
    for (unsigned i = ends.head + lane * ends.VEC; i < ends.tail; i += lanes * ends.VEC) {
        RowsPack<T, 16 / sizeof(T)> v;
        v.load(window + i);
        v.store(to + i);
    }
    for (unsigned k = lane; k < ends.edges(); k += lanes) to[ends.edge(k)] = window[ends.edge(k)];
}

// So many elements has a window of some rows: each may begin anywhere in a pack.
template <class T> unsigned rows_window_room(unsigned rows, unsigned cols) {
    enum { VEC = 16 / sizeof(T) };
    return rows * ((cols + 2 * VEC - 2) / VEC * VEC);
}

// What a warp has of a matrix in its window of `room` elements: a row for each of its teams of
// LANES lanes, all of them as one where they lie side by side in memory, else each at a place of
// its own.
template <class T, int LANES> struct RowsWindow {
    size_t at;               // where in the matrix begins what this lane helps to move
    unsigned n, lane, lanes; // how much that is, and which lane of how many this is
    unsigned cols;           // elements of this lane's row
    T *begin, *row;          // where it begins in the window, and where this lane's row does

    __device__ RowsWindow(T *window, unsigned room, const T *matrix, size_t stride,
                          const RowsTask<T> &task) {
        enum { ROWS = 32 / LANES };
        const unsigned team = threadIdx.x % 32 / LANES, all = (unsigned)task.cols;
        const size_t first = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32 * ROWS;
        const unsigned rows =
            first < task.rows ? (unsigned)min(task.rows - first, (size_t)ROWS) : 0;
        const bool together = stride == task.cols;
        at = (together ? first : first + team) * stride;
        cols = team < rows ? all : 0, n = together ? rows * all : cols;
        lanes = together ? 32 : LANES, lane = threadIdx.x % lanes;
        begin = window + (together ? 0 : team * (room / ROWS)) + rows_phase(matrix + at);
        row = together ? begin + team * all : begin;
    }
};

// Short rows at any address, of any stride: a row for LANES lanes of a warp, N elements side by
// side for each. Blocks of whole warps, with a window of `room` elements for each.
template <class Map, class T, int LANES, int N>
__global__ void __launch_bounds__(256)
    rows_by_windows(RowsTask<T> task, typename Map::Parameters parameters, unsigned room) {
    typedef typename Map::Op Op;
    extern __shared__ __align__(16) unsigned char rows_bytes[];
    const unsigned i = threadIdx.x % LANES * N;
    T *const window = reinterpret_cast<T *>(rows_bytes) + threadIdx.x / 32 * room;
    const RowsWindow<T, LANES> in(window, room, task.in, task.in_stride, task);
    rows_bring(in.begin, task.in + in.at, in.n, in.lane, in.lanes);
    rows_copy_group();
    rows_copy_wait(0);
    __syncwarp(); // what the warp has is in its window
    const int valid = in.cols > i ? (int)min(in.cols - i, (unsigned)N) : 0;
    float x[N];
#pragma unroll
    for (int k = 0; k < N; k++) x[k] = k < valid ? rows_float(in.row[i + k]) : Op::fill();
    const typename Op::Acc all =
        rows_lanes_all<Op>(Op::template gather<N, 1>(x, valid, i, 1), LANES);
    if (Map::REDUCES) {
        const size_t row = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
        if (i == 0 && row < task.rows) Map::put(parameters, row, Op::finish(all, task.cols));
        return;
    }
    const float scale = Map::scale(all, task.cols, parameters);
    const RowsWindow<T, LANES> out(window, room, task.out, task.out_stride, task);
    __syncwarp(); // all have read the window before it is overwritten
#pragma unroll
    for (int k = 0; k < N; k++) x[k] = Map::step(x[k], all, scale);
    if (valid > 0) parameters.template apply<T, N, ROWS_ANY>(x, i, task.cols);
#pragma unroll
    for (int k = 0; k < N; k++)
        if (k < valid) rows_narrow(x[k], out.row + i + k);
    __syncwarp(); // what goes out is in the window
    rows_send(out.begin, task.out + out.at, out.n, out.lane, out.lanes);
}

// The same, straight from memory into registers: lane after lane has an element of its row, N
// times, and each team COUNT rows at a time. For few rows, and for very short ones.
template <class Map, class T, int LANES, int N, int COUNT>
__global__ void __launch_bounds__(128)
    rows_by_elements(RowsTask<T> task, typename Map::Parameters parameters, unsigned) {
    typedef typename Map::Op Op;
    enum { TEAMS = 32 / LANES };
    const unsigned lane = threadIdx.x % LANES, cols = (unsigned)task.cols;
    const size_t warp = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const size_t first = warp * (TEAMS * COUNT) + threadIdx.x % 32 / LANES;
    RowsPack<T, 1> v[COUNT][N];
#pragma unroll
    for (int r = 0; r < COUNT; r++)
#pragma unroll
        for (int k = 0; k < N; k++) {
            const size_t row = first + r * TEAMS;
            v[r][k].fill(Op::fill());
            if (row < task.rows && lane + k * LANES < cols)
                v[r][k].load(task.in + row * task.in_stride + lane + k * LANES);
        }
    const int valid = cols > lane ? (int)((cols - lane + LANES - 1) / LANES) : 0;
#pragma unroll
    for (int r = 0; r < COUNT; r++) {
        const size_t row = first + r * TEAMS;
        float x[N];
#pragma unroll
        for (int k = 0; k < N; k++) v[r][k].widen(x + k);
        const typename Op::Acc all =
            rows_lanes_all<Op>(Op::template gather<N, 1>(x, valid, lane, LANES), LANES);
        const float scale = Map::scale(all, cols, parameters);
#pragma unroll
        for (int k = 0; k < N; k++) {
            const unsigned i = lane + k * LANES;
            if (row >= task.rows || i >= cols) continue;
            x[k] = Map::step(x[k], all, scale);
            parameters.template apply<T, 1, ROWS_PACKS>(x + k, i, cols);
            v[r][k].narrow(x + k);
            v[r][k].store(task.out + row * task.out_stride + i);
        }
    }
}
// A reduction is a map whose rows go nowhere but into results.
template <class Op_> struct RowsResult {
    enum { REDUCES = 1 };
    typedef Op_ Op;
    struct Parameters : RowsNoColumns {
        typename Op::Out *out;
    };
    static __device__ void put(const Parameters &to, size_t row, const typename Op::Out &result) {
        to.out[row] = result;
    }
    static __device__ float scale(const typename Op::Acc &, size_t, const Parameters &) {
        return 1;
    }
    static __device__ float step(float x, const typename Op::Acc &, float) { return x; }
};

// What the rules ask of the device: its SMs, the threads that all of them hold, and the shared
// memory of a block and of an SM, and the L2 cache. Asked for once by each host thread and device.
struct RowsDevice {
    int device, sms, threads, block_bytes, sm_bytes, cache_bytes, major;
    // More than L2 keeps until the next call?
    bool beyond(size_t bytes) const { return bytes > (size_t)cache_bytes / 5 * 4; }
};
inline cudaError_t rows_device(RowsDevice *found) {
    static thread_local RowsDevice known = {-1, 0, 0, 0, 0, 0, 0};
    RowsDevice now = {-1, 0, 0, 0, 0, 0, 0};
    const cudaDeviceAttr which[] = {cudaDevAttrMultiProcessorCount,
                                    cudaDevAttrMaxThreadsPerMultiProcessor,
                                    cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                    cudaDevAttrL2CacheSize,
                                    cudaDevAttrComputeCapabilityMajor};
    int *const into[] = {&now.sms,      &now.threads,     &now.block_bytes,
                         &now.sm_bytes, &now.cache_bytes, &now.major};
    cudaError_t error = cudaGetDevice(&now.device);
    if (error == cudaSuccess && now.device != known.device) {
        for (int k = 0; k < 6 && error == cudaSuccess; k++)
            error = cudaDeviceGetAttribute(into[k], which[k], now.device);
        now.threads *= now.sms;
        if (error == cudaSuccess) known = now;
    }
    *found = known;
    return error;
}

// Launches, in clusters of `span` blocks if that is above 1, or all blocks at once (ROWS_GRID), and
// says what came of it; an older error stays what it was.
template <class P> struct RowsAs { typedef P Type; };
template <class... P>
cudaError_t rows_start(int span, void (*kernel)(P...), size_t blocks, unsigned threads,
                       size_t shared_bytes, cudaStream_t stream,
                       typename RowsAs<P>::Type... arguments) {
    void *pointers[] = {&arguments...};
    const void *const code = (const void *)kernel;
    const dim3 grid((unsigned)blocks), block(threads);
    if (span == ROWS_GRID)
        return cudaLaunchCooperativeKernel(code, grid, block, pointers, shared_bytes, stream);
    if (span <= 1) return cudaLaunchKernel(code, grid, block, pointers, shared_bytes, stream);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster = {};
    config.gridDim = grid, config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes, config.stream = stream;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = (unsigned)span;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster, config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, code, pointers);
}

// A line of a table: the kernel for rows of up to so many packs (or elements), of which a block of
// `threads` has so many.
template <class Kernel> struct RowsRung {
    unsigned most;
    Kernel kernel;
    unsigned threads, rows;
};
// The first line for rows of `size`: the last one is for all that are longer.
template <class Kernel, int N>
const RowsRung<Kernel> &rows_rung(const RowsRung<Kernel> (&rungs)[N], size_t size) {
    int k = 0;
    while (k + 1 < N && size > rungs[k].most) k++;
    return rungs[k];
}

// Windows: a line of their tables, and how it is launched.
template <class Map, class T> struct RowsWindows {
    typedef void (*Kernel)(RowsTask<T>, typename Map::Parameters, unsigned);
    typedef RowsRung<Kernel> Rung;
    // THREADS a block, 32 / LANES rows for each warp.
    template <int LANES, int N, int THREADS> static constexpr Rung of() {
        return {LANES * N, rows_by_windows<Map, T, LANES, N>, THREADS, THREADS / LANES};
    }
    // Without a window, COUNT rows at a time for each team.
    template <int LANES, int N, int COUNT> static constexpr Rung elements() {
        return {LANES * N, rows_by_elements<Map, T, LANES, N, COUNT>, 128, 128 / LANES * COUNT};
    }
    static cudaError_t start(const Rung &rung, const RowsTask<T> &task,
                             const typename Map::Parameters &parameters, cudaStream_t stream,
                             bool windows = true) {
        const unsigned warps = rung.threads / 32;
        const unsigned room =
            windows ? rows_window_room<T>(rung.rows / warps, (unsigned)task.cols) : 0;
        return rows_start(0, rung.kernel, (task.rows + rung.rows - 1) / rung.rows, rung.threads,
                          warps * room * sizeof(T), stream, task, parameters, room);
    }
};

// How many blocks of 512 threads a row of so many bytes takes; 0: as many of 256 as there are
// pieces of 16 KB. One, up to 64 KB, or if the rows by themselves are a quarter or more of the
// blocks that the device has threads for. Else four times as many blocks as there are threads for,
// for all rows; of one to three rows, just as many.
inline size_t rows_parts(const RowsDevice &d, size_t rows, size_t bytes) {
    const size_t fit = (size_t)d.threads / 512, pieces = bytes / 16384 + 1;
    if (bytes <= 65536 || 4 * rows >= fit) return 1;
    if (rows * pieces <= 2 * fit) return 0;
    const size_t wanted = rows < 4 ? fit / rows : 4 * fit / rows, tiles = bytes / 32768 + 1;
    const size_t parts = wanted < tiles ? wanted : tiles, most = ROWS_BOXES / rows;
    return parts < most ? parts : most;
}

// The same of many long rows: how many blocks of 512 threads, or 0 where that is not worth it. One
// for each 64 KB of four or more rows of 192 KB and more, where these are 8 times as many as there
// are threads for.
inline size_t rows_parts_of_sweep(const RowsDevice &d, size_t rows, size_t bytes) {
    const size_t fit = (size_t)d.threads / 512, pieces = bytes / 65536;
    if (rows < 4 || rows > ROWS_COUNTERS || pieces < 3 || rows * pieces < 8 * fit) return 0;
    return pieces < ROWS_BOXES / rows ? pieces : ROWS_BOXES / rows;
}

// Does every row begin and end at a multiple of 16 bytes?
template <class T> bool rows_aligned(const void *in, size_t rows, size_t stride, size_t cols) {
    return ((size_t)in | cols * sizeof(T) | (rows > 1 ? stride * sizeof(T) : 0)) % 16 == 0;
}

template <class Op, class T> struct RowsReduce {
    typedef typename Op::Out Out;
    typedef RowsWindows<RowsResult<Op>, T> Windows;
    typedef void (*Lanes)(const T *, size_t, unsigned, size_t, Out *);
    typedef void (*Blocks)(const T *, size_t, unsigned, size_t, unsigned, Out *,
                           unsigned long long *, unsigned *);
    // Of packs of V elements a row has LANES * PER at most; COUNT rows of a team at a time keep
    // more loads on their way.
    template <int V, int LANES, int PER, int COUNT, bool ONCE = false>
    static constexpr RowsRung<Lanes> lanes() {
        return {LANES * PER, rows_by_lanes<Op, T, V, LANES, PER, COUNT, ONCE>, 256,
                256 / LANES * COUNT};
    }
    // Bytes that a team loads at once, wherever they begin.
    template <int TEAM, int PER, bool ONCE> static constexpr RowsRung<Blocks> blocks() {
        return {TEAM * PER * 16 + 12, rows_by_blocks<Op, T, TEAM, PER, ONCE>,
                TEAM > 32 ? TEAM : 256, TEAM > 32 ? 1 : 8};
    }
    template <bool ONCE> static const RowsRung<Lanes> &many_packs(size_t size) {
        enum { VEC = 16 / sizeof(T) };
        static const RowsRung<Lanes> rungs[] = {
            lanes<VEC, 1, 1, 2, ONCE>(),  lanes<VEC, 1, 2, 2, ONCE>(),
            lanes<VEC, 2, 2, 2, ONCE>(),  lanes<VEC, 4, 2, 2, ONCE>(),
            lanes<VEC, 8, 2, 2, ONCE>(),  lanes<VEC, 16, 2, 2, ONCE>(),
            lanes<VEC, 32, 2, 2, ONCE>(), lanes<VEC, 32, 4, 1, ONCE>()};
        return rows_rung(rungs, size);
    }
    template <bool ONCE> static const RowsRung<Blocks> &blocks_for(size_t bytes) {
        static const RowsRung<Blocks> rungs[] = {blocks<32, 2, ONCE>(),  blocks<32, 5, ONCE>(),
                                                 blocks<64, 4, ONCE>(),  blocks<128, 4, ONCE>(),
                                                 blocks<256, 4, ONCE>(), blocks<512, 4, ONCE>()};
        return rows_rung(rungs, bytes);
    }

    // Rows that begin and end at boundaries of packs, up to 2,048 bytes; and rows of any, whose
    // elements are loaded one by one. As long as all rows find a place on the device at once, one
    // at a time is soonest. If L2 cannot keep the input, its lines are evicted first; but not if L2
    // cannot keep the results either: rows of four floats were slower with it.
    static cudaError_t by_lanes(const RowsDevice &d, bool packs, const RowsTask<T> &task, Out *out,
                                cudaStream_t stream) {
        enum { VEC = 16 / sizeof(T) };
        static const RowsRung<Lanes> few_packs[] = {lanes<VEC, 1, 2, 1>(), lanes<VEC, 4, 2, 1>(),
                                                    lanes<VEC, 16, 2, 1>(), lanes<VEC, 32, 2, 1>(),
                                                    lanes<VEC, 32, 4, 1>()};
        static const RowsRung<Lanes> many[] = {
            lanes<1, 1, 1, 8>(),  lanes<1, 1, 2, 2>(),  lanes<1, 1, 4, 2>(),  lanes<1, 1, 8, 1>(),
            lanes<1, 4, 4, 2>(),  lanes<1, 8, 3, 4>(),  lanes<1, 16, 2, 4>(), lanes<1, 16, 3, 4>(),
            lanes<1, 16, 4, 4>(), lanes<1, 32, 3, 4>(), lanes<1, 32, 4, 2>(), lanes<1, 32, 6, 2>(),
            lanes<1, 32, 8, 2>(), lanes<1, 32, 16, 1>()};
        static const RowsRung<Lanes> few[] = {
            lanes<1, 1, 1, 2>(), lanes<1, 1, 8, 1>(),  lanes<1, 2, 8, 1>(),  lanes<1, 4, 8, 1>(),
            lanes<1, 8, 8, 1>(), lanes<1, 16, 8, 1>(), lanes<1, 32, 8, 1>(), lanes<1, 32, 16, 1>()};
        const size_t size = packs ? task.cols / VEC : task.cols;
        const bool once =
            d.beyond(task.rows * task.cols * sizeof(T)) && !d.beyond(task.rows * sizeof(Out));
        const RowsRung<Lanes> *rung = !packs ? &rows_rung(many, size)
                                      : once ? &many_packs<true>(size)
                                             : &many_packs<false>(size);
        if (task.rows * 512 <= (size_t)d.threads * rung->rows)
            rung = packs ? &rows_rung(few_packs, size) : &rows_rung(few, size);
        return rows_start(0, rung->kernel, (task.rows + rung->rows - 1) / rung->rows, rung->threads,
                          0, stream, task.in, task.rows, (unsigned)task.cols, task.in_stride, out);
    }
    static cudaError_t by_windows(const RowsTask<T> &task, Out *out, cudaStream_t stream) {
        enum { TWO = sizeof(T) == 4 ? 1 : 2, FOUR = TWO * TWO }; // floats have up to 30 columns
        static const typename Windows::Rung rungs[] = {
            Windows::template of<1, 17, 256>(), Windows::template of<1, 33, 256>(),
            Windows::template of<TWO, 33, 256>(), Windows::template of<FOUR, 33, 256>()};
        typename RowsResult<Op>::Parameters parameters;
        parameters.out = out;
        return Windows::start(rows_rung(rungs, task.cols), task, parameters, stream);
    }
    static cudaError_t by_blocks(const RowsDevice &d, const RowsTask<T> &task, Out *out,
                                 void *workspace, cudaStream_t stream, bool many = true) {
        const size_t bytes = task.cols * sizeof(T);
        const RowsRung<Blocks> *rung =
            d.beyond(task.rows * bytes) ? &blocks_for<true>(bytes) : &blocks_for<false>(bytes);
        size_t parts = 1;
        if (rung->threads == 512) {
            parts = many ? rows_parts_of_sweep(d, task.rows, bytes) : 0;
            if (parts == 0) parts = rows_parts(d, task.rows, bytes);
            if (parts == 0) parts = bytes / 16384 + 1, rung--;
        }
        unsigned long long *boxes = (unsigned long long *)workspace;
        return rows_start(0, rung->kernel, (task.rows + rung->rows - 1) / rung->rows * parts,
                          rung->threads, 0, stream, task.in, task.rows, (unsigned)task.cols,
                          task.in_stride, (unsigned)parts, out, boxes,
                          (unsigned *)(boxes + 3 * ROWS_BOXES) + 4);
    }
};

// Each of `rows` rows of `cols` elements reduced to one result.
template <class Op, class T>
cudaError_t rows_reduce(const T *d_in, typename Op::Out *d_out, size_t rows, size_t cols,
                        size_t stride, void *d_workspace, cudaStream_t stream) {
    typedef RowsReduce<Op, T> Reduce;
    static_assert(rows_element<T>(), "rows are of float, __half or __nv_bfloat16");
    RowsDevice d;
    if (rows == 0) return cudaSuccess;
    if ((cols > 0 && !d_in) || (size_t)d_in % sizeof(T) || !d_out ||
        (size_t)d_out % sizeof(typename Op::Out) || !d_workspace || (size_t)d_workspace % 16 ||
        cols > UINT_MAX - 65536)
        return cudaErrorInvalidValue;
    const cudaError_t error = rows_device(&d);
    if (error != cudaSuccess) return error;
    const RowsTask<T> task = {d_in, stride, NULL, 0, rows, cols};
    const bool aligned = rows_aligned<T>(d_in, rows, stride, cols);
    const size_t threads = (size_t)d.threads, bytes = cols * sizeof(T);
    if (bytes <= 2048 && aligned) return Reduce::by_lanes(d, true, task, d_out, stream);
    // Where lanes move single elements of 2 bytes, or few of 4, windows are faster, unless the rows
    // in them begin in too few banks.
    if (rows > threads && cols >= 9 && cols <= (sizeof(T) == 4 ? 30 : 132) && stride == cols &&
        bytes % 32 > 0)
        return Reduce::by_windows(task, d_out, stream);
    if (bytes <= 2048 && (rows * 32 <= threads || cols <= 256))
        return Reduce::by_lanes(d, false, task, d_out, stream);
    return Reduce::by_blocks(d, task, d_out, d_workspace, stream);
}

// Ragged rows: `elements` is how many they are together, as far as the caller knows.
template <class Op, class T, class O> struct RowsRagged {
    const T *in;
    const O *offsets;
    size_t rows, elements;
    typename Op::Out *out;
    unsigned long long *boxes; // and counters behind them
    cudaStream_t stream;

    // Tiles for as many blocks as the device has room for.
    template <int WARPS, int SIZE> cudaError_t by_tiles(const RowsDevice &d) const {
        typedef RowsDeal<Op, T, O, WARPS, SIZE> Deal;
        const auto kernel = rows_ragged<Op, T, O, WARPS, SIZE>;
        int per_sm = 0;
        cudaError_t error = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Deal));
        if (error == cudaSuccess)
            error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, Deal::THREADS,
                                                                  sizeof(Deal));
        if (error != cudaSuccess) return error;
        size_t blocks = (size_t)d.sms * (size_t)per_sm;
        const size_t tiles = (elements + RowsPath<T, O>::END * rows) / Deal::STEPS + 1;
        if (blocks > ROWS_BOXES) blocks = ROWS_BOXES;
        if (blocks > tiles) blocks = tiles;
        return rows_start(0, kernel, blocks, Deal::THREADS, sizeof(Deal), stream, in, offsets,
                          (long long)rows, d.beyond(elements * sizeof(T)), out, boxes,
                          (unsigned *)(boxes + 3 * ROWS_BOXES));
    }
    // A block for each row, or (SHARED) a warp, and up to 512 blocks that help with long ones,
    // unless there are so few elements that this would take longer.
    template <int THREADS, bool SHARED> cudaError_t by_rows() const {
        enum { EACH = SHARED ? THREADS / 32 : 1 };
        size_t chunk = elements / rows > 2048 ? 8192 : 4096;
        while (chunk < 16384 && elements > 512 * chunk) chunk *= 2;
        const size_t chunks = elements / chunk, most = chunks < 512 ? chunks : 512;
        const size_t helpers = elements < 32768 ? 0 : most, blocks = (rows + EACH - 1) / EACH;
        return rows_start(0, rows_ragged_few<Op, T, O, THREADS, 4, SHARED>, helpers + blocks,
                          THREADS, 0, stream, in, offsets, (long long)rows, out, (unsigned)helpers,
                          (long long)chunk, boxes, (unsigned *)(boxes + 3 * ROWS_BOXES) + 4);
    }
    cudaError_t start() const {
        const size_t mean = elements / rows, Ki = 1024, Mi = Ki * Ki;
        if (elements <= 32 * Mi && mean >= 8 * Ki && mean < 32 * Ki) return by_rows<256, false>();
        if (elements <= 8 * Mi) {
            const bool small = elements <= 4 * Ki, smaller = elements < 32 * Ki;
            if (rows <= 16 && smaller && !small) return by_rows<512, false>();
            if (!small && (rows <= 64 || (rows <= 256 && elements > 8 * Ki) ||
                           (rows <= 512 && mean >= 256)))
                return by_rows<256, false>();
            if (rows <= 5 * Ki / 4 || mean >= 512) return by_rows<128, false>();
            if (rows <= 10 * Ki || (rows <= 16 * Ki && smaller)) return by_rows<128, true>();
        }
        if (elements <= 32 * Mi && mean >= 2 * Ki && mean < 8 * Ki) return by_rows<128, false>();
        RowsDevice d;
        const cudaError_t error = rows_device(&d);
        if (error != cudaSuccess) return error;
        // Large tiles, where an SM has room for two blocks with them; else small ones, which fit
        // everywhere. 1,024 bytes of a block are not for it.
        const bool large = elements > 2 * Mi &&
                           (size_t)d.sm_bytes >= 2 * (sizeof(RowsDeal<Op, T, O, 8, 8192>) + Ki);
        return large ? by_tiles<8, 8192>(d) : by_tiles<4, 4096>(d);
    }
};
template <class Op, class T, class O>
cudaError_t rows_reduce_ragged(const T *d_in, const O *d_offsets, typename Op::Out *d_out,
                               size_t rows, size_t elements, void *d_workspace,
                               cudaStream_t stream) {
    static_assert(rows_element<T>(), "rows are of float, __half or __nv_bfloat16");
    if (rows == 0) return cudaSuccess;
    if ((elements > 0 && !d_in) || (size_t)d_in % sizeof(T) || !d_offsets ||
        (size_t)d_offsets % sizeof(O) || !d_out || (size_t)d_out % sizeof(typename Op::Out) ||
        !d_workspace || (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    const RowsRagged<Op, T, O> call = {
        d_in, d_offsets, rows, elements, d_out, (unsigned long long *)d_workspace, stream};
    return call.start();
}

// Rows in, rows out.
template <class Map, class T> struct RowsMaps {
    typedef typename Map::Parameters Parameters;
    typedef RowsWindows<Map, T> Windows;
    typedef void (*Kernel)(RowsTask<T>, Parameters, RowsShare, unsigned long long *);
    enum { VEC = 16 / sizeof(T), WIDE = sizeof(T) == 4 };
    RowsTask<T> task;
    Parameters parameters;
    bool weighted, even; // there are weights; all lies at boundaries of 16 bytes
    void *workspace;
    cudaStream_t stream;
    RowsDevice d;

    // Short rows that are not aligned go through windows. Very short ones go straight to registers;
    // so do few ones, longer ones that the cache holds, those longer than any window's, and those
    // that would begin in too few banks.
    cudaError_t by_windows() const {
        enum { FOUR = WIDE ? 4 : 2 };
        static const typename Windows::Rung direct[] = {
            Windows::template elements<1, 2, 1>(),  Windows::template elements<1, 4, 1>(),
            Windows::template elements<4, 4, 1>(),  Windows::template elements<8, 4, 1>(),
            Windows::template elements<16, 4, 1>(), Windows::template elements<32, 3, 1>(),
            Windows::template elements<32, 5, 1>(), Windows::template elements<32, 9, 1>()};
        static const typename Windows::Rung many_of_two = Windows::template elements<1, 2, 4>();
        static const typename Windows::Rung many_of_four =
            Windows::template elements<WIDE ? 2 : 1, 2, 4>(); // only floats have it
        static const typename Windows::Rung many[] = {
            Windows::template of<1, 9, 128>(), Windows::template of<1, 17, 128>(),
            Windows::template of<1, 33, 128>(), Windows::template of<2, 33, 128>(),
            Windows::template of<FOUR, 33, 128>()};
        const size_t rows = task.rows, cols = task.cols, n = rows * cols;
        const size_t threads = (size_t)d.threads;
        const typename Windows::Rung *rung = &rows_rung(direct, cols);
        bool windows = false;
        if (cols <= 2 && n > threads * 2) {
            rung = &many_of_two;
        } else if (WIDE && cols == 4 && n > threads) {
            rung = &many_of_four;
        } else if (cols > 4 && cols <= 33 * FOUR) {
            const typename Windows::Rung &window = rows_rung(many, cols);
            // Eight or more rows of a warp would begin in the same bank.
            const bool conflicts = cols * sizeof(T) * window.rows % (32 * window.threads) == 0;
            const bool few = rows * 16 <= threads || (rows * 8 <= threads && n <= threads * 4);
            windows = !conflicts && !few && (cols <= 120 || n > (size_t)d.cache_bytes / 16);
            if (windows) rung = &window;
        }
        return Windows::start(*rung, task, parameters, stream, windows);
    }

    template <int LANES, int KEPT, bool ONCE = false> static constexpr RowsRung<Kernel> team() {
        return {LANES * KEPT, rows_map<Map, T, LANES, KEPT, 0, (LANES == 512 ? 2 : 0), ONCE>,
                LANES > 32 ? LANES : 256, LANES > 32 ? 1 : 256 / LANES};
    }
    // Rows of so many packs stay in the registers of some lanes or of a block. The longest ask for
    // a row ahead: so many behind as are on all SMs.
    bool by_team(size_t packs, bool few, cudaError_t *error) const {
        static const RowsRung<Kernel> rungs[] = {team<1, 1>(),
                                                 team<2, 1>(),
                                                 team<4, 1>(),
                                                 team<4, 2>(),
                                                 team<8, 2>(),
                                                 team<16, 2>(),
                                                 team<16, 4>(),
                                                 team<32, 3>(),
                                                 team<32, 4>(),
                                                 team<32, 5>(),
                                                 team<32, 6>(),
                                                 team<64, 4>(),
                                                 team<128, 4>(),
                                                 team<256, 4>(),
                                                 team<256, 6>(),
                                                 team<512, 4>(),
                                                 team<512, 8>()};
        // More packs for each lane, if there are more than two for each thread of the device.
        static const RowsRung<Kernel> many[] = {
            team<1, 1>(), team<2, 1>(), team<WIDE ? 4 : 2, WIDE ? 1 : 2>(),
            team<4, 2>(), team<WIDE ? 8 : 4, WIDE ? 2 : 4>(), team<8, 4>()};
        // Where all rows find a place at once, weights come sooner to a lane for each pack, or to
        // four blocks.
        const bool spread = weighted && packs >= 64 && task.rows * packs * 2 <= (size_t)d.threads;
        const size_t wanted = !spread || packs > 2048 ? packs : packs * 4 < 2048 ? packs * 4 : 2048;
        static const RowsRung<Kernel> passing = team<512, 8, true>();
        const bool passes = packs > 2048 && d.beyond(task.rows * task.cols * sizeof(T));
        const RowsRung<Kernel> &rung =
            passes ? passing
            : packs <= 32 && task.rows * packs > (size_t)d.threads * 2 ? rows_rung(many, packs)
                                                                       : rows_rung(rungs, wanted);
        if (packs > rung.most || (weighted && few && packs > 2048)) return false;
        const RowsShare share = {1, 0, 0, 0, packs > 2048 ? (unsigned)d.sms * 2 : 0, false, even};
        *error = rows_start(0, rung.kernel, (task.rows + rung.rows - 1) / rung.rows, rung.threads,
                            0, stream, task, parameters, share, (unsigned long long *)NULL);
        return true;
    }

    // BLOCKS blocks of THREADS on an SM, SPAN of them for a row: four packs of a thread in
    // registers and the others in shared memory, if they fit there.
    template <int THREADS, int BLOCKS, int SPAN>
    bool by_blocks(size_t packs, cudaError_t *error) const {
        enum { PARTS = SPAN > 0 ? SPAN : 1, KEPT = SPAN > 0 || WIDE ? 4 : 2, SLOT = THREADS * 16 };
        const Kernel kernel = rows_map<Map, T, THREADS, KEPT, SPAN, BLOCKS>;
        const int on_sm = d.threads / d.sms >= THREADS * BLOCKS ? BLOCKS : 1;
        const int fit = d.sm_bytes / on_sm - 2048, most = d.block_bytes - 1024;
        // Packs of a thread; where others are read again, as many as are reduced at a time, or
        // twice.
        const size_t slots = (size_t)(fit < most ? fit : most) / SLOT;
        const size_t room = SPAN == ROWS_GRID ? slots / 4 * 4 : slots;
        size_t blocks = task.rows * PARTS;
        RowsShare share = {PARTS, 0, 0, 0, 0, weighted || SPAN < 0, even};
        if (SPAN > 0 && (on_sm < BLOCKS || packs > (room + KEPT) * THREADS * PARTS)) return false;
        // Whether the code knows clusters, too.
        cudaFuncAttributes code;
        if (SPAN > 1 && (d.major < 9 || cudaFuncGetAttributes(&code, (const void *)kernel) ||
                         code.ptxVersion < 90))
            return false;
        // The most that any row takes, whatever this one does: other host threads may be here, too.
        *error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      d.block_bytes - 1024);
        if (SPAN == ROWS_GRID) {
            // For so many rows at a time that a third more than all SMs can hold of them is under
            // way, since the rest is still in the cache when it is read again.
            int per_sm = 0;
            if (*error == cudaSuccess)
                *error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, THREADS,
                                                                       room * SLOT);
            blocks = (size_t)(d.sms * (per_sm > 0 ? per_sm : 1));
            if (blocks > ROWS_BOXES / 2) blocks = ROWS_BOXES / 2;
            const size_t held = (room + KEPT) * THREADS * blocks;
            size_t teams = room * THREADS * blocks * 4 / 3 / (packs + 1);
            if (teams > task.rows) teams = task.rows;
            if (teams < 1) teams = 1;
            if (teams > blocks) teams = blocks;
            share.parts = (unsigned)(blocks / teams);
            blocks = share.parts * teams;
            // Of a row longer than that, two thirds of the cache are for what is read again: all
            // else makes way.
            if (packs > held)
                share.cached = (unsigned)((size_t)d.cache_bytes / 3 * 2 / blocks / SLOT);
        }
        if (*error != cudaSuccess) return true;
        const size_t each = (packs + THREADS * share.parts - 1) / (THREADS * share.parts);
        if (each > KEPT) share.hold = (unsigned)(each - KEPT < room ? each - KEPT : room);
        if (each > KEPT + room) share.again = (unsigned)(each - KEPT - room);
        *error = rows_start(SPAN, kernel, blocks, THREADS, share.hold * SLOT, stream, task,
                            parameters, share, (unsigned long long *)workspace);
        return true;
    }

    cudaError_t start() {
        const size_t strides = task.rows > 1 ? task.in_stride | task.out_stride : 0;
        const size_t at = (size_t)task.in | (size_t)task.out | parameters.at();
        even = (at | (strides | task.cols) * sizeof(T)) % 16 == 0;
        cudaError_t error = rows_device(&d);
        if (error != cudaSuccess) return error;
        const unsigned most =
            task.rows * 64 <= (size_t)d.threads ? RowsShort<T>::FEW : RowsShort<T>::MOST;
        if (!even && task.cols <= most) return by_windows();
        const size_t packs = task.cols / VEC, least = (size_t)RowsShort<T>::MOST / VEC + 1;
        // Few rows: eight blocks of each have a place at once, and all of them or, for less than
        // 128 KB, four of them are soonest done.
        const bool few = task.rows * 8 <= (size_t)d.sms * 2, eight = packs > 8192;
        if (by_team(even || packs > least ? packs : least, few, &error)) return error;
        if ((!few && by_blocks<512, 2, 1>(packs, &error)) ||
            (!few && by_blocks<1024, 1, 1>(packs, &error)) ||
            (!(few && eight) && by_blocks<512, 2, 4>(packs, &error)) ||
            by_blocks<512, 2, 8>(packs, &error))
            return error;
        by_blocks<512, 2, ROWS_GRID>(packs, &error);
        return error;
    }
};

template <class Map, class T>
cudaError_t rows_map_launch(const T *d_in, T *d_out, size_t rows, size_t cols, size_t in_stride,
                            size_t out_stride, const typename Map::Parameters &parameters,
                            void *d_workspace, cudaStream_t stream) {
    static_assert(rows_element<T>(), "rows are of float, __half or __nv_bfloat16");
    if (rows == 0 || cols == 0) return cudaSuccess;
    const size_t at = (size_t)d_in | (size_t)d_out | parameters.at();
    if (!d_in || !d_out || at % sizeof(T) || !d_workspace || (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    const RowsTask<T> task = {d_in, in_stride, d_out, out_stride, rows, cols};
    const bool weighted = parameters.at() != 0;
    RowsMaps<Map, T> call = {task, parameters, weighted, false, d_workspace, stream, RowsDevice()};
    return call.start();
}

#define ROWS_DEFINE(name, Op)                                                                      \
    template <class T>                                                                             \
    cudaError_t name(const T *d_in, Op::Out *d_out, size_t rows, size_t cols, size_t stride,       \
                     void *d_workspace, cudaStream_t stream) {                                     \
        return rows_reduce<Op, T>(d_in, d_out, rows, cols, stride, d_workspace, stream);           \
    }                                                                                              \
    template <class T, class O>                                                                    \
    cudaError_t name##_ragged(const T *d_in, const O *d_offsets, Op::Out *d_out, size_t rows,      \
                              size_t elements, void *d_workspace, cudaStream_t stream) {           \
        return rows_reduce_ragged<Op, T, O>(d_in, d_offsets, d_out, rows, elements, d_workspace,   \
                                            stream);                                               \
    }
ROWS_DEFINE(rows_sum, RowsSum)
ROWS_DEFINE(rows_min, RowsMin)
ROWS_DEFINE(rows_max, RowsMax)
ROWS_DEFINE(rows_argmax, RowsArgMax)
ROWS_DEFINE(rows_mean_variance, RowsVariance)
ROWS_DEFINE(rows_log_sum_exp, RowsLogSumExp)
#undef ROWS_DEFINE

template <class T>
cudaError_t rows_softmax(const T *d_in, T *d_out, size_t rows, size_t cols, size_t in_stride,
                         size_t out_stride, void *d_workspace, cudaStream_t stream) {
    return rows_map_launch<RowsSoftmax, T>(d_in, d_out, rows, cols, in_stride, out_stride,
                                           RowsSoftmax::Parameters(), d_workspace, stream);
}
// d_weight, d_bias: `cols` elements each, or NULL.
template <class T>
cudaError_t rows_layer_norm(const T *d_in, T *d_out, size_t rows, size_t cols, size_t in_stride,
                            size_t out_stride, const T *d_weight, const T *d_bias, float epsilon,
                            void *d_workspace, cudaStream_t stream) {
    const RowsAffine affine = {d_weight, d_bias, epsilon};
    return rows_map_launch<RowsLayerNorm, T>(d_in, d_out, rows, cols, in_stride, out_stride, affine,
                                             d_workspace, stream);
}
template <class T>
cudaError_t rows_rms_norm(const T *d_in, T *d_out, size_t rows, size_t cols, size_t in_stride,
                          size_t out_stride, const T *d_weight, float epsilon, void *d_workspace,
                          cudaStream_t stream) {
    const RowsAffine affine = {d_weight, NULL, epsilon};
    return rows_map_launch<RowsRmsNorm, T>(d_in, d_out, rows, cols, in_stride, out_stride, affine,
                                           d_workspace, stream);
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

#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

static void *rows_workspace(cudaStream_t stream) {
    static void *d_workspace;
    if (!d_workspace) {
        CUDA(cudaMalloc(&d_workspace, ROWS_WORKSPACE_BYTES));
        CUDA(cudaMemsetAsync(d_workspace, 0, ROWS_WORKSPACE_BYTES, stream));
    }
    return d_workspace;
}

// Columns and rows of n elements; 0 columns: all in one row.
static unsigned cols_of(unsigned n, unsigned cols) { return cols == 0 || cols > n ? n : cols; }
static unsigned rows_of(unsigned n, unsigned cols) { return n ? n / cols_of(n, cols) : 0; }

template <class Op, class T, unsigned COLS> static unsigned launch_matrix(Run r) {
    const unsigned cols = cols_of(r.n, COLS), rows = rows_of(r.n, COLS);
    CUDA((rows_reduce<Op, T>((const T *)r.d_in, (typename Op::Out *)r.d_partial, rows, cols, cols,
                             rows_workspace(r.stream), r.stream)));
    return rows;
}

template <class Map>
static cudaError_t start_map(Run r, unsigned rows, unsigned cols,
                             typename Map::Parameters parameters) {
    return rows_map_launch<Map, float>(r.d_in, r.d_partial, rows, cols, cols, cols, parameters,
                                       rows_workspace(r.stream), r.stream);
}
template <unsigned COLS> static unsigned launch_softmax(Run r) {
    const unsigned cols = cols_of(r.n, COLS), rows = rows_of(r.n, COLS);
    CUDA(start_map<RowsSoftmax>(r, rows, cols, RowsSoftmax::Parameters()));
    return rows;
}
template <class Norm, unsigned COLS> static unsigned launch_norm(Run r) {
    const unsigned cols = cols_of(r.n, COLS), rows = rows_of(r.n, COLS);
    CUDA(start_map<Norm>(r, rows, cols, {NULL, NULL, 1e-5f}));
    return rows;
}

static unsigned launch_device_copy(Run r) {
    CUDA(cudaMemcpyAsync(r.d_partial, r.d_in, r.n * sizeof(float), cudaMemcpyDeviceToDevice,
                         r.stream));
    return 1;
}

enum Lengths { EQUAL, RANDOM, POWER, GIANT, LENGTHS };
typedef struct {
    unsigned n, rows;
    long long *h_offsets, *d_offsets;
} Ragged;

// The length of row r of so many elements: 64; 0 to 128; few long and many short ones; 0 to 31, but
// for one row in the middle, which has three quarters of all.
static double length_of(Lengths kind, unsigned n, unsigned r) {
    const unsigned x = (r * 2654435761u ^ r * 40503u) >> 7;
    if (kind == EQUAL) return 64;
    if (kind == RANDOM) return x % 129;
    if (kind == POWER) return floor(4 * pow((x % 100003 + 1) / 100003.0, -0.8));
    return r == n / 128 ? n / 4 * 3 : x % 32;
}

static const Ragged *ragged(Lengths kind, unsigned n) {
    static Ragged known[LENGTHS];
    Ragged *all = &known[kind];
    if (all->h_offsets && all->n == n) return all;
    free(all->h_offsets);
    if (all->d_offsets) CUDA(cudaFree(all->d_offsets));
    all->n = n, all->rows = 0;
    all->h_offsets = (long long *)malloc((n + 2) * sizeof(long long));
    all->h_offsets[0] = 0;
    while (all->h_offsets[all->rows] < n && all->rows <= n) {
        const double to = (double)all->h_offsets[all->rows] + length_of(kind, n, all->rows);
        all->h_offsets[++all->rows] = to < n ? (long long)to : n;
    }
    const size_t bytes = (all->rows + 1) * sizeof(long long);
    CUDA(cudaMalloc(&all->d_offsets, bytes));
    CUDA(cudaMemcpy(all->d_offsets, all->h_offsets, bytes, cudaMemcpyHostToDevice));
    return all;
}

template <Lengths KIND> static unsigned launch_ragged(Run r) {
    const Ragged *all = ragged(KIND, r.n);
    CUDA(rows_sum_ragged(r.d_in, all->d_offsets, r.d_partial, all->rows, r.n,
                         rows_workspace(r.stream), r.stream));
    return all->rows;
}

struct Multiples {
    long long cols;
    __host__ __device__ long long operator()(long long r) const { return r * cols; }
};

// Calls once for the bytes of scratch space, which are kept, and then for the sums. If n is given,
// it asks once for each n.
template <class Call> static void with_scratch(Call call, unsigned n = 0) {
    static void *d_scratch;
    static size_t bytes, scratch_bytes;
    static unsigned asked;
    if (n == 0 || n != asked) {
        CUDA(call((void *)NULL, bytes));
        asked = n;
    }
    if (bytes > scratch_bytes) {
        CUDA(cudaFree(d_scratch));
        CUDA(cudaMalloc(&d_scratch, bytes));
        scratch_bytes = bytes;
    }
    CUDA(call(d_scratch, bytes));
}

template <unsigned COLS> static unsigned launch_cub_matrix(Run r) {
    const unsigned cols = cols_of(r.n, COLS), rows = rows_of(r.n, COLS);
    if (rows == 0) return 0;
    with_scratch([=](void *d_scratch, size_t &bytes) {
#if CUB_VERSION >= 300200
        return cub::DeviceSegmentedReduce::Sum(d_scratch, bytes, r.d_in, r.d_partial,
                                               (long long)rows, (int)cols, r.stream);
#else
        auto offsets = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0),
                                                       Multiples{cols});
        return cub::DeviceSegmentedReduce::Sum(d_scratch, bytes, r.d_in, r.d_partial, rows, offsets,
                                               offsets + 1, r.stream);
#endif
    }, r.n);
    return rows;
}

template <Lengths KIND> static unsigned launch_cub_ragged(Run r) {
    const Ragged *all = ragged(KIND, r.n);
    if (all->rows == 0) return 0;
    with_scratch([=](void *d_scratch, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(d_scratch, bytes, r.d_in, r.d_partial, all->rows,
                                               all->d_offsets, all->d_offsets + 1, r.stream);
    }, r.n);
    return all->rows;
}

// What the host makes of elements from..to - 1.
typedef struct {
    double sum, most, mean, variance, exponentials; // these: of x - most
    unsigned place;
} RowAnswer;

static RowAnswer row_answer(unsigned from, unsigned to, bool all) {
    RowAnswer a = {-0.0, -INFINITY, 0, 0, 0, UINT_MAX};
    for (unsigned i = from; i < to; i++) {
        const int x = element(i);
        a.sum += x;
        if (x > a.most) a.most = x, a.place = i - from;
    }
    a.mean = a.sum / (to - from);
    for (unsigned i = from; i < to && all; i++) {
        const double x = element(i);
        a.variance += (x - a.mean) * (x - a.mean) / (to - from), a.exponentials += exp(x - a.most);
    }
    return a;
}

static void *results_of(Run r, size_t bytes) {
    void *h = malloc(bytes + 1);
    CUDA(cudaMemcpy(h, r.d_partial, bytes, cudaMemcpyDeviceToHost));
    return h;
}

// Is a row among those to compare? All of small inputs, some fifty of large ones.
static bool compared(unsigned n, unsigned rows, unsigned row) {
    return n <= 200000 || row + 1 == rows || row % (rows / 50 + 1) == 0;
}

static void check_one(const Stage *stage, Run r, double is, double should, double error) {
    expect(stage, r.n, "ROW", is, should, error * (1 + fabs(should)));
}

enum Result { SUM, ARGMAX, MOMENTS, LOG_SUM };
template <Result KIND, unsigned COLS>
static void check_matrix(const Stage *stage, Run r, unsigned rows) {
    const unsigned cols = cols_of(r.n, COLS);
    float *h = (float *)results_of(r, rows * (KIND == ARGMAX || KIND == MOMENTS ? 8 : 4));
    for (unsigned row = 0; row < rows; row++) {
        if (!compared(r.n, rows, row)) continue;
        const RowAnswer a = row_answer(row * cols, row * cols + cols, KIND > ARGMAX);
        if (KIND == SUM) check_one(stage, r, h[row], a.sum, 0);
        if (KIND == ARGMAX) check_one(stage, r, ((RowsPlace *)h)[row].index, a.place, 0);
        if (KIND == MOMENTS) check_one(stage, r, h[2 * row], a.mean, 1e-5);
        if (KIND == MOMENTS) check_one(stage, r, h[2 * row + 1], a.variance, 1e-5);
        if (KIND == LOG_SUM) check_one(stage, r, h[row], a.most + log(a.exponentials), 1e-5);
    }
    free(h);
}

template <Lengths KIND> static void check_ragged(const Stage *stage, Run r, unsigned rows) {
    const Ragged *all = ragged(KIND, r.n);
    float *h = (float *)results_of(r, rows * sizeof(float));
    for (unsigned row = 0; row < rows; row++)
        if (compared(r.n, rows, row) || all->h_offsets[row + 1] - all->h_offsets[row] > 4096)
            check_one(
                stage, r, h[row] + 0.0,
                row_answer((unsigned)all->h_offsets[row], (unsigned)all->h_offsets[row + 1], false)
                    .sum,
                0);
    free(h);
}

enum Step { SOFTMAX, LAYER_NORM, RMS_NORM };
template <Step STEP, unsigned COLS>
static void check_map(const Stage *stage, Run r, unsigned rows) {
    const unsigned cols = cols_of(r.n, COLS);
    float *h = (float *)results_of(r, (size_t)rows * cols * sizeof(float));
    for (unsigned row = 0; row < rows; row++) {
        if (!compared(r.n, rows, row)) continue;
        const RowAnswer a = row_answer(row * cols, row * cols + cols, true);
        const double squares = a.variance + a.mean * a.mean;
        for (unsigned i = row * cols; i < row * cols + cols; i++) {
            const double x = element(i);
            const double y = STEP == SOFTMAX      ? exp(x - a.most) / a.exponentials
                             : STEP == LAYER_NORM ? (x - a.mean) / sqrt(a.variance + 1e-5)
                                                  : x / sqrt(squares + 1e-5);
            expect(stage, r.n, "ELEMENT", h[i], y, STEP == SOFTMAX ? 1e-5 * y : 1e-5);
        }
    }
    free(h);
}

static void check_device_copy(const Stage *, Run, unsigned) {}

static const unsigned row_sizes[] = {0,    1,    3,    31,   64,   65,    257,
                                     1000, 1025, 4097, 8193, 9999, 70003, END};
static const unsigned no_sizes[] = {END};
#define MATRIX(name, Op, T, ELEM, RESULT, cols, note)                                              \
    {                                                                                              \
        name, launch_matrix<Op, T, cols>, note, 0, ELEM, COLD, NULL, row_sizes, NULL,              \
            check_matrix<RESULT, cols>                                                             \
    }
#define SUMS(name, cols, note) MATRIX(name, RowsSum, float, FLOAT, SUM, cols, note)
#define CUB_SUMS(name, cols)                                                                       \
    {                                                                                              \
        name, launch_cub_matrix<cols>, "the library", 0, FLOAT, COLD, NULL, no_sizes, NULL,        \
            check_matrix<SUM, cols>                                                                \
    }
#define RAGGED(name, KIND, note)                                                                   \
    { name, launch_ragged<KIND>, note, 0, FLOAT, COLD, NULL, row_sizes, NULL, check_ragged<KIND> }
#define CUB_RAGGED(name, KIND)                                                                     \
    {                                                                                              \
        name, launch_cub_ragged<KIND>, "the library", 0, FLOAT, COLD, NULL, no_sizes, NULL,        \
            check_ragged<KIND>                                                                     \
    }
#define SOFT(name, cols, note)                                                                     \
    {                                                                                              \
        name, launch_softmax<cols>, note, 0, FLOAT, COLD, NULL, row_sizes, NULL,                   \
            check_map<SOFTMAX, cols>                                                               \
    }
#define NORM(name, Norm, STEP, cols)                                                               \
    {                                                                                              \
        name, launch_norm<Norm, cols>, "", 0, FLOAT, COLD, NULL, row_sizes, NULL,                  \
            check_map<STEP, cols>                                                                  \
    }

static const Stage stages[] = {
    SUMS("rows_sum_4", 4, "a thread for each"),
    SUMS("rows_sum_15", 15, "not aligned, windows of one lane for each"),
    SUMS("rows_sum_32", 32, "four lanes for each"),
    SUMS("rows_sum_65", 65, "not aligned, 16 lanes for each"),
    CUB_SUMS("cub_rows_sum_256", 256),
    SUMS("rows_sum_256", 256, "a warp for each"),
    CUB_SUMS("cub_rows_sum_1024", 1024),
    SUMS("rows_sum_1024", 1024, "a block for each"),
    SUMS("rows_sum_1025", 1025, "not aligned"),
    CUB_SUMS("cub_rows_sum_4096", 4096),
    SUMS("rows_sum_4096", 4096, "a larger block for each"),
    CUB_SUMS("cub_rows_sum_65536", 65536),
    SUMS("rows_sum_65536", 65536, "a block for each, or several"),
    SUMS("rows_sum_all", 0, "all blocks for one row"),
    MATRIX("rows_sum_half_1024", RowsSum, __half, HALF, SUM, 1024, "halves"),
    MATRIX("rows_argmax_1024", RowsArgMax, float, FLOAT, ARGMAX, 1024, ""),
    MATRIX("rows_mean_variance_1024", RowsVariance, float, FLOAT, MOMENTS, 1024, ""),
    MATRIX("rows_log_sum_exp_1024", RowsLogSumExp, float, FLOAT, LOG_SUM, 1024, ""),
    RAGGED("rows_ragged_equal", EQUAL, "64 each"),
    CUB_RAGGED("cub_ragged_random", RANDOM),
    RAGGED("rows_ragged_random", RANDOM, "0 to 128"),
    CUB_RAGGED("cub_ragged_power", POWER),
    RAGGED("rows_ragged_power", POWER, "many short, few long"),
    CUB_RAGGED("cub_ragged_giant", GIANT),
    RAGGED("rows_ragged_giant", GIANT, "one has three quarters"),
    {"device_copy", launch_device_copy, "reads and writes as much as these do", 0, FLOAT, COLD,
     NULL, no_sizes, NULL, check_device_copy},
    SOFT("rows_softmax_32", 32, "lanes"),
    SOFT("rows_softmax_33", 33, "not aligned, in windows"),
    SOFT("rows_softmax_1024", 1024, "a block"),
    SOFT("rows_softmax_1025", 1025, "not aligned, with edges"),
    SOFT("rows_softmax_16384", 16384, "a larger block"),
    SOFT("rows_softmax_16385", 16385, "not aligned"),
    SOFT("rows_softmax_65536", 65536, "a block that has an SM"),
    SOFT("rows_softmax_131072", 131072, "a cluster of blocks"),
    SOFT("rows_softmax_all", 0, "all blocks"),
    NORM("rows_layer_norm_1024", RowsLayerNorm, LAYER_NORM, 1024),
    NORM("rows_layer_norm_1025", RowsLayerNorm, LAYER_NORM, 1025),
    NORM("rows_rms_norm_1024", RowsRmsNorm, RMS_NORM, 1024),
};
static const Lab lab = {stages, sizeof stages / sizeof *stages, 0.2};

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
