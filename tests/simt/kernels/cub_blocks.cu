// CUB: kernels made of its block-wide and warp-wide collectives, and its device-wide algorithms.
// Algorithms with decoupled look-back (scan, select, run lengths) get one tile, because the number of
// their spin reads depends on timing.
#include <algorithm>
#include <cub/cub.cuh>
#include <limits.h>

#include "cases.h"

// ---- Block and warp collectives

template <int THREADS, int ITEMS> __global__ void BlockSortKernel(const int *d_in, int *d_out) {
    using BlockLoadT = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using BlockRadixSortT = cub::BlockRadixSort<int, THREADS, ITEMS>;
    __shared__ union {
        typename BlockLoadT::TempStorage load;
        typename BlockRadixSortT::TempStorage sort;
    } temp_storage;
    int items[ITEMS], block_offset = blockIdx.x * (THREADS * ITEMS);
    BlockLoadT(temp_storage.load).Load(d_in + block_offset, items);
    __syncthreads();
    BlockRadixSortT(temp_storage.sort).SortBlockedToStriped(items, 0, 12);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, d_out + block_offset, items);
}

template <int THREADS, int ITEMS, cub::BlockScanAlgorithm ALGORITHM>
__global__ void BlockPrefixSumKernel(const int *d_in, int *d_out, int *d_total) {
    using BlockLoadT = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using BlockStoreT = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    using BlockScanT = cub::BlockScan<int, THREADS, ALGORITHM>;
    __shared__ union {
        typename BlockLoadT::TempStorage load;
        typename BlockStoreT::TempStorage store;
        typename BlockScanT::TempStorage scan;
    } temp_storage;
    int data[ITEMS], aggregate, offset = blockIdx.x * THREADS * ITEMS;
    BlockLoadT(temp_storage.load).Load(d_in + offset, data);
    __syncthreads();
    BlockScanT(temp_storage.scan).ExclusiveSum(data, data, aggregate);
    __syncthreads();
    BlockStoreT(temp_storage.store).Store(d_out + offset, data);
    if (threadIdx.x == 0) d_total[blockIdx.x] = aggregate;
}

template <int THREADS, cub::BlockReduceAlgorithm ALGORITHM>
__global__ void BlockSumKernel(const int *d_in, int *d_out, int n) {
    using BlockReduceT = cub::BlockReduce<int, THREADS, ALGORITHM>;
    __shared__ typename BlockReduceT::TempStorage temp_storage;
    int sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        sum += d_in[i];
    sum = BlockReduceT(temp_storage).Sum(sum);
    if (threadIdx.x == 0) d_out[blockIdx.x] = sum;
}

template <int THREADS, int ITEMS> __global__ void BlockExchangeKernel(const int *d_in, int *d_out) {
    using BlockExchangeT = cub::BlockExchange<int, THREADS, ITEMS>;
    __shared__ typename BlockExchangeT::TempStorage temp_storage;
    int items[ITEMS], offset = blockIdx.x * THREADS * ITEMS;
    cub::LoadDirectStriped<THREADS>(threadIdx.x, d_in + offset, items);
    BlockExchangeT(temp_storage).StripedToBlocked(items, items);
    for (int i = 0; i < ITEMS; i++) items[i] = 2 * items[i] + i;
    __syncthreads();
    BlockExchangeT(temp_storage).BlockedToStriped(items, items);
    cub::StoreDirectStriped<THREADS>(threadIdx.x, d_out + offset, items);
}

