// Tests sizes near 2^64, whose sums and products overflow: every call with such a size must return the
// error that CUDA documents for it, and the device must still work.
#include <cstdint>

#include "calls.h"

enum { BYTES = 4096, ROW = 64 };

__device__ int variable[16];
__global__ void one(int *out) {
    extern __shared__ int s[];
    s[0] = 1;
    *out = s[0];
}

static char *d, *managed, *pinned, *host; // BYTES each
static int *out;
static cudaStream_t stream;
static cudaGraph_t graph;
static cudaGraphNode_t empty, made;
static cudaMemPool_t pool;

static cudaMemcpy3DParms box(size_t width, size_t height, size_t depth, size_t pitch, size_t rows,
                             cudaPos at) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(d, pitch, ROW, rows);
    copy.dstPtr = make_cudaPitchedPtr(host, ROW, ROW, 1);
    copy.srcPos = at;
    copy.extent = make_cudaExtent(width, height, depth);
    copy.kind = cudaMemcpyDeviceToHost;
    return copy;
}

static cudaError_t copy_3d(size_t width, size_t height, size_t depth, size_t pitch = ROW,
                           size_t rows = 1, cudaPos at = make_cudaPos(0, 0, 0)) {
    const cudaMemcpy3DParms copy = box(width, height, depth, pitch, rows, at);
    return cudaMemcpy3D(&copy);
}

static cudaError_t fill_3d(size_t width, size_t height, size_t depth, size_t pitch = ROW) {
    return cudaMemset3D(make_cudaPitchedPtr(d, pitch, ROW, height), 0,
                        make_cudaExtent(width, height, depth));
}

static cudaError_t fill_node(size_t pitch, unsigned element, size_t width, size_t height) {
    cudaMemsetParams fill = {};
    fill.dst = d;
    fill.pitch = pitch;
    fill.elementSize = element;
    fill.width = width;
    fill.height = height;
    return cudaGraphAddMemsetNode(&made, graph, NULL, 0, &fill);
}

static cudaError_t launch_config(size_t shared) {
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = 1;
    config.dynamicSmemBytes = shared;
    return cudaLaunchKernelEx(&config, one, out);
}

static cudaError_t launch(dim3 grid, dim3 block, size_t shared) {
    one<<<grid, block, shared>>>(out);
    return cudaGetLastError();
}

static cudaError_t launch_cooperative(dim3 grid, size_t shared) {
    void *arguments[] = {&out};
    return cudaLaunchCooperativeKernel((void *)one, grid, 1, arguments, shared, 0);
}

static cudaError_t kernel_node(dim3 grid, unsigned shared) {
    void *arguments[] = {&out};
    cudaKernelNodeParams node = {};
    node.func = (void *)one;
    node.gridDim = grid;
    node.blockDim = 1;
    node.sharedMemBytes = shared;
    node.kernelParams = arguments;
    return cudaGraphAddKernelNode(&made, graph, NULL, 0, &node);
}

// Checks a count that a call returns and that must be 0.
static cudaError_t none_fit(size_t shared) {
    int blocks = -1;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, one, 32, shared);
    return error || blocks ? error : cudaErrorInvalidValue;
}

#if CUDART_VERSION >= 13000
#define AT_DEVICE                                                                                  \
    cudaMemLocation { cudaMemLocationTypeDevice, 0 }
#define PREFETCH(bytes)  cudaMemPrefetchAsync(managed, bytes, AT_DEVICE, 0)
#define ADVISE(bytes)    cudaMemAdvise(managed, bytes, cudaMemAdviseSetReadMostly, AT_DEVICE)
#define DEPENDENCY(many) cudaGraphAddDependencies(graph, &empty, &empty, NULL, many)
#else
#define PREFETCH(bytes)  cudaMemPrefetchAsync(managed, bytes, 0)
#define ADVISE(bytes)    cudaMemAdvise(managed, bytes, cudaMemAdviseSetReadMostly, 0)
#define DEPENDENCY(many) cudaGraphAddDependencies(graph, &empty, &empty, many)
#endif

