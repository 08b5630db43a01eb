// reduce_rows.cuh: rows of a matrix, or ragged rows, each reduced to one result; softmax, layer
// norm and RMS norm of rows. One kernel launch each. For C++11 and later, compiled by nvcc; needs
// no other file. From chapter 16 of the workbook.
//
//     void *d_workspace;
//     cudaMalloc(&d_workspace, ROWS_WORKSPACE_BYTES);
//     cudaMemsetAsync(d_workspace, 0, ROWS_WORKSPACE_BYTES, stream);
//     rows_sum(d_in, rows, cols, stride, d_out, d_workspace, stream);
//     rows_sum_ragged(d_in, d_offsets, rows, elements, d_out, d_workspace, stream);
//     rows_softmax(d_in, in_stride, d_out, out_stride, rows, cols, d_workspace, stream);
//
// d_in         elements: float, __half or __nv_bfloat16, at any address that is a multiple of their
//              size; row r begins at d_in + r * stride. Partial results are floats
// cols         elements of each row, up to 2^32 - 65,537 for a reduction, 0 included
// d_offsets    rows + 1 numbers on the device, int or long long, none below the one before: row r
//              has the elements d_offsets[r] to d_offsets[r + 1] - 1 of d_in, at most 2^31
// elements     how many these are together, as far as the caller knows: with `rows` it decides
//              which kernel is started, with how many blocks, and so the order of operations
// d_out        a result for each row: float; for rows_argmax RowsPlace, for rows_mean_variance
//              RowsMeanVariance. For softmax and the norms, rows of elements; may be d_in, with
//              the same stride; fastest where rows begin as far behind a multiple of 16 bytes as
//              those of d_in
// d_workspace  ROWS_WORKSPACE_BYTES, aligned to 16, all zero before the first call; each call
//              leaves it zero. One for each stream
// stream       calls return at once, can be captured into a graph, and allocate nothing. In a
//              reduction of few rows above 64 KB, one block of each row waits for the row's other
//              blocks: of such calls at most two run at a time on a device
// Returns      cudaErrorInvalidValue for a null or misaligned pointer, else what the launch says
//
// The order of operations depends on shape, alignment and device alone: the same call on the same
// data and device gives the same bits. Of an empty row the sum is -0, the minimum +inf, the maximum
// -inf, at UINT_MAX; mean and variance are NaN, the log of the sum of exponentials is -inf. NaN in
// a row makes its result NaN, -0 is below +0, and the first of equals is the greatest. rows_argmax
// counts from 0 in each row. The exponential of the greatest element of a row, and of those near
// it, is within a few units in the last place of a float; of one that is smaller by d, within a few
// more for each 8 of d. The softmax of a row of nothing but -inf is NaN; of a row with +inf, NaN
// where it is and 0 elsewhere.
#ifndef REDUCE_ROWS_CUH
#define REDUCE_ROWS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

