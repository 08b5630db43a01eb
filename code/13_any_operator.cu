// Chapter 13: one reduction for any operator and type, and what is built on it.
// Build and run: nvcc -O3 13_any_operator.cu -o lab && ./lab
#include <cuda_fp16.h>
#include <limits.h>
#include <math.h>
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
    static __device__ Acc lift(T x, unsigned) { return (Acc)x; }
    static __device__ Acc combine(Acc a, Acc b) { return plus(a, b); }
};

template <typename T> struct Product {
    typedef T In;
    typedef typename Wide<T>::Acc Acc;
    static __device__ Acc identity() { return 1; }
    static __device__ Acc lift(T x, unsigned) { return (Acc)x; }
    static __device__ Acc combine(Acc a, Acc b) { return times(a, b); }
};

template <typename T> struct Min {
    typedef T In;
    typedef typename Wide<T>::Acc Acc;
    static __device__ Acc identity() { return highest((Acc)0); }
    static __device__ Acc lift(T x, unsigned) { return (Acc)x; }
    static __device__ Acc combine(Acc a, Acc b) { return (a != a) | below(a, b) ? a : b; }
};

template <typename T> struct Max {
    typedef T In;
    typedef typename Wide<T>::Acc Acc;
    static __device__ Acc identity() { return lowest((Acc)0); }
    static __device__ Acc lift(T x, unsigned) { return (Acc)x; }
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
    static __device__ Acc lift(T x, unsigned index) {
        return {(typename Wide<T>::Acc)x, index};
    }
    static __device__ bool wins(const Acc &a, const Acc &b) {
        bool a_nan = a.value != a.value, b_nan = b.value != b.value;
        bool same = (a.value == b.value) | (a_nan & b_nan);
        return (a.value > b.value) | (a_nan & !b_nan) | (same & (a.index < b.index));
    }
    static __device__ Acc combine(Acc a, Acc b) { return wins(a, b) ? a : b; }
};

template <typename T> static __device__ T lane_xor(T x, unsigned d) {
    return __shfl_xor_sync(0xffffffffu, x, d);
}
template <typename V> static __device__ Place<V> lane_xor(Place<V> x, unsigned d) {
    x.value = lane_xor(x.value, d);
    x.index = lane_xor(x.index, d);
    return x;
}

enum { BLOCK = 256, WARPS = BLOCK / 32 };

// Combines `mine` over the block; every thread gets the result, to the last bit where combine(a, b)
// and combine(b, a) are the same, as they are for all but Moments. Block: BLOCK threads.
template <typename Op> static __device__ typename Op::Acc block_all(typename Op::Acc mine) {
    __shared__ typename Op::Acc of_warp[WARPS];
    for (unsigned d = 16; d > 0; d /= 2) mine = Op::combine(mine, lane_xor(mine, d));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();  // every warp's result is there before any thread combines them
    mine = of_warp[threadIdx.x % WARPS];
    for (unsigned d = WARPS / 2; d > 0; d /= 2) mine = Op::combine(mine, lane_xor(mine, d));
    __syncthreads();  // all have read of_warp before the next call writes it
    return mine;
}

static __device__ unsigned tickets;  // blocks that are done; the last one sets it back to 0

// Adds `count` consecutive elements, the first of them number `first`, to a partial result.
template <typename Op>
static __device__ typename Op::Acc take(typename Op::Acc mine, const typename Op::In *v,
                                        unsigned count, unsigned first) {
#pragma unroll
    for (unsigned k = 0; k < count; k++) mine = Op::combine(mine, Op::lift(v[k], first + k));
    return mine;
}

