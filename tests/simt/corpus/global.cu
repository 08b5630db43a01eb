// Races in global memory, each with a twin that is right. Verdicts: see corpus.h.
#include <cooperative_groups.h>
#include <cuda/atomic>

#include "corpus.h"

namespace cg = cooperative_groups;

__device__ unsigned ticket, flag, lock_word;
__device__ __align__(8) unsigned flags[2];
__device__ int counter, shared_sum, passed[4];

// --- the last block reads what all blocks have written ---

enum { RIGHT, NO_RELEASE, NO_ACQUIRE, BLOCK_FENCE, BLOCK_ATOMIC, NO_BARRIER, PLAIN_TICKET };

// Every thread writes, and one thread of the block takes the ticket.
template <int KIND> __global__ void last_block(const int *in, int *out) {
    __shared__ bool last;
    unsigned t = threadIdx.x;
    out[1 + blockIdx.x * BLOCK + t] = in[t];  // LABEL last_block_write
    if (KIND != NO_BARRIER) __syncthreads();
    if (t == 0) {
        if (KIND == BLOCK_FENCE)
            __threadfence_block();
        else if (KIND != NO_RELEASE)
            __threadfence();
        unsigned mine;
        if (KIND == BLOCK_ATOMIC)
            mine = atomicInc_block(&ticket, gridDim.x - 1);  // HAZARD last_block_atomic: race
        else if (KIND == PLAIN_TICKET)
            mine = ticket++;  // HAZARD last_block_plain: race
        else
            mine = atomicInc(&ticket, gridDim.x - 1);
        last = mine == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    if (KIND != NO_ACQUIRE) __threadfence();
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        // HAZARD-NEXT last_block_release: race with last_block_write
        // HAZARD-NEXT last_block_acquire: race with last_block_write
        // HAZARD-NEXT last_block_fence: race with last_block_write
        // HAZARD-NEXT last_block_atomic: race with last_block_write
        // HAZARD-NEXT last_block_barrier: race with last_block_write
        // HAZARD-NEXT last_block_plain: race with last_block_write
        sum += out[1 + b * BLOCK + t];
    if (t == 0) out[0] = sum;
}

// --- a flag, and a mailbox ---

enum { WEAK_FLAG = 2 + NO_ACQUIRE, TWO_LANES };

template <int KIND> __global__ void message(const int *in, int *out) {
    volatile unsigned *ready = &flag;
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 1) {
        out[0] = in[1];  // LABEL message_write
        if (KIND != NO_RELEASE) __threadfence();
        if (KIND == WEAK_FLAG)
            flag = 1;  // LABEL message_weak_store
        else
            *ready = 1;
    } else if (blockIdx.x == 0) {
        while (*ready == 0) {}  // HAZARD message_weak: race with message_weak_store
        if (KIND != NO_ACQUIRE) __threadfence();
        // HAZARD-NEXT message_release: race with message_write
        // HAZARD-NEXT message_acquire: race with message_write
        // HAZARD-NEXT message_weak: race with message_write
        out[1] = out[0];
    }
}

// Another thread calls the fence, before a barrier: the sender has called none, or one whose scope
// is only the block.
enum Own { OWN_NONE, OWN_OF_BLOCK, OWN_OF_DEVICE };
template <Own OWN> __global__ void message_fenced_by_another(const int *in, int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(flag);
    unsigned t = threadIdx.x;
    if (blockIdx.x == 1) {
        out[t] = in[t];  // LABEL message_fenced_by_another
        __syncthreads();
        if (OWN == OWN_OF_BLOCK) __threadfence_block();
        if (OWN == OWN_OF_DEVICE || t == 1) __threadfence();
        __syncthreads();
        if (t == 0) ready.store(1, cuda::memory_order_relaxed);
        return;
    }
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    // HAZARD-NEXT message_fenced_by_another: race with message_fenced_by_another
    // HAZARD-NEXT message_fenced_for_the_block: race with message_fenced_by_another
    out[BLOCK + t] = out[t];
}

