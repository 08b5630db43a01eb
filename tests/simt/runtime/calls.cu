// Tests the runtime's calls. The expected results are those of the CUDA runtime (see its reference
// manual) with one device.
#include <stdint.h>

#include "calls.h"

__device__ int d_counter;
__constant__ int c_factor;

__global__ void fill(int *out, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}

__constant__ int coefficients[4] = {1, 2, 3, 4};
__device__ int totals[8] = {5, 6, 7};
__device__ int *third_total = totals + 2;
__global__ void use_initialised(int *out) {
    unsigned t = threadIdx.x;
    out[t] = coefficients[t] * 100 + totals[t] * 10 + *third_total;
}

__device__ int is_constant(const void *at) {
    int is;
    asm volatile("{ .reg .pred p; isspacep.const p, %1; selp.s32 %0, 1, 0, p; }"
                 : "=r"(is)
                 : "l"(at));
    return is;
}
__global__ void ask_constant(int *out) {
    out[0] = is_constant(coefficients + 3);
    out[1] = is_constant(totals);
    out[2] = is_constant(out);
    out[3] = is_constant(NULL);
}

__global__ void shape(int *out) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    atomicAdd(out, (b + 1) * (t + 1));
}

__global__ void printing(int n) {
    if (threadIdx.x == 0)
        printf("block %d of %u: %5.2f|%-4s|%c|%x|%lld|%%|%s\n", blockIdx.x, gridDim.x, n * 1.5,
               "ab", 'z', 255, 1ll << 40, n > 3 ? "many" : "few");
}

__global__ void add_one(int *at) { *at += 1; }
__global__ void scale(int *at) { *at = *at * c_factor + d_counter; }
__global__ void __launch_bounds__(128) bounded(int *at) { *at = 1; }
__global__ void dynamic_shared(int *at) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) *at = s[blockDim.x - 1];
}

struct Mixed {
    char a;
    double b;
    short c;
};
__global__ void mixed(int *out, char a, Mixed m, short c) { *out = a + (int)m.b + m.c + c + m.a; }

