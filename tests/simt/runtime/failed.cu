// Launches that fail, by every call that launches, and right twins: failed CASE [checked]
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <string.h>

namespace cg = cooperative_groups;

__global__ void plain(int *out) { out[0] = 1; }
__global__ void fixed(int *out) {
    __shared__ int s[4];
    s[threadIdx.x % 4] = 1;
    __syncthreads();
    out[0] = s[0];
}
__global__ void __launch_bounds__(128) bounded(int *out) { out[0] = 1; }
__global__ void together(int *out) {
    cg::this_grid().sync();
    out[0] = 1;
}

static int *d;
static void *arguments[] = {&d};

static void in_clusters(unsigned grid, unsigned cluster) {
    cudaLaunchConfig_t config = {dim3(grid), dim3(32)};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, plain, d); // AT in_clusters
}

static void in_graph(dim3 grid) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaKernelNodeParams params = {};
    params.func = (void *)plain;
    params.gridDim = grid;
    params.blockDim = dim3(32);
    params.kernelParams = arguments;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&node, graph, NULL, 0, &params); // AT in_graph
}

static void captured() {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    plain<<<1, 2000, 0, stream>>>(d); // AT captured
    cudaStreamEndCapture(stream, &graph);
}

#define CASE(name, ...) {#name, [] { __VA_ARGS__; }}
static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    CASE(no_blocks, plain<<<0, 32>>>(d)),                                           // AT no_blocks
    CASE(no_threads, plain<<<1, 0>>>(d)),                                           // AT no_threads
    CASE(threads, plain<<<1, 1025>>>(d)),                                           // AT threads
    CASE(threads_2d, plain<<<1, dim3(32, 33)>>>(d)),                                // AT threads_2d
    CASE(deep_block, plain<<<1, dim3(1, 1, 65)>>>(d)),                              // AT deep_block
    CASE(high_grid, plain<<<dim3(1, 70000), 32>>>(d)),                              // AT high_grid
    CASE(bounds, bounded<<<1, 256>>>(d)),                                           // AT bounds
    CASE(shared, fixed<<<1, 32, 49152>>>(d)),                                       // AT shared
    CASE(much_shared, fixed<<<1, 32, 300000>>>(d)),                                 // AT much_shared
    CASE(call, cudaLaunchKernel((void *)plain, dim3(0), dim3(32), arguments, 0, 0)), // AT call
    CASE(template_call, cudaLaunchKernel(plain, dim3(1, 0), dim3(32), arguments, 0, 0)), // AT template_call
    CASE(cooperative, cudaLaunchCooperativeKernel((void *)together, dim3(3907), dim3(256), arguments)), // AT cooperative
    CASE(in_clusters, in_clusters(3, 2)),
    CASE(large_clusters, in_clusters(32, 16)),
    CASE(in_graph, in_graph(dim3(0))),
    CASE(captured, captured()),
    CASE(right, plain<<<1, 1024>>>(d)),
    CASE(right_shared, fixed<<<1, 32, 49136>>>(d)),
    CASE(right_cooperative, cudaLaunchCooperativeKernel((void *)together, dim3(1056), dim3(256), arguments)),
    CASE(right_clusters, in_clusters(4, 2)),
};

int main(int argc, char **argv) {
    cudaMalloc(&d, 64);
    for (const auto &one : cases)
        if (argc > 1 && !strcmp(argv[1], one.name)) one.run();
    if (argc > 2) cudaGetLastError();
    cudaDeviceSynchronize();
    cudaFree(d);
    return 0;
}
