// EXPECT: right
// ON A GPU: right: thread 0 zeroes all counters, a barrier, atomics, a barrier, plain reads, a barrier, and again (Programming Guide, "Atomic Functions", "Synchronization Functions")
#include <stdio.h>

__global__ void histograms(const unsigned char *in, int n, int *out, int rounds) {
    __shared__ int count[10];
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0)
            for (int k = 0; k < 10; k++) count[k] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            atomicAdd(&count[(in[i] + r) % 10], 1);
        __syncthreads();
        if (threadIdx.x < 10) out[r * 10 + threadIdx.x] = count[threadIdx.x];
        __syncthreads();
    }
}

int main(void) {
    unsigned char h[500], *in;
    int r[30], *out;
    for (int i = 0; i < 500; i++) h[i] = i * i % 10;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(r));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    histograms<<<1, 96>>>(in, 500, out, 3);
    cudaMemcpy(r, out, sizeof(r), cudaMemcpyDeviceToHost);
    printf("%d %d, should be 50 100\n", r[0], r[12]);
    cudaFree(in); cudaFree(out);
    return r[0] != 50 || r[12] != 100;
}
