// EXPECT: wrong: __ldg reads what the same kernel writes, at "int left = __ldg(&a[(t + blockDim.x - 1) % blockDim.x]);"
// ON A GPU: undefined: __ldg is for data read-only for the whole kernel (Best Practices / Programming Guide, "Read-Only Data Cache Load Function"; PTX ld.global.nc); right by luck on sm_90, whose L1 is the same
#include <stdio.h>

__global__ void step(int *a, int *out) {
    int t = threadIdx.x;
    int before = __ldg(&a[t]);
    a[t] = before + 1;
    __syncthreads();
    int left = __ldg(&a[(t + blockDim.x - 1) % blockDim.x]);
    out[t] = left;
}

int main(void) {
    int h[128], *a, *out;
    for (int i = 0; i < 128; i++) h[i] = 10 * i;
    cudaMalloc(&a, sizeof(h));
    cudaMalloc(&out, sizeof(h));
    cudaMemcpy(a, h, sizeof(h), cudaMemcpyHostToDevice);
    step<<<1, 128>>>(a, out);
    cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d, should be 1 and %d, should be 11\n", h[1], h[2]);
    cudaFree(a); cudaFree(out);
    return 0;
}
