// Where some threads are ordered and others are not: what the third of several did that accessed the
// same word. Each has a twin that is right. Verdicts: see corpus.h.
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

// All warps but one meet, or all.
__device__ void meet_without(unsigned left_out) {
    const unsigned warp = threadIdx.x / 32;
    if (left_out > 3)
        asm volatile("bar.sync 1, 128;" ::: "memory");
    else if (warp != left_out)
        asm volatile("bar.sync 2, 96;" ::: "memory");
}

// --- three warps read, and the fourth writes ---

template <int LEFT_OUT> __global__ void three_read(const int *in, int *out) {
    __shared__ int s[4];
    const unsigned t = threadIdx.x;
    if (t == 0) s[0] = in[0];
    __syncthreads();
    if (t < 96) out[t] = s[0];  // LABEL three_read
    meet_without(LEFT_OUT);
    // HAZARD-NEXT three_read_first: race with three_read
    // HAZARD-NEXT three_read_second: race with three_read
    // HAZARD-NEXT three_read_third: race with three_read
    if (t == 96) s[0] = 5;
}

template <int LEFT_OUT> __global__ void three_read_global(int *word, int *out) {
    const unsigned t = threadIdx.x;
    if (t < 96) out[t] = word[200];  // LABEL three_read_global
    meet_without(LEFT_OUT);
    // HAZARD-NEXT three_read_global_first: race with three_read_global
    // HAZARD-NEXT three_read_global_second: race with three_read_global
    // HAZARD-NEXT three_read_global_third: race with three_read_global
    if (t == 96) word[200] = 5;
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

// Of two lanes that read behind a lane of which a __syncwarp() says that it is past, one writes.
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

template <int LEFT_OUT> __global__ void three_add(const int *in, int *out) {
    __shared__ int s[4];
    const unsigned t = threadIdx.x;
    if (t == 0) s[0] = in[0];
    __syncthreads();
    if (t < 96) atomicAdd(&s[0], 1);  // LABEL three_add
    meet_without(LEFT_OUT);
    // HAZARD-NEXT three_add_first: race with three_add
    // HAZARD-NEXT three_add_third: race with three_add
    if (t == 96) out[0] = s[0];
}

template <int LEFT_OUT> __global__ void three_add_global(int *word, int *out) {
    const unsigned t = threadIdx.x;
    if (t < 96) atomicAdd(word, 1);  // LABEL three_add_global
    meet_without(LEFT_OUT);
    // HAZARD-NEXT three_add_global_first: race with three_add_global
    // HAZARD-NEXT three_add_global_third: race with three_add_global
    if (t == 96) out[0] = *word;
}

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

template <int LEFT_OUT> __global__ void three_store_global(int *word, int *out) {
    const unsigned t = threadIdx.x;
    if (t < 96) word[3] = 7;  // LABEL three_store_global
    AND_THEN;
    meet_without(LEFT_OUT);
    // HAZARD-NEXT three_store_global_first: race with three_store_global
    // HAZARD-NEXT three_store_global_second: race with three_store_global
    if (t == 96) out[0] = word[3];
}

// --- who only arrives at a barrier says what it did, and learns nothing ---

template <bool RIGHT> __global__ void arrive_only(const int *in, int *out) {
    __shared__ int s[32];
    const unsigned t = threadIdx.x;
    if (t < 32) {
        s[t] = in[t];  // LABEL arrive_only
        if (RIGHT)
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        else
            asm volatile("bar.sync 1, 64;" ::: "memory");
    } else if (t < 64) {
        if (RIGHT)
            asm volatile("bar.sync 1, 64;" ::: "memory");
        else
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        out[t] = s[t - 32];  // HAZARD arrive_only: race with arrive_only
    }
}

// What it does behind its arrival is not part of that.
template <bool RIGHT> __global__ void behind_arrival(const int *in, int *out) {
    __shared__ int s[32];
    const unsigned t = threadIdx.x;
    if (t < 32) {
        if (RIGHT) s[t] = in[t];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        if (!RIGHT) s[t] = in[t];  // LABEL behind_arrival
    } else if (t < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[t - 32];  // HAZARD behind_arrival: race with behind_arrival
    }
}

// Nor is what it learns there: who waits has heard nothing of the first warp.
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

// --- three blocks, of which the second passes the word on ---

template <bool RIGHT> __global__ void release_sequence(int *word, int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(told[0]);
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        *word = 5;  // LABEL release_sequence
        flag.fetch_add(1, cuda::memory_order_release);
    } else if (blockIdx.x == 1) {
        while (flag.load(cuda::memory_order_relaxed) < 1) {}
        if (RIGHT)
            flag.fetch_add(1, cuda::memory_order_relaxed);  // goes on with what was released
        else
            flag.store(2, cuda::memory_order_relaxed);  // begins anew
    } else if (blockIdx.x == 2) {
        while (flag.load(cuda::memory_order_acquire) < 2) {}
        out[0] = *word;  // HAZARD release_sequence: race with release_sequence
    }
}

// --- who looks at what an atomic operation found knows what came before it, in shared memory too ---

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

static const Case cases[] = {
    ONE(1, BLOCK, "three_read_first", three_read<0>),
    ONE(1, BLOCK, "three_read_second", three_read<1>),
    ONE(1, BLOCK, "three_read_third", three_read<2>),
    ONE(1, BLOCK, "three_read_right", three_read<4>),
    ONE(1, BLOCK, "three_read_global_first", three_read_global<0>),
    ONE(1, BLOCK, "three_read_global_second", three_read_global<1>),
    ONE(1, BLOCK, "three_read_global_third", three_read_global<2>),
    ONE(1, BLOCK, "three_read_global_right", three_read_global<4>),
    ONE(4, 32, "blocks_read_first", blocks_read<0>),
    ONE(4, 32, "blocks_read_second", blocks_read<1>),
    ONE(4, 32, "blocks_read_third", blocks_read<2>),
    ONE(4, 32, "blocks_read_right", blocks_read<4>), ONE(1, 32, "lanes_read", lanes_read<0xd>),
    ONE(1, 32, "lanes_read_right", lanes_read<0xf>),
    ONE(1, 32, "lanes_read_global", lanes_read_global<0xd>),
    ONE(1, 32, "lanes_read_global_right", lanes_read_global<0xf>), TWINS(1, 32, lanes_behind),
    ONE(1, BLOCK, "three_add_first", three_add<0>), ONE(1, BLOCK, "three_add_third", three_add<2>),
    ONE(1, BLOCK, "three_add_right", three_add<4>),
    ONE(1, BLOCK, "three_add_global_first", three_add_global<0>),
    ONE(1, BLOCK, "three_add_global_third", three_add_global<2>),
    ONE(1, BLOCK, "three_add_global_right", three_add_global<4>),
    ONE(1, BLOCK, "three_store_first", three_store<0>),
    ONE(1, BLOCK, "three_store_second", three_store<1>),
    ONE(1, BLOCK, "three_store_right", three_store<4>),
    ONE(1, BLOCK, "three_store_global_first", three_store_global<0>),
    ONE(1, BLOCK, "three_store_global_second", three_store_global<1>),
    ONE(1, BLOCK, "three_store_global_right", three_store_global<4>), TWINS(1, BLOCK, arrive_only),
    TWINS(1, BLOCK, behind_arrival), TWINS(1, BLOCK, learns_behind_arrival),
    TWINS(4, 32, release_sequence), TWINS(1, BLOCK, last_of_block),
};

CORPUS_MAIN(cases)
