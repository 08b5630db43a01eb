// reduce.cuh: sum, minimum or maximum of an array on a CUDA device, in one kernel launch.
// For C++11 and later, compiled by nvcc; needs no other file. From chapter 11 of the workbook.
//
//     void *d_workspace;
//     cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES);
//     cudaMemsetAsync(d_workspace, 0, REDUCE_WORKSPACE_BYTES, stream);
//     cudaError_t error = reduce_sum_float(d_in, n, d_out, d_workspace, stream);
//
// d_in         n elements on the device, at any address that is a multiple of their size
// n            any number, 0 included: then the result is 0, or for min and max the value that
//              every other one replaces (+inf, INT_MAX; -inf, INT_MIN)
// d_out        room for one element on the device; written, never read
// d_workspace  REDUCE_WORKSPACE_BYTES, aligned to 16, all zero before the first call; each call
//              leaves it zero. One for each stream: two calls that run at the same time must not
//              share it. Zero it on that stream, as above: cudaMemset does it in the default one,
//              for which a non-blocking stream does not wait. If a kernel was cut short by an
//              error, zero it again.
// stream       the call returns at once; d_out is valid when the stream has come this far. Calls
//              can be captured into a graph, and nothing is allocated.
// Returns      cudaErrorInvalidValue for a null or misaligned pointer, else what the launch says.
//
// The order of operations depends on n, on the alignment of d_in and on the number of SMs, on
// nothing else: the same call on the same data and device gives the same bits. Sums of ints wrap
// around. Minimum and maximum skip NaN, unless there is nothing else.
#ifndef REDUCE_CUH
#define REDUCE_CUH

#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

template <class T> struct ReduceInput;
template <class T> struct ReduceSm;
template <class Op, class T, int THREADS, bool STREAM>
__device__ T reduce_thread(const ReduceInput<T> &input);
template <class Op, class T, int THREADS> __device__ T reduce_block(T mine);
template <class Op, class T, int THREADS>
__device__ void reduce_finish(T block, T *out, unsigned long long *boxes);
// Reduces the input to *out, in any grid. Reads every element once.
template <class Op, class T, int THREADS, bool STREAM>
__global__ void __launch_bounds__(THREADS, ReduceSm<T>::BLOCKS)
    reduce_kernel(ReduceInput<T> input, T *out, unsigned long long *boxes) {
    T mine = reduce_thread<Op, T, THREADS, STREAM>(input);
    reduce_finish<Op, T, THREADS>(reduce_block<Op, T, THREADS>(mine), out, boxes);
}

#define REDUCE_BLOCKS 2048u                            // the most blocks of a launch
#define REDUCE_WORKSPACE_BYTES (REDUCE_BLOCKS * 16u)  // two mailboxes of 8 bytes for each

// Threads that an SM holds: CUDA C++ programming guide, technical specifications.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define REDUCE_SM_THREADS 1024
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
#define REDUCE_SM_THREADS 1536
#else
#define REDUCE_SM_THREADS 2048
#endif

// Blocks of 512 threads that share an SM. Four need all its registers at 32 a thread, which is too
// few for the addresses and four vectors of doubles.
template <class T> struct ReduceSm {
    enum { WANTED = sizeof(T) == 8 ? 3 : 4, FIT = REDUCE_SM_THREADS / 512 };
    enum { BLOCKS = int(WANTED) < int(FIT) ? int(WANTED) : int(FIT) };
};

// An operator has an identity and combines two values. Sums of ints wrap around. Minimum and
// maximum skip NaN; of no elements, or of NaN alone, they are their identity.
template <class T> struct ReduceLimits;
template <> struct ReduceLimits<float> {
    static __device__ float least() { return -INFINITY; }
    static __device__ float most() { return INFINITY; }
};
template <> struct ReduceLimits<double> {
    static __device__ double least() { return -INFINITY; }
    static __device__ double most() { return INFINITY; }
};
template <> struct ReduceLimits<int> {
    static __device__ int least() { return INT_MIN; }
    static __device__ int most() { return INT_MAX; }
};
template <class T> struct ReduceSum {
    static __device__ T identity() { return 0; }
    static __device__ T combine(T a, T b) { return a + b; }
};
template <class T> struct ReduceMin {
    static __device__ T identity() { return ReduceLimits<T>::most(); }
    static __device__ T combine(T a, T b) { return min(a, b); }
};
template <class T> struct ReduceMax {
    static __device__ T identity() { return ReduceLimits<T>::least(); }
    static __device__ T combine(T a, T b) { return max(a, b); }
};

// As many elements as fit into 16 bytes, the widest load there is.
template <class T> struct ReduceVector {
    enum { COUNT = 16 / sizeof(T) };
    T at[COUNT];
};

// Loads a vector; STREAM: marks the cache line as the first to evict, since nobody reads it again.
template <bool STREAM, class T>
__device__ ReduceVector<T> reduce_load(const ReduceVector<T> *from) {
    const uint4 *words = reinterpret_cast<const uint4 *>(from);
    uint4 loaded = STREAM ? __ldcs(words) : *words;
    ReduceVector<T> v;
    memcpy(&v, &loaded, sizeof v);
    return v;
}

