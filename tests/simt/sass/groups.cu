// Groups of lanes, barriers of several groups in a block, and special registers, with random inputs.
// Prints a hash of each kernel's results, which must be the same for PTX and machine
// code.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

#include "meanings.h"

#define I (blockIdx.x * blockDim.x + threadIdx.x)

namespace cg = cooperative_groups;

// BRA.DIV with a guard: lanes with different masks vote in the same instruction
__global__ void votes_of_tiles(Input in, uint32_t) {
    const auto eight = cg::tiled_partition<8>(cg::this_thread_block());
    const auto four = cg::tiled_partition<4>(cg::this_thread_block());
    const int x = (int)in.bits[I];
    in.out[I] = eight.ballot(x & 1);
    in.out[COUNT + I] = (uint64_t)eight.any(x < 0);
    in.out[2 * COUNT + I] = (uint64_t)four.all(x > 0);
}

// WARPSYNC.EXCLUSIVE of groups of any size, which split and reconverge
__global__ void sums_of_equals(Input in, uint32_t) {
    const uint32_t x = (uint32_t)in.bits[I], equals = __match_any_sync(~0u, x & 7);
    in.out[I] = __reduce_add_sync(equals, x);
}

// The system's shared memory, where cooperative groups of several warps have their barrier
__global__ void tiles_of_warps(Input in, uint32_t) {
    __shared__ cg::block_tile_memory<BLOCK> room;
    const auto tile = cg::tiled_partition<128>(cg::this_thread_block(room));
    const int x = (int)in.bits[I];
    in.out[I] = (uint64_t)cg::reduce(tile, x, cg::plus<int>()) * (tile.meta_group_rank() + 3);
    in.out[COUNT + I] = (uint64_t)tile.shfl(x, 77) * 2 + (uint64_t)tile.any(x == 1);
}

// BAR.RED with a barrier number in a register, and with a number of threads
__global__ void votes_of_some(Input in, uint32_t) {
    const uint32_t x = (uint32_t)in.bits[I], half = 1 + threadIdx.x / 128;
    uint32_t some, count;
    asm volatile("{.reg .pred p, q; setp.eq.u32 p, %1, 3; barrier.red.or.pred q, %2, 128, p;"
                 " selp.u32 %0, 1, 0, q;}"
                 : "=r"(some)
                 : "r"(x & 127), "r"(half)
                 : "memory");
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.popc.u32 %0, 7, 256, p;}"
                 : "=r"(count)
                 : "r"(x & 1)
                 : "memory");
    in.out[I] = some + 2 * count;
}

// SYNCS.ARRIVE.OPTOUT: half of the threads leave
__global__ void some_leave(Input in, uint32_t) {
    __shared__ uint64_t barrier, s[BLOCK];
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(BLOCK) : "memory");
    s[threadIdx.x] = in.bits[I];
    __syncthreads();
    if (threadIdx.x & 1) {
        asm volatile("{.reg .b64 s; mbarrier.arrive_drop.shared.b64 s, [%0];}" ::"r"(at)
                     : "memory");
        return;
    }
    for (int round = 0; round < 3; round++) {
        uint32_t done = 0;
        asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(at) : "memory");
        while (!done)
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
                         " selp.u32 %0, 1, 0, p;}"
                         : "=r"(done)
                         : "r"(at), "r"(round & 1)
                         : "memory");
        in.out[round * COUNT + I] = s[threadIdx.x ^ 1] + s[(threadIdx.x + 2 * round) % BLOCK];
    }
}

// Special registers for a thread's position and the sizes of its memory
__global__ void places(Input in, uint32_t) {
    uint32_t sm, sms, warp, bytes;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    in.out[I] = sm + ((uint64_t)sms << 16) + ((uint64_t)warp << 32) + ((uint64_t)bytes << 48);
}

// UBREV, for the lowest bit of a uniform value
__global__ void lowest_bits(Input in, uint32_t word) {
    const int lowest = __ffs((int)(word * gridDim.x));
    in.out[I] = (uint64_t)(lowest - 1) + threadIdx.x;
}

// ATOM at a generic address, with an offset from a register
__global__ void any_memory_behind(Input in, uint32_t word) {
    __shared__ float near[2 * BLOCK];
    near[2 * threadIdx.x] = near[2 * threadIdx.x + 1] = 1;
    __syncthreads();
    float *of = word >> blockIdx.x & 1 ? &near[2 * threadIdx.x] : (float *)&in.out[I];
    atomicAdd(of + 1, (float)(in.bits[I] & 15));
    __syncthreads();
    in.out[COUNT + I] = (uint64_t)near[2 * threadIdx.x + 1];
}

// HADD2.F32 of a half's absolute or negated value
__global__ void signs_of_halves(Input in, uint32_t) {
    const __half x = __ushort_as_half((unsigned short)(in.bits[I] & 0x3fff));
    const __half y = __float2half(in.value[I]);
    in.out[I] = (uint64_t)__float_as_uint(sqrtf(__half2float(__habs(y)))) << 32 |
                __float_as_uint(3 - __half2float(__hneg(x)));
    in.out[COUNT + I] = __float_as_uint(__half2float(__hneg(y)));
}

// VIADD.16x2 with a negated operand
__global__ void halves(Input in, uint32_t) {
    const uint32_t x = (uint32_t)in.bits[I], y = (uint32_t)(in.bits[I] >> 32);
    in.out[I] = (uint64_t)__vsub2(x, y) << 32 | __vneg2(y);
}

static const Entry kernels[] = {
    {"votes_of_tiles", votes_of_tiles},   {"sums_of_equals", sums_of_equals},
    {"tiles_of_warps", tiles_of_warps},   {"votes_of_some", votes_of_some},
    {"some_leave", some_leave},           {"places", places},
    {"lowest_bits", lowest_bits},         {"any_memory_behind", any_memory_behind},
    {"signs_of_halves", signs_of_halves}, {"halves", halves}};

int main() { return run_all(kernels, 96) ? 0 : 1; }
