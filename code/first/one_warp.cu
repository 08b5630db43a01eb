// Generated from chapters/17-how-long.md by tangle: edit that file, not this one.
// Adds up 32 floats with one warp. Chapter 17 computes its time by hand.
// Run it: simt --time nvidia-h200 one_warp
#include <stdio.h>

__global__ void warp_total(const float *in, float *total) {
    float sum = in[threadIdx.x];
    for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) *total = sum;
}

int main(void) {
    float in[32], total = 0, *d_in, *d_total;
    for (int i = 0; i < 32; i++) in[i] = (float)i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_total, sizeof total);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    warp_total<<<1, 32>>>(d_in, d_total);
    cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost);
    printf("%s: the total is %.0f\n", cudaGetErrorString(cudaGetLastError()), total);
    cudaFree(d_in), cudaFree(d_total);
    return total != 496;
}
