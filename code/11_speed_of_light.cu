// Generated from chapters/11-speed-of-light.md by tangle: edit that file, not this one.
// Chapter 11: one launch, any n, any alignment, as fast as the memory, beside CUB.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 11_speed_of_light.cu -o lab && ./lab
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

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include <type_traits>

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

// The same loads and block sums, finished by the ticket of chapter 10. partial: a float per block;
// *tickets: 0 before the first launch and after each.
__global__ void __launch_bounds__(512)
    sum_ticket(ReduceInput<float> input, float *out, float *partial, unsigned *tickets) {
    __shared__ bool last;
    typedef ReduceSum<float> Sum;
    float sum = reduce_block<Sum, 512>(reduce_thread<Sum, 512, true>(input));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // the partial sum is visible before the ticket is taken
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread knows whether its block is the last one
    if (!last) return;
    __threadfence();  // no partial sum is read before the ticket was taken
    float mine = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += 512) mine += __ldcg(&partial[b]);
    sum = reduce_block<Sum, 512>(mine);
    if (threadIdx.x == 0) *out = sum;
}

// The same loads, block sums and mailboxes, but the block with the highest index waits, whether the
// others have started or not.
__global__ void __launch_bounds__(512, ReduceSm<ReduceSum<float>>::BLOCKS)
    sum_by_index(ReduceInput<float> input, float *out, ReduceWorkspace *space) {
    typedef ReduceSum<float> Sum;
    const unsigned t = threadIdx.x, last = gridDim.x - 1;
    unsigned long long *boxes = space->boxes;
    float sum = reduce_block<Sum, 512>(reduce_thread<Sum, 512, true>(input));
    if (t == 0 && blockIdx.x < last) reduce_post(boxes + blockIdx.x, sum);
    if (blockIdx.x < last) return;
    float mine = t == 0 ? sum : 0;
    for (unsigned b = t; b < last; b += 512)
        mine += reduce_collect(boxes + b, reduce_see<float>(boxes + b));
    __syncthreads();  // thread 0 has read the warps' sums before they are overwritten
    sum = reduce_block<Sum, 512>(mine);
    if (t == 0) *out = sum;
}

#if __CUDA_ARCH__ >= 900
// Barriers in shared memory (mbarriers), which also count bytes. A phase ends when the announced
// arrivals and the announced bytes are complete; a waiting thread names the phase's parity.
static __device__ unsigned in_shared(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void mbarrier_init(unsigned long long *barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(in_shared(barrier)), "r"(arrivals)
                 : "memory");
}

static __device__ void mbarrier_arrive(unsigned long long *barrier) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(in_shared(barrier)) : "memory");
}

// Arrives, and announces bytes that the phase waits for, too.
static __device__ void mbarrier_expect(unsigned long long *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(in_shared(barrier)),
                 "r"(bytes)
                 : "memory");
}

// Lets TMA copy bytes, a multiple of 16, and count them at `arrived`. Marks the lines in L2 as the
// first to evict.
static __device__ void bulk_copy(float4 *to, const float4 *from, unsigned bytes,
                                 unsigned long long *arrived) {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(in_shared(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(in_shared(arrived)),
                 "l"(policy)
                 : "memory");
}

// Stores a float in the cluster's first block, and counts its 4 bytes at that block's `arrived`.
static __device__ void cluster_store(float *to, float value, unsigned long long *arrived) {
    unsigned there, barrier;
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(in_shared(to)));
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(barrier) : "r"(in_shared(arrived)));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32"
                 " [%0], %1, [%2];" ::"r"(there), "f"(value), "r"(barrier)
                 : "memory");
}

