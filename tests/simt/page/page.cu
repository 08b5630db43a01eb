// Kernels for the page of `simt --html`, one for each kind of content.
// usage: page [never | endless]
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

// Lane t touches word STRIDE * t of each row: STRIDE wavefronts where that is a power of two.
template <int STRIDE> __global__ void strided(int *out) {
    __shared__ int s[2][32 * 32];
    unsigned t = threadIdx.x;
    s[t / 32][t % 32 * STRIDE] = (int)t;
    __syncthreads();
    out[blockIdx.x * blockDim.x + t] = s[t / 32][t % 32 * STRIDE];
}

// Elements of 8 and 16 bytes, which are served in groups of lanes, and bytes, four to a word.
__global__ void wide(int *out) {
    __shared__ int2 two[64];
    __shared__ int4 four[64];
    __shared__ char one[128];
    unsigned t = threadIdx.x;
    two[2 * t] = make_int2((int)t, 1);
    four[t] = make_int4((int)t, 1, 2, 3);
    one[t] = (char)t;
    __syncthreads();
    int a = two[2 * (t ^ 1)].x;
    int b = four[t / 2].y;
    int c = one[t ^ 3];
    out[t] = a + b + c;
}

// The number of wavefronts differs between iterations, and grows with every block.
__global__ void varying(int *out, int trips) {
    __shared__ int s[32 * 64];
    unsigned t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < trips + (int)blockIdx.x; k++) {
        s[(t << k) % 2048] = k;
        __syncwarp();
        sum += s[(t << k) % 2048];
        __syncwarp();
    }
    out[blockIdx.x * 32 + t] = sum;
}

__device__ __noinline__ int called(int x) {
    __shared__ int s[64];
    s[2 * (threadIdx.x % 32)] = x;
    __syncwarp();
    return s[2 * (threadIdx.x % 32)] + 1;
}

// A function that is not inlined, atomics, a divergent branch, generic addresses.
__global__ void calls(int *out, int *sum) {
    __shared__ int s[32];
    unsigned t = threadIdx.x;
    int *either = *sum > 1000 ? out + 64 : s;
    either[t] = called((int)t);
    __syncwarp();
    if (t < 5) atomicAdd(sum, either[t + 1]);
    if (t > 20) out[t] = either[t - 1];
}

__global__ void copies(const int4 *in, int *out) {
    __shared__ int4 s[32];
    unsigned t = threadIdx.x, at = (unsigned)__cvta_generic_to_shared(&s[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.wait_all;\n" ::"r"(at), "l"(&in[t]) : "memory");
    __syncthreads();
    out[t] = s[31 - t].x;
}

__global__ void racy(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = (int)threadIdx.x;
    out[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void never(int *out) { out[threadIdx.x] = 4711; }

__global__ void endless(volatile int *go, int *out) {
    out[threadIdx.x] = 1;
    while (!*go) {
    }
}

int main(int argc, char **argv) {
    int *out, *sum;
    int4 *in;
    cudaMalloc(&out, 1 << 16);
    cudaMalloc(&sum, 256);
    cudaMalloc(&in, 1 << 12);
    cudaMemset(sum, 0, 256);
    cudaMemset(in, 0, 1 << 12);
    if (argc > 1 && strcmp(argv[1], "never") == 0) never<<<1, 32>>>(out);
    strided<1><<<3, 64>>>(out);
    strided<8><<<3, 64>>>(out);
    strided<8><<<3, 64>>>(out);
    strided<32><<<2, 20>>>(out);
    wide<<<1, 32>>>(out);
    varying<<<40, 32>>>(out, 1);
    for (int trips = 0; trips < 50; trips++) varying<<<1 + trips % 3, 32>>>(out, trips % 25);
    calls<<<1, 32>>>(out, sum);
    copies<<<1, 32>>>(in, out);
    racy<<<1, 64>>>(out);
    strided<1><<<dim3(1, 3), 64>>>(out);
    if (argc > 1 && strcmp(argv[1], "blocks") == 0) strided<8><<<2, 32>>>(out);
    if (argc > 1 && strcmp(argv[1], "endless") == 0) endless<<<1, 32>>>(sum + 32, out);
    cudaError_t error = cudaDeviceSynchronize();
    if (error) printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
