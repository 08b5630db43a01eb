// EXPECT: right
// ON A GPU: right in practice: all stores write the same word with the same value (Programming Guide, "SIMT Architecture": a write by several threads is performed by one of them, which one is undefined)
#include <stdio.h>
#include <stdlib.h>

__global__ void find(const int *a, int n, int wanted, int *found) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (a[i] % 1000 == wanted)
            *found = 1;
}

int main(void) {
    int n = 10000, found = 0, *h = (int *)malloc(n * sizeof(int)), *a, *d;
    for (int i = 0; i < n; i++) h[i] = i * 7 % 1000 / 2;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&d, sizeof(int));
    cudaMemcpy(a, h, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(d, 0, sizeof(int));
    find<<<3, 96>>>(a, n, 42, d);
    cudaMemcpy(&found, d, sizeof(int), cudaMemcpyDeviceToHost);
    printf("found: %d\n", found);
    cudaFree(a); cudaFree(d); free(h);
    return found != 1;
}
