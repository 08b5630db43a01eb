// Generated from chapters/15-many-gpus.md by tangle: edit that file, not this one.
// Chapter 15: a sum over all the GPUs of a host, or of many hosts.
// Copyright (c) 2026 The reduction workbook's authors. SPDX-License-Identifier: MIT
// Build and run: nvcc -O3 -arch=native 15_many_gpus.cu -lnccl -o lab && ./lab
// On many hosts: nvcc -O3 -arch=native -DWITH_MPI -ccbin mpicxx 15_many_gpus.cu -lnccl -o lab
//                mpirun ./lab
static __device__ float block_sum(float mine);  // over the block, valid in thread 0: below
static __device__ float thread_sum(const float *in, unsigned n);

// The sum. partial: room for a float per block. *tickets must be 0 before the first launch, and is
// 0 again after each one. Both belong to one launch at a time: a pair for each stream.
__global__ void sum_last_block(const float *in, float *out, unsigned n, float *partial,
                               unsigned *tickets) {
    __shared__ bool last;
    float sum = block_sum(thread_sum(in, n));
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // the partial sum is visible before the ticket is taken
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread knows whether its block is the last one
    if (!last) return;
    __threadfence();  // no partial sum is read before the ticket was taken
    float mine = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) mine += __ldcg(&partial[i]);
    sum = block_sum(mine);
    if (threadIdx.x == 0) *out = sum;
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

// This thread's part of the sum of in[0..n), by the grid-stride loop of chapter 9: eight loads on
// their way at once. Any grid; the threads of the grid share the elements.
static __device__ float thread_sum(const float *in, unsigned n) {
    float mine = 0;
    unsigned step = 8 * blockDim.x, base = blockIdx.x * step + threadIdx.x;
    for (; base < n; base += gridDim.x * step) {
        float loaded[8];
#pragma unroll
        for (unsigned k = 0; k < 8; k++) {
            unsigned i = base + k * blockDim.x;
            loaded[k] = i < n ? in[i] : 0.0f;
        }
#pragma unroll
        for (unsigned k = 0; k < 8; k++) mine += loaded[k];
    }
    return mine;
}

// element() of the harness, for the device.
static __device__ int element_on_device(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    i ^= i >> 16;
    return i & 8 ? 1 + (int)(i & 7) : -1 - (int)(i & 7);
}

// Writes the elements first, first + 1, ... to out[0..n). Any grid.
__global__ void write_elements(float *out, size_t n, unsigned first) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = gridDim.x * (size_t)blockDim.x;
    for (; i < n; i += step) out[i] = (float)element_on_device(first + (unsigned)i);
}

// Counts the elements of a reduced message that are not the sum over all ranks. Any grid.
__global__ void count_wrong(const float *out, size_t n, unsigned ranks, unsigned *wrong) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = gridDim.x * (size_t)blockDim.x;
    for (; i < n; i += step) {
        int sum = 0;
        for (unsigned r = 0; r < ranks; r++) sum += element_on_device((unsigned)i + r);
        if (out[i] != (float)sum) atomicAdd(wrong, 1u);
    }
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

#include <nccl.h>
#ifdef WITH_MPI
#define OMPI_SKIP_MPICXX 1  // the C interface is enough
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

// The grid that chapter 8 settled on: enough for n, and no more than fits on the device at once.
static unsigned one_wave(Run r) {
    unsigned most = r.sms * (r.sm_threads / r.block), enough = blocks_for(r.n, 8 * r.block);
    return enough < most ? enough : most;
}

static unsigned launch_slice(Run r) {
    static float *d_partial;  // a sum for each block of one wave
    static unsigned *d_tickets;
    if (!d_tickets) {
        cudaMalloc(&d_partial, 65536 * sizeof(float));
        cudaMalloc(&d_tickets, sizeof(unsigned));
        cudaMemset(d_tickets, 0, sizeof(unsigned));
    }
    sum_last_block<<<one_wave(r), r.block, 0, r.stream>>>(r.d_in, r.d_partial, r.n, d_partial,
                                                          d_tickets);
    return 1;
}

static const Stage stages[] = {
    {"sum_last_block", launch_slice, "for sum_1_gpu, sum_2_gpus, ... all_reduce_2_gpus, ..."},
};
static const Lab lab = {stages, sizeof stages / sizeof *stages};

// ---- The harness without its main program: appendix C explains it. ----

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

// ---- Many GPUs ----

