// EXPECT: right
// ON A GPU: right: each element belongs to one thread, which reads and writes it; odd size, odd block, more blocks than needed
#include <stdio.h>
#include <stdlib.h>

__global__ void collatz(unsigned *x, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        while (x[i] != 1) {
            if (x[i] % 2) x[i] = 3 * x[i] + 1;
            else x[i] /= 2;
        }
    }
}

int main(void) {
    int n = 1009, bad = 0;
    unsigned *h = (unsigned *)malloc(n * sizeof(unsigned)), *d;
    for (int i = 0; i < n; i++) h[i] = i + 1;
    cudaMalloc(&d, n * sizeof(unsigned));
    cudaMemcpy(d, h, n * sizeof(unsigned), cudaMemcpyHostToDevice);
    collatz<<<23, 33>>>(d, n);
    cudaMemcpy(h, d, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) bad += h[i] != 1;
    printf("%d wrong\n", bad);
    cudaFree(d); free(h);
    return bad != 0;
}
