// CUB as shipped with the toolkit: device-wide, block-wide and warp-wide reductions.
#include <cub/cub.cuh>

#include "told.h"

static void *d_temporary;
static size_t temporary_bytes;

// Calls a cub::Device... function twice: for its storage, then for real.
template <typename F> static void with_storage(F call) {
    size_t bytes = 0;
    CUDA(call(nullptr, bytes));
    if (bytes > temporary_bytes) {
        cudaFree(d_temporary);
        CUDA(cudaMalloc(&d_temporary, bytes));
        temporary_bytes = bytes;
    }
    CUDA(call(d_temporary, bytes));
    CUDA(cudaDeviceSynchronize());
}

template <typename T> static void device_reduce(const char *type, unsigned n) {
    T *d_in = device_elements<T>(n), *d_out, got;
    CUDA(cudaMalloc((void **)&d_out, 64));
    double sum = 0, least = 1e9, most = -1e9;
    int at = 0;
    for (unsigned i = 0; i < n; i++) {
        int e = element(i);
        sum += e;
        if (e < least) least = e, at = (int)i;
        if (e > most) most = e;
    }
    char name[80];
    auto told = [&](const char *what, double want) {
        CUDA(cudaMemcpy(&got, d_out, sizeof got, cudaMemcpyDeviceToHost));
        snprintf(name, sizeof name, "DeviceReduce::%s<%s>(%u)", what, type, n);
        tell_value(name, got, want);
    };
    with_storage([&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Sum(storage, bytes, d_in, d_out, (int)n);
    });
    told("Sum", sum);
    if (n == 0) return;
    with_storage([&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Min(storage, bytes, d_in, d_out, (int)n);
    });
    told("Min", least);
    with_storage([&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::Max(storage, bytes, d_in, d_out, (int)n);
    });
    told("Max", most);
    cub::KeyValuePair<int, T> *d_pair = (cub::KeyValuePair<int, T> *)d_out, pair;
    with_storage([&](void *storage, size_t &bytes) {
        return cub::DeviceReduce::ArgMin(storage, bytes, d_in, d_pair, (int)n);
    });
    CUDA(cudaMemcpy(&pair, d_pair, sizeof pair, cudaMemcpyDeviceToHost));
    snprintf(name, sizeof name, "DeviceReduce::ArgMin<%s>(%u)", type, n);
    tell_value(name, pair.key * 1000.0 + (double)pair.value, at * 1000.0 + least);
    cudaFree(d_in), cudaFree(d_out);
}

template <typename T, cub::BlockReduceAlgorithm ALGORITHM>
__global__ void block_kernel(const T *in, T *out, int valid) {
    using Reduce = cub::BlockReduce<T, 128, ALGORITHM>;
    __shared__ typename Reduce::TempStorage storage;
    T one[4];
    for (int k = 0; k < 4; k++) one[k] = in[threadIdx.x * 4 + k];
    T sum = Reduce(storage).Sum(one);
    __syncthreads();
    T some = Reduce(storage).Sum(in[threadIdx.x], valid);
    __syncthreads();
    T most = Reduce(storage).Reduce(in[threadIdx.x], [](T a, T b) { return a > b ? a : b; });
    if (threadIdx.x == 0) out[0] = sum, out[1] = some, out[2] = most;
}

template <typename T, cub::BlockReduceAlgorithm ALGORITHM>
static void block_reduce(const char *name_, const T *d_in, T *d_out) {
    T got[3];
    block_kernel<T, ALGORITHM><<<1, 128>>>(d_in, d_out, 77);
    CUDA(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    double sum = 0, some = 0, most = -100;
    for (unsigned i = 0; i < 512; i++) sum += element(i);
    for (unsigned i = 0; i < 77; i++) some += element(i);
    for (unsigned i = 0; i < 128; i++) most = element(i) > most ? element(i) : most;
    char name[100];
    snprintf(name, sizeof name, "BlockReduce %s %zu bytes", name_, sizeof(T));
    tell(name, (double)got[0] == sum && (double)got[1] == some && (double)got[2] == most,
         "sum, partial sum or maximum");
}

template <typename T, int WIDTH> __global__ void warp_kernel(const T *in, T *out) {
    using Reduce = cub::WarpReduce<T, WIDTH>;
    __shared__ typename Reduce::TempStorage storage[64 / WIDTH];
    unsigned t = threadIdx.x;
    T sum = Reduce(storage[t / WIDTH]).Sum(in[t]);
    if (t % WIDTH == 0) out[t / WIDTH] = sum;
}

template <typename T, int WIDTH> static void warp_reduce(const T *d_in, T *d_out) {
    T got[64 / WIDTH];
    warp_kernel<T, WIDTH><<<1, 64>>>(d_in, d_out);
    CUDA(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int w = 0; w < 64 / WIDTH; w++) {
        double sum = 0;
        for (int i = 0; i < WIDTH; i++) sum += element((unsigned)(w * WIDTH + i));
        bad += (double)got[w] != sum;
    }
    char name[60];
    snprintf(name, sizeof name, "WarpReduce, %d lanes, %zu bytes", WIDTH, sizeof(T));
    tell_value(name, bad, 0);
}

template <typename T> static void blocks_and_warps() {
    T *d_in = device_elements<T>(512), *d_out;
    CUDA(cudaMalloc((void **)&d_out, 64 * sizeof(T)));
    block_reduce<T, cub::BLOCK_REDUCE_RAKING>("raking", d_in, d_out);
    block_reduce<T, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>("raking commutative", d_in, d_out);
    block_reduce<T, cub::BLOCK_REDUCE_WARP_REDUCTIONS>("warp reductions", d_in, d_out);
    warp_reduce<T, 32>(d_in, d_out);
    warp_reduce<T, 8>(d_in, d_out);
}

static void scan_and_histogram() {
    const int n = 10000;
    int *d_in = device_elements<int>(n), *d_out, *got = (int *)malloc(n * sizeof(int));
    CUDA(cudaMalloc((void **)&d_out, n * sizeof(int)));
    with_storage([&](void *storage, size_t &bytes) {
        return cub::DeviceScan::InclusiveSum(storage, bytes, d_in, d_out, n);
    });
    CUDA(cudaMemcpy(got, d_out, n * sizeof(int), cudaMemcpyDeviceToHost));
    int sum = 0, bad = 0;
    for (int i = 0; i < n; i++) bad += got[i] != (sum += element((unsigned)i));
    tell_value("DeviceScan::InclusiveSum", bad, 0);
    free(got);
}

int main() {
    for (unsigned n : {0u, 1u, 100u, 4096u, 100003u}) {
        device_reduce<int>("int", n);
        device_reduce<float>("float", n);
        device_reduce<double>("double", n);
    }
    blocks_and_warps<int>();
    blocks_and_warps<float>();
    blocks_and_warps<double>();
    scan_and_histogram();
    return wrong_count != 0;
}
