// EXPECT: right
// ON A GPU: right: the mask is the ballot of the threads that stay; what a shuffle brings from a lane outside is not used (Programming Guide, "Warp Shuffle Functions"/"Warp Vote Functions")
#include <stdio.h>

__global__ void sum(const int *in, int n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned stay = __ballot_sync(0xffffffff, i < n);
    if (i >= n)
        return;
    int v = in[i];
    for (int o = 16; o > 0; o /= 2) {
        int u = __shfl_down_sync(stay, v, o);
        if (lane + o < __popc(stay))
            v += u;
    }
    if (lane == 0)
        atomicAdd(out, v);
}

int main(void) {
    int n = 333, h[333], total = 0, *in, *out;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(int));
    sum<<<4, 128>>>(in, n, out);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d, should be %d\n", total, n * (n - 1) / 2);
    cudaFree(in); cudaFree(out);
    return total != n * (n - 1) / 2;
}
