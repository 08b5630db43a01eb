// EXPECT: wrong: the second warp of 48 threads has 16 lanes, the sum takes values from lanes that are not there, at "v += __shfl_down_sync(0xffffffff, v, o);"
// ON A GPU: value of an inactive lane is undefined (Programming Guide, "Warp Shuffle Functions"); the sum is wrong or right by luck, no error
#include <stdio.h>

__global__ void sum(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int o = 16; o > 0; o /= 2)
        v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, v);
}

int main(void) {
    int n = 480, h[480], total = 0, *in, *out;
    for (int i = 0; i < n; i++) h[i] = 1;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(int));
    sum<<<n / 48, 48>>>(in, out, n);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d, should be %d\n", total, n);
    cudaFree(in); cudaFree(out);
    return 0;
}