// CLUSTER: what arrives comes from other blocks of the cluster.
template <bool CLUSTER>
static __device__ void mbarrier_wait(unsigned long long *barrier, unsigned parity) {
    unsigned done;
    do
        if (CLUSTER)
            asm volatile("{ .reg .pred p;"
                         " mbarrier.try_wait.parity.acquire.cluster.shared.b64 p, [%1], %2;"
                         " selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(in_shared(barrier)), "r"(parity) : "memory");
        else
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
                         " selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(in_shared(barrier)), "r"(parity) : "memory");
    while (!done);
}
#endif

// The sum of n floats by bulk copies. The block's last warp is the producer, which requests tiles;
// the others are consumers, which add up VECTORS of 16 bytes of each tile per lane. Input at a
// multiple of 16 bytes; dynamic shared memory: STAGES tiles.
template <int THREADS, int VECTORS, int STAGES>
__global__ void __launch_bounds__(THREADS)
    sum_bulk(const float *in, size_t n, unsigned tiles, float *out, ReduceWorkspace *space) {
#if __CUDA_ARCH__ >= 900
    enum { CONSUMERS = THREADS - 32, TILE = CONSUMERS * VECTORS };  // threads; vectors
    extern __shared__ __align__(128) float4 ring[];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    typedef ReduceSum<float> Sum;
    const float4 *body = (const float4 *)in;
    const size_t vectors = n / 4;
    const unsigned t = threadIdx.x;
    auto count_of = [&](unsigned tile) {
        const size_t left = vectors - (size_t)tile * TILE;
        return left < TILE ? (unsigned)left : (unsigned)TILE;
    };
    auto request = [&](unsigned tile, unsigned stage) {
        const unsigned bytes = count_of(tile) * 16;
        mbarrier_expect(&full[stage], bytes);
        bulk_copy(ring + stage * TILE, body + (size_t)tile * TILE, bytes, &full[stage]);
    };
    if (t == CONSUMERS) {
        for (int k = 0; k < STAGES; k++)
            mbarrier_init(&full[k], 1), mbarrier_init(&empty[k], CONSUMERS / 32);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");  // before the copies
        unsigned tile = blockIdx.x;
        for (int k = 0; k < STAGES && tile < tiles; k++, tile += gridDim.x) request(tile, k);
    }
    const unsigned number = reduce_draw(space);
    float mine = blockIdx.x == 0 && t < n % 4 ? in[4 * vectors + t] : 0;
    __syncthreads();  // the mbarriers are there before any thread waits at one
    unsigned stage = 0, parity = 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (t < CONSUMERS) {
            const float4 *buffer = ring + stage * TILE;
            const unsigned count = count_of(tile);
            mbarrier_wait<false>(&full[stage], parity);
            float4 v[VECTORS];
            #pragma unroll
            for (unsigned k = 0, i = t; k < VECTORS; k++, i += CONSUMERS)
                v[k] = i < count ? buffer[i] : float4();
            #pragma unroll
            for (int k = 0; k < VECTORS; k++) mine += (v[k].x + v[k].y) + (v[k].z + v[k].w);
            __syncwarp();  // all lanes have read before the warp arrives
            if (t % 32 == 0) mbarrier_arrive(&empty[stage]);
        } else if (t == CONSUMERS) {
            const unsigned next = tile + STAGES * gridDim.x;
            if (next < tiles) {
                mbarrier_wait<false>(&empty[stage], parity);
                request(next, stage);
            }
        }
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    const float sum = reduce_block<Sum, THREADS>(mine);
    reduce_finish<Sum, THREADS>(sum, number, out, space);
#endif
}

// The blocks of a cluster send their sums to its first block. If there are several clusters, their
// first blocks post to mailboxes, and the one that was the last to start finishes.
enum { CLUSTER_MOST = 16, CLUSTER_SIZE = 8 };

template <int THREADS, bool STREAM>
__global__ void __launch_bounds__(THREADS)
    sum_cluster(ReduceInput<float> input, float *out, ReduceWorkspace *space) {
#if __CUDA_ARCH__ >= 900
    __shared__ __align__(16) float sums[CLUSTER_MOST];
    __shared__ unsigned long long arrived;
    __shared__ unsigned drawn;
    typedef ReduceSum<float> Sum;
    const unsigned t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&arrived, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    unsigned rank, blocks, number = 0;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    const bool many = gridDim.x > blocks;
    if (rank == 0 && t == 0 && many) number = atomicInc(&space->started, gridDim.x / blocks - 1);
    float sum = reduce_block<Sum, THREADS>(reduce_thread<Sum, THREADS, STREAM>(input));
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");  // block 0 has started
    if (rank > 0) {
        if (t == 0) cluster_store(&sums[rank], sum, &arrived);
        return;
    }
    if (t == 0) {
        mbarrier_expect(&arrived, (blocks - 1) * sizeof sum);
        mbarrier_wait<true>(&arrived, 0);  // the other blocks' sums have arrived
    }
    if (t == 0) {
        float part[CLUSTER_MOST];
#pragma unroll
        for (unsigned k = 1; k < CLUSTER_MOST; k++) part[k] = k < blocks ? sums[k] : 0;
        part[0] = sum;
#pragma unroll
        for (int half = CLUSTER_MOST / 2; half > 0; half /= 2)
#pragma unroll
            for (int k = 0; k < CLUSTER_MOST / 2; k++)
                if (k < half) part[k] += part[k + half];
        sum = part[0];
    }
    if (many) {
        const unsigned clusters = gridDim.x / blocks;
        if (t == 0) reduce_post(space->boxes + blockIdx.x / blocks, sum), drawn = number;
        __syncthreads();  // all threads know the number that the cluster has drawn
        if (drawn < clusters - 1) return;
        sum = 0;
        for (unsigned c = t; c < clusters; c += THREADS)
            sum += reduce_collect(space->boxes + c, reduce_see<float>(space->boxes + c));
        sum = reduce_block<Sum, THREADS>(sum);
    }
    if (t == 0) *out = sum;
#endif
}

// The kernel of this chapter, which may start before the kernel before it has ended. It lets its
// successor do the same at once, and accesses memory only after its predecessor is done.
template <int THREADS, bool STREAM>
__global__ void __launch_bounds__(THREADS)
    sum_overlapped(ReduceInput<float> input, float *out, ReduceWorkspace *space) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    typedef ReduceSum<float> Sum;
    const unsigned number = reduce_draw(space);
    const float sum = reduce_block<Sum, THREADS>(reduce_thread<Sum, THREADS, STREAM>(input));
    reduce_finish<Sum, THREADS>(sum, number, out, space);
#endif
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

#include <cub/device/device_reduce.cuh>

static void *workspace(cudaStream_t stream) {
    static void *d_workspace;
    if (!d_workspace) {
        cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES);
        reduce_clear_workspace(d_workspace, stream);
    }
    return d_workspace;
}

