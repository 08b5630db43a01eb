// Unordered volatile accesses: locks, last blocks, flags, sequence locks and similar code, each with a
// missing fence or barrier and with a right twin; then, as side_*, new versions of the cases of a published
// suite of scoped races (ScoR: Kamath, George, Basu, 2020). Verdicts: see corpus.h.
#include "corpus.h"

struct Memory {
    int lock, flag, count, seq, data[240], more[240];
};
#define V(word) (*(volatile int *)&(word))

enum Scope { NONE, CTA, DEVICE };  // of a fence that may be missing, of an atomic operation
template <Scope S> __device__ void fence() {
    if (S == CTA) __threadfence_block();
    if (S == DEVICE) __threadfence();
}
#define SWAP_IF(scope, word, old, now)                                                             \
    ((scope) == CTA ? atomicCAS_block(word, old, now) : atomicCAS(word, old, now))
#define EXCHANGE(scope, word, now)                                                                 \
    ((scope) == CTA ? atomicExch_block(word, now) : atomicExch(word, now))

// --- locks ---

// ATOM: scope of the lock's operations; TAKE, GIVE: of the fences after taking and before releasing it.
template <Scope ATOM, Scope TAKE, Scope GIVE> __global__ void locked(Memory *m) {
    if (threadIdx.x % 32) return;
    while (SWAP_IF(ATOM, &m->lock, 0, 1)) {}  // HAZARD lock_block_atomics: race or volatile
    fence<TAKE>();
    // HAZARD-NEXT lock_no_fences: unordered volatile
    // HAZARD-NEXT lock_no_acquire_fence: unordered volatile
    // HAZARD-NEXT lock_no_release_fence: unordered volatile
    // HAZARD-NEXT lock_block_fences: unordered volatile
    V(m->data[0]) = V(m->data[0]) + 1;  // LABEL lock_block_atomics
    fence<GIVE>();
    EXCHANGE(ATOM, &m->lock, 0);  // LABEL lock_block_atomics
}

__global__ void racy_minimum(Memory *m) {
    const int mine = -(int)blockIdx.x - 1;
    if (threadIdx.x) return;
    if (mine < V(m->data[0])) V(m->data[0]) = mine;  // HAZARD racy_minimum: unordered volatile
}

// --- the last block ---

// BEFORE the ticket, AFTER it: the programming guide has a fence before it, and none after it.
template <Scope BEFORE, Scope AFTER> __global__ void last_block(Memory *m) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        V(m->more[blockIdx.x]) = blockIdx.x + 1;  // LABEL last
        fence<BEFORE>();
        last = atomicAdd(&m->count, 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    fence<AFTER>();
    int sum = 0;
    for (int i = 0; i < (int)gridDim.x; i++)
        // HAZARD-NEXT last_block_no_fence: unordered volatile with last
        sum += V(m->more[i]);  // HAZARD last_block_block_fence: unordered volatile with last
    if (threadIdx.x == 0) V(m->data[0]) = sum;
}

// The guide continues so: thread 0 overwrites what all lanes have read.
__global__ void last_block_result(Memory *m) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        V(m->more[blockIdx.x]) = blockIdx.x + 1;
        __threadfence();
        last = atomicInc((unsigned *)&m->count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (int i = 0; i < (int)gridDim.x; i++) sum += V(m->more[i]);
    if (threadIdx.x == 0) V(m->more[0]) = sum, m->count = 0;
}

// --- flags ---

template <unsigned WRITER, Scope GIVE, Scope TAKE> __global__ void flagged(Memory *m) {
    if (blockIdx.x == WRITER) {
        V(m->data[1]) = 7;  // LABEL flagged_data
        fence<GIVE>();
        V(m->flag) = 1;
    } else {
        while (V(m->flag) == 0) {}
        fence<TAKE>();
        // HAZARD-NEXT flag_no_release: unordered volatile with flagged_data
        // HAZARD-NEXT flag_block_fence: unordered volatile with flagged_data
        // HAZARD-NEXT flag_reader_first: unordered volatile with flagged_data
        V(m->data[0]) = V(m->data[1]);
    }
}

