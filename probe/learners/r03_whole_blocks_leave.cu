// EXPECT: right
// ON A GPU: right: the condition of the return is the same for all threads of a block (Programming Guide, "Synchronization Functions": conditional code that evaluates identically across the block)
#include <stdio.h>
#include <stdlib.h>

__global__ void reverse_tiles(const int *in, int *out, const int *active) {
    __shared__ int s[128];
    if (!active[blockIdx.x])
        return;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    out[i] = s[127 - t];
}

int main(void) {
    int active[8] = {1, 0, 0, 1, 1, 0, 1, 0}, n = 1024, *h = (int *)malloc(n * sizeof(int)), *in, *out, *d;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&d, sizeof(active));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * sizeof(int));
    cudaMemcpy(d, active, sizeof(active), cudaMemcpyHostToDevice);
    reverse_tiles<<<8, 128>>>(in, out, d);
    cudaMemcpy(h, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[128]);
    cudaFree(in); cudaFree(out); cudaFree(d);
    int bad = h[0] != 127 || h[128] != 0;
    free(h);
    return bad;
}
