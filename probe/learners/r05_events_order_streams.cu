// EXPECT: right
// ON A GPU: right: two non-blocking streams use one buffer, events order them both ways (Programming Guide, "Events"; Runtime API, cudaStreamWaitEvent)
#include <stdio.h>

__global__ void produce(int *buf, int round) { buf[threadIdx.x] = round * 100 + threadIdx.x; }

__global__ void consume(const int *buf, int *sum) { sum[threadIdx.x] += buf[threadIdx.x]; }

int main(void) {
    int *buf, *sum, h[64];
    cudaStream_t a, b;
    cudaEvent_t full, empty;
    cudaMalloc(&buf, sizeof(h));
    cudaMalloc(&sum, sizeof(h));
    cudaMemset(sum, 0, sizeof(h));
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&full, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&empty, cudaEventDisableTiming);
    for (int round = 0; round < 3; round++) {
        cudaStreamWaitEvent(a, empty, 0);    // never recorded in the first round: no wait
        produce<<<1, 64, 0, a>>>(buf, round);
        cudaEventRecord(full, a);
        cudaStreamWaitEvent(b, full, 0);
        consume<<<1, 64, 0, b>>>(buf, sum);
        cudaEventRecord(empty, b);
    }
    cudaEventSynchronize(empty);
    cudaMemcpy(h, sum, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d, should be %d\n", h[5], 300 + 15);
    cudaEventDestroy(full); cudaEventDestroy(empty);
    cudaStreamDestroy(a); cudaStreamDestroy(b);
    cudaFree(buf); cudaFree(sum);
    return h[5] != 315;
}
