// The CUDA runtime around the kernels: variables, streams, events, graphs, occupancy, errors.
//
//     runtime             checks everything, prints `ok NAME` or `wrong NAME: ...`
//     runtime printf      device printf, in a known order
//     runtime assert      a failing assert: cudaErrorAssert
//     runtime trap        __trap(): cudaErrorLaunchFailure
//     runtime address     a wild store: cudaErrorIllegalAddress
#include <assert.h>
#include <string.h>

#include "told.h"

__constant__ int coefficients[4] = {1, 2, 3, 4};
__device__ int totals[8] = {5, 6, 7};
__device__ double scale = 0.5;
__device__ int *pointer_to_totals = totals + 2;

__global__ void polynomial(const int *x, int *y) {
    int v = x[threadIdx.x];
    y[threadIdx.x] = ((coefficients[3] * v + coefficients[2]) * v + coefficients[1]) * v +
                     coefficients[0];
}
__global__ void use_variables() {
    totals[threadIdx.x] += (int)(scale * 10) + *pointer_to_totals * 0 + (int)threadIdx.x;
}
__global__ void fill(int *out, int value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void increment(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void __launch_bounds__(128) bounded(int *out) { *out = 1; }
__global__ void shape(unsigned *out) {
    unsigned i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    atomicAdd(out, (b + 1) * (i + 1));
}
struct Big {
    char text[7];
    double d;
    short s[3];
};
__global__ void by_value(char c, Big big, short s, double d, int *out) {
    out[0] = c + big.text[6] + (int)big.d + big.s[2] + s + (int)d;
}

static void variables() {
    int h[4] = {2, 0, 1, 1}, x[32], y[32], bad = 0, *d_x, *d_y;
    CUDA(cudaMalloc((void **)&d_x, sizeof x));
    CUDA(cudaMalloc((void **)&d_y, sizeof y));
    for (int i = 0; i < 32; i++) x[i] = i - 9;
    CUDA(cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice));
    polynomial<<<1, 32>>>(d_x, d_y);
    CUDA(cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) bad += y[i] != ((4 * x[i] + 3) * x[i] + 2) * x[i] + 1;
    CUDA(cudaMemcpyToSymbol(coefficients, h, sizeof h));
    polynomial<<<1, 32>>>(d_x, d_y);
    CUDA(cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) bad += y[i] != (x[i] + 1) * x[i] * x[i] + 2;
    tell_value("__constant__", bad, 0);

    int got[8];
    double three = 3;
    CUDA(cudaMemcpyToSymbol(scale, &three, sizeof three));
    use_variables<<<1, 8>>>();
    CUDA(cudaMemcpyFromSymbol(got, totals, sizeof got));
    int start[8] = {5, 6, 7};
    bad = 0;
    for (int i = 0; i < 8; i++) bad += got[i] != start[i] + 30 + i;
    void *address;
    size_t bytes;
    CUDA(cudaGetSymbolAddress(&address, totals));
    CUDA(cudaGetSymbolSize(&bytes, totals));
    CUDA(cudaMemcpy(got, (int *)address + 2, 4, cudaMemcpyDeviceToHost));
    int part;
    CUDA(cudaMemcpyFromSymbol(&part, totals, 4, 8));
    tell_value("__device__ variables", bad + (bytes != 32) + (got[0] != 39) + (part != 39), 0);
}

static void copies() {
    char h[300], back[300], *d;
    for (int i = 0; i < 300; i++) h[i] = (char)i;
    CUDA(cudaMalloc((void **)&d, 600));
    CUDA(cudaMemset(d, 0x11, 600));
    CUDA(cudaMemcpy2D(d, 20, h, 10, 10, 30, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2D(back, 10, d, 20, 10, 30, cudaMemcpyDeviceToHost));
    int bad = memcmp(h, back, 300) != 0;
    CUDA(cudaMemcpy(back, d + 10, 10, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 10; i++) bad += back[i] != 0x11;
    CUDA(cudaMemcpy(d + 300, d, 300, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(back, d + 300, 300, cudaMemcpyDefault));
    bad += back[20] != h[10];
    char *pinned;
    CUDA(cudaMallocHost((void **)&pinned, 300));
    CUDA(cudaMemcpy(pinned, d, 300, cudaMemcpyDeviceToHost));
    bad += memcmp(pinned, back, 300) != 0;
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, d));
    bad += attributes.type != cudaMemoryTypeDevice;
    tell_value("copies", bad, 0);
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFree(d));
    CUDA(cudaFree(NULL));
}

static void managed() {
    int *both;
    CUDA(cudaMallocManaged((void **)&both, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++) both[i] = i;
    increment<<<2, 32>>>(both);
    CUDA(cudaDeviceSynchronize());
    int bad = 0;
    for (int i = 0; i < 64; i++) bad += both[i] != i + 1;
    tell_value("managed memory", bad, 0);
    CUDA(cudaFree(both));
}

static void streams_and_events() {
    cudaStream_t a, b;
    cudaEvent_t start, stop;
    int *d, got = 0;
    CUDA(cudaStreamCreate(&a));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreateWithFlags(&stop, cudaEventDefault));
    CUDA(cudaMallocAsync((void **)&d, 1024, a));
    CUDA(cudaMemsetAsync(d, 0, 1024, a));
    CUDA(cudaEventRecord(start, a));
    fill<<<1, 256, 0, a>>>(d, 4);
    increment<<<1, 256, 0, a>>>(d);
    CUDA(cudaEventRecord(stop, a));
    CUDA(cudaStreamWaitEvent(b, stop, 0));
    increment<<<1, 256, 0, b>>>(d);
    CUDA(cudaMemcpyAsync(&got, d + 200, sizeof got, cudaMemcpyDeviceToHost, b));
    CUDA(cudaStreamSynchronize(b));
    CUDA(cudaEventSynchronize(stop));
    float ms = -1;
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    bool good = got == 6 && ms >= 0 && cudaStreamQuery(a) == cudaSuccess &&
                cudaEventQuery(stop) == cudaSuccess;
    int low, high;
    CUDA(cudaDeviceGetStreamPriorityRange(&low, &high));
    CUDA(cudaFreeAsync(d, a));
    CUDA(cudaStreamDestroy(a));
    CUDA(cudaStreamDestroy(b));
    CUDA(cudaEventDestroy(start));
    tell("streams and events", good, "order or time");
}

static void graphs() {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    int *d, got = 0, before = 0;
    CUDA(cudaMalloc((void **)&d, 1024));
    CUDA(cudaMemset(d, 0, 1024));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 10; i++) increment<<<1, 256, 0, stream>>>(d);
    CUDA(cudaMemcpyAsync(d + 1, d, 4, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaMemsetAsync(d + 2, 0, 4, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaMemcpy(&before, d, 4, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (int i = 0; i < 3; i++) CUDA(cudaGraphLaunch(replay, stream));
    CUDA(cudaStreamSynchronize(stream));
    int row[4];
    CUDA(cudaMemcpy(row, d, sizeof row, cudaMemcpyDeviceToHost));
    got = row[0];
    size_t nodes = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    tell("stream capture and graphs", before == 0 && got == 30 && row[1] == 30 && row[2] == 0 &&
         row[3] == 30 && nodes == 12, "values or nodes");
}

static void occupancy() {
    cudaDeviceProp device;
    int count, blocks = 0, grid = 0, block = 0, value = 0;
    CUDA(cudaGetDeviceCount(&count));
    CUDA(cudaGetDeviceProperties(&device, 0));
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
    CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 0));
    CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    bool good = count == 1 && device.warpSize == 32 && device.maxThreadsPerBlock == 1024 &&
                blocks >= 1 && blocks <= 8 && grid > 0 && block > 0 && block <= 1024 &&
                value == device.multiProcessorCount && value > 0 && device.major == 9;
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, bounded));
    good = good && attributes.maxThreadsPerBlock == 128;
    CUDA(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    int driver = 0, runtime = 0;
    CUDA(cudaDriverGetVersion(&driver));
    CUDA(cudaRuntimeGetVersion(&runtime));
    size_t free_bytes = 0, all_bytes = 0;
    CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
    good = good && driver >= runtime && runtime >= 12000 && free_bytes > 0 &&
           free_bytes <= all_bytes;
    tell("device, occupancy and attributes", good, "implausible");
}

static void launches() {
    unsigned *d_sum, sum = 0, want = 0;
    CUDA(cudaMalloc((void **)&d_sum, 4));
    CUDA(cudaMemset(d_sum, 0, 4));
    shape<<<dim3(3, 2, 4), dim3(5, 7, 3)>>>(d_sum);
    CUDA(cudaMemcpy(&sum, d_sum, 4, cudaMemcpyDeviceToHost));
    for (unsigned b = 1; b <= 24; b++)
        for (unsigned i = 1; i <= 105; i++) want += b * i;
    tell_value("three-dimensional launch", sum, want);
    Big big = {"abcdef", 100.5, {1, 2, 3}};
    big.text[6] = 9;
    by_value<<<1, 1>>>(7, big, 1000, 20000.5, (int *)d_sum);
    CUDA(cudaMemcpy(&sum, d_sum, 4, cudaMemcpyDeviceToHost));
    tell_value("parameters by value", sum, 7 + 9 + 100 + 3 + 1000 + 20000);
    char c = 7;
    short s = 1000;
    double d = 20000.5;
    void *arguments[] = {&c, &big, &s, &d, &d_sum};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1), config.blockDim = dim3(1);
    CUDA(cudaMemset(d_sum, 0, 4));
    CUDA(cudaLaunchKernelExC(&config, (const void *)by_value, arguments));
    CUDA(cudaMemcpy(&sum, d_sum, 4, cudaMemcpyDeviceToHost));
    tell_value("cudaLaunchKernelExC", sum, 21119);
}

