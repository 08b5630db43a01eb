// Generated from chapters/D-reduce.md by tangle: edit that file, not this one.
// reduce.cuh: an array on a CUDA device to one value, in one kernel launch: sum, minimum, maximum,
// the place of either, or an operator of your own.
// For C++11 and later, compiled by nvcc for sm_75 and later; needs no other file. From chapter 11
// of the workbook.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
//
//     void *d_workspace;
//     cudaMalloc(&d_workspace, reduction::REDUCE_WORKSPACE_BYTES);
//     reduction::reduce_clear_workspace(d_workspace, stream);
//     cudaError_t error = reduction::reduce_sum_float(d_in, d_out, n, d_workspace, stream);
//
// reduce_sum_T, _min_T, _max_T, _argmin_T, _argmax_T are there for these T, with these results:
//
//     T                             sum             min, max       argmin, argmax
//     float, double                 the same        the same       ReducePlace of it
//     half, bfloat16                float           float          ReducePlace<float>
//     int, unsigned, int64, uint64  the same        the same       ReducePlace of it
//     int8, uint8                   int64, uint64   int, unsigned  ReducePlace of int, unsigned
//
// reduce_launch<Op> is the one function behind them all. ReduceSum<signed char, int> adds up in 32
// bits. An operator of your own derives from ReduceOf<In, Acc> and has static __device__ functions
// identity() and combine(a, b), which is associative and commutative; lift(x, index) if an element
// does not simply become an Acc. In has 1, 2, 4, 8 or 16 bytes, Acc at most 16; both are trivially
// copyable.
//
// d_in         n elements on the device, at any address that is a multiple of their size
// d_out        room for one result on the device, aligned as its type; written, never read
// n            any number up to 2^40
// d_workspace  REDUCE_WORKSPACE_BYTES, aligned to 16. Clear it once, in the stream of its first
//              call: another one may still be waiting when that starts. Each call leaves it clear.
//              One for each stream: two calls that run at the same time must not share it. If a
//              kernel was cut short by an error, clear it again: its mail is still there.
// stream       the call returns at once; d_out is valid when the stream has come this far. Calls
//              can be captured into a graph, and nothing is allocated. In a graph, the pointer of
//              its node cannot be changed alone: the host cuts the input at boundaries of memory,
//              and the cut is in the kernel's arguments. Capture the call again.
// Returns      cudaErrorInvalidValue for a null or misaligned pointer, else what the launch says;
//              older errors stay what they were
//
// Time depends on n and the device alone, not on the values.
//
// Values. The order of operations depends on n, on the alignment of d_in, and on how many
// multiprocessors the device has and how many threads they hold: the same call on the same data
// and device gives the same bits. Sums are NaN if an element is, and -0 only if all elements are;
// of no elements, -0. Sums of integers wrap around. Minimum and maximum are NaN if an element is;
// -0 is below +0; of no elements they are the value that every other one replaces (+inf, the
// largest integer; -inf, the smallest). A place is that of the first NaN, else of the first of
// equals, where -0 and +0 are equal; of no elements, that value at ~0.
//
// Progress. No order of blocks is assumed, and no block waits for one that may not have started:
// any number of calls may run at a time, each on a stream of its own, and anything beside them.
#ifndef REDUCE_CUH
#define REDUCE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <type_traits>

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

template <class In> struct ReduceInput; template <class Op> struct ReduceSm;
__device__ inline unsigned reduce_draw(struct ReduceWorkspace *space);
template <class Op, int THREADS, bool STREAM>
__device__ typename Op::Acc reduce_thread(const ReduceInput<typename Op::In> &input);
template <class Op, int THREADS> __device__ typename Op::Acc reduce_block(typename Op::Acc mine);
template <class Op, int THREADS, class Acc>
__device__ void reduce_finish(Acc block, unsigned number, Acc *out, ReduceWorkspace *space);
// Reduces the input to *out. The block that was the last to start finishes.
template <class Op, int THREADS, bool STREAM>
__global__ void __launch_bounds__(THREADS, ReduceSm<Op>::BLOCKS)
    reduce_kernel(ReduceInput<typename Op::In> input, typename Op::Acc *out,
                  ReduceWorkspace *space) {
    const unsigned number = reduce_draw(space);
    typename Op::Acc mine = reduce_thread<Op, THREADS, STREAM>(input);
    reduce_finish<Op, THREADS>(reduce_block<Op, THREADS>(mine), number, out, space);
}

