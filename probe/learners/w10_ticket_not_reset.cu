// EXPECT: wrong: the ticket counter keeps its value, so in the second launch no block is the last one, at "unsigned ticket = atomicAdd(&count, 1);"
// ON A GPU: no error; the second total is never written (Programming Guide, "Memory Fence Functions", example sum: count = 0 at its end)
#include <stdio.h>

__device__ unsigned count = 0;

__global__ void total(const float *in, float *partial, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        float s = 0;
        for (int i = 0; i < 64; i++) s += in[blockIdx.x * 64 + i];
        partial[blockIdx.x] = s;
        __threadfence();
        unsigned ticket = atomicAdd(&count, 1);
        __threadfence();
        last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float s = 0;
        for (unsigned b = 0; b < gridDim.x; b++) s += ((volatile float *)partial)[b];
        *out = s;
    }
}

int main(void) {
    float h[512], sum, *in, *partial, *out;
    cudaMalloc(&in, sizeof(h)); cudaMalloc(&partial, 8 * sizeof(float)); cudaMalloc(&out, sizeof(float));
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < 512; i++) h[i] = round;
        cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
        total<<<8, 32>>>(in, partial, out);
        cudaMemcpy(&sum, out, sizeof(float), cudaMemcpyDeviceToHost);
        printf("%g, should be %d\n", sum, 512 * round);
    }
    cudaFree(in); cudaFree(partial); cudaFree(out);
    return 0;
}
