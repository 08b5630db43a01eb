// EXPECT: right
// ON A GPU: right: fence before and behind the ticket, atomicInc sets the counter back to 0 by itself (Programming Guide, "Memory Fence Functions", example sum; CUDA sample threadFenceReduction)
#include <stdio.h>

__device__ unsigned tickets = 0;

__global__ void total(const int *in, int n, int *partial, int *out) {
    __shared__ int s;
    __shared__ bool last;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    if (threadIdx.x == 0) *out = 0;
    __syncthreads();
    if (threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}

int main(void) {
    int n = 1000, h[1000], sum = 0, bad = 0, *in, *partial, *out;
    cudaMalloc(&in, sizeof(h)); cudaMalloc(&partial, 8 * sizeof(int)); cudaMalloc(&out, sizeof(int));
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < n; i++) h[i] = round;
        cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
        total<<<8, 128>>>(in, n, partial, out);
        cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
        printf("%d, should be %d\n", sum, n * round);
        bad |= sum != n * round;
    }
    cudaFree(in); cudaFree(partial); cudaFree(out);
    return bad;
}
