// EXPECT: wrong: host code passes the name of a __device__ array to a kernel: that is the address of the host's shadow, at "out[i] = table[i] + 1;"
// ON A GPU: cudaErrorIllegalAddress, or with HMM/ATS the shadow's bytes (Programming Guide, "Device Memory": cudaGetSymbolAddress; language extensions: __device__ address can be used by device code only)
#include <stdio.h>

__device__ int squares[64];

__global__ void plus_one(const int *table, int *out) {
    int i = threadIdx.x;
    out[i] = table[i] + 1;
}

int main(void) {
    int h[64], *out;
    for (int i = 0; i < 64; i++) h[i] = i * i;
    cudaMemcpyToSymbol(squares, h, sizeof(h));
    cudaMalloc(&out, sizeof(h));
    plus_one<<<1, 64>>>(squares, out);
    cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d, should be 10\n", h[3]);
    cudaFree(out);
    return 0;
}