// Threads that an SM holds: CUDA C++ programming guide, technical specifications.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 750 || __CUDA_ARCH__ == 800 || \
    __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
#define REDUCE_SM_THREADS 2048
#elif __CUDA_ARCH__ == 750
#define REDUCE_SM_THREADS 1024
#else
#define REDUCE_SM_THREADS 1536
#endif

// Blocks of 512 threads that share an SM: as many as the compiler has to leave registers for. Four
// have 32 a thread, which is little for the addresses, four vectors, and a partial result of more
// than 4 bytes.
template <class Op> struct ReduceSm {
    enum { BYTES = sizeof(typename Op::Acc), WANTED = BYTES <= 4 ? 4 : BYTES <= 8 ? 3 : 2 };
    enum { FIT = REDUCE_SM_THREADS / 512 };
    enum { BLOCKS = int(WANTED) < int(FIT) ? int(WANTED) : int(FIT) };
    // What the end of a block is taken to cost, in tiles of 32 KB: more where only one other block
    // is there to read on, and there are four words to pass around.
    enum { END = BYTES <= 8 ? 1 : 8 };
};

// What a type of element is added up in (Sum), and what its values are compared in (Value).
template <class T> struct ReduceWide {
    static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value ||
                      (std::is_integral<T>::value && sizeof(T) >= 4),
                  "reduce.cuh adds and compares float, double, __half, __nv_bfloat16 and integers "
                  "of 8, 32 and 64 bits; other elements need an operator of your own");
    typedef T Sum, Value;
};
template <> struct ReduceWide<__half> { typedef float Sum, Value; };
template <> struct ReduceWide<__nv_bfloat16> { typedef float Sum, Value; };
template <> struct ReduceWide<signed char> {
    typedef long long Sum;
    typedef int Value;
};
template <> struct ReduceWide<unsigned char> {
    typedef unsigned long long Sum;
    typedef unsigned Value;
};

// The extremes (the argument only says of which type), and sums: integers wrap around, which
// unsigned arithmetic does by definition.
__device__ inline float reduce_highest(float) { return INFINITY; }
__device__ inline double reduce_highest(double) { return INFINITY; }
template <class T> __device__ T reduce_highest(T) {
    return (T)((typename std::make_unsigned<T>::type)-1 >> std::is_signed<T>::value);
}
__device__ inline float reduce_lowest(float) { return -INFINITY; }
__device__ inline double reduce_lowest(double) { return -INFINITY; }
template <class T> __device__ T reduce_lowest(T x) { return (T)~reduce_highest(x); }

__device__ inline float reduce_plus(float a, float b) { return a + b; }
__device__ inline double reduce_plus(double a, double b) { return a + b; }
template <class T> __device__ T reduce_plus(T a, T b) {
    typedef typename std::make_unsigned<T>::type Unsigned;
    return (T)((Unsigned)a + (Unsigned)b);
}

