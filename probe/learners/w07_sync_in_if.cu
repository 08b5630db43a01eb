// EXPECT: wrong: a barrier that only threads 0 to 15 of 64 reach, at "__syncthreads();   // table is ready"
// ON A GPU: undefined (Programming Guide, "Synchronization Functions": conditional only if it evaluates alike across the block); no hang, since the others exit; table may be read before it is written
#include <stdio.h>

__global__ void lookup(int *out) {
    __shared__ int table[16];
    int t = threadIdx.x;
    if (t < 16) {
        table[t] = t * t;
        __syncthreads();   // table is ready
    }
    out[t] = table[t % 16];
}

int main(void) {
    int h[64], *d;
    cudaMalloc(&d, sizeof(h));
    lookup<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[3], h[63]);
    cudaFree(d);
    return 0;
}
