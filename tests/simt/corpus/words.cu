// Weak and strong accesses to one word of global memory: what a strong one hides, and what it does
// not. Each has a twin that is right. Verdicts: see corpus.h.
#include <cuda/atomic>

#include "corpus.h"

__device__ unsigned ticket;
__device__ int total;
__device__ float real_total;
__device__ unsigned long long wide_total;

template <typename T> using DeviceRef = cuda::atomic_ref<T, cuda::thread_scope_device>;

// --- a plain store, and then an atomic operation of the same thread or block ---

// A block sets the sum to zero; others may have added to it already.
template <bool RIGHT> __global__ void init_then_add(const int *in, int *out) {
    if (!RIGHT && blockIdx.x == 0 && threadIdx.x == 0) *out = 0;  // LABEL init_then_add_store
    atomicAdd(out, in[threadIdx.x]);  // HAZARD init_then_add: race with init_then_add_store
}

// A barrier of the block says nothing to other blocks.
template <bool RIGHT> __global__ void init_barrier_add(const int *in, int *out) {
    if (!RIGHT && blockIdx.x == 0 && threadIdx.x == 0) *out = 0;  // LABEL init_barrier_add_store
    __syncthreads();
    atomicAdd(out, in[threadIdx.x]);  // HAZARD init_barrier_add: race with init_barrier_add_store
}

template <bool RIGHT> __global__ void init_wide(const int *in, int *out) {
    unsigned long long *sum = (unsigned long long *)out;
    if (threadIdx.x > 0) return;
    if (!RIGHT && blockIdx.x == 0) *sum = 0;  // LABEL init_wide_store
    atomicAdd(sum, (unsigned long long)in[1]);  // HAZARD init_wide: race with init_wide_store
}

// Between warps of one block, at the scope of the block.
template <bool RIGHT> __global__ void init_in_block(const int *in, int *out) {
    if (!RIGHT && threadIdx.x == 0) *out = 0;  // LABEL init_in_block_store
    if (threadIdx.x % 32 == 0)
        atomicAdd_block(out, in[1]);  // HAZARD init_in_block: race with init_in_block_store
}

// Whole warps store, and store again, volatile; others wait for that.
template <bool RIGHT> __global__ void store_then_volatile(const int *in, int *out) {
    volatile int *word = out + threadIdx.x;
    if (threadIdx.x >= 32) return;
    if (blockIdx.x == 0) {
        if (!RIGHT) out[threadIdx.x] = in[1];  // LABEL store_then_volatile_store
        asm volatile("" ::: "memory");
        *word = in[2];
    } else {
        // HAZARD-NEXT store_then_volatile: race with store_then_volatile_store
        while (*word == 0) {}
    }
}

// The other way round: a plain store behind other blocks' atomics.
template <bool RIGHT> __global__ void add_then_reset(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    atomicAdd(out, in[1]);  // LABEL add_then_reset_add
    if (!RIGHT && blockIdx.x == 2) *out = 0;  // HAZARD add_then_reset: race with add_then_reset_add
}

// --- a plain read, and then a strong one of the same thread ---

template <bool RIGHT> __global__ void read_then_poll(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        out[1] = RIGHT ? atomicAdd(&total, 0) : total;  // LABEL read_then_poll_read
        while (*(volatile int *)&total == 0) {}
    } else {
        atomicAdd(&total, in[5]);  // HAZARD read_then_poll: race with read_then_poll_read
    }
}

template <bool RIGHT> __global__ void read_then_acquire(const int *in, int *out) {
    DeviceRef<int> word(total);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        // HAZARD-NEXT read_then_acquire: race with read_then_acquire_store
        out[1] = RIGHT ? word.load(cuda::memory_order_relaxed) : total;
        while (word.load(cuda::memory_order_acquire) == 0) {}
    } else {
        word.store(in[5], cuda::memory_order_release);  // LABEL read_then_acquire_store
    }
}

// --- sums that the last one reads plainly, though its own addition told it nothing ---

enum { RIGHT, NO_RELEASE, NO_ACQUIRE, BLOCK_FENCE };

template <int KIND> __global__ void sum_by_ticket(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    atomicAdd(&total, in[blockIdx.x]);  // LABEL sum_by_ticket_add
    if (KIND == BLOCK_FENCE) __threadfence_block();
    if (KIND == RIGHT || KIND == NO_ACQUIRE) __threadfence();
    if (atomicAdd(&ticket, 1) < gridDim.x - 1) return;
    if (KIND != NO_ACQUIRE) __threadfence();
    // HAZARD-NEXT sum_no_release: race with sum_by_ticket_add
    // HAZARD-NEXT sum_no_acquire: race with sum_by_ticket_add
    // HAZARD-NEXT sum_block_fence: race with sum_by_ticket_add
    out[0] = total;
    ticket = 0;  // right: it has seen the tickets of all others
}

