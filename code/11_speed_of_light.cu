// Chapter 11: one launch, any n, any alignment, as fast as the memory, beside CUB.
// Build and run: nvcc -O3 11_speed_of_light.cu -o lab && ./lab
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

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

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

// The same loads and block sums, finished by the ticket of chapter 10. partial: a float per block;
// *tickets: 0 before the first launch and after each.
__global__ void __launch_bounds__(512)
    sum_ticket(ReduceInput<float> input, float *out, float *partial, unsigned *tickets) {
    __shared__ bool last;
    typedef ReduceSum<float> Sum;
    float sum = reduce_block<Sum, float, 512>(reduce_thread<Sum, float, 512, true>(input));
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
    sum = reduce_block<Sum, float, 512>(mine);
    if (threadIdx.x == 0) *out = sum;
}

// A cluster of eight blocks: they run on neighbouring SMs and can write into each other's shared
// memory, so that no partial sum goes through L2. Launch: exactly one cluster.
__global__ void __launch_bounds__(512) sum_cluster(ReduceInput<float> input, float *out) {
#if __CUDA_ARCH__ >= 900
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    __shared__ float sums[8];
    typedef ReduceSum<float> Sum;
    float sum = reduce_block<Sum, float, 512>(reduce_thread<Sum, float, 512, false>(input));
    cluster.sync();  // block 0 has started: its shared memory exists
    if (threadIdx.x == 0) cluster.map_shared_rank(sums, 0)[cluster.block_rank()] = sum;
    cluster.sync();  // all eight sums have arrived in block 0
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    for (int k = 1; k < 8; k++) sum += sums[k];
    *out = sum;
#endif
}

// Bulk copies: one thread asks the copy engine for 32 KB at a time, three deep, and the block adds
// up what has arrived in shared memory. Input on a 16-byte boundary; 96 KB of shared memory.
enum { BULK_BYTES = 32768, BULK_DEPTH = 3, BULK_THREADS = 256 };

#if __CUDA_ARCH__ >= 900
static __device__ void bulk_copy(float *to, const float *from, unsigned long long *arrived) {
    unsigned d = (unsigned)__cvta_generic_to_shared(to);
    unsigned m = (unsigned)__cvta_generic_to_shared(arrived);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(m), "r"(BULK_BYTES)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(d), "l"(from), "r"(BULK_BYTES), "r"(m)
                 : "memory");
}

static __device__ void bulk_wait(unsigned long long *arrived, unsigned phase) {
    unsigned m = (unsigned)__cvta_generic_to_shared(arrived), done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
                    " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(m), "r"(phase) : "memory");
    while (!done);
}
#endif

__global__ void __launch_bounds__(BULK_THREADS)
    sum_bulk(const float *in, size_t n, float *out, unsigned long long *boxes) {
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) float buffers[];
    __shared__ unsigned long long arrived[BULK_DEPTH];
    const size_t each = BULK_BYTES / sizeof(float), tiles = n / each;
    const unsigned t = threadIdx.x, grid = gridDim.x;
    if (t == 0) {
        for (int k = 0; k < BULK_DEPTH; k++)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
                (unsigned)__cvta_generic_to_shared(&arrived[k])));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int k = 0; k < BULK_DEPTH; k++)
            if (blockIdx.x + k * grid < tiles)
                bulk_copy(buffers + k * each, in + (blockIdx.x + k * grid) * each, &arrived[k]);
    }
    __syncthreads();  // the barriers that count arriving bytes are there
    float mine = 0;
    unsigned slot = 0, phase = 0;
    for (size_t tile = blockIdx.x; tile < tiles; tile += grid) {
        bulk_wait(&arrived[slot], phase);
        const float4 *v = (const float4 *)(buffers + slot * each);
#pragma unroll
        for (int k = 0; k < BULK_BYTES / 16 / BULK_THREADS; k++) {
            float4 q = v[t + k * BULK_THREADS];
            mine += (q.x + q.y) + (q.z + q.w);
        }
        __syncthreads();  // the whole buffer has been read before it is filled again
        if (t == 0 && tile + BULK_DEPTH * grid < tiles)
            bulk_copy(buffers + slot * each, in + (tile + BULK_DEPTH * grid) * each,
                      &arrived[slot]);
        if (++slot == BULK_DEPTH) slot = 0, phase ^= 1;
    }
    for (size_t i = tiles * each + blockIdx.x * BULK_THREADS + t; i < n; i += grid * BULK_THREADS)
        mine += in[i];
    typedef ReduceSum<float> Sum;
    float sum = reduce_block<Sum, float, BULK_THREADS>(mine);
    reduce_finish<Sum, float, BULK_THREADS>(sum, out, boxes);
