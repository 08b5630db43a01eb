// Several threads access one word, some of them ordered and others not, with weak and strong accesses: which
// races a strong access hides from the checker, and which it does not. Each case has a right twin. Verdicts:
// see corpus.h.
#include <cuda/atomic>

#include "corpus.h"

#define AND_THEN asm volatile("" ::: "memory")

__device__ unsigned told[4];

__device__ void tell(unsigned *flag) {
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}

__device__ void await(unsigned *flag) {
    unsigned value;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    while (!value);
}

// All warps but one synchronise, or all.
__device__ void meet_without(unsigned left_out) {
    const unsigned warp = threadIdx.x / 32;
    if (left_out > 3)
        asm volatile("bar.sync 1, 128;" ::: "memory");
    else if (warp != left_out)
        asm volatile("bar.sync 2, 96;" ::: "memory");
}

// --- three blocks read, and the fourth waits for some of them ---

template <int LEFT_OUT> __global__ void blocks_read(int *word, int *out) {
    const int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    if (b < 3) {
        out[b] = *word;  // LABEL blocks_read
        tell(&told[b]);
        return;
    }
    for (int k = 0; k < 3; k++)
        if (k != LEFT_OUT) await(&told[k]);
    // HAZARD-NEXT blocks_read_first: race with blocks_read
    // HAZARD-NEXT blocks_read_second: race with blocks_read
    // HAZARD-NEXT blocks_read_third: race with blocks_read
    *word = 5;
}

// --- three lanes of a warp ---

template <unsigned MASK> __global__ void lanes_read(const int *in, int *out) {
    __shared__ int s[4];
    const unsigned t = threadIdx.x;
    if (t == 0) s[0] = in[0];
    __syncthreads();
    if (t < 3) out[t] = s[0];  // LABEL lanes_read
    if (MASK >> t & 1) __syncwarp(MASK);
    if (t == 3) s[0] = 5;  // HAZARD lanes_read: race with lanes_read
}

template <unsigned MASK> __global__ void lanes_read_global(int *word, int *out) {
    const unsigned t = threadIdx.x;
    if (t < 3) out[t] = word[200];  // LABEL lanes_read_global
    if (MASK >> t & 1) __syncwarp(MASK);
    if (t == 3) word[200] = 5;  // HAZARD lanes_read_global: race with lanes_read_global
}

// Two lanes read after a __syncwarp() that orders lane 0 before them, and one of them writes.
template <bool RIGHT> __global__ void lanes_behind(const int *in, int *out) {
    __shared__ int s[4];
    const unsigned t = threadIdx.x;
    if (t == 0) s[0] = in[0];
    __syncthreads();
    if (t == 0) out[t] = s[0];
    __syncwarp();
    if (t == 3 || t == 5) out[t] = s[0];  // LABEL lanes_behind
    if (RIGHT) __syncwarp();
    if (t == 5) s[0] = 5;  // HAZARD lanes_behind: race with lanes_behind
}

// --- three warps add, or store the same, and the fourth reads ---

template <int LEFT_OUT> __global__ void three_store(const int *in, int *out) {
    __shared__ unsigned char s[4];
    const unsigned t = threadIdx.x;
    if (t == 0) s[1] = 1;
    __syncthreads();
    if (t < 96) s[1] = 7;  // LABEL three_store
    AND_THEN;
    meet_without(LEFT_OUT);
    // HAZARD-NEXT three_store_first: race with three_store
    // HAZARD-NEXT three_store_second: race with three_store
    if (t == 96) out[0] = s[1];
}

// --- a warp that only arrives at a barrier releases its own earlier accesses, and nothing else ---

// The second warp arrives before it acquires from the first, so the waiting warp is not ordered after the first.
template <bool RIGHT> __global__ void learns_behind_arrival(const int *in, int *out) {
    __shared__ int s[32];
    const unsigned t = threadIdx.x;
    if (t < 32) {
        s[t] = in[t];  // LABEL learns_behind_arrival
        __syncwarp();
        if (t == 0) tell(&told[0]);
    } else if (t < 64) {
        if (RIGHT) await(&told[0]);
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        if (!RIGHT) await(&told[0]);
    } else if (t < 96) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[t - 64];  // HAZARD learns_behind_arrival: race with learns_behind_arrival
    }
}