// Minimum and maximum as in IEEE 754-2019: a NaN wins, and -0 is below +0. For floats that is one
// instruction, where there is one.
template <class T> __device__ T reduce_less(T a, T b) { return a < b ? a : b; }
template <class T> __device__ T reduce_more(T a, T b) { return a > b ? a : b; }
__device__ inline double reduce_less(double a, double b) {
    return (a != a) | (a < b) | ((a == b) & (signbit(a) != 0)) ? a : b;
}
__device__ inline double reduce_more(double a, double b) {
    return (a != a) | (a > b) | ((a == b) & (signbit(a) == 0)) ? a : b;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ inline float reduce_less(float a, float b) {
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
    return a;
}
__device__ inline float reduce_more(float a, float b) {
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
    return a;
}
#else
__device__ inline float reduce_less(float a, float b) {
    return (a != a) | (a < b) | ((a == b) & (signbit(a) != 0)) ? a : b;
}
__device__ inline float reduce_more(float a, float b) {
    return (a != a) | (a > b) | ((a == b) & (signbit(a) == 0)) ? a : b;
}
#endif

// An operator says what the elements are, what is passed on, what stands for no element, how an
// element enters, and how two partial results become one. One of your own starts with this.
template <class In_, class Acc_ = In_> struct ReduceOf {
    typedef In_ In;
    typedef Acc_ Acc;
    static __device__ Acc lift(In x, unsigned long long) { return (Acc)x; }
};

template <class T, class To = typename ReduceWide<T>::Sum> struct ReduceSum : ReduceOf<T, To> {
    static __device__ To identity() { return (To)-0.0f; }  // +0 would lose the sign of -0
    static __device__ To combine(To a, To b) { return reduce_plus(a, b); }
};
template <class T, class To = typename ReduceWide<T>::Value> struct ReduceMin : ReduceOf<T, To> {
    static __device__ To identity() { return reduce_highest(To()); }
    static __device__ To combine(To a, To b) { return reduce_less(a, b); }
};
template <class T, class To = typename ReduceWide<T>::Value> struct ReduceMax : ReduceOf<T, To> {
    static __device__ To identity() { return reduce_lowest(To()); }
    static __device__ To combine(To a, To b) { return reduce_more(a, b); }
};

// Sixteen bytes, the widest load before sm_100, and the elements in them. Bytes are taken out of
// whole words: the compiler would take a vector of chars apart and put it together again.
template <class In> struct ReduceVector {
    enum { COUNT = 16 / sizeof(In) };
    unsigned words[4];
    __device__ In at(int k) const {
        const int byte = k * (int)sizeof(In);
        const unsigned bits = words[byte / 4] >> byte % 4 * 8;
        In x;
        memcpy(&x, sizeof x < 4 ? &bits : words + byte / 4, sizeof x);
        return x;
    }
};

// Loads a vector; STREAM: marks the cache line as the first to evict, since nobody reads it again.
template <bool STREAM, class In>
__device__ ReduceVector<In> reduce_load(const ReduceVector<In> *from) {
    const uint4 *words = reinterpret_cast<const uint4 *>(from);
    uint4 loaded = STREAM ? __ldcs(words) : *words;
    ReduceVector<In> v;
    memcpy(&v, &loaded, sizeof v);
    return v;
}

// Combines COUNT elements of a vector, from the one at FROM on, as a tree of pairs. `index` is the
// number of the vector's first element. An operator that knows a faster way specialises this.
template <class Op, int FROM, int COUNT> struct ReduceTree {
    static __device__ typename Op::Acc of(const ReduceVector<typename Op::In> &v,
                                          unsigned long long index) {
        return Op::combine(ReduceTree<Op, FROM, COUNT / 2>::of(v, index),
                           ReduceTree<Op, FROM + COUNT / 2, COUNT / 2>::of(v, index));
    }
};
template <class Op, int FROM> struct ReduceTree<Op, FROM, 1> {
    static __device__ typename Op::Acc of(const ReduceVector<typename Op::In> &v,
                                          unsigned long long index) {
        return Op::lift(v.at(FROM), index + FROM);
    }
};

// Sixteen bytes are added up four at a time, by one instruction each.
template <class To> struct ReduceTree<ReduceSum<signed char, To>, 0, 16> {
    static __device__ To of(const ReduceVector<signed char> &v, unsigned long long) {
        int sum = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) sum = __dp4a((int)v.words[k], 0x01010101, sum);
        return (To)sum;
    }
};
template <class To> struct ReduceTree<ReduceSum<unsigned char, To>, 0, 16> {
    static __device__ To of(const ReduceVector<unsigned char> &v, unsigned long long) {
        unsigned sum = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) sum = __dp4a(v.words[k], 0x01010101u, sum);
        return (To)sum;
    }
};

