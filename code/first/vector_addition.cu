// Generated from chapters/00-setup.md by tangle: edit that file, not this one.
// Adds two arrays on the GPU: the six steps of nearly every CUDA program.
#include <stdio.h>
#include <stdlib.h>

// c[i] = a[i] + b[i] for every i below n, one thread for each. Reads 8n bytes, writes 4n.
__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(void) {
    const int n = 1000000, threads = 256, blocks = (n + threads - 1) / threads;
    const size_t bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes);
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;

    float *d_a, *d_b, *d_c;  // they point to the GPU's memory
    cudaMalloc(&d_a, bytes);
    cudaMalloc(&d_b, bytes);
    cudaMalloc(&d_c, bytes);
    cudaMemcpy(d_a, a, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, b, bytes, cudaMemcpyHostToDevice);
    add<<<blocks, threads>>>(d_a, d_b, d_c, n);
    cudaMemcpy(c, d_c, bytes, cudaMemcpyDeviceToHost);  // waits until the GPU has added
    cudaError_t error = cudaGetLastError();
    cudaFree(d_a), cudaFree(d_b), cudaFree(d_c);

    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += c[i] != 3.0f * i;
    printf("%s: %d sums, %d wrong\n", cudaGetErrorString(error), n, wrong);
    free(a), free(b), free(c);
    return error != cudaSuccess || wrong > 0;
}
