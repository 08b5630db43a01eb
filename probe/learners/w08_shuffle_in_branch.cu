// EXPECT: wrong: the full mask in a branch that only half of the warp takes, at "v += __shfl_down_sync(0xffffffff, v, o);"
// ON A GPU: undefined (Programming Guide, "Warp Shuffle Functions": all non-exited threads named in mask must execute the same intrinsic); here it waits for lanes that exit, so it usually ends
#include <stdio.h>

__global__ void sum_positive(const int *in, int *out) {
    int lane = threadIdx.x;
    int v = in[lane];
    if (v > 0) {
        for (int o = 16; o > 0; o /= 2)
            v += __shfl_down_sync(0xffffffff, v, o);
        if (lane == 0)
            *out = v;
    }
}

int main(void) {
    int h[32], sum = 0, *in, *out;
    for (int i = 0; i < 32; i++) h[i] = i % 3 ? -i : i + 1;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    sum_positive<<<1, 32>>>(in, out);
    cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("sum of the positive ones %d\n", sum);
    cudaFree(in); cudaFree(out);
    return 0;
}