// Combines the elements of a vector: two doubles, or four of the others as two pairs.
template <class Op> __device__ double reduce_vector(const ReduceVector<double> &v) {
    return Op::combine(v.at[0], v.at[1]);
}
template <class Op, class T> __device__ T reduce_vector(const ReduceVector<T> &v) {
    return Op::combine(Op::combine(v.at[0], v.at[1]), Op::combine(v.at[2], v.at[3]));
}

// The input in two parts: `vectors` of 16 bytes from a 128-byte boundary on, and the `edges`, which
// are `head` elements in front of them and fewer than a vector behind.
template <class T> struct ReduceInput {
    const T *in;
    const ReduceVector<T> *body;
    size_t vectors;
    unsigned head, edges;
};

template <class T> ReduceInput<T> reduce_split(const T *d_in, size_t n) {
    size_t head = (128 - (size_t)d_in % 128) % 128 / sizeof(T);
    if (head > n) head = n;
    size_t vectors = (n - head) / ReduceVector<T>::COUNT;
    ReduceInput<T> input = {d_in, (const ReduceVector<T> *)(d_in + head), vectors, (unsigned)head,
                            (unsigned)(n - vectors * ReduceVector<T>::COUNT)};
    return input;
}

// This thread's part of the input, four loads on their way at once. The block takes full tiles of
// 4 * THREADS vectors, every gridDim.x-th one. Whose turn it is after the last full tile takes
// what is left: less than a tile, and the edges, one to a thread.
template <class Op, class T, int THREADS, bool STREAM>
__device__ T reduce_thread(const ReduceInput<T> &input) {
    const size_t tile = 4 * THREADS;
    const unsigned t = threadIdx.x;
    size_t first = blockIdx.x * tile;
    T mine = Op::identity();
    for (; first + tile <= input.vectors; first += gridDim.x * tile) {
        ReduceVector<T> v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = reduce_load<STREAM>(input.body + first + t + k * THREADS);
        T low = Op::combine(reduce_vector<Op>(v[0]), reduce_vector<Op>(v[1]));
        T high = Op::combine(reduce_vector<Op>(v[2]), reduce_vector<Op>(v[3]));
        mine = Op::combine(mine, Op::combine(low, high));
    }
    if (first < input.vectors || (first == input.vectors && input.edges > 0)) {
        ReduceVector<T> v[4];
        T edge = Op::identity();
        const unsigned left = (unsigned)(input.vectors - first);
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (t + k * THREADS < left)
                v[k] = reduce_load<STREAM>(input.body + first + t + k * THREADS);
        if (t < input.edges)
            edge = input.in[t < input.head ? t : t + input.vectors * ReduceVector<T>::COUNT];
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (t + k * THREADS < left) mine = Op::combine(mine, reduce_vector<Op>(v[k]));
        mine = Op::combine(mine, edge);
    }
    return mine;
}

// Combines `mine` over a warp, valid in lane 0. Ints need one instruction, where there is one.
template <class Op, class T> __device__ T reduce_warp(Op, T mine) {
    for (int d = 16; d > 0; d /= 2)
        mine = Op::combine(mine, __shfl_down_sync(0xffffffffu, mine, d));
    return mine;
}
#if __CUDA_ARCH__ >= 800
__device__ inline int reduce_warp(ReduceSum<int>, int mine) {
    return __reduce_add_sync(0xffffffffu, mine);
}
__device__ inline int reduce_warp(ReduceMin<int>, int mine) {
    return __reduce_min_sync(0xffffffffu, mine);
}
__device__ inline int reduce_warp(ReduceMax<int>, int mine) {
    return __reduce_max_sync(0xffffffffu, mine);
}
#endif

// Combines `mine` over the block, valid in thread 0: each warp its lanes, then one thread the
// warps' values, which is quicker than a second round of shuffles.
template <class Op, class T, int THREADS> __device__ T reduce_block(T mine) {
    __shared__ __align__(16) T warps[THREADS / 32];
    mine = reduce_warp(Op(), mine);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
    __syncthreads();  // every warp's value is there before thread 0 reads them
    if (threadIdx.x > 0) return mine;
    T values[THREADS / 64];
#pragma unroll
    for (int w = 0; w < THREADS / 64; w++)
        values[w] = Op::combine(warps[w], warps[w + THREADS / 64]);
#pragma unroll
    for (int half = THREADS / 128; half > 0; half /= 2)
#pragma unroll
        for (int w = 0; w < THREADS / 128; w++)
            if (w < half) values[w] = Op::combine(values[w], values[w + half]);
    return values[0];
}

// A mailbox is a 64-bit word: a flag above 32 bits of a value. It is written as one piece and read
// as one piece, so whoever sees the flag sees the value, and no fence is needed. (PTX ISA, memory
// consistency model: a scalar access is one operation, and a volatile one is a relaxed one.) A
// value of 8 bytes takes two. In device memory, empty (0) between launches.
template <class T>
__device__ void reduce_post(volatile unsigned long long *box, T value) {
    unsigned bits[sizeof(T) / 4];
    memcpy(bits, &value, sizeof value);
#pragma unroll
    for (unsigned k = 0; k < sizeof(T) / 4; k++) box[k] = 1ull << 32 | bits[k];
}

