// Tests cooperative groups: blocks, tiles of every size and coalesced groups, with cg::reduce and
// memcpy_async by each of them.
#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>

#include "../cases.h"

namespace cg = cooperative_groups;

template <int TILE> __global__ void tile_reduce(const int *in, int *out) {
    auto tile = cg::tiled_partition<TILE>(cg::this_thread_block());
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = cg::reduce(tile, in[i], cg::plus<int>());
    int most = cg::reduce(tile, in[i], cg::greater<int>());
    int any = cg::reduce(tile, in[i] & 0xff, cg::bit_or<int>());
    out[i] = sum * 64 + most + any * 1000000;
}

template <typename T> __global__ void block_reduce(const T *in, T *out, int n) {
    __shared__ T warps[32];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    T sum = 0;
    for (int i = (int)(block.group_index().x * block.size() + block.thread_rank()); i < n;
         i += (int)(gridDim.x * block.size()))
        sum += in[i];
    sum = cg::reduce(tile, sum, cg::plus<T>());
    if (tile.thread_rank() == 0) warps[tile.meta_group_rank()] = sum;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        T part = tile.thread_rank() < tile.meta_group_size() ? warps[tile.thread_rank()] : (T)0;
        part = cg::reduce(tile, part, cg::plus<T>());
        if (tile.thread_rank() == 0) out[blockIdx.x] = part;
    }
}

// Tiles of several warps, which synchronise through their own memory.
template <int TILE> __global__ void wide_tiles(const int *in, int *out) {
    __shared__ cg::block_tile_memory<256> scratch;
    auto block = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<TILE>(block);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = cg::reduce(tile, in[i], cg::plus<int>());
    tile.sync();
    out[i] = sum + 1000 * (int)tile.meta_group_rank();
}

__global__ void coalesced(const int *in, int *out) {
    unsigned t = threadIdx.x;
    out[t] = 0;
    if (in[t] > 0) {
        auto group = cg::coalesced_threads();
        int sum = cg::reduce(group, in[t], cg::plus<int>());
        int before = cg::exclusive_scan(group, in[t], cg::plus<int>());
        out[t] = sum * 1000 + before;
        group.sync();
    }
}

__global__ void labeled(const int *in, int *out) {
    unsigned t = threadIdx.x;
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    auto equal = cg::labeled_partition(tile, in[t] & 3);
    out[t] = (int)equal.size() * 100 + equal.shfl((int)t, 0);
}

static void partitions(int) {
    enum { N = 1024 };
    Array<int> in(N, element), out(N), few(128);
    std::vector<int> want(128), same(128);
    for (int i = 0; i < 128; i++) {
        int sum = 0, before = 0, size = 0, first = -1;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            if (in.host[k] > 0) sum += in.host[k], before += k < i ? in.host[k] : 0;
            if ((in.host[k] & 3) != (in.host[i] & 3)) continue;
            if (first < 0) first = k;
            size++;
        }
        want[i] = in.host[i] > 0 ? sum * 1000 + before : 0;
        same[i] = size * 100 + first;
    }
    RUN(coalesced<<<1, 128>>>(in, few));
    compare(few, want);
    RUN(labeled<<<1, 128>>>(in, few));
    compare(few, same);
}

template <int SIZE> static void tile() {
    enum { N = 1024 };
    Array<int> in(N, element), out(N);
    std::vector<int> want(N);
    for (int i = 0; i < N; i++) {
        int sum = 0, most = -1000, any = 0;
        for (int k = i / SIZE * SIZE; k < (i / SIZE + 1) * SIZE; k++)
            sum += in.host[k], most = std::max(most, in.host[k]), any |= in.host[k] & 0xff;
        want[i] = SIZE > 32 ? sum + 1000 * (i % 256 / SIZE) : sum * 64 + most + any * 1000000;
    }
    if constexpr (SIZE > 32)
        RUN(wide_tiles<SIZE><<<N / 256, 256>>>(in, out));
    else
        RUN(tile_reduce<SIZE><<<N / 128, 128>>>(in, out));
    compare(out, want);
}

static void tiles(int) {
    tile<2>(), tile<4>(), tile<8>(), tile<16>(), tile<32>(), tile<64>(), tile<128>();
}