#define NCCL(call) nccl_check((call), #call)
static void nccl_check(ncclResult_t result, const char *call) {
    if (result == ncclSuccess) return;
    fprintf(stderr, "lab: NCCL says: %s\n", ncclGetLastError(NULL));
    fail(1, call, ncclGetErrorString(result));
}

enum { MOST_GPUS = 512, GPU_COUNTS = 16, SIZES = 32 };

// A GPU that this process drives. Its rank is its number among the GPUs of all processes.
typedef struct {
    int device;
    unsigned rank;
    float *d_in, *d_out;        // elements, or a message to reduce; where a reduced message goes
    float *d_sum, *d_partial;   // the result; a partial sum per block of one wave
    unsigned *d_tickets;
    ncclComm_t comms[GPU_COUNTS];  // one for each number of GPUs that work together
    cudaStream_t stream;
    cudaEvent_t start, stop;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
} Gpu;

static struct {
    Gpu gpus[MOST_GPUS];
    unsigned here, all, first_rank;         // GPUs of this process, of all; the rank of gpus[0]
    unsigned counts[GPU_COUNTS], choices;   // 1, 2, 4, ... and all
    size_t room, message;                   // elements in d_in and in d_out
} team;

// One thing to check and to time.
typedef struct {
    char name[32];
    unsigned gpus, choice;  // gpus == team.counts[choice]
    size_t n;               // elements of the sum, or of the message
    bool message;           // an all-reduce alone
} Job;

// How many of this process's GPUs take part: those with the ranks below job->gpus.
static unsigned members(const Job *job) {
    if (job->gpus <= team.first_rank) return 0;
    unsigned above = job->gpus - team.first_rank;
    return above < team.here ? above : team.here;
}

// The first element of a rank's slice; that of rank + 1 is its end.
static size_t slice_start(const Job *job, unsigned rank) { return job->n * rank / job->gpus; }

// The longest slice of any rank.
static size_t longest_slice(const Job *job) { return (job->n + job->gpus - 1) / job->gpus; }

#ifdef WITH_MPI
#define SUFFIX "_mpi"  // to the names of kernels: the same work, another arrangement
static bool speaks(void) { return team.first_rank == 0; }  // one process reports

// Counts the processes; the ranks of a host take its GPUs in order, one each.
static void join(int *argc, char ***argv, int *device) {
    int rank, all;
    MPI_Comm host;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, device);
    team.here = 1, team.first_rank = (unsigned)rank, team.all = (unsigned)all;
}
static void share(ncclUniqueId *id) { MPI_Bcast(id, sizeof *id, MPI_BYTE, 0, MPI_COMM_WORLD); }
static double greatest(double mine) {
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}
static void leave(void) { MPI_Finalize(); }
#else
#define SUFFIX ""
static bool speaks(void) { return true; }
static void join(int *, char ***, int *device) { *device = 0; }
static void share(ncclUniqueId *) {}
static double greatest(double mine) { return mine; }
static void leave(void) {}
#endif

static void all_reduce(const Job *job, size_t n) {
    NCCL(ncclGroupStart());
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++)
        NCCL(ncclAllReduce(job->message ? g->d_in : g->d_sum, job->message ? g->d_out : g->d_sum, n,
                           ncclFloat, ncclSum, g->comms[job->choice], g->stream));
    NCCL(ncclGroupEnd());
}

// The sum of n elements, on every GPU that takes part: each adds up its slice, then all reduce.
// The slices of several launches in a row lie side by side, so that none is in the cache.
static void sum_gpus(const Job *job, unsigned input) {
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
        size_t count = slice_start(job, g->rank + 1) - slice_start(job, g->rank);
        size_t slot = (count / 64 + 1) * 64, slots = team.room / slot;
        const cudaDeviceProp *device = &bench.device;
        unsigned sms = (unsigned)device->multiProcessorCount;
        unsigned sm_threads = (unsigned)device->maxThreadsPerMultiProcessor;
        Run r = {g->d_in + (slots ? input % slots * slot : 0), g->d_sum, (unsigned)count,
                 bench.block, 0, sms, sm_threads, NULL, NULL, g->stream};
        CUDA(cudaSetDevice(g->device));
        sum_last_block<<<one_wave(r), r.block, 0, r.stream>>>(r.d_in, r.d_partial, r.n,
                                                              g->d_partial, g->d_tickets);
    }
    if (job->gpus > 1) all_reduce(job, 1);
}

static void start_job(const Job *job, unsigned input) {
    if (job->message) all_reduce(job, job->n);
    else sum_gpus(job, input);
}

