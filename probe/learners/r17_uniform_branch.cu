// EXPECT: right
// ON A GPU: right: barriers in a branch and in a loop whose conditions are the same for the whole block (Programming Guide, "Synchronization Functions", __syncthreads_or)
#include <stdio.h>

__global__ void sort_even_blocks(int *a) {
    __shared__ int s[128];
    int t = threadIdx.x, *mine = a + 128 * blockIdx.x;
    if (blockIdx.x % 2 == 0) {
        s[t] = mine[t]; s[t + 64] = mine[t + 64];
        __syncthreads();
        int changed;
        do {
            changed = 0;
            for (int odd = 0; odd < 2; odd++) {
                int k = 2 * t + odd;
                if (k < 127 && s[k] > s[k + 1]) {
                    int v = s[k]; s[k] = s[k + 1]; s[k + 1] = v;
                    changed = 1;
                }
                __syncthreads();
            }
        } while (__syncthreads_or(changed));
        mine[t] = s[t]; mine[t + 64] = s[t + 64];
    }
}

int main(void) {
    int h[512], bad = 0, *a;
    for (int i = 0; i < 512; i++) h[i] = i * 37 % 128;
    cudaMalloc(&a, sizeof(h));
    cudaMemcpy(a, h, sizeof(h), cudaMemcpyHostToDevice);
    sort_even_blocks<<<4, 64>>>(a);
    cudaMemcpy(h, a, sizeof(h), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++) bad += h[i] != i || h[256 + i] != i;
    printf("%d wrong\n", bad);
    cudaFree(a);
    return bad != 0;
}