#endif
}

// The kernel of this chapter, allowed to start before the kernel in front of it has ended: it lets
// its successor do the same at once, and touches memory only after its predecessor is done.
template <int THREADS, bool STREAM>
__global__ void __launch_bounds__(THREADS)
    sum_overlapped(ReduceInput<float> input, float *out, unsigned long long *boxes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    typedef ReduceSum<float> Sum;
    float mine = reduce_thread<Sum, float, THREADS, STREAM>(input);
    reduce_finish<Sum, float, THREADS>(reduce_block<Sum, float, THREADS>(mine), out, boxes);
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
    unsigned *shape;     // {blocks, threads}: told by a launch that chooses both itself
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
        cudaMemsetAsync(d_workspace, 0, REDUCE_WORKSPACE_BYTES, stream);
    }
    return d_workspace;
}

// One result, by so many blocks of so many threads.
static unsigned took(Run r, unsigned blocks, unsigned threads) {
    r.shape[0] = blocks, r.shape[1] = threads;
    return 1;
}

template <class Op, class T> static unsigned launch_reduce(Run r) {
    reduce_launch<Op, T>((const T *)r.d_in, r.n, (T *)r.d_partial, workspace(r.stream), r.stream);
    ReduceShape shape = {};
    reduce_shape<T>(r.n, &shape);
    return took(r, shape.blocks, shape.threads);
}

// The sum of all but the first element, so that the input is off its 16-byte boundary.
static unsigned launch_misaligned(Run r) {
    if (r.n > 0) r.d_in++, r.n--;
    return launch_reduce<ReduceSum<float>, float>(r);
}

static unsigned launch_ticket(Run r) {
    static float *d_partial;
    if (!d_partial) {
        cudaMalloc(&d_partial, (REDUCE_BLOCKS + 1) * sizeof(float));
        cudaMemsetAsync(d_partial, 0, (REDUCE_BLOCKS + 1) * sizeof(float), r.stream);
    }
    unsigned enough = blocks_for(r.n, 8192), grid = enough < 4 * r.sms ? enough : 4 * r.sms;
    sum_ticket<<<grid, 512, 0, r.stream>>>(reduce_split(r.d_in, r.n), r.d_partial, d_partial,
                                           (unsigned *)d_partial + REDUCE_BLOCKS);
    return took(r, grid, 512);
}

// The chapter's kernel in the ticket's shape: blocks of 512 threads, with the mark on its loads
// that nobody will read the line again, or without.
template <bool STREAM> static unsigned launch_wide(Run r) {
    unsigned enough = blocks_for(r.n, 8192), grid = enough < 4 * r.sms ? enough : 4 * r.sms;
    reduce_kernel<ReduceSum<float>, float, 512, STREAM><<<grid, 512, 0, r.stream>>>(
        reduce_split(r.d_in, r.n), r.d_partial, (unsigned long long *)workspace(r.stream));
    return took(r, grid, 512);
}

// Launches what only devices with clusters have (compute capability 9.0 and later), and only if the
// code is for one, too; elsewhere the chapter's own kernel stands in.
static bool has_clusters(void) {
    int yes = 0;
    cudaFuncAttributes code;
    return cudaDeviceGetAttribute(&yes, cudaDevAttrClusterLaunch, 0) == cudaSuccess && yes &&
           cudaFuncGetAttributes(&code, sum_cluster) == cudaSuccess && code.ptxVersion >= 90;
}

static void launch_with(const void *kernel, unsigned grid, unsigned block, size_t shared_bytes,
                        cudaLaunchAttribute attribute, void **arguments, cudaStream_t stream) {
    cudaLaunchConfig_t config = {dim3(grid), dim3(block), shared_bytes, stream, &attribute, 1};
    cudaLaunchKernelExC(&config, kernel, arguments);
}

