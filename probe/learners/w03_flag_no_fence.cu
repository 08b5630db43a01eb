// EXPECT: wrong: block 1 polls a volatile flag, the data behind it has no fence on either side, at "*data = 42;" and "*out = *data;"
// ON A GPU: data race: volatile alone does not order (Programming Guide, "Memory Fence Functions": writeXY example); usually prints 42, may print 0
#include <stdio.h>

__global__ void hand_over(int *data, volatile int *flag, int *out) {
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        *out = *data;
    }
}

int main(void) {
    int *data, *flag, *out, h = 0;
    cudaMalloc(&data, sizeof(int));
    cudaMalloc(&flag, sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(data, 0, sizeof(int));
    cudaMemset(flag, 0, sizeof(int));
    hand_over<<<2, 32>>>(data, flag, out);
    cudaMemcpy(&h, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("received %d\n", h);
    cudaFree(data); cudaFree(flag); cudaFree(out);
    return 0;
}
