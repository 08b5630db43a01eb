// EXPECT: right
// ON A GPU: right: reads and writes of one warp are parted by __syncwarp() (Programming Guide, "Synchronization Functions", __syncwarp: guarantees memory ordering among participating threads)
#include <stdio.h>

__global__ void sum(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {                            // one warp, no __syncthreads from here on
        int v = s[t] + s[t + 32];
        __syncwarp();
        for (int o = 16; o > 0; o /= 2) {
            s[t] = v;
            __syncwarp();
            v += s[(t + o) % 32];
            __syncwarp();
        }
        if (t == 0) *out = v;
    }
}

int main(void) {
    int h[64], total = 0, *in, *out;
    for (int i = 0; i < 64; i++) h[i] = i;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    sum<<<1, 64>>>(in, out);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d, should be %d\n", total, 63 * 64 / 2);
    cudaFree(in); cudaFree(out);
    return total != 63 * 64 / 2;
}
