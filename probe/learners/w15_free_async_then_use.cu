// EXPECT: wrong: the kernel behind cudaFreeAsync in the same stream still uses the memory, at "sum += tmp[i];"
// ON A GPU: undefined (Runtime API, cudaFreeAsync: accessing after the free in stream order is undefined; Programming Guide, "Stream Ordered Memory Allocator"); usually right by luck, the pool keeps it
#include <stdio.h>

__global__ void fill(int *tmp, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) tmp[i] = 1;
}

__global__ void add(const int *tmp, int n, int *out) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += tmp[i];
    *out = sum;
}

int main(void) {
    int n = 1000, *tmp, *out, h = 0;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc(&out, sizeof(int));
    cudaMallocAsync((void **)&tmp, n * sizeof(int), s);
    fill<<<1, 256, 0, s>>>(tmp, n);
    cudaFreeAsync(tmp, s);
    add<<<1, 1, 0, s>>>(tmp, n, out);
    cudaStreamSynchronize(s);
    cudaMemcpy(&h, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(out); cudaStreamDestroy(s);
    return 0;
}
