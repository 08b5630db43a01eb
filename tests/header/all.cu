// Uses all three headers in one program of two source files: this one, and the same with -DSECOND. Each
// adds up 1, 2, ..., 1,000 with every header. A library of them must not export the headers' symbols.
// Build: nvcc -I code -DSECOND -c -o second.o tests/header/all.cu
//        nvcc -I code tests/header/all.cu second.o
#include <stdio.h>
#include <stdlib.h>

#include "reduce.cuh"
#include "reduce_exact.cuh"
#include "reduce_rows.cuh"

enum { N = 1000 };

void first(const float *d_in, float *d_out);
void second(const float *d_in, float *d_out);

static void stop_on(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "all: %s\n", cudaGetErrorString(error));
    exit(1);
}

static void *clear_workspace(size_t bytes) {
    void *d_workspace;
    stop_on(cudaMalloc(&d_workspace, bytes));
    stop_on(cudaMemset(d_workspace, 0, bytes));
    return d_workspace;
}

#ifdef SECOND
void second(const float *d_in, float *d_out) {
#else
void first(const float *d_in, float *d_out) {
#endif
    using namespace reduction;
    stop_on(reduce_sum_float(d_in, d_out, N, clear_workspace(REDUCE_WORKSPACE_BYTES), 0));
    void *exact = clear_workspace(REDUCE_EXACT_WORKSPACE_BYTES);
    stop_on(reduce_exact_float(d_in, d_out + 1, N, exact, 0));
    stop_on(rows_sum(d_in, d_out + 2, 1, N, N, clear_workspace(ROWS_WORKSPACE_BYTES), 0));
}

#ifndef SECOND
int main() {
    float in[N], out[6], *d_in, *d_out;
    for (int i = 0; i < N; i++) in[i] = (float)(i + 1);
    stop_on(cudaMalloc(&d_in, sizeof in));
    stop_on(cudaMalloc(&d_out, sizeof out));
    stop_on(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    first(d_in, d_out);
    second(d_in, d_out + 3);
    stop_on(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (float sum : out) printf("%g ", sum);
    printf("\n");
    return 0;
}
#endif
