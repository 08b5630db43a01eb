// Generated from chapters/05-first-add-on-load.md by tangle: edit that file, not this one.
// Exercise: the two elements of a thread side by side.
#include <stdio.h>

__global__ void block_sum_side_by_side(const float *in, float *partial, unsigned n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * (2 * blockDim.x) + 2 * t;
    float mine = i < n ? in[i] : 0.0f;
    if (i + 1 < n) mine += in[i + 1];
    s[t] = mine;
    __syncthreads();  // every pair is in s[] before any two are added
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete before the next one reads it
    }
    if (t == 0) partial[blockIdx.x] = s[0];
}

enum { BLOCK = 256, GRID = 200, N = 2 * BLOCK * GRID };

int main() {
    float *d_in, *d_partial;
    cudaMalloc(&d_in, N * sizeof(float));
    cudaMalloc(&d_partial, GRID * sizeof(float));
    cudaMemset(d_in, 0, N * sizeof(float));
    block_sum_side_by_side<<<GRID, BLOCK, BLOCK * sizeof(float)>>>(d_in, d_partial, N);
    cudaDeviceSynchronize();
    return 0;
}
