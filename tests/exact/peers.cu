// Times exact sums, CUB's reproducible sums (gpu_to_gpu, CUB 3.5 or later) and the read ceiling, and
// prints the file results/compare-exact.csv. It takes half a minute on a GPU with 5 GB of memory:
//
//     pip download --no-deps nvidia-cuda-cccl && unzip -q nvidia_cuda_cccl-*.whl
//     nvcc -O3 -std=c++17 -arch=native -I code -I nvidia/cu13/include/cccl tests/exact/peers.cu
//     ./a.out >results/compare-exact.csv
//
// As in the labs' harness, a time is the median over replays of a graph of many launches on rotating
// inputs, and other data is read before each replay.
#include "reduce_exact.cuh"

#include <cub/cub.cuh>

#include <algorithm>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vector>

using namespace reduction;

static char *d_in;
static void *d_out, *d_workspace, *d_temp;
static const size_t IN_BYTES = 4ull << 30, TEMP_BYTES = 64 << 20;
static cudaStream_t stream;
static cudaEvent_t start, stop;

#define CUDA(call) stop_on((call), #call)
static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "peers: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

enum Data { NORMAL, SPARSE, POWERS_8, POWERS_40, POWERS_60, ANY, SORTED, ALTERNATING, GIANT, KINDS };
static const char *const names[] = {"normal",      "one of ten not 0",  "over 8 powers of two",
                                    "over 40",     "over 60",           "over all",
                                    "over all, sorted", "over all, x and -x", "normal, and 2^100"};

__device__ uint32_t hash(uint32_t i) {  // the finalizer of MurmurHash3
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return i ^ i >> 16;
}
__device__ double normal(uint32_t a, uint32_t b) {  // Box and Muller
    return sqrt(-2 * log((a + 0.5) / 4294967296.0)) * cospi((b + 0.5) / 2147483648.0);
}
// Element i of a sum of n.
template <class T> __device__ T element(int data, size_t i, size_t n) {
    const int powers = sizeof(T) == 4 ? 277 : 2098, least = sizeof(T) == 4 ? -149 : -1074;
    const size_t of = data == ALTERNATING ? i / 2 : i;
    const uint32_t j = (uint32_t)of * 2654435761u ^ (uint32_t)(of >> 32);
    const uint32_t a = hash(j), b = hash(~j), c = hash(j + 77);
    double fraction = 1 + b / 4294967296.0;
    if (data == ALTERNATING ? i % 2 : a >> 31) fraction = -fraction;
    switch (data) {
    case SPARSE: return c % 10 ? 0 : (T)normal(a, b);
    case POWERS_8: return (T)ldexp(fraction, (int)(c % 8) - 4);
    case POWERS_40: return (T)ldexp(fraction, (int)(c % 40) - 20);
    case POWERS_60: return (T)ldexp(fraction, (int)(c % 60) - 30);
    case ANY:
    case ALTERNATING: return (T)ldexp(fraction, (int)(c % powers) + least);
    case SORTED: return (T)ldexp(fraction, (int)(i % n * powers / n) + least);
    case GIANT: return i % n == n / 3 ? (T)ldexp(1.0, 100) : (T)normal(a, b);
    default: return (T)normal(a, b);
    }
}
template <class T> __global__ void fill(T *out, size_t all, int data, size_t n) {
    const size_t threads = gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += threads)
        out[i] = element<T>(data, i, n);
}

__global__ void read_all(const float4 *in, float *never, size_t n4, float nan) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        size_t i = (blockIdx.x * (size_t)4 + k) * blockDim.x + threadIdx.x;
        float4 v = i < n4 ? in[i] : make_float4(0, 0, 0, 0);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == nan) *never = sum;
}

template <class T> static void launch_ceiling(const T *in, size_t n) {
    size_t n4 = n * sizeof(T) / 16;
    unsigned blocks = n4 ? (unsigned)((n4 - 1) / 1024 + 1) : 1;
    read_all<<<blocks, 256, 0, stream>>>((const float4 *)in, (float *)d_out, n4, NAN);
}
template <class T> static void launch_cub(const T *in, size_t n) {
    size_t bytes = TEMP_BYTES;
    CUDA(cub::detail::rfa::dispatch(d_temp, bytes, in, (T *)d_out, (int)n, T(0), stream));
}
template <class T> static void launch_exact(const T *in, size_t n) {
    CUDA(exact_sum(in, (T *)d_out, n, d_workspace, stream));
}

// Microseconds of a launch.
template <class T> static double time_of(void (*launch)(const T *, size_t), size_t n) {
    size_t slot = (n * sizeof(T) / 256 + 1) * 256 / sizeof(T);
    size_t slots = std::max<size_t>(1, std::min<size_t>(IN_BYTES / sizeof(T) / slot, 256));
    size_t times = std::min<size_t>(400, std::max<size_t>(2, 1500 / (3 + n * sizeof(T) / 4200000)));
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    std::vector<float> us;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (size_t k = 0; k < times; k++) launch((const T *)d_in + k % slots * slot, n);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (int sample = -2; sample < 15; sample++) {
        float ms;
        launch_ceiling((const char *)d_in, 1 << 30);
        CUDA(cudaEventRecord(start, stream));
        CUDA(cudaGraphLaunch(replay, stream));
        CUDA(cudaEventRecord(stop, stream));
        CUDA(cudaEventSynchronize(stop));
        CUDA(cudaEventElapsedTime(&ms, start, stop));
        if (sample >= 0) us.push_back(1e3f * ms / times);
    }
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    std::sort(us.begin(), us.end());
    return us[us.size() / 2];
}

template <class T> static void row(const char *type, int data, size_t n) {
    fill<<<2048, 256, 0, stream>>>((T *)d_in, IN_BYTES / sizeof(T), data, n);
    double ceiling = time_of<T>(launch_ceiling<T>, n), cub = time_of<T>(launch_cub<T>, n);
    double exact = time_of<T>(launch_exact<T>, n);
    printf("%s,\"%s\",%zu,%.2f,%.2f,%.2f,%.2f,%.1f\n", type, names[data], n, ceiling, cub, exact,
           cub / exact, 100 * ceiling / exact);
    fflush(stdout);
}

template <class T> static void rows(const char *type) {
    for (int data = 0; data < KINDS; data++)
        for (size_t n : {1 << 10, 1 << 16, 1 << 20, 25600000, 1 << 28})
            if (data == NORMAL || data == ANY || n == 25600000 || (data == POWERS_60 && n > 1 << 20))
                row<T>(type, data, n);
}

int main() {
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    CUDA(cudaMalloc(&d_in, IN_BYTES));
    CUDA(cudaMalloc(&d_out, sizeof(double)));
    CUDA(cudaMalloc(&d_temp, TEMP_BYTES));
    CUDA(cudaMalloc(&d_workspace, REDUCE_EXACT_WORKSPACE_BYTES));
    CUDA(cudaMemset(d_workspace, 0, REDUCE_EXACT_WORKSPACE_BYTES));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    CUDA(cudaDeviceSynchronize());
    printf("# device: %s\n# cub: %d.%d.%d\n", device.name, CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
           CUB_SUBMINOR_VERSION);
    printf("type,data,n,read_ceiling,cub,exact,cub_over_exact,percent_of_ceiling\n");
    rows<float>("float");
    rows<double>("double");
    return 0;
}
