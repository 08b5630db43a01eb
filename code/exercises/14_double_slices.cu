// Exercise: double until the very end. Let slice_sum() round once.
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

enum { BLOCK = 256, SLICE = 16 * BLOCK };

// out[b] = the sum of slice b. Block: BLOCK threads, 16 elements each.
__global__ void slice_sum(const float *in, float *out, unsigned n) {
    __shared__ float s[BLOCK];
    unsigned t = threadIdx.x, first = blockIdx.x * SLICE;
    float sum = 0;
    for (unsigned i = first + t; i < n && i < first + SLICE; i += BLOCK) sum += in[i];
    s[t] = sum;
    __syncthreads();  // every thread's sum is in s[] before any two are added
    for (unsigned d = BLOCK / 2; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete before the next one reads it
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

static unsigned launch(const float *d_in, float *d_out, unsigned n) {
    unsigned grid = blocks_for(n, SLICE);
    slice_sum<<<grid, BLOCK>>>(d_in, d_out, n);
    return grid;
}

static double element(unsigned i) {
    if (i % 7 > 0) return 1 + i % 2;
    return i % 14 ? 33554432 : -33554432;
}

static double expected(const float *in, unsigned n, unsigned k) {
    double sum = 0;
    for (unsigned i = k * SLICE; i < n && i < (k + 1) * SLICE; i++) sum += in[i];
    return (float)sum;
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
    Exercise<float, float> double_slices = {launch, 100003, BLOCK, expected, element};
    return exercise(double_slices, argc, argv);
}
