// Generated from chapters/13-any-operator.md by tangle: edit that file, not this one.
// Chapter 13: one reduction for any operator and type, and what is built on it.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 13_any_operator.cu -o lab && ./lab
// A kernel that reduces its input by an operator, which says what is read and what is left.
#define REDUCTION(name, Op)                                                                \
    __global__ void __launch_bounds__(THREADS, ReduceSm<Op>::BLOCKS)                       \
        name(ReduceInput<Op::In> input, Op::Acc *out, ReduceWorkspace *space) {            \
        reduce_grid<Op>(input, out, space);                                                \
    }

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <type_traits>
#include <limits.h>

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

// The type to accumulate in, and its extremes (the argument only says which type).
template <typename T> struct Wide;
template <> struct Wide<int> { typedef int Acc; };
template <> struct Wide<float> { typedef float Acc; };
template <> struct Wide<double> { typedef double Acc; };
template <> struct Wide<__half> { typedef float Acc; };

static __device__ int lowest(int) { return INT_MIN; }
static __device__ float lowest(float) { return -INFINITY; }
static __device__ double lowest(double) { return -INFINITY; }
static __device__ int highest(int) { return INT_MAX; }
static __device__ float highest(float) { return INFINITY; }
static __device__ double highest(double) { return INFINITY; }