static int read(const int *d_at) {
    int value = -12345;
    GOOD(cudaMemcpy(&value, d_at, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

static void test_memory() {
    int *d = nullptr, host[64], back[64];
    for (int i = 0; i < 64; i++) host[i] = i * i;
    GOOD(cudaMalloc(&d, sizeof host));
    CHECK(((size_t)d & 255) == 0);
    GOOD(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy(back, d, sizeof host, cudaMemcpyDefault));
    CHECK(memcmp(host, back, sizeof host) == 0);
    GOOD(cudaMemset(d, 0x11, 8));
    CHECK(read(d + 1) == 0x11111111 && read(d + 2) == 4);
    GOOD(cudaMemcpy(d + 8, d, 16, cudaMemcpyDeviceToDevice));
    CHECK(read(d + 9) == 0x11111111 && read(d + 10) == 4);
    GOOD(cudaFree(d));
    GOOD(cudaFree(nullptr));
    GOOD(cudaMalloc(&d, 0));
    CHECK(d == nullptr);
}

static void test_memory_errors() {
    int *d, host[4];
    GOOD(cudaMalloc(&d, sizeof host));
    ERROR(cudaErrorInvalidValue, cudaMemcpy(d, host, sizeof host + 1, cudaMemcpyHostToDevice));
    ERROR(cudaErrorInvalidValue, cudaMemcpy(host, host, sizeof host, cudaMemcpyHostToDevice));
    ERROR(cudaErrorInvalidValue, cudaMemcpy(host, d + 4, 4, cudaMemcpyDeviceToHost));
    ERROR(cudaErrorInvalidMemcpyDirection, cudaMemcpy(host, d, 4, (cudaMemcpyKind)7));
    ERROR(cudaErrorInvalidValue, cudaMemset(host, 0, 4));
    ERROR(cudaErrorInvalidValue, cudaFree(d + 1));
    ERROR(cudaErrorInvalidValue, cudaFree(host));
    GOOD(cudaFree(d));
    ERROR(cudaErrorInvalidValue, cudaFree(d));
    ERROR(cudaErrorInvalidValue, cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost));
    void *huge;
    ERROR(cudaErrorMemoryAllocation, cudaMalloc(&huge, (size_t)1 << 50));
    CHECK(huge == nullptr);
    cudaGetLastError();
}

static void test_last_error() {
    cudaGetLastError();
    int *nothing = nullptr;
    ERROR(cudaErrorInvalidValue, cudaMalloc((void **)nullptr, 4));
    GOOD(cudaFree(nothing));
    ERROR(cudaErrorInvalidValue, cudaPeekAtLastError());
    ERROR(cudaErrorInvalidValue, cudaGetLastError());
    GOOD(cudaGetLastError());
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    CHECK(strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code") == 0);
}

static void test_pitch() {
    char *d, in[3][5] = {"abcd", "efgh", "ijkl"}, out[3][5] = {};
    size_t pitch;
    GOOD(cudaMallocPitch((void **)&d, &pitch, 5, 3));
    CHECK(pitch >= 5 && pitch % 32 == 0);
    GOOD(cudaMemset2D(d, pitch, 'x', 5, 3));
    GOOD(cudaMemcpy2D(d, pitch, in, 5, 4, 3, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy2D(out, 5, d, pitch, 5, 3, cudaMemcpyDeviceToHost));
    CHECK(memcmp(out[1], "efghx", 5) == 0);
    ERROR(cudaErrorInvalidPitchValue, cudaMemcpy2D(d, 2, in, 5, 4, 3, cudaMemcpyHostToDevice));
    GOOD(cudaFree(d));
    // A product that overflows 64 bits must be refused as too much memory.
    void *huge;
    cudaPitchedPtr slices;
    ERROR(cudaErrorMemoryAllocation, cudaMallocPitch(&huge, &pitch, 512, (size_t)1 << 55));
    ERROR(cudaErrorMemoryAllocation,
          cudaMallocPitch(&huge, &pitch, (size_t)1 << 40, (size_t)1 << 25));
    ERROR(cudaErrorInvalidValue, cudaMallocPitch(&huge, &pitch, SIZE_MAX - 100, 1));
    ERROR(cudaErrorMemoryAllocation,
          cudaMalloc3D(&slices, make_cudaExtent(1, (size_t)1 << 32, (size_t)1 << 32)));
    cudaGetLastError();
}

static void test_host_reachable() {
    int *managed, *pinned;
    GOOD(cudaMallocManaged(&managed, 4000));
    GOOD(cudaMallocHost(&pinned, 4000));
    managed[999] = 6;
    pinned[999] = 7;
    add_one<<<1, 1>>>(managed + 999);
    add_one<<<1, 1>>>(pinned + 999);
    GOOD(cudaDeviceSynchronize());
    CHECK(managed[999] == 7 && pinned[999] == 8);
    cudaPointerAttributes a;
#if CUDART_VERSION >= 13000 // programs of CUDA 12 have another field there
    a.reserved[0] = 42;
#endif
    GOOD(cudaPointerGetAttributes(&a, managed));
#if CUDART_VERSION >= 13000 && defined AS_CUDA_12
    CHECK(a.reserved[0] == 42);
#endif
    CHECK(a.type == cudaMemoryTypeManaged && a.hostPointer == managed);
    GOOD(cudaPointerGetAttributes(&a, pinned));
    CHECK(a.type == cudaMemoryTypeHost);
    GOOD(cudaPointerGetAttributes(&a, &a));
    CHECK(a.type == cudaMemoryTypeUnregistered);
    ERROR(cudaErrorInvalidValue, cudaFree(pinned));
    GOOD(cudaFreeHost(pinned));
    GOOD(cudaFree(managed));
    cudaGetLastError();
}

static void test_symbols() {
    int *d, two = 2, three = 3, back = 0;
    void *address;
    size_t bytes;
    GOOD(cudaMalloc(&d, 4));
    GOOD(cudaMemset(d, 0, 4));
    GOOD(cudaMemcpyToSymbol(c_factor, &two, sizeof two));
    GOOD(cudaMemcpyToSymbol(d_counter, &three, sizeof three));
    scale<<<1, 1>>>(d);
    scale<<<1, 1>>>(d);
    CHECK(read(d) == 9);
    GOOD(cudaMemcpyFromSymbol(&back, d_counter, sizeof back));
    CHECK(back == 3);
    GOOD(cudaGetSymbolAddress(&address, d_counter));
    GOOD(cudaGetSymbolSize(&bytes, d_counter));
    CHECK(bytes == 4 && read((int *)address) == 3);
    GOOD(cudaMemcpyFromSymbol(&back, totals, 4, 8));
    CHECK(back == 7);
    int *row, known[4];
    GOOD(cudaMalloc(&row, sizeof known));
    use_initialised<<<1, 4>>>(row);
    GOOD(cudaMemcpy(known, row, sizeof known, cudaMemcpyDeviceToHost));
    CHECK(known[0] == 157 && known[1] == 267 && known[2] == 377 && known[3] == 407);
    ask_constant<<<1, 1>>>(row);
    GOOD(cudaMemcpy(known, row, sizeof known, cudaMemcpyDeviceToHost));
    CHECK(known[0] == 1 && known[1] == 0 && known[2] == 0 && known[3] == 0);
    GOOD(cudaFree(row));
    ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(c_factor, &two, 8));
    ERROR(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, (const void *)&two));
    cudaGetLastError();
    GOOD(cudaFree(d));
}

static void test_launch() {
    int *d;
    GOOD(cudaMalloc(&d, 4000));
    fill<<<dim3(4), dim3(256)>>>(d, 1000, 5);
    GOOD(cudaGetLastError());
    CHECK(read(d) == 5 && read(d + 999) == 5);
    Mixed m = {1, 20.0, 300};
    mixed<<<1, 1>>>(d, 4, m, 5000);
    CHECK(read(d) == 5325);
    dynamic_shared<<<1, 64, 64 * sizeof(int)>>>(d);
    CHECK(read(d) == 63);
    void *arguments[] = {&d};
    GOOD(cudaLaunchKernel((const void *)add_one, dim3(1), dim3(1), arguments, 0, nullptr));
    CHECK(read(d) == 64);
    GOOD(cudaLaunchCooperativeKernel((const void *)add_one, dim3(1), dim3(1), arguments, 0,
                                     nullptr));
    CHECK(read(d) == 65);
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    GOOD(cudaLaunchKernelEx(&config, add_one, d));
    CHECK(read(d) == 66);
    GOOD(cudaLaunchKernelExC(&config, (const void *)add_one, arguments));
    CHECK(read(d) == 67);
    GOOD(cudaMemset(d, 0, 4));
    shape<<<dim3(3, 2, 4), dim3(5, 7, 3)>>>(d);
    CHECK(read(d) == 24 * 25 / 2 * (105 * 106 / 2));
    for (int n = 3; n < 5; n++) {
        printing<<<2, 32>>>(n);
        GOOD(cudaDeviceSynchronize());
    }
    GOOD(cudaFree(d));
}

static void test_launch_errors() {
    int *d;
    void *arguments[] = {&d};
    GOOD(cudaMalloc(&d, 4));
    add_one<<<1, 1025>>>(d);
    ERROR(cudaErrorInvalidValue, cudaGetLastError());
    add_one<<<0, 1>>>(d);
    ERROR(cudaErrorInvalidValue, cudaGetLastError());
    add_one<<<1, dim3(1, 1, 65)>>>(d);
    ERROR(cudaErrorInvalidValue, cudaGetLastError());
    add_one<<<dim3(1, 65536), 1>>>(d);
    ERROR(cudaErrorInvalidValue, cudaGetLastError());
    bounded<<<1, 129>>>(d);
    ERROR(cudaErrorInvalidValue, cudaGetLastError());
    dynamic_shared<<<1, 32, 48 * 1024 + 4>>>(d);
    ERROR(cudaErrorInvalidValue, cudaGetLastError());
    GOOD(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    dynamic_shared<<<1, 32, 48 * 1024 + 4>>>(d);
    GOOD(cudaGetLastError());
    ERROR(
        cudaErrorInvalidValue,
        cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    ERROR(cudaErrorInvalidDeviceFunction,
          cudaLaunchKernel((const void *)&d, dim3(1), dim3(1), arguments, 0, nullptr));
    ERROR(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel((const void *)add_one, dim3(132 * 32 + 1), dim3(1), arguments,
                                      0, nullptr));
    cudaGetLastError();
    GOOD(cudaDeviceSynchronize());
    GOOD(cudaFree(d));
}

static void test_queries() {
    int count = 0, sms = 0, version = 0, blocks = 0;
    cudaFuncAttributes f;
    size_t shared;
    GOOD(cudaGetDeviceCount(&count));
    GOOD(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(count == 1 && sms == 132);
#ifndef AS_CUDA_12 // the layout of CUDA 13; properties12.c tests that of CUDA 12
    cudaDeviceProp p;
    GOOD(cudaGetDeviceProperties(&p, 0));
    CHECK(strcmp(p.name, "CPU device (simt)") == 0);
    CHECK(p.major == 9 && p.minor == 0 && p.warpSize == 32 && p.multiProcessorCount == sms);
    CHECK(p.memoryBusWidth == 0 && p.maxThreadsPerBlock == 1024 && p.maxGridSize[1] == 65535);
    CHECK(p.sharedMemPerBlockOptin == 227 * 1024 && p.cooperativeLaunch == 1);
    CHECK(p.maxBlocksPerMultiProcessor == 32 && p.totalGlobalMem > 0);
    ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 1));
#endif
    ERROR(cudaErrorInvalidDevice, cudaSetDevice(1));
    ERROR(cudaErrorInvalidValue, cudaDeviceGetAttribute(&sms, (cudaDeviceAttr)9999, 0));
    GOOD(cudaRuntimeGetVersion(&version));
#ifdef AS_CUDA_12
    CHECK(version / 1000 == 12);
#else
    CHECK(version / 1000 == 13);
#endif
    GOOD(cudaFuncGetAttributes(&f, bounded));
    CHECK(f.maxThreadsPerBlock == 128 && f.ptxVersion == 90 && f.binaryVersion == 90);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
    CHECK(blocks == 8);
    GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic_shared, 32, 49152));
    CHECK(blocks == 4);
    GOOD(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, add_one, 2, 256));
    CHECK(shared == 114 * 1024 - 1024);
    int grid = 0, block = 0, driver = 0, low, high;
    size_t unused = 0, all = 0;
    GOOD(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 0));
    CHECK(grid > 0 && block > 0 && block <= 1024);
    GOOD(cudaDriverGetVersion(&driver));
    GOOD(cudaMemGetInfo(&unused, &all));
    CHECK(driver >= version && unused > 0 && unused <= all);
    GOOD(cudaDeviceGetStreamPriorityRange(&low, &high));
    const char *name;
    GOOD(cudaFuncGetName(&name, (const void *)add_one));
    CHECK(strcmp(name, "_Z7add_onePi") == 0);
