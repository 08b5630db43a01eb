// Tests reduce.cuh: every function against the host, at awkward sizes and alignments, with the
// extreme value at every position that matters; errors; the workspace; two streams; a graph.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reduce.cuh"

enum { MOST = 140000, PAD = 64, WIDE = 2300003 };

static void *d_workspace[2], *d_out, *d_data;
static cudaStream_t stream[2];
static int wrong;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "every: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void expect(bool right, const char *what, size_t n, size_t offset) {
    if (right) return;
    printf("WRONG: %s, n = %zu, offset %zu\n", what, n, offset);
    wrong++;
}

template <class T>
static T call(cudaError_t (*reduce)(const T *, size_t, T *, void *, cudaStream_t), const T *d_in,
              size_t n) {
    T out;
    stop_on(cudaMemsetAsync(d_out, 0xFF, sizeof(T), stream[0]), "poison");
    stop_on(reduce(d_in, n, (T *)d_out, d_workspace[0], stream[0]), "launch");
    stop_on(cudaStreamSynchronize(stream[0]), "run");
    stop_on(cudaMemcpy(&out, d_out, sizeof(T), cudaMemcpyDeviceToHost), "result");
    return out;
}

template <class T> struct Functions {
    cudaError_t (*sum)(const T *, size_t, T *, void *, cudaStream_t);
    cudaError_t (*least)(const T *, size_t, T *, void *, cudaStream_t);
    cudaError_t (*most)(const T *, size_t, T *, void *, cudaStream_t);
    T infinity;
};

// Sizes and offsets against a loop on the host. The elements are distinct small integers in a
// scrambled order, whose sums are exact in every type.
template <class T> static void test_sizes(const Functions<T> &f, const char *type) {
    static const size_t sizes[] = {0,    1,     2,     3,     4,     5,      31,   32,   33,
                                   127,  1000,  1023,  4095,  4096,  4097,   8191, 8192, 8193,
                                   8200, 16384, 16385, 33333, 65537, 100003, MOST};
    T *data = (T *)malloc((MOST + PAD) * sizeof(T)), *d_in = (T *)d_data;
    for (size_t i = 0; i < MOST + PAD; i++) data[i] = (T)((int)(i * 7919 % 1009) - 504);
    stop_on(cudaMemcpy(d_in, data, (MOST + PAD) * sizeof(T), cudaMemcpyHostToDevice), "copy");
    for (size_t n : sizes)
        for (size_t offset : {0, 1, 2, 3, 5, 31, 33}) {
            T sum = 0, least = f.infinity,
              most = f.infinity == (T)INT_MAX ? (T)INT_MIN : -f.infinity;
            for (size_t i = offset; i < offset + n; i++) {
                sum += data[i];
                if (data[i] < least) least = data[i];
                if (data[i] > most) most = data[i];
            }
            char what[64];
            snprintf(what, sizeof what, "sum of %s", type);
            expect(call(f.sum, d_in + offset, n) == sum, what, n, offset);
            snprintf(what, sizeof what, "minimum of %s", type);
            expect(call(f.least, d_in + offset, n) == least, what, n, offset);
            snprintf(what, sizeof what, "maximum of %s", type);
            expect(call(f.most, d_in + offset, n) == most, what, n, offset);
        }
    free(data);
}

// More than one wave of blocks: tiles are shared, and there are mailboxes for every block.
template <class T> static void test_wide(const Functions<T> &f, const char *type) {
    T *data = (T *)malloc((WIDE + 1) * sizeof(T)), *d_in = (T *)d_data, sum = 0;
    for (int i = 0; i < WIDE + 1; i++) data[i] = (T)(i % 13 - 6);
    for (int i = 1; i < WIDE + 1; i++) sum += data[i];
    data[1] -= 50, data[WIDE] += 50; // at the edges, and without changing the sum
    stop_on(cudaMemcpy(d_in, data, (WIDE + 1) * sizeof(T), cudaMemcpyHostToDevice), "copy");
    expect(call(f.sum, d_in + 1, WIDE) == sum, type, WIDE, 1);
    expect(call(f.least, d_in + 1, WIDE) == data[1], type, WIDE, 1);
    expect(call(f.most, d_in + 1, WIDE) == data[WIDE], type, WIDE, 1);
    free(data);
}

// The one element that decides, at each position: nothing may be dropped.
static void test_positions(void) {
    const size_t n = 8301; // two blocks and a rest, off the boundary by one
    float *d_in = (float *)d_data + 1;
    const float low = -1e9f;
    for (size_t at = 0; at < n; at += at < 40 || at > n - 40 ? 1 : 97) {
        stop_on(cudaMemset(d_data, 0, (n + 1) * sizeof(float)), "clear");
        stop_on(cudaMemcpy(d_in + at, &low, sizeof low, cudaMemcpyHostToDevice), "copy");
        expect(call(reduce_min_float, (const float *)d_in, n) == low, "minimum at", n, at);
    }
}

static void test_nan(void) {
    float values[5] = {NAN, 3, NAN, -2, NAN}, *d_in = (float *)d_data;
    stop_on(cudaMemcpy(d_in, values, sizeof values, cudaMemcpyHostToDevice), "copy");
    expect(call(reduce_min_float, (const float *)d_in, 5) == -2, "minimum skips NaN", 5, 0);
    expect(call(reduce_max_float, (const float *)d_in, 5) == 3, "maximum skips NaN", 5, 0);
    expect(call(reduce_min_float, (const float *)d_in, 1) == INFINITY, "minimum of NaN alone", 1,
           0);
    float sum = call(reduce_sum_float, (const float *)d_in, 5);
    expect(sum != sum, "sum keeps NaN", 5, 0);
}

