// Hazards whose reports are compared word by word: told CASE. `AT NAME` marks their lines.
#include <cuda_runtime.h>
#include <string.h>

__global__ void neighbour(float *out, const float *in) {
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];              // AT store
    out[threadIdx.x] = s[(threadIdx.x + 32) % 64]; // AT load
}

template <class Value, int Times>
__global__ void a_kernel_with_a_name_of_some_length(Value *out, const Value *in) {
    for (int k = 0; k < Times; k++) out[threadIdx.x] = in[(int)threadIdx.x - 1]; // AT front
}

__global__ void counter(float *out) {
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    n = n + 1; // AT count
    __syncthreads();
    out[threadIdx.x] = (float)n;
}

int main(int argc, char **argv) {
    float *out, *in;
    cudaMalloc(&out, 256);
    cudaMalloc(&in, 256);
    cudaMemset(in, 0, 256);
    if (argc > 1 && !strcmp(argv[1], "front"))
        a_kernel_with_a_name_of_some_length<float, 1><<<1, 64>>>(out, in);
    else if (argc > 1)
        counter<<<1, 64>>>(out);
    else
        neighbour<<<1, 64>>>(out, in);
    return cudaDeviceSynchronize() != cudaSuccess;
}
