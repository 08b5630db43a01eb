// Exercise: the same in every grid. Choose Acc, lift() and value().
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is asked: a launch, and what must come out of it for n elements.
template <class Elem, class Result> struct Exercise {
    unsigned (*launch)(const Elem *d_in, Result *d_out, unsigned n);  // tells how many results
    unsigned n, block;  // elements of the run that is counted; threads per block
    double (*expected)(const Elem *in, unsigned n, unsigned k);  // result k; NULL: they add up
    double (*input)(unsigned i);  // element i; NULL: small whole numbers, none of them 0
    const unsigned *sizes;        // to check, 9 of them; NULL: 0, 1, around a warp, around a block
};

// The fewest blocks that cover n elements, and one block when there is nothing to cover.
static unsigned blocks_for(unsigned n, unsigned per_block) {
    return n ? (n - 1) / per_block + 1 : 1;
}
#include <math.h>

// What is accumulated, how an element enters, and what the sum is in the end.
typedef float Acc;
static __device__ Acc lift(float x) { return x; }
static __device__ double value(Acc sum) { return sum; }

static __device__ Acc warp_sum(Acc mine) {
    for (unsigned d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
    return mine;
}

// A partial sum for each block, in any grid. Block: one warp.
__global__ void partial_sums(const float *in, Acc *partial, unsigned n) {
    Acc mine = lift(0);
    for (unsigned i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32)
        mine += lift(in[i]);
    mine = warp_sum(mine);
    if (threadIdx.x == 0) partial[blockIdx.x] = mine;
}

// *out = the sum of `count` partial sums. Launch: one warp.
__global__ void total(const Acc *partial, unsigned count, double *out) {
    Acc mine = lift(0);
    for (unsigned b = threadIdx.x; b < count; b += 32) mine += partial[b];
    mine = warp_sum(mine);
    if (threadIdx.x == 0) *out = value(mine);
}

static unsigned launch(const float *d_in, double *d_out, unsigned n) {
    static const unsigned grids[] = {1, 7, 64};
    static Acc *d_partial;
    if (!d_partial) cudaMalloc(&d_partial, 64 * sizeof(Acc));
    for (unsigned k = 0; k < 3; k++) {
        partial_sums<<<grids[k], 32>>>(d_in, d_partial, n);
        total<<<1, 32>>>(d_partial, grids[k], d_out + k);
    }
    return 3;
}

// Large ones up to 1,024, and tiny ones, down to 2^-36.
static double element(unsigned i) {
    unsigned hash = (i ^ i >> 11) * 0x9e3779b1u, bits = (hash ^ hash >> 15) % (1u << 23) | 1;
    return i % 3 ? ldexp(bits, -13) : -ldexp(bits, -36);
}

static double expected(const float *in, unsigned n, unsigned) {
    long long sum = 0;  // in units of 2^-36, below 2^63
    for (unsigned i = 0; i < n; i++) sum += (long long)ldexp(in[i], 36);
    return ldexp((double)sum, -36);
}

// ---- The driver: the same in every exercise. Appendix C explains it. ----

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

// What is wrong with the results, in words; an empty text: nothing.
template <class Elem, class Result>
static void compare(const Exercise<Elem, Result> &e, const Elem *in, unsigned n, const Result *out,
                    unsigned results, char *text, size_t size) {
    double sum = 0, total = 0;
    for (unsigned i = 0; i < n && !e.expected; i++) sum += (double)in[i];
    for (unsigned k = 0; k < results; k++) {
        double should = e.expected ? e.expected(in, n, k) : 0, is = (double)out[k];
        total += is;
        if (!e.expected || is == should) continue;
        snprintf(text, size, "result %u is %.9g, not %.9g", k, is, should);
        return;
    }
    if (!e.expected && !(total == sum))
        snprintf(text, size, "the sum is %.9g, not %.9g", total, sum);
}

// Milliseconds of ten launches, the median of so many samples.
template <class Elem, class Result>
static double time_launches(const Exercise<Elem, Result> &e, const Elem *d_in, Result *d_out,
                            unsigned n) {
    enum { SAMPLES = 21 };
    float ms[SAMPLES];
    cudaEvent_t start, stop;
    must(cudaEventCreate(&start), "cudaEventCreate");
    must(cudaEventCreate(&stop), "cudaEventCreate");
    for (int s = -3; s < SAMPLES; s++) {  // the first three warm up
        int at = s < 0 ? 0 : s;
        must(cudaEventRecord(start), "cudaEventRecord");
        for (int k = 0; k < 10; k++) e.launch(d_in, d_out, n);
        must(cudaEventRecord(stop), "cudaEventRecord");
        must(cudaEventSynchronize(stop), "a kernel");
        must(cudaEventElapsedTime(&ms[at], start, stop), "cudaEventElapsedTime");
        for (; at > 0 && ms[at] < ms[at - 1]; at--) {
            float swapped = ms[at];
            ms[at] = ms[at - 1], ms[at - 1] = swapped;
        }
    }
    return ms[SAMPLES / 2];
}

template <class Elem, class Result>
static int exercise(const Exercise<Elem, Result> &e, int argc, char **argv) {
    bool once = argc > 1 && !strcmp(argv[1], "--once");
    bool timed = argc > 1 && !strcmp(argv[1], "--time");
    unsigned usual[] = {0, 1, 31, 32, 33, 1000, e.block - 1, e.block, e.block + 1};
    unsigned largest = timed ? e.n * ((1u << 24) / e.n) : e.n, wrong = 0, runs = 0;
    const unsigned *sizes = e.sizes ? e.sizes : usual;
    for (int k = 0; k < 9; k++) largest = sizes[k] > largest ? sizes[k] : largest;
    size_t in_bytes = (largest + 1) * sizeof(Elem), out_bytes = (largest + 1024) * sizeof(Result);
    Elem *in = (Elem *)malloc(in_bytes), *d_in;
    Result *out = (Result *)malloc(out_bytes), *d_out;
    for (unsigned i = 0; i <= largest; i++) in[i] = (Elem)(e.input ? e.input : small_element)(i);
    must(cudaMalloc(&d_in, in_bytes), "no GPU here");
    must(cudaMalloc(&d_out, out_bytes), "cudaMalloc");
    must(cudaMemcpy(d_in, in, in_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    if (timed) {
        printf("time = %.3f\n", 100 * time_launches(e, d_in, d_out, largest));
        return 0;
    }
    for (int k = once ? 19 : 0; k < 20; k++) {
        unsigned n = k < 18 ? sizes[k / 2] : e.n;
        char text[200] = "";
        must(cudaMemset(d_out, 0xFF, out_bytes), "cudaMemset");
        unsigned results = e.launch(d_in, d_out, n);
        cudaError_t error = cudaGetLastError();
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        if (error == cudaSuccess)
            error = cudaMemcpy(out, d_out, results * sizeof(Result), cudaMemcpyDeviceToHost);
        if (error == cudaSuccess) compare(e, in, n, out, results, text, sizeof text);
        else snprintf(text, sizeof text, "%s", cudaGetErrorString(error));
        if (text[0] && wrong < 3) printf("%u elements: WRONG: %s\n", n, text);
        runs++, wrong += text[0] != 0;
        if (error != cudaSuccess) break;  // nothing runs after that
    }
    printf("runs = %u\nwrong = %u\n", runs, wrong);
    return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
    Exercise<float, double> fixed_point = {launch, 100003, 32, expected, element};
    return exercise(fixed_point, argc, argv);
}