// --- three blocks, the second of which passes the word on ---

template <bool RIGHT> __global__ void release_sequence(int *word, int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(told[0]);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        *word = 5;  // LABEL release_sequence
        flag.fetch_add(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (flag.load(cuda::memory_order_relaxed) < 1) {}
        if (RIGHT)
            flag.fetch_add(1, cuda::memory_order_relaxed);  // continues the release sequence
        else
            flag.store(2, cuda::memory_order_relaxed);  // begins a new release sequence
    } else if (blockIdx.x == 2) {
        while (flag.load(cuda::memory_order_acquire) < 2) {}
        out[0] = *word;  // HAZARD release_sequence: race with release_sequence
    }
}

// --- a thread that reads what its atomic operation returned is ordered after earlier ones, in shared memory too ---

template <bool LOOKS> __global__ void last_of_block(const int *in, int *out) {
    __shared__ int count;
    const unsigned t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    if (LOOKS) {
        if (atomicAdd(&count, 1) == (int)blockDim.x - 1) out[0] = count;
    } else {
        atomicAdd(&count, 1);  // LABEL last_of_block
        if (t % 32 == 31) out[1 + t / 32] = count;  // HAZARD last_of_block: race with last_of_block
    }
}

__device__ unsigned ticket;
__device__ int total;
__device__ float real_total;
__device__ unsigned long long wide_total;

// --- a plain store, then an atomic operation of the same thread or block ---

template <bool RIGHT> __global__ void init_wide(const int *in, int *out) {
    unsigned long long *sum = (unsigned long long *)out;
    if (threadIdx.x > 0) return;
    if (!RIGHT && blockIdx.x == 0) *sum = 0;  // LABEL init_wide_store
    atomicAdd(sum, (unsigned long long)in[1]);  // HAZARD init_wide: race with init_wide_store
}

// A plain store after other blocks' atomics.
template <bool RIGHT> __global__ void add_then_reset(const int *in, int *out) {
    if (threadIdx.x > 0) return;
    atomicAdd(out, in[1]);  // LABEL add_then_reset_add
    if (!RIGHT && blockIdx.x == 2) *out = 0;  // HAZARD add_then_reset: race with add_then_reset_add
}

// --- sums that the last thread reads plainly, though its own addition orders nothing ---

enum { RIGHT, NO_RELEASE, NO_ACQUIRE, BLOCK_FENCE };

// Every thread adds; after a barrier one thread takes the ticket.
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

// One block waits until all have counted, and reads the maximum.
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

// --- stores of the same value, which do not race with each other, and accesses after the last one ---

// One block stores another value after its own store.
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

static const Case cases[] = {
    ONE(4, 32, "blocks_read_first", blocks_read<0>), ONE(4, 32, "blocks_read_second", blocks_read<1>),
    ONE(4, 32, "blocks_read_third", blocks_read<2>), ONE(4, 32, "blocks_read_right", blocks_read<4>),
    ONE(1, 32, "lanes_read", lanes_read<0xd>), ONE(1, 32, "lanes_read_right", lanes_read<0xf>),
    ONE(1, 32, "lanes_read_global", lanes_read_global<0xd>),
    ONE(1, 32, "lanes_read_global_right", lanes_read_global<0xf>), TWINS(1, 32, lanes_behind),
    ONE(1, BLOCK, "three_store_first", three_store<0>),
    ONE(1, BLOCK, "three_store_second", three_store<1>),
    ONE(1, BLOCK, "three_store_right", three_store<4>), TWINS(1, BLOCK, learns_behind_arrival),
    TWINS(4, 32, release_sequence), TWINS(1, BLOCK, last_of_block),
    TWINS(3, BLOCK, init_wide), TWINS(3, BLOCK, add_then_reset), TWINS(3, BLOCK, sum_of_threads),
    TWINS(3, BLOCK, greatest_of_blocks), TWINS(3, BLOCK, same_then_other),
    TWINS(3, BLOCK, same_bytes_then_other), TWINS(1, 64, same_then_read), TWINS(1, 32, add_then_read),
};

CORPUS_MAIN(cases)