// Lane 0 waits for its whole warp: the others must wait for lane 0.
template <bool SYNC> __global__ void message_for_warp(const int *in, int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(flag);
    unsigned t = threadIdx.x;
    if (blockIdx.x == 1) {
        out[t] = in[t];  // LABEL message_for_warp_write
        __syncthreads();
        if (t == 0) ready.store(1, cuda::memory_order_release);
        return;
    }
    if (t == 0) {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
    }
    if (SYNC) __syncwarp();
    out[BLOCK + t] = out[t];  // HAZARD message_for_warp: race with message_for_warp_write
}

// A lane sets a flag for its warp without waiting for the other lanes.
template <bool SYNC> __global__ void message_of_warp(const int *in, int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ready(flag);
    unsigned t = threadIdx.x;
    if (blockIdx.x == 1) {
        out[t] = in[t];  // LABEL message_of_warp_write
        if (SYNC) __syncwarp();
        if (t == 0) ready.store(1, cuda::memory_order_release);
        return;
    }
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    out[BLOCK + t] = out[t];  // HAZARD message_of_warp: race with message_of_warp_write
}

// All lanes call a fence, and one of them sets a flag: it releases the other lanes' stores only after a barrier.
enum Meet { ALONE, SHUFFLE, EIGHT_LANES, WHOLE_WARP, BARRIER };
template <Meet MEET, int READ> __global__ void fence_of_lanes(const int *in, int *out) {
    volatile unsigned *ready = &flag;
    const unsigned t = threadIdx.x;
    if (blockIdx.x == 1) {
        out[t] = in[t];  // LABEL fence_of_lanes_write
        __threadfence();
        if (MEET == SHUFFLE) out[64 + t] = __shfl_sync(0xffffffff, in[t], 5);
        if (MEET == EIGHT_LANES && t < 8) __syncwarp(0xff);
        if (MEET == WHOLE_WARP) __syncwarp();
        if (MEET == BARRIER) __syncthreads();
        if (t == 0) *ready = 1;
    } else if (t == 0) {
        while (*ready == 0) {}
        __threadfence();
        // HAZARD-NEXT fence_of_lanes: race with fence_of_lanes_write
        // HAZARD-NEXT fence_then_shuffle: race with fence_of_lanes_write
        // HAZARD-NEXT fence_of_other_lanes: race with fence_of_lanes_write
        out[32] = out[READ];
    }
}

// Eight lanes synchronise, then all call a fence: the sender releases the stores of those eight.
template <int READ> __global__ void lanes_met_then_fence(const int *in, int *out) {
    volatile unsigned *ready = &flag;
    const unsigned t = threadIdx.x;
    if (blockIdx.x == 1) {
        out[t] = in[t];  // LABEL lanes_met_then_fence
        if (t < 8) __syncwarp(0xff);
        __threadfence();
        if (t == 0) *ready = 1;
    } else if (t == 0) {
        while (*ready == 0) {}
        __threadfence();
        out[32] = out[READ];  // HAZARD lanes_met_then_fence: race with lanes_met_then_fence
    }
}

// All lanes store to one flag: a reader sees only one of the stores.
template <bool RIGHT> __global__ void flag_of_all_lanes(const int *in, int *out) {
    volatile unsigned *ready = &flag;
    const unsigned t = threadIdx.x;
    if (blockIdx.x == 1) {
        out[t] = in[t];  // LABEL flag_of_all_lanes_write
        __threadfence();
        if (RIGHT) __syncwarp();
        *ready = 1;
    } else if (t == 0) {
        while (*ready == 0) {}
        __threadfence();
        out[32] = out[5];  // HAZARD flag_of_all_lanes: race with flag_of_all_lanes_write
    }
}

// A second store ends the release sequence of the first, also if it is wider.
template <bool RIGHT> __global__ void flag_under_wide_store(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    volatile unsigned *ready = &flags[1];
    if (blockIdx.x == 0) {
        out[0] = in[1];  // LABEL flag_under_wide_store
        __threadfence();
        *ready = 1;
    } else if (blockIdx.x == 1) {
        while (*ready != 1) {}
        if (RIGHT)
            atomicAdd(&flags[1], 1);
        else
            *(volatile unsigned long long *)flags = 2ull << 32;
    } else {
        while (*ready != 2) {}
        __threadfence();
        out[1] = out[0];  // HAZARD flag_under_wide_store: race with flag_under_wide_store
    }
}

