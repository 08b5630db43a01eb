// EXPECT: wrong: the elapsed time is asked for before the stop event has happened, at "cudaEventElapsedTime(&ms, start, stop);"
// ON A GPU: returns cudaErrorNotReady and leaves ms alone (Runtime API, Event Management, cudaEventElapsedTime); needs cudaEventSynchronize(stop)
#include <stdio.h>

__global__ void work(float *x, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i;
    for (int r = 0; r < rounds; r++) v = v * 0.999f + 1.0f;
    x[i] = v;
}

int main(void) {
    float *x, ms = -1.0f;
    cudaEvent_t start, stop;
    cudaMalloc(&x, 1024 * sizeof(float));
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    work<<<8, 128>>>(x, 20000);
    cudaEventRecord(stop);
    cudaEventElapsedTime(&ms, start, stop);
    printf(ms < 0 ? "no time\n" : "a time\n");
    cudaDeviceSynchronize();
    cudaEventDestroy(start); cudaEventDestroy(stop);
    cudaFree(x);
    return 0;
}
