// EXPECT: right
// ON A GPU: right: empty batch: zero bytes allocated, copied, set and freed succeed, no launch of zero blocks (Runtime API, cudaMalloc, cudaMemcpy, cudaFree(NULL): no operation)
#include <stdio.h>

__global__ void inc(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i]++;
}

static int batch(int *h, int n) {
    int *d = NULL, blocks = (n + 127) / 128;
    cudaMalloc(&d, n * sizeof(int));
    cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
    if (blocks > 0)
        inc<<<blocks, 128>>>(d, n);
    cudaMemcpy(h, d, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemset(d, 0, n * sizeof(int));
    cudaFree(d);
    return cudaDeviceSynchronize() != cudaSuccess;
}

int main(void) {
    int h[200] = {0}, bad = 0;
    bad += batch(h, 200);
    bad += batch(h, 0);
    bad += batch(h, 1);
    printf("%d %d %d\n", h[0], h[199], bad);
    return bad || h[0] != 2 || h[199] != 1;
}