// One result, by so many blocks of so many threads.
static unsigned took(Run r, unsigned blocks, unsigned threads) {
    r.shape[0] = blocks, r.shape[1] = threads;
    return 1;
}

// The floats of the input, or other elements in the same bytes: PER_FLOAT in each.
template <class Op, unsigned PER_FLOAT = 1> static unsigned launch_reduce(Run r) {
    const size_t n = (size_t)r.n * PER_FLOAT;
    reduce_launch<Op>((const typename Op::In *)r.d_in, (typename Op::Acc *)r.d_partial, n,
                      workspace(r.stream), r.stream);
    ReduceShape shape = {};
    reduce_shape<Op>(n, &shape);
    return took(r, shape.blocks, shape.threads);
}

// The sum of all but the first element, so that the input is off its 16-byte boundary.
static unsigned launch_misaligned(Run r) {
    if (r.n > 0) r.d_in++, r.n--;
    return launch_reduce<ReduceSum<float>>(r);
}

static unsigned launch_ticket(Run r) {
    static float *d_partial;
    const unsigned enough = blocks_for(r.n, 8192), most = 4 * r.sms;
    const unsigned grid = enough < most ? enough : most;
    if (!d_partial) {
        cudaMalloc(&d_partial, (most + 1) * sizeof(float));
        cudaMemsetAsync(d_partial, 0, (most + 1) * sizeof(float), r.stream);
    }
    sum_ticket<<<grid, 512, 0, r.stream>>>(reduce_split(r.d_in, r.n, 512), r.d_partial, d_partial,
                                           (unsigned *)d_partial + most);
    return took(r, grid, 512);
}

// The chapter's kernel in the ticket's shape: at most as many blocks as fit, of 512 threads.
// STREAM: its loads mark their lines as the first to evict.
template <bool STREAM> static unsigned launch_wide(Run r) {
    const unsigned enough = blocks_for(r.n, 8192), most = 4 * r.sms;
    const unsigned grid = enough < most ? enough : most;
    reduce_kernel<ReduceSum<float>, 512, STREAM><<<grid, 512, 0, r.stream>>>(
        reduce_split(r.d_in, r.n, 512), r.d_partial, (ReduceWorkspace *)workspace(r.stream));
    return took(r, grid, 512);
}

