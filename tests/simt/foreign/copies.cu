// cooperative_groups::memcpy_async by every kind of group: any number of bytes, of what alignment the
// program knows or not. Tiles let lanes that have nothing left to copy repeat what the last one
// copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>

#include "told.h"

namespace cg = cooperative_groups;

enum { THREADS = 128, ROOM = 256, MOST = 200, GROUPS = 8 };
enum Kind { BLOCK, TILES_OF_32, TILES_OF_16, TILES_OF_8, COALESCED };
static const char *const kinds[] = {"a block", "tiles of 32", "tiles of 16", "tiles of 8",
                                    "coalesced groups"};
static const int groups[] = {1, 4, 8, 8, 4};

// Copies twice, each time what the group reads then. What is known of the alignment: ALIGN bytes; 0: nothing.
template <int ALIGN, typename Group>
__device__ void copy(const Group &group, char *s, const char *in, char *out, int bytes) {
    for (int k = 0; k < 2; k++) {
        if constexpr (ALIGN > 0)
            cg::memcpy_async(group, s, in, cuda::aligned_size_t<ALIGN>(bytes));
        else
            cg::memcpy_async(group, s, in, bytes);
        cg::wait(group);
        for (int i = group.thread_rank(); i < bytes; i += group.size()) out[i] = s[(i + 1) % bytes];
        group.sync();  // all have read before it is copied again
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

// Of the bytes from `shift` on.
template <Kind KIND, int ALIGN> static void check(const char *h_in, char *d_in, char *d_out, int shift) {
    static char got[GROUPS * ROOM];
    int bad = 0;
    // memcpy_async drops the last byte of an odd number at an address that is only even.
    const int step = ALIGN ? ALIGN : shift == 2 ? 2 : 1;
    for (int bytes = step; bytes <= MOST; bytes += bytes < 72 ? step : 16) {
        copies<KIND, ALIGN><<<1, THREADS>>>(d_in + shift, d_out, bytes);
        CUDA(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
        for (int g = 0; g < groups[KIND]; g++)
            for (int i = 0; i < bytes; i++)
                bad += got[g * ROOM + i] != h_in[g * ROOM + shift + (i + 1) % bytes];
    }
    char name[80];
    snprintf(name, sizeof name, "memcpy_async by %s, aligned to %d, from byte %d", kinds[KIND], ALIGN, shift);
    tell_value(name, bad, 0);
}

template <Kind KIND> static void check_all(const char *h_in, char *d_in, char *d_out) {
    for (int shift : {0, 1, 2, 4}) check<KIND, 0>(h_in, d_in, d_out, shift);
    check<KIND, 4>(h_in, d_in, d_out, 0);
    check<KIND, 8>(h_in, d_in, d_out, 0);
    check<KIND, 16>(h_in, d_in, d_out, 0);
}

int main() {
    static char h_in[(GROUPS + 1) * ROOM];
    char *d_in, *d_out;
    for (unsigned i = 0; i < sizeof h_in; i++) h_in[i] = (char)(i * 37 ^ i >> 5);
    CUDA(cudaMalloc(&d_in, sizeof h_in));
    CUDA(cudaMalloc(&d_out, sizeof h_in));
    CUDA(cudaMemcpy(d_in, h_in, sizeof h_in, cudaMemcpyHostToDevice));
    check_all<BLOCK>(h_in, d_in, d_out);
    check_all<TILES_OF_32>(h_in, d_in, d_out);
    check_all<TILES_OF_16>(h_in, d_in, d_out);
    check_all<TILES_OF_8>(h_in, d_in, d_out);
    check_all<COALESCED>(h_in, d_in, d_out);
    return wrong_count != 0;
}