// What a thread has made of its vectors so far.
template <class Op> struct ReduceSofar {
    typedef ReduceVector<typename Op::In> Vector;
    typename Op::Acc mine;

    __device__ ReduceSofar() : mine(Op::identity()) {}
    static __device__ typename Op::Acc of(const Vector &v, unsigned long long index) {
        return ReduceTree<Op, 0, Vector::COUNT>::of(v, index);
    }
    __device__ void take(const Vector &v, unsigned long long index) {
        mine = Op::combine(mine, of(v, index));
    }
    // Four vectors, each `step` elements behind the one before.
    __device__ void take_four(const Vector *v, unsigned long long index, unsigned step) {
        typename Op::Acc low = Op::combine(of(v[0], index), of(v[1], index + step));
        typename Op::Acc high = Op::combine(of(v[2], index + 2 * step), of(v[3], index + 3 * step));
        mine = Op::combine(mine, Op::combine(low, high));
    }
    __device__ typename Op::Acc result() const { return mine; }
};

// A value and the number of its element.
template <class V> struct __align__(16) ReducePlace {
    V value;
    unsigned long long index;
};

// Where the minimum or maximum is: the first NaN, else the first of equals; -0 and +0 are equal.
template <class T, class Extreme>
struct ReduceArg : ReduceOf<T, ReducePlace<typename Extreme::Acc>> {
    typedef typename Extreme::Acc V;
    typedef ReducePlace<V> Acc;
    static __device__ Acc identity() { return {Extreme::identity(), ~0ull}; }
    static __device__ Acc lift(T x, unsigned long long index) { return {(V)x, index}; }
    static __device__ bool same(V a, V b) { return (a == b) | ((a != a) & (b != b)); }
    // Would a be taken before b, wherever they are?
    static __device__ bool beats(V a, V b) { return !same(Extreme::combine(a, b), b); }
    static __device__ Acc combine(Acc a, Acc b) {
        const bool first = same(a.value, b.value) ? a.index < b.index : beats(a.value, b.value);
        return first ? a : b;
    }
};
template <class T> using ReduceArgMin = ReduceArg<T, ReduceMin<T>>;
template <class T> using ReduceArgMax = ReduceArg<T, ReduceMax<T>>;

// A thread meets its vectors in the order of their numbers. So it keeps the first one with the best
// value, and looks for the place inside it once, at the end.
template <class T, class Extreme> struct ReduceSofar<ReduceArg<T, Extreme>> {
    typedef ReduceArg<T, Extreme> Op;
    typedef ReduceVector<T> Vector;
    enum { COUNT = Vector::COUNT };
    typename Op::Acc best;  // of a vector: its best value, and the number of its first element
    Vector vector;

    __device__ ReduceSofar() : best(Op::identity()), vector() {}
    __device__ void take(const Vector &v, unsigned long long index) {
        const typename Op::V value = ReduceTree<Extreme, 0, COUNT>::of(v, index);
        if ((best.index == ~0ull) | Op::beats(value, best.value))
            best.value = value, best.index = index, vector = v;
    }
    __device__ void take_four(const Vector *v, unsigned long long index, unsigned step) {
#pragma unroll
        for (int k = 0; k < 4; k++) take(v[k], index + k * step);
    }
    __device__ typename Op::Acc result() const {
        typename Op::Acc place = best;
        bool found = best.index == ~0ull;
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            const typename Op::V value = (typename Op::V)vector.at(k);
            if (found | !Op::same(value, best.value)) continue;
            place.value = value, place.index = best.index + k, found = true;
        }
        return place;
    }
};

// The input in parts, for blocks of so many threads: `tiles` of four vectors for each thread, from
// a 128-byte boundary on; the `rest` of the vectors; and the `edges`, which are `head` elements in
// front of the tiles and fewer than a vector behind the rest.
template <class In> struct ReduceInput {
    const In *in;
    const ReduceVector<In> *body;
    unsigned tiles, rest, head, edges;
};

template <class In> ReduceInput<In> reduce_split(const In *d_in, size_t n, unsigned threads) {
    size_t head = (128 - (size_t)d_in % 128) % 128 / sizeof(In);
    if (head > n) head = n;
    const size_t vectors = (n - head) / ReduceVector<In>::COUNT, tile = 4 * threads;
    const size_t edges = n - vectors * ReduceVector<In>::COUNT;
    ReduceInput<In> input;
    input.in = d_in, input.body = (const ReduceVector<In> *)(d_in + head);
    input.tiles = (unsigned)(vectors / tile), input.rest = (unsigned)(vectors % tile);
    input.head = (unsigned)head, input.edges = (unsigned)edges;
    return input;
}

