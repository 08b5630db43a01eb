// Generated from chapters/05-first-add-on-load.md by tangle: edit that file, not this one.
// Exercise: one guard for both loads. All elements are 1, so the sum counts them.
#include <stdio.h>

__global__ void block_sum_one_guard(const float *in, float *partial, unsigned n) {
    extern __shared__ float s[];
    unsigned t = threadIdx.x, i = blockIdx.x * (2 * blockDim.x) + t;
    s[t] = i + blockDim.x < n ? in[i] + in[i + blockDim.x] : 0.0f;
    __syncthreads();  // every pair is in s[] before any two are added
    for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();  // this level is complete before the next one reads it
    }
    if (t == 0) partial[blockIdx.x] = s[0];
}

enum { N = 1000, BLOCK = 256, GRID = 2 };

int main() {
    float ones[N], partial[GRID], *d_in, *d_partial;
    for (int i = 0; i < N; i++) ones[i] = 1;
    cudaMalloc(&d_in, sizeof ones);
    cudaMalloc(&d_partial, sizeof partial);
    cudaMemcpy(d_in, ones, sizeof ones, cudaMemcpyHostToDevice);
    block_sum_one_guard<<<GRID, BLOCK, BLOCK * sizeof(float)>>>(d_in, d_partial, N);
    cudaMemcpy(partial, d_partial, sizeof partial, cudaMemcpyDeviceToHost);
    printf("lost = %g\n", N - partial[0] - partial[1]);
    return 0;
}
