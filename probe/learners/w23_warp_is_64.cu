// EXPECT: wrong: takes 64 threads for one warp: __syncwarp() between warps orders nothing, at "if (t < s) part[t] += part[t + s];"
// ON A GPU: shared-memory race between warps 0 and 1 (Programming Guide, "SIMT Architecture": warps of 32; __syncwarp orders the warp's threads only)
#include <stdio.h>
#define WARP 64

__global__ void sum(const int *in, int *out) {
    __shared__ int part[128];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    if (t < WARP) {
        for (int s = WARP; s > 0; s /= 2) {
            if (t < s) part[t] += part[t + s];
            __syncwarp();
        }
    }
    if (t == 0) *out = part[0];
}

int main(void) {
    int h[128], total = 0, *in, *out;
    for (int i = 0; i < 128; i++) h[i] = 1;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    sum<<<1, 128>>>(in, out);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d, should be 128\n", total);
    cudaFree(in); cudaFree(out);
    return 0;
}
