// Generated from chapters/18-what-goes-wrong.md by tangle: edit that file, not this one.
// Exercise: a ticket in a function. Correct take_ticket().
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A launch to check, and the results that it must leave for n elements.
template <class Elem, class Result> struct Exercise {
    unsigned (*launch)(const Elem *d_in, Result *d_out, unsigned n);  // returns how many results
    unsigned n, block;  // elements of the run that is counted; threads per block
    // Result k, and NAN past the last one; NULL: all of them add up to the sum.
    double (*expected)(const Elem *in, unsigned n, unsigned k);
    double (*input)(unsigned i);  // element i; NULL: small whole numbers, none of them 0
    const unsigned *sizes;        // nine to check; NULL: nothing, one, around a warp, a block
};

// The fewest blocks that cover n elements, and one block when there is nothing to cover.
static unsigned blocks_for(unsigned n, unsigned per_block) {
    return n ? (n - 1) / per_block + 1 : 1;
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

static __device__ bool take_ticket(float *partial, float sum, unsigned *tickets) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();  // the partial sum is visible before the ticket is taken
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();  // every thread knows whether its block is the last one
    return last;
}

__global__ void sum_last_block(const float *in, float *out, unsigned n, float *partial,
                               unsigned *tickets) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    float sum = block_sum(i < n ? in[i] : 0.0f), mine = 0;
    if (!take_ticket(partial, sum, tickets)) return;
    for (unsigned k = threadIdx.x; k < gridDim.x; k += 256) mine += partial[k];
    sum = block_sum(mine);
    if (threadIdx.x == 0) *out = sum;
}

static unsigned launch(const float *d_in, float *d_out, unsigned n) {
    static unsigned *tickets;
    if (!tickets) {
        cudaMalloc(&tickets, sizeof(unsigned));
        cudaMemset(tickets, 0, sizeof(unsigned));
    }
    sum_last_block<<<blocks_for(n, 256), 256>>>(d_in, d_out, n, d_out + 1, tickets);
    return 1;
}

// ---- The driver: the same in every exercise. Appendix C explains it. ----

// Elements on the host and on the device, and room for results.
template <class Elem, class Result> struct Data {
    Elem *in, *d_in;
    Result *out, *d_out;
    size_t out_bytes;
};

static double small_element(unsigned i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    i ^= i >> 16;
    return i & 8 ? 1 + (int)(i & 7) : -1 - (int)(i & 7);
}

static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(3);
}

