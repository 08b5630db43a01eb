// EXPECT: right
// ON A GPU: right: copies and kernels of two streams touch disjoint halves of the same buffers, cudaDeviceSynchronize waits for both (Programming Guide, "Streams", overlapping behaviour)
#include <stdio.h>

__global__ void square(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

int main(void) {
    int n = 2000, half = n / 2, bad = 0;
    float *h, *d;
    cudaStream_t s[2];
    cudaMallocHost((void **)&h, n * sizeof(float));
    cudaMalloc(&d, n * sizeof(float));
    for (int i = 0; i < n; i++) h[i] = i;
    for (int k = 0; k < 2; k++) cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
    for (int k = 0; k < 2; k++) {
        float *hk = h + k * half, *dk = d + k * half;
        cudaMemcpyAsync(dk, hk, half * sizeof(float), cudaMemcpyHostToDevice, s[k]);
        square<<<(half + 255) / 256, 256, 0, s[k]>>>(dk, half);
        cudaMemcpyAsync(hk, dk, half * sizeof(float), cudaMemcpyDeviceToHost, s[k]);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) bad += h[i] != (float)i * (float)i;
    printf("%d wrong\n", bad);
    for (int k = 0; k < 2; k++) cudaStreamDestroy(s[k]);
    cudaFreeHost(h); cudaFree(d);
    return bad != 0;
}
