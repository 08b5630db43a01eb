// Exercise: softmax with one reduction. Repair merge().
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

struct Part {
    float largest, sum;  // the sum of 2^(x - largest); -INFINITY and 0 of no elements
};

// The part that has the elements of both.
static __device__ Part merge(Part a, Part b) {
    return {fmaxf(a.largest, b.largest), a.sum + b.sum};
}

enum { BLOCK = 256, ROW = 256 };

// largest and sum of each row of ROW elements. A warp for each row, eight elements a lane.
__global__ void softmax_parts(const float *in, float *out, unsigned n) {
    unsigned row = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    Part mine = {-INFINITY, 0};
    for (unsigned i = row * ROW + lane; i < n && i < (row + 1) * ROW; i += 32)
        mine = merge(mine, {in[i], 1});
    for (unsigned d = 16; d > 0; d /= 2)
        mine = merge(mine, {__shfl_xor_sync(0xffffffffu, mine.largest, d),
                            __shfl_xor_sync(0xffffffffu, mine.sum, d)});
    if (lane == 0) out[2 * row] = mine.largest, out[2 * row + 1] = mine.sum;
}

static unsigned launch(const float *d_in, float *d_out, unsigned n) {
    unsigned grid = blocks_for(n, ROW * BLOCK / 32);
    softmax_parts<<<grid, BLOCK>>>(d_in, d_out, n);
    return 2 * grid * BLOCK / 32;
}

static double expected(const float *in, unsigned n, unsigned k) {
    unsigned first = k / 2 * ROW, end = n < first + ROW ? n : first + ROW;
    double largest = -INFINITY, sum = 0;
    for (unsigned i = first; i < end; i++) largest = in[i] > largest ? in[i] : largest;
    for (unsigned i = first; i < end; i++) sum += exp2(in[i] - largest);
    return k % 2 ? sum : largest;
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
    Exercise<float, float> one_pass_softmax = {launch, 100003, BLOCK, expected};
    return exercise(one_pass_softmax, argc, argv);
}
