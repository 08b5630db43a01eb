// Chapter 12: CUB at the level of a warp, a block and a device, and Thrust.
// Build and run: nvcc -O3 12_the_library.cu -o lab && ./lab
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
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

// As block_sum_last_warp with the block size known to the compiler: every loop disappears.
// Block: exactly BLOCK threads, 64 to 1024.
template <unsigned BLOCK>
__global__ void block_sum_unrolled(const float *in, float *partial, unsigned n) {
    __shared__ float s[BLOCK];
    unsigned t = threadIdx.x, i = blockIdx.x * (2 * BLOCK) + t;
    float mine = i < n ? in[i] : 0.0f;
    if (i + BLOCK < n) mine += in[i + BLOCK];
    s[t] = mine;
    __syncthreads();  // every pair is in s[] before any two are added
#pragma unroll
    for (unsigned d = BLOCK / 2; d > 32; d /= 2) {
        if (t < d) s[t] = mine = mine + s[t + d];
        __syncthreads();  // this level is complete before the next one reads it
    }
    if (t < 32) {
        #pragma unroll
        for (unsigned d = 32; d > 0; d /= 2) {
            mine += s[t + d];
            __syncwarp();  // every lane has read its partner before any partner changes
            s[t] = mine;
            __syncwarp();  // every lane has written before the next level reads
        }
        if (t == 0) partial[blockIdx.x] = mine;
    }
}

template <unsigned BLOCK>
static unsigned launch_unrolled(Run r) {
    unsigned grid = blocks_for(r.n, 2 * BLOCK);
    block_sum_unrolled<BLOCK><<<grid, BLOCK, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return grid;
}

// The two elements of this thread in its block's slice of 512, added.
static __device__ float pair_sum(const float *in, unsigned n) {
    unsigned i = blockIdx.x * 512 + threadIdx.x;
    return (i < n ? in[i] : 0.0f) + (i + 256 < n ? in[i + 256] : 0.0f);
}

// One partial sum per warp. Block: 256 threads, two elements each. Reads 4n bytes, writes n / 16.
__global__ void warp_sum_cub(const float *in, float *partial, unsigned n) {
    typedef cub::WarpReduce<float> Warp;
    __shared__ Warp::TempStorage storage[8];
    unsigned warp = threadIdx.x / 32;
    float sum = Warp(storage[warp]).Sum(pair_sum(in, n));
    if (threadIdx.x % 32 == 0) partial[blockIdx.x * 8 + warp] = sum;
}

// One partial sum per block of 256 threads, two elements each. Reads 4n bytes, writes n / 128.
template <cub::BlockReduceAlgorithm ALGORITHM>
static __device__ void block_sum_cub(const float *in, float *partial, unsigned n) {
    typedef cub::BlockReduce<float, 256, ALGORITHM> Block;
    __shared__ typename Block::TempStorage storage;
    float sum = Block(storage).Sum(pair_sum(in, n));
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;  // only thread 0 holds the sum
}

__global__ void block_sum_cub_warps(const float *in, float *partial, unsigned n) {
    block_sum_cub<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(in, partial, n);
}

__global__ void block_sum_cub_raking(const float *in, float *partial, unsigned n) {
    block_sum_cub<cub::BLOCK_REDUCE_RAKING>(in, partial, n);
}

__global__ void block_sum_cub_commutative(const float *in, float *partial, unsigned n) {
    block_sum_cub<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(in, partial, n);
}

template <void (*KERNEL)(const float *, float *, unsigned), unsigned PARTIALS>
static unsigned launch_pairs(Run r) {
    unsigned grid = blocks_for(r.n, 512);
    KERNEL<<<grid, 256, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return grid * PARTIALS;
}