template <typename T> static void block() {
    const int n = 100003, blocks = 10;
    Array<T> in(n, element), out(blocks);
    std::vector<double> want(blocks);
    for (int i = 0; i < n; i++) want[i / 320 % blocks] += element(i);
    RUN(block_reduce<T><<<blocks, 320>>>(in, out, n));
    compare(out, want);
}

static void blocks(int) { block<int>(), block<float>(), block<double>(); }

// ---- memcpy_async: any number of bytes, with an alignment that the program states or not. In tiles,
// lanes without an element of their own copy the last one again.

enum { THREADS = 128, ROOM = 256, MOST = 200, GROUPS = 8 };
enum Kind { BLOCK, TILES_OF_32, TILES_OF_16, TILES_OF_8, COALESCED };
static const int groups[] = {1, 4, 8, 8, 4};

// Copies twice, and the group reads each copy. ALIGN: the stated alignment in bytes; 0: none.
template <int ALIGN, typename Group>
__device__ void copy(const Group &group, char *s, const char *in, char *out, int bytes) {
    for (int k = 0; k < 2; k++) {
        if constexpr (ALIGN > 0)
            cg::memcpy_async(group, s, in, cuda::aligned_size_t<ALIGN>(bytes));
        else
            cg::memcpy_async(group, s, in, bytes);
        cg::wait(group);
        for (int i = group.thread_rank(); i < bytes; i += group.size()) out[i] = s[(i + 1) % bytes];
        group.sync();  // all threads have read before the next copy
    }
}

template <Kind KIND, int ALIGN>
__global__ void copies(const char *in, char *out, int bytes) {
    __shared__ __align__(16) char s[GROUPS][ROOM];
    auto block = cg::this_thread_block();
    auto by_rank = [&](auto group, int rank) {
        if (rank < GROUPS)
            copy<ALIGN>(group, s[rank], in + rank * ROOM, out + rank * ROOM, bytes);
    };
    auto by_tiles = [&](auto tile) { by_rank(tile, tile.meta_group_rank()); };
    if (KIND == BLOCK) by_rank(block, 0);
    if (KIND == TILES_OF_32) by_tiles(cg::tiled_partition<32>(block));
    if (KIND == TILES_OF_16) by_tiles(cg::tiled_partition<16>(block));
    if (KIND == TILES_OF_8) by_tiles(cg::tiled_partition<8>(block));
    if (KIND == COALESCED && threadIdx.x % 3 == 0) by_rank(cg::coalesced_threads(), threadIdx.x / 32);
}

// Copies the bytes from `shift` on.
template <Kind KIND, int ALIGN> static void copied(Array<char> &in, int shift) {
    Array<char> out(GROUPS * ROOM);
    // memcpy_async drops the last byte of an odd number at an address that is only even.
    const int step = ALIGN ? ALIGN : shift == 2 ? 2 : 1;
    for (int bytes = step; bytes <= MOST; bytes += bytes < 72 ? step : 16) {
        std::vector<char> want = out.host;
        for (int g = 0; g < groups[KIND]; g++)
            for (int i = 0; i < bytes; i++)
                want[g * ROOM + i] = in.host[g * ROOM + shift + (i + 1) % bytes];
        RUN(copies<KIND, ALIGN><<<1, THREADS>>>(in + shift, out, bytes));
        compare(out, want);
    }
}

template <Kind KIND> static void every_copy(int) {
    Array<char> in((GROUPS + 1) * ROOM, [](int i) { return (char)(i * 37 ^ i >> 5); });
    for (int shift : {0, 1, 2, 4}) copied<KIND, 0>(in, shift);
    copied<KIND, 4>(in, 0), copied<KIND, 8>(in, 0), copied<KIND, 16>(in, 0);
}

static const Case cases[] = {
    {"tiles", tiles}, {"blocks", blocks}, {"partitions", partitions},
    {"copies_block", every_copy<BLOCK>}, {"copies_32", every_copy<TILES_OF_32>},
    {"copies_16", every_copy<TILES_OF_16>}, {"copies_8", every_copy<TILES_OF_8>},
    {"copies_coalesced", every_copy<COALESCED>},
};
CASES(cases)