#if CUDART_VERSION >= 12050 // which introduced the call
    void *entry = &entry;
    cudaDriverEntryPointQueryResult found;
    GOOD(cudaGetDriverEntryPointByVersion("cuInit", &entry, 12000, cudaEnableDefault, &found));
    CHECK(entry == nullptr && found == cudaDriverEntryPointSymbolNotFound);
    cudaGetLastError();
#endif
}

static void test_streams_and_events() {
    int *d;
    cudaStream_t s;
    cudaEvent_t a, b;
    float ms = -1;
    GOOD(cudaMalloc(&d, 4));
    GOOD(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    GOOD(cudaEventCreate(&a));
    GOOD(cudaEventCreate(&b));
    ERROR(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
    GOOD(cudaEventRecord(a, s));
    GOOD(cudaMemsetAsync(d, 0, 4, s));
    add_one<<<1, 1, 0, s>>>(d);
    GOOD(cudaEventRecord(b, s));
    GOOD(cudaEventSynchronize(b));
    GOOD(cudaEventElapsedTime(&ms, a, b));
    CHECK(ms >= 0);
    GOOD(cudaStreamWaitEvent(s, b, 0));
    GOOD(cudaStreamQuery(s));
    CHECK(read(d) == 1);
    int called = 0;
    GOOD(cudaLaunchHostFunc(
        s, [](void *data) { *(int *)data = 1; }, &called));
    GOOD(cudaStreamSynchronize(s));
    CHECK(called == 1);
    unsigned int flags = 0;
    GOOD(cudaStreamGetFlags(s, &flags));
    CHECK(flags == cudaStreamNonBlocking);
    GOOD(cudaStreamDestroy(s));
    ERROR(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(s));
    GOOD(cudaEventDestroy(a));
    ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(a, nullptr));
    cudaGetLastError();
    GOOD(cudaEventDestroy(b));
    GOOD(cudaFree(d));
}

static void test_capture() {
    int *d, value = 5;
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    GOOD(cudaMalloc(&d, 16));
    GOOD(cudaMemset(d, 0, 16));
    GOOD(cudaStreamCreate(&s));
    GOOD(cudaStreamCreate(&t));
    GOOD(cudaEventCreate(&fork));
    GOOD(cudaEventCreate(&join));
    GOOD(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add_one<<<1, 1, 0, s>>>(d);
    GOOD(cudaEventRecord(fork, s));
    GOOD(cudaStreamWaitEvent(t, fork, 0));
    fill<<<1, 1, 0, t>>>(d + 1, 1, value);
    value = 6; // a graph keeps the arguments of the time of the call
    GOOD(cudaEventRecord(join, t));
    GOOD(cudaStreamWaitEvent(s, join, 0));
    add_one<<<1, 1, 0, s>>>(d + 1);
    GOOD(cudaMemcpyAsync(d + 2, d + 1, 4, cudaMemcpyDeviceToDevice, s));
    GOOD(cudaMemsetAsync(d + 3, 1, 4, s));
    GOOD(cudaStreamEndCapture(s, &graph));
    CHECK(read(d) == 0 && read(d + 1) == 0); // nothing has run
    size_t nodes = 0;
    GOOD(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 5);
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++) GOOD(cudaGraphLaunch(exec, s));
    GOOD(cudaStreamSynchronize(s));
    CHECK(read(d) == 3 && read(d + 1) == 6 && read(d + 2) == 6 && read(d + 3) == 0x01010101);
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaStreamDestroy(s));
    GOOD(cudaStreamDestroy(t));
    GOOD(cudaFree(d));
}

