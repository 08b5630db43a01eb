// A program compiled by plain nvcc: kernels in constructors and in main, every way to launch.
#include <stdio.h>
#include <cuda_runtime.h>

__constant__ int factor = 3;
__device__ int counter;
__managed__ int seen;

__global__ void scaled(int *out, int by) { out[threadIdx.x] = factor * (int)threadIdx.x + by; }

__global__ void counts() {
    atomicAdd(&counter, 1);
    if (threadIdx.x == 0) seen = 41;
}

// Runs before main, and after the kernels have been registered.
struct Early {
    int *d, got[32];
    cudaError_t error;
    Early() {
        error = cudaMalloc((void **)&d, sizeof got);
        scaled<<<1, 32>>>(d, 5);
        if (!error) error = cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost);
    }
};
static Early early;

int main() {
    int by = 7, got[32] = {0}, count = 0;
    void *arguments[] = {&early.d, &by};
    printf("early: %s %d %d\n", cudaGetErrorName(early.error), early.got[0], early.got[31]);
    cudaLaunchKernel((const void *)scaled, dim3(1), dim3(32), arguments, 0, 0);
    cudaMemcpy(got, early.d, sizeof got, cudaMemcpyDefault);
    printf("late: %d %d\n", got[0], got[31]);
    counts<<<2, 64>>>();
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    printf("symbols: %d %d\n", count, seen + 1);
    int blocks = 0;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, counts, 64, 0);
    printf("%s: %d SMs, %d blocks, %s\n", properties.name, properties.multiProcessorCount, blocks,
           cudaGetErrorName(cudaGetLastError()));
    return 0;
}
