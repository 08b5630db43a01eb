// A few launches of two kernels: enough to test every report.
#include <cstdio>
#include <cuda_runtime.h>

template <int FACTOR> __global__ void scale(float *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= FACTOR;
}

__global__ void reverse(float *data) {
    __shared__ float s[64];
    s[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = s[63 - threadIdx.x];
}

int main() {
    float *d, first = 0;
    cudaMalloc(&d, 4096);
    cudaMemset(d, 0, 4096);
    for (int i = 0; i < 3; i++) scale<7><<<4, 256>>>(d, 1024);
    scale<7><<<1, 256>>>(d, 40);
    reverse<<<1, 64>>>(d);
    cudaMemcpy(&first, d, 4, cudaMemcpyDeviceToHost);
    cudaError_t error = cudaGetLastError();
    printf("first %g, %s\n", first, cudaGetErrorName(error));
    return error == cudaSuccess && first == 0 ? 0 : 1;
}