template <bool RIGHT> __global__ void flag_not_polled(Memory *m) {
    if (blockIdx.x == 0) {
        V(m->data[1]) = 7;  // LABEL flag_not_polled
        __threadfence();
        V(m->flag) = 1;  // LABEL flag_not_polled
    } else if (RIGHT) {
        if (V(m->flag)) __threadfence(), V(m->data[0]) = V(m->data[1]);
    } else {
        const int ready = V(m->flag);  // HAZARD flag_not_polled: unordered volatile
        V(m->data[0]) = ready + V(m->data[1]);  // LABEL flag_not_polled
    }
}

__global__ void stop_flag(Memory *m) {
    if (blockIdx.x == 1) {
        V(m->flag) = 1;
    } else {
        int k = 0;
        while (!V(m->flag)) m->more[k++ % 128] = k;
        m->data[0] = k > 0;
    }
}

template <bool RIGHT, unsigned WRITER = 0> __global__ void seqlock(Memory *m) {
    if (blockIdx.x == WRITER) {
        for (int k = 1; k < 5; k++) {
            V(m->seq) = 2 * k - 1;
            __threadfence();
            V(m->data[1]) = k;  // LABEL seqlock
            V(m->data[2]) = -k;  // LABEL seqlock
            __threadfence();
            V(m->seq) = 2 * k;
        }
    } else if (RIGHT) {
        int before, after, a, b;
        do {
            before = V(m->seq);
            __threadfence();
            a = V(m->data[1]);
            b = V(m->data[2]);
            __threadfence();
            after = V(m->seq);
        } while (before != after || before & 1);
        V(m->data[0]) = a + b;
    } else {
        V(m->data[0]) = V(m->data[1]) + V(m->data[2]);  // HAZARD seqlock: unordered volatile
    }
}

// --- within a block, within a warp ---

template <bool RIGHT> __global__ void two_buffers(Memory *m) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < 6; k++) {
        volatile int *buffer = k % 2 ? m->more : m->data + 32;
        if (warp == 0) buffer[lane] = k + lane;  // HAZARD two_buffers: unordered volatile
        if (RIGHT) __syncthreads();
        if (warp == 1) V(m->data[lane]) = buffer[31 - lane];  // LABEL two_buffers
    }
}

template <bool RIGHT> __global__ void warp_tail(Memory *m) {
    const int t = threadIdx.x;
    m->data[t] = t;
    m->data[t + 32] = 0;
    __syncwarp();
    for (int s = 16; s > 0; s /= 2) {
        const int more = V(m->data[t + s]);  // LABEL warp_tail
        if (RIGHT) __syncwarp();
        V(m->data[t]) = V(m->data[t]) + more;  // HAZARD warp_tail: unordered volatile
        if (RIGHT) __syncwarp();
    }
}

// Any thread may set "changed" to 1; barriers separate that from other stores to it.
__global__ void frontier(Memory *m) {
    const int t = threadIdx.x;
    for (int round = 0; round < 40; round++) {
        __syncthreads();
        if (t == 0) V(m->flag) = 0;
        __syncthreads();
        if (V(m->more[t]) == 0 && t > 0 && (t == 1 || V(m->more[t - 1]) == round)) V(m->flag) = 1;
        __syncthreads();
        if (V(m->flag) && t == round + 1) V(m->more[t]) = round + 1;
        __syncthreads();
        if (!V(m->flag)) break;
    }
    V(m->data[t]) = V(m->more[t]);
}

// --- beside atomic operations and plain accesses ---

template <bool RIGHT> __global__ void atomic_and_store(Memory *m) {
    if (blockIdx.x == 0)
        atomicExch(&m->data[0], 1);  // LABEL atomic_and_store
    else if (RIGHT)
        atomicExch(&m->data[0], 2);
    else
        V(m->data[0]) = 2;  // HAZARD atomic_and_store: unordered volatile with atomic_and_store
}

