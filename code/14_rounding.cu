// Chapter 14: the error of a sum by order and accumulator, and whether it is the same every time.
// Build and run: nvcc -O3 14_rounding.cu -o lab && ./lab
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

// Sums in[0..n) with one thread of one block. Reads 4n bytes, writes 4.
__global__ void sum_one_thread(const float *in, float *sum, unsigned n) {
    float total = 0;
    for (unsigned i = 0; i < n; i++) total += in[i];
    *sum = total;
}

static unsigned launch_one_thread(Run r) {
    sum_one_thread<<<1, 1, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return 1;
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

// out[b] = the sum of in[512 b .. 512 b + 511] as a tree. Grid covers n. Reads 4n bytes.
__global__ void tree_pass(const float *in, float *out, unsigned n) {
    unsigned i = blockIdx.x * 512 + threadIdx.x;
    float sum = block_tree<Plain>((i < n ? in[i] : 0) + (i + 256 < n ? in[i + 256] : 0));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
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

// Every block adds its part to *out, in the order in which the blocks happen to finish.
__global__ void sum_atomic(const float *in, float *out, unsigned n) {
    float sum = block_tree<Plain>(thread_part<Plain>(in, n));
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

static unsigned launch_atomic(Run r) {
    cudaMemsetAsync(r.d_partial, 0, sizeof(float), r.stream);
    sum_atomic<<<grid_for(r.n), BLOCK, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return 1;
}

enum Order { SEQUENTIAL, TREE, GRID_STRIDE, PAIRWISE, KAHAN, DOUBLE, ATOMIC };

typedef struct {
    Stage stage;
    Order method;
} Row;

static const Row rows[] = {
    {{"sum_one_thread", launch_one_thread, "", 1}, SEQUENTIAL},
    {{"sum_tree", launch_tree, "", BLOCK}, TREE},
    {{"sum_grid_stride", launch_sum<float, sum_grid_stride>, "", BLOCK}, GRID_STRIDE},
    {{"sum_pairwise", launch_sum<float, sum_pairwise>, "", BLOCK}, PAIRWISE},
    {{"sum_kahan", launch_sum<Kahan::Part, sum_kahan>, "", BLOCK}, KAHAN},
    {{"sum_double", launch_sum<double, sum_double>, "", BLOCK}, DOUBLE},
    {{"sum_atomic", launch_atomic, "", BLOCK}, ATOMIC},
};

// The most additions that an element of n goes through.
static double additions(Order method, unsigned n) {
    double batches = ceil(n / (16.0 * BLOCK * grid_for(n))), block = 8, blocks = grid_for(n);
    double finish = ceil(blocks / BLOCK) + block;
    double passes = 1;
    for (unsigned left = blocks_for(n, 512); left > 1; left = blocks_for(left, 512)) passes++;
    switch (method) {
    case SEQUENTIAL: return n;
    case TREE: return passes * (1 + block);
    case PAIRWISE: return 4 + ceil(log2(batches + 1)) + 1 + block + finish;
    case ATOMIC: return 16 * batches + block + blocks;
    default: return 16 * batches + block + finish;
    }
}

// The largest relative error that theory allows for a sum of this condition.
static double bound_of(Order method, unsigned n, double condition) {
    const double u = 1.0 / (1 << 24), tiny = u * u * 32;  // half a unit of float and of double
    double k = additions(method, n);
    if (method == KAHAN) return u + (2 * u + 8 * k * u * u) * condition;
    if (method == DOUBLE) return u + k * tiny / (1 - k * tiny) * condition;
    if (method == SEQUENTIAL) return k * u * condition;  // Jeannerod and Rump (2013): any n
    return k * u / (1 - k * u) * condition;
}

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

// A step on the host, never timed: adds up the partial sums that the kernel left.
static double finish_on_host(Elem elem, unsigned partials) {
    float *h_partial = (float *)calloc(partials + 1, sizeof(float));
    CUDA(cudaMemcpy(h_partial, lab.d_partial, partials * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (unsigned i = 0; i < partials; i++)
        sum += elem == INT ? (double)((int *)h_partial)[i] : (double)h_partial[i];
    free(h_partial);
    return sum;
}

// The first n elements must sum to exactly the right number, twice, over poisoned output.
static void check(const Stage *stage, unsigned n, unsigned grid) {
    double expected = 0, sum;
    for (unsigned i = 0; i < n; i++) expected += element(i);
    for (int repeat = 0; repeat < 2; repeat++) {
        CUDA(cudaMemset(lab.d_partial, 0xFF, partial_bytes(n)));
        CUDA(cudaDeviceSynchronize());
        unsigned partials = launch(stage, n, grid, 0);
        CUDA(cudaGetLastError());
        CUDA(cudaStreamSynchronize(lab.stream));
        if ((sum = finish_on_host(stage->elem, partials)) == expected) continue;
        fprintf(stderr, "lab: %s: WRONG SUM of %u elements: %.9g in %u partial sums, not %.9g\n",
                stage->name, n, sum, partials, expected);
        if (!stage->counter_example) exit(1);
    }
}

static void check_sizes(const Stage *stage) {
    unsigned block = block_of(stage), some = lab.n < 100003 ? lab.n : 100003;
    unsigned sizes[] = {0, 1, 31, 32, 33, 1000, block - 1, block, block + 1, some, lab.n};
    for (const unsigned *grid = stage->sweep; grid && *grid; grid++)
        if (lab.pin_gbps > 0 || *grid <= 4096) check(stage, some, *grid);  // else never timed
    for (unsigned n : sizes)
        if (n <= lab.n) check(stage, n, 0);
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

typedef struct {
    double high, low;
} DoubleDouble;

static void add_exactly(DoubleDouble *sum, double x) {
    double s = sum->high + x, from_x = s - sum->high, from_sum = s - from_x;
    double e = (sum->high - from_sum) + (x - from_x) + sum->low;
    sum->high = s + e;
    sum->low = e - (sum->high - s);
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

typedef struct {
    const Row *row;
    int data;
    unsigned n;
    double error, bound, condition;
} Measured;

static Measured measured[512];
static int measured_count;

// The sum of the first n elements of the first input.
static float sum_once(const Row *row, unsigned n) {
    float sum;
    launch(&row->stage, n, 0, 0);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpyAsync(&sum, lab.d_partial, sizeof sum, cudaMemcpyDeviceToHost, lab.stream));
    CUDA(cudaStreamSynchronize(lab.stream));
    return sum;
}

// The errors of every method for n elements of one kind of data.
static void measure_errors(int data, unsigned n) {
    DoubleDouble sum = {0, 0}, size = {0, 0};
    for (unsigned i = 0; i < n; i++) {
        lab.h_in[i] = datum(data, i, n);
        add_exactly(&sum, lab.h_in[i]);
        add_exactly(&size, fabsf(lab.h_in[i]));
    }
    CUDA(cudaMemcpy(lab.d_in, lab.h_in, n * sizeof(float), cudaMemcpyHostToDevice));
    double condition = size.high / fabs(sum.high);
    printf("%-10s %9u %9.1f", data_names[data], n, condition);
    for (const Row &row : rows) {
        double s = sum_once(&row, n), bound = bound_of(row.method, n, condition);
        double error = fabs((s - sum.high) - sum.low) / fabs(sum.high);
        printf("  %8.1e", error);
        measured[measured_count++] = {&row, data, n, error, bound, condition};
        if (error <= bound) continue;
        fprintf(stderr, "\nlab: %s: ERROR %.3g of %u elements is above the bound %.3g\n",
                row.stage.name, error, n, bound);
        exit(1);
    }
    printf("\n");
}

static void measure_all_errors(void) {
    printf("%-10s %9s %9s", "data", "n", "condition");
    for (const Row &row : rows) printf("  %8.8s", strchr(row.stage.name, '_') + 1);
    printf("\n");
    for (int data = 0; data < DATA_KINDS; data++)
        for (unsigned n = 1024; n <= lab.n && n <= 1u << 24; n *= 4) measure_errors(data, n);
}

// How many different results a hundred runs on the first n elements of the input have.
static int distinct_results(const Row *row, unsigned n) {
    float seen[100];
    int count = 0;
    for (int run = 0; run < 100; run++) {
        float sum = sum_once(row, n);
        int k = 0;
        while (k < count && memcmp(&seen[k], &sum, sizeof sum)) k++;
        if (k == count) seen[count++] = sum;
    }
    return count;
}

// Counts the different results of every row; only the atomic sum may have more than one.
static void count_distinct(int *distinct) {
    unsigned some = lab.n < 1u << 20 ? lab.n : 1u << 20;
    for (unsigned i = 0; i < some; i++) lab.h_in[i] = datum(EVEN, i, some);
    CUDA(cudaMemcpy(lab.d_in, lab.h_in, some * sizeof(float), cudaMemcpyHostToDevice));
    for (const Row &row : rows) {
        if (row.method == SEQUENTIAL || !is_wanted(&row.stage)) continue;
        int count = distinct[&row - rows] = distinct_results(&row, some);
        printf("%-28s %3d different results in 100 runs\n", row.stage.name, count);
        if (count != 1 && row.method != ATOMIC) fail(1, row.stage.name, "results vary");
    }
}

// Writes the errors as CSV: a file of its own, since they are the same on every device.
static void write_errors(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) fail(1, "cannot write", path);
    fprintf(file, "order,data,n,relative_error,bound,condition\n");
    for (int i = 0; i < measured_count; i++)
        if (measured[i].row->method != ATOMIC)  // whose error is another one in every run
            fprintf(file, "%s,%s,%u,%.4g,%.4g,%.4g\n", measured[i].row->stage.name,
                    data_names[measured[i].data], measured[i].n, measured[i].error,
                    measured[i].bound, measured[i].condition);
    if (fclose(file)) fail(1, "cannot write", path);
}

// Times a row; its note tells its errors at the largest size and its different results.
static void time_row(const Row *row, int distinct) {
    static char note[128];
    double last[DATA_KINDS] = {0};
    for (int i = 0; i < measured_count; i++)
        if (measured[i].row == row) last[measured[i].data] = measured[i].error;
    snprintf(note, sizeof note, "errors %.1e, %.1e, %.1e; results in 100 runs: %d", last[EVEN],
             last[LOPSIDED], last[CANCELLING], distinct);
    Stage stage = row->stage;
    stage.note = note;
    report_row(&stage, 1, "float", 4.0 * lab.n, measure(&stage, 0));
}

int main(int argc, char **argv) {
    const char *errors = NULL;
    int kept = 1, wanted = 0, distinct[sizeof rows / sizeof *rows] = {0};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-h")) printf("also: --errors FILE, where the errors go\n");
        if (!strcmp(argv[i], "--errors") && i + 1 < argc) errors = argv[++i];
        else argv[kept++] = argv[i];
    }
    read_options(kept, argv);
    for (const Row &row : rows) {
        if (lab.list) printf("%s\n", row.stage.name);
        wanted += is_wanted(&row.stage);
    }
    if (lab.list) return 0;
    if (!wanted) fail(2, "no such kernel (--list names them)", lab.only);
    open_device();
    measure_all_errors();
    count_distinct(distinct);
    fill(FLOAT);
    for (const Row &row : rows)
        if (is_wanted(&row.stage)) check_sizes(&row.stage);
    printf("%s: %u elements, every sum right\n", lab.device.name, lab.n);
    if (errors) write_errors(errors);
    if (lab.pin_gbps == 0) printf("no GPU: not measured\n");
    if (lab.pin_gbps == 0 || lab.n < 4) return 0;
    if (lab.csv) open_csv();
    printf("%-28s %5s %9s %10s %10s %10s %8s %6s %6s\n", "kernel", "block", "partials",
           "median us", "p5", "p95", "GB/s", "% pin", "% read");
    time_and_report(&ceiling, 0);
    for (const Row &row : rows)
        if (row.method != SEQUENTIAL && is_wanted(&row.stage))
            time_row(&row, distinct[&row - rows]);
    if (lab.rows && fclose(lab.rows)) fail(1, "cannot write", lab.csv);
    return 0;
}
