// Chapter 11: one launch, any n, any alignment, as fast as the memory, beside CUB.
// Build and run: nvcc -O3 11_speed_of_light.cu -o lab && ./lab
#include <cooperative_groups.h>
#include <cub/device/device_reduce.cuh>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum Elem { FLOAT, INT };

// One launch: where the data is, how much of it there is, and how many threads share it.
typedef struct {
    const float *d_in;   // n elements (ints in the same bytes where the stage says INT)
    float *d_partial;    // room for the partial sums and, behind them, n elements
    unsigned n, block;   // elements; threads per block
    unsigned grid;       // blocks, when a sweep asks for so many; 0: the stage decides
    unsigned sms;        // multiprocessors of the device
    const float *h_in;   // the same n elements on the host
    cudaStream_t stream;
} Run;

// One row of a lab's table. launch() starts the kernel, returns how many partial sums it leaves.
typedef struct {
    const char *name;
    unsigned (*launch)(Run run);
    const char *note;
    unsigned block;         // a block size of its own; 0: what -b says
    Elem elem;
    const unsigned *sweep;  // further grids to time, ended by 0
    bool counter_example;   // wrong on purpose: runs only when -k names it, never timed
} Stage;

// The fewest blocks that cover n elements, and one block when there is nothing to cover.
static unsigned blocks_for(unsigned n, unsigned per_block) {
    return n ? (n - 1) / per_block + 1 : 1;
}

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

template <class Op, class T, int THREADS, bool STREAM>
__global__ void __launch_bounds__(THREADS, ReduceSm<T>::BLOCKS)
    reduce_kernel(ReduceInput<T> input, T *out, unsigned long long *boxes) {
    T mine = reduce_thread<Op, T, THREADS, STREAM>(input);
    reduce_finish<Op, T, THREADS>(reduce_block<Op, T, THREADS>(mine), out, boxes);
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

typedef enum { SUM_FLOAT, SUM_INT, SUM_DOUBLE, MIN_FLOAT, MAX_FLOAT } Task;
typedef enum { COLD, HOT, CALLS } Mode;  // rotating inputs; one input; no graph: calls on a stream

// A row of this lab's table. launch() starts the work and returns its shape.
typedef struct {
    const char *name;
    ReduceShape (*launch)(Run run);
    const char *note;
    Task task;
    Mode mode;
    bool ours;      // right for n = 0 and for every n: checked on awkward sizes
    unsigned skip;  // leading elements left out, to move the input off its 16-byte boundary
} Contest;

static void *contest_workspace(void) {
    static void *d_workspace;
    if (!d_workspace) {
        cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES);
        cudaMemset(d_workspace, 0, REDUCE_WORKSPACE_BYTES);
    }
    return d_workspace;
}

// Doubles: as many as fit into the bytes of n floats.
template <class T> static size_t elements_of(Run r) { return r.n / (sizeof(T) / sizeof(float)); }