// A word to which others have only added, and one to which a store came first.
__global__ void store_then_atomic(Memory *m) {
    atomicAdd(&m->count, 1);
    if (blockIdx.x == 0)
        V(m->data[0]) = 2;  // LABEL store_then_atomic
    else
        atomicAdd(&m->data[0], 1);  // HAZARD store_then_atomic: unordered volatile with store_then_atomic
}

__global__ void plain_and_volatile(Memory *m) {
    if (blockIdx.x == 0)
        V(m->data[1]) = 2;  // LABEL plain_and_volatile
    else
        m->data[0] = m->data[1];  // HAZARD plain_and_volatile: race with plain_and_volatile
}

// Status and sum in one word.
__global__ void lookback_packed(Memory *m) {
    volatile unsigned long long *tile = (volatile unsigned long long *)m->more;
    const unsigned mine = blockIdx.x + 1;
    tile[blockIdx.x] = 1ull << 32 | mine;
    unsigned sum = mine;
    for (int back = (int)blockIdx.x - 1; back >= 0; back--) {
        unsigned long long seen;
        do {
            seen = tile[back];
        } while (seen >> 32 == 0);
        sum += (unsigned)seen;
        if (seen >> 32 == 2) break;
    }
    tile[blockIdx.x] = 2ull << 32 | sum;
    m->data[blockIdx.x] = sum;
}

// Treiber's stack: blocks push, then one block waits for all and traverses it.
__global__ void stack(Memory *m) {
    const int node = blockIdx.x + 1;
    if (blockIdx.x < 5) {
        int head = V(m->lock);
        while (true) {
            V(m->more[node]) = head;
            __threadfence();
            const int seen = atomicCAS(&m->lock, head, node);
            if (seen == head) break;
            head = seen;
        }
        atomicAdd(&m->count, 1);
        return;
    }
    while (V(m->count) < 5) {}
    __threadfence();
    int sum = 0;
    for (int at = V(m->lock); at; at = V(m->more[at])) sum += at;
    m->data[0] = sum;
}

// Persistent blocks take work from a list whose end grows.
__global__ void work_list(Memory *m) {
    if (blockIdx.x == 0) {
        for (int k = 0; k < 20; k++) {
            V(m->more[k]) = k + 1;
            __threadfence();
            V(m->seq) = k + 1;
        }
        __threadfence();
        V(m->flag) = 1;
        return;
    }
    while (true) {
        const int at = V(m->count);
        if (at < V(m->seq)) {
            if (atomicCAS(&m->count, at, at + 1) != at) continue;
            __threadfence();
            atomicAdd(&m->data[0], V(m->more[at]));
        } else if (V(m->flag) && at >= 20) {
            break;
        }
    }
}

// --- two sides: two blocks, or two warps of one block ---

__device__ bool is_side(unsigned side) {
    return gridDim.x > 1 ? blockIdx.x == side : threadIdx.x == side * 32;
}

template <Scope ATOM, Scope TAKE, Scope GIVE> struct Locked {
    static __device__ void store(Memory *m, int value) {
        if (ATOM) while (SWAP_IF(ATOM, &m->lock, 0, 1)) {}  // HAZARD side_locks_of_blocks: race or volatile
        fence<TAKE>();
        // HAZARD-NEXT side_fences_of_blocks: unordered volatile
        // HAZARD-NEXT side_no_take: unordered volatile
        // HAZARD-NEXT side_no_give: unordered volatile
        // HAZARD-NEXT side_one_locks: unordered volatile
        // HAZARD-NEXT side_warps_no_give: unordered volatile
        // HAZARD-NEXT side_warps_mixed_no_give: unordered volatile
        // HAZARD-NEXT side_warps_one_locks: unordered volatile
        // HAZARD-NEXT side_warps_one_locks_far: unordered volatile
        V(m->data[0]) = value;  // LABEL side_locks_of_blocks
        fence<GIVE>();
        if (ATOM) EXCHANGE(ATOM, &m->lock, 0);  // LABEL side_locks_of_blocks
    }
};
typedef Locked<NONE, NONE, NONE> Bare;

