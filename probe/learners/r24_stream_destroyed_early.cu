// EXPECT: right
// ON A GPU: right: cudaStreamDestroy returns at once, the stream's work is still done (Runtime API, cudaStreamDestroy); pageable memory is legal for cudaMemcpyAsync, and main waits before it reads
#include <stdio.h>
#include <stdlib.h>

__global__ void negate(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = -x[i];
}

int main(void) {
    int n = 500, bad = 0, *h = (int *)malloc(n * sizeof(int)), *d;
    cudaStream_t s;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&d, n * sizeof(int));
    cudaStreamCreate(&s);
    cudaMemcpyAsync(d, h, n * sizeof(int), cudaMemcpyHostToDevice, s);
    negate<<<2, 256, 0, s>>>(d, n);
    cudaMemcpyAsync(h, d, n * sizeof(int), cudaMemcpyDeviceToHost, s);
    cudaStreamDestroy(s);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) bad += h[i] != -i;
    printf("%d wrong\n", bad);
    cudaFree(d); free(h);
    return bad != 0;
}