template <class T, int VEC> struct RowsPack;
template <class Op, int LANES, int COUNT> struct RowsMixed;
// Reduces rows, each by LANES lanes of a warp, COUNT rows of them at a time: PER vectors of VEC
// elements for each lane and row, all on their way at once. Blocks of 256 threads, any number of
// rows. VEC divides cols, stride and the address. Reads every element once.
template <class Op, class T, int VEC, int LANES, int PER, int COUNT>
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
                    v[r][p].load(in + row * stride + from + p * STEP);
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
    RowsMixed<Op, LANES, COUNT>::run(mine, lane);
    if (COUNT < LANES && lane % (LANES / (COUNT < LANES ? COUNT : LANES)) != 0) return;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        const int r = (COUNT < LANES ? (int)lane * COUNT / LANES : (int)lane * KEPT) + k;
        const size_t row = first + (r % KEPT * LANES + r / KEPT) * TEAMS;
        if (row < rows) out[row] = Op::finish(mine[k], cols);
    }
}

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
template <class T> struct RowsIsElement {
    enum { YES = 0 };
};
template <> struct RowsIsElement<float> {
    enum { YES = 1 };
};
template <> struct RowsIsElement<__half> {
    enum { YES = 1 };
};
template <> struct RowsIsElement<__nv_bfloat16> {
    enum { YES = 1 };
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
    // Once: nobody will read it again, so its cache line may go first.
    __device__ void load(const T *from) { word = __ldcs(reinterpret_cast<const Word *>(from)); }
    __device__ void load_again(const T *from) { word = *reinterpret_cast<const Word *>(from); }
    __device__ void store(T *to) const { __stcs(reinterpret_cast<Word *>(to), word); }
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
#if __CUDA_ARCH__ >= 800
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

struct RowsSum { // -0 is the identity: +0 would make +0 of a row of -0
    typedef float Acc;
    typedef float Out;
    static __device__ Acc identity() { return -0.0f; }
    static __device__ float fill() { return -0.0f; }
    static __device__ Acc combine(Acc a, Acc b) { return a + b; }
    static __device__ Acc moved(Acc a, unsigned) { return a; }
    static __device__ Out finish(Acc a, size_t) { return a; }
    template <int N, int VEC>
    static __device__ Acc gather(const float *x, int, unsigned, unsigned) {
        return RowsTree<RowsSum, N>::of(x);
    }
};

template <bool GREATEST> struct RowsExtreme {
    typedef float Acc;
    typedef float Out;
    static __device__ Acc identity() { return GREATEST ? -INFINITY : INFINITY; }
    static __device__ float fill() { return identity(); }
    static __device__ Acc combine(Acc a, Acc b) {
        return GREATEST ? rows_most(a, b) : rows_least(a, b);
    }
    static __device__ Acc moved(Acc a, unsigned) { return a; }
    static __device__ Out finish(Acc a, size_t) { return a; }
    template <int N, int VEC>
    static __device__ Acc gather(const float *x, int, unsigned, unsigned) {
        return RowsTree<RowsExtreme, N>::of(x);
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

struct RowsSquares {
    typedef float Acc;
    typedef float Out;
    static __device__ Acc identity() { return 0; }
    static __device__ float fill() { return 0; }
    static __device__ Acc combine(Acc a, Acc b) { return a + b; }
    static __device__ Out finish(Acc a, size_t) { return a; }
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
template <class Op, int LANES, int COUNT> struct RowsMixed {
    typedef typename Op::Acc Acc;
    static __device__ void run(Acc *mine, unsigned lane) {
        enum { D = LANES / 2, HALF = COUNT / 2 };
        const bool upper = lane & D;
#pragma unroll
        for (int k = 0; k < HALF; k++) {
            const Acc got = rows_lane_xor(upper ? mine[k] : mine[k + HALF], D);
            mine[k] = Op::combine(upper ? got : mine[k], upper ? mine[k + HALF] : got);
        }
        RowsMixed<Op, D, HALF>::run(mine, lane);
    }
};
template <class Op, int LANES> struct RowsMixed<Op, LANES, 1> {
    static __device__ void run(typename Op::Acc *mine, unsigned) {
        mine[0] = rows_lanes_all<Op>(mine[0], LANES);
    }
};
template <class Op, int COUNT> struct RowsMixed<Op, 1, COUNT> {
    static __device__ void run(typename Op::Acc *, unsigned) {}
};
template <class Op> struct RowsMixed<Op, 1, 1> {
    static __device__ void run(typename Op::Acc *, unsigned) {}
};

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

// What thread t of THREADS makes of a part of a row that is at any address, PER vectors of 16 bytes
// on their way at once. As in chapter 11 a part is every parts-th tile of THREADS * PER vectors;
// whose turn it is after the last whole tile takes what is left, and the elements in front of the
// first 16-byte boundary and behind the last. Reads every element once.
template <class Op, class T, int THREADS, int PER>
__device__ typename Op::Acc rows_piece(const T *from, unsigned cols, unsigned t, unsigned part,
                                       unsigned parts) {
    enum { VEC = 16 / sizeof(T), TILE = THREADS * PER, N = PER * VEC };
    unsigned head = (unsigned)((16 - (size_t)from % 16) % 16 / sizeof(T));
    if (head > cols) head = cols;
    const unsigned vectors = (cols - head) / VEC, edges = cols - vectors * VEC;
    typename Op::Acc mine = Op::identity();
    unsigned first = part * TILE;
    for (; first + TILE <= vectors; first += parts * TILE) {
        RowsPack<T, VEC> v[PER];
        float x[N];
#pragma unroll
        for (int p = 0; p < PER; p++)
            v[p].load(from + head + (size_t)(first + t + p * THREADS) * VEC);
#pragma unroll
        for (int p = 0; p < PER; p++) v[p].widen(x + p * VEC);
        mine = Op::combine(
            mine, Op::template gather<N, VEC>(x, N, head + (first + t) * VEC, THREADS * VEC));
    }
    if (first < vectors || (first == vectors && edges > 0)) {
        RowsPack<T, VEC> v[PER];
        float x[N], edge = Op::fill();
        const unsigned left = vectors - first, at = t < head ? t : t + vectors * VEC;
        int valid = 0;
#pragma unroll
        for (int p = 0; p < PER; p++) {
            v[p].fill(Op::fill());
            if (t + p * THREADS < left)
                v[p].load(from + head + (size_t)(first + t + p * THREADS) * VEC);
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

// Reduces rows at any address and stride, each by `parts` blocks, of which the last one waits for
// the others.
template <class Op, class T, int THREADS, int PER>
__global__ void __launch_bounds__(THREADS)
    rows_by_blocks(const T *in, unsigned cols, size_t stride, unsigned parts, typename Op::Out *out,
                   unsigned long long *boxes) {
    typedef typename Op::Acc Acc;
    const unsigned t = threadIdx.x, row = blockIdx.x / parts, part = blockIdx.x % parts;
    Acc mine = rows_piece<Op, T, THREADS, PER>(in + row * stride, cols, t, part, parts);
    mine = rows_block_all<Op, THREADS>(mine, 0);
    boxes += row * parts * (sizeof(Acc) / 4);
    if (part + 1 < parts) {
        if (t == 0) rows_post(boxes + part * (sizeof(Acc) / 4), mine, 1);
        return;
    }
    if (parts > 1) {
        if (t > 0) mine = Op::identity();
        for (unsigned b = t; b + 1 < parts; b += THREADS)
            mine = Op::combine(mine, rows_collect<Acc>(boxes + b * (sizeof(Acc) / 4)));
        mine = rows_block_all<Op, THREADS>(mine, 1);
    }
    if (t == 0) out[row] = Op::finish(mine, cols);
}

// 16 bytes, or an offset, on their way into shared memory, past the registers where the device can
// do that.
__device__ inline void rows_copy_async(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
#else
    *(uint4 *)to = *(const uint4 *)from;
#endif
}
template <class O> __device__ void rows_copy_offset(O *to, const O *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from), "n"(sizeof(O))
        : "memory");
#else
    *to = *from;
#endif
}
__device__ inline void rows_copy_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for this thread's copies, but for the newest LATER groups of them.
template <int LATER> __device__ void rows_copy_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

// Ragged rows: row r has the elements from offset r to offset r + 1. Think of a path that takes
// all elements of a row, then its end, then the next row. An end counts ROWS_END steps, since it
// takes the work of some elements. Every warp gets an equal share of the path.
enum { ROWS_END = 6, ROWS_PROBES = 4 };

// Looks for the last row that begins at or before a step of the path; `rows` if that is its end. A
// round of the search asks at 128 rows, four for each lane, and leaves one of 129 pieces.
template <class O> struct RowsSearch {
    const O *offsets;
    long long low, high, step;    // row `low` begins there or before, `high` does not
    long long begin[ROWS_PROBES]; // the steps at which rows begin

    // The first round asks the same whatever is looked for.
    __device__ void ask() {
        step = (high - low + 127) >> 7;
#pragma unroll
        for (int k = 0; k < ROWS_PROBES; k++) {
            const long long r = low + (threadIdx.x % 32 + 32 * k + 1) * step;
            begin[k] = r < high ? offsets[r] + ROWS_END * r : LLONG_MAX;
        }
    }
    __device__ long long find(long long place) {
        while (true) {
            int before = 0;
#pragma unroll
            for (int k = 0; k < ROWS_PROBES; k++)
                before += __popc(__ballot_sync(0xffffffffu, begin[k] <= place));
            low += before * step;
            high = low + step < high ? low + step : high;
            if (high - low == 1) return low;
            ask();
        }
    }
};

// What a warp keeps in shared memory: tiles of elements, one at hand and the others on their way; a
// tree above the one at hand, whose nodes are of 4, 16, 64... elements; offsets, number i at i %
// RING; and what the warp has of two rows that are not all its own: the one that is open, and the
// one that began in an earlier share.
template <class Op, class T, class O, int PER, int STAGES> struct RowsTile {
    typedef typename Op::Acc Acc;
    enum { VEC = 16 / sizeof(T), SIZE = 32 * PER * VEC, RING = 256 };
    RowsPack<T, VEC> pack[STAGES][32 * PER];
    __align__(16) Acc node[SIZE / 3]; // level after level
    O ring[RING];
    Acc open, head;

    // Four nodes side by side.
    __device__ Acc four(int first) const {
        uint4 words[sizeof(Acc) / 4];
        Acc a[4];
#pragma unroll
        for (unsigned k = 0; k < sizeof(Acc) / 4; k++)
            words[k] = reinterpret_cast<const uint4 *>(node + first)[k];
        memcpy(a, words, sizeof a);
        return Op::combine(Op::combine(a[0], a[1]), Op::combine(a[2], a[3]));
    }

    // The tree of the tile in this buffer.
    __device__ void grow(int buffer) {
        const int lane = (int)threadIdx.x % 32;
#pragma unroll
        for (int p = 0; p < PER; p++) {
            float x[VEC];
            pack[buffer][lane + 32 * p].widen(x);
#pragma unroll
            for (int k = 0; k < VEC / 4; k++) {
                const int i = (lane + 32 * p) * (VEC / 4) + k;
                node[i] = Op::template gather<4, 4>(x + 4 * k, 4, 4 * (unsigned)i, 1);
            }
        }
        __syncwarp(); // all nodes of four elements are there
#pragma unroll
        for (int at = 0, size = SIZE / 4; size >= 4; at += size, size /= 4) {
#pragma unroll
            for (int i = 0; i < size / 4; i += 32)
                if (i + lane < size / 4) node[at + size + i + lane] = four(at + 4 * (i + lane));
            __syncwarp(); // all nodes of this level are there
        }
    }

    // Elements from..to - 1 of the tile: of each level at most three nodes on each side.
    __device__ Acc between(int buffer, int from, int to) const {
        const T *element = reinterpret_cast<const T *>(pack[buffer]);
        Acc left = Op::identity(), right = left;
        int head = min(-from & 3, to - from), tail = min(to & 3, to - from - head);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (k < head) left = Op::combine(left, leaf(element, from + k));
            if (k < tail) right = Op::combine(leaf(element, to - 1 - k), right);
        }
#pragma unroll
        for (int at = 0, size = SIZE / 4; size > 0; at += size, size /= 4) {
            from = (from + head) >> 2, to = (to - tail) >> 2;
            if (from >= to) break;
            head = min(-from & 3, to - from), tail = min(to & 3, to - from - head);
#pragma unroll
            for (int k = 0; k < 3; k++) {
                if (k < head) left = Op::combine(left, node[at + from + k]);
                if (k < tail) right = Op::combine(node[at + to - 1 - k], right);
            }
        }
        return Op::combine(left, right);
    }
    static __device__ Acc leaf(const T *element, int i) {
        const float x = rows_float(element[i]);
        return Op::template gather<1, 1>(&x, 1, (unsigned)i, 1);
    }
};

// A warp's walk along its share of the path, in tiles of elements.
template <class Op, class T, class O, int PER, int STAGES> struct RowsWalk {
    typedef RowsTile<Op, T, O, PER, STAGES> Tile;
    typedef typename Op::Acc Acc;
    enum { VEC = Tile::VEC, SIZE = Tile::SIZE, RING = Tile::RING };
    const T *in;
    const O *offsets;
    long long rows;
    typename Op::Out *out;
    Tile &s;
    long long zero, last;    // the first element, the last one's end
    long long stop;          // the share's end: a step, counted from offset 0 as e + ROWS_END * row
    long long row, begin, e; // the row that comes next, its first element; the next element
    long long joined;        // the row that began in an earlier share, or -1
    long long base;          // the tile's first element
    int asked[STAGES];       // ends from `row` on that are asked for, now and at the tiles before
    int count, limit;        // how many rows end in the tile; how far it belongs to the share
    bool more;               // perhaps more rows do

    // This lane's vectors of the tile at `from` on their way into a buffer, of `wanted` elements;
    // what does not fill a vector at the ends of the input is copied at once.
    __device__ void stage(int buffer, long long from, long long wanted) {
        const int lane = (int)threadIdx.x % 32;
        RowsPack<T, VEC> *pack = s.pack[buffer] + lane;
        const T *of_lane = in + from + lane * VEC;
        if (from >= zero && SIZE <= min(wanted, last - from)) {
#pragma unroll
            for (int p = 0; p < PER; p++) rows_copy_async(pack + 32 * p, of_lane + 32 * p * VEC);
        } else {
            const int low = (int)max(zero - from, 0ll), mask = -(int)VEC;
            const long long here = min((wanted + VEC - 1) & mask, last - from);
            const int high = (int)min(max(here, 0ll), (long long)SIZE);
            const int whole = (low + VEC - 1) & mask, right = high - 1 - lane;
#pragma unroll 1
            for (int p = 0; p < PER; p++) {
                const int i = (lane + 32 * p) * VEC;
                if (i >= low && i + VEC <= high)
                    rows_copy_async(pack + 32 * p, of_lane + 32 * p * VEC);
            }
            T *element = reinterpret_cast<T *>(s.pack[buffer]);
            if (low + lane < min(whole, high)) element[low + lane] = in[from + low + lane];
            if (right >= whole && lane < high % VEC) element[right] = in[from + right];
        }
        rows_copy_commit();
    }

    // Offsets on their way into the ring, 32 at a time, as far as there is room. Behind the last
    // one it is repeated: no share has a row that ends there.
    __device__ void ask() {
        for (; asked[0] + 32 <= RING; asked[0] += 32) {
            const long long i = row + 1 + asked[0] + (int)(threadIdx.x % 32);
            rows_copy_offset(&s.ring[(unsigned)i % RING], offsets + (i < rows ? i : rows));
        }
    }
    // Where the k-th row from here on ends, counted from the tile's first element.
    __device__ int end_of(int k) const {
        return (int)((unsigned)s.ring[((unsigned)row + k + 1) % RING] - (unsigned)base);
    }

    // At a step of the path, counted like `stop`.
    __device__ void start(RowsSearch<O> &search, long long from) {
        row = search.find(from);
        begin = offsets[row], e = from - ROWS_END * row;
        joined = e > begin ? row : -1;
        const long long end = row < rows ? (long long)offsets[row + 1] : last;
        if (e > end) begin = e = end, row++, joined = -1; // an earlier share has its end
        const int line = 128 / sizeof(T), ahead = (int)((size_t)(in + zero) % 128 / sizeof(T));
        base = zero - ahead + (e - zero + ahead) / line * line; // where a cache line begins
        asked[0] = -(int)((row + 1) % 32); // so that 32 offsets begin at a multiple of 32
        if (threadIdx.x % 32 == 0) s.open = Op::identity();
        for (int b = 0; b < STAGES; b++) // trees grow from whole tiles
            for (int p = 0; p < PER; p++) s.pack[b][threadIdx.x % 32 + 32 * p].fill(Op::fill());
        __syncwarp(); // what is filled in is there before others write
    }

    // How many elements from the tile's first on could be in this share.
    __device__ long long left() const { return stop - ROWS_END * row - base; }

    // How many rows end in this tile and in this share, as far as their offsets are here.
    __device__ void find_ends() {
        const int lane = (int)threadIdx.x % 32, size = (int)min(last - base, (long long)SIZE);
        const int room = (int)min(left(), (long long)SIZE + ROWS_END * RING);
        int found;
        count = 0;
        do {
            const int k = count + lane;
            long long end = LLONG_MAX;
            if (k < asked[STAGES - 1])
                end = (long long)s.ring[((unsigned)row + k + 1) % RING] - base;
            const bool here = end <= size && (int)end + ROWS_END * k < room;
            found = __popc(__ballot_sync(0xffffffffu, here));
            count += found;
        } while (found == 32);
        more = count >= asked[STAGES - 1];
        limit = count > 0 ? end_of(count - 1) : (int)(e - base);
        if (!more) limit = max(limit, min(room - ROWS_END * count, size));
    }

    // The rows that end in this tile, a lane for each, and a lane for what is left of it.
    __device__ void take_rows(int buffer) {
        for (int k0 = 0; k0 <= count; k0 += 32) {
            const int k = k0 + (int)threadIdx.x % 32;
            int from = 0, upto = 0;
            if (k <= count) from = k > 0 ? end_of(k - 1) : (int)(e - base);
            if (k <= count) upto = k < count ? end_of(k) : limit;
            const long long first = k == 0 ? begin : base + from; // the row's
            Acc mine = Op::identity();
            if (from < upto)
                mine = Op::moved(s.between(buffer, from, upto), (unsigned)(base - first));
            if (k == 0) mine = Op::combine(s.open, mine);
            __syncwarp(); // what was open is read before it is overwritten
            if (k == count) s.open = mine;
            if (k == 0 && count > 0 && row == joined)
                s.head = mine;
            else if (k < count)
                out[row + k] = Op::finish(mine, (size_t)(base + upto - first));
        }
        if (count > 0) begin = base + end_of(count - 1);
        row += count, e = base + limit;
        __syncwarp(); // all have read the offsets and the tile before they are overwritten
    }

    // The whole share. While a tile is worked on, the next ones are on their way.
    __device__ void walk() {
        int buffer = 0, next = STAGES - 1; // where the tile is; where the newest one goes
        bool fresh = true;
        ask();
#pragma unroll
        for (int k = 0; k < STAGES - 1; k++) {
            asked[k + 1] = asked[0];
            stage(k, base + k * SIZE, left() - k * SIZE);
        }
        while (e + ROWS_END * row < stop) {
            if (fresh) rows_copy_wait<STAGES - 2>();
            __syncwarp(); // the tile is there, and the offsets that were asked for with it
            find_ends();
            if (fresh) {
                const int far = (STAGES - 1) * SIZE;
                ask();
                stage(next, base + far, left() - far - ROWS_END * count);
                s.grow(buffer);
            }
            take_rows(buffer);
#pragma unroll
            for (int k = STAGES - 1; k >= 0; k--) asked[k] = asked[k > 0 ? k - 1 : 0] - count;
            fresh = !more;
            if (fresh) {
                next = buffer, buffer = buffer + 1 < STAGES ? buffer + 1 : 0, base += SIZE;
            } else {
                ask(), rows_copy_commit(), rows_copy_wait<0>();
#pragma unroll
                for (int k = 1; k < STAGES; k++) asked[k] = asked[0];
            }
        }
    }
};

// Reduces ragged rows, in any grid. Reads every element once, and the offsets.
template <class Op, class T, class O, int WARPS, int PER, int STAGES, int BLOCKS>
__global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    rows_ragged(const T *in, const O *offsets, long long rows, typename Op::Out *out,
                unsigned long long *boxes, unsigned *started) {
    typedef RowsTile<Op, T, O, PER, STAGES> Tile;
    typedef typename Op::Acc Acc;
    enum { WORDS = sizeof(Acc) / 4 };
    extern __shared__ __align__(16) unsigned char rows_bytes[];
    __shared__ Acc mail[WARPS];
    __shared__ unsigned id, sender;
    Tile *tiles = reinterpret_cast<Tile *>(rows_bytes);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long zero = offsets[0], last = offsets[rows];
    RowsSearch<O> search = {offsets, 0, rows + 1};
    search.ask();
    if (threadIdx.x == 0) { // blocks are numbered as they start, and wait for lower numbers only
        id = gridDim.x > 1 ? atomicAdd(started, 1u) : 0;
        if (gridDim.x > 1 && id + 1 == gridDim.x) *started = 0;
        sender = id;
    }
    __syncthreads(); // all know their block's number
    const long long steps = last - zero + ROWS_END * rows, warps = (long long)gridDim.x * WARPS;
    const long long share = (steps + warps - 1) / warps;
    const long long part = (long long)id * WARPS + warp, first = part - warp;
    if (first * share >= steps) return;
    RowsWalk<Op, T, O, PER, STAGES> walk = {in, offsets, rows, out, tiles[warp], zero, last};
    walk.stop = zero + min((part + 1) * share, steps);
    walk.start(search, zero + min(part * share, steps));
    walk.walk();
    // A row that began in an earlier share and ended in this one: in which it began.
    const bool ended = walk.joined >= 0 && walk.row > walk.joined;
    long long began = part;
    if (ended) began = (offsets[walk.joined] - zero + ROWS_END * walk.joined) / share;
    if (began < first && lane == 0) sender = (unsigned)(began / WARPS);
    __syncthreads(); // all know what the other warps have
    // A row that goes on: the block in which it ends will want this block's part of it.
    if (warp == WARPS - 1 && walk.stop > walk.begin + ROWS_END * walk.row) {
        const long long from = (walk.begin - zero + ROWS_END * walk.row) / share;
        Acc mine = lane < WARPS && first + lane >= from ? tiles[lane].open : Op::identity();
        mine = rows_lanes_all<Op>(mine, 32);
        if (lane == 0) rows_post(boxes + id * WORDS, mine, 1);
    }
    if (sender < id) { // parts of earlier blocks
        Acc mine = Op::identity();
        for (unsigned b = sender + threadIdx.x; b < id; b += 32 * WARPS)
            mine = Op::combine(mine, rows_collect<Acc>(boxes + b * WORDS));
        mine = rows_lanes_all<Op>(mine, 32);
        if (lane == 0) mail[warp] = mine;
        __syncthreads(); // the parts are together
    }
    if (!ended) return;
    Acc mine = lane < warp && first + lane >= began ? tiles[lane].open : Op::identity();
    if (lane == warp) mine = tiles[lane].head;
    if (began < first && lane < WARPS) mine = Op::combine(mine, mail[lane]);
    mine = rows_lanes_all<Op>(mine, 32);
    const size_t n = (size_t)(offsets[walk.joined + 1] - offsets[walk.joined]);
    if (lane == 0) out[walk.joined] = Op::finish(mine, n);
}

// Reduces ragged rows, a warp for each and a block for a longer one. There are so many blocks that
// each warp has one row at most.
template <class Op, class T, class O, int THREADS, int PER>
__global__ void __launch_bounds__(THREADS)
    rows_ragged_few(const T *in, const O *offsets, long long rows, typename Op::Out *out) {
    enum { LONG = 128 * PER };
    long long row = blockIdx.x + (long long)(threadIdx.x / 32) * gridDim.x, begin = 0, n = 0;
    if (row < rows) begin = offsets[row], n = offsets[row + 1] - begin;
    if (row < rows && n <= LONG) {
        typename Op::Acc mine =
            rows_piece<Op, T, 32, PER>(in + begin, (unsigned)n, threadIdx.x % 32, 0, 1);
        mine = rows_lanes_all<Op>(mine, 32);
        if (threadIdx.x % 32 == 0) out[row] = Op::finish(mine, (size_t)n);
    }
    if (!__syncthreads_or(n > LONG)) return; // mostly no row is longer
    unsigned turn = 0;
    for (row = blockIdx.x; row < rows; row += gridDim.x) {
        begin = offsets[row], n = offsets[row + 1] - begin;
        if (n <= LONG) continue;
        const typename Op::Acc mine = rows_block_all<Op, THREADS>(
            rows_piece<Op, T, THREADS, PER>(in + begin, (unsigned)n, threadIdx.x, 0, 1), turn++);
        if (threadIdx.x == 0) out[row] = Op::finish(mine, (size_t)n);
    }
}

// What becomes of a row is a reduction, whose result everybody needs, and a step for each element.
struct RowsSoftmax {
    typedef RowsLogSumExp Op;
    struct Parameters {
        char none;
    };
    static __device__ float scale(const RowsExpSum &all, size_t, const Parameters &) {
        return 1 / all.sum;
    }
    template <class T, int VEC, bool CUT>
    static __device__ void apply(float *x, const RowsExpSum &all, float scale, const Parameters &,
                                 size_t, size_t) {
#pragma unroll
        for (int j = 0; j < VEC; j++) x[j] = RowsLogSumExp::power(x[j] - all.most) * scale;
    }
};

// Weights and biases for the columns, or NULL.
struct RowsAffine {
    const void *weight, *bias;
    float epsilon;
};
// VEC of `cols` numbers from column i on; with CUT they may lie anywhere. Those of 4 bytes are
// sooner loaded one by one than cut.
template <class T, int VEC, bool CUT>
__device__ void rows_weights(const void *all, size_t i, size_t cols, float *w) {
    const T *from = (const T *)all + i;
    const unsigned phase = CUT ? rows_phase(from) : 0;
    RowsPack<T, VEC> v, high;
    if (CUT && (sizeof(T) == 4 || i < phase || i - phase + 2 * VEC > cols)) {
#pragma unroll
        for (int j = 0; j < VEC; j++) w[j] = rows_float(from[j]);
        return;
    }
    v.load_again(from - phase);
    if (CUT) high.load_again(from - phase + VEC), v = rows_cut(v, high, phase);
    v.widen(w);
}
template <class T, int VEC, bool CUT>
__device__ void rows_affine(float *x, const RowsAffine &affine, size_t i, size_t cols) {
    float w[VEC];
    if (affine.weight) {
        rows_weights<T, VEC, CUT>(affine.weight, i, cols, w);
#pragma unroll
        for (int j = 0; j < VEC; j++) x[j] *= w[j];
    }
    if (affine.bias) {
        rows_weights<T, VEC, CUT>(affine.bias, i, cols, w);
#pragma unroll
        for (int j = 0; j < VEC; j++) x[j] += w[j];
    }
}
struct RowsLayerNorm {
    typedef RowsVariance Op;
    typedef RowsAffine Parameters;
    static __device__ float scale(const RowsMoments &all, size_t, const RowsAffine &affine) {
        return rsqrtf(all.m2 / all.count + affine.epsilon);
    }
    template <class T, int VEC, bool CUT>
    static __device__ void apply(float *x, const RowsMoments &all, float scale,
                                 const RowsAffine &affine, size_t i, size_t cols) {
#pragma unroll
        for (int j = 0; j < VEC; j++) x[j] = (x[j] - all.mean) * scale;
        rows_affine<T, VEC, CUT>(x, affine, i, cols);
    }
};
struct RowsRmsNorm {
    typedef RowsSquares Op;
    typedef RowsAffine Parameters;
    static __device__ float scale(float all, size_t cols, const RowsAffine &affine) {
        return rsqrtf(all / (float)cols + affine.epsilon);
    }
    template <class T, int VEC, bool CUT>
    static __device__ void apply(float *x, float, float scale, const RowsAffine &affine, size_t i,
                                 size_t cols) {
#pragma unroll
        for (int j = 0; j < VEC; j++) x[j] *= scale;
        rows_affine<T, VEC, CUT>(x, affine, i, cols);
    }
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
#if __CUDA_ARCH__ >= 900
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

// Rows lie at boundaries of 16 bytes, and what belongs to their columns does; or alike where they
// come from and where they go, as far behind a boundary there as here; or apart.
enum RowsLie { ROWS_ALIGNED, ROWS_ALIKE, ROWS_APART };

// Whole packs of a row of n elements, as they lie where it goes: from `head` to `tail`. The
// elements in front of them and behind are edges. Where rows lie apart, edges are a pack longer: so
// the two packs from which one is cut are inside the row.
template <class T, RowsLie LIE> struct RowsEnds {
    enum { VEC = 16 / sizeof(T), MORE = LIE == ROWS_APART ? VEC : 0 };
    enum { EDGES = LIE == ROWS_ALIGNED ? 0 : 2 * (VEC - 1 + MORE) };
    size_t head, tail, n;
    __device__ RowsEnds(const T *to, size_t n) : head(0), tail(n), n(n) {
        if (LIE == ROWS_ALIGNED || n == 0) return;
        head = MORE + (VEC - rows_phase(to)) % VEC;
        tail = head + (n - head - MORE) / VEC * VEC;
    }
    // How many elements of packs there are from number i on, or `most`.
    __device__ unsigned left(size_t i, unsigned most) const {
        return tail > i ? (unsigned)min(tail - i, (size_t)most) : 0;
    }
    __device__ unsigned edges() const { return (unsigned)(n - (tail - head)); }
    __device__ size_t edge(unsigned k) const { return k < head ? k : k + (tail - head); }
};

// PER packs that lie STEP elements apart, as far as these are before `left`; the others are filled
// in. All are on their way before the first is looked at.
template <RowsLie LIE, int STEP, class T, int VEC, int PER>
__device__ void rows_load_packs(RowsPack<T, VEC> (&v)[PER], const T *from, unsigned left,
                                float fill) {
    RowsPack<T, VEC> high[LIE == ROWS_APART ? PER : 1];
    const unsigned phase = LIE == ROWS_APART ? rows_phase(from) : 0;
#pragma unroll
    for (int p = 0; p < PER; p++) {
        v[p].fill(fill);
        if (p * STEP >= left) continue;
        v[p].load(from - phase + p * STEP);
        if (LIE == ROWS_APART) high[p].load(from - phase + p * STEP + VEC);
    }
#pragma unroll
    for (int p = 0; p < PER; p++)
        if (LIE == ROWS_APART && p * STEP < left) v[p] = rows_cut(v[p], high[p], phase);
}

// A row for LANES threads: of a warp, or all of a block, or of each of CLUSTER blocks. N elements
// of it stay in registers from the one load to the one store. Blocks of LANES threads if these are
// more than a warp, else of 256.
template <class Map, class T, int LANES, int N, int CLUSTER, RowsLie LIE>
__global__ void __launch_bounds__(LANES > 32 ? LANES : 256)
    rows_map(RowsTask<T> task, typename Map::Parameters parameters) {
    typedef typename Map::Op Op;
    typedef RowsEnds<T, LIE> Ends;
    enum { VEC = 16 / sizeof(T), PER = N / VEC, STEP = LANES * VEC, CUT = LIE != ROWS_ALIGNED };
    enum { THREADS = LANES > 32 ? LANES : 256, MOST = (Ends::EDGES + LANES - 1) / LANES };
    const size_t row = ((size_t)blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES) / CLUSTER;
    const unsigned lane = threadIdx.x % LANES, rank = blockIdx.x % CLUSTER;
    const T *from = task.in + row * task.in_stride;
    T *to = task.out + row * task.out_stride;
    const Ends ends(to, row < task.rows ? task.cols : 0);
    const unsigned edges = rank == 0 ? ends.edges() : 0;
    const size_t i = ends.head + rank * (LANES * N) + lane * VEC;
    const unsigned left = ends.left(i, LANES * N);
#if __CUDA_ARCH__ >= 900
    if (CLUSTER > 1) asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#endif
    RowsPack<T, VEC> v[PER];
    float x[N], edge[MOST + 1];
    rows_load_packs<LIE, STEP>(v, from + i, left, Op::fill());
#pragma unroll
    for (int e = 0; e < MOST; e++)
        edge[e] =
            lane + e * LANES < edges ? rows_float(from[ends.edge(lane + e * LANES)]) : Op::fill();
#pragma unroll
    for (int p = 0; p < PER; p++) v[p].widen(x + p * VEC);
    const int valid = (int)((left + STEP - 1) / STEP * VEC);
    typename Op::Acc all = Op::template gather<N, VEC>(x, valid, 0, STEP);
    if (MOST > 0) {
        const int mine = edges > lane ? (int)((edges - lane + LANES - 1) / LANES) : 0;
        all = Op::combine(all, Op::template gather<MOST + !MOST, 1>(edge, mine, 0, 1));
    }
    all = LANES > 32 ? rows_block_all<Op, THREADS>(all, 0) : rows_lanes_all<Op>(all, LANES);
    if (CLUSTER > 1) all = rows_cluster_all<Op, CLUSTER>(all);
    const float scale = Map::scale(all, task.cols, parameters);
#pragma unroll
    for (int p = 0; p < PER; p++)
        if (p * STEP < left) {
            Map::template apply<T, VEC, CUT>(x + p * VEC, all, scale, parameters, i + p * STEP,
                                             task.cols);
            v[p].narrow(x + p * VEC);
            v[p].store(to + i + p * STEP);
        }
#pragma unroll
    for (int e = 0; e < MOST; e++)
        if (lane + e * LANES < edges) {
            const size_t at = ends.edge(lane + e * LANES);
            Map::template apply<T, 1, false>(edge + e, all, scale, parameters, at, task.cols);
            rows_narrow(edge[e], to + at);
        }
}

// n elements on their way into a window: shared memory, in which they lie as far behind a boundary
// of 16 bytes as in memory. Between two boundaries 16 bytes move at a time; at both ends elements
// move one by one, so that nothing but these n is read.
template <class T>
__device__ void rows_bring(T *window, const T *from, unsigned n, unsigned lane, unsigned lanes) {
    enum { VEC = 16 / sizeof(T) };
    const unsigned head = min(n, (VEC - rows_phase(from)) % VEC), inner = (n - head) / VEC * VEC;
    for (unsigned i = head + lane * VEC; i < head + inner; i += lanes * VEC)
        rows_copy_async(window + i, from + i);
    for (unsigned k = lane; k < n - inner; k += lanes) {
        const unsigned i = k < head ? k : k + inner;
        window[i] = from[i];
    }
    rows_copy_commit();
}

// And out of a window, in which they lie as they will in memory.
template <class T>
__device__ void rows_send(const T *window, T *to, unsigned n, unsigned lane, unsigned lanes) {
    enum { VEC = 16 / sizeof(T) };
    const unsigned head = min(n, (VEC - rows_phase(to)) % VEC), inner = (n - head) / VEC * VEC;
    for (unsigned i = head + lane * VEC; i < head + inner; i += lanes * VEC) {
        RowsPack<T, VEC> v;
        v.load_again(window + i);
        v.store(to + i);
    }
    for (unsigned k = lane; k < n - inner; k += lanes) {
        const unsigned i = k < head ? k : k + inner;
        to[i] = window[i];
    }
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

// The same for short rows at any address, of any stride: a row for LANES lanes of a warp, N
// elements side by side for each. Blocks of 128 threads, with a window of `room` elements for each
// warp.
template <class Map, class T, int LANES, int N>
__global__ void __launch_bounds__(128)
    rows_map_short(RowsTask<T> task, unsigned room, typename Map::Parameters parameters) {
    typedef typename Map::Op Op;
    extern __shared__ __align__(16) unsigned char rows_bytes[];
    const unsigned i = threadIdx.x % LANES * N;
    T *window = reinterpret_cast<T *>(rows_bytes) + threadIdx.x / 32 * room;
    const RowsWindow<T, LANES> in(window, room, task.in, task.in_stride, task);
    rows_bring(in.begin, task.in + in.at, in.n, in.lane, in.lanes);
    rows_copy_wait<0>();
    __syncwarp(); // what the warp has is in its window
    const int valid = in.cols > i ? (int)min(in.cols - i, (unsigned)N) : 0;
    float x[N];
#pragma unroll
    for (int k = 0; k < N; k++) x[k] = k < valid ? rows_float(in.row[i + k]) : Op::fill();
    typename Op::Acc all = Op::template gather<N, 1>(x, valid, i, 1);
    all = rows_lanes_all<Op>(all, LANES);
    const float scale = Map::scale(all, task.cols, parameters);
    const RowsWindow<T, LANES> out(window, room, task.out, task.out_stride, task);
    __syncwarp(); // all have read the window before it is overwritten
#pragma unroll
    for (int k = 0; k < N; k++)
        if (k < valid) {
            Map::template apply<T, 1, false>(x + k, all, scale, parameters, i + k, task.cols);
            rows_narrow(x[k], out.row + i + k);
        }
    __syncwarp(); // what goes out is in the window
    rows_send(out.begin, task.out + out.at, out.n, out.lane, out.lanes);
}

// The same for rows that no cluster can hold: `parts` blocks for each, all blocks of the grid on
// the device at a time, which a cooperative launch guarantees. Everybody tells everybody its result
// through mailboxes, whose flag is the turn. As many tiles of a part as fit stay in shared memory;
// the others are read again, the last ones first, since they may still be in the cache.
template <class Map, class T, int THREADS, int PER, int BLOCKS, RowsLie LIE>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    rows_map_grid(RowsTask<T> task, unsigned parts, unsigned hold,
                  typename Map::Parameters parameters, unsigned long long *boxes, unsigned *done) {
    typedef typename Map::Op Op;
    typedef typename Op::Acc Acc;
    typedef RowsEnds<T, LIE> Ends;
    enum { VEC = 16 / sizeof(T), N = PER * VEC, STEP = THREADS * VEC, CUT = LIE != ROWS_ALIGNED };
    enum { TILE = THREADS * PER, WORDS = sizeof(Acc) / 4 };
    extern __shared__ __align__(16) unsigned char rows_bytes[];
    RowsPack<T, VEC> *held = reinterpret_cast<RowsPack<T, VEC> *>(rows_bytes);
    const unsigned t = threadIdx.x, part = blockIdx.x % parts, teams = gridDim.x / parts;
    const size_t tiles = (task.cols / VEC + TILE - 1) / TILE;
    const size_t low = tiles * part / parts, high = tiles * (part + 1) / parts;
    const size_t stay = low + hold < high ? low + hold : high; // tiles below stay
    unsigned turn = 1;
    for (size_t row = blockIdx.x / parts; row < task.rows; row += teams, turn++) {
        const T *from = task.in + row * task.in_stride;
        T *to = task.out + row * task.out_stride;
        const Ends ends(to, task.cols);
        const unsigned edges = part == 0 ? ends.edges() : 0;
        Acc mine = Op::identity();
        float edge = t < edges ? rows_float(from[ends.edge(t)]) : Op::fill();
        for (size_t k = low; k < high; k++) {
            RowsPack<T, VEC> v[PER];
            float x[N];
            const size_t i = ends.head + (k * TILE + t) * VEC;
            const unsigned left = ends.left(i, TILE * VEC);
            rows_load_packs<LIE, STEP>(v, from + i, left, Op::fill());
#pragma unroll
            for (int p = 0; p < PER; p++) {
                if (k < stay) held[(k - low) * TILE + t + p * THREADS] = v[p];
                v[p].widen(x + p * VEC);
            }
            const int valid = (int)((left + STEP - 1) / STEP * VEC);
            mine = Op::combine(mine, Op::template gather<N, VEC>(x, valid, 0, STEP));
        }
        if (Ends::EDGES)
            mine = Op::combine(mine, Op::template gather<1, 1>(&edge, t < edges, 0, 1));
        mine = rows_block_all<Op, THREADS>(mine, 0);
        unsigned long long *mail =
            boxes + (turn % 2 * gridDim.x + blockIdx.x / parts * parts) * WORDS;
        if (t == 0) rows_post(mail + part * WORDS, mine, turn);
        Acc all = Op::identity();
        for (unsigned b = t; b < parts; b += THREADS)
            all = Op::combine(all, rows_await<Acc>(mail + b * WORDS, turn));
        all = rows_block_all<Op, THREADS>(all, 1);
        const float scale = Map::scale(all, task.cols, parameters);
        if (t < edges) {
            Map::template apply<T, 1, false>(&edge, all, scale, parameters, ends.edge(t),
                                             task.cols);
            rows_narrow(edge, to + ends.edge(t));
        }
        for (size_t k = high; k-- > low;) {
            RowsPack<T, VEC> v[PER];
            const size_t i = ends.head + (k * TILE + t) * VEC;
            const unsigned left = ends.left(i, TILE * VEC);
            if (k >= stay) rows_load_packs<LIE, STEP>(v, from + i, left, 0);
#pragma unroll
            for (int p = 0; p < PER; p++)
                if (p * STEP < left) {
                    float x[VEC];
                    if (k < stay) v[p] = held[(k - low) * TILE + t + p * THREADS];
                    v[p].widen(x);
                    Map::template apply<T, VEC, CUT>(x, all, scale, parameters, i + p * STEP,
                                                     task.cols);
                    v[p].narrow(x);
                    v[p].store(to + i + p * STEP);
                }
        }
    }
    __shared__ bool is_last;
    __syncthreads(); // all of this block have read their mail
    if (t == 0) {
        __threadfence(); // their reads come before the count
        is_last = atomicAdd(done, 1u) + 1 == gridDim.x;
        __threadfence(); // and what the last one does, behind all counts
    }
    __syncthreads(); // all know whether everybody else has, too
    if (!is_last) return;
    for (unsigned b = t; b < 2 * gridDim.x * WORDS; b += THREADS) boxes[b] = 0;
    if (t == 0) *done = 0;
}

#define ROWS_BOXES           4096u // parts of rows that are on their way, the most of a launch
#define ROWS_WORKSPACE_BYTES (ROWS_BOXES * 3u * 8u + 16u) // three words each, two counters

// What the rules ask of the device: its SMs, the threads that all of them hold, and the shared
// memory of a block and of an SM.
typedef struct {
    int device, sms, threads, block_bytes, sm_bytes, major;
} RowsDevice;
inline cudaError_t rows_device(RowsDevice *d) {
    const cudaDeviceAttr which[] = {
        cudaDevAttrMultiProcessorCount, cudaDevAttrMaxThreadsPerMultiProcessor,
        cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
        cudaDevAttrComputeCapabilityMajor};
    int *const into[] = {&d->sms, &d->threads, &d->block_bytes, &d->sm_bytes, &d->major};
    cudaError_t error = cudaGetDevice(&d->device);
    for (int k = 0; k < 5 && error == cudaSuccess; k++)
        error = cudaDeviceGetAttribute(into[k], which[k], d->device);
    d->threads *= d->sms;
    return error;
}

// Does every row begin and end at a multiple of 16 bytes?
template <class T> bool rows_aligned(const void *in, size_t rows, size_t stride, size_t cols) {
    return ((size_t)in | cols * sizeof(T) | (rows > 1 ? stride * sizeof(T) : 0)) % 16 == 0;
}

template <class Op, class T, int VEC, int LANES, int PER, int COUNT>
cudaError_t rows_start_lanes(const T *in, size_t rows, unsigned cols, size_t stride,
                             typename Op::Out *out, cudaStream_t stream) {
    const size_t per_block = 256 / LANES * COUNT, blocks = (rows + per_block - 1) / per_block;
    rows_by_lanes<Op, T, VEC, LANES, PER, COUNT>
        <<<(unsigned)blocks, 256, 0, stream>>>(in, rows, cols, stride, out);
    return cudaGetLastError();
}

// COUNT rows at a time keep more loads on their way; but as long as all rows find a place on the
// device at once, one at a time is soonest.
template <class Op, class T, int VEC, int LANES, int PER, int COUNT>
cudaError_t rows_by_count(const RowsDevice &d, const T *in, size_t rows, unsigned cols,
                          size_t stride, typename Op::Out *out, cudaStream_t stream) {
    return rows * LANES > (size_t)d.threads
               ? rows_start_lanes<Op, T, VEC, LANES, PER, COUNT>(in, rows, cols, stride, out,
                                                                 stream)
               : rows_start_lanes<Op, T, VEC, LANES, PER, 1>(in, rows, cols, stride, out, stream);
}

// So many lanes, and vectors for each, that they take a row at once. A lane that takes one element
// at a time takes more of them.
template <class Op, class T, int VEC>
cudaError_t rows_with_lanes(const RowsDevice &d, const T *in, size_t rows, unsigned cols,
                            size_t stride, typename Op::Out *out, cudaStream_t stream) {
    enum { FEW = VEC == 1 ? 8 : 2, MORE = VEC == 1 ? 5 : 2, ROWS = VEC == 1 ? 1 : 2 };
    const unsigned vectors = (cols + VEC - 1) / VEC;
#define ROWS_LANES(lanes, per, count)                                                              \
    return rows_by_count<Op, T, VEC, lanes, per, count>(d, in, rows, cols, stride, out, stream)
    if (vectors <= 1) ROWS_LANES(1, 1, VEC == 1 ? 8 : 2);
    if (vectors <= FEW) ROWS_LANES(1, FEW, ROWS);
    if (vectors <= 2 * FEW) ROWS_LANES(2, FEW, ROWS);
    if (vectors <= 4 * FEW) ROWS_LANES(4, FEW, ROWS);
    if (vectors <= 8 * FEW) ROWS_LANES(8, FEW, ROWS);
    if (vectors <= 16 * MORE) ROWS_LANES(16, MORE, 2);
    if (vectors <= 16 * FEW) ROWS_LANES(16, FEW, 2);
    if (vectors <= 32 * FEW) ROWS_LANES(32, FEW, 2);
    ROWS_LANES(32, 2 * FEW, 1);
#undef ROWS_LANES
}

// `parts` blocks for each row.
template <class Op, class T, int THREADS>
cudaError_t rows_with_blocks(const T *in, size_t rows, unsigned cols, size_t stride, size_t parts,
                             typename Op::Out *out, void *workspace, cudaStream_t stream) {
    rows_by_blocks<Op, T, THREADS, 4><<<(unsigned)(rows * parts), THREADS, 0, stream>>>(
        in, cols, stride, (unsigned)parts, out, (unsigned long long *)workspace);
    return cudaGetLastError();
}

// How many blocks of 512 threads a row of so many bytes takes; 0: as many of 256 as there are
// pieces of 16 KB. One, up to 64 KB, or if the blocks that wait, one of each row, would be more
// than a fifth of those of 512 threads that the device has threads for: where registers leave room
// for half of these, two such calls can still wait at the same time. Else four times as many blocks
// as there are threads for, for all rows; of one to three rows, just as many.
inline size_t rows_parts(const RowsDevice &d, size_t rows, size_t bytes) {
    const size_t fit = (size_t)d.threads / 512, pieces = bytes / 16384 + 1;
    if (bytes <= 65536 || rows > fit / 5) return 1;
    if (rows * pieces <= 2 * fit) return 0;
    const size_t wanted = rows < 4 ? fit / rows : 4 * fit / rows, tiles = bytes / 32768 + 1;
    const size_t parts = wanted < tiles ? wanted : tiles, most = ROWS_BOXES / rows;
    return parts < most ? parts : most;
}

// Each of `rows` rows of `cols` elements reduced to one result.
template <class Op, class T>
cudaError_t rows_reduce(const T *d_in, size_t rows, size_t cols, size_t stride,
                        typename Op::Out *d_out, void *d_workspace, cudaStream_t stream) {
    static_assert(RowsIsElement<T>::YES, "rows are of float, __half or __nv_bfloat16");
    RowsDevice d;
    if (rows == 0) return cudaSuccess;
    if ((cols > 0 && !d_in) || (size_t)d_in % sizeof(T) || !d_out ||
        (size_t)d_out % sizeof(typename Op::Out) || !d_workspace || (size_t)d_workspace % 16 ||
        cols > UINT_MAX - 65536)
        return cudaErrorInvalidValue;
    cudaError_t error = rows_device(&d);
    if (error != cudaSuccess) return error;
    const unsigned n = (unsigned)cols;
    const size_t bytes = cols * sizeof(T);
    if (bytes > 2048) {
        const size_t parts = rows_parts(d, rows, bytes);
#define ROWS_BLOCKS(threads, parts)                                                                \
    return rows_with_blocks<Op, T, threads>(d_in, rows, n, stride, parts, d_out, d_workspace,      \
                                            stream)
        if (bytes <= 4096 + 64) ROWS_BLOCKS(64, 1);
        if (bytes <= 8192 + 64) ROWS_BLOCKS(128, 1);
        if (bytes <= 16384 + 64) ROWS_BLOCKS(256, 1);
        if (parts == 0) ROWS_BLOCKS(256, bytes / 16384 + 1);
        ROWS_BLOCKS(512, parts);
#undef ROWS_BLOCKS
    }
    if (rows_aligned<T>(d_in, rows, stride, cols))
        return rows_with_lanes<Op, T, 16 / sizeof(T)>(d, d_in, rows, n, stride, d_out, stream);
    return rows_with_lanes<Op, T, 1>(d, d_in, rows, n, stride, d_out, stream);
}

template <class Op, class T, class O, int WARPS, int PER, int STAGES>
cudaError_t rows_ragged_walk(const RowsDevice &d, const T *in, const O *offsets, size_t rows,
                             size_t elements, typename Op::Out *out, void *workspace,
                             cudaStream_t stream) {
    typedef RowsTile<Op, T, O, PER, STAGES> Tile;
    const auto kernel = rows_ragged<Op, T, O, WARPS, PER, STAGES, 16 / WARPS>;
    const size_t bytes = WARPS * sizeof(Tile);
    int per_sm = 0;
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, 32 * WARPS, bytes);
    if (error != cudaSuccess) return error;
    size_t blocks = (size_t)d.sms * (size_t)per_sm;
    const size_t tiles = (elements + rows) / (WARPS * Tile::SIZE) + 1;
    if (blocks > ROWS_BOXES) blocks = ROWS_BOXES;
    if (blocks > tiles) blocks = tiles;
    unsigned long long *boxes = (unsigned long long *)workspace;
    kernel<<<(unsigned)blocks, 32 * WARPS, bytes, stream>>>(
        in, offsets, (long long)rows, out, boxes, (unsigned *)(boxes + 3 * ROWS_BOXES));
    return cudaGetLastError();
}

// Large tiles, where there is much to do and an SM has room for three blocks with them; else small
// ones. Where no device has that room, the large ones are the small ones.
template <class Op, class T, class O>
cudaError_t rows_ragged_tiles(const T *in, const O *offsets, size_t rows, size_t elements,
                              typename Op::Out *out, void *workspace, cudaStream_t stream) {
    enum { MANY = 4194304, KEPT = 1280, MOST = 233472 }; // elements; bytes of a block, of an SM
    enum { ROOM = 3 * (4 * sizeof(RowsTile<Op, T, O, 14, 2>) + KEPT), FITS = ROOM <= MOST };
    enum { WARPS = 4 * sizeof(RowsTile<Op, T, O, 7, 3>) <= 65536 - 256 ? 4 : 2 };
    RowsDevice d;
    const cudaError_t error = rows_device(&d);
    if (error != cudaSuccess) return error;
    if (FITS && elements > MANY && d.sm_bytes >= ROOM)
        return rows_ragged_walk < Op, T, O, FITS ? 4 : WARPS, FITS ? 14 : 7,
               FITS ? 2 : 3 > (d, in, offsets, rows, elements, out, workspace, stream);
    return rows_ragged_walk<Op, T, O, WARPS, 7, 3>(d, in, offsets, rows, elements, out, workspace,
                                                   stream);
}

// Ragged rows: row r has the elements d_offsets[r] to d_offsets[r + 1] of d_in. `elements` is how
// many they are together, as far as the caller knows: with `rows` it decides which kernel is
// started, and with how many blocks.
template <class Op, class T, class O>
cudaError_t rows_reduce_ragged(const T *d_in, const O *d_offsets, size_t rows, size_t elements,
                               typename Op::Out *d_out, void *d_workspace, cudaStream_t stream) {
    static_assert(RowsIsElement<T>::YES, "rows are of float, __half or __nv_bfloat16");
    enum { THREADS = 512, PER = 4 };
    if (rows == 0) return cudaSuccess;
    if ((elements > 0 && !d_in) || (size_t)d_in % sizeof(T) || !d_offsets ||
        (size_t)d_offsets % sizeof(O) || !d_out || (size_t)d_out % sizeof(typename Op::Out) ||
        !d_workspace || (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    if (elements > 262144 || rows > 16384)
        return rows_ragged_tiles<Op, T, O>(d_in, d_offsets, rows, elements, d_out, d_workspace,
                                           stream);
    const unsigned blocks = (unsigned)((rows + THREADS / 32 - 1) / (THREADS / 32));
    rows_ragged_few<Op, T, O, THREADS, PER>
        <<<blocks, THREADS, 0, stream>>>(d_in, d_offsets, (long long)rows, d_out);
    return cudaGetLastError();
}

template <class Map, class T, int LANES, int N, int CLUSTER, RowsLie LIE>
cudaError_t rows_map_start(RowsTask<T> task, typename Map::Parameters parameters,
                           cudaStream_t stream) {
    // Two packs to cut one from take the registers of twice as many elements.
    enum { MORE = LIE == ROWS_APART && sizeof(T) == 4 && N == 32 ? 2 : 1, L = LANES * MORE };
    const unsigned threads = L > 32 ? L : 256, per_block = threads / L;
    void *arguments[] = {&task, &parameters};
    const void *kernel = (const void *)rows_map<Map, T, L, N / MORE, CLUSTER, LIE>;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster = {};
    config.gridDim = dim3((unsigned)((task.rows + per_block - 1) / per_block * CLUSTER));
    config.blockDim = dim3(threads), config.stream = stream;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = CLUSTER;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster, config.numAttrs = CLUSTER > 1 ? 1 : 0;
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

template <class Map, class T, int LANES, int N>
cudaError_t rows_short_start(RowsTask<T> task, typename Map::Parameters parameters,
                             cudaStream_t stream) {
    enum { VEC = 16 / sizeof(T), ROWS = 32 / LANES, WARPS = 4 };
    const unsigned room = ROWS * (((unsigned)task.cols + 2 * VEC - 2) / VEC * VEC);
    const size_t blocks = (task.rows + WARPS * ROWS - 1) / (WARPS * ROWS);
    rows_map_short<Map, T, LANES, N>
        <<<(unsigned)blocks, WARPS * 32, WARPS * room * sizeof(T), stream>>>(task, room,
                                                                             parameters);
    return cudaGetLastError();
}

// All of the device: for so many rows at a time that one and a half times the shared memory of all
// SMs would hold them, since some of the rest is still in the cache when it is read again.
template <class Map, class T, RowsLie LIE>
cudaError_t rows_map_long(const RowsDevice &d, RowsTask<T> task,
                          typename Map::Parameters parameters, void *workspace,
                          cudaStream_t stream) {
    enum { VEC = 16 / sizeof(T), THREADS = 512, PER = 16 / VEC, TILE = THREADS * PER * VEC };
    const void *kernel = (const void *)rows_map_grid<Map, T, THREADS, PER, 2, LIE>;
    const int tile = TILE * (int)sizeof(T), wanted = d.threads / d.sms >= 2 * THREADS ? 2 : 1;
    const int fit = d.sm_bytes / wanted - 2048, most = d.block_bytes - 1024;
    unsigned hold = (unsigned)((fit < most ? fit : most) / tile);
    const size_t bytes = hold * (size_t)tile, row = task.cols * sizeof(T);
    int per_sm = 0;
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, THREADS, bytes);
    if (error != cudaSuccess) return error;
    unsigned blocks = (unsigned)(d.sms * per_sm);
    if (blocks > ROWS_BOXES / 2) blocks = ROWS_BOXES / 2;
    size_t teams = bytes * blocks * 3 / 2 / row;
    teams = teams < task.rows ? teams : task.rows;
    teams = teams < 1 ? 1 : teams < blocks ? teams : blocks;
    unsigned parts = blocks / (unsigned)teams;
    unsigned long long *boxes = (unsigned long long *)workspace;
    unsigned *done = (unsigned *)(boxes + 3 * ROWS_BOXES) + 1;
    void *arguments[] = {&task, &parts, &hold, &parameters, &boxes, &done};
    return cudaLaunchCooperativeKernel(kernel, dim3(parts * (unsigned)teams), dim3(THREADS),
                                       arguments, bytes, stream);
}

// Whether a row can have a cluster of blocks: the device knows clusters, and the code is for one
// that does.
template <class Map, class T> bool rows_map_clusters(const RowsDevice &d) {
    cudaFuncAttributes code;
    return d.major >= 9 &&
           cudaFuncGetAttributes(&code, (const void *)rows_map<Map, T, 256, 32, 8, ROWS_ALIGNED>) ==
               cudaSuccess &&
           code.ptxVersion >= 90;
}

#define ROWS_MAP(lanes, n, cluster)                                                                \
    return rows_map_start<Map, T, lanes, n, cluster, LIE>(task, parameters, stream)

// So many elements of a row at most lie in whole packs.
template <class T> size_t rows_inner(const RowsTask<T> &task, RowsLie lie) {
    return task.cols / (16 / sizeof(T)) * (16 / sizeof(T)) -
           (lie == ROWS_APART ? 16 / sizeof(T) : 0);
}

// Rows of up to 4,096 elements, of 4 bytes or of 2: what is for the others is not compiled.
template <class Map, class T, RowsLie LIE, int BYTES = sizeof(T)> struct RowsMapShort {
    static cudaError_t start(const RowsTask<T> &task, const typename Map::Parameters &parameters,
                             cudaStream_t stream) {
        const size_t cols = rows_inner(task, LIE);
        if (cols <= 16) ROWS_MAP(4, 4, 1);
        if (cols <= 32) ROWS_MAP(8, 4, 1);
        if (cols <= 64) ROWS_MAP(16, 4, 1);
        if (cols <= 128) ROWS_MAP(16, 8, 1);
        if (cols <= 256) ROWS_MAP(16, 16, 1);
        if (cols <= 512) ROWS_MAP(64, 8, 1);
        if (cols <= 1024) ROWS_MAP(64, 16, 1);
        if (cols <= 2048) ROWS_MAP(128, 16, 1);
        ROWS_MAP(256, 16, 1);
    }
};
template <class Map, class T, RowsLie LIE> struct RowsMapShort<Map, T, LIE, 2> {
    static cudaError_t start(const RowsTask<T> &task, const typename Map::Parameters &parameters,
                             cudaStream_t stream) {
        const size_t cols = rows_inner(task, LIE);
        if (cols <= 16) ROWS_MAP(2, 8, 1);
        if (cols <= 32) ROWS_MAP(4, 8, 1);
        if (cols <= 64) ROWS_MAP(4, 16, 1);
        if (cols <= 128) ROWS_MAP(8, 16, 1);
        if (cols <= 256) ROWS_MAP(16, 16, 1);
        if (cols <= 512) ROWS_MAP(16, 32, 1);
        if (cols <= 1024) ROWS_MAP(32, 32, 1);
        if (cols <= 2048) ROWS_MAP(64, 32, 1);
        ROWS_MAP(128, 32, 1);
    }
};

template <class Map, class T, RowsLie LIE>
cudaError_t rows_map_rule(const RowsTask<T> &task, const typename Map::Parameters &parameters,
                          void *workspace, cudaStream_t stream) {
    enum { ONE = sizeof(T) == 2 || LIE != ROWS_APART };
    const size_t cols = rows_inner(task, LIE);
    if (cols <= 4096) return RowsMapShort<Map, T, LIE>::start(task, parameters, stream);
    if (cols <= 8192) ROWS_MAP(256, 32, 1);
    if (cols <= 16384) ROWS_MAP(512, 32, 1);
    if (cols <= 32768 && ONE) ROWS_MAP(ONE ? 1024 : 512, 32, 1);
    RowsDevice d;
    cudaError_t error = rows_device(&d);
    if (error != cudaSuccess) return error;
    if (rows_map_clusters<Map, T>(d)) {
        if (cols <= 32768) ROWS_MAP(512, 32, 2);
        if (cols <= 65536) ROWS_MAP(256, 32, 8);
        if (cols <= 131072) ROWS_MAP(512, 32, 8);
    }
    return rows_map_long<Map, T, LIE>(d, task, parameters, workspace, stream);
}
#undef ROWS_MAP

// Short rows that are not aligned: up to 264 elements of 4 bytes, or 66 of 2.
template <class Map, class T>
cudaError_t rows_map_few(const RowsTask<T> &task, const typename Map::Parameters &parameters,
                         cudaStream_t stream) {
    enum { WIDE = sizeof(T) == 4 };
    const size_t cols = task.cols;
#define ROWS_SHORT(lanes, n) return rows_short_start<Map, T, lanes, n>(task, parameters, stream)
    if (cols <= 9) ROWS_SHORT(1, 9);
    if (cols <= 17) ROWS_SHORT(1, 17);
    if (cols <= 33) ROWS_SHORT(1, 33);
    if (cols <= 66 || !WIDE) ROWS_SHORT(2, 33);
    if (cols <= 132) ROWS_SHORT(WIDE ? 4 : 2, 33);
    ROWS_SHORT(WIDE ? 8 : 2, 33);
#undef ROWS_SHORT
}

template <class Map, class T>
cudaError_t rows_map_launch(const T *d_in, size_t in_stride, T *d_out, size_t out_stride,
                            size_t rows, size_t cols, const typename Map::Parameters &parameters,
                            size_t other, void *d_workspace, cudaStream_t stream) {
    static_assert(RowsIsElement<T>::YES, "rows are of float, __half or __nv_bfloat16");
    if (rows == 0 || cols == 0) return cudaSuccess;
    if (!d_in || !d_out || ((size_t)d_in | (size_t)d_out | other) % sizeof(T) || !d_workspace ||
        (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    const RowsTask<T> task = {d_in, in_stride, d_out, out_stride, rows, cols};
    const size_t strides = rows > 1 ? in_stride | out_stride : 0;
    const size_t apart = rows > 1 ? (in_stride - out_stride) * sizeof(T) : 0;
    const size_t all = (size_t)d_in | (size_t)d_out | other | (strides | cols) * sizeof(T);
    if (all % 16 == 0)
        return rows_map_rule<Map, T, ROWS_ALIGNED>(task, parameters, d_workspace, stream);
    if (cols <= (sizeof(T) == 4 ? 264 : 66)) return rows_map_few<Map, T>(task, parameters, stream);
    if ((((size_t)d_in - (size_t)d_out) | apart) % 16 == 0)
        return rows_map_rule<Map, T, ROWS_ALIKE>(task, parameters, d_workspace, stream);
    return rows_map_rule<Map, T, ROWS_APART>(task, parameters, d_workspace, stream);
}

#define ROWS_DEFINE(name, Op)                                                                      \
    template <class T>                                                                             \
    cudaError_t name(const T *d_in, size_t rows, size_t cols, size_t stride, Op::Out *d_out,       \
                     void *d_workspace, cudaStream_t stream) {                                     \
        return rows_reduce<Op, T>(d_in, rows, cols, stride, d_out, d_workspace, stream);           \
    }                                                                                              \
    template <class T, class O>                                                                    \
    cudaError_t name##_ragged(const T *d_in, const O *d_offsets, size_t rows, size_t elements,     \
                              Op::Out *d_out, void *d_workspace, cudaStream_t stream) {            \
        return rows_reduce_ragged<Op, T, O>(d_in, d_offsets, rows, elements, d_out, d_workspace,   \
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
cudaError_t rows_softmax(const T *d_in, size_t in_stride, T *d_out, size_t out_stride, size_t rows,
                         size_t cols, void *d_workspace, cudaStream_t stream) {
    return rows_map_launch<RowsSoftmax, T>(d_in, in_stride, d_out, out_stride, rows, cols,
                                           RowsSoftmax::Parameters(), 0, d_workspace, stream);
}
template <class T>
cudaError_t rows_layer_norm(const T *d_in, size_t in_stride, T *d_out, size_t out_stride,
                            size_t rows, size_t cols, const T *d_weight, const T *d_bias,
                            float epsilon, void *d_workspace, cudaStream_t stream) {
    const RowsAffine affine = {d_weight, d_bias, epsilon};
    return rows_map_launch<RowsLayerNorm, T>(d_in, in_stride, d_out, out_stride, rows, cols, affine,
                                             (size_t)d_weight | (size_t)d_bias, d_workspace,
                                             stream);
}
template <class T>
cudaError_t rows_rms_norm(const T *d_in, size_t in_stride, T *d_out, size_t out_stride, size_t rows,
                          size_t cols, const T *d_weight, float epsilon, void *d_workspace,
                          cudaStream_t stream) {
    const RowsAffine affine = {d_weight, NULL, epsilon};
    return rows_map_launch<RowsRmsNorm, T>(d_in, in_stride, d_out, out_stride, rows, cols, affine,
                                           (size_t)d_weight, d_workspace, stream);
}

#endif
