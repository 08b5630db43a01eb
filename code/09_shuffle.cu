// Generated from chapters/09-shuffle.md by tangle: edit that file, not this one.
// Chapter 9: the lanes of a warp exchange registers.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 09_shuffle.cu -o lab && ./lab
static __device__ float block_sum(float mine);  // over the block, valid in thread 0: below

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

// The integer form: the hardware adds the lanes of a warp in one instruction from compute
// capability 8.0 on; before that, five shuffles.
static __device__ int warp_sum_int(int mine) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, mine);
#else
    for (unsigned d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
    return mine;
#endif
}

// As block_sum_shuffle<8>, for ints.
__global__ void block_sum_redux(const int *in, int *partial, unsigned n) {
    __shared__ int warp_sums[32];
    int mine = 0;
    unsigned step = 8 * blockDim.x, base = blockIdx.x * step + threadIdx.x;
    for (; base < n; base += gridDim.x * step) {
#pragma unroll
        for (unsigned k = 0; k < 8; k++) {
            unsigned i = base + k * blockDim.x;
            mine += i < n ? in[i] : 0;
        }
    }
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    mine = warp_sum_int(mine);
    if (lane == 0) warp_sums[warp] = mine;
    __syncthreads();  // every warp's sum is there before the first warp adds them
    if (warp == 0) mine = warp_sum_int(lane < warps ? warp_sums[lane] : 0);
    if (threadIdx.x == 0) partial[blockIdx.x] = mine;
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

template <unsigned ELEMENTS>
static unsigned launch_shuffle(Run r) {
    unsigned most = r.sms * (r.sm_threads / r.block);
    unsigned enough = blocks_for(r.n, ELEMENTS * r.block);
    unsigned grid = enough < most ? enough : most;
    block_sum_shuffle<ELEMENTS><<<grid, r.block, 0, r.stream>>>(r.d_in, r.d_partial, r.n);
    return grid;
}

static unsigned launch_redux(Run r) {
    unsigned most = r.sms * (r.sm_threads / r.block), enough = blocks_for(r.n, 8 * r.block);
    unsigned grid = enough < most ? enough : most;
    block_sum_redux<<<grid, r.block, 0, r.stream>>>((const int *)r.d_in, (int *)r.d_partial, r.n);
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

static const Stage stages[] = {
    {"block_sum_shuffle_1", launch_shuffle<1>, "1 load in flight"},
    {"block_sum_shuffle_2", launch_shuffle<2>, "2 loads in flight"},
    {"block_sum_shuffle_4", launch_shuffle<4>, "4 loads in flight"},
    {"block_sum_shuffle_8", launch_shuffle<8>, "8 loads in flight"},
    {"block_sum_shuffle_16", launch_shuffle<16>, "16 loads in flight"},
    {"block_sum_redux", launch_redux, "ints, one instruction per warp", 0, INT},
    {"cub_device_reduce", launch_cub, "the library, one number"},
};
static const Lab lab = {stages, sizeof stages / sizeof *stages};

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