// Lanes compare and swap the same word in turn: a lane whose swap fails releases nothing.
enum Swap { FIRST, SIXTH, CHAIN };
template <Swap SWAP, int READ> __global__ void swap_of_lanes(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    if (blockIdx.x == 1) {
        out[t] = in[t];  // LABEL swap_of_lanes_write
        __threadfence();
        if (SWAP == FIRST) atomicCAS(&flag, 0, 32);
        if (SWAP == SIXTH) atomicCAS(&flag, t == 5 ? 0 : 77, 32);
        if (SWAP == CHAIN) atomicCAS(&flag, t, t + 1);
    } else if (t == 0) {
        while (atomicAdd(&flag, 0) != 32) {}
        __threadfence();
        // HAZARD-NEXT first_swaps: race with swap_of_lanes_write
        // HAZARD-NEXT sixth_swaps: race with swap_of_lanes_write
        out[32] = out[READ];
    }
}

// The scope of the flag must cover the other block.
template <cuda::thread_scope SCOPE> __global__ void message_scope(const int *in, int *out) {
    cuda::atomic_ref<unsigned, SCOPE> ready(flag);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        out[0] = in[1];  // LABEL message_scope_write
        ready.store(1, cuda::memory_order_release);  // LABEL message_scope_store
    } else {
        // HAZARD-NEXT message_scope: race with message_scope_store
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        out[1] = out[0];  // HAZARD message_scope: race with message_scope_write
    }
}

// Both blocks read, and the first one overwrites what the second one has read.
template <bool RIGHT> __global__ void overwritten_behind_flag(const int *in, int *out) {
    volatile unsigned *ready = &flag;
    unsigned t = threadIdx.x;
    out[64 + blockIdx.x * 32 + t] = in[t];
    int v = out[t * 5 % 32];  // LABEL overwritten_behind_flag_read
    if (RIGHT) __threadfence();
    __syncwarp();
    if (t == 0 && blockIdx.x == 1) *ready = 1;
    if (t == 0 && blockIdx.x == 0)
        while (!*ready) __nanosleep(50);
    if (RIGHT) __threadfence();
    __syncwarp();
    // HAZARD-NEXT overwritten_behind_flag: race with overwritten_behind_flag_read
    if (blockIdx.x == 0) out[t * 5 % 32] = v + 1;
}

// A value and its flag in one word need no fence.
__global__ void mailbox(const int *in, int *out) {
    volatile unsigned long long *box = (volatile unsigned long long *)(out + 2);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 1) {
        *box = 1ull << 32 | (unsigned)in[5];
    } else {
        unsigned long long word;
        while (!((word = *box) >> 32)) {}
        out[0] = (int)word;
        *box = 0;
    }
}

// Block 1 passes data from block 0 on to block 2.
template <bool FENCE> __global__ void pass_on(const int *in, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> mine(passed[blockIdx.x]);
    cuda::atomic_ref<int, cuda::thread_scope_device> before(passed[(blockIdx.x + 3) % 4]);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) out[0] = in[3];  // LABEL pass_on_write
    if (blockIdx.x > 0) {
        bool middle = blockIdx.x == 1 && !FENCE;
        while (before.load(middle ? cuda::memory_order_relaxed : cuda::memory_order_acquire) == 0) {}
    }
    if (blockIdx.x == 2) out[1] = out[0];  // HAZARD pass_on: race with pass_on_write
    mine.store(1, cuda::memory_order_release);
}

// --- locks ---

enum { NO_LOCK_FENCE = 1, NO_UNLOCK_FENCE, WEAK_UNLOCK, BLOCK_LOCK };