static void open_gpu(Gpu *g, int device, unsigned rank) {
    g->device = device, g->rank = rank;
    CUDA(cudaSetDevice(device));
    CUDA(cudaMalloc(&g->d_in, (team.room + 64) * sizeof(float)));
    CUDA(cudaMalloc(&g->d_out, (team.message + 64) * sizeof(float)));
    CUDA(cudaMalloc(&g->d_sum, sizeof(float)));
    CUDA(cudaMalloc(&g->d_partial, 65536 * sizeof(float)));
    CUDA(cudaMalloc(&g->d_tickets, sizeof(unsigned)));
    CUDA(cudaMemset(g->d_tickets, 0, sizeof(unsigned)));
    CUDA(cudaStreamCreate(&g->stream));
    CUDA(cudaEventCreate(&g->start));
    CUDA(cudaEventCreate(&g->stop));
}

// Opens this process's GPUs, of which `device` is the first, and connects them to all others.
static void open_team(int device) {
    int count;
    CUDA(cudaGetDeviceCount(&count));
    if (!team.here) team.all = team.here = (unsigned)(count < MOST_GPUS ? count : MOST_GPUS);
    bool timed = bench.pin_gbps > 0;  // else this is the CPU device, and small sizes will do
    size_t memory = bench.device.totalGlobalMem / sizeof(float);
    size_t most = timed ? 64 * (size_t)bench.n : bench.n;
    team.message = !timed ? 1024 : memory / 16 < 1u << 28 ? memory / 16 : 1u << 28;
    team.room = memory / 4 < 1u << 31 ? memory / 4 : 1u << 31;
    if (team.room > most) team.room = most;
    if (team.room < team.message) team.room = team.message;
    for (unsigned i = 0; i < team.here; i++)
        open_gpu(&team.gpus[i], device + (int)i, team.first_rank + i);
    for (unsigned k = 1; k < team.all && team.choices + 1 < GPU_COUNTS; k *= 2)
        team.counts[team.choices++] = k;
    team.counts[team.choices++] = team.all;
    for (unsigned c = 0; c < team.choices; c++) {
        ncclUniqueId id;
        Job job = {"", team.counts[c], c};
        if (job.gpus == 1) continue;  // alone there is nobody to talk to
        if (speaks()) NCCL(ncclGetUniqueId(&id));
        share(&id);
        NCCL(ncclGroupStart());
        for (Gpu *g = team.gpus; g < team.gpus + members(&job); g++) {
            CUDA(cudaSetDevice(g->device));
            NCCL(ncclCommInitRank(&g->comms[c], (int)job.gpus, id, (int)g->rank));
        }
        NCCL(ncclGroupEnd());
    }
}

// The sum of the first n elements; quick where n is not less than in the call before. Each period
// of the elements adds up to 0.
static double sum_of_elements(size_t n) {
    static size_t known;
    static long long sum;
    n %= (size_t)1 << 32;
    if (n < known) known = 0, sum = 0;
    for (; known < n; known++) sum += element((unsigned)known);
    return (double)sum;
}

// Enough blocks of 256 threads for n elements, and no more than a loop over them needs.
static unsigned grid_for(size_t n) { return n < 1024 * 256 ? blocks_for((unsigned)n, 256) : 1024; }

static void place_elements(const Job *job, const Gpu *g) {
    size_t start = job->message ? g->rank : slice_start(job, g->rank);
    size_t count = job->message ? job->n : slice_start(job, g->rank + 1) - start;
    write_elements<<<grid_for(count), 256, 0, g->stream>>>(g->d_in, count, (unsigned)start);
    if (job->message) CUDA(cudaMemsetAsync(g->d_out, 0xFF, job->n * sizeof(float), g->stream));
    CUDA(cudaMemsetAsync(g->d_sum, 0xFF, sizeof(float), g->stream));
}

static void wait_for(const Job *job) {
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
        ncclResult_t state = ncclSuccess;
        CUDA(cudaStreamSynchronize(g->stream));
        if (job->gpus > 1) NCCL(ncclCommGetAsyncError(g->comms[job->choice], &state));
        NCCL(state);
    }
}