static void test_capture_errors() {
    int *d, host = 0;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaGraph_t graph;
    GOOD(cudaMalloc(&d, 4));
    GOOD(cudaStreamCreate(&s));
    GOOD(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    GOOD(cudaEventCreate(&e));
    ERROR(cudaErrorIllegalState, cudaStreamEndCapture(s, &graph));
    ERROR(cudaErrorStreamCaptureUnsupported,
          cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
    GOOD(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); // a synchronous copy
    ERROR(cudaErrorStreamCaptureUnsupported, cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost));
    ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    CHECK(graph == nullptr);
    GOOD(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); // allowed when relaxed
    GOOD(cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost));
    GOOD(cudaStreamEndCapture(s, &graph));
    GOOD(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); // the legacy stream
    add_one<<<1, 1>>>(d);
    ERROR(cudaErrorStreamCaptureImplicit, cudaGetLastError());
    ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    GOOD(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); // work never joined
    GOOD(cudaEventRecord(e, s));
    GOOD(cudaStreamWaitEvent(t, e, 0));
    add_one<<<1, 1, 0, t>>>(d);
    ERROR(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(t, &graph));
    ERROR(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &graph));
    GOOD(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)); // waiting inside a capture
    ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
    ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &graph));
    cudaGetLastError();
    GOOD(cudaStreamDestroy(s));
    GOOD(cudaStreamDestroy(t));
    GOOD(cudaFree(d));
}