// The sum of `mine` over the 32 lanes of a warp, valid in lane 0. All lanes must call it.
static __device__ float warp_sum(float mine) {
    for (unsigned d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
    return mine;
}

// The sum of `mine` over the block, valid in thread 0: one sum per warp, then one warp's sum.
static __device__ float block_sum(float mine) {
    __shared__ float warp_sums[32];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    mine = warp_sum(mine);
    if (lane == 0) warp_sums[warp] = mine;
    __syncthreads();  // every warp's sum is there before the first warp adds them
    return warp == 0 ? warp_sum(lane < warps ? warp_sums[lane] : 0.0f) : 0.0f;
}

// One partial sum per block, any n with any grid; ELEMENTS loads of each thread are independent.
// Shared memory: 128 bytes. Reads 4n bytes, writes 4 per block.
template <unsigned ELEMENTS>
__global__ void block_sum_shuffle(const float *in, float *partial, unsigned n) {
    float mine = 0;
    unsigned step = ELEMENTS * blockDim.x, base = blockIdx.x * step + threadIdx.x;
    for (; base < n; base += gridDim.x * step) {
        float loaded[ELEMENTS];
#pragma unroll
        for (unsigned k = 0; k < ELEMENTS; k++) {
            unsigned i = base + k * blockDim.x;
            loaded[k] = i < n ? in[i] : 0.0f;
        }
#pragma unroll
        for (unsigned k = 0; k < ELEMENTS; k++) mine += loaded[k];
    }
    float sum = block_sum(mine);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <unsigned ELEMENTS>
static unsigned launch_shuffle(Run r) {
    unsigned most = r.sms * (2048 / r.block), enough = blocks_for(r.n, ELEMENTS * r.block);
    unsigned grid = enough < most ? enough : most;
    block_sum_shuffle<ELEMENTS><<<grid, r.block, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return grid;
}

// The ruler: NVIDIA's CUB, which finishes on the GPU. Its scratch space is allocated beforehand.
static unsigned launch_cub(Run r) {
    static void *d_scratch;
    static size_t scratch_bytes;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(NULL, bytes, r.d_in, r.d_partial, r.n, r.stream);
    if (bytes > scratch_bytes) {
        cudaFree(d_scratch);
        cudaMalloc(&d_scratch, scratch_bytes = bytes);
    }
    cub::DeviceReduce::Sum(d_scratch, bytes, r.d_in, r.d_partial, r.n, r.stream);
    return 1;
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

// CUB's sum as a call that returns a number; its scratch space is kept between calls.
static float call_cub(Run r) {
    float sum;
    launch_cub(r);
    CUDA(cudaMemcpyAsync(&sum, r.d_partial, sizeof sum, cudaMemcpyDeviceToHost, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
    return sum;
}

// The same with scratch space from cudaMalloc in every call.
static float call_cub_malloc(Run r) {
    void *d_scratch = NULL;
    float sum;
    size_t bytes = 0;
    CUDA(cub::DeviceReduce::Sum(NULL, bytes, r.d_in, r.d_partial, r.n, r.stream));
    CUDA(cudaMalloc(&d_scratch, bytes));
    CUDA(cub::DeviceReduce::Sum(d_scratch, bytes, r.d_in, r.d_partial, r.n, r.stream));
    CUDA(cudaMemcpyAsync(&sum, r.d_partial, sizeof sum, cudaMemcpyDeviceToHost, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
    CUDA(cudaFree(d_scratch));
    return sum;
}

// One line of Thrust.
static float call_thrust(Run r) {
    return thrust::reduce(thrust::cuda::par.on(r.stream), r.d_in, r.d_in + r.n, 0.0f);
}

typedef float (*Call)(Run r);

template <Call CALL>
static unsigned launch_call(Run r) {
    float sum = CALL(r);
    CUDA(cudaMemcpy(r.d_partial, &sum, sizeof sum, cudaMemcpyHostToDevice));
    return 1;
}

// A call that returns its sum to the host, and the same as a stage, for the checks.
typedef struct {
    Stage stage;
    Call call;
} CallRow;

#define PAIRS(kernel, partials) launch_pairs<kernel, partials>
static const Stage stages[] = {
    {"block_sum_unrolled_256", launch_unrolled<256>, "our tree, by hand", 256},
    {"warp_sum_cub", PAIRS(warp_sum_cub, 8), "a partial sum per warp", 256},
    {"block_sum_cub_warps", PAIRS(block_sum_cub_warps, 1), "shuffles, then one thread", 256},
    {"block_sum_cub_raking", PAIRS(block_sum_cub_raking, 1), "one warp rakes", 256},
    {"block_sum_cub_commutative", PAIRS(block_sum_cub_commutative, 1), "less traffic", 256},
    {"block_sum_shuffle_8", launch_shuffle<8>, "chapter 9, without the last step"},
    {"cub_device_reduce", launch_cub, "the device level, one number"},
};

static const CallRow calls[] = {
    {{"call_cub", launch_call<call_cub>, "kept storage"}, call_cub},
    {{"call_cub_malloc", launch_call<call_cub_malloc>, "storage per call"}, call_cub_malloc},
    {{"call_thrust", launch_call<call_thrust>, "one line"}, call_thrust},
};

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

// The storage that a sum of n elements of type T asks for.
template <typename T>
static size_t storage_bytes(unsigned n) {
    size_t bytes = 0;
    CUDA(cub::DeviceReduce::Sum(NULL, bytes, (const T *)NULL, (T *)NULL, n));
    return bytes;
}

// Prints what each type asks for; storage for the largest n must do for every smaller one.
static void check_storage(void) {
    static const unsigned sizes[] = {1, 2048, 2049, 4096, 4097, 1u << 20, 1u << 30};
    size_t before[4] = {0, 0, 0, 0};
    printf("%-28s %9s %9s %9s %9s\n", "scratch bytes for n =", "char", "int", "float", "double");
    for (unsigned n : sizes) {
        size_t bytes[] = {storage_bytes<char>(n), storage_bytes<int>(n), storage_bytes<float>(n),
                          storage_bytes<double>(n)};
        printf("%-28u %9zu %9zu %9zu %9zu\n", n, bytes[0], bytes[1], bytes[2], bytes[3]);
        for (int type = 0; type < 4; type++) {
            if (bytes[type] < before[type]) fail(1, "cub", "a larger n needs less storage");
            before[type] = bytes[type];
        }
    }
}

static bool is_wanted(const Stage *stage) { return !lab.only || !strcmp(lab.only, stage->name); }

static double host_us(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

// Times whole calls with the host's clock, over rotating inputs.
static void time_call(const CallRow *row) {
    static float us[1000];
    int samples = 0;
    for (double spent = -3; samples < 5 || (samples < 1000 && spent < 1e6 * lab.seconds);) {
        size_t input = (size_t)samples % lab.slots * lab.slot;
        Run run = {(const float *)((char *)lab.d_in + input), lab.d_partial, lab.n, lab.block, 0, 0,
                   lab.h_in, lab.stream};
        double start = host_us();
        row->call(run);
        us[samples] = (float)(host_us() - start);
        if (spent < 0) spent += 1;  // the first three calls only warm up
        else spent += us[samples++];
    }
    qsort(us, (size_t)samples, sizeof us[0], ascending);
    report_row(&row->stage, 1, "float", 4.0 * lab.n,
               {us[samples / 2], us[samples / 20], us[samples - 1 - samples / 20], samples});
}

int main(int argc, char **argv) {
    int wanted = 0;
    read_options(argc, argv);
    for (const Stage &stage : stages) {
        if (lab.list) printf("%-28s %s\n", stage.name, stage.note);
        wanted += is_wanted(&stage);
    }
    for (const CallRow &row : calls) {
        if (lab.list) printf("%-28s %s\n", row.stage.name, row.stage.note);
        wanted += is_wanted(&row.stage);
    }
    if (lab.list) return 0;
    if (!wanted) fail(2, "no such kernel (--list names them)", lab.only);
    open_device();
    fill(FLOAT);
    for (const CallRow &row : calls)
        if (is_wanted(&row.stage)) check_sizes(&row.stage);
    for (const Stage &stage : stages)
        if (is_wanted(&stage)) check_sizes(&stage);
    printf("%s: %u elements, every sum right\n", lab.device.name, lab.n);
    check_storage();
    if (lab.pin_gbps == 0) printf("no GPU: not measured\n");
    if (lab.pin_gbps == 0 || lab.n < 4) return 0;
    if (lab.csv) open_csv();
    printf("%-28s %5s %9s %10s %10s %10s %8s %6s %6s\n", "kernel", "block", "partials",
           "median us", "p5", "p95", "GB/s", "% pin", "% read");
    time_and_report(&ceiling, 0);
    for (const Stage &stage : stages)
        if (is_wanted(&stage)) time_and_report(&stage, 0);
    for (const CallRow &row : calls)
        if (is_wanted(&row.stage)) time_call(&row);
    if (lab.rows && fclose(lab.rows)) fail(1, "cannot write", lab.csv);
    return 0;
}