static unsigned launch_by_index(Run r) {
    const unsigned enough = blocks_for(r.n, 8192), most = 4 * r.sms;
    const unsigned grid = enough < most ? enough : most;
    sum_by_index<<<grid, 512, 0, r.stream>>>(reduce_split(r.d_in, r.n, 512), r.d_partial,
                                             (ReduceWorkspace *)workspace(r.stream));
    return took(r, grid, 512);
}

// Whether the device has clusters (compute capability 9.0 and later), and the code is for such a
// device. If not, launchers start the chapter's own kernel instead.
static bool has_clusters(void) {
    int yes = 0;
    cudaFuncAttributes code;
    return cudaDeviceGetAttribute(&yes, cudaDevAttrClusterLaunch, 0) == cudaSuccess && yes &&
           cudaFuncGetAttributes(&code, sum_cluster<256, false>) == cudaSuccess &&
           code.ptxVersion >= 90;
}

static void launch_with(const void *kernel, unsigned grid, unsigned block,
                        cudaLaunchAttribute attribute, void **arguments, cudaStream_t stream) {
    cudaLaunchConfig_t config = {dim3(grid), dim3(block), 0, stream, &attribute, 1};
    cudaLaunchKernelExC(&config, kernel, arguments);
}

// ALONE: one cluster of at most CLUSTER_MOST blocks. Otherwise the chapter's shape in clusters of
// CLUSTER_SIZE.
template <bool ALONE> static unsigned launch_cluster(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>>(r);
    ReduceShape shape = {};
    reduce_shape<ReduceSum<float>>(r.n, &shape);
    const unsigned most = ALONE ? CLUSTER_MOST : CLUSTER_SIZE, threads = shape.threads;
    unsigned size = 1;
    while (size < most && size < shape.blocks) size *= 2;
    const unsigned grid = ALONE ? size : (shape.blocks + size - 1) / size * size;
    ReduceInput<float> input = reduce_split(r.d_in, r.n, threads);
    void *d_workspace = workspace(r.stream), *arguments[] = {&input, &r.d_partial, &d_workspace};
    const void *kernel = threads == 256 ? (const void *)sum_cluster<256, false>
                                        : (const void *)sum_cluster<512, true>;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {size, 1, 1};
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    launch_with(kernel, grid, threads, attribute, arguments, r.stream);
    return took(r, grid, threads);
}

template <int THREADS, int VECTORS, int STAGES> static unsigned launch_ring(Run r, unsigned most) {
    const unsigned tile = VECTORS * (THREADS - 32), tiles = (r.n / 4 + tile - 1) / tile;
    const unsigned grid = tiles < 1 ? 1 : tiles < most ? tiles : most;
    const int shared_bytes = STAGES * tile * 16;
    auto kernel = sum_bulk<THREADS, VECTORS, STAGES>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    kernel<<<grid, THREADS, shared_bytes, r.stream>>>(r.d_in, r.n, tiles, r.d_partial,
                                                      (ReduceWorkspace *)workspace(r.stream));
    return took(r, grid, THREADS);
}

// One copy per block as long as all blocks start at once; then as many blocks with rings as fit.
// Tuned on an H200.
static unsigned launch_bulk(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>>(r);
    if (r.n <= 4096) return launch_ring<256, 5, 1>(r, 1);
    if (r.n <= 8192) return launch_ring<256, 10, 1>(r, 1);
    if (r.n <= 4096 * r.sms) return launch_ring<128, 6, 1>(r, ~0u);
    if (r.n <= 16384 * r.sms) return launch_ring<256, 5, 1>(r, ~0u);
    return launch_ring<256, 8, 3>(r, 2 * r.sms);
}

static unsigned launch_overlapped(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>>(r);
    ReduceShape shape = {};
    reduce_shape<ReduceSum<float>>(r.n, &shape);
    ReduceInput<float> input = reduce_split(r.d_in, r.n, shape.threads);
    void *d_workspace = workspace(r.stream), *arguments[] = {&input, &r.d_partial, &d_workspace};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    const void *kernel = shape.threads == 256 ? (const void *)sum_overlapped<256, false>
                                              : (const void *)sum_overlapped<512, true>;
    launch_with(kernel, shape.blocks, shape.threads, attribute, arguments, r.stream);
    return took(r, shape.blocks, shape.threads);
}

