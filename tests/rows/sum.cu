// The example of reduce_rows.cuh as a program: sums, indices of the maxima and softmax of a small
// matrix.
#include <stdio.h>
#include <stdlib.h>

#include "reduce_rows.cuh"

static void stop_on(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "sum: %s\n", cudaGetErrorString(error));
    exit(1);
}

int main() {
    enum { ROWS = 3, COLS = 5 };
    float in[ROWS * COLS], sums[ROWS], *d_in, *d_sums;
    reduction::RowsPlace places[ROWS], *d_places;
    void *d_workspace;
    cudaStream_t stream;
    for (int i = 0; i < ROWS * COLS; i++) in[i] = (float)(i * 7 % 15);
    stop_on(cudaStreamCreate(&stream));
    stop_on(cudaMalloc(&d_in, sizeof in));
    stop_on(cudaMalloc(&d_sums, sizeof sums));
    stop_on(cudaMalloc(&d_places, sizeof places));
    stop_on(cudaMalloc(&d_workspace, reduction::ROWS_WORKSPACE_BYTES));
    stop_on(cudaMemsetAsync(d_workspace, 0, reduction::ROWS_WORKSPACE_BYTES, stream));
    stop_on(cudaMemcpyAsync(d_in, in, sizeof in, cudaMemcpyHostToDevice, stream));
    stop_on(reduction::rows_sum(d_in, d_sums, ROWS, COLS, COLS, d_workspace, stream));
    stop_on(reduction::rows_argmax(d_in, d_places, ROWS, COLS, COLS, d_workspace, stream));
    stop_on(reduction::rows_softmax(d_in, d_in, ROWS, COLS, COLS, COLS, d_workspace, stream));
    stop_on(cudaMemcpyAsync(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost, stream));
    stop_on(cudaMemcpyAsync(places, d_places, sizeof places, cudaMemcpyDeviceToHost, stream));
    stop_on(cudaMemcpyAsync(in, d_in, sizeof in, cudaMemcpyDeviceToHost, stream));
    stop_on(cudaStreamSynchronize(stream));
    for (int r = 0; r < ROWS; r++)
        printf("row %d: sum %g, greatest %g at %u, softmax there %.3f\n", r, sums[r],
               places[r].value, places[r].index, in[r * COLS + (int)places[r].index]);
    return 0;
}