// This thread's part of the input, four loads on their way at once. The block takes every
// gridDim.x-th tile. The block whose turn it is after the last tile takes what is left: the rest of
// the vectors, and the edges, one to a thread.
template <class Op, int THREADS, bool STREAM>
__device__ typename Op::Acc reduce_thread(const ReduceInput<typename Op::In> &input) {
    typedef ReduceVector<typename Op::In> Vector;
    const unsigned t = threadIdx.x, step = THREADS * Vector::COUNT;
    ReduceSofar<Op> sofar;
    unsigned tile = blockIdx.x;
    for (; tile < input.tiles; tile += gridDim.x) {
        const size_t first = (size_t)tile * (4 * THREADS) + t;
        Vector v[4];
#pragma unroll
        for (int k = 0; k < 4; k++) v[k] = reduce_load<STREAM>(input.body + first + k * THREADS);
        sofar.take_four(v, input.head + first * Vector::COUNT, step);
    }
    if (tile > input.tiles || input.rest + input.edges == 0) return sofar.result();
    const size_t first = (size_t)tile * (4 * THREADS) + t;
    Vector v[4] = {};  // without a value ptxas sets the loads of the loop above one behind another
    typename Op::Acc edge = Op::identity();
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (t + k * THREADS < input.rest)
            v[k] = reduce_load<STREAM>(input.body + first + k * THREADS);
    if (t < input.edges) {
        const size_t body = (first - t + input.rest) * Vector::COUNT;
        const size_t i = t < input.head ? t : t + body;
        edge = Op::lift(input.in[i], i);
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (t + k * THREADS < input.rest)
            sofar.take(v[k], input.head + first * Vector::COUNT + k * step);
    return Op::combine(sofar.result(), edge);
}

// A partial result in words of 32 bits, which is what shuffles and mailboxes carry.
template <class Acc> struct ReduceWords {
    enum { COUNT = (sizeof(Acc) + 3) / 4 };
    unsigned at[COUNT];
};
template <class Acc> __device__ ReduceWords<Acc> reduce_words(const Acc &value) {
    ReduceWords<Acc> words = {};
    memcpy(words.at, &value, sizeof value);
    return words;
}
template <class Acc> __device__ Acc reduce_value(const ReduceWords<Acc> &words) {
    Acc value;
    memcpy(&value, words.at, sizeof value);
    return value;
}

// Combines `mine` over a warp, valid in lane 0.
template <class Op> struct ReduceWarp {
    static __device__ typename Op::Acc of(typename Op::Acc mine) {
#pragma unroll
        for (int d = 16; d > 0; d /= 2) {
            ReduceWords<typename Op::Acc> words = reduce_words(mine);
#pragma unroll
            for (int k = 0; k < words.COUNT; k++)
                words.at[k] = __shfl_down_sync(0xffffffffu, words.at[k], d);
            mine = Op::combine(mine, reduce_value(words));
        }
        return mine;
    }
};
// Integers of 32 bits need one instruction, where there is one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define REDUCE_AT_ONCE(Op, Acc, function)                                          \
    template <class In> struct ReduceWarp<Op<In, Acc>> {                           \
        static __device__ Acc of(Acc mine) { return function(0xffffffffu, mine); } \
    };
REDUCE_AT_ONCE(ReduceSum, int, __reduce_add_sync)
REDUCE_AT_ONCE(ReduceMin, int, __reduce_min_sync)
REDUCE_AT_ONCE(ReduceMax, int, __reduce_max_sync)
REDUCE_AT_ONCE(ReduceSum, unsigned, __reduce_add_sync)
REDUCE_AT_ONCE(ReduceMin, unsigned, __reduce_min_sync)
REDUCE_AT_ONCE(ReduceMax, unsigned, __reduce_max_sync)
#undef REDUCE_AT_ONCE
#endif

// Combines `mine` over the block, valid in thread 0: each warp its lanes, then one thread the
// warps' values, as a tree, in place of a second round of shuffles.
template <class Op, int THREADS> __device__ typename Op::Acc reduce_block(typename Op::Acc mine) {
    __shared__ __align__(16) ReduceWords<typename Op::Acc> warps[THREADS / 32];
    mine = ReduceWarp<Op>::of(mine);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = reduce_words(mine);
    __syncthreads();  // every warp's value is there before thread 0 reads them
    if (threadIdx.x > 0) return mine;
    typename Op::Acc values[THREADS / 64];
#pragma unroll
    for (int w = 0; w < THREADS / 64; w++)
        values[w] = Op::combine(reduce_value(warps[w]), reduce_value(warps[w + THREADS / 64]));
#pragma unroll
    for (int half = THREADS / 128; half > 0; half /= 2)
#pragma unroll
        for (int w = 0; w < THREADS / 128; w++)
            if (w < half) values[w] = Op::combine(values[w], values[w + half]);
    return values[0];
}

// A mailbox is a 64-bit word: a flag above 32 bits of a value. It is written as one piece and read
// as one piece, so whoever sees the flag sees the value, and no fence is needed. (PTX ISA, memory
// consistency model: a scalar access is one operation; relaxed ones at device scope are never torn
// and never a race.) A value of more than 4 bytes takes several. Empty between launches: any word
// without the flag is.
enum : unsigned {
    REDUCE_BOXES = 8192,      // for one launch
    REDUCE_FULL = 0x9e3779b9  // the flag, which other data hardly has by chance
};
struct ReduceWorkspace {
    unsigned started, unused[31];  // numbers drawn; 0 between launches
    unsigned long long boxes[REDUCE_BOXES];
};
static const size_t REDUCE_WORKSPACE_BYTES = sizeof(ReduceWorkspace);

__device__ inline void reduce_put(unsigned long long *box, unsigned long long word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(box)),
                 "l"(word)
                 : "memory");
}
__device__ inline unsigned long long reduce_look(const unsigned long long *box) {
    unsigned long long word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(word)
                 : "l"(__cvta_generic_to_global(box))
                 : "memory");
    return word;
}

