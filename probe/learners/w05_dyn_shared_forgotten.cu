// EXPECT: wrong: extern shared array, but the launch asks for 0 bytes, at "s[threadIdx.x] = in[i];"
// ON A GPU: shared address out of range: cudaErrorIllegalAddress or none at all, as the block's window is larger than what it asked for (Programming Guide, "Execution Configuration", Ns)
#include <stdio.h>
#include <stdlib.h>

__global__ void reverse(int *out, const int *in) {
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[blockDim.x - 1 - threadIdx.x];
}

int main(void) {
    int n = 1024, *h = (int *)malloc(n * sizeof(int)), *in, *out;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    reverse<<<n / 256, 256>>>(out, in);
    cudaMemcpy(h, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    printf("out[0] = %d\n", h[0]);
    cudaFree(in); cudaFree(out); free(h);
    return 0;
}
