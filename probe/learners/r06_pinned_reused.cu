// EXPECT: right
// ON A GPU: right: the pinned buffer is filled anew once the event behind its copy has happened, the kernel may still run (Runtime API, cudaEventSynchronize)
#include <stdio.h>

__global__ void add(const int *part, int *sum) { sum[threadIdx.x] += part[threadIdx.x]; }

int main(void) {
    int *pin, *part, *sum, h[256];
    cudaStream_t s;
    cudaEvent_t copied;
    cudaStreamCreate(&s);
    cudaEventCreate(&copied);
    cudaMallocHost((void **)&pin, sizeof(h));
    cudaMalloc(&part, sizeof(h));
    cudaMalloc(&sum, sizeof(h));
    cudaMemsetAsync(sum, 0, sizeof(h), s);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < 256; i++) pin[i] = round * i;
        cudaMemcpyAsync(part, pin, sizeof(h), cudaMemcpyHostToDevice, s);
        cudaEventRecord(copied, s);
        add<<<1, 256, 0, s>>>(part, sum);
        cudaEventSynchronize(copied);        // the copy is done, the kernel perhaps not
    }
    cudaMemcpyAsync(pin, sum, sizeof(h), cudaMemcpyDeviceToHost, s);
    while (cudaStreamQuery(s) == cudaErrorNotReady)
        ;
    int got = pin[10];
    printf("%d, should be 60\n", got);
    cudaFreeHost(pin); cudaFree(part); cudaFree(sum);
    cudaEventDestroy(copied); cudaStreamDestroy(s);
    return got != 60;
}