template <int THREADS, int ITEMS, cub::BlockHistogramAlgorithm ALGORITHM>
__global__ void BlockHistogramKernel(const unsigned char *d_in, unsigned *d_out) {
    using BlockHistogramT = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 64, ALGORITHM>;
    __shared__ typename BlockHistogramT::TempStorage temp_storage;
    __shared__ unsigned bins[64];
    unsigned char data[ITEMS];
    cub::LoadDirectStriped<THREADS>(threadIdx.x, d_in + blockIdx.x * THREADS * ITEMS, data);
    BlockHistogramT(temp_storage).Histogram(data, bins);
    __syncthreads();
    if (threadIdx.x < 64) d_out[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

struct Differ {
    __device__ bool operator()(int a, int b) const { return a != b; }
};

struct Less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};

template <int ITEMS> __global__ void WarpMergeSortKernel(const int *d_in, int *d_out) {
    using WarpMergeSortT = cub::WarpMergeSort<int, ITEMS, 32>;
    __shared__ typename WarpMergeSortT::TempStorage temp_storage[4];
    int items[ITEMS], warp = threadIdx.x / 32, offset = (blockIdx.x * 4 + warp) * 32 * ITEMS;
    cub::LoadDirectBlocked(threadIdx.x % 32, d_in + offset, items);
    WarpMergeSortT(temp_storage[warp]).Sort(items, Less());
    cub::StoreDirectBlocked(threadIdx.x % 32, d_out + offset, items);
}

template <int WIDTH> __global__ void WarpScanKernel(const int *d_in, int *d_scan, int *d_sum) {
    using WarpScanT = cub::WarpScan<int, WIDTH>;
    using WarpReduceT = cub::WarpReduce<int, WIDTH>;
    __shared__ typename WarpScanT::TempStorage scan_storage[128 / WIDTH];
    __shared__ typename WarpReduceT::TempStorage reduce_storage[128 / WIDTH];
    int i = blockIdx.x * 128 + threadIdx.x, group = threadIdx.x / WIDTH, value = d_in[i], scanned;
    WarpScanT(scan_storage[group]).InclusiveSum(value, scanned);
    int sum = WarpReduceT(reduce_storage[group]).Sum(value);
    d_scan[i] = scanned;
    if (threadIdx.x % WIDTH == 0) d_sum[i / WIDTH] = sum;
}

template <int THREADS> __global__ void BlockDifferenceKernel(const int *d_in, int *d_flags) {
    using BlockDiscontinuityT = cub::BlockDiscontinuity<int, THREADS>;
    __shared__ typename BlockDiscontinuityT::TempStorage temp_storage;
    int items[4], flags[4];
    cub::LoadDirectBlockedVectorized(threadIdx.x, (int *)d_in + blockIdx.x * THREADS * 4, items);
    BlockDiscontinuityT(temp_storage).FlagHeads(flags, items, Differ());
    cub::StoreDirectBlocked(threadIdx.x, d_flags + blockIdx.x * THREADS * 4, flags);
}

template <int THREADS, int ITEMS> static void block_shapes(int blocks) {
    int tile = THREADS * ITEMS, n = tile * blocks;
    Array<int> in(n, [](int i) { return whole(i, 4000); }), out(n), totals(blocks), flags(n);
    std::vector<int> sorted = in.host, scan(n), sums(blocks), exchanged(n);
    for (int i = 0; i < n; i++) {
        scan[i] = i % tile ? scan[i - 1] + in.host[i - 1] : 0;
        sums[i / tile] += in.host[i];
        exchanged[i] = 2 * in.host[i] + i % tile % ITEMS;
    }
    for (int b = 0; b < blocks; b++) std::sort(&sorted[b * tile], &sorted[b * tile] + tile);
    RUN(BlockSortKernel<THREADS, ITEMS><<<blocks, THREADS>>>(in, out));
    compare(out, sorted);
    RUN(BlockPrefixSumKernel<THREADS, ITEMS, cub::BLOCK_SCAN_WARP_SCANS>
        <<<blocks, THREADS>>>(in, out, totals));
    compare(out, scan);
    compare(totals, sums);
    RUN(BlockPrefixSumKernel<THREADS, ITEMS, cub::BLOCK_SCAN_RAKING>
        <<<blocks, THREADS>>>(in, out, totals));
    compare(out, scan);
    RUN(BlockExchangeKernel<THREADS, ITEMS><<<blocks, THREADS>>>(in, out));
    compare(out, exchanged);
    Array<unsigned char> bytes(n, [](int i) { return (unsigned char)whole(i, 64); });
    Array<unsigned> bins((size_t)blocks * 64);
    std::vector<unsigned> bins_want((size_t)blocks * 64);
    for (int i = 0; i < n; i++) bins_want[i / tile * 64 + bytes.host[i]]++;
    RUN(BlockHistogramKernel<THREADS, ITEMS, cub::BLOCK_HISTO_ATOMIC>
        <<<blocks, THREADS>>>(bytes, bins));
    compare(bins, bins_want);
    RUN(BlockHistogramKernel<THREADS, ITEMS, cub::BLOCK_HISTO_SORT>
        <<<blocks, THREADS>>>(bytes, bins));
    compare(bins, bins_want);
}

static void block_collectives(int scale) {
    block_shapes<64, 4>(5 * scale);
    block_shapes<128, 9>(4 * scale);
}

template <int THREADS> static void reduce_shapes(int n, int blocks) {
    Array<int> in(n, element), out(blocks);
    std::vector<int> want(blocks);
    for (int i = 0; i < n; i++) want[i / THREADS % blocks] += in.host[i];
    RUN(BlockSumKernel<THREADS, cub::BLOCK_REDUCE_WARP_REDUCTIONS>
        <<<blocks, THREADS>>>(in, out, n));
    compare(out, want);
    RUN(BlockSumKernel<THREADS, cub::BLOCK_REDUCE_RAKING><<<blocks, THREADS>>>(in, out, n));
    compare(out, want);
    RUN(BlockSumKernel<THREADS, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>
        <<<blocks, THREADS>>>(in, out, n));
    compare(out, want);
}

template <int WIDTH> static void warp_shapes(int n) {
    Array<int> in(n, [](int i) { return whole(i, 300); }), out(n), sums(n / WIDTH), sorted_out(n);
    std::vector<int> scan(n), total(n / WIDTH), sorted = in.host, heads(n);
    for (int i = 0; i < n; i++) {
        scan[i] = in.host[i] + (i % WIDTH ? scan[i - 1] : 0);
        total[i / WIDTH] += in.host[i];
    }
    RUN(WarpScanKernel<WIDTH><<<n / 128, 128>>>(in, out, sums));
    compare(out, scan);
    compare(sums, total);
    const int items = WIDTH == 32 ? 4 : 3;
    int sorted_n = n / (128 * items) * 128 * items;
    for (int i = 0; i < sorted_n; i += 32 * items) std::sort(&sorted[i], &sorted[i] + 32 * items);
    sorted.resize(sorted_n);
    RUN(WarpMergeSortKernel<items><<<sorted_n / (128 * items), 128>>>(in, sorted_out));
    compare(sorted_out, sorted);
    Array<int> runs(n, [](int i) { return whole(i / 3, 10); });
    for (int i = 0; i < n; i++)
        heads[i] = i % (4 * 4 * WIDTH) == 0 || runs.host[i] != runs.host[i - 1];
    RUN(BlockDifferenceKernel<4 * WIDTH><<<n / (16 * WIDTH), 4 * WIDTH>>>(runs, out));
    compare(out, heads);
}

static void warp_collectives(int scale) {
    reduce_shapes<128>(3000 * scale, 7);
    reduce_shapes<256>(9000 * scale, 12);
    warp_shapes<32>(2048 * scale);
    warp_shapes<8>(1024 * scale);
}

// ---- Device-wide

static void device_sums(int scale) {
    for (int n : {1000, 30000 * scale}) {
        int segments = 1 + n / 70;
        Array<int> in(n, element),
            offsets(segments + 1, [=](int i) { return std::min(n, i * 69 + i * i % 7); });
        Array<int> sums(segments), most(segments), bins(20);
        std::vector<int> sums_want(segments), most_want(segments, INT_MIN), bins_want(20);
        offsets.host[0] = 0, offsets.host[segments] = n;
        offsets.to_device();
        for (int s = 0; s < segments; s++)
            for (int i = offsets.host[s]; i < offsets.host[s + 1]; i++) {
                sums_want[s] += in.host[i];
                most_want[s] = std::max(most_want[s], in.host[i]);
            }
        DEVICE_WIDE(DeviceSegmentedReduce::Sum, in.device, sums.device, segments, offsets.device,
                    offsets.device + 1);
        compare(sums, sums_want);
        DEVICE_WIDE(DeviceSegmentedReduce::Max, in.device, most.device, segments, offsets.device,
                    offsets.device + 1);
        compare(most, most_want);
        for (int v : in.host)
            if (v >= -20 && v < 20) bins_want[(v + 20) / 2]++;
        DEVICE_WIDE(DeviceHistogram::HistogramEven, in.device, bins.device, 21, -20, 20, n);
        compare(bins, bins_want);
    }
}

static void device_order(int scale) {
    for (int n : {900, 12000 * scale}) {
        Array<int> in(n, [](int i) { return whole(i, 100000); }), out(n);
        std::vector<int> sorted = in.host, scan(n), chosen;
        std::sort(sorted.begin(), sorted.end());
        DEVICE_WIDE(DeviceMergeSort::SortKeysCopy, in.device, out.device, n, Less());
        compare(out, sorted);
        int few = std::min(n, 2000);
        for (int i = 0; i < few; i++) scan[i] = in.host[i] + (i ? scan[i - 1] : 0);
        scan.resize(few);
        DEVICE_WIDE(DeviceScan::InclusiveSum, in.device, out.device, few);
        compare(out, scan);
        Array<int> flags(few, [](int i) { return whole(i, 3) == 0; }), count(1);
        for (int i = 0; i < few; i++)
            if (flags.host[i]) chosen.push_back(in.host[i]);
        DEVICE_WIDE(DeviceSelect::Flagged, in.device, flags.device, out.device, count.device, few);
        compare(out, chosen);
        sorted.assign(in.host.begin(), in.host.begin() + few);
        std::sort(sorted.begin(), sorted.end());
        DEVICE_WIDE(DeviceRadixSort::SortKeys, in.device, out.device, few);
        compare(out, sorted);
        Array<int> runs(few, [](int i) { return whole(i / 4, 3); }), lengths(few);
        std::vector<int> values, counts;
        for (int i = 0; i < few; i++)
            if (i && runs.host[i] == runs.host[i - 1])
                counts.back()++;
            else
                values.push_back(runs.host[i]), counts.push_back(1);
        DEVICE_WIDE(DeviceRunLengthEncode::Encode, runs.device, out.device, lengths.device,
                    count.device, few);
        compare(out, values);
        compare(lengths, counts);
    }
}

static const Case cases[] = {
    {"block_collectives", block_collectives}, {"warp_collectives", warp_collectives},
    {"device_sums", device_sums}, {"device_order", device_order},
};
CASES(cases)
