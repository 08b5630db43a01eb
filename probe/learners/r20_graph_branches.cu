// EXPECT: right
// ON A GPU: right: a captured graph forks into two branches on disjoint rows and joins; it is launched three times in one stream (Programming Guide, "CUDA Graphs", cross-stream dependencies)
#include <stdio.h>

__global__ void add(int *row, int by) { row[threadIdx.x] += by; }

__global__ void join(const int *rows, int *sum) { sum[threadIdx.x] += rows[threadIdx.x] + rows[64 + threadIdx.x]; }

int main(void) {
    int *rows, *sum, h[64];
    cudaStream_t a, b;
    cudaEvent_t fork, done;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaMalloc(&rows, 128 * sizeof(int)); cudaMalloc(&sum, sizeof(h));
    cudaMemset(rows, 0, 128 * sizeof(int)); cudaMemset(sum, 0, sizeof(h));
    cudaStreamCreate(&a); cudaStreamCreate(&b);
    cudaEventCreate(&fork); cudaEventCreate(&done);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, a);
    cudaStreamWaitEvent(b, fork, 0);
    add<<<1, 64, 0, a>>>(rows, 1);
    add<<<1, 64, 0, b>>>(rows + 64, 10);
    cudaEventRecord(done, b);
    cudaStreamWaitEvent(a, done, 0);
    join<<<1, 64, 0, a>>>(rows, sum);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int k = 0; k < 3; k++) cudaGraphLaunch(exec, a);
    cudaStreamSynchronize(a);
    cudaMemcpy(h, sum, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%d, should be 66\n", h[7]);
    cudaGraphExecDestroy(exec); cudaGraphDestroy(graph);
    cudaEventDestroy(fork); cudaEventDestroy(done);
    cudaStreamDestroy(a); cudaStreamDestroy(b); cudaFree(rows); cudaFree(sum);
    return h[7] != 66;
}