template <class Acc> __device__ void reduce_post(unsigned long long *box, const Acc &value) {
    const ReduceWords<Acc> words = reduce_words(value);
#pragma unroll
    for (int k = 0; k < words.COUNT; k++)
        reduce_put(box + k, (unsigned long long)REDUCE_FULL << 32 | words.at[k]);
}

// The words of a mailbox, as they were when somebody looked.
template <class Acc> struct ReduceSeen {
    unsigned long long words[ReduceWords<Acc>::COUNT];
};
template <class Acc> __device__ ReduceSeen<Acc> reduce_see(const unsigned long long *box) {
    ReduceSeen<Acc> seen;
#pragma unroll
    for (int k = 0; k < ReduceWords<Acc>::COUNT; k++) seen.words[k] = reduce_look(box + k);
    return seen;
}

// Waits for the value, if it was not there yet, and leaves the mailbox empty.
template <class Acc> __device__ Acc reduce_collect(unsigned long long *box, ReduceSeen<Acc> seen) {
    ReduceWords<Acc> words;
    for (;;) {
        bool full = true;
#pragma unroll
        for (int k = 0; k < words.COUNT; k++) {
            full = full && seen.words[k] >> 32 == REDUCE_FULL;
            words.at[k] = (unsigned)seen.words[k];
        }
        if (full) break;
        seen = reduce_see<Acc>(box);
    }
#pragma unroll
    for (int k = 0; k < words.COUNT; k++) reduce_put(box + k, 0);
    return reduce_value(words);
}

// The place of this block in the order in which blocks start, valid in thread 0. In each launch one
// block alone draws the last number or a higher one, whatever was in the counter before.
__device__ inline unsigned reduce_draw(ReduceWorkspace *space) {
    const bool draws = threadIdx.x == 0 && gridDim.x > 1;
    return draws ? atomicInc(&space->started, gridDim.x - 1) : 0;
}

