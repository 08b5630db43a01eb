// Kernels that end badly, by name, for the tests of bad input; `bad hello` is the good one.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

__global__ void hello(int *out) { out[threadIdx.x] = 40 + (int)threadIdx.x; }

__global__ void endless(volatile int *out) {
    while (out[0] != 12345) out[1] = out[1] + 1;
}

// Loops without end that wait for others again and again, who always come.
__global__ void endless_barrier(volatile int *out) {
    while (out[0] != 12345) __syncthreads();
}

__global__ void endless_syncwarp(volatile int *out) {
    while (out[0] != 12345) {
        if (threadIdx.x % 2) out[1] = 1;
        __syncwarp();
    }
}

__global__ void endless_shuffle(int *out) {
    int x = (int)threadIdx.x;
    while (x < 100) x = __shfl_xor_sync(0xffffffffu, x, 1);
    out[0] = x;
}

__global__ void endless_grid(volatile int *out) {
    while (out[0] != 12345) cooperative_groups::this_grid().sync();
}

// Warps meet in pairs, at barriers of their own.
__global__ void endless_pairs(volatile int *out) {
    while (out[0] != 12345) asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
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
        while (flag == 0) {
        }
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
    if (!strcmp(name, "endless_barrier")) endless_barrier<<<3, 64>>>(d);
    if (!strcmp(name, "endless_syncwarp")) endless_syncwarp<<<1, 64>>>(d);
    if (!strcmp(name, "endless_shuffle")) endless_shuffle<<<1, 64>>>(d);
    if (!strcmp(name, "endless_pairs")) endless_pairs<<<1, 128>>>(d);
    if (!strcmp(name, "endless_grid")) {
        void *arguments[] = {&d};
        error = cudaLaunchCooperativeKernel((void *)endless_grid, dim3(3), dim3(64), arguments);
    }
    if (!strcmp(name, "deadlock")) deadlock<<<1, 64>>>(d);
    if (!strcmp(name, "divide")) divide<<<1, 64>>>(d, 0);
    if (error == cudaSuccess) error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost);
    printf("%s: %s, %d\n", name, cudaGetErrorName(error), error == cudaSuccess ? got[2] : -1);
    return error != cudaSuccess;
}