static void test_errors(void) {
    float *in = (float *)d_data, *out = (float *)d_out;
    char *off = (char *)d_data + 2;
    const cudaError_t bad = cudaErrorInvalidValue;
    void *w = d_workspace[0];
    expect(reduce_sum_float(NULL, 1, out, w, 0) == bad, "no input is refused", 1, 0);
    expect(reduce_sum_float(in, 1, NULL, w, 0) == bad, "no output is refused", 1, 0);
    expect(reduce_sum_float(in, 1, out, NULL, 0) == bad, "no workspace is refused", 1, 0);
    expect(reduce_sum_float((float *)off, 1, out, w, 0) == bad, "odd input is refused", 1, 0);
    expect(reduce_sum_float(in, 1, (float *)off, w, 0) == bad, "odd output is refused", 1, 0);
    expect(reduce_sum_float(in, 1, out, off, 0) == bad, "odd workspace is refused", 1, 0);
    expect(reduce_sum_float(NULL, 0, out, w, 0) == cudaSuccess, "no input for n = 0", 0, 0);
    expect(cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess,
           "a refused call leaves no error behind", 0, 0);
}

// Two streams at once with a workspace each, many times over; then a graph of many calls.
static void test_streams(void) {
    int *d_in = (int *)d_data, *d_sums = (int *)d_out, sums[2];
    int *ones = (int *)malloc(MOST * sizeof(int));
    for (int i = 0; i < MOST; i++) ones[i] = 1 + i % 3;
    stop_on(cudaMemcpy(d_in, ones, MOST * sizeof(int), cudaMemcpyHostToDevice), "copy");
    int right[2] = {0, 0};
    for (int i = 0; i < MOST; i++) right[0] += ones[i], right[1] += i < 70001 ? ones[i] : 0;
    for (int repeat = 0; repeat < 50; repeat++) {
        stop_on(reduce_sum_int(d_in, MOST, d_sums, d_workspace[0], stream[0]), "first stream");
        stop_on(reduce_sum_int(d_in, 70001, d_sums + 1, d_workspace[1], stream[1]),
                "second stream");
    }
    stop_on(cudaDeviceSynchronize(), "two streams");
    stop_on(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost), "sums");
    expect(sums[0] == right[0] && sums[1] == right[1], "two streams at once", MOST, 0);

    cudaGraph_t graph;
    cudaGraphExec_t replay;
    stop_on(cudaMemset(d_sums, 0xFF, sizeof sums), "poison");
    stop_on(cudaDeviceSynchronize(), "poison");
    stop_on(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal), "capture");
    for (int k = 0; k < 10; k++)
        stop_on(reduce_sum_int(d_in, k % 2 ? MOST : 70001, d_sums + (k + 1) % 2, d_workspace[0],
                               stream[0]),
                "captured call");
    stop_on(cudaStreamEndCapture(stream[0], &graph), "capture");
    stop_on(cudaGraphInstantiate(&replay, graph, 0), "graph");
    for (int repeat = 0; repeat < 3; repeat++)
        stop_on(cudaGraphLaunch(replay, stream[0]), "replay");
    stop_on(cudaStreamSynchronize(stream[0]), "replay");
    stop_on(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost), "sums");
    expect(sums[0] == right[0] && sums[1] == right[1], "a graph of calls", MOST, 0);
    free(ones);
}

// Every call must leave the workspace as it found it.
static void test_workspace(void) {
    unsigned char *bytes = (unsigned char *)malloc(REDUCE_WORKSPACE_BYTES);
    for (int k = 0; k < 2; k++) {
        stop_on(cudaMemcpy(bytes, d_workspace[k], REDUCE_WORKSPACE_BYTES, cudaMemcpyDeviceToHost),
                "workspace");
        size_t used = 0;
        for (size_t i = 0; i < REDUCE_WORKSPACE_BYTES; i++) used += bytes[i] != 0;
        expect(used == 0, "the workspace is zero again", used, 0);
    }
    free(bytes);
}

int main() {
    for (int k = 0; k < 2; k++) {
        stop_on(cudaMalloc(&d_workspace[k], REDUCE_WORKSPACE_BYTES), "workspace");
        stop_on(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking), "stream");
        stop_on(cudaMemsetAsync(d_workspace[k], 0, REDUCE_WORKSPACE_BYTES, stream[k]), "workspace");
    }
    stop_on(cudaMalloc(&d_out, 64), "output");
    stop_on(cudaMalloc(&d_data, (WIDE + 1) * sizeof(double)), "data");
    const Functions<float> floats = {reduce_sum_float, reduce_min_float, reduce_max_float,
                                     INFINITY};
    const Functions<double> doubles = {reduce_sum_double, reduce_min_double, reduce_max_double,
                                       INFINITY};
    const Functions<int> ints = {reduce_sum_int, reduce_min_int, reduce_max_int, INT_MAX};
    test_sizes(floats, "floats");
    test_sizes(doubles, "doubles");
    test_sizes(ints, "ints");
    test_wide(floats, "wide floats");
    test_wide(doubles, "wide doubles");
    test_wide(ints, "wide ints");
    test_positions();
    test_nan();
    test_errors();
    test_streams();
    test_workspace();
    if (!wrong) printf("all right\n");
    return wrong > 0;
}
