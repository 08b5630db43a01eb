// EXPECT: right
// ON A GPU: right: no event, no wait: work in the legacy default stream waits for blocking streams and they for it (Runtime API, "Stream synchronization behavior")
#include <stdio.h>

__global__ void add(int *x, int by) { x[threadIdx.x] += by; }

__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

int main(void) {
    int *x, h[64];
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaMalloc(&x, sizeof(h));
    cudaMemset(x, 0, sizeof(h));             // default stream
    add<<<1, 64, 0, a>>>(x, 3);
    twice<<<1, 64>>>(x);                     // default stream
    add<<<1, 64, 0, b>>>(x, 4);
    cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d, should be 10\n", h[0]);
    cudaStreamDestroy(a); cudaStreamDestroy(b); cudaFree(x);
    return h[0] != 10;
}