template <class T> struct CubSum {
    static cudaError_t call(void *d_scratch, size_t &bytes, const T *in, T *out, unsigned n,
                            cudaStream_t stream) {
        return cub::DeviceReduce::Sum(d_scratch, bytes, in, out, n, stream);
    }
};
template <class T> struct CubMin {
    static cudaError_t call(void *d_scratch, size_t &bytes, const T *in, T *out, unsigned n,
                            cudaStream_t stream) {
        return cub::DeviceReduce::Min(d_scratch, bytes, in, out, n, stream);
    }
};
template <class T> struct CubMax {
    static cudaError_t call(void *d_scratch, size_t &bytes, const T *in, T *out, unsigned n,
                            cudaStream_t stream) {
        return cub::DeviceReduce::Max(d_scratch, bytes, in, out, n, stream);
    }
};

// CUB with scratch space that is allocated in advance. It does not report its launch shape.
template <class Cub, class T> static unsigned launch_cub(Run r) {
    static void *d_scratch;
    static size_t scratch_bytes;
    if (!d_scratch) {
        Cub::call(NULL, scratch_bytes, (const T *)r.d_in, (T *)r.d_partial, 1u << 30, r.stream);
        cudaMalloc(&d_scratch, scratch_bytes);
    }
    Cub::call(d_scratch, scratch_bytes, (const T *)r.d_in, (T *)r.d_partial, r.n, r.stream);
    return 1;
}

// Element i: an integer, one of 16 million, from the same hash as element().
static double large_element(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return (int)((i ^ i >> 16) >> 8) - (1 << 23);
}

// Sizes to check: a grid of 512 threads with 16 and with 32 KB a block, once the SMs are known.
enum { FULL_GRID = 17 };
static unsigned edges[] = {0,    1,    2,    3,    4,    5,     7,      31, 33, 1000, 4095,
                           4096, 4097, 8191, 8193, 16385, 100003, 0, 0,  0,  END};
static const unsigned none[] = {END};

static void find_edges(const Stage *, Run r, const char *) {
    unsigned wave = 4 * r.sms * 4096;
    edges[FULL_GRID] = wave, edges[FULL_GRID + 1] = wave + 1, edges[FULL_GRID + 2] = 2 * wave + 5;
}

static float first_result(Run r) {
    float result;
    CUDA(cudaMemcpy(&result, r.d_partial, sizeof result, cudaMemcpyDeviceToHost));
    return result;
}

static void check_misaligned(const Stage *stage, Run r, unsigned) {
    double sum = 0;
    for (unsigned i = 1; i < r.n; i++) sum += element(i);
    expect(stage, r.n, "SUM", first_result(r), sum, 0);
}

// The library's minimum of no elements is not checked.
static void check_min(const Stage *stage, Run r, unsigned) {
    float least = INFINITY;
    for (unsigned i = 0; i < r.n; i++) least = r.h_in[i] < least ? r.h_in[i] : least;
    if (r.n > 0 || stage->sizes != none) expect(stage, r.n, "MIN", first_result(r), least, 0);
}

static void check_max(const Stage *stage, Run r, unsigned) {
    float most = -INFINITY;
    for (unsigned i = 0; i < r.n; i++) most = r.h_in[i] > most ? r.h_in[i] : most;
    if (r.n > 0 || stage->sizes != none) expect(stage, r.n, "MAX", first_result(r), most, 0);
}

// An int from 0 to 100: its first byte is itself, the other three are 0.
static double small_element(unsigned i) { return fmod(large_element(i) + (1 << 23), 101); }