static void tell_error(const char *name, cudaError_t got, cudaError_t want) {
    char why[200];
    snprintf(why, sizeof why, "%s, not %s", cudaGetErrorName(got), cudaGetErrorName(want));
    tell(name, got == want, why);
}

static void errors() {
    int *d;
    CUDA(cudaMalloc((void **)&d, 4096));
    CUDA(cudaMemset(d, 0, 4096));
    fill<<<1, 1025>>>(d, 1);
    tell_error("1025 threads", cudaGetLastError(), cudaErrorInvalidValue);
    tell_error("cudaGetLastError clears", cudaGetLastError(), cudaSuccess);
    fill<<<0, 32>>>(d, 1);
    tell_error("no blocks", cudaGetLastError(), cudaErrorInvalidValue);
    fill<<<dim3(1, 65536), 32>>>(d, 1);
    tell_error("65536 blocks in y", cudaGetLastError(), cudaErrorInvalidValue);
    fill<<<1, dim3(1, 1, 65)>>>(d, 1);
    tell_error("65 threads in z", cudaGetLastError(), cudaErrorInvalidValue);
    increment<<<1, 32, 60000>>>(d);
    tell_error("60000 bytes of shared memory unasked", cudaGetLastError(), cudaErrorInvalidValue);
    increment<<<1, 32, 300000>>>(d);
    tell_error("300000 bytes of shared memory", cudaGetLastError(), cudaErrorInvalidValue);
    bounded<<<1, 256>>>(d);
    tell_error("more threads than __launch_bounds__", cudaGetLastError(), cudaErrorInvalidValue);
    void *much = d;
    tell_error("2^44 bytes", cudaMalloc(&much, (size_t)1 << 44), cudaErrorMemoryAllocation);
    cudaGetLastError();
    tell_error("wrong direction", cudaMemcpy(d, d, 4, (cudaMemcpyKind)77),
               cudaErrorInvalidMemcpyDirection);
    tell_error("cudaFree of the middle", cudaFree(d + 4), cudaErrorInvalidValue);
    tell_error("cudaSetDevice(7)", cudaSetDevice(7), cudaErrorInvalidDevice);
    cudaGetLastError();
    void *arguments[] = {&d, &d};
    tell_error("cooperative grid too large",
               cudaLaunchCooperativeKernel((void *)increment, dim3(1 << 20), dim3(1024), arguments,
                                           0, 0), cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
    tell_error("the device still works", (increment<<<1, 32>>>(d), cudaDeviceSynchronize()),
               cudaSuccess);
    tell("cudaGetErrorString", !strcmp(cudaGetErrorString(cudaErrorInvalidValue),
                                       "invalid argument"), "another text");
}

__global__ void printing(int n) {
    if (threadIdx.x == 0)
        printf("block %d of %u: %5.2f|%-4s|%c|%x|%lld|%%|%s\n", blockIdx.x, gridDim.x, n * 1.5, "ab",
               'z', 255, 1ll << 40, n > 3 ? "many" : "few");
}
__global__ void asserting(int n) { assert(n < (int)threadIdx.x + 100); }
__global__ void trapping() {
    if (threadIdx.x == 5) __trap();
}
__global__ void wild(int *p) { p[1ll << 36] = 3; }

static int fail_on_purpose(const char *how) {
    if (!strcmp(how, "printf")) {
        for (int n = 3; n < 5; n++) {
            printing<<<2, 32>>>(n);
            CUDA(cudaDeviceSynchronize());
        }
        return 0;
    }
    if (!strcmp(how, "assert")) asserting<<<1, 32>>>(110);
    if (!strcmp(how, "trap")) trapping<<<1, 32>>>();
    if (!strcmp(how, "address")) wild<<<1, 1>>>(NULL);
    cudaError_t error = cudaDeviceSynchronize();
    printf("then %s, again %s\n", cudaGetErrorName(error), cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1) return fail_on_purpose(argv[1]);
    variables();
    copies();
    managed();
    streams_and_events();
    graphs();
    occupancy();
    launches();
    errors();
    CUDA(cudaDeviceReset());
    return wrong_count != 0;
}