// Twice over fresh poison: every GPU that takes part has exactly the right result.
static void check_job(const Job *job) {
    for (int repeat = 0; repeat < 2; repeat++) {
        for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
            CUDA(cudaSetDevice(g->device));
            place_elements(job, g);
        }
        start_job(job, 0);
        wait_for(job);
        for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
            float sum = 0;
            unsigned wrong = 0;
            CUDA(cudaSetDevice(g->device));
            if (job->message) {
                CUDA(cudaMemset(g->d_partial, 0, sizeof(unsigned)));
                count_wrong<<<grid_for(job->n), 256>>>(g->d_out, job->n, job->gpus,
                                                       (unsigned *)g->d_partial);
                CUDA(cudaMemcpy(&wrong, g->d_partial, sizeof wrong, cudaMemcpyDeviceToHost));
            } else {
                CUDA(cudaMemcpy(&sum, g->d_sum, sizeof sum, cudaMemcpyDeviceToHost));
                wrong = sum != sum_of_elements(job->n);
            }
            if (!wrong) continue;
            fprintf(stderr, "lab: %s: WRONG on rank %u: %u of %zu elements, sum %.9g not %.9g\n",
                    job->name, g->rank, wrong, job->n, sum, sum_of_elements(job->n));
            exit(1);
        }
    }
}

// Records `launches` of the job into a graph on each GPU, between two events and behind a barrier.
static void record_graphs(const Job *job, unsigned launches) {
    Job barrier = *job;
    barrier.message = false;
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
        CUDA(cudaSetDevice(g->device));
        CUDA(cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal));
    }
    if (job->gpus > 1) all_reduce(&barrier, 1);
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++)
        CUDA(cudaEventRecordWithFlags(g->start, g->stream, cudaEventRecordExternal));
    for (unsigned k = 0; k < launches; k++) start_job(job, k);
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
        CUDA(cudaEventRecordWithFlags(g->stop, g->stream, cudaEventRecordExternal));
        CUDA(cudaStreamEndCapture(g->stream, &g->graph));
    }
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {  // none is recording any more
        CUDA(cudaSetDevice(g->device));
        CUDA(cudaGraphInstantiate(&g->replay, g->graph, 0));
        CUDA(cudaGraphDestroy(g->graph));
    }
}

static void drop_graphs(const Job *job) {
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++)
        CUDA(cudaGraphExecDestroy(g->replay));
}

// Replays the graphs with other data in the caches; milliseconds of the slowest GPU of all.
static double replay(const Job *job) {
    size_t flush = team.room < (64u << 20) ? team.room : 64u << 20;
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
        CUDA(cudaSetDevice(g->device));
        read_ceiling<<<(unsigned)(flush / 4096 + 1), 256, 0, g->stream>>>(
            (const float4 *)(g->d_in + (team.room - flush) / 4 * 4), g->d_sum,
            (unsigned)(flush / 4), NAN);
        CUDA(cudaGraphLaunch(g->replay, g->stream));
    }
    wait_for(job);
    float longest = 0, ms;
    for (Gpu *g = team.gpus; g < team.gpus + members(job); g++) {
        CUDA(cudaEventElapsedTime(&ms, g->start, g->stop));
        longest = ms > longest ? ms : longest;
    }
    return greatest(longest);
}

// As measure() of the harness, for several GPUs. All processes go through it in step.
static Timing time_job(const Job *job) {
    static float us[1000];
    double ms = 0;
    record_graphs(job, 1);
    for (int warm = 0; warm < 3; warm++) ms = replay(job);
    drop_graphs(job);
    unsigned launches = ms > 6 ? 1 : ms < 0.03 ? 200 : (unsigned)(6 / ms), samples = 0;
    record_graphs(job, launches);
    for (double spent = 0; samples < 5 || (samples < 1000 && spent < bench.seconds); samples++) {
        ms = replay(job);
        us[samples] = (float)(1e3 * ms / launches);
        spent += ms / 1e3;
    }
    drop_graphs(job);
    std::sort(us, us + samples);
    return {us[samples / 2], us[samples / 20], us[samples - 1 - samples / 20], (int)samples};
}

static double us_of[GPU_COUNTS][SIZES];  // medians of sums: by number of GPUs, by size

// Calls visit for a job unless -k excludes it; returns whether it did.
static int visit_job(const Job *job, int size, void (*visit)(const Job *job, int size)) {
    if (bench.only && strcmp(bench.only, job->name)) return 0;
    visit(job, size);
    return 1;
}