// Every block posts its value, and all but the one with the last number are done. That one takes
// all values, its own among them, in the order of the blocks' indices, and writes the result; where
// there may be many, each of its threads looks into LOOKS mailboxes at once: the trips overlap.
// The number is asked for last: it may have come later than the elements.
template <class Op, int THREADS, class Acc>
__device__ void reduce_finish(Acc block, unsigned number, Acc *out, ReduceWorkspace *space) {
    enum { WORDS = ReduceWords<Acc>::COUNT, LOOKS = THREADS >= 512 ? 4 : 1 };
    __shared__ unsigned drawn;
    const unsigned t = threadIdx.x, blocks = gridDim.x;
    if (blocks > 1) {
        if (t == 0) reduce_post(space->boxes + blockIdx.x * WORDS, block);
        if (t == 0) drawn = number;
        __syncthreads();  // all threads know the block's number
        if (drawn < blocks - 1) return;
        Acc mine = Op::identity();
        for (unsigned first = t; first < blocks; first += LOOKS * THREADS) {
            ReduceSeen<Acc> seen[LOOKS];
#pragma unroll
            for (unsigned k = 0, b = first; k < LOOKS; k++, b += THREADS)
                if (b < blocks) seen[k] = reduce_see<Acc>(space->boxes + b * WORDS);
#pragma unroll
            for (unsigned k = 0, b = first; k < LOOKS; k++, b += THREADS)
                if (b < blocks)
                    mine = Op::combine(mine, reduce_collect(space->boxes + b * WORDS, seen[k]));
        }
        block = reduce_block<Op, THREADS>(mine);
    }
    if (t == 0) *out = block;
}

struct ReduceShape {
    unsigned blocks, threads;
    bool stream; // the input is more than L2 keeps until the next call
};

// Multiprocessors of the current device, the threads that one of them holds, and its L2 cache;
// asked for once by each host thread and device.
struct ReduceDevice {
    int device, sms, threads, cache_bytes;
};
inline cudaError_t reduce_device(ReduceDevice *found) {
    static thread_local ReduceDevice known = {-1, 0, 0, 0};
    ReduceDevice now = {-1, 0, 0, 0};
    cudaError_t error = cudaGetDevice(&now.device);
    if (error == cudaSuccess && now.device != known.device) {
        error = cudaDeviceGetAttribute(&now.sms, cudaDevAttrMultiProcessorCount, now.device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&now.threads, cudaDevAttrMaxThreadsPerMultiProcessor,
                                           now.device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&now.cache_bytes, cudaDevAttrL2CacheSize, now.device);
        if (error == cudaSuccess) known = now;
    }
    *found = known;
    return error;
}

// How many blocks of 512 threads fit on the current device at a time.
template <class Op> cudaError_t reduce_fit(size_t *blocks) {
    ReduceDevice d;
    const cudaError_t error = reduce_device(&d);
    const int fit = d.threads / 512, most = ReduceSm<Op>::WANTED, each = fit < most ? fit : most;
    *blocks = (size_t)d.sms * (size_t)each;
    return error;
}

// The launch shape for n elements on the current device. One block as long as four loads per
// thread suffice, which is 16 KB for 256 threads and 32 KB for 512. Then blocks of 256 with 16 KB
// each; and once those would outnumber the blocks of 512 that fit on the device at a time, blocks
// of 512 in waves. Short blocks even out how fast multiprocessors read, and long ones cost less:
// with w waves w ends are paid for and a block reads 1 / w of its place's tiles, so that w is best
// near the root of those tiles, counted in units of what the end costs.
template <class Op> cudaError_t reduce_shape(size_t n, ReduceShape *shape) {
    const size_t most = (size_t)REDUCE_BOXES / ReduceWords<typename Op::Acc>::COUNT;
    size_t fit;
    ReduceDevice d;
    cudaError_t error = reduce_device(&d);
    if (error == cudaSuccess) error = reduce_fit<Op>(&fit);
    if (error != cudaSuccess) return error;
    if (fit > most) fit = most;
    size_t bytes = n * sizeof(typename Op::In);
    size_t narrow = (bytes + 16383) / 16384, wide = (bytes + 32767) / 32768;
    bool wider = narrow > fit || (narrow == 2 && wide == 1);
    size_t waves = (size_t)(sqrt((double)wide / (double)(fit * ReduceSm<Op>::END)) + 0.5);
    if (waves > most / fit) waves = most / fit;
    const size_t many = waves > 1 ? waves * fit : fit;
    size_t blocks = !wider ? narrow : wide < many ? wide : many;
    shape->blocks = blocks > 0 ? (unsigned)blocks : 1;
    shape->threads = wider ? 512 : 256;
    shape->stream = bytes > (size_t)d.cache_bytes / 5 * 4;
    return cudaSuccess;
}

