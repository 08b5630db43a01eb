// CUB and Thrust for several types: reductions of all sizes, and what looks back at other tiles.
#include <algorithm>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

#include "../cases.h"

template <typename T> static void device_reduce(int n) {
    Array<T> in(n, element), out(3);
    double sum = 0;
    for (T v : in.host) sum += (double)v;
    DEVICE_WIDE(DeviceReduce::Sum, in.device, out.device, n);
    if (n == 0) return compare(out, std::vector<double>{0});
    auto [least, most] = std::minmax_element(in.host.begin(), in.host.end());
    DEVICE_WIDE(DeviceReduce::Min, in.device, out + 1, n);
    DEVICE_WIDE(DeviceReduce::Max, in.device, out + 2, n);
    compare(out, std::vector<double>{sum, (double)*least, (double)*most});
    Array<cub::KeyValuePair<int, T>> pair(1);
    DEVICE_WIDE(DeviceReduce::ArgMin, in.device, pair.device, n);
    pair.fetch();
    compare(std::vector<double>{(double)pair.host[0].key, (double)pair.host[0].value},
            std::vector<double>{(double)(least - in.host.begin()), (double)*least});
    thrust::device_vector<T> v(in.host.begin(), in.host.end());
    tell_value("thrust::reduce", thrust::reduce(v.begin(), v.end()), sum);
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

template <typename T, cub::BlockReduceAlgorithm ALGORITHM> static void block_reduce() {
    Array<T> in(512, element), out(3);
    std::vector<double> want(3);
    want[2] = -100;
    for (int i = 0; i < 512; i++) {
        want[0] += element(i), want[1] += i < 77 ? element(i) : 0;
        if (i < 128) want[2] = std::max(want[2], (double)element(i));
    }
    RUN(block_kernel<T, ALGORITHM><<<1, 128>>>(in, out, 77));
    compare(out, want);
}

template <typename T, int WIDTH> __global__ void warp_kernel(const T *in, T *out) {
    using Reduce = cub::WarpReduce<T, WIDTH>;
    __shared__ typename Reduce::TempStorage storage[64 / WIDTH];
    unsigned t = threadIdx.x;
    T sum = Reduce(storage[t / WIDTH]).Sum(in[t]);
    if (t % WIDTH == 0) out[t / WIDTH] = sum;
}

template <typename T, int WIDTH> static void warp_reduce() {
    Array<T> in(64, element), out(64 / WIDTH);
    std::vector<double> want(64 / WIDTH);
    for (int i = 0; i < 64; i++) want[i / WIDTH] += element(i);
    RUN(warp_kernel<T, WIDTH><<<1, 64>>>(in, out));
    compare(out, want);
}

template <typename T> static void reductions(int) {
    for (int n : {0, 1, 100, 4096, 100003}) device_reduce<T>(n);
    block_reduce<T, cub::BLOCK_REDUCE_RAKING>();
    block_reduce<T, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
    block_reduce<T, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
    warp_reduce<T, 32>();
    warp_reduce<T, 8>();
}

static void scan(int) { // over several tiles
    Array<int> in(10000, element), out(10000);
    std::vector<int> want(10000);
    for (int i = 0, sum = 0; i < 10000; i++) want[i] = sum += element(i);
    DEVICE_WIDE(DeviceScan::InclusiveSum, in.device, out.device, 10000);
    compare(out, want);
}

static const Case cases[] = {{"int", reductions<int>},
                             {"float", reductions<float>},
                             {"double", reductions<double>},
                             {"scan", scan}};
CASES(cases)