template <class A, class B> __global__ void side_stores(Memory *m) {
    if (is_side(0)) A::store(m, 1);
    if (is_side(1)) B::store(m, 2);
}

// The word is stored or read again after the unlock.
__global__ void side_behind_unlock(Memory *m) {
    if (!is_side(0) && !is_side(1)) return;
    while (atomicCAS(&m->lock, 0, 1)) {}
    __threadfence();
    V(m->more[is_side(0)]) = V(m->data[0]);  // LABEL side_behind_unlock
    __threadfence();
    atomicExch(&m->lock, 0);
    if (is_side(0)) V(m->data[0]) = 1;  // HAZARD side_behind_unlock: unordered volatile
}

template <Scope A, Scope B> __global__ void side_atomics(Memory *m) {
    if (is_side(0)) EXCHANGE(A, &m->data[0], 1);  // LABEL side_atomics
    // HAZARD-NEXT side_block_atomics: race with side_atomics
    // HAZARD-NEXT side_atomic_and_store: unordered volatile with side_atomics
    // HAZARD-NEXT side_warps_atomic_and_store: unordered volatile with side_atomics
    // HAZARD-NEXT side_warps_block_atomic_and_store: unordered volatile with side_atomics
    if (is_side(1) && (B || (V(m->data[0]) = 2) == 0)) EXCHANGE(B, &m->data[0], 2);
}

template <Scope GIVE> __global__ void side_flag(Memory *m) {
    if (is_side(0)) {
        V(m->data[0]) = 1;  // LABEL side_flag_store
        fence<GIVE>();
        atomicExch(&m->flag, 1);
    } else if (is_side(1)) {
        while (atomicExch(&m->flag, 0) == 0) {}
        m->more[0] = V(m->data[0]);  // HAZARD side_flag_of_block: unordered volatile with side_flag_store
    }
}

__global__ void side_read_again(Memory *m) {
    if (is_side(0)) {
        m->more[0] = V(m->data[0]);
        __threadfence();
        atomicExch(&m->flag, 1);
        m->more[0] = V(m->data[0]);  // HAZARD side_read_again: unordered volatile
    } else if (is_side(1)) {
        while (atomicExch(&m->flag, 0) == 0) {}
        V(m->data[0]) = 1;  // LABEL side_read_again
    }
}

#define CASE(name, blocks, threads, ...) RUN(name, __VA_ARGS__<<<blocks, threads>>>((Memory *)d_out))
#define BOTH(name, blocks, threads, kernel)                                                        \
    CASE(name, blocks, threads, kernel<false>), CASE(name "_right", blocks, threads, kernel<true>)
typedef Locked<DEVICE, DEVICE, DEVICE> Far;
typedef Locked<CTA, CTA, CTA> Near;