// Makes a workspace ready for its first call, in `stream`, where that call must be.
inline cudaError_t reduce_clear_workspace(void *d_workspace, cudaStream_t stream) {
    if (!d_workspace || (size_t)d_workspace % 16) return cudaErrorInvalidValue;
    return cudaMemsetAsync(d_workspace, 0, REDUCE_WORKSPACE_BYTES, stream);
}

template <class Op>
cudaError_t reduce_launch(const typename Op::In *d_in, typename Op::Acc *d_out, size_t n,
                          void *d_workspace, cudaStream_t stream) {
    typedef typename Op::In In;
    typedef typename Op::Acc Acc;
    static_assert(std::is_trivially_copyable<In>::value && 16 % sizeof(In) == 0,
                  "reduce.cuh reads elements that are trivially copyable, of 1, 2, 4, 8 or 16 "
                  "bytes");
    static_assert(std::is_trivially_copyable<Acc>::value && sizeof(Acc) <= 16,
                  "reduce.cuh passes on partial results that are trivially copyable, of at most 16 "
                  "bytes");
    if ((n > 0 && !d_in) || (size_t)d_in % sizeof(In) || !d_out || (size_t)d_out % alignof(Acc) ||
        !d_workspace || (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    ReduceShape shape;
    cudaError_t error = reduce_shape<Op>(n, &shape);
    if (error != cudaSuccess) return error;
    const void *kernel = shape.threads == 256 ? (const void *)reduce_kernel<Op, 256, false>
                         : shape.stream       ? (const void *)reduce_kernel<Op, 512, true>
                                              : (const void *)reduce_kernel<Op, 512, false>;
    ReduceInput<In> input = reduce_split(d_in, n, shape.threads);
    void *arguments[] = {&input, &d_out, &d_workspace};
    return cudaLaunchKernel(kernel, dim3(shape.blocks), dim3(shape.threads), arguments, 0, stream);
}

// A function is compiled where it is called, so that what you do not use costs nothing.
#define REDUCE_DEFINE(name, Op)                                                                  \
    template <int UNUSED = 0>                                                                    \
    cudaError_t name(const Op::In *d_in, Op::Acc *d_out, size_t n, void *d_workspace,            \
                     cudaStream_t stream) {                                                      \
        return reduce_launch<Op>(d_in, d_out, n, d_workspace, stream);                           \
    }
#define REDUCE_DEFINE_ALL(type, T)                        \
    REDUCE_DEFINE(reduce_sum_##type, ReduceSum<T>)        \
    REDUCE_DEFINE(reduce_min_##type, ReduceMin<T>)        \
    REDUCE_DEFINE(reduce_max_##type, ReduceMax<T>)        \
    REDUCE_DEFINE(reduce_argmin_##type, ReduceArgMin<T>)  \
    REDUCE_DEFINE(reduce_argmax_##type, ReduceArgMax<T>)
REDUCE_DEFINE_ALL(float, float)
REDUCE_DEFINE_ALL(double, double)
REDUCE_DEFINE_ALL(half, __half)
REDUCE_DEFINE_ALL(bfloat16, __nv_bfloat16)
REDUCE_DEFINE_ALL(int8, signed char)
REDUCE_DEFINE_ALL(uint8, unsigned char)
REDUCE_DEFINE_ALL(int, int)
REDUCE_DEFINE_ALL(unsigned, unsigned)
REDUCE_DEFINE_ALL(int64, long long)
REDUCE_DEFINE_ALL(uint64, unsigned long long)
#if LONG_MAX > INT_MAX  // where int64_t is a long
REDUCE_DEFINE_ALL(int64, long)
REDUCE_DEFINE_ALL(uint64, unsigned long)
#endif

}  // inline namespace
}  // namespace reduction
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#undef REDUCTION_VERSION
#undef REDUCTION_NAME
#undef REDUCE_PASTE
#undef REDUCE_DEFINE_ALL
#undef REDUCE_DEFINE
#undef REDUCE_SM_THREADS
#endif
