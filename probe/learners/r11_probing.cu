// EXPECT: right
// ON A GPU: right: two calls are tried that may fail, and their errors are taken away by cudaGetLastError() (Runtime API, "Error Handling")
#include <stdio.h>

__global__ void fill(int *a, int n) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = s[i % blockDim.x];
}

int main(void) {
    int n = 4096, h[4096], *a, threads = 4096;
    cudaMalloc(&a, sizeof(h));
    size_t shared = 1 << 20;                 // as much as the device lets us have
    while (cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared) != cudaSuccess) {
        cudaGetLastError();
        shared /= 2;
    }
    for (; threads >= 32; threads /= 2) {    // and as many threads
        fill<<<1, threads, shared>>>(a, n);
        if (cudaGetLastError() == cudaSuccess) break;
    }
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(h, a, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%s %d threads, %zu bytes, last %d\n", cudaGetErrorString(e), threads, shared, h[n - 1]);
    cudaFree(a);
    return e != cudaSuccess || h[n - 1] != threads - 1;
}