static void check_bytes(const Stage *stage, Run r, unsigned) {
    long long sum = 0, got;
    for (unsigned i = 0; i < r.n; i++) sum += (int)stage->input(i);
    CUDA(cudaMemcpy(&got, r.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    expect(stage, r.n, "SUM", (double)got, (double)sum, 0);
}

static void check_argmax(const Stage *stage, Run r, unsigned) {
    ReducePlace<float> got, should = {-INFINITY, ~0ull};
    for (unsigned i = 0; i < r.n; i++)
        if (r.h_in[i] > should.value) should = {r.h_in[i], i};
    CUDA(cudaMemcpy(&got, r.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    expect(stage, r.n, "MAX", got.value, should.value, 0);
    if (got.index != should.index) fail(1, stage->name, "WRONG PLACE");
}

#define OURS(Op, T) launch_reduce<Reduce##Op<T>>
#define CUB(Op, T) launch_cub<Cub##Op<T>, T>
#define LIKE(elem, mode, sizes) 0, elem, mode, NULL, sizes  // fields of a row

static const Stage stages[] = {
    {"cub_device_reduce", CUB(Sum, float), "the library", LIKE(FLOAT, COLD, none)},
    {"reduce_sum", OURS(Sum, float), "one launch, mailboxes", LIKE(FLOAT, COLD, edges)},
    {"reduce_sum_misaligned", launch_misaligned, "starts 4 bytes later",
     LIKE(FLOAT, COLD, edges), NULL, check_misaligned},
    {"cub_sum_hot", CUB(Sum, float), "one input", LIKE(FLOAT, HOT, none)},
    {"reduce_sum_hot", OURS(Sum, float), "one input", LIKE(FLOAT, HOT, edges)},
    {"cub_sum_calls", CUB(Sum, float), "no graph", LIKE(FLOAT, CALLS, none)},
    {"reduce_sum_calls", OURS(Sum, float), "no graph", LIKE(FLOAT, CALLS, edges)},
    {"cub_sum_int", CUB(Sum, int), "ints", LIKE(INT, COLD, none)},
    {"reduce_sum_int", OURS(Sum, int), "ints", LIKE(INT, COLD, edges)},
    {"cub_sum_double", CUB(Sum, double), "half as many", LIKE(DOUBLE, COLD, none), NULL, NULL,
     true},
    {"reduce_sum_double", OURS(Sum, double), "half as many", LIKE(DOUBLE, COLD, edges), NULL, NULL,
     true},
    {"cub_min", CUB(Min, float), "", LIKE(FLOAT, COLD, none), large_element, check_min},
    {"reduce_min", OURS(Min, float), "", LIKE(FLOAT, COLD, edges), large_element,
     check_min},
    {"cub_max", CUB(Max, float), "", LIKE(FLOAT, COLD, none), large_element, check_max},
    {"reduce_max", OURS(Max, float), "", LIKE(FLOAT, COLD, edges), large_element,
     check_max},
    {"reduce_sum_bfloat16", launch_reduce<ReduceSum<__nv_bfloat16>, 2>, "two in a float",
     LIKE(FLOAT, COLD, edges)},
    {"reduce_sum_half", OURS(Sum, __half), "half the bytes", LIKE(HALF, COLD, edges)},
    {"reduce_sum_int8", launch_reduce<ReduceSum<signed char>, 4>, "four in an int",
     LIKE(INT, COLD, edges), small_element, check_bytes},
    {"reduce_argmax", OURS(ArgMax, float), "value and place", LIKE(FLOAT, COLD, edges),
     large_element, check_argmax},
    {"sum_ticket", launch_ticket, "with a ticket", LIKE(FLOAT, COLD, edges)},
    {"sum_mailbox", launch_wide<true>, "in the ticket's shape", LIKE(FLOAT, COLD, edges)},
    {"sum_by_index", launch_by_index, "no numbers drawn", LIKE(FLOAT, COLD, edges)},
    {"sum_plain_loads", launch_wide<false>, "unmarked", LIKE(FLOAT, COLD, edges)},
    {"sum_cluster", launch_cluster<true>, "one cluster", LIKE(FLOAT, COLD, edges)},
    {"sum_cluster_mailbox", launch_cluster<false>, "clusters", LIKE(FLOAT, COLD, edges)},
    {"sum_bulk", launch_bulk, "bulk copies", LIKE(FLOAT, COLD, edges)},
    {"sum_overlapped", launch_overlapped, "starts early", LIKE(FLOAT, COLD, edges)},
};
static const Lab lab = {stages, sizeof stages / sizeof *stages, 0.1, find_edges};

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
