// EXPECT: wrong: rows * cols overflows int, cudaMalloc fails, the kernel writes through a null pointer, at "cudaMalloc(&d, n * sizeof(float));" and then "m[i] = 1.0f;"
// ON A GPU: cudaErrorMemoryAllocation from cudaMalloc, then cudaErrorIllegalAddress from the kernel (Runtime API, cudaMalloc)
#include <stdio.h>
#include <stdlib.h>

__global__ void ones(float *m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        m[i] = 1.0f;
}

int main(int argc, char **argv) {
    int rows = argc > 1 ? atoi(argv[1]) : 50000, cols = 50000;
    int n = rows * cols;                  // 2,500,000,000 is more than an int can hold
    float *d = NULL, first = 0;
    cudaMalloc(&d, n * sizeof(float));
    ones<<<16, 256>>>(d, 4096);           // the first 4096 of them
    cudaMemcpy(&first, d, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%g, should be 1\n", first);
    cudaFree(d);
    return 0;
}
