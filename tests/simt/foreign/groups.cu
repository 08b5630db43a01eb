// Cooperative groups: blocks, tiles of every size and coalesced groups, with cg::reduce.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "told.h"

namespace cg = cooperative_groups;

template <int TILE> __global__ void tile_reduce(const int *in, int *out) {
    auto tile = cg::tiled_partition<TILE>(cg::this_thread_block());
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = cg::reduce(tile, in[i], cg::plus<int>());
    int most = cg::reduce(tile, in[i], cg::greater<int>());
    int any = cg::reduce(tile, in[i] & 0xff, cg::bit_or<int>());
    out[i] = sum * 64 + most + any * 1000000;
}

template <int TILE> static void check_tile(const int *h_in, const int *d_in, int *d_out, int n) {
    tile_reduce<TILE><<<n / 128, 128>>>(d_in, d_out);
    int *got = (int *)malloc(n * sizeof *got), bad = 0;
    CUDA(cudaMemcpy(got, d_out, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int sum = 0, most = -1000, any = 0;
        for (int k = i / TILE * TILE; k < (i / TILE + 1) * TILE; k++) {
            sum += h_in[k];
            most = h_in[k] > most ? h_in[k] : most;
            any |= h_in[k] & 0xff;
        }
        bad += got[i] != sum * 64 + most + any * 1000000;
    }
    char name[40];
    snprintf(name, sizeof name, "cg::reduce, tiles of %d", TILE);
    tell_value(name, bad, 0);
    free(got);
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

template <typename T> static void check_block(const char *type) {
    const int n = 100003, blocks = 10;
    T *d_in = device_elements<T>(n), *d_out, got[blocks];
    CUDA(cudaMalloc((void **)&d_out, sizeof got));
    block_reduce<T><<<blocks, 320>>>(d_in, d_out, n);
    CUDA(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    double want = 0, sum = 0;
    for (int i = 0; i < n; i++) want += element(i);
    for (T part : got) sum += (double)part;
    char name[40];
    snprintf(name, sizeof name, "cg::reduce, blocks of 320, %s", type);
    tell_value(name, sum, want);
}

// Tiles of several warps, which meet through memory of their own.
template <int TILE> __global__ void wide_tiles(const int *in, int *out) {
    __shared__ cg::block_tile_memory<256> scratch;
    auto block = cg::this_thread_block(scratch);
    auto tile = cg::tiled_partition<TILE>(block);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = cg::reduce(tile, in[i], cg::plus<int>());
    tile.sync();
    out[i] = sum + 1000 * (int)tile.meta_group_rank();
}

template <int TILE> static void check_wide(const int *h_in, const int *d_in, int *d_out, int n) {
    wide_tiles<TILE><<<n / 256, 256>>>(d_in, d_out);
    CUDA(cudaGetLastError());
    int *got = (int *)malloc(n * sizeof *got), bad = 0;
    CUDA(cudaMemcpy(got, d_out, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = i / TILE * TILE; k < (i / TILE + 1) * TILE; k++) sum += h_in[k];
        bad += got[i] != sum + 1000 * (i % 256 / TILE);
    }
    char name[40];
    snprintf(name, sizeof name, "cg::reduce, tiles of %d", TILE);
    tell_value(name, bad, 0);
    free(got);
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

static void check_partitions(const int *h_in, const int *d_in, int *d_out) {
    int got[128], bad = 0;
    coalesced<<<1, 128>>>(d_in, d_out);
    CUDA(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++) {
        int sum = 0, before = 0;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            if (h_in[k] > 0) sum += h_in[k], before += k < i ? h_in[k] : 0;
        }
        bad += got[i] != (h_in[i] > 0 ? sum * 1000 + before : 0);
    }
    tell_value("coalesced groups", bad, 0);
    labeled<<<1, 128>>>(d_in, d_out);
    CUDA(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    bad = 0;
    for (int i = 0; i < 128; i++) {
        int size = 0, first = -1;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            if ((h_in[k] & 3) != (h_in[i] & 3)) continue;
            if (first < 0) first = k;
            size++;
        }
        bad += got[i] != size * 100 + first;
    }
    tell_value("labeled partitions", bad, 0);
}

int main() {
    const int n = 1024;
    int h_in[n], *d_in = device_elements<int>(n), *d_out;
    for (int i = 0; i < n; i++) h_in[i] = element(i);
    CUDA(cudaMalloc((void **)&d_out, sizeof h_in));
    check_tile<32>(h_in, d_in, d_out, n);
    check_tile<16>(h_in, d_in, d_out, n);
    check_tile<8>(h_in, d_in, d_out, n);
    check_tile<4>(h_in, d_in, d_out, n);
    check_tile<2>(h_in, d_in, d_out, n);
    check_block<int>("int");
    check_block<float>("float");
    check_block<double>("double");
    check_partitions(h_in, d_in, d_out);
    check_wide<64>(h_in, d_in, d_out, n);
    check_wide<128>(h_in, d_in, d_out, n);
    return wrong_count != 0;
}
