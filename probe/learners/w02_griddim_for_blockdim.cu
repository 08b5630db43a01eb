// EXPECT: wrong: gridDim in the place of blockDim, so blocks update the same elements (race between blocks), at "y[i] = a * x[i] + y[i];"
// ON A GPU: data race between blocks on y (Programming Guide, "Memory Consistency Model"/PTX ISA 8.x memory model); elements from 268 on are never computed
#include <stdio.h>
#include <stdlib.h>

__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main(void) {
    int n = 1000, bad = 0;
    float *x = (float *)malloc(n * sizeof(float)), *y = (float *)malloc(n * sizeof(float)), *dx, *dy;
    for (int i = 0; i < n; i++) { x[i] = i; y[i] = 1.0f; }
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y, n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);
    cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) bad += y[i] != 2.0f * x[i] + 1.0f;
    printf("%d wrong\n", bad);
    cudaFree(dx); cudaFree(dy); free(x); free(y);
    return 0;
}