// Waits for the value, and leaves the mailbox empty.
template <class T> __device__ T reduce_collect(volatile unsigned long long *box) {
    unsigned bits[sizeof(T) / 4];
    bool full;
    do {
        full = true;
#pragma unroll
        for (unsigned k = 0; k < sizeof(T) / 4; k++) {
            unsigned long long word = box[k];
            full = full && word >> 32;
            bits[k] = (unsigned)word;
        }
    } while (!full);
#pragma unroll
    for (unsigned k = 0; k < sizeof(T) / 4; k++) box[k] = 0;
    T value;
    memcpy(&value, bits, sizeof value);
    return value;
}

// Every block but the last posts its value and is done. The last one takes all values, in a fixed
// order, and writes the result. Only one block ever waits, and for blocks that wait for nobody.
template <class Op, class T, int THREADS>
__device__ void reduce_finish(T block, T *out, unsigned long long *boxes) {
    const unsigned others = gridDim.x - 1, words = sizeof(T) / 4, t = threadIdx.x;
    if (blockIdx.x < others) {
        if (t == 0) reduce_post(boxes + blockIdx.x * words, block);
        return;
    }
    if (others > 0) {
        T mine = t == 0 ? block : Op::identity();
        for (unsigned b = t; b < others; b += THREADS)
            mine = Op::combine(mine, reduce_collect<T>(boxes + b * words));
        __syncthreads();  // thread 0 has read the warps' values before they are overwritten
        block = reduce_block<Op, T, THREADS>(mine);
    }
    if (t == 0) *out = block;
}

typedef struct {
    unsigned blocks, threads;
} ReduceShape;

// The launch shape for n elements on the current device. One block as long as four loads per
// thread suffice, which is 16 KB for 256 threads and 32 KB for 512. Then blocks of 256 with 16 KB
// each; and once those would outnumber the blocks of 512 that fit on the device at a time, as
// many of these as fit, which share the work.
template <class T> cudaError_t reduce_shape(size_t n, ReduceShape *shape) {
    int device = 0, sms = 0, threads = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    if (error != cudaSuccess) return error;
    size_t per_sm = threads / 512 < ReduceSm<T>::WANTED ? threads / 512 : ReduceSm<T>::WANTED;
    size_t fit = sms * per_sm < REDUCE_BLOCKS ? sms * per_sm : REDUCE_BLOCKS;
    size_t bytes = n * sizeof(T), narrow = (bytes + 16383) / 16384, wide = (bytes + 32767) / 32768;
    bool wider = narrow > fit || (narrow == 2 && wide == 1);
    size_t blocks = !wider ? narrow : wide < fit ? wide : fit;
    shape->blocks = blocks > 0 ? (unsigned)blocks : 1;
    shape->threads = wider ? 512 : 256;
    return cudaSuccess;
}

template <class Op, class T>
cudaError_t reduce_launch(const T *d_in, size_t n, T *d_out, void *d_workspace,
                          cudaStream_t stream) {
    if ((n > 0 && !d_in) || (size_t)d_in % sizeof(T) || !d_out || (size_t)d_out % sizeof(T) ||
        !d_workspace || (size_t)d_workspace % 16)
        return cudaErrorInvalidValue;
    ReduceShape shape;
    cudaError_t error = reduce_shape<T>(n, &shape);
    if (error != cudaSuccess) return error;
    const void *kernel = shape.threads == 256 ? (const void *)reduce_kernel<Op, T, 256, false>
                                              : (const void *)reduce_kernel<Op, T, 512, true>;
    ReduceInput<T> input = reduce_split(d_in, n);
    void *arguments[] = {&input, &d_out, &d_workspace};
    return cudaLaunchKernel(kernel, dim3(shape.blocks), dim3(shape.threads), arguments, 0, stream);
}

#define REDUCE_DEFINE(name, Op, T)                                                           \
    inline cudaError_t name(const T *d_in, size_t n, T *d_out, void *d_workspace,            \
                            cudaStream_t stream) {                                           \
        return reduce_launch<Op<T>, T>(d_in, n, d_out, d_workspace, stream);                 \
    }
REDUCE_DEFINE(reduce_sum_float, ReduceSum, float)
REDUCE_DEFINE(reduce_sum_double, ReduceSum, double)
REDUCE_DEFINE(reduce_sum_int, ReduceSum, int)
REDUCE_DEFINE(reduce_min_float, ReduceMin, float)
REDUCE_DEFINE(reduce_min_double, ReduceMin, double)
REDUCE_DEFINE(reduce_min_int, ReduceMin, int)
REDUCE_DEFINE(reduce_max_float, ReduceMax, float)
REDUCE_DEFINE(reduce_max_double, ReduceMax, double)
REDUCE_DEFINE(reduce_max_int, ReduceMax, int)
#undef REDUCE_DEFINE

#endif
