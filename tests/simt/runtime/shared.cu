// Static shared memory of functions that several kernels inline: each kernel must have only what it
// uses, at the addresses that ptxas chooses. Prints the size that the runtime reports for each
// kernel.
#include <cstdio>

template <int N> __device__ int passed(int value) {
    __shared__ int values[N];
    __syncthreads();
    for (int k = threadIdx.x; k < N; k += blockDim.x) values[k] = value;
    __syncthreads();
    return values[N - 1 - threadIdx.x];
}
extern __shared__ int dynamic[];
__global__ void little(int *out) { out[threadIdx.x] = passed<32>(1); }
__global__ void much(int *out) { out[threadIdx.x] = passed<512>(2); }
__global__ void none(int *out) { out[threadIdx.x] = 4; }
__global__ void both(int *out) {
    __shared__ int own[3];
    own[threadIdx.x % 3] = 8;
    dynamic[threadIdx.x] = 16;
    out[threadIdx.x] = passed<32>(1) + passed<512>(2) + own[threadIdx.x % 3] + dynamic[threadIdx.x];
}

static int *d_out;
static void tell(const char *name, void (*kernel)(int *), size_t dynamic_bytes, int expected) {
    cudaFuncAttributes attributes;
    int out[32] = {};
    cudaFuncGetAttributes(&attributes, kernel);
    kernel<<<1, 32, dynamic_bytes>>>(d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int lane = 0; lane < 32; lane++)
        if (out[lane] != expected) printf("%s: %d\n", name, out[lane]);
    printf("%s %zu\n", name, attributes.sharedSizeBytes);
}

int main() {
    cudaMalloc(&d_out, 128);
    tell("both", both, 128, 27);
    tell("little", little, 0, 1);
    tell("much", much, 0, 2);
    tell("none", none, 0, 4);
    return 0;
}