template <class Op, class T> static ReduceShape launch_reduce(Run r) {
    size_t n = elements_of<T>(r);
    reduce_launch<Op, T>((const T *)r.d_in, n, (T *)r.d_partial, contest_workspace(), r.stream);
    ReduceShape shape = {};
    reduce_shape<T>(n, &shape);
    return shape;
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

// CUB with scratch space that is allocated beforehand. Its launch shape is its own: the table
// says one block of -b threads, as chapter 9's does.
template <class Cub, class T> static ReduceShape launch_cub(Run r) {
    static void *d_scratch;
    static size_t scratch_bytes;
    size_t n = elements_of<T>(r);
    if (!d_scratch) {
        Cub::call(NULL, scratch_bytes, (const T *)r.d_in, (T *)r.d_partial, 1u << 30, r.stream);
        cudaMalloc(&d_scratch, scratch_bytes);
    }
    Cub::call(d_scratch, scratch_bytes, (const T *)r.d_in, (T *)r.d_partial, n, r.stream);
    return {1, r.block};
}

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

static ReduceShape launch_ticket(Run r) {
    static float *d_partial;
    if (!d_partial) {
        cudaMalloc(&d_partial, (REDUCE_BLOCKS + 1) * sizeof(float));
        cudaMemset(d_partial, 0, (REDUCE_BLOCKS + 1) * sizeof(float));
    }
    unsigned enough = blocks_for(r.n, 8192), grid = enough < 4 * r.sms ? enough : 4 * r.sms;
    sum_ticket<<<grid, 512, 0, r.stream>>>(reduce_split(r.d_in, r.n), r.d_partial, d_partial,
                                           (unsigned *)d_partial + REDUCE_BLOCKS);
    return {grid, 512};
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

// Launches what only devices with clusters have (compute capability 9.0 and later); elsewhere, and
// on the CPU device, the chapter's own kernel stands in.
static bool has_clusters(void) {
    int yes = 0;
    return cudaDeviceGetAttribute(&yes, cudaDevAttrClusterLaunch, 0) == cudaSuccess && yes;
}

static void launch_with(const void *kernel, unsigned grid, unsigned block, size_t shared_bytes,
                        cudaLaunchAttribute attribute, void **arguments, cudaStream_t stream) {
    cudaLaunchConfig_t config = {dim3(grid), dim3(block), shared_bytes, stream, &attribute, 1};
    cudaLaunchKernelExC(&config, kernel, arguments);
}

static ReduceShape launch_cluster(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>, float>(r);
    ReduceInput<float> input = reduce_split(r.d_in, r.n);
    void *arguments[] = {&input, &r.d_partial};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {8, 1, 1};
    launch_with((const void *)sum_cluster, 8, 512, 0, attribute, arguments, r.stream);
    return {8, 512};
}

static ReduceShape launch_bulk(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>, float>(r);
    unsigned enough = blocks_for(r.n, BULK_BYTES / sizeof(float));
    unsigned grid = enough < 2 * r.sms ? enough : 2 * r.sms;
    int shared_bytes = BULK_BYTES * BULK_DEPTH;
    cudaFuncSetAttribute(sum_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    sum_bulk<<<grid, BULK_THREADS, shared_bytes, r.stream>>>(
        r.d_in, r.n, r.d_partial, (unsigned long long *)contest_workspace());
    return {grid, BULK_THREADS};
}

static ReduceShape launch_overlapped(Run r) {
    if (!has_clusters()) return launch_reduce<ReduceSum<float>, float>(r);
    ReduceInput<float> input = reduce_split(r.d_in, r.n);
    void *d_workspace = contest_workspace(), *arguments[] = {&input, &r.d_partial, &d_workspace};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    ReduceShape shape = {};
    reduce_shape<float>(r.n, &shape);
    const void *kernel = shape.threads == 256 ? (const void *)sum_overlapped<256, false>
                                              : (const void *)sum_overlapped<512, true>;
    launch_with(kernel, shape.blocks, shape.threads, 0, attribute, arguments, r.stream);
    return shape;
}

// The chapter's kernel without the mark on its loads that nobody will read the line again.
static ReduceShape launch_plain_loads(Run r) {
    unsigned enough = blocks_for(r.n, 8192), grid = enough < 4 * r.sms ? enough : 4 * r.sms;
    reduce_kernel<ReduceSum<float>, float, 512, false><<<grid, 512, 0, r.stream>>>(
        reduce_split(r.d_in, r.n), r.d_partial, (unsigned long long *)contest_workspace());
    return {grid, 512};
}

#define SUM launch_reduce<ReduceSum<float>, float>
#define SUM_DOUBLES launch_reduce<ReduceSum<double>, double>
#define CUB_SUM launch_cub<CubSum<float>, float>
static const Contest contests[] = {
    {"cub_device_reduce", CUB_SUM, "the library", SUM_FLOAT, COLD},
    {"reduce_sum", SUM, "one launch, mailboxes", SUM_FLOAT, COLD, true},
    {"reduce_sum_misaligned", SUM, "starts 4 bytes later, not a stage", SUM_FLOAT, COLD, true, 1},
    {"cub_sum_hot", CUB_SUM, "one input, not a stage", SUM_FLOAT, HOT},
    {"reduce_sum_hot", SUM, "one input, not a stage", SUM_FLOAT, HOT, true},
    {"cub_sum_calls", CUB_SUM, "no graph, not a stage", SUM_FLOAT, CALLS},
    {"reduce_sum_calls", SUM, "no graph, not a stage", SUM_FLOAT, CALLS, true},
    {"cub_sum_int", launch_cub<CubSum<int>, int>, "ints", SUM_INT, COLD},
    {"reduce_sum_int", launch_reduce<ReduceSum<int>, int>, "ints", SUM_INT, COLD, true},
    {"cub_sum_double", launch_cub<CubSum<double>, double>, "half as many", SUM_DOUBLE, COLD},
    {"reduce_sum_double", SUM_DOUBLES, "half as many", SUM_DOUBLE, COLD, true},
    {"cub_min", launch_cub<CubMin<float>, float>, "not a stage", MIN_FLOAT, COLD},
    {"reduce_min", launch_reduce<ReduceMin<float>, float>, "not a stage", MIN_FLOAT, COLD, true},
    {"cub_max", launch_cub<CubMax<float>, float>, "not a stage", MAX_FLOAT, COLD},
    {"reduce_max", launch_reduce<ReduceMax<float>, float>, "not a stage", MAX_FLOAT, COLD, true},
    {"sum_ticket", launch_ticket, "with a ticket, not a stage", SUM_FLOAT, COLD, true},
    {"sum_plain_loads", launch_plain_loads, "unmarked, not a stage", SUM_FLOAT, COLD, true},
    {"sum_cluster", launch_cluster, "one cluster, not a stage", SUM_FLOAT, COLD, true},
    {"sum_bulk", launch_bulk, "bulk copies, not a stage", SUM_FLOAT, COLD, true},
    {"sum_overlapped", launch_overlapped, "starts early, not a stage", SUM_FLOAT, COLD, true},
};

static struct {
    unsigned n, block;
    double seconds;
    const char *only, *csv;
    bool list;
    cudaDeviceProp device;
    double pin_gbps, read_gbps;  // pin_gbps is 0 on the CPU device: nothing to time there
    float *h_in, *d_in, *d_partial;
    size_t slot, slots, bytes;   // bytes from one input to the next; inputs; bytes of all
    cudaStream_t stream;
    cudaEvent_t start, stop;
    FILE *rows;                  // the CSV, once every kernel has been right
} lab = {25600000, 256, 0.5};

static void fail(int status, const char *what, const char *detail) {
    fprintf(stderr, "lab: %s: %s\n", what, detail);
    exit(status);
}

#define CUDA(call) cuda_check((call), #call)
static void cuda_check(cudaError_t error, const char *call) {
    if (error != cudaSuccess) fail(1, call, cudaGetErrorString(error));
}

// Element i before its type: for sums an integer from -8 to 8, never 0; for minimum and maximum
// one of 16 million, so that a dropped element shows. All of them are exact in every type.
static int element(unsigned i, Task task) {
    i = (i ^ i >> 16) * 0x85ebca6bu;  // the finalizer of MurmurHash3
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    i ^= i >> 16;
    if (task == MIN_FLOAT || task == MAX_FLOAT) return (int)(i >> 8) - (1 << 23);
    return i & 8 ? 1 + (int)(i & 7) : -1 - (int)(i & 7);
}

// How many elements of the task's type lie in the bytes of n floats.
static unsigned task_elements(Task task, unsigned n) { return task == SUM_DOUBLE ? n / 2 : n; }

// Writes the elements of a task into every input, unless they are there already.
static void fill(Task task) {
    static int filled = -1;
    if (task == MAX_FLOAT) task = MIN_FLOAT;
    if (filled == task) return;
    filled = task;
    for (unsigned i = 0; i < task_elements(task, lab.n); i++)
        if (task == SUM_DOUBLE) ((double *)lab.h_in)[i] = element(i, task);
        else if (task == SUM_INT) ((int *)lab.h_in)[i] = element(i, task);
        else lab.h_in[i] = (float)element(i, task);
    for (size_t k = 0; k < lab.slots; k++)
        CUDA(cudaMemcpy((char *)lab.d_in + k * lab.slot, lab.h_in, lab.n * sizeof(float),
                        cudaMemcpyHostToDevice));
}

static size_t partial_bytes(unsigned) { return 1024; }  // room for results, one at a time

static ReduceShape launch(const Contest *c, unsigned n, int input) {
    const char *d_in = (const char *)lab.d_in + (size_t)input % lab.slots * lab.slot;
    unsigned sms = (unsigned)lab.device.multiProcessorCount, skip = c->skip < n ? c->skip : n;
    return c->launch({(const float *)d_in + skip, lab.d_partial, n - skip, lab.block, 0, sms,
                      lab.h_in, lab.stream});
}

// The right answer for the bytes of n floats, from which the first are skipped.
static double expected(const Contest *c, unsigned n) {
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (unsigned i = c->skip; i < task_elements(c->task, n); i++) {
        double x = element(i, c->task);
        sum += x;
        if (x < least) least = x;
        if (x > most) most = x;
    }
    return c->task == MIN_FLOAT ? least : c->task == MAX_FLOAT ? most : sum;
}

// The result must be exactly right, twice, over poisoned output.
static void check(const Contest *c, unsigned n) {
    static double right;
    static const Contest *known;  // whose answer for lab.n `right` is
    static unsigned known_skip, known_task;
    bool whole = n == lab.n;
    if (!whole || !known || known_skip != c->skip || known_task != c->task) {
        right = expected(c, n);
        known = whole ? c : NULL, known_skip = c->skip, known_task = c->task;
    }
    for (int repeat = 0; repeat < 2; repeat++) {
        union { float f; int i; double d; } got;
        CUDA(cudaMemset(lab.d_partial, 0xFF, partial_bytes(n)));
        CUDA(cudaDeviceSynchronize());
        launch(c, n, 0);
        CUDA(cudaGetLastError());
        CUDA(cudaStreamSynchronize(lab.stream));
        CUDA(cudaMemcpy(&got, lab.d_partial, sizeof got, cudaMemcpyDeviceToHost));
        double value = c->task == SUM_DOUBLE ? got.d : c->task == SUM_INT ? got.i : (double)got.f;
        if (value == right) continue;
        fprintf(stderr, "lab: %s: WRONG RESULT of %u elements: %.9g, not %.9g\n", c->name, n, value,
                right);
        exit(1);
    }
}

// Sizes around every boundary of the kernels: vectors, warps, tiles, grids.
static void check_sizes(const Contest *c) {
    unsigned wave = 4 * (unsigned)lab.device.multiProcessorCount;
    unsigned sizes[] = {0,    1,    2,    3,    4,    5,     7,     31,           33,
                        1000, 4095, 4096, 4097, 8191, 8193,  16385, 100003,       wave * 4096,
                        wave * 4096 + 1, wave * 8192 + 5};
    for (unsigned n : sizes)
        if (n <= lab.n && c->ours) check(c, n);
    if (lab.n > 1) check(c, lab.n);
}

// Reads n4 vectors of 16 bytes, four to a thread, and keeps nothing: no sum can be faster.
__global__ void read_ceiling(const float4 *in, float *never, unsigned n4) {
    float4 v[4];
    float sum = 0;
#pragma unroll
    for (unsigned k = 0; k < 4; k++) {
        unsigned i = (blockIdx.x * 4 + k) * blockDim.x + threadIdx.x;
        v[k] = i < n4 ? in[i] : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (unsigned k = 0; k < 4; k++) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    if (sum == 0.5f) *never = sum;  // no sum of integers is 0.5, but the compiler cannot know
}

static unsigned launch_read(Run r) {
    unsigned n4 = r.n / 4, grid = blocks_for(n4, 4 * r.block);
    read_ceiling<<<grid, r.block, 0, r.stream>>>((const float4 *)r.d_in, r.d_partial, n4);
    return grid;
}
static const Stage ceiling = {"read_ceiling", launch_read, "reads all and keeps nothing", 256};

typedef struct {
    double median, p5, p95;  // microseconds per call
    int samples;
} Timing;

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Reads n4 vectors with plain loads, which push everything else out of the cache. (Loads marked as
// the first to evict would leave the lines of others in place.)
__global__ void push_out(const float4 *in, float *never, unsigned n4) {
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x)
        sum += in[i].x + in[i].y + in[i].z + in[i].w;
    if (sum == 0.5f) *never = sum;
}

static float elapsed_ms(void) {
    float ms;
    CUDA(cudaEventRecord(lab.stop, lab.stream));
    CUDA(cudaEventSynchronize(lab.stop));
    CUDA(cudaEventElapsedTime(&ms, lab.start, lab.stop));
    return ms;
}

// Times calls, in a graph unless the row says otherwise. A sample is one replay, divided.
static Timing measure(const Contest *c) {
    static float us[1000];
    float ms = 0;
    for (int warm = 0; warm < 3; warm++) {
        CUDA(cudaEventRecord(lab.start, lab.stream));
        launch(c, lab.n, warm);
        ms = elapsed_ms();
    }
    int calls = ms > 2 ? 1 : ms < 0.01f ? 200 : (int)(2 / ms), samples = 0;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA(cudaStreamBeginCapture(lab.stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < calls; k++) launch(c, lab.n, c->mode == HOT ? 0 : k);
    CUDA(cudaStreamEndCapture(lab.stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (double spent = 0; samples < 5 || (samples < 1000 && spent < lab.seconds); samples++) {
        if (c->mode == COLD)
            push_out<<<1024, 512, 0, lab.stream>>>((const float4 *)lab.d_in, lab.d_partial,
                                                   (unsigned)(lab.bytes / sizeof(float4)));
        CUDA(cudaEventRecord(lab.start, lab.stream));
        if (c->mode != CALLS) CUDA(cudaGraphLaunch(replay, lab.stream));
        else for (int k = 0; k < calls; k++) launch(c, lab.n, k);
        ms = elapsed_ms();
        us[samples] = 1e3f * ms / (float)calls;
        spent += ms / 1e3;
    }
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    qsort(us, (size_t)samples, sizeof us[0], ascending);
    return {us[samples / 2], us[samples / 20], us[samples - 1 - samples / 20], samples};
}

static void open_csv(void) {
    char date[32];
    time_t now = time(NULL);
    int driver = 0;
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    CUDA(cudaDriverGetVersion(&driver));
    if (!(lab.rows = fopen(lab.csv, "w"))) fail(1, "cannot write", lab.csv);
    fprintf(lab.rows, "# device: %s\n# compute_capability: %d.%d\n# sm_count: %d\n# l2_bytes: %d\n"
            "# pin_gbps: %.1f\n# driver: %d\n# toolkit: %d\n# date: %s\n"
            "kernel,n,block,partials,sweep,elem,median_us,p5_us,p95_us,samples,gbps,pin_pct,"
            "read_pct,note\n", lab.device.name, lab.device.major, lab.device.minor,
            lab.device.multiProcessorCount, lab.device.l2CacheSize, lab.pin_gbps, driver,
            CUDART_VERSION, date);
}

static ReduceShape launch_ceiling(Run r) {
    r.block = ceiling.block;
    return {launch_read(r), ceiling.block};
}

// Times a row; prints it, with the step from the row above; adds it to the CSV.
static void time_and_report(const Contest *c) {
    static Timing above;
    static const char *elems[] = {"float", "int", "double", "float", "float"};
    ReduceShape shape = launch(c, lab.n, 0);
    Timing t = measure(c);
    double gbps = lab.n * sizeof(float) / t.median / 1e3;
    if (c->launch == launch_ceiling) lab.read_gbps = gbps;
    double pin = 100 * gbps / lab.pin_gbps, read = 100 * gbps / lab.read_gbps;
    printf("%-28s %9u %10.2f %10.2f %10.2f %8.1f %6.1f %6.1f  ", c->name, shape.blocks, t.median,
           t.p5, t.p95, gbps, pin, read);
    if (!above.samples) printf("\n");
    else if (t.p5 <= above.p95 && above.p5 <= t.p95) printf("no measurable difference\n");
    else printf("%.2fx\n", above.median / t.median);
    if (lab.rows)
        fprintf(lab.rows, "%s,%u,%u,%u,0,%s,%.4f,%.4f,%.4f,%d,%.2f,%.2f,%.2f,\"%s\"\n", c->name,
                lab.n, shape.threads, shape.blocks, elems[c->task], t.median, t.p5, t.p95,
                t.samples, gbps, pin, read, c->note);
    above = t;
}

static const char usage[] =
    "usage: lab [-n ELEMENTS] [-b BLOCK] [-t SECONDS] [-k KERNEL] [--csv FILE] [--list]\n"
    "  -n ELEMENTS  how many to sum, 0 to 1073741824 (default 25600000)\n"
    "  -b BLOCK     threads per block: 64, 128, 256, 512 or 1024 (default 256)\n"
    "  -t SECONDS   how long to sample each kernel (default 0.5)\n"
    "  -k KERNEL    run only this one\n"
    "  --csv FILE   write the times to FILE too, once every kernel has been right\n"
    "  --list       name the kernels and stop\n";

static void read_options(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        char *end;
        double x = strtod(value, &end);
        bool number = *value && !*end && x >= 0;
        if (!strcmp(flag, "-h")) fputs(usage, stdout), exit(0);
        else if (!strcmp(flag, "--list")) { lab.list = true; continue; }
        else if (!strcmp(flag, "-n") && number && x <= 1u << 30) lab.n = (unsigned)x;
        else if (!strcmp(flag, "-b") && number && x >= 64 && x <= 1024 && !((int)x & ((int)x - 1)))
            lab.block = (unsigned)x;
        else if (!strcmp(flag, "-t") && number) lab.seconds = x;
        else if (!strcmp(flag, "-k") && *value) lab.only = value;
        else if (!strcmp(flag, "--csv") && *value) lab.csv = value;
        else fprintf(stderr, "lab: cannot use %s %s (-h explains)\n", flag, value), exit(2);
        i++;
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
    CUDA(cudaGetDeviceProperties(&lab.device, 0));
    if (cudaFuncGetAttributes(&attributes, (const void *)read_ceiling) != cudaSuccess)
        fail(3, "not built for this device's architecture", "build it with: nvcc -arch=native");
    CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, 0));
    CUDA(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    lab.pin_gbps = 2.0 * khz * bits / 8 / 1e6;  // two transfers per clock
    size_t cache = lab.pin_gbps > 0 ? (size_t)lab.device.l2CacheSize : 0;
    lab.slot = (lab.n * sizeof(float) / 256 + 1) * 256;
    lab.slots = 4 * cache / lab.slot + 1 < 256 ? 4 * cache / lab.slot + 1 : 256;
    lab.bytes = lab.slots * lab.slot > 4 * cache ? lab.slots * lab.slot : 4 * cache;
    lab.h_in = (float *)malloc(lab.slot);
    CUDA(cudaMalloc(&lab.d_in, lab.bytes));
    CUDA(cudaMemset(lab.d_in, 0, lab.bytes));
    CUDA(cudaMalloc(&lab.d_partial, partial_bytes(lab.n)));
    CUDA(cudaStreamCreate(&lab.stream));
    CUDA(cudaEventCreate(&lab.start));
    CUDA(cudaEventCreate(&lab.stop));
}

static int each_contest(void (*visit)(const Contest *c)) {
    int visited = 0;
    for (const Contest &c : contests) {
        if (lab.only && strcmp(lab.only, c.name)) continue;
        if (visit) fill(c.task), visit(&c);
        visited++;
    }
    return visited;
}

int main(int argc, char **argv) {
    lab.seconds = 0.1;  // for each of many rows
    read_options(argc, argv);
    for (const Contest &c : contests)
        if (lab.list) printf("%-28s %s\n", c.name, c.note);
    if (lab.list) return 0;
    if (!each_contest(NULL)) fail(2, "no such kernel (--list names them)", lab.only);
    open_device();
    each_contest(check_sizes);
    printf("%s: %u elements, every result right\n", lab.device.name, lab.n);
    if (lab.pin_gbps == 0) printf("no GPU: not measured\n");
    if (lab.pin_gbps == 0 || lab.n < 4) return 0;
    if (lab.csv) open_csv();
    printf("%-28s %9s %10s %10s %10s %8s %6s %6s\n", "kernel", "blocks", "median us", "p5", "p95",
           "GB/s", "% pin", "% read");
    const Contest reading = {ceiling.name, launch_ceiling, ceiling.note, SUM_FLOAT, COLD};
    fill(reading.task);
    time_and_report(&reading);
    each_contest(time_and_report);
    if (lab.rows && fclose(lab.rows)) fail(1, "cannot write", lab.csv);
    return 0;
}