static void test_built_graph() {
    int *d, n = 2, four = 4, back[2] = {};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t copy, kernel, clear;
    GOOD(cudaMalloc(&d, 8));
    GOOD(cudaGraphCreate(&graph, 0));
    void *arguments[] = {&d, &n, &four};
    cudaKernelNodeParams k = {};
    k.func = (void *)fill;
    k.gridDim = k.blockDim = dim3(2);
    k.kernelParams = arguments;
    GOOD(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, back, d, 8, cudaMemcpyDeviceToHost));
    GOOD(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &k));
    cudaMemsetParams m = {};
    m.dst = d + 1;
    m.elementSize = 4;
    m.value = 9;
    m.width = m.height = 1;
    GOOD(cudaGraphAddMemsetNode(&clear, graph, &kernel, 1, &m));
#ifdef AS_CUDA_12 // in CUDA 12 it has four arguments
    auto add = (cudaError_t(*)(cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, size_t))(
        void *)cudaGraphAddDependencies;
    GOOD(add(graph, &clear, &copy, 1));
    ERROR(cudaErrorInvalidValue, add(graph, &copy, &kernel, 1));
#else
    GOOD(cudaGraphAddDependencies(graph, &clear, &copy, nullptr, 1));
    ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &copy, &kernel, nullptr, 1));
