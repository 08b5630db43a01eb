// EXPECT: right
// ON A GPU: right: the same shared bytes are floats, then doubles, then a pair of arrays carved by hand, a barrier between each (Programming Guide, "__shared__": extern array and offsets)
#include <stdio.h>

__global__ void reuse(const float *in, double *out) {
    extern __shared__ double raw[];
    float *f = (float *)raw;
    int t = threadIdx.x, n = blockDim.x;
    f[t] = in[t];
    __syncthreads();
    float mirror = f[n - 1 - t];
    __syncthreads();
    raw[t] = mirror * 2.0;
    __syncthreads();
    double next = raw[(t + 1) % n];
    __syncthreads();
    short *key = (short *)raw;               // n shorts, then n floats
    float *value = (float *)(key + n);
    key[t] = (short)((t + 3) % n);
    value[t] = (float)next;
    __syncthreads();
    out[t] = value[key[t]];
}

int main(void) {
    float h[64];
    double r[64];
    float *in;
    double *out;
    for (int i = 0; i < 64; i++) h[i] = i;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(r));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    reuse<<<1, 64, 64 * sizeof(double)>>>(in, out);
    cudaMemcpy(r, out, sizeof(r), cudaMemcpyDeviceToHost);
    printf("%g, should be 118\n", r[0]);
    cudaFree(in); cudaFree(out);
    return r[0] != 118.0;
}
