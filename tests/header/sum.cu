// A minimal program that uses reduce.cuh: the sum, the minimum and the maximum of 1, 2, ..., n.
// Build: nvcc -std=c++11 -I code tests/header/sum.cu -o sum && ./sum 1000
#include <stdio.h>
#include <stdlib.h>

#include "reduce.cuh"

using namespace reduction;

static void stop_on(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "sum: %s\n", cudaGetErrorString(error));
    exit(1);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000, *d_in, *d_out, out[3];
    void *d_workspace;
    int *in = (int *)malloc((size_t)(n + 1) * sizeof(int));
    for (int i = 0; i < n; i++) in[i] = i + 1;
    stop_on(cudaMalloc((void **)&d_in, (size_t)(n + 1) * sizeof(int)));
    stop_on(cudaMalloc((void **)&d_out, sizeof out));
    stop_on(cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES));
    stop_on(reduce_clear_workspace(d_workspace, 0)); // in the sums' stream
    stop_on(cudaMemcpy(d_in, in, (size_t)n * sizeof(int), cudaMemcpyHostToDevice));

    stop_on(reduce_sum_int(d_in, d_out + 0, (size_t)n, d_workspace, 0));
    stop_on(reduce_min_int(d_in, d_out + 1, (size_t)n, d_workspace, 0));
    stop_on(reduce_max_int(d_in, d_out + 2, (size_t)n, d_workspace, 0));

    stop_on(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    printf("%d numbers: sum %d, minimum %d, maximum %d\n", n, out[0], out[1], out[2]);
    free(in);
    return 0;
}
