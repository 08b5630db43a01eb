// Kernels with known counters: pairs of kernels differ by a known number of PTX instructions, so that
// instructions that the compiler adds to both cancel out.
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

// COPIES additions by every thread.
template <int COPIES> __global__ void adds(int *out) {
    int v = (int)threadIdx.x;
#pragma unroll
    for (int k = 0; k < COPIES; k++) asm volatile("add.s32 %0, %0, 3;" : "+r"(v));
    out[threadIdx.x] = v;
}

// A branch that lanes below LIMIT take, around three additions.
template <int LIMIT> __global__ void branch(int *out) {
    int v = (int)threadIdx.x, lane = v % 32;
    asm volatile("{ .reg .pred p;\n setp.lt.s32 p, %1, %2;\n @p bra SKIP;\n add.s32 %0, %0, 1;\n"
                 " add.s32 %0, %0, 1;\n add.s32 %0, %0, 1;\n SKIP:\n }"
                 : "+r"(v) : "r"(lane), "n"(LIMIT));
    out[threadIdx.x] = v;
}

template <int COPIES> __global__ void barriers(int *out) {
#pragma unroll
    for (int k = 0; k < COPIES; k++) __syncthreads();
    out[threadIdx.x] = COPIES;
}

// Lanes below LIMIT add to a word, in shared and in global memory.
template <int LIMIT> __global__ void atomics(int *out) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (threadIdx.x % 32 < LIMIT) {
        atomicAdd(&total, 1);
        atomicAdd(out, 1);
    }
    __syncthreads();
    out[threadIdx.x] = total;
}

// The second warp of the last block adds COPIES times, and no other warp does.
template <int COPIES> __global__ void one_warp_adds(int *out) {
    int v = (int)threadIdx.x;
    if (threadIdx.x / 32 == 1 && blockIdx.x == gridDim.x - 1) {
#pragma unroll
        for (int k = 0; k < COPIES; k++) asm volatile("add.s32 %0, %0, 3;" : "+r"(v));
    }
    out[threadIdx.x] = v;
}

__global__ void reverse(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}

int main(int argc, char **argv) {
    int *d;
    if (cudaMalloc((void **)&d, 4096) || cudaMemset(d, 0, 4096)) return 3;
    adds<1><<<3, 100>>>(d);
    adds<11><<<3, 100>>>(d);
    branch<0><<<2, 64>>>(d);
    branch<5><<<2, 64>>>(d);
    branch<32><<<2, 64>>>(d);
    barriers<0><<<5, 96>>>(d);
    barriers<7><<<5, 96>>>(d);
    atomics<9><<<2, 64>>>(d);
    one_warp_adds<10><<<9, 128>>>(d);
    one_warp_adds<50><<<9, 128>>>(d);
    reverse<<<1, 64>>>(d);
    adds<11><<<3, 100>>>(d);
    printf("counted\n");
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return argc > 1 ? atoi(argv[1]) : 0;
}