static int each_job(void (*visit)(const Job *job, int size)) {
    int visited = 0;
    for (unsigned c = 0; c < team.choices; c++) {
        Job job = {"", team.counts[c], c, 1, true};
        snprintf(job.name, sizeof job.name, "all_reduce_%u_gpus" SUFFIX, job.gpus);
        for (; job.gpus > 1 && job.n <= team.message; job.n *= 4)
            visited += visit_job(&job, 0, visit);
    }
    for (int size = 0; size < SIZES; size++) {
        size_t n = ((size_t)bench.n << size) / 256;
        for (unsigned c = 0; n > 0 && c < team.choices; c++) {
            Job job = {"", team.counts[c], c, n, false};
            const char *many = job.gpus > 1 ? "s" : "";
            if (longest_slice(&job) > team.room) continue;
            snprintf(job.name, sizeof job.name, "sum_%u_gpu%s" SUFFIX, job.gpus, many);
            visited += visit_job(&job, size, visit);
        }
    }
    return visited;
}

static void check_each(const Job *job, int) { check_job(job); }

// Times a job, prints its row, adds it to the CSV. GB/s counts the bytes of the input once.
static void report_job(const Job *job, int size) {
    Timing t = time_job(job);
    double gbps = (double)job->n * sizeof(float) / t.median / 1e3, k = job->gpus;
    printf("%-22s %13zu %10.2f %8.0f  ", job->name, job->n, t.median, gbps);
    if (bench.rows)
        fprintf(bench.rows, "%s,%zu,%u,%u,0,float,%.4f,%.4f,%.4f,%d,%.5g,", job->name, job->n,
                bench.block, job->gpus, t.median, t.p5, t.p95, t.samples, gbps);
    if (job->message) {
        printf("bus %.0f GB/s\n", gbps * 2 * (k - 1) / k);
        if (bench.rows) fprintf(bench.rows, ",,\"n elements on each GPU\"\n");
        return;
    }
    us_of[job->choice][size] = t.median;
    double alone = us_of[0][size], part = 0;
    for (int smaller = 0; smaller <= size; smaller++)
        if (job->gpus == 1u << (size - smaller)) part = us_of[0][smaller];
    if (alone > 0) printf("strong %.1f %% ", 100 * alone / k / t.median);
    if (part > 0) printf("weak %.1f %%", 100 * part / t.median);
    printf("\n");
    if (bench.rows)
        fprintf(bench.rows, "%.4g,,\"n elements in all\"\n", 100 * gbps / k / bench.pin_gbps);
}

// Slices of no elements, of one, and of unequal lengths, on every number of GPUs.
static void check_awkward_sizes(void) {
    static const size_t sizes[] = {0, 1, 2, 3, 5, 31, 33, 1000, 1025, 100003};
    for (size_t n : sizes)
        for (unsigned c = 0; c < team.choices; c++) {
            Job job = {"sum of an awkward size", team.counts[c], c, n};
            if (longest_slice(&job) <= team.room) check_job(&job);
        }
}

int main(int argc, char **argv) {
    int device = 0;
    read_options(argc, argv);
    join(&argc, &argv, &device);
    if (!speaks() && !freopen("/dev/null", "w", stdout)) fail(1, "cannot open", "/dev/null");
    cudaSetDevice(device);  // a failure is found and explained by the next call
    open_device();
    int count = 0;
    CUDA(cudaGetDeviceCount(&count));
    if (device >= count) fail(3, "more processes than GPUs", "start one process per GPU");
    open_team(device);
    check_awkward_sizes();
    if (!each_job(check_each) && bench.only)
        fail(2, "no such kernel (--list names them)", bench.only);
    CUDA(cudaSetDevice(device));
    check_sizes(&stages[0]);
    int version;
    NCCL(ncclGetVersion(&version));
    printf("%u x %s, %u in this process, NCCL %d: every result right\n", team.all,
           bench.device.name, team.here, version);
    if (team.all == 1) printf("one GPU: nothing to bring together, no all-reduce is timed\n");
    if (bench.pin_gbps == 0) printf("no GPU: not measured\n");
    if (bench.pin_gbps == 0 || bench.n < 4) return leave(), 0;
    if (team.all > 1) {
        char one[200];
        snprintf(one, sizeof one, "%.199s", bench.device.name);
        snprintf(bench.device.name, sizeof bench.device.name, "%u x %s", team.all, one);
    }
    CUDA(cudaSetDevice(device));
    if (bench.csv && speaks()) open_csv();
    if (sizeof SUFFIX == 1) time_and_report(&ceiling, 0);  // the same in both arrangements
    each_job(report_job);
    if (bench.rows && fclose(bench.rows)) fail(1, "cannot write", bench.csv);
    leave();
    return 0;
}