#endif
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphLaunch(exec, nullptr));
    CHECK(back[0] == 4 && back[1] == 9);
    four = 7;
    GOOD(cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
    GOOD(cudaGraphLaunch(exec, nullptr));
    CHECK(back[0] == 7 && back[1] == 9);
    cudaGetLastError();
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaGraphDestroy(graph));
    ERROR(cudaErrorInvalidValue, cudaGraphDestroy(graph));
    cudaGetLastError();
    GOOD(cudaFree(d));
}

static void test_pools() {
    cudaMemPool_t first, now;
    int supported = 0, reuse = 5;
    uint64_t threshold = UINT64_MAX, value = 77;
    void *a, *b;
    GOOD(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    CHECK(supported);
    GOOD(cudaDeviceGetDefaultMemPool(&first, 0));
    ERROR(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&first, 1));
    GOOD(cudaDeviceGetMemPool(&now, 0));
    CHECK(now == first);
    GOOD(cudaMemPoolSetAttribute(first, cudaMemPoolAttrReleaseThreshold, &threshold));
    GOOD(cudaMemPoolGetAttribute(first, cudaMemPoolAttrReleaseThreshold, &value));
    CHECK(value == UINT64_MAX);
    GOOD(cudaMemPoolGetAttribute(first, cudaMemPoolReuseAllowOpportunistic, &reuse));
    CHECK(reuse == 1);
    reuse = 0;
    GOOD(cudaMemPoolSetAttribute(first, cudaMemPoolReuseAllowOpportunistic, &reuse));
    reuse = 5;
    GOOD(cudaMemPoolGetAttribute(first, cudaMemPoolReuseAllowOpportunistic, &reuse));
    CHECK(reuse == 0);
    GOOD(cudaMallocAsync(&a, 1000, 0));
    GOOD(cudaMallocFromPoolAsync(&b, 500, first, 0));
    ERROR(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&b, 500, NULL, 0));
    GOOD(cudaMemPoolTrimTo(first, 0));
    ERROR(cudaErrorInvalidValue, cudaMemPoolTrimTo(NULL, 0));
    GOOD(cudaFreeAsync(a, 0));
    GOOD(cudaFree(b));
}

int main() {
    run_test("allocation, copies, fills", test_memory);
    run_test("errors of allocation and copies", test_memory_errors);
    run_test("last error, names, texts", test_last_error);
    run_test("rows with a pitch", test_pitch);
    run_test("managed and pinned memory", test_host_reachable);
    run_test("device and constant variables", test_symbols);
    run_test("launches, four ways", test_launch);
    run_test("errors of launches", test_launch_errors);
    run_test("queries about device and kernels", test_queries);
    run_test("memory pools", test_pools);
    run_test("streams and events", test_streams_and_events);
    run_test("capture over two streams", test_capture);
    run_test("errors of capture", test_capture_errors);
    run_test("a graph built by hand", test_built_graph);
    return cudaDeviceReset();
}