static const Case cases[] = {
    CASE("lock_right", 4, 32, locked<DEVICE, DEVICE, DEVICE>),
    CASE("lock_no_fences", 4, 32, locked<DEVICE, NONE, NONE>),
    CASE("lock_no_acquire_fence", 4, 32, locked<DEVICE, NONE, DEVICE>),
    CASE("lock_no_release_fence", 4, 32, locked<DEVICE, DEVICE, NONE>),
    CASE("lock_block_fences", 4, 32, locked<DEVICE, CTA, CTA>),
    CASE("lock_block_atomics", 4, 32, locked<CTA, DEVICE, DEVICE>),
    CASE("lock_in_block_right", 1, 128, locked<CTA, CTA, CTA>),
    CASE("racy_minimum", 4, 32, racy_minimum),
    CASE("last_block_guide_right", 5, 64, last_block<DEVICE, NONE>),
    CASE("last_block_two_fences_right", 5, 64, last_block<DEVICE, DEVICE>),
    CASE("last_block_no_fence", 5, 64, last_block<NONE, NONE>),
    CASE("last_block_block_fence", 5, 64, last_block<CTA, NONE>),
    CASE("last_block_result_right", 5, 32, last_block_result),
    CASE("flag_right", 2, 1, flagged<0, DEVICE, DEVICE>),
    CASE("flag_no_acquire_right", 2, 1, flagged<0, DEVICE, NONE>),
    CASE("flag_no_release", 2, 1, flagged<0, NONE, DEVICE>),
    CASE("flag_block_fence", 2, 1, flagged<0, CTA, DEVICE>),
    CASE("flag_reader_first", 2, 1, flagged<1, NONE, DEVICE>),
    BOTH("flag_not_polled", 2, 1, flag_not_polled), CASE("stop_flag_right", 2, 1, stop_flag),
    BOTH("seqlock", 2, 1, seqlock), CASE("seqlock_reader_first_right", 2, 1, seqlock<true, 1>),
    BOTH("two_buffers", 1, 64, two_buffers), BOTH("warp_tail", 1, 32, warp_tail),
    CASE("frontier_right", 1, 64, frontier), BOTH("atomic_and_store", 2, 1, atomic_and_store),
    CASE("store_then_atomic", 2, 1, store_then_atomic),
    CASE("plain_and_volatile", 2, 1, plain_and_volatile),
    CASE("lookback_packed_right", 8, 1, lookback_packed), CASE("stack_right", 6, 1, stack),
    CASE("work_list_right", 4, 1, work_list), CASE("side_locks_right", 2, 1, side_stores<Far, Far>),
    CASE("side_locks_of_blocks", 2, 1, side_stores<Near, Near>),
    CASE("side_fences_of_blocks", 2, 1, side_stores<Locked<DEVICE, CTA, CTA>, Locked<DEVICE, CTA, CTA>>),
    CASE("side_no_take", 2, 1, side_stores<Locked<DEVICE, NONE, DEVICE>, Locked<DEVICE, NONE, DEVICE>>),
    CASE("side_no_give", 2, 1, side_stores<Locked<DEVICE, DEVICE, NONE>, Locked<DEVICE, DEVICE, NONE>>),
    CASE("side_one_locks", 2, 1, side_stores<Far, Bare>),
    CASE("side_warps_lock_right", 1, 33, side_stores<Near, Near>),
    CASE("side_warps_mixed_right", 1, 33, side_stores<Far, Near>),
    CASE("side_warps_no_give", 1, 33, side_stores<Locked<CTA, CTA, NONE>, Near>),
    CASE("side_warps_mixed_no_give", 1, 33, side_stores<Locked<DEVICE, DEVICE, NONE>, Near>),
    CASE("side_warps_one_locks", 1, 33, side_stores<Near, Bare>),
    CASE("side_warps_one_locks_far", 1, 33, side_stores<Far, Bare>),
    CASE("side_behind_unlock", 2, 1, side_behind_unlock),
    CASE("side_atomics_right", 2, 1, side_atomics<DEVICE, DEVICE>),
    CASE("side_block_atomics", 2, 1, side_atomics<CTA, CTA>),
    CASE("side_atomic_and_store", 2, 1, side_atomics<DEVICE, NONE>),
    CASE("side_warps_block_atomics_right", 1, 33, side_atomics<CTA, CTA>),
    CASE("side_warps_mixed_atomics_right", 1, 33, side_atomics<DEVICE, CTA>),
    CASE("side_warps_atomic_and_store", 1, 33, side_atomics<DEVICE, NONE>),
    CASE("side_warps_block_atomic_and_store", 1, 33, side_atomics<CTA, NONE>),
    CASE("side_flag_right", 2, 1, side_flag<DEVICE>), CASE("side_flag_of_block", 2, 1, side_flag<CTA>),
    CASE("side_warps_flag_right", 1, 33, side_flag<CTA>),
    CASE("side_warps_flag_far_right", 1, 33, side_flag<DEVICE>),
    CASE("side_read_again", 2, 1, side_read_again),
};

CORPUS_MAIN(cases)