template <class Elem, class Result>
static Data<Elem, Result> fill(const Exercise<Elem, Result> &e, unsigned n) {
    Data<Elem, Result> data;
    size_t in_bytes = (n + 1) * sizeof(Elem);
    data.out_bytes = (n + 1024) * sizeof(Result);
    data.in = (Elem *)malloc(in_bytes);
    data.out = (Result *)malloc(data.out_bytes);
    for (unsigned i = 0; i <= n; i++) data.in[i] = (Elem)(e.input ? e.input : small_element)(i);
    must(cudaMalloc(&data.d_in, in_bytes), "no GPU here");
    must(cudaMalloc(&data.d_out, data.out_bytes), "cudaMalloc");
    must(cudaMemcpy(data.d_in, data.in, in_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return data;
}

// What is wrong with the results, in words; an empty text: nothing.
template <class Elem, class Result>
static void compare(const Exercise<Elem, Result> &e, const Data<Elem, Result> &data, unsigned n,
                    unsigned results, char *text, size_t size) {
    double sum = 0, total = 0;
    for (unsigned i = 0; i < n && !e.expected; i++) sum += (double)data.in[i];
    for (unsigned k = 0; k < results; k++) {
        double should = e.expected ? e.expected(data.in, n, k) : 0, is = (double)data.out[k];
        total += is;
        if (!e.expected || is == should) continue;
        if (isnan(should)) snprintf(text, size, "%u results, and not %u", results, k);
        else if ((float)is == (float)should)  // nine digits would not show the difference
            snprintf(text, size, "result %u is %.17g, not %.17g", k, is, should);
        else snprintf(text, size, "result %u is %.9g, not %.9g", k, is, should);
        return;
    }
    if (e.expected && !isnan(e.expected(data.in, n, results)))
        snprintf(text, size, "no more than %u results", results);
    if (!e.expected && !(total == sum))
        snprintf(text, size, "the sum is %.9g, not %.9g", total, sum);
}

// Runs it once on n elements. False: nothing can run after this.
template <class Elem, class Result>
static bool check(const Exercise<Elem, Result> &e, const Data<Elem, Result> &data, unsigned n,
                  char *text, size_t size) {
    must(cudaMemset(data.d_out, 0xFF, data.out_bytes), "cudaMemset");
    size_t results = e.launch(data.d_in, data.d_out, n), room = data.out_bytes / sizeof(Result);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(data.out, data.d_out, (results < room ? results : room) * sizeof(Result),
                           cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) snprintf(text, size, "%s", cudaGetErrorString(error));
    else if (results > room) snprintf(text, size, "%zu results, and room for %zu", results, room);
    else compare(e, data, n, (unsigned)results, text, size);
    return error == cudaSuccess;
}

// Microseconds of a launch: the median of samples of ten each.
template <class Elem, class Result>
static float time_launches(const Exercise<Elem, Result> &e, const Data<Elem, Result> &data,
                           unsigned n) {
    enum { SAMPLES = 21, LAUNCHES = 10 };
    float ms[SAMPLES], one;
    cudaEvent_t start, stop;
    must(cudaEventCreate(&start), "cudaEventCreate");
    must(cudaEventCreate(&stop), "cudaEventCreate");
    for (int s = -3; s < SAMPLES; s++) {  // the first three warm up
        must(cudaEventRecord(start), "cudaEventRecord");
        for (int k = 0; k < LAUNCHES; k++) e.launch(data.d_in, data.d_out, n);
        must(cudaEventRecord(stop), "cudaEventRecord");
        must(cudaEventSynchronize(stop), "a kernel");
        must(cudaEventElapsedTime(&one, start, stop), "cudaEventElapsedTime");
        int at = s < 0 ? 0 : s;  // sorted in as they come
        for (; at > 0 && ms[at - 1] > one; at--) ms[at] = ms[at - 1];
        ms[at] = one;
    }
    return 1e3f * ms[SAMPLES / 2] / LAUNCHES;
}

template <class Elem, class Result>
static int exercise(const Exercise<Elem, Result> &e, int argc, char **argv) {
    bool once = argc > 1 && !strcmp(argv[1], "--once");
    bool timed = argc > 1 && !strcmp(argv[1], "--time");
    bool launched = argc > 1 && !strcmp(argv[1], "--launch");  // once, for a time that is predicted
    unsigned usual[] = {0, 1, 31, 32, 33, 1000, e.block - 1, e.block, e.block + 1};
    unsigned largest = timed || launched ? e.n * ((1u << 24) / e.n) : e.n, wrong = 0, runs = 0;
    char before[200] = "";  // the text of the run before
    const unsigned *sizes = e.sizes ? e.sizes : usual;
    for (int k = 0; k < 9; k++) largest = sizes[k] > largest ? sizes[k] : largest;
    Data<Elem, Result> data = fill(e, largest);
    if (timed) {
        printf("time = %.3f\n", time_launches(e, data, largest));
        return 0;
    }
    if (launched) {
        e.launch(data.d_in, data.d_out, largest);
        must(cudaDeviceSynchronize(), "a kernel");
        return 0;
    }
    for (bool good = true; good && runs < (once ? 1 : 20); runs++) {
        unsigned n = once || runs >= 18 ? e.n : sizes[runs / 2];
        char text[200] = "";
        good = check(e, data, n, text, sizeof text);
        bool again = runs % 2 && !strcmp(text, before);
        if (text[0] && !again)
            printf("%u element%s: WRONG: %s\n", n, n == 1 ? "" : "s", text);
        wrong += text[0] != 0;
        strcpy(before, text);
    }
    printf("runs = %u\nwrong = %u\n", runs, wrong);
    return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
    Exercise<float, float> ticket_function = {launch, 100003, 256};
    return exercise(ticket_function, argc, argv);
}