// Every thread adds, a barrier, one takes the ticket.
template <bool FENCE> __global__ void sum_of_threads(const int *in, int *out) {
    __shared__ bool last;
    atomicAdd(&real_total, (float)in[threadIdx.x]);  // LABEL sum_of_threads_add
    if (FENCE) __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (FENCE) __threadfence();
    // HAZARD-NEXT sum_of_threads: race with sum_of_threads_add
    if (last && threadIdx.x == 0) out[0] = (int)real_total;
}

// One block waits for the count of all, and takes the greatest.
template <bool FENCE> __global__ void greatest_of_blocks(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    atomicMax(&wide_total, (unsigned long long)in[blockIdx.x]);  // LABEL greatest_of_blocks_max
    if (FENCE) __threadfence();
    atomicAdd(&ticket, 1);
    if (blockIdx.x < gridDim.x - 1) return;
    while (*(volatile unsigned *)&ticket != gridDim.x) {}
    __threadfence();
    out[0] = (int)wide_total;  // HAZARD greatest_of_blocks: race with greatest_of_blocks_max
}

// The last warp of a block.
template <bool FENCE> __global__ void sum_of_warps(const int *in, int *out) {
    if (threadIdx.x % 32 > 0) return;
    atomicAdd(&total, in[threadIdx.x]);  // LABEL sum_of_warps_add
    if (FENCE) __threadfence_block();
    if (atomicAdd(&ticket, 1) < 3) return;
    __threadfence_block();
    out[0] = total;  // HAZARD sum_of_warps: race with sum_of_warps_add
}

// Right: the place that its own addition gave it is the last one, so the others have added.
__global__ void last_place(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    const int place = atomicAdd(&total, 1);
    out[1 + place] = in[place];
    if (place == (int)gridDim.x - 1) total = 0;
}

// --- stores of the same, which do not race with each other, and what comes behind the last one ---

#define AND_THEN asm volatile("" ::: "memory")

// One block stores something else behind its own store.
template <bool RIGHT> __global__ void same_then_other(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    *out = in[7];  // LABEL same_then_other_store
    AND_THEN;
    if (!RIGHT && blockIdx.x == 2) *out = in[8];  // HAZARD same_then_other: race with same_then_other_store
}

template <bool RIGHT> __global__ void same_bytes_then_other(const int *in, int *out) {
    unsigned char *mark = (unsigned char *)out;
    if (threadIdx.x > 0) return;
    mark[1] = (unsigned char)in[7];  // LABEL same_bytes_store
    AND_THEN;
    // HAZARD-NEXT same_bytes_then_other: race with same_bytes_store
    if (!RIGHT && blockIdx.x == 2) mark[1] = (unsigned char)in[8];
}

// Two warps; a lane of one reads what it stored, and what the other one did.
template <bool RIGHT> __global__ void same_then_read(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    out[t % 32] = 7;  // LABEL same_then_read_store
    if (RIGHT)
        __syncthreads();
    else
        __syncwarp();
    if (t == 40) out[64] = out[31];  // HAZARD same_then_read: race with same_then_read_store
}

// A warp's lanes add, and the last of them reads the sum without a barrier.
template <bool RIGHT> __global__ void add_then_read(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    atomicAdd(out, in[t]);  // LABEL add_then_read_add
    if (RIGHT) __syncwarp();
    if (t == 31) out[1] = *out;  // HAZARD add_then_read: race with add_then_read_add
}

// Atomic operations of two widths that overlap are not morally strong. The check takes them as if
// they were: libraries make atomics of bytes from those of words.
__global__ void mixed_widths(const int *in, int *out) {
    if (threadIdx.x == 0) atomicAdd((unsigned long long *)out, 1ull);
    if (threadIdx.x == 64) atomicAdd(out + 1, in[1]);  // SILENT mixed_widths: race
}

static const Case cases[] = {
    TWINS(3, BLOCK, init_then_add), TWINS(3, BLOCK, init_barrier_add), TWINS(3, BLOCK, init_wide),
    TWINS(1, BLOCK, init_in_block), TWINS(3, BLOCK, store_then_volatile),
    TWINS(3, BLOCK, add_then_reset), TWINS(3, BLOCK, read_then_poll),
    TWINS(3, BLOCK, read_then_acquire), ONE(3, BLOCK, "sum_right", sum_by_ticket<RIGHT>),
    ONE(3, BLOCK, "sum_no_release", sum_by_ticket<NO_RELEASE>),
    ONE(3, BLOCK, "sum_no_acquire", sum_by_ticket<NO_ACQUIRE>),
    ONE(3, BLOCK, "sum_block_fence", sum_by_ticket<BLOCK_FENCE>), TWINS(3, BLOCK, sum_of_threads),
    TWINS(3, BLOCK, greatest_of_blocks), TWINS(1, BLOCK, sum_of_warps),
    ONE(3, BLOCK, "last_place_right", last_place), ONE(1, BLOCK, "mixed_widths", mixed_widths),
    TWINS(3, BLOCK, same_then_other), TWINS(3, BLOCK, same_bytes_then_other),
    TWINS(1, 64, same_then_read), TWINS(1, 32, add_then_read),
};

CORPUS_MAIN(cases)
