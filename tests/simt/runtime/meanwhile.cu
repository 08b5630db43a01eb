// While a host function runs, another thread destroys the graph whose launch runs it, or unregisters
// the memory that the main thread unregisters. `meanwhile graph | memory`.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>

__global__ void add(int *at) { ++*at; }

static std::atomic<int> phase;
static char *memory;
static cudaGraphExec_t exec;

static void wait_for(int wanted) {
    while (phase < wanted) std::this_thread::yield();
}

static void CUDART_CB host(void *) {
    if (phase == 0) phase = 1;
    wait_for(2);
}

static cudaError_t other_said;

static void destroy(bool graph) {
    wait_for(1);
    other_said = graph ? cudaGraphExecDestroy(exec) : cudaHostUnregister(memory);
    void *again[64]; // allocations that reuse freed memory
    for (void *&one : again) one = malloc(64);
    for (void *one : again) memset(one, 0x5A, 64);
    for (void *one : again) free(one);
    phase = 2;
}

int main(int argc, char **argv) {
    const bool graph = strcmp(argv[1], "graph") == 0;
    int *d, sum = 0;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&d, sizeof *d);
    cudaMemset(d, 0, sizeof *d);
    memory = (char *)malloc(4096);
    cudaHostRegister(memory, 4096, 0);
    std::thread other(destroy, graph);
    cudaError_t said;
    if (graph) {
        cudaGraph_t made;
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        cudaLaunchHostFunc(stream, host, NULL);
        add<<<1, 1, 0, stream>>>(d);
        cudaStreamEndCapture(stream, &made);
        cudaGraphInstantiate(&exec, made, 0);
        said = cudaGraphLaunch(exec, stream);
    } else {
        cudaLaunchHostFunc(stream, host, NULL);
        add<<<1, 1, 0, stream>>>(d);
        said = cudaHostUnregister(memory);
    }
    cudaStreamSynchronize(stream);
    other.join();
    cudaGetLastError();
    cudaMemcpy(&sum, d, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", sum, said == cudaSuccess, other_said == cudaSuccess);
    return 0;
}
