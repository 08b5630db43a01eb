// reduce.cuh says that its workspace must be cleared on the stream that will use it. Here a slow kernel
// runs before the clear and delays it.
//
//     clear stream|default    sums 100000 ones in a non-blocking stream, after clearing a used
//                             workspace in that stream or in the default stream, for which the
//                             first does not wait: then the sum is wrong, always on a GPU, and
//                             on the CPU device with --order
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce.cuh"

using namespace reduction;

enum { N = 100000, ROUNDS = 20000000 }; // 0.1 s on a GPU

static void stop_on(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "clear: %s\n", cudaGetErrorString(error));
    exit(1);
}

__global__ void slow(unsigned *out, unsigned rounds) {
    unsigned x = 1;
    for (unsigned k = 0; k < rounds; k++) x = (x ^ x >> 7) * 1664525;
    *out = x;
}

__global__ void fill(int *out, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) out[i] = 1;
}

int main(int argc, char **argv) {
    int *d_in, *d_sum, sum;
    unsigned *d_slow;
    void *d_workspace;
    cudaStream_t stream;
    if (argc != 2) return 2;
    bool right = strcmp(argv[1], "stream") == 0;
    stop_on(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stop_on(cudaMalloc((void **)&d_in, N * sizeof(int)));
    stop_on(cudaMalloc((void **)&d_sum, sizeof(int)));
    stop_on(cudaMalloc((void **)&d_slow, sizeof(unsigned)));
    stop_on(cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES));
    // Load every kernel first: its first launch may wait for the whole device.
    fill<<<(N + 255) / 256, 256, 0, stream>>>(d_in, N);
    slow<<<1, 1, 0, stream>>>(d_slow, 1);
    stop_on(reduce_clear_workspace(d_workspace, stream));
    stop_on(reduce_sum_int(d_in, d_sum, N, d_workspace, stream));
    // Fill every mailbox, as an interrupted kernel leaves it, and set the counter so that the first
    // block that starts adds the mailboxes to the sum unless they have been cleared.
    static ReduceWorkspace old;
    old.started = ~0u;
    for (unsigned long long &box : old.boxes) box = (unsigned long long)REDUCE_FULL << 32 | 1;
    stop_on(cudaMemcpyAsync(d_workspace, &old, sizeof old, cudaMemcpyHostToDevice, stream));
    stop_on(cudaDeviceSynchronize());

    slow<<<1, 1, 0, right ? stream : 0>>>(d_slow, ROUNDS);
    stop_on(cudaGetLastError());
    if (right)
        stop_on(reduce_clear_workspace(d_workspace, stream));
    else
        stop_on(cudaMemset(d_workspace, 0, REDUCE_WORKSPACE_BYTES));
    stop_on(reduce_sum_int(d_in, d_sum, N, d_workspace, stream));
    stop_on(cudaMemcpyAsync(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost, stream));
    stop_on(cudaStreamSynchronize(stream));
    printf(sum == N ? "right\n" : "wrong\n");
    return 0;
}