template <int KIND> __global__ void locked(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    if (KIND == BLOCK_LOCK) {
        while (atomicCAS_block(&lock_word, 0, 1) != 0) {}  // HAZARD locked_block: race with locked_block_exchange
    } else {
        while (atomicCAS(&lock_word, 0, 1) != 0) {}  // HAZARD locked_weak: race with locked_weak_store
    }
    if (KIND != NO_LOCK_FENCE) __threadfence();
    // HAZARD-NEXT locked_no_fence: race
    // HAZARD-NEXT locked_no_unlock_fence: race
    // HAZARD-NEXT locked_weak: race
    // HAZARD-NEXT locked_block: race
    out[0] += in[blockIdx.x];
    if (KIND != NO_UNLOCK_FENCE) __threadfence();
    if (KIND == WEAK_UNLOCK)
        lock_word = 0;  // LABEL locked_weak_store
    else
        atomicExch(&lock_word, 0);  // LABEL locked_block_exchange
}

// The section takes a maximum, and the lock has no fence. Right: what the advice says.
template <bool RIGHT> __global__ void locked_maximum(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    for (int tries = 0; tries < 1000000; tries++)
        if (atomicCAS(&lock_word, 0, 1) == 0) {  // LABEL locked_maximum_take
            if (RIGHT) __threadfence();
            if (in[5 + blockIdx.x] > out[0]) out[0] = in[5 + blockIdx.x], out[1] = blockIdx.x;  // HAZARD locked_maximum: race
            if (RIGHT) __threadfence();
            atomicExch(&lock_word, 0);  // LABEL locked_maximum_release
            return;
        }
}

// --- atomics ---

// Every block divides by a total to which all blocks add.
template <bool RIGHT> __global__ void total_of_blocks(const int *in, int *out) {
    const unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    atomicAdd(&shared_sum, in[i] + 1);  // LABEL total_of_blocks
    if (RIGHT)
        cg::this_grid().sync();
    else
        __syncthreads();
    out[i] = in[i] / shared_sum;  // HAZARD total_of_blocks: race with total_of_blocks
}

template <bool ATOMIC> __global__ void add_blocks(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    if (ATOMIC)
        atomicAdd(&out[0], in[blockIdx.x]);
    else
        out[0] = out[0] + in[blockIdx.x];  // HAZARD add_blocks: race
}

template <bool DEVICE> __global__ void scope_of_atomic(const int *in, int *out) {
    if (DEVICE)
        atomicAdd(&out[0], in[threadIdx.x]);
    else
        atomicAdd_block(&out[0], in[threadIdx.x]);  // HAZARD scope_of_atomic: race
}

// --- between barriers, and between blocks ---

template <bool BARRIER> __global__ void exchange_in_block(const int *in, int *out) {
    unsigned t = threadIdx.x;
    out[t] = in[t];  // LABEL exchange_in_block_store
    if (BARRIER) __syncthreads();
    out[BLOCK + t] = out[BLOCK - 1 - t];  // HAZARD exchange_in_block: race with exchange_in_block_store
}

// Reads a neighbour's element, which that block changes.
template <bool OTHER> __global__ void neighbour_blocks(const int *in, int *out) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, next = (i + 1) % (2 * BLOCK);
    int sum = out[next] + in[i];  // LABEL neighbour_blocks_read
    out[i + (OTHER ? 2 * BLOCK : 0)] = sum;  // HAZARD neighbour_blocks: race with neighbour_blocks_read
}

template <bool SYNC> __global__ void across_grid(const int *in, int *out) {
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, all = gridDim.x * BLOCK;
    for (int step = 0; step < 3; step++) {
        out[i] = in[i] + step;  // LABEL across_grid_write
        if (SYNC) cg::this_grid().sync();
        // HAZARD-NEXT across_grid: race with across_grid_write
        int other = out[all - 1 - i];
        if (SYNC) cg::this_grid().sync();
        out[i] = other;  // LABEL across_grid_write
    }
}

template <bool OWN> __global__ void bytes_shared_by_blocks(const int *in, int *out) {
    if (threadIdx.x > 2) return;
    unsigned k = blockIdx.x * (OWN ? 3 : 2) + threadIdx.x;
    ((unsigned char *)out)[k] = (unsigned char)in[blockIdx.x];  // HAZARD bytes_shared: race
}

// Warps of a block order each other through a flag in global memory.
template <bool FENCE> __global__ void warps_by_flag(const int *in, int *out) {
    volatile unsigned *ready = &flag;
    unsigned t = threadIdx.x;
    if (t == 0) {
        out[0] = in[1];  // LABEL warps_by_flag_write
        if (FENCE) __threadfence_block();
        *ready = 1;
    } else if (t == 32) {
        while (*ready == 0) {}
        __threadfence_block();
        out[1] = out[0];  // HAZARD warps_by_flag: race with warps_by_flag_write
    }
}