// Reduces in[0..n) to out[0]; out[1..] is room for a partial result per block. `in` is aligned to
// 16 bytes. Any grid of BLOCK threads, one launch at a time. Reads n elements.
template <typename Op>
static __device__ void reduce_grid(const typename Op::In *in, typename Op::Acc *out, unsigned n) {
    enum { LANES = 16 / sizeof(typename Op::In) };  // elements in a load
    __shared__ bool is_last;
    unsigned wide = n / LANES, threads = gridDim.x * BLOCK, me = blockIdx.x * BLOCK + threadIdx.x;
    typename Op::Acc mine = Op::identity();
    for (unsigned i = me; i < wide; i += 4 * threads) {
        uint4 raw[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            raw[k] = i + k * threads < wide ? ((const uint4 *)in)[i + k * threads] : uint4();
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            if (i + k * threads < wide)
                mine = take<Op>(mine, (const typename Op::In *)&raw[k], LANES,
                                (i + k * threads) * LANES);
    }
    for (unsigned i = wide * LANES + me; i < n; i += threads)
        mine = take<Op>(mine, &in[i], 1, i);
    mine = block_all<Op>(mine);
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = mine;
        __threadfence();  // the partial result is visible before the ticket is
        is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // all know whether this is the last block
    if (!is_last) return;
    __threadfence();  // the others' results are read after their tickets
    mine = Op::identity();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += BLOCK)
        mine = Op::combine(mine, out[1 + b]);
    mine = block_all<Op>(mine);
    if (threadIdx.x == 0) out[0] = mine;
}

struct Moments {
    unsigned count;
    float mean, m2;  // m2: the sum of squared distances from the mean
};

static __device__ Moments lane_xor(Moments x, unsigned d) {
    x.count = lane_xor(x.count, d);
    x.mean = lane_xor(x.mean, d);
    x.m2 = lane_xor(x.m2, d);
    return x;
}

struct MeanVariance {
    typedef float In;
    typedef Moments Acc;
    static __device__ Acc identity() { return {0, 0, 0}; }
    static __device__ Acc combine(Acc a, Acc b) {
        unsigned n = a.count + b.count;
        if (n == 0) return a;
        float share = (float)b.count / (float)n, delta = b.mean - a.mean;
        return {n, a.mean + delta * share,
                a.m2 + b.m2 + delta * delta * share * (float)a.count};
    }
};

// A batch of four has its moments taken in registers, then it is merged.
template <>
__device__ Moments take<MeanVariance>(Moments mine, const float *v, unsigned count, unsigned) {
    if (count != 4) return MeanVariance::combine(mine, {1, v[0], 0});
    float mean = ((v[0] + v[1]) + (v[2] + v[3])) * 0.25f;
    float a = v[0] - mean, b = v[1] - mean, c = v[2] - mean, d = v[3] - mean;
    return MeanVariance::combine(mine, {4, mean, (a * a + b * b) + (c * c + d * d)});
}

struct __align__(8) Squares {
    float sum, of_squares;
};

static __device__ Squares lane_xor(Squares x, unsigned d) {
    x.sum = lane_xor(x.sum, d);
    x.of_squares = lane_xor(x.of_squares, d);
    return x;
}

struct SumOfSquares {
    typedef float In;
    typedef Squares Acc;
    static __device__ Acc identity() { return {0, 0}; }
    static __device__ Acc lift(float x, unsigned) { return {x, x * x}; }
    static __device__ Acc combine(Acc a, Acc b) {
        return {a.sum + b.sum, a.of_squares + b.of_squares};
    }
};

#define REDUCTION(name, Op)                                            \
    __global__ void name(const Op::In *in, Op::Acc *out, unsigned n) { \
        reduce_grid<Op>(in, out, n);                                   \
    }
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

// As many blocks as fit, or fewer when there is not enough to read.
template <typename In, typename Acc, void (*KERNEL)(const In *, Acc *, unsigned)>
static unsigned launch_reduction(Run r) {
    unsigned most = r.sms * (2048 / BLOCK), per_block = BLOCK * 4 * 16 / sizeof(In);
    unsigned enough = blocks_for(r.n, per_block), grid = enough < most ? enough : most;
    KERNEL<<<grid, BLOCK, 0, r.stream>>>((const In *)r.d_in, (Acc *)r.d_partial, r.n);
    return grid;
}

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
    float largest = block_all<Max<float>>(take<Max<float>>(-INFINITY, x, 4, 0));
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

template <void (*KERNEL)(const float *, float *, unsigned)>
static unsigned launch_rows(Run r) {
    unsigned rows = (r.n + ROW - 1) / ROW;
    if (rows) KERNEL<<<rows, BLOCK, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return rows;
}