static unsigned launch_cluster(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>, float>(r);
    ReduceInput<float> input = reduce_split(r.d_in, r.n);
    void *arguments[] = {&input, &r.d_partial};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {8, 1, 1};
    launch_with((const void *)sum_cluster, 8, 512, 0, attribute, arguments, r.stream);
    return took(r, 8, 512);
}

static unsigned launch_bulk(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>, float>(r);
    unsigned enough = blocks_for(r.n, BULK_BYTES / sizeof(float));
    unsigned grid = enough < 2 * r.sms ? enough : 2 * r.sms;
    int shared_bytes = BULK_BYTES * BULK_DEPTH;
    cudaFuncSetAttribute(sum_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    sum_bulk<<<grid, BULK_THREADS, shared_bytes, r.stream>>>(
        r.d_in, r.n, r.d_partial, (unsigned long long *)workspace(r.stream));
    return took(r, grid, BULK_THREADS);
}

static unsigned launch_overlapped(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>, float>(r);
    ReduceInput<float> input = reduce_split(r.d_in, r.n);
    void *d_workspace = workspace(r.stream), *arguments[] = {&input, &r.d_partial, &d_workspace};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    ReduceShape shape = {};
    reduce_shape<float>(r.n, &shape);
    const void *kernel = shape.threads == 256 ? (const void *)sum_overlapped<256, false>
                                              : (const void *)sum_overlapped<512, true>;
    launch_with(kernel, shape.blocks, shape.threads, 0, attribute, arguments, r.stream);
    return took(r, shape.blocks, shape.threads);
}

template <class T> struct CubSum {
    static cudaError_t call(void *d_scratch, size_t &bytes, const T *in, T *out, size_t n,
                            cudaStream_t stream) {
        return cub::DeviceReduce::Sum(d_scratch, bytes, in, out, n, stream);
    }
};
template <class T> struct CubMin {
    static cudaError_t call(void *d_scratch, size_t &bytes, const T *in, T *out, size_t n,
                            cudaStream_t stream) {
        return cub::DeviceReduce::Min(d_scratch, bytes, in, out, n, stream);
    }
};
template <class T> struct CubMax {
    static cudaError_t call(void *d_scratch, size_t &bytes, const T *in, T *out, size_t n,
                            cudaStream_t stream) {
        return cub::DeviceReduce::Max(d_scratch, bytes, in, out, n, stream);
    }
};

// CUB with scratch space that is allocated beforehand. Its launch shape is its own, and not told.
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
enum { WAVES = 17 };
static unsigned edges[] = {0,    1,    2,    3,    4,    5,     7,      31, 33, 1000, 4095,
                           4096, 4097, 8191, 8193, 16385, 100003, 0, 0,  0,  END};
static const unsigned none[] = {END};

static void find_edges(const Stage *, Run r, const char *) {
    unsigned wave = 4 * r.sms * 4096;
    edges[WAVES] = wave, edges[WAVES + 1] = wave + 1, edges[WAVES + 2] = 2 * wave + 5;
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

// What the library makes of nothing is its own affair.
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

#define OURS(Op, T) launch_reduce<Reduce##Op<T>, T>
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
    {"sum_ticket", launch_ticket, "with a ticket", LIKE(FLOAT, COLD, edges)},
    {"sum_mailbox", launch_wide<true>, "in the ticket's shape", LIKE(FLOAT, COLD, edges)},
    {"sum_plain_loads", launch_wide<false>, "unmarked", LIKE(FLOAT, COLD, edges)},
    {"sum_cluster", launch_cluster, "one cluster", LIKE(FLOAT, COLD, edges)},
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

// Adds the partial sums on the host, in a step that is never timed.
static void check_sum(const Stage *stage, Run run, unsigned partials) {
    double sum = 0, expected = 0, *h = (double *)malloc((partials + 1) * sizeof *h);
    size_t bytes = partials * (stage->elem == DOUBLE ? sizeof(double) : sizeof(float));
    CUDA(cudaMemcpy(h, run.d_partial, bytes, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < partials; i++)
        sum += stage->elem == DOUBLE ? h[i] : stage->elem == INT ? ((int *)h)[i] : ((float *)h)[i];
    free(h);
    for (unsigned i = 0; i < run.n; i++) expected += element(i);
    expect(stage, run.n, "SUM", sum, expected, 0);
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