static void cooperative(void (*kernel)(const int *, int *), int *d_in, int *d_out) {
    void *arguments[] = {&d_in, &d_out};
    cudaLaunchCooperativeKernel((void *)kernel, dim3(4), dim3(BLOCK), arguments, 0, 0);
}

// --- loops around an atomicCAS() ---

// The loop of the CUDA C++ programming guide: after a stale first read it tries again.
__global__ void cas_add(const int *in, int *out) {
    int old = *out, assumed;  // NOTE cas_add: race with cas_add_update
    do {
        assumed = old;
        old = atomicCAS(out, assumed, assumed + in[threadIdx.x]);  // LABEL cas_add_update
    } while (old != assumed);
    out[1 + blockIdx.x * BLOCK + threadIdx.x] = old;
}

// The first read decides whether to do anything, and a stale value is not noticed.
__global__ void cas_decides(const int *in, int *out) {
    int old = *out, assumed;  // HAZARD cas_decides: race with cas_decides_update
    while (old < in[threadIdx.x]) {
        assumed = old;
        old = atomicCAS(out, assumed, in[threadIdx.x]);  // LABEL cas_decides_update
        if (old == assumed) break;
    }
}

// The first read is used later, even if it was stale.
__global__ void cas_keeps(const int *in, int *out) {
    int old = *out;                        // HAZARD cas_keeps: race with cas_keeps_update
    atomicCAS(out, old, in[threadIdx.x]);  // LABEL cas_keeps_update
    out[1 + blockIdx.x * BLOCK + threadIdx.x] = old;
}

// A linked list: the value read is the address of the next read.
__global__ void cas_follows(const int *in, int *out) {
    int old, next = 0;
    do {
        old = *out;           // HAZARD cas_follows: race with cas_follows_update
        next = in[old % 64];
    } while (atomicCAS(out, old, next) != old);  // LABEL cas_follows_update
}

// A relaxed store of eight bytes depends on what its thread has read, so its reader may overwrite that. A
// flag of four bytes orders nothing.
__device__ unsigned long long told;
__device__ unsigned told_flag;

template <bool RIGHT> __global__ void message_in_place(const int *, int *out) {
    unsigned long long got = 0;
    unsigned flag = 0;
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        const unsigned v = (unsigned)out[0];  // LABEL message_in_place_read
        if (RIGHT)
            asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&told), "l"(1ull << 32 | v) : "memory");
        else
            asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(&told_flag), "r"(v + 1) : "memory");
        return;
    }
    while (!got && !flag)
        if (RIGHT)
            asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(got) : "l"(&told) : "memory");
        else
            asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(flag) : "l"(&told_flag) : "memory");
    out[0] = 7;  // HAZARD message_in_place: race with message_in_place_read
}

