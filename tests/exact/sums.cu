// Prints the bits of exact sums of given elements. Reads cases from a file, each {1 if doubles, number
// of elements, elements before the first, the elements}, and prints one line for each: the bits of
// the sum in several grids, which must all be equal.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_exact.cuh"

using namespace reduction;

static void *d_data, *d_out, *d_workspace;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "sums: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

template <class T> static void tell(const char *how) {
    T out;
    uint64_t bits = 0;
    stop_on(cudaGetLastError(), how);
    stop_on(cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost), how);
    memcpy(&bits, &out, sizeof out);
    printf("%llx ", (unsigned long long)bits);
    stop_on(cudaMemset(d_out, 0xA5, sizeof out), "poison");
}

template <class T, int THREADS, int VECTORS>
static void sum(const T *d_in, size_t n, unsigned grid) {
    exact_kernel<T, THREADS, 1, VECTORS, true>
        <<<grid, THREADS>>>(exact_split(d_in, n), (T *)d_out, (unsigned long long *)d_workspace);
    tell<T>("a grid");
}

static void grids(const float *d_in, size_t n) {
    sum<float, 128, 2>(d_in, n, 1);
    sum<float, 256, 4>(d_in, n, 3);
    sum<float, 64, 8>(d_in, n, 7);
    sum<float, 256, 1>(d_in, n, 20);
}
static void grids(const double *d_in, size_t n) {
    sum<double, 64, 2>(d_in, n, 1);
    sum<double, 64, 8>(d_in, n, 3);
    sum<double, 64, 4>(d_in, n, 7);
    sum<double, 64, 1>(d_in, n, 20);
}

template <class T> static void sums(const T *in, size_t n, size_t offset) {
    T *d_in = (T *)d_data + offset;
    stop_on(cudaMemcpy(d_in, in, n * sizeof(T), cudaMemcpyHostToDevice), "copy");
    stop_on(exact_sum(d_in, (T *)d_out, n, d_workspace, 0), "launch");
    tell<T>("the usual grid");
    grids(d_in, n);
    printf("\n");
}

// The function that a user calls must give the same sum, and leave the workspace as it was.
static void test_calls(void) {
    const float floats[3] = {1, 2, 4};
    const double doubles[3] = {8, 16, 32};
    float sum_float;
    double sum_double;
    char *off = (char *)d_data + 2, words[REDUCE_EXACT_WORKSPACE_BYTES];
    const cudaError_t bad = cudaErrorInvalidValue;
    void *w = d_workspace;
    float *in = (float *)d_data, *out = (float *)d_out;
    stop_on(cudaMemcpy(d_data, floats, sizeof floats, cudaMemcpyHostToDevice), "copy");
    stop_on(reduce_exact_float(in, out, 3, w, 0), "floats");
    stop_on(cudaMemcpy(&sum_float, d_out, sizeof sum_float, cudaMemcpyDeviceToHost), "floats");
    stop_on(cudaMemcpy(d_data, doubles, sizeof doubles, cudaMemcpyHostToDevice), "copy");
    stop_on(reduce_exact_double((double *)d_data, (double *)d_out, 3, w, 0), "doubles");
    stop_on(cudaMemcpy(&sum_double, d_out, sizeof sum_double, cudaMemcpyDeviceToHost), "doubles");
    stop_on(cudaMemcpy(words, w, sizeof words, cudaMemcpyDeviceToHost), "workspace");
    bool empty = true;
    for (size_t k = 0; k < sizeof words; k++) empty &= words[k] == 0;
    bool refused = reduce_exact_float(NULL, out, 1, w, 0) == bad &&
                   reduce_exact_float((float *)off, out, 1, w, 0) == bad &&
                   reduce_exact_float(in, NULL, 1, w, 0) == bad &&
                   reduce_exact_float(in, (float *)off, 1, w, 0) == bad &&
                   reduce_exact_float(in, out, 1, NULL, 0) == bad &&
                   reduce_exact_float(in, out, 1, off, 0) == bad;
    printf("calls %g %g, workspace %s, bad pointers %s\n", sum_float, sum_double,
           empty ? "empty" : "NOT EMPTY", refused ? "refused" : "TAKEN");
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    unsigned head[3];
    char *in = (char *)malloc(8 << 20);
    if (!file || !in) return 1;
    stop_on(cudaMalloc(&d_data, 9 << 20), "memory");
    stop_on(cudaMalloc(&d_out, sizeof(double)), "memory");
    stop_on(cudaMalloc(&d_workspace, REDUCE_EXACT_WORKSPACE_BYTES), "memory");
    stop_on(cudaMemset(d_workspace, 0, REDUCE_EXACT_WORKSPACE_BYTES), "clear");
    while (fread(head, sizeof *head, 3, file) == 3) {
        size_t each = head[0] ? sizeof(double) : sizeof(float);
        if (head[1] * each > 8 << 20 || fread(in, each, head[1], file) != head[1]) return 1;
        if (head[0]) sums((const double *)in, head[1], head[2]);
        else sums((const float *)in, head[1], head[2]);
    }
    test_calls();
    return 0;
}