static void *p;
static size_t pitch_of;
static cudaPitchedPtr pitched;

struct Row {
    const char *name;
    cudaError_t error;
    cudaError_t (*call)(size_t huge);
};

#define INVALID(name, call)                                                                        \
    {                                                                                              \
        name, cudaErrorInvalidValue, [](size_t n) -> cudaError_t { return call; }                  \
    }
#define PITCH(name, call)                                                                          \
    {                                                                                              \
        name, cudaErrorInvalidPitchValue, [](size_t n) -> cudaError_t { return call; }             \
    }
#define MEMORY(name, call)                                                                         \
    {                                                                                              \
        name, cudaErrorMemoryAllocation, [](size_t n) -> cudaError_t { return call; }              \
    }

static const Row rows[] = {
    MEMORY("cudaMalloc", cudaMalloc(&p, n)),
    MEMORY("cudaMallocManaged", cudaMallocManaged(&p, n)),
    MEMORY("cudaMallocHost", cudaMallocHost(&p, n)),
    MEMORY("cudaHostAlloc", cudaHostAlloc(&p, n, 0)),
    MEMORY("cudaMallocAsync", cudaMallocAsync(&p, n, stream)),
    MEMORY("cudaMallocFromPoolAsync", cudaMallocFromPoolAsync(&p, n, pool, stream)),
    INVALID("cudaMallocPitch, width", cudaMallocPitch(&p, &pitch_of, n, 2)),
    MEMORY("cudaMallocPitch, height", cudaMallocPitch(&p, &pitch_of, ROW, n)),
    INVALID("cudaMalloc3D, width", cudaMalloc3D(&pitched, make_cudaExtent(n, 2, 2))),
    MEMORY("cudaMalloc3D, height", cudaMalloc3D(&pitched, make_cudaExtent(ROW, n, 2))),
    MEMORY("cudaMalloc3D, depth", cudaMalloc3D(&pitched, make_cudaExtent(ROW, 2, n))),
    INVALID("cudaHostRegister", cudaHostRegister(host, n, 0)),
    INVALID("cudaMemcpy to the device", cudaMemcpy(d + 16, host, n, cudaMemcpyHostToDevice)),
    INVALID("cudaMemcpy to the host", cudaMemcpy(host, d + 16, n, cudaMemcpyDeviceToHost)),
    INVALID("cudaMemcpy in the device", cudaMemcpy(d + 16, d, n, cudaMemcpyDeviceToDevice)),
    INVALID("cudaMemcpy in the host", cudaMemcpy(host + 16, host, n, cudaMemcpyHostToHost)),
    INVALID("cudaMemcpy, default", cudaMemcpy(host, d + 16, n, cudaMemcpyDefault)),
    INVALID("cudaMemcpy of managed memory", cudaMemcpy(managed + 16, host, n, cudaMemcpyHostToHost)),
    INVALID("cudaMemcpy, the address", cudaMemcpy(d + n, host, ROW, cudaMemcpyHostToDevice)),
    INVALID("cudaMemcpyAsync", cudaMemcpyAsync(d + 16, pinned, n, cudaMemcpyHostToDevice, stream)),
    INVALID("cudaMemcpyPeer", cudaMemcpyPeer(d + 16, 0, d, 0, n)),
    INVALID("cudaMemcpyPeerAsync", cudaMemcpyPeerAsync(d + 16, 0, d, 0, n, stream)),
    PITCH("cudaMemcpy2D, width", cudaMemcpy2D(d, ROW, host, ROW, n, 2, cudaMemcpyHostToDevice)),
    INVALID("cudaMemcpy2D, a row", cudaMemcpy2D(d + 16, ROW, host, ROW, n, 1, cudaMemcpyHostToDevice)),
    INVALID("cudaMemcpy2D, height", cudaMemcpy2D(d, ROW, host, ROW, ROW, n, cudaMemcpyHostToDevice)),
    INVALID("cudaMemcpy2D, pitches", cudaMemcpy2D(d, n, host, n, ROW, 3, cudaMemcpyHostToDevice)),
    INVALID("cudaMemcpy2D, a pitch", cudaMemcpy2D(d + 64, n, host, ROW, ROW, 2, cudaMemcpyHostToDevice)),
    INVALID("cudaMemcpy2DAsync", cudaMemcpy2DAsync(d, n, host, ROW, ROW, 3, cudaMemcpyHostToDevice, stream)),
    INVALID("cudaMemcpy3D, a row", copy_3d(n, 1, 1)),
    INVALID("cudaMemcpy3D, height", copy_3d(ROW, n, 1)),
    INVALID("cudaMemcpy3D, depth", copy_3d(ROW, 1, n)),
    INVALID("cudaMemcpy3D, pitch", copy_3d(ROW, 2, 2, n, 2)),
    INVALID("cudaMemcpy3D, rows", copy_3d(ROW, 1, 2, ROW, n)),
    INVALID("cudaMemcpy3D, x", copy_3d(ROW, 1, 1, ROW, 1, make_cudaPos(n, 0, 0))),
    INVALID("cudaMemcpy3D, y", copy_3d(ROW, 1, 1, ROW, 1, make_cudaPos(0, n, 0))),
    INVALID("cudaMemcpy3D, z", copy_3d(ROW, 1, 1, ROW, 1, make_cudaPos(0, 0, n))),
    INVALID("cudaMemcpyToSymbol", cudaMemcpyToSymbol(variable, host, n)),
    INVALID("cudaMemcpyToSymbol, offset", cudaMemcpyToSymbol(variable, host, 4, n)),
    INVALID("cudaMemcpyToSymbol, both", cudaMemcpyToSymbol(variable, host, n, 0 - n)),
    INVALID("cudaMemcpyFromSymbol", cudaMemcpyFromSymbol(host, variable, n)),
    INVALID("cudaMemcpyFromSymbol, offset", cudaMemcpyFromSymbol(host, variable, 4, n)),
    INVALID("cudaMemcpyToSymbolAsync",
            cudaMemcpyToSymbolAsync(variable, host, n, 4, cudaMemcpyHostToDevice, stream)),
    INVALID("cudaMemcpyFromSymbolAsync",
            cudaMemcpyFromSymbolAsync(host, variable, 4, n, cudaMemcpyDeviceToHost, stream)),
    INVALID("cudaMemset", cudaMemset(d + 16, 0, n)),
    INVALID("cudaMemset, the address", cudaMemset(d + n, 0, ROW)),
    INVALID("cudaMemsetAsync", cudaMemsetAsync(d + 16, 0, n, stream)),
    PITCH("cudaMemset2D, width", cudaMemset2D(d, ROW, 0, n, 2)),
    INVALID("cudaMemset2D, height", cudaMemset2D(d, ROW, 0, ROW, n)),
    INVALID("cudaMemset2D, pitch", cudaMemset2D(d + 64, n, 0, ROW, 3)),
    INVALID("cudaMemset2DAsync", cudaMemset2DAsync(d + 64, n, 0, ROW, 2, stream)),
    INVALID("cudaMemset3D, a row", fill_3d(n, 1, 1)),
    INVALID("cudaMemset3D, height", fill_3d(ROW, n, 1)),
    INVALID("cudaMemset3D, depth", fill_3d(ROW, 2, n)),
    INVALID("cudaMemset3D, height and depth", fill_3d(ROW, n, n)),
    INVALID("cudaMemset3D, pitch", fill_3d(ROW, 3, 1, n)),
    INVALID("cudaMemPrefetchAsync", PREFETCH(n)),
    INVALID("cudaMemAdvise", ADVISE(n)),
    INVALID("cudaStreamAttachMemAsync", cudaStreamAttachMemAsync(stream, managed, n)),
    MEMORY("cudaDeviceSetLimit, heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, n)),
    MEMORY("cudaDeviceSetLimit, printf", cudaDeviceSetLimit(cudaLimitPrintfFifoSize, n)),
    INVALID("cudaDeviceSetLimit, stack", cudaDeviceSetLimit(cudaLimitStackSize, n)),
    INVALID("<<<...>>>, shared memory", launch(1, 1, n)),
    INVALID("<<<...>>>, grid", launch(dim3(1, (unsigned)(n >> 32)), 1, 0)),
    INVALID("<<<...>>>, block", launch(1, dim3((unsigned)(n >> 32), (unsigned)n | 1, 4), 0)),
    INVALID("cudaLaunchKernelEx", launch_config(n)),
    INVALID("cudaLaunchCooperativeKernel, shared memory", launch_cooperative(1, n)),
    INVALID("cudaLaunchCooperativeKernel, grid", launch_cooperative(dim3(1, 1, (unsigned)(n >> 32)), 0)),
    INVALID("cudaOccupancyMaxActiveBlocksPerMultiprocessor", none_fit(n)),
    INVALID("cudaFuncSetAttribute", cudaFuncSetAttribute((const void *)one, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(n >> 33))),
    INVALID("a kernel node, shared memory", kernel_node(1, (unsigned)(n >> 32))),
    INVALID("a kernel node, grid", kernel_node(dim3(1, (unsigned)(n >> 32)), 0)),
    INVALID("a copy node", cudaGraphAddMemcpyNode1D(&made, graph, NULL, 0, d + 16, host, n, cudaMemcpyHostToDevice)),
    {"a copy node in space", cudaErrorInvalidValue, [](size_t n) -> cudaError_t {
        const cudaMemcpy3DParms copy = box(ROW, 2, 2, n, 2, make_cudaPos(0, 0, 0));
        return cudaGraphAddMemcpyNode(&made, graph, NULL, 0, &copy);
    }},
    INVALID("a fill node, width", fill_node(ROW, 4, n, 1)),
    INVALID("a fill node, a quarter", fill_node(ROW, 4, n / 4 + 1, 1)),
    INVALID("a fill node, height", fill_node(ROW, 1, ROW, n)),
    INVALID("a fill node, pitch", fill_node(n, 1, ROW, 3)),
    INVALID("a node after too many", cudaGraphAddEmptyNode(&made, graph, &empty, n)),
    INVALID("too many dependencies", DEPENDENCY(n)),
};

static bool works() {
    int back = 0;
    bool good = cudaMemset(out, 0, sizeof *out) == cudaSuccess;
    one<<<1, 1, 16>>>(out);
    good = cudaMemcpy(&back, out, sizeof back, cudaMemcpyDeviceToHost) == cudaSuccess && good;
    return good && back == 1 && cudaStreamSynchronize(stream) == cudaSuccess;
}

int main() {
    host = (char *)malloc(BYTES);
    cudaMalloc(&d, BYTES);
    cudaMalloc(&out, sizeof *out);
    cudaMallocManaged(&managed, BYTES);
    cudaMallocHost(&pinned, BYTES);
    cudaMemset(d, 0, BYTES);
    cudaStreamCreate(&stream);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaGraphCreate(&graph, 0);
    cudaGraphAddEmptyNode(&empty, graph, NULL, 0);
    const size_t top = (size_t)1 << 63;
    const size_t sizes[] = {SIZE_MAX,
                            SIZE_MAX - 3,
                            SIZE_MAX - 15,
                            SIZE_MAX - 31,
                            SIZE_MAX - 63,
                            SIZE_MAX - BYTES + 1,
                            SIZE_MAX / 2 + top / 2 + 1,
                            top + 1,
                            top};
    for (const Row &row : rows) {
        bool good = true;
        char why[200] = "";
        for (size_t size : sizes) {
            const cudaError_t error = row.call(size);
            cudaGetLastError();
            if (error == row.error && works()) continue;
            good = false;
            snprintf(why, sizeof why, "%zx: %s", size, cudaGetErrorName(error));
        }
        printf(good ? "ok %s\n" : "not ok %s\n    %s\n", row.name, why);
        fflush(stdout);
    }
    return 0;
}
