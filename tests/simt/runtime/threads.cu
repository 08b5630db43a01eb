// Two host threads, each with its own stream, last error and capture.
#include <cstdio>
#include <cuda_runtime.h>
#include <thread>

__global__ void add(int *at, int value) { *at += value; }

static int results[2];

static void work(int index) {
    int *d, value = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMallocAsync(&d, 4, stream);
    cudaMemsetAsync(d, 0, 4, stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < 10; i++) add<<<1, 1, 0, stream>>>(d, index + 1);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 50; i++) {
        cudaGraphLaunch(exec, stream);
        add<<<1, 1, 0, stream>>>(d, 1);
        if (index == 1) cudaFree((void *)4); // an error of this thread only
    }
    cudaMemcpyAsync(&value, d, 4, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    results[index] =
        cudaGetLastError() == (index ? cudaErrorInvalidValue : cudaSuccess) ? value : -1;
}

int main() {
    std::thread other(work, 1);
    work(0);
    other.join();
    printf("%d %d\n", results[0], results[1]);
    return 0;
}