// The runtime's own copy: reads 4n bytes, writes 4n, and no kernel that does both is faster.
static unsigned launch_copy(Run r) {
    cudaMemcpyAsync(r.d_partial, r.d_in, r.n * sizeof(float), cudaMemcpyDeviceToDevice, r.stream);
    return 1;
}

enum Type { TYPE_INT, TYPE_HALF, TYPE_FLOAT, TYPE_DOUBLE };
enum Kind { SUM, PRODUCT, MIN, MAX, ARGMAX, MOMENTS, SHORT_CUT, SOFTMAX, LAYER_NORM, COPY };
static const char *const type_names[] = {"int", "half", "float", "double"};
static const unsigned type_bytes[] = {4, 2, 4, 8};

typedef struct {
    Stage stage;
    Type type;
    Kind kind;
} Row;

#define OPERATOR(name, type, T, A, TYPE, KIND, note) \
    {{#name "_" #type, launch_reduction<T, A, name##_##type>, note, BLOCK}, TYPE, KIND}
#define OPERATORS(type, T, A, TYPE)                                                   \
    OPERATOR(reduce_sum, type, T, A, TYPE, SUM, "identity -0"),                       \
    OPERATOR(reduce_min, type, T, A, TYPE, MIN, "NaN wins and -0 < +0"),              \
    OPERATOR(reduce_max, type, T, A, TYPE, MAX, "NaN wins and -0 < +0"),              \
    OPERATOR(reduce_argmax, type, T, Place<A>, TYPE, ARGMAX, "the first of equals"),  \
    OPERATOR(reduce_product, type, T, A, TYPE, PRODUCT, "identity 1")

static const Row rows[] = {
    OPERATORS(int, int, int, TYPE_INT),
    OPERATORS(half, __half, float, TYPE_HALF),
    OPERATORS(double, double, double, TYPE_DOUBLE),
    OPERATORS(float, float, float, TYPE_FLOAT),
    {{"mean_variance", launch_reduction<float, Moments, mean_variance>, "merging", BLOCK},
     TYPE_FLOAT, MOMENTS},
    {{"mean_variance_naive", launch_reduction<float, Squares, mean_variance_naive>,
      "sum of squares: not to be used", BLOCK}, TYPE_FLOAT, SHORT_CUT},
    {{"softmax_rows", launch_rows<softmax_rows>, "rows of 1024", BLOCK}, TYPE_FLOAT, SOFTMAX},
    {{"layer_norm_rows", launch_rows<layer_norm_rows>, "rows of 1024", BLOCK}, TYPE_FLOAT,
     LAYER_NORM},
    {{"device_copy", launch_copy, "reads and writes as the rows do", BLOCK}, TYPE_FLOAT, COPY},
};

// ---- The harness, with a main program of this chapter: chapter 0 explains it. ----

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

// Element i: an integer from -8 to 8, never 0, from a hash of i (the finalizer of MurmurHash3).
static int element(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    i ^= i >> 16;
    return i & 8 ? 1 + (int)(i & 7) : -1 - (int)(i & 7);
}

// Writes the elements, in the stage's type, into every input, unless they are there already.
static void fill(Elem elem) {
    static int filled = -1;
    if (filled == elem) return;
    filled = elem;
    for (unsigned i = 0; i < lab.n; i++)
        if (elem == INT) ((int *)lab.h_in)[i] = element(i);
        else lab.h_in[i] = (float)element(i);
    for (size_t k = 0; k < lab.slots; k++)
        CUDA(cudaMemcpy((char *)lab.d_in + k * lab.slot, lab.h_in, lab.n * sizeof(float),
                        cudaMemcpyHostToDevice));
}

// A partial sum per warp, a million for sweeps of small inputs, and n elements.
static size_t partial_bytes(unsigned n) {
    return ((1u << 20) + (size_t)n / 32 + n) * sizeof(float);
}

static unsigned block_of(const Stage *stage) { return stage->block ? stage->block : lab.block; }

// Launches a stage on the first n elements of one of the inputs.
static unsigned launch(const Stage *stage, unsigned n, unsigned grid, int input) {
    const char *d_in = (const char *)lab.d_in + (size_t)input % lab.slots * lab.slot;
    unsigned sms = (unsigned)lab.device.multiProcessorCount;
    return stage->launch({(const float *)d_in, lab.d_partial, n, block_of(stage), grid, sms,
                          lab.h_in, lab.stream});
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
    double median, p5, p95;  // microseconds per launch
    int samples;
} Timing;

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float elapsed_ms(void) {
    float ms;
    CUDA(cudaEventRecord(lab.stop, lab.stream));
    CUDA(cudaEventSynchronize(lab.stop));
    CUDA(cudaEventElapsedTime(&ms, lab.start, lab.stop));
    return ms;
}

// Times a graph of many launches over rotating inputs. A sample is one replay, divided.
static Timing measure(const Stage *stage, unsigned grid) {
    static float us[1000];
    float ms = 0;
    for (int warm = 0; warm < 3; warm++) {
        CUDA(cudaEventRecord(lab.start, lab.stream));
        launch(stage, lab.n, grid, warm);
        ms = elapsed_ms();
    }
    int launches = ms > 2 ? 1 : ms < 0.01f ? 200 : (int)(2 / ms), samples = 0;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA(cudaStreamBeginCapture(lab.stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < launches; k++) launch(stage, lab.n, grid, k);
    CUDA(cudaStreamEndCapture(lab.stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (double spent = 0; samples < 5 || (samples < 1000 && spent < lab.seconds); samples++) {
        launch(&ceiling, (unsigned)(lab.bytes / sizeof(float)), 0, 0);
        CUDA(cudaEventRecord(lab.start, lab.stream));
        CUDA(cudaGraphLaunch(replay, lab.stream));
        ms = elapsed_ms();
        us[samples] = 1e3f * ms / (float)launches;
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

// Times one stage; prints its row, with the step from the row above; adds it to the CSV.
static void time_and_report(const Stage *stage, unsigned grid) {
    static Timing above;
    unsigned partials = launch(stage, lab.n, grid, 0), block = block_of(stage);
    Timing t = measure(stage, grid);
    double gbps = lab.n * sizeof(float) / t.median / 1e3;
    if (stage == &ceiling) lab.read_gbps = gbps;
    double pin = 100 * gbps / lab.pin_gbps, read = 100 * gbps / lab.read_gbps;
    printf("%-28s %5u %9u %10.2f %10.2f %10.2f %8.1f %6.1f %6.1f  ", stage->name, block, partials,
           t.median, t.p5, t.p95, gbps, pin, read);
    if (!above.samples) printf("\n");
    else if (t.p5 <= above.p95 && above.p5 <= t.p95) printf("no measurable difference\n");
    else printf("%.2fx\n", above.median / t.median);
    if (lab.rows)
        fprintf(lab.rows, "%s,%u,%u,%u,%d,%s,%.4f,%.4f,%.4f,%d,%.5g,%.4g,%.4g,\"%s\"\n",
                stage->name, lab.n, block, partials, grid != 0,
                stage->elem == INT ? "int" : "float", t.median, t.p5, t.p95, t.samples, gbps, pin,
                read, stage->note);
    above = t;
}

// Prints a row, and adds it to the CSV, for n elements of `elem` that are `bytes` in all.
static void report_row(const Stage *stage, unsigned partials, const char *elem, double bytes,
                       Timing t) {
    double gbps = bytes / t.median / 1e3;
    double pin = 100 * gbps / lab.pin_gbps, read = 100 * gbps / lab.read_gbps;
    printf("%-28s %5u %9u %10.2f %10.2f %10.2f %8.1f %6.1f %6.1f  %s\n", stage->name,
           block_of(stage), partials, t.median, t.p5, t.p95, gbps, pin, read, stage->note);
    if (lab.rows)
        fprintf(lab.rows, "%s,%u,%u,%u,0,%s,%.4f,%.4f,%.4f,%d,%.5g,%.4g,%.4g,\"%s\"\n",
                stage->name, lab.n, block_of(stage), partials, elem, t.median, t.p5, t.p95,
                t.samples, gbps, pin, read, stage->note);
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

static bool is_wanted(const Stage *stage) { return !lab.only || !strcmp(lab.only, stage->name); }

// Which of the four inputs a row has: plain, factors, shifted or thirds.
static Kind input_kind(const Row *row) {
    Kind kind = row->kind;
    return kind == SHORT_CUT ? MOMENTS : kind == LAYER_NORM ? SOFTMAX
         : kind == PRODUCT || kind == MOMENTS || kind == SOFTMAX ? kind : SUM;
}

// Element i of a row's input.
static double input_of(const Row *row, unsigned i) {
    int e = element(i);
    bool factor = i < 100 || i % (lab.n / 64 + 1) == 0;  // at most 165 of them
    switch (input_kind(row)) {
    case PRODUCT:
        if (row->type == TYPE_INT) return e | 1;
        return (e > 0 ? 1 : -1) * (!factor ? 1 : e % 2 ? 2 : 0.5);
    case MOMENTS: return 10000 + e;
    case SOFTMAX: return (float)e / 3;
    default: return e;
    }
}

// Writes x as element i of the host's copy, in the row's type.
static void put(const Row *row, unsigned i, double x) {
    switch (row->type) {
    case TYPE_INT: ((int *)lab.h_in)[i] = (int)x; break;
    case TYPE_HALF: ((__half *)lab.h_in)[i] = __float2half((float)x); break;
    case TYPE_FLOAT: lab.h_in[i] = (float)x; break;
    case TYPE_DOUBLE: ((double *)lab.h_in)[i] = x; break;
    }
}

// Lays the inputs out for elements of the row's type, as many as the memory holds, unless they are
// there already.
static void fill_inputs(const Row *row) {
    static const Row *filled;
    bool same = filled && filled->type == row->type && input_kind(filled) == input_kind(row);
    filled = row;
    if (same) return;
    size_t bytes = (size_t)lab.n * type_bytes[row->type];
    lab.slot = (bytes / 256 + 1) * 256;
    lab.slots = lab.bytes / lab.slot < 256 ? lab.bytes / lab.slot : 256;
    for (unsigned i = 0; i < lab.n; i++) put(row, i, input_of(row, i));
    for (size_t k = 0; k < lab.slots; k++)
        CUDA(cudaMemcpy((char *)lab.d_in + k * lab.slot, lab.h_in, bytes, cudaMemcpyHostToDevice));
}

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

// Stops unless the error is within the tolerance; a NaN on either side is not.
static void expect_close(const Row *row, unsigned n, const char *what, double is, double should,
                         double tolerance) {
    if (fabs(is - should) <= tolerance) return;
    fprintf(stderr, "lab: %s: WRONG %s of %u elements: %.9g, not %.9g within %.2g\n",
            row->stage.name, what, n, is, should, tolerance);
    exit(1);
}

static const double unit = 1.0 / (1 << 24);  // a rounding of a float is off by this, relatively

static void check_moments(const Row *row, unsigned n, unsigned blocks) {
    Moments got;
    CUDA(cudaMemcpy(&got, lab.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    double sum = 0, squares = 0;  // of the integers below the shift: exact
    for (unsigned i = 0; i < n; i++) sum += element(i), squares += element(i) * element(i);
    if (got.count != n) fail(1, row->stage.name, "the count is wrong");
    if (n == 0) return;
    double shift = input_of(row, 0) - element(0), mean = sum / n;
    double variance = squares / n - mean * mean;
    double merges = ceil(n / 4.0 / (blocks * BLOCK)) + 1 + blocks / 256.0 + 28;
    double error = (merges + 4) * unit * (shift + 8 + 5 * 16);
    expect_close(row, n, "mean", got.mean, shift + mean, error);
    expect_close(row, n, "variance", got.m2 / n, variance,
                 4 * error * sqrt(variance * merges / 2) + 2 * merges * error * error +
                     (merges + 10) * unit * variance);
}

// Compares a row of softmax with its double-precision reference.
static void check_softmax(const Row *row, const float *x, const float *y, unsigned width) {
    static double e[ROW];
    double largest = x[0], least = x[0], sum = 0;
    for (unsigned i = 1; i < width; i++) largest = fmax(largest, x[i]), least = fmin(least, x[i]);
    for (unsigned i = 0; i < width; i++) sum += e[i] = exp(x[i] - largest);
    double tolerance = unit * (2 * (largest - least) + 24);
    for (unsigned i = 0; i < width; i++)
        expect_close(row, width, "softmax", y[i], e[i] / sum, tolerance * e[i] / sum);
}

// Compares a row of layer norm with its double-precision reference.
static void check_layer_norm(const Row *row, const float *x, const float *y, unsigned width) {
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
        expect_close(row, width, "layer norm", y[i], should,
                     (1 + relative) * distance / deviation + 13 * unit * relative);
    }
}

typedef struct {
    double value;
    unsigned index;  // of the element, for ARGMAX
} Answer;

// Takes element i into the reference of the row's operation. Every step is exact.
static void take_reference(const Row *row, Answer *sofar, double x, unsigned i) {
    bool takes_place = false;
    switch (row->kind) {
    case PRODUCT:
        if (row->type == TYPE_INT) sofar->value = (int)((unsigned)sofar->value * (unsigned)(int)x);
        else sofar->value *= x;
        break;
    case MIN: takes_place = x < sofar->value; break;
    case MAX:
    case ARGMAX: takes_place = x > sofar->value; break;
    default: sofar->value += x;
    }
    if (takes_place) *sofar = {x, i};
}

// What the row's operation makes of nothing.
static Answer empty_answer(const Row *row) {
    double highest = row->type == TYPE_INT ? (double)INT_MAX : INFINITY;
    double lowest = row->type == TYPE_INT ? (double)INT_MIN : -INFINITY;
    double values[] = {row->type == TYPE_INT ? 0.0 : -0.0, 1, highest, lowest, lowest};
    return {values[row->kind], UINT_MAX};
}

static Answer read_answer(const Row *row) {
    struct { int value; unsigned index; } as_int;
    struct { float value; unsigned index; } as_float;
    struct { double value; unsigned index; } as_double;
    CUDA(cudaMemcpy(&as_int, lab.d_partial, sizeof as_int, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&as_float, lab.d_partial, sizeof as_float, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(&as_double, lab.d_partial, sizeof as_double, cudaMemcpyDeviceToHost));
    if (row->type == TYPE_INT) return {(double)as_int.value, as_int.index};
    if (row->type == TYPE_DOUBLE) return {as_double.value, as_double.index};
    return {as_float.value, as_float.index};
}

// Equal, the signs of zeros included; for ArgMax the place counts, and zeros are equal.
static void expect_answer(const Row *row, unsigned n, Answer should) {
    Answer is = read_answer(row);
    bool same_sign = signbit(is.value) == signbit(should.value);
    bool same = isnan(should.value) ? isnan(is.value) : is.value == should.value;
    if (same && row->kind == ARGMAX && is.index == should.index) return;
    if (same && row->kind != ARGMAX && (same_sign || isnan(is.value))) return;
    fprintf(stderr, "lab: %s: WRONG RESULT for %u elements: %.9g at %u, not %.9g at %u\n",
            row->stage.name, n, is.value, is.index, should.value, should.index);
    exit(1);
}

// Runs a row on the first n elements over poisoned output; returns how many blocks it had.
static unsigned run_poisoned(const Row *row, unsigned n) {
    CUDA(cudaMemset(lab.d_partial, 0xFF, n * sizeof(float) + 65536));
    CUDA(cudaDeviceSynchronize());
    unsigned blocks = launch(&row->stage, n, 0, 0);
    CUDA(cudaGetLastError());
    CUDA(cudaStreamSynchronize(lab.stream));
    return blocks;
}

// The rows of softmax and layer norm, or the copy, against what the host makes of them.
static void check_output(const Row *row, unsigned n) {
    float *h_out = (float *)malloc((n + 1) * sizeof(float));
    CUDA(cudaMemcpy(h_out, lab.d_partial, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned start = 0; start < n; start += ROW) {
        unsigned width = n - start < (unsigned)ROW ? n - start : (unsigned)ROW;
        const float *x = lab.h_in + start, *y = h_out + start;
        if (row->kind == SOFTMAX) check_softmax(row, x, y, width);
        else if (row->kind == LAYER_NORM) check_layer_norm(row, x, y, width);
        else if (memcmp(x, y, width * sizeof *x)) fail(1, row->stage.name, "WRONG COPY");
    }
    free(h_out);
}

static void check_row(const Row *row, unsigned n) {
    Answer should = empty_answer(row);
    for (unsigned i = 0; i < n && row->kind <= ARGMAX; i++)
        take_reference(row, &should, input_of(row, i), i);
    for (int repeat = 0; repeat < 2; repeat++) {
        unsigned blocks = run_poisoned(row, n);
        if (row->kind <= ARGMAX) expect_answer(row, n, should);
        else if (row->kind == MOMENTS) check_moments(row, n, blocks);
        else if (row->kind != SHORT_CUT) check_output(row, n);
    }
}

static void check_specials(const Row *row) {
    enum { N = 1000 };
    static const unsigned places[] = {0, N / 2, N - 1};
    for (const auto &special : specials)
        for (unsigned place : places) {
            if (special.kind != row->kind || row->type == TYPE_INT || lab.n < N) continue;
            for (unsigned i = 0; i < N; i++)
                put(row, i, i == place ? special.special : special.all);
            CUDA(cudaMemcpy(lab.d_in, lab.h_in, N * type_bytes[row->type], cudaMemcpyHostToDevice));
            run_poisoned(row, N);
            expect_answer(row, N, {special.value, special.place ? place : 0});
        }
}

static void check_all(const Row *row) {
    unsigned some = lab.n < 100003 ? lab.n : 100003;
    unsigned sizes[] = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024, 1025, some, lab.n};
    fill_inputs(row);
    for (unsigned n : sizes)
        if (n <= lab.n) check_row(row, n);
    if (row->kind != SHORT_CUT || lab.n == 0) return;
    Squares got;
    CUDA(cudaMemcpy(&got, lab.d_partial, sizeof got, cudaMemcpyDeviceToHost));
    float mean = got.sum / (float)lab.n, variance = got.of_squares / (float)lab.n - mean * mean;
    printf("the short cut makes the variance %.6g\n", variance);
}

static void time_row(const Row *row) {
    unsigned n = lab.n, bytes = type_bytes[row->type];
    lab.n = (unsigned)((size_t)n * bytes / sizeof(float));
    lab.read_gbps = (double)n * bytes / measure(&ceiling, 0).median / 1e3;
    lab.n = n;
    unsigned blocks = launch(&row->stage, n, 0, 0);
    report_row(&row->stage, blocks, type_names[row->type], (double)n * bytes,
               measure(&row->stage, 0));
}

int main(int argc, char **argv) {
    int wanted = 0;
    read_options(argc, argv);
    for (const Row &row : rows) {
        if (lab.list) printf("%-28s %s\n", row.stage.name, row.stage.note);
        wanted += is_wanted(&row.stage);
    }
    if (lab.list) return 0;
    if (!wanted) fail(2, "no such kernel (--list names them)", lab.only);
    lab.n *= 2;  // room for doubles
    open_device();
    fill(FLOAT);
    lab.n /= 2;
    for (const Row &row : rows)
        if (is_wanted(&row.stage)) check_specials(&row);
    for (const Row &row : rows)
        if (is_wanted(&row.stage)) check_all(&row);
    printf("%s: %u elements, every result right\n", lab.device.name, lab.n);
    if (lab.pin_gbps == 0) printf("no GPU: not measured\n");
    if (lab.pin_gbps == 0 || lab.n < 4) return 0;
    if (lab.csv) open_csv();
    printf("%-28s %5s %9s %10s %10s %10s %8s %6s %6s\n", "kernel", "block", "partials",
           "median us", "p5", "p95", "GB/s", "% pin", "% read");
    time_and_report(&ceiling, 0);
    for (const Row &row : rows) {
        if (!is_wanted(&row.stage)) continue;
        fill_inputs(&row);
        time_row(&row);
    }
    if (lab.rows && fclose(lab.rows)) fail(1, "cannot write", lab.csv);
    return 0;
}