// Integers wrap around, which unsigned arithmetic does by definition.
template <typename T> static __device__ T plus(T a, T b) { return a + b; }
template <typename T> static __device__ T times(T a, T b) { return a * b; }
template <> __device__ int plus(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
template <> __device__ int times(int a, int b) { return (int)((unsigned)a * (unsigned)b); }

// The order of minimum and maximum: -0 is below +0. A NaN is neither below nor above. The operators
// | and & evaluate both sides, so there is nothing to branch on.
static __device__ bool below(int a, int b) { return a < b; }
static __device__ bool above(int a, int b) { return a > b; }
template <typename T> static __device__ bool below(T a, T b) {
    return (a < b) | ((a == b) & (signbit(a) != 0));
}
template <typename T> static __device__ bool above(T a, T b) {
    return (a > b) | ((a == b) & (signbit(a) == 0));
}

template <typename T> struct Sum {
    typedef T In;
    typedef typename Wide<T>::Acc Acc;
    static __device__ Acc identity() { return (Acc)-0.0f; }  // +0 would lose the sign of -0
    static __device__ Acc lift(T x, unsigned long long) { return (Acc)x; }
    static __device__ Acc combine(Acc a, Acc b) { return plus(a, b); }
};

template <typename T> struct Product {
    typedef T In;
    typedef typename Wide<T>::Acc Acc;
    static __device__ Acc identity() { return 1; }
    static __device__ Acc lift(T x, unsigned long long) { return (Acc)x; }
    static __device__ Acc combine(Acc a, Acc b) { return times(a, b); }
};

template <typename T> struct Min {
    typedef T In;
    typedef typename Wide<T>::Acc Acc;
    static __device__ Acc identity() { return highest((Acc)0); }
    static __device__ Acc lift(T x, unsigned long long) { return (Acc)x; }
    static __device__ Acc combine(Acc a, Acc b) { return (a != a) | below(a, b) ? a : b; }
};

template <typename T> struct Max {
    typedef T In;
    typedef typename Wide<T>::Acc Acc;
    static __device__ Acc identity() { return lowest((Acc)0); }
    static __device__ Acc lift(T x, unsigned long long) { return (Acc)x; }
    static __device__ Acc combine(Acc a, Acc b) { return (a != a) | above(a, b) ? a : b; }
};

template <typename V> struct __align__(2 * sizeof(V)) Place {
    V value;
    unsigned index;
};

template <typename T> struct ArgMax {
    typedef T In;
    typedef Place<typename Wide<T>::Acc> Acc;
    static __device__ Acc identity() {
        return {lowest((typename Wide<T>::Acc)0), UINT_MAX};
    }
    static __device__ Acc lift(T x, unsigned long long index) {
        return {(typename Wide<T>::Acc)x, (unsigned)index};
    }
    static __device__ bool wins(const Acc &a, const Acc &b) {
        bool a_nan = a.value != a.value, b_nan = b.value != b.value;
        bool same = (a.value == b.value) | (a_nan & b_nan);
        return (a.value > b.value) | (a_nan & !b_nan) | (same & (a.index < b.index));
    }
    static __device__ Acc combine(Acc a, Acc b) { return wins(a, b) ? a : b; }
};

enum { THREADS = 512 };

// Reduces the input to *out. Any grid of THREADS threads with a mailbox for each block.
template <typename Op>
static __device__ void reduce_grid(const ReduceInput<typename Op::In> &input,
                                   typename Op::Acc *out, ReduceWorkspace *space) {
    const unsigned number = reduce_draw(space);
    typename Op::Acc mine = reduce_thread<Op, THREADS, true>(input);
    reduce_finish<Op, THREADS>(reduce_block<Op, THREADS>(mine), number, out, space);
}

enum { BLOCK = 256, WARPS = BLOCK / 32 };

// Combines `mine` over the block; every thread gets the result, to the last bit where combine(a, b)
// and combine(b, a) are the same, as they are for all but Moments. Block: BLOCK threads.
template <typename Op> static __device__ typename Op::Acc block_all(typename Op::Acc mine) {
    __shared__ typename Op::Acc of_warp[WARPS];
    for (unsigned d = 16; d > 0; d /= 2)
        mine = Op::combine(mine, __shfl_xor_sync(0xffffffffu, mine, d));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();  // every warp's result is there before any thread combines them
    mine = of_warp[threadIdx.x % WARPS];
    for (unsigned d = WARPS / 2; d > 0; d /= 2)
        mine = Op::combine(mine, __shfl_xor_sync(0xffffffffu, mine, d));
    __syncthreads();  // all have read of_warp before the next call writes it
    return mine;
}

struct Moments {
    unsigned count;
    float mean, m2;  // m2: the sum of squared distances from the mean
};

struct MeanVariance {
    typedef float In;
    typedef Moments Acc;
    static __device__ Acc identity() { return {0, 0, 0}; }
    static __device__ Acc lift(float x, unsigned long long) { return {1, x, 0}; }
    static __device__ Acc combine(Acc a, Acc b) {
        unsigned n = a.count + b.count;
        if (n == 0) return a;
        float share = (float)b.count / (float)n, delta = b.mean - a.mean;
        float weight = (float)a.count * share;  // 0 if one of them is empty
        return {n, a.mean + delta * share, a.m2 + b.m2 + delta * weight * delta};
    }
};

// The four elements of a vector have their moments taken in registers, then they are merged.
template <> struct ReduceTree<MeanVariance, 0, 4> {
    static __device__ Moments of(const ReduceVector<float> &x, unsigned long long) {
        float mean = ((x.at(0) + x.at(1)) + (x.at(2) + x.at(3))) * 0.25f;
        float a = x.at(0) - mean, b = x.at(1) - mean, c = x.at(2) - mean, d = x.at(3) - mean;
        return {4, mean, (a * a + b * b) + (c * c + d * d)};
    }
};

struct __align__(8) Squares {
    float sum, of_squares;
};

struct SumOfSquares {
    typedef float In;
    typedef Squares Acc;
    static __device__ Acc identity() { return {0, 0}; }
    static __device__ Acc lift(float x, unsigned long long) { return {x, x * x}; }
    static __device__ Acc combine(Acc a, Acc b) {
        return {a.sum + b.sum, a.of_squares + b.of_squares};
    }
};

#define REDUCTIONS(type, T)                      \
    REDUCTION(reduce_sum_##type, Sum<T>)         \
    REDUCTION(reduce_product_##type, Product<T>) \
    REDUCTION(reduce_min_##type, Min<T>)         \
    REDUCTION(reduce_max_##type, Max<T>)         \
    REDUCTION(reduce_argmax_##type, ArgMax<T>)
REDUCTIONS(int, int)
REDUCTIONS(half, __half)
REDUCTIONS(float, float)
REDUCTIONS(double, double)
REDUCTION(mean_variance, MeanVariance)
REDUCTION(mean_variance_naive, SumOfSquares)

enum { ROW = 1024 };

// This thread's four elements of row blockIdx.x; `absent` where the row has ended. Returns how
// many elements the row has.
static __device__ unsigned load_row(const float *in, unsigned n, float absent, float x[4]) {
    unsigned start = blockIdx.x * ROW, t = 4 * threadIdx.x;
    unsigned width = n - start < ROW ? n - start : ROW;
    if (t + 4 <= width) *(float4 *)x = *(const float4 *)&in[start + t];
    else
        for (unsigned k = 0; k < 4; k++) x[k] = t + k < width ? in[start + t + k] : absent;
    return width;
}

static __device__ void store_row(float *out, unsigned width, const float y[4]) {
    unsigned start = blockIdx.x * ROW, t = 4 * threadIdx.x;
    if (t + 4 <= width) *(float4 *)&out[start + t] = *(const float4 *)y;
    else
        for (unsigned k = 0; k < 4 && t + k < width; k++) out[start + t + k] = y[k];
}

// Softmax of each row. Grid: a block of BLOCK threads for each row. Reads 4n bytes, writes 4n.
__global__ void softmax_rows(const float *in, float *out, unsigned n) {
    __align__(16) float x[4];
    unsigned width = load_row(in, n, -INFINITY, x);
    typedef Max<float> Largest;
    float pairs[2] = {Largest::combine(x[0], x[1]), Largest::combine(x[2], x[3])};
    float largest = block_all<Largest>(Largest::combine(pairs[0], pairs[1]));
    for (unsigned k = 0; k < 4; k++) x[k] = expf(x[k] - largest);  // 0 where the row has ended
    float sum = block_all<Sum<float>>((x[0] + x[1]) + (x[2] + x[3]));
    for (unsigned k = 0; k < 4; k++) x[k] /= sum;
    store_row(out, width, x);
}

static const float layer_norm_epsilon = 1e-5f;

// Each row shifted to mean 0 and scaled to variance 1. Grid: a block of BLOCK threads for each row.
// Reads 4n bytes, writes 4n.
__global__ void layer_norm_rows(const float *in, float *out, unsigned n) {
    __align__(16) float x[4];
    unsigned width = load_row(in, n, 0, x);
    float mean = block_all<Sum<float>>((x[0] + x[1]) + (x[2] + x[3])) / (float)width;
    for (unsigned k = 0; k < 4; k++) x[k] = 4 * threadIdx.x + k < width ? x[k] - mean : 0;
    float m2 = block_all<Sum<float>>((x[0] * x[0] + x[1] * x[1]) + (x[2] * x[2] + x[3] * x[3]));
    float scale = 1 / sqrtf(m2 / (float)width + layer_norm_epsilon);
    for (unsigned k = 0; k < 4; k++) x[k] *= scale;
    store_row(out, width, x);
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

static ReduceWorkspace *workspace(cudaStream_t stream) {
    static void *d_workspace;
    if (!d_workspace) {
        cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES);
        reduce_clear_workspace(d_workspace, stream);
    }
    return (ReduceWorkspace *)d_workspace;
}

// As many blocks as fit, or fewer when there is not enough to read.
template <typename Op, void (*KERNEL)(ReduceInput<typename Op::In>, typename Op::Acc *,
                                      ReduceWorkspace *)>
static unsigned launch_reduction(Run r) {
    typedef typename Op::In In;
    size_t fit = 1;
    reduce_fit<Op>(&fit);
    unsigned enough = blocks_for(r.n, THREADS * 4 * 16 / sizeof(In));
    unsigned grid = enough < fit ? enough : (unsigned)fit;
    KERNEL<<<grid, THREADS, 0, r.stream>>>(reduce_split((const In *)r.d_in, r.n, THREADS),
                                           (typename Op::Acc *)r.d_partial, workspace(r.stream));
    return grid;
}

// The header's own function for an operator of its own, in the shape that it chooses.
template <typename Op> static unsigned launch_header(Run r) {
    reduce_launch<Op>((const typename Op::In *)r.d_in, (typename Op::Acc *)r.d_partial, r.n,
                      workspace(r.stream), r.stream);
    ReduceShape shape = {};
    reduce_shape<Op>(r.n, &shape);
    r.shape[0] = shape.blocks, r.shape[1] = shape.threads;
    return 1;
}

template <void (*KERNEL)(const float *, float *, unsigned)>
static unsigned launch_rows(Run r) {
    unsigned rows = (r.n + ROW - 1) / ROW;
    if (rows) KERNEL<<<rows, BLOCK, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return rows;
}

// The runtime's own copy: reads 4n bytes, writes 4n. The row kernels are compared with it.
static unsigned launch_copy(Run r) {
    cudaMemcpyAsync(r.d_partial, r.d_in, r.n * sizeof(float), cudaMemcpyDeviceToDevice, r.stream);
    return 1;
}

static double odd_ints(unsigned i) { return element(i) | 1; }
static double shifted(unsigned i) { return 10000 + element(i); }
static double thirds(unsigned i) { return (float)element(i) / 3; }

// 1 and -1, with 2 and 1/2 at the first hundred places and at powers of two.
static double factors(unsigned i) {
    int e = element(i);
    bool factor = i < 100 || (i & (i - 1)) == 0;
    return (e > 0 ? 1 : -1) * (!factor ? 1 : e % 2 ? 2 : 0.5);
}

enum Kind { SUM, PRODUCT, MIN, MAX, ARGMAX };

// An array of `all` with one `special` in it, and what must come out: a value, or for ArgMax the
// index of the special element (place 1) or 0 (place 0).
static const struct {
    Kind kind;
    double all, special, value;
    int place;
} specials[] = {
    {SUM, -0.0, -0.0, -0.0, 0},          {SUM, -0.0, 0.0, 0.0, 0},
    {SUM, 1, NAN, NAN, 0},               {SUM, 1, -INFINITY, -INFINITY, 0},
    {SUM, INFINITY, -INFINITY, NAN, 0},  {PRODUCT, 1, -0.0, -0.0, 0},
    {PRODUCT, 1, NAN, NAN, 0},           {PRODUCT, INFINITY, 0.0, NAN, 0},
    {MIN, 0.0, -0.0, -0.0, 0},           {MIN, -0.0, 0.0, -0.0, 0},
    {MIN, 1, NAN, NAN, 0},               {MIN, NAN, -INFINITY, NAN, 0},
    {MIN, INFINITY, INFINITY, INFINITY}, {MAX, -INFINITY, -INFINITY, -INFINITY},
    {MAX, -0.0, 0.0, 0.0, 0},            {MAX, 0.0, -0.0, 0.0, 0},
    {MAX, 1, NAN, NAN, 0},               {ARGMAX, 1, 2, 2, 1},
    {ARGMAX, 1, 1, 1, 0},                {ARGMAX, 1, NAN, NAN, 1},
    {ARGMAX, NAN, NAN, NAN, 0},          {ARGMAX, -0.0, 0.0, -0.0, 0},
    {ARGMAX, -INFINITY, -INFINITY, -INFINITY, 0},
};

typedef struct {
    double value;
    unsigned index;  // of the element, for ARGMAX
} Answer;

// What an operation makes of the first n elements of a stage. Every step is exact.
static Answer reference(const Stage *stage, Kind kind, unsigned n) {
    bool ints = stage->elem == INT;
    double highest = ints ? (double)INT_MAX : INFINITY, lowest = ints ? (double)INT_MIN : -INFINITY;
    double of_nothing[] = {ints ? 0.0 : -0.0, 1, highest, lowest, lowest};
    Answer sofar = {of_nothing[kind], UINT_MAX};
    for (unsigned i = 0; i < n; i++) {
        double x = stage->input ? stage->input(i) : element(i);
        if (kind == SUM) sofar.value += x;
        else if (kind == PRODUCT && ints)
            sofar.value = (int)((unsigned)(int)sofar.value * (unsigned)(int)x);
        else if (kind == PRODUCT) sofar.value *= x;
        else if (kind == MIN ? x < sofar.value : x > sofar.value) sofar = {x, i};
    }
    return sofar;
}

template <typename T> static Answer read_as(Run r) {
    struct { T value; unsigned index; } got;
    CUDA(cudaMemcpy(&got, r.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    return {(double)got.value, got.index};
}

// Equal, the signs of zeros included; for ArgMax the place counts, and zeros are equal.
static void expect_answer(const Stage *stage, Run r, Kind kind, Answer should) {
    Answer is = stage->elem == INT      ? read_as<int>(r)
                : stage->elem == DOUBLE ? read_as<double>(r)
                                        : read_as<float>(r);
    bool same_sign = signbit(is.value) == signbit(should.value);
    bool same = isnan(should.value) ? isnan(is.value) : is.value == should.value;
    if (same && kind == ARGMAX && is.index == should.index) return;
    if (same && kind != ARGMAX && (same_sign || isnan(is.value))) return;
    fprintf(stderr, "lab: %s: WRONG RESULT for %u elements: %.9g at %u, not %.9g at %u\n",
            stage->name, r.n, is.value, is.index, should.value, should.index);
    exit(1);
}

template <Kind KIND> static void check_answer(const Stage *stage, Run r, unsigned) {
    expect_answer(stage, r, KIND, reference(stage, KIND, r.n));
}

// The header's places have 64 bits.
static void check_place(const Stage *stage, Run r, unsigned) {
    Answer should = reference(stage, ARGMAX, r.n);
    ReducePlace<float> got;
    CUDA(cudaMemcpy(&got, r.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    expect(stage, r.n, "MAX", got.value, should.value, 0);
    expect(stage, r.n, "PLACE", (double)got.index, r.n ? (double)should.index : (double)~0ull, 0);
}

static const double unit = 1.0 / (1 << 24);  // a rounding of a float is off by this, relatively

static void check_moments(const Stage *stage, Run r, unsigned blocks) {
    Moments got;
    CUDA(cudaMemcpy(&got, r.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    double sum = 0, squares = 0;  // of the integers below the shift: exact
    for (unsigned i = 0; i < r.n; i++) sum += element(i), squares += element(i) * element(i);
    expect(stage, r.n, "COUNT", got.count, r.n, 0);
    if (r.n == 0) return;
    double shift = stage->input(0) - element(0), mean = sum / r.n;
    double variance = squares / r.n - mean * mean;
    // in a row: tiles, the tree of one, what is left, a block, the mailboxes, a block again
    double merges = ceil(r.n / 16.0 / (blocks * THREADS)) + 2 + 5 + 9 + blocks / 512.0 + 1 + 9;
    double error = (merges + 4) * unit * (shift + 8 + 5 * 16);
    expect(stage, r.n, "MEAN", got.mean, shift + mean, error);
    expect(stage, r.n, "VARIANCE", got.m2 / r.n, variance,
           4 * error * sqrt(variance * merges / 2) + 2 * merges * error * error +
               (merges + 10) * unit * variance);
}

// Compares a row of softmax with its double-precision reference.
static void check_softmax(const Stage *stage, const float *x, const float *y, unsigned width) {
    static double e[ROW];
    double largest = x[0], least = x[0], sum = 0;
    for (unsigned i = 1; i < width; i++) largest = fmax(largest, x[i]), least = fmin(least, x[i]);
    for (unsigned i = 0; i < width; i++) sum += e[i] = exp(x[i] - largest);
    double tolerance = unit * (2 * (largest - least) + 24);
    for (unsigned i = 0; i < width; i++)
        expect(stage, width, "SOFTMAX", y[i], e[i] / sum, tolerance * e[i] / sum);
}

// Compares a row of layer norm with its double-precision reference.
static void check_layer_norm(const Stage *stage, const float *x, const float *y, unsigned width) {
    double largest = x[0], least = x[0], mean = 0, m2 = 0;
    for (unsigned i = 0; i < width; i++) {
        largest = fmax(largest, x[i]), least = fmin(least, x[i]);
        mean += (double)x[i] / width;
    }
    for (unsigned i = 0; i < width; i++) m2 += (x[i] - mean) * (x[i] - mean);
    double deviation = sqrt(m2 / width + layer_norm_epsilon), size = fmax(largest, -least);
    double distance = unit * (17 * size + (largest - least));
    for (unsigned i = 0; i < width; i++) {
        double should = (x[i] - mean) / deviation, relative = fabs(should);
        expect(stage, width, "LAYER NORM", y[i], should,
               (1 + relative) * distance / deviation + 13 * unit * relative);
    }
}

static void check_copy(const Stage *stage, const float *x, const float *y, unsigned width) {
    if (memcmp(x, y, width * sizeof *x)) fail(1, stage->name, "WRONG COPY");
}

// Checks the output row by row.
template <void (*CHECK)(const Stage *stage, const float *x, const float *y, unsigned width)>
static void check_rows(const Stage *stage, Run r, unsigned) {
    float *h_out = (float *)malloc((r.n + 1) * sizeof(float));
    CUDA(cudaMemcpy(h_out, r.d_partial, r.n * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned start = 0; start < r.n; start += ROW) {
        unsigned width = r.n - start < (unsigned)ROW ? r.n - start : (unsigned)ROW;
        CHECK(stage, r.h_in + start, h_out + start, width);
    }
    free(h_out);
}

static unsigned whole;  // how many elements all are

static void check_specials(const Stage *stage, Run r, const char *) {
    enum { N = 1000 };
    static const unsigned places[] = {0, N / 2, N - 1};
    static void (*const checks[])(const Stage *, Run, unsigned) = {
        check_answer<SUM>, check_answer<PRODUCT>, check_answer<MIN>, check_answer<MAX>,
        check_answer<ARGMAX>};
    whole = r.n;
    if (r.n < N || stage->elem == INT) return;
    r.n = N;
    for (const auto &special : specials)
        for (unsigned place : places) {
            if (checks[special.kind] != stage->check) continue;
            for (unsigned i = 0; i < N; i++)
                put(stage->elem, (void *)r.h_in, i, i == place ? special.special : special.all);
            CUDA(cudaMemcpy((void *)r.d_in, r.h_in, N * sizeof(double), cudaMemcpyHostToDevice));
            CUDA(cudaMemsetAsync(r.d_partial, 0xFF, 65536, r.stream));
            stage->launch(r);
            CUDA(cudaGetLastError());
            CUDA(cudaStreamSynchronize(r.stream));
            expect_answer(stage, r, special.kind, {special.value, special.place ? place : 0});
        }
}

static void print_short_cut(const Stage *, Run r, unsigned) {
    static bool said;
    Squares got;
    if (said || r.n == 0 || r.n < whole) return;
    said = true;
    CUDA(cudaMemcpy(&got, r.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    float mean = got.sum / (float)r.n, variance = got.of_squares / (float)r.n - mean * mean;
    printf("the short cut makes the variance %.6g\n", variance);
}

static const unsigned sizes[] = {0,   1,    2,    3,    31,   32,     33, 255,
                                 256, 257, 1000, 1023, 1024, 1025, 100003, END};

#define OPERATOR(name, type, Op, ELEM, KIND, INPUT, note)                                     \
    {#name "_" #type, launch_reduction<Op, name##_##type>, note, THREADS, ELEM, COLD, NULL, sizes, \
     INPUT, check_answer<KIND>}
#define OPERATORS(type, T, ELEM, FACTORS)                                                        \
    OPERATOR(reduce_sum, type, Sum<T>, ELEM, SUM, NULL, "identity -0"),                          \
    OPERATOR(reduce_min, type, Min<T>, ELEM, MIN, NULL, "NaN wins and -0 < +0"),                 \
    OPERATOR(reduce_max, type, Max<T>, ELEM, MAX, NULL, "NaN wins and -0 < +0"),                 \
    OPERATOR(reduce_argmax, type, ArgMax<T>, ELEM, ARGMAX, NULL, "the first of equals"),         \
    OPERATOR(reduce_product, type, Product<T>, ELEM, PRODUCT, FACTORS, "identity 1")
#define FLOATS BLOCK, FLOAT, COLD, NULL, sizes  // fields of a row

static const Stage stages[] = {
    OPERATORS(int, int, INT, odd_ints),
    OPERATORS(half, __half, HALF, factors),
    OPERATORS(double, double, DOUBLE, factors),
    OPERATORS(float, float, FLOAT, factors),
    {"header_max_half", launch_header<ReduceMax<__half>>, "the header's", 0, HALF, COLD, NULL,
     sizes, NULL, check_answer<MAX>},
    {"header_argmax_half", launch_header<ReduceArgMax<__half>>, "the header's", 0, HALF, COLD,
     NULL, sizes, NULL, check_place},
    {"header_argmax_float", launch_header<ReduceArgMax<float>>, "the header's", 0, FLOAT, COLD,
     NULL, sizes, NULL, check_place},
    {"mean_variance", launch_reduction<MeanVariance, mean_variance>, "merging", THREADS, FLOAT,
     COLD, NULL, sizes, shifted, check_moments},
    {"mean_variance_naive", launch_reduction<SumOfSquares, mean_variance_naive>,
     "sum of squares: not to be used", THREADS, FLOAT, COLD, NULL, sizes, shifted, print_short_cut},
    {"softmax_rows", launch_rows<softmax_rows>, "rows of 1024", FLOATS, thirds,
     check_rows<check_softmax>},
    {"layer_norm_rows", launch_rows<layer_norm_rows>, "rows of 1024", FLOATS, thirds,
     check_rows<check_layer_norm>},
    {"device_copy", launch_copy, "reads and writes as the rows do", FLOATS, NULL,
     check_rows<check_copy>},
};
static const Lab lab = {stages, sizeof stages / sizeof *stages, 0, check_specials};

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
