// Times of exact sums: old, new in several shapes, CUB's gpu_to_gpu, and a read of the data.
#include "list.h"
#include <algorithm>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>
Way ways[64];
int n_ways;
void prepare_cub();
static char *d_in;
static void *d_out, *d_work;
static size_t IN_BYTES = 4ull << 30, FLUSH = 256 << 20, MOST = 1 << 28;
static cudaStream_t stream;
static cudaEvent_t start, stop;
static int sms;
static FILE *csv;
#define CUDA(call) stop_on((call), #call)
static void stop_on(cudaError_t e, const char *what) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "bench: %s: %s\n", what, cudaGetErrorString(e));
    exit(1);
}
enum Data { NORMAL, P1, P8, P40, P60, ANY, SORTED, BACK, ALTERNATING, GIANT, SPARSE, SPECIAL, KINDS };
static const char *const names[] = {"normal", "1 power", "8 powers", "40 powers", "60 powers", "any power", "sorted", "sorted back", "alternating", "one giant", "sparse", "with inf"};
__device__ uint32_t hash(uint32_t i) {
    i = (i ^ i >> 16) * 0x85ebca6bu;
    i = (i ^ i >> 13) * 0xc2b2ae35u;
    return i ^ i >> 16;
}
__device__ double normal(uint32_t a, uint32_t b) {
    return sqrtf(-2 * logf((a + 0.5f) / 4294967296.0f)) * cospif((b + 0.5f) / 2147483648.0f);
}
// A number of a power of two, with a random fraction, by its bits.
template <class T> __device__ T number(int power, uint32_t a, uint32_t b);
template <> __device__ float number(int power, uint32_t a, uint32_t b) {
    int e = power + 127;
    uint32_t f = b & 0x7fffff;
    if (e < 1) f = (f | 0x800000) >> min(1 - e, 31), e = 0;
    return __uint_as_float((a & 1u << 31) | e << 23 | f);
}
template <> __device__ double number(int power, uint32_t a, uint32_t b) {
    int e = power + 1023;
    uint64_t f = (uint64_t)b << 20 | (a & 0xfffff);
    if (e < 1) f = (f | 1ull << 52) >> min(1 - e, 63), e = 0;
    return __longlong_as_double((uint64_t)(a >> 31) << 63 | (uint64_t)e << 52 | f);
}
template <class T> __global__ void fill(T *out, size_t all, int data, size_t n) {
    const size_t threads = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all; i += threads) {
        uint32_t j = (uint32_t)(i * 2654435761u) ^ (uint32_t)(i >> 32), a = hash(j), b = hash(~j), c = hash(j + 77);
        const int span = sizeof(T) == 4 ? 277 : 2098, least = sizeof(T) == 4 ? -149 : -1074;
        T x = (T)normal(a, b);
        if (data == P1) x = number<T>(0, a, b);
        if (data == P8) x = number<T>((int)(c % 8) - 4, a, b);
        if (data == P40) x = number<T>((int)(c % 40) - 20, a, b);
        if (data == P60) x = number<T>((int)(c % 60) - 30, a, b);
        if (data == ANY) x = number<T>((int)(c % span) + least, a, b);
        if (data == SORTED || data == BACK) {
            size_t at = i % n;
            if (data == BACK) at = n - 1 - at;
            x = number<T>((int)(at * span / n) + least, a, b);
        }
        if (data == ALTERNATING) {
            uint32_t p = (uint32_t)((i / 2) * 2654435761u), h = hash(p), g = hash(~p);
            x = number<T>((int)(hash(p + 5) % span) + least, h, g);
            if (i % 2) x = -x;
        }
        if (data == GIANT && i % n == n / 3) x = (T)ldexp(1.0, 100);
        if (data == SPARSE && c % 10) x = 0;
        if (data == SPECIAL && c % 5000 == 7) x = (T)INFINITY;
        out[i] = x;
    }
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
static void read_launch(const void *in, size_t bytes) {
    size_t n4 = bytes / 16;
    read_all<<<n4 ? (unsigned)((n4 - 1) / 1024 + 1) : 1, 256, 0, stream>>>((const float4 *)in, (float *)d_out, n4, NAN);
}
static double time_of(const Way *way, size_t each, size_t n, uint64_t *bits) {
    const size_t slot = (n * each + 255) / 256 * 256;
    const size_t slots = std::max<size_t>(1, std::min<size_t>(IN_BYTES / slot, 64));
    const size_t times = std::min<size_t>(60, std::max<size_t>(3, 400 / (3 + n * each / 4200000)));
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    std::vector<float> us;
    if (bits) {
        *bits = 0;
        CUDA(cudaMemsetAsync(d_out, 0xA5, 8, stream));
        way->launch(d_in, d_out, n, d_work, sms, stream);
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpyAsync(bits, d_out, each, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
    }
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (size_t k = 0; k < times; k++)
        if (way) way->launch(d_in + k % slots * slot, d_out, n, d_work, sms, stream);
        else read_launch(d_in + k % slots * slot, n * each);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (int sample = -1; sample < 7; sample++) {
        float ms;
        read_launch(d_in + IN_BYTES - FLUSH, FLUSH);
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
static int wrong;
template <class T> static void row(const char *type, int data, size_t n, const char *note) {
    uint64_t want = 0, bits;
    double ceiling = time_of(NULL, sizeof(T), n, NULL), cub = 0;
    fprintf(csv, "%s,%s,%zu,ceiling,%.3f,,,%s\n", type, names[data], n, ceiling, note);
    for (int k = 0; k < n_ways; k++)  // the reference
        if (!strcmp(ways[k].type, type) && !strcmp(ways[k].name, "old")) {
            ways[k].launch(d_in, d_out, n, d_work, sms, stream);
            CUDA(cudaMemcpyAsync(&want, d_out, sizeof(T), cudaMemcpyDeviceToHost, stream));
            CUDA(cudaStreamSynchronize(stream));
        }
    std::string line;
    for (int turn = 0; turn < 2; turn++)  // CUB first
        for (int k = 0; k < n_ways; k++) {
            const bool is_cub = !strcmp(ways[k].name, "cub"), exact = !is_cub && strncmp(ways[k].name, "null", 4);
            if (strcmp(ways[k].type, type) || is_cub != (turn == 0)) continue;
            if (*note && (is_cub || !ways[k].kernel)) continue;
            if (!strcmp(ways[k].name, "oldints") && data != NORMAL && data != ANY) continue;
            if (!exact && !is_cub && data != NORMAL) continue;
            double us = time_of(&ways[k], sizeof(T), n, &bits);
            bool same = !exact || bits == want;
            if (!same) wrong++, fprintf(stderr, "WRONG %s %s %zu %s: %llx, not %llx\n", type, names[data], n, ways[k].name, (unsigned long long)bits, (unsigned long long)want);
            if (is_cub) cub = us;
            fprintf(csv, "%s,%s,%zu,%s,%.3f,%.3f,%d,%s\n", type, names[data], n, ways[k].name, us, cub / us, same, note);
            char b[64];
            snprintf(b, sizeof b, " %s %.1f", ways[k].name + (strncmp(ways[k].name, "bins_", 5) ? 0 : 4), us);
            line += b;
        }
    printf("%c %s %zu%s%s: %.1f |%s\n", *type, names[data], n, *note ? " " : "", note, ceiling, line.c_str());
    fflush(stdout), fflush(csv);
}
template <class T> static void rows(const char *type) {
    const size_t big = 102400000 / sizeof(T);
    const size_t sizes[] = {1 << 10, 1 << 16, 1 << 20, big, 1 << 28};
    for (int data = 0; data < KINDS; data++)
        for (size_t n : sizes) {
            if (n > MOST) continue;
            const bool by_size = data == SORTED || data == BACK || data == GIANT;
            if (n == sizes[0] || by_size) fill<<<2048, 256, 0, stream>>>((T *)d_in, IN_BYTES / sizeof(T), data, n);
            if ((data == SPARSE || data == SPECIAL || data == BACK || data == P1) && n != big) continue;
            row<T>(type, data, n, "");
        }
}
template <class T> static void carved(const char *type) {
    for (int k = 0; k < n_ways; k++)
        if (ways[k].kernel) CUDA(cudaFuncSetAttribute(ways[k].kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    for (int data : {NORMAL, ANY}) {
        fill<<<2048, 256, 0, stream>>>((T *)d_in, IN_BYTES / sizeof(T), data, 1);
        row<T>(type, data, 102400000 / sizeof(T), "carve");
    }
}
int main(int argc, char **argv) {
    cudaDeviceProp p;
    CUDA(cudaGetDeviceProperties(&p, 0));
    sms = p.multiProcessorCount;
    csv = fopen(argc > 1 ? argv[1] : "exact.csv", "w");
    if (argc > 2) IN_BYTES = (size_t)atol(argv[2]) << 20, FLUSH = 1 << 16, MOST = 1 << 16;
    CUDA(cudaMalloc(&d_in, IN_BYTES));
    CUDA(cudaMalloc(&d_out, 8));
    CUDA(cudaMalloc(&d_work, 1 << 16));
    CUDA(cudaMemset(d_work, 0, 1 << 16));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    CUDA(cudaDeviceSynchronize());
    printf("# device: %s\n", p.name);
    fprintf(csv, "# device: %s\ntype,data,n,way,us,cub_over,same,note\n", p.name);
    prepare_cub();
    std::sort(ways, ways + n_ways, [](const Way &a, const Way &b) { return strcmp(a.name, b.name) < 0; });
    for (int k = 0; k < n_ways; k++)
        if (ways[k].kernel) {
            cudaFuncAttributes a;
            CUDA(cudaFuncGetAttributes(&a, ways[k].kernel));
            printf("%s %s: %d registers, %zu local\n", ways[k].type, ways[k].name, a.numRegs, a.localSizeBytes);
        }
    rows<float>("float");
    rows<double>("double");
    if (MOST < 1 << 28) return wrong > 0;
    carved<float>("float");
    carved<double>("double");
    printf("wrong: %d\n", wrong);
    return wrong > 0;
}
