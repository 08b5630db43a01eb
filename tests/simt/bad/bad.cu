// Kernels that end badly, by name, for the tests of bad input; `bad hello` is the good one.
#include <stdio.h>
#include <string.h>
#include <cuda_runtime.h>

__global__ void hello(int *out) { out[threadIdx.x] = 40 + (int)threadIdx.x; }

__global__ void endless(volatile int *out) {
    while (out[0] != 12345) out[1] = out[1] + 1;
}

// Warp 0 waits at a barrier for warp 1, which waits for a word that warp 0 would write after it.
__global__ void deadlock(volatile int *out) {
    __shared__ volatile int flag;
    flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        __syncthreads();
        flag = 1;
    } else {
        while (flag == 0) {}
        __syncthreads();
    }
    out[threadIdx.x] = flag;
}

__global__ void divide(int *out, int by) { out[threadIdx.x] = out[threadIdx.x] / by; }

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "hello";
    int *d, got[64];
    cudaError_t error = cudaMalloc((void **)&d, sizeof got);
    if (error == cudaSuccess) error = cudaMemset(d, 0, sizeof got);
    if (!strcmp(name, "hello")) hello<<<1, 64>>>(d);
    if (!strcmp(name, "endless")) endless<<<1, 64>>>(d);
    if (!strcmp(name, "deadlock")) deadlock<<<1, 64>>>(d);
    if (!strcmp(name, "divide")) divide<<<1, 64>>>(d, 0);
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost);
    printf("%s: %s, %d\n", name, cudaGetErrorName(error), error == cudaSuccess ? got[2] : -1);
    return error != cudaSuccess;
}