static const Case cases[] = {
    ONE(2, 64, "cas_add", cas_add), ONE(2, 64, "cas_decides", cas_decides),
    ONE(2, 64, "cas_keeps", cas_keeps), ONE(2, 64, "cas_follows", cas_follows),
    ONE(3, BLOCK, "last_block_right", last_block<RIGHT>),
    ONE(3, BLOCK, "last_block_release", last_block<NO_RELEASE>),
    ONE(3, BLOCK, "last_block_acquire", last_block<NO_ACQUIRE>),
    ONE(3, BLOCK, "last_block_fence", last_block<BLOCK_FENCE>),
    ONE(3, BLOCK, "last_block_atomic", last_block<BLOCK_ATOMIC>),
    ONE(3, BLOCK, "last_block_barrier", last_block<NO_BARRIER>),
    ONE(3, BLOCK, "last_block_plain", last_block<PLAIN_TICKET>),
    ONE(3, BLOCK, "message_right", message<RIGHT>),
    ONE(3, BLOCK, "message_release", message<NO_RELEASE>),
    ONE(3, BLOCK, "message_acquire", message<NO_ACQUIRE>),
    ONE(3, BLOCK, "message_weak", message<WEAK_FLAG>),
    ONE(2, 32, "message_fenced_by_another", message_fenced_by_another<OWN_NONE>),
    ONE(2, 32, "message_fenced_for_the_block", message_fenced_by_another<OWN_OF_BLOCK>),
    ONE(2, 32, "message_fenced_by_another_right", message_fenced_by_another<OWN_OF_DEVICE>),
    TWINS(2, 32, message_for_warp), TWINS(2, 32, message_of_warp),
    ONE(2, 32, "fence_of_lanes", fence_of_lanes<ALONE, 5>),
    ONE(2, 32, "fence_of_lanes_own_right", fence_of_lanes<ALONE, 0>),
    ONE(2, 32, "fence_of_lanes_right", fence_of_lanes<WHOLE_WARP, 5>),
    ONE(2, 32, "fence_of_lanes_barrier_right", fence_of_lanes<BARRIER, 5>),
    ONE(2, 32, "fence_then_shuffle", fence_of_lanes<SHUFFLE, 5>),
    ONE(2, 32, "fence_of_other_lanes", fence_of_lanes<EIGHT_LANES, 9>),
    ONE(2, 32, "fence_of_other_lanes_right", fence_of_lanes<EIGHT_LANES, 5>),
    ONE(2, 32, "lanes_met_then_fence", lanes_met_then_fence<9>),
    ONE(2, 32, "lanes_met_then_fence_right", lanes_met_then_fence<5>), TWINS(2, 32, flag_of_all_lanes),
    TWINS(3, BLOCK, flag_under_wide_store), ONE(2, 32, "first_swaps", swap_of_lanes<FIRST, 5>),
    ONE(2, 32, "first_swaps_right", swap_of_lanes<FIRST, 0>),
    ONE(2, 32, "sixth_swaps", swap_of_lanes<SIXTH, 0>),
    ONE(2, 32, "sixth_swaps_right", swap_of_lanes<SIXTH, 5>),
    ONE(2, 32, "all_swap_right", swap_of_lanes<CHAIN, 5>),
    ONE(2, 32, "message_scope", message_scope<cuda::thread_scope_block>),
    ONE(2, 32, "message_scope_right", message_scope<cuda::thread_scope_device>),
    TWINS(2, 32, overwritten_behind_flag), ONE(2, 32, "mailbox_right", mailbox),
    TWINS(2, 32, message_in_place), TWINS(3, BLOCK, pass_on),
    ONE(3, BLOCK, "locked_right", locked<RIGHT>),
    ONE(3, BLOCK, "locked_no_fence", locked<NO_LOCK_FENCE>),
    ONE(3, BLOCK, "locked_no_unlock_fence", locked<NO_UNLOCK_FENCE>),
    ONE(3, BLOCK, "locked_weak", locked<WEAK_UNLOCK>),
    ONE(3, BLOCK, "locked_block", locked<BLOCK_LOCK>), TWINS(3, BLOCK, locked_maximum),
    TWINS(3, BLOCK, add_blocks), ONE(4, BLOCK, "total_of_blocks", total_of_blocks<false>),
    RUN("total_of_blocks_right", cooperative(total_of_blocks<true>, d_in, d_out)),
    TWINS(3, BLOCK, scope_of_atomic),
    ONE(1, BLOCK, "scope_of_atomic_one_block_right", scope_of_atomic<false>),
    TWINS(1, BLOCK, exchange_in_block), TWINS(2, BLOCK, neighbour_blocks),
    RUN("across_grid", cooperative(across_grid<false>, d_in, d_out)),
    RUN("across_grid_right", cooperative(across_grid<true>, d_in, d_out)),
    ONE(3, BLOCK, "bytes_shared", bytes_shared_by_blocks<false>),
    ONE(3, BLOCK, "bytes_shared_right", bytes_shared_by_blocks<true>),
    RUN("two_launches_right", exchange_in_block<true><<<1, BLOCK>>>(d_in, d_out);
        neighbour_blocks<true><<<2, 32>>>(d_in, d_out)),
    TWINS(1, 64, warps_by_flag),
};

CORPUS_MAIN(cases)
