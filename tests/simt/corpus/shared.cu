// Races in shared memory, each with a twin that is right. Verdicts: see corpus.h.
#include <cooperative_groups.h>

#include "corpus.h"

namespace cg = cooperative_groups;

#define FULL 0xffffffffu

// A tree without barriers between the steps.
template <bool RIGHT> __global__ void tree(const int *in, int *out) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
#pragma unroll 1
    for (unsigned k = BLOCK / 2; k > 0; k >>= 1) {
        if (t < k) {
            s[t] = s[t] + s[t + k];  // HAZARD tree: race
        }
        if (RIGHT) __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}

// The last warp of a tree: volatile alone orders nothing between lanes.
template <int KIND> __global__ void last_warp(const int *in, int *out) {
    __shared__ volatile int s[64];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32 && KIND == 0) {
        s[t] = s[t] + s[t + 32];  // LABEL last_warp_volatile
        s[t] = s[t] + s[t + 16];  // HAZARD last_warp_volatile: race
        s[t] = s[t] + s[t + 8];   // HAZARD last_warp_volatile: race
        s[t] = s[t] + s[t + 4];   // HAZARD last_warp_volatile: race
        s[t] = s[t] + s[t + 2];   // HAZARD last_warp_volatile: race
        s[t] = s[t] + s[t + 1];   // HAZARD last_warp_volatile: race
    }
    if (t < 32 && KIND == 1) {  // a lane overwrites what its neighbour reads in the same step
        s[t] = s[t] + s[t + 32];
        __syncwarp();
        s[t] = s[t] + s[t + 16];  // HAZARD last_warp_half_synced: race
        __syncwarp();
    }
    if (t < 32 && KIND == 2) {
        int sum = s[t];
        for (int k = 32; k > 0; k /= 2) {
            sum += s[t + k];
            __syncwarp();
            s[t] = sum;
            __syncwarp();
        }
    }
    if (t < 32 && KIND == 3) {
        for (unsigned k = 32; k > 0; k /= 2) {
            if (t < k) s[t] = s[t] + s[t + k];
            __syncwarp();
        }
    }
    if (t == 0) out[0] = s[0];
}

template <bool RIGHT> __global__ void write_after_read(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    int next = s[(t + 1) % BLOCK];  // LABEL write_after_read_load
    if (RIGHT) __syncthreads();
    s[t] = next * 2;  // HAZARD write_after_read: race with write_after_read_load
    __syncthreads();
    out[t] = s[t];
}

// Shuffles and votes exchange registers; they do not order memory (CUDA C++ programming guide).
template <bool RIGHT> __global__ void shuffle_is_no_fence(const int *in, int *out) {
    __shared__ volatile int s[32];
    unsigned t = threadIdx.x;
    s[t] = in[t];  // LABEL shuffle_is_no_fence_store
    int v = __shfl_xor_sync(FULL, in[t], 1);
    if (RIGHT) __syncwarp();
    out[t] = v + s[t ^ 1];  // HAZARD shuffle_is_no_fence: race with shuffle_is_no_fence_store
}

template <bool RIGHT> __global__ void two_reads_then_add(const int *in, int *out) {
    __shared__ int s[32];
    unsigned t = threadIdx.x;
    if (t < 32) s[t] = in[t];
    __syncthreads();
    if (t < 64) out[t] = s[t % 32];  // LABEL two_reads_then_add
    if (RIGHT) __syncthreads();
    if (t < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t >= 64 && t < 96) asm volatile("bar.arrive 1, 64;" ::: "memory");
    if (t < 32) atomicAdd(&s[t], 1);  // HAZARD two_reads_then_add: race with two_reads_then_add
    __syncthreads();
    if (t < 32) out[t] += s[t];
}

// One byte of a word, and all of it.
template <bool RIGHT> __global__ void byte_then_add(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    ((volatile char *)s)[4 * t + 2] = 1;  // LABEL byte_then_add
    if (RIGHT) __syncthreads();
    if (t >= 32) atomicAdd(&s[t - 32], 1);  // HAZARD byte_then_add: race with byte_then_add
    __syncthreads();
    out[t] = s[t];
}

template <bool RIGHT> __global__ void add_to_nothing(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    if (RIGHT) s[t] = 0;
    atomicAdd(&s[t], in[t]);  // HAZARD add_to_nothing: uninitialized
    __syncthreads();
    out[t] = s[t];
}

template <bool RIGHT> __global__ void read_against_atomic(const int *in, int *out) {
    __shared__ int total;
    unsigned t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, in[t]);  // LABEL read_against_atomic_add
    if (RIGHT) __syncthreads();
    if (t == BLOCK - 1) out[0] = total;  // HAZARD read_against_atomic: race with read_against_atomic_add
}

// Warps of a block order each other through a volatile flag.
template <bool FENCE> __global__ void flag_between_warps(const int *in, int *out) {
    __shared__ int message;
    __shared__ volatile int ready;
    unsigned t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t == 0) {
        message = in[1];  // LABEL flag_between_warps
        if (FENCE) __threadfence_block();
        ready = 1;  // LABEL flag_between_warps
    } else if (t == 32) {
        while (ready == 0) {}  // HAZARD flag_between_warps: race with flag_between_warps
        __threadfence_block();
        out[0] = message;  // HAZARD flag_between_warps: race with flag_between_warps
    }
}

// All lanes call a fence, but the flag of one lane does not release the others' stores.
template <bool SYNC> __global__ void flag_of_lane(const int *in, int *out) {
    __shared__ int message[32];
    __shared__ volatile int ready;
    const unsigned t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        message[t] = in[t];  // LABEL flag_of_lane
        __threadfence_block();
        if (SYNC) __syncwarp();
        if (t == 0) ready = 1;
    } else if (t == 32) {
        while (ready == 0) {}
        __threadfence_block();
        out[0] = message[5];  // HAZARD flag_of_lane: race with flag_of_lane
    }
}

// Right: atomic operations do not race with each other.
__global__ void histogram(const int *in, int *out) {
    __shared__ int bins[8];
    unsigned t = threadIdx.x;
    if (t < 8) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[t] % 8], 1);
    atomicMax(&bins[0], 1);
    __syncthreads();
    if (t < 8) out[t] = bins[t];
}

// Every thread stores to one word: the same value is no hazard, different values are.
template <bool SAME> __global__ void all_store(const int *in, int *out) {
    __shared__ volatile int flag;
    unsigned t = threadIdx.x;
    flag = SAME ? 7 : in[t];  // HAZARD store_different: race
    __syncthreads();
    out[t] = flag;
}

template <bool RIGHT> __global__ void two_stores(const int *in, int *out) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x;
    if (t < 64) s[t] = in[t];  // LABEL two_stores_first
    if (RIGHT) __syncthreads();
    if (t >= 64) s[t - 32] = -in[t];  // HAZARD two_stores: race with two_stores_first
    __syncthreads();
    if (t < 96) out[t] = s[t];
}

// Two reductions use the same array: the second overwrites what the first still reads.
template <bool RIGHT> __global__ void reused_array(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    int total = 0;
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        s[t] = in[t + round];  // HAZARD reused_array: race with reused_array_load
        __syncthreads();
#pragma unroll 1
        for (unsigned k = BLOCK / 2; k > 0; k >>= 1) {
            if (t < k) s[t] += s[t + k];
            __syncthreads();
        }
        total += s[0];  // LABEL reused_array_load
        if (RIGHT) __syncthreads();
    }
    out[t] = total;
}

// One partial sum for each warp; then the first warp adds them up.
template <bool RIGHT> __global__ void warp_partials(const int *in, int *out) {
    __shared__ volatile int partial[BLOCK / 32];
    unsigned t = threadIdx.x;
    int sum = in[t];
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(FULL, sum, k);
    if (t % 32 == 0) partial[t / 32] = sum;  // LABEL warp_partials_store
    if (RIGHT) __syncthreads();
    if (t < 4) out[t] = partial[t];  // HAZARD warp_partials: race with warp_partials_store
}

template <bool RIGHT> __global__ void broadcast(const int *in, int *out) {
    __shared__ volatile int value;
    unsigned t = threadIdx.x;
    if (t == 0) value = in[5];  // LABEL broadcast_store
    if (RIGHT) __syncthreads();
    out[t] = value;  // HAZARD broadcast: race with broadcast_store
}

template <bool RIGHT> __global__ void vector_store(const int *in, int *out) {
    __shared__ int4 s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = make_int4(in[t], 1, 2, 3);  // LABEL vector_store_store
    if (RIGHT) __syncthreads();
    out[t] = ((volatile int *)s)[(t * 4 + 130) % 512];  // HAZARD vector_store: race with vector_store_store
}

extern __shared__ int dynamic[];
template <bool RIGHT> __global__ void dynamic_array(const int *in, int *out) {
    unsigned t = threadIdx.x;
    dynamic[t] = in[t];  // LABEL dynamic_array_store
    if (RIGHT) __syncthreads();
    out[t] = dynamic[BLOCK - 1 - t];  // HAZARD dynamic_array: race with dynamic_array_store
}

// Two arrays in dynamic shared memory, of which the second begins within the first.
__global__ void overlapping_arrays(const int *in, int *out, int rows) {
    int *index = dynamic, *value = dynamic + rows;
    const unsigned t = threadIdx.x;
    value[t] = in[t] + 500;  // LABEL overlapping_arrays
    index[t] = (int)t;  // HAZARD overlapping_arrays: race with overlapping_arrays
    __syncthreads();
    out[t] = value[t ^ 1] + index[t];
}

__device__ __noinline__ void put(int *place, int value) {
    *place = value;  // LABEL generic_pointer_store
}
template <bool RIGHT> __global__ void generic_pointer(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    put(s + t, in[t]);
    if (RIGHT) __syncthreads();
    out[t] = s[(t + 64) % BLOCK];  // HAZARD generic_pointer: race with generic_pointer_store
}

// The ticket of a last-block reduction, read twice.
template <bool RIGHT> __global__ void ticket(const int *in, int *out) {
    __shared__ volatile bool last;
    unsigned t = threadIdx.x;
    int seen = 0;
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        if (t == 0) last = in[round] == 1;  // HAZARD ticket: race with ticket_load
        __syncthreads();
        seen += last;  // LABEL ticket_load
        if (RIGHT) __syncthreads();
    }
    out[t] = seen;
}

// Tiles of sixteen threads: their barrier orders nothing between tiles.
template <bool RIGHT> __global__ void tiles(const int *in, int *out) {
    __shared__ volatile int s[32];
    unsigned t = threadIdx.x;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    s[t] = in[t];  // LABEL tiles_store
    tile.sync();
    out[t] = s[RIGHT ? t ^ 15 : t ^ 16];  // HAZARD tiles: race with tiles_store
}

// Many correct steps. BAD >= 0: in that step the barrier is missing.
template <int STEPS, int BAD> __global__ void many_steps(const int *in, int *out) {
    __shared__ volatile int s[64];
    unsigned t = threadIdx.x;
    int sum = in[t];
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        s[t] = sum;  // LABEL late_race_store
        if (step != BAD) __syncthreads();
        sum += s[63 - t] & 1;  // HAZARD late_race: race with late_race_store
        __syncthreads();
    }
    out[t] = sum;
}

// A byte of a word that others add to.
template <bool RIGHT> __global__ void byte_against_atomic(const int *in, int *out) {
    __shared__ int total[2];
    unsigned t = threadIdx.x;
    if (t < 2) total[t] = 0;
    __syncthreads();
    atomicAdd(total, in[t]);  // LABEL byte_against_atomic_add
    if (t == 100) ((volatile char *)total)[RIGHT ? 5 : 1] = 3;  // HAZARD byte_against_atomic: race with byte_against_atomic_add
    __syncthreads();
    out[t] = total[0] + total[1];
}

// Several warps store the same value: no hazard among them, but one with a reader.
template <bool RIGHT> __global__ void same_store_and_read(const int *in, int *out) {
    __shared__ volatile int found;
    unsigned t = threadIdx.x;
    if (t == 0) found = 0;
    __syncthreads();
    if (t < 64 && in[t] == 3) found = 1;  // LABEL same_store_and_read_store
    if (RIGHT) __syncthreads();
    if (t >= 64) out[t] = found;  // HAZARD same_store_and_read: race with same_store_and_read_store
}

// Two warps store the same value, which is no hazard; then a thread of one of them stores another value. It is
// ordered after its own store, but not after that of the other warp.
template <bool RIGHT> __global__ void same_store_and_other(const int *in, int *out) {
    __shared__ volatile int found;
    unsigned t = threadIdx.x;
    if (t % 32 == 0) found = in[7];  // LABEL same_store_and_other_store
    if (RIGHT) __syncthreads();
    if (t == 96) found = in[8];  // HAZARD same_store_and_other: race with same_store_and_other_store
    __syncthreads();
    out[t] = found;
}

// The same with two lanes of a warp.
template <bool RIGHT> __global__ void same_store_of_lanes(const int *in, int *out) {
    __shared__ volatile int found;
    unsigned t = threadIdx.x;
    if (t < 32) found = in[7];  // LABEL same_store_of_lanes_store
    if (RIGHT) __syncwarp();
    if (t == 31) found = in[8];  // HAZARD same_store_of_lanes: race with same_store_of_lanes_store
    __syncthreads();
    out[t] = found;
}

#define SHARED(p) ((unsigned)__cvta_generic_to_shared(p))
#define RELEASE(p, value) \
    asm volatile("st.release.cta.shared.s32 [%0], %1;" ::"r"(SHARED(p)), "r"(value) : "memory")
#define RELAXED(p, value) \
    asm volatile("st.relaxed.cta.shared.s32 [%0], %1;" ::"r"(SHARED(p)), "r"(value) : "memory")

__device__ int acquire(const int *flag) {
    int value;
    // HAZARD-NEXT flag_overwritten: race with flag_overwritten
    asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(value) : "r"(SHARED(flag)) : "memory");
    return value;
}

// A store that releases nothing overwrites another thread's release: the waiting thread sees only that store.
template <bool RIGHT> __global__ void flag_overwritten(const int *in, int *out) {
    __shared__ int data, flag;
    unsigned t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 0) {
        data = in[5];  // LABEL flag_overwritten_store
        RELEASE(&flag, 1);
    }
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t == 32 && RIGHT) RELEASE(&flag, 2);
    if (t == 32 && !RIGHT) asm volatile("st.shared.s32 [%0], 2;" ::"r"(SHARED(&flag)) : "memory");  // LABEL flag_overwritten
    if (t == 64) {
        while (acquire(&flag) != 2)
            ;
        out[0] = data;  // HAZARD flag_overwritten: race with flag_overwritten_store
    }
}

// The blocks run in turn. In the first ones a fence releases through two flags; in the last ones each thread has
// its own flag, and one thread waits for the wrong one.
template <bool RIGHT> __global__ void flag_of_another(const int *in, int *out) {
    __shared__ int data, flag, other;
    unsigned t = threadIdx.x;
    const bool last = blockIdx.x >= 6;
    if (t == 0) data = flag = other = 0;
    __syncthreads();
    if (t == 0) data = in[5];  // LABEL flag_of_another_store
    if (t == 0 && !last) {
        __threadfence_block();
        RELAXED(&flag, 2);
        RELAXED(&other, 2);
    }
    if (t == 0 && last) RELEASE(&flag, 2);
    if (t == 1 && last) RELEASE(&other, 2);
    if (t == 64) {
        while (acquire(RIGHT ? &flag : &other) != 2)
            ;
        out[blockIdx.x] = data;  // HAZARD flag_of_another: race with flag_of_another_store
    }
}

// Right: the lanes that still have work exchange words under the mask of those lanes.
__global__ void shrinking_mask(const int *in, int *out) {
    __shared__ volatile int s[32];
    unsigned t = threadIdx.x, mask = FULL;
    int rounds = in[t] % 5, sum = 0;
    for (int round = 0;; round++) {
        mask = __ballot_sync(mask, round < rounds);
        if (round >= rounds) break;
        s[t] = round + (int)t;
        __syncwarp(mask);
        sum += s[__ffs(mask) - 1];
        __syncwarp(mask);
    }
    out[t] = sum;
}

// --- whole warps access consecutive bytes, for the second time ---

// Two lanes have read each byte, and the first of them stores it.
template <bool RIGHT> __global__ void bytes_of_two_lanes(const int *in, int *out) {
    __shared__ volatile unsigned char s[BLOCK];
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = t; k < BLOCK; k += 32) s[k] = (unsigned char)in[k];
    __syncthreads();
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        sum += s[t];
        sum += s[t + 1];  // LABEL bytes_of_two_lanes_next
        if (RIGHT) __syncwarp();
        // HAZARD-NEXT bytes_of_two_lanes: race with bytes_of_two_lanes_next
        if (round) s[t] = (unsigned char)sum;
        __syncthreads();
    }
    out[t] = sum;
}

// All threads increment a counter without atomics: updates are lost.
template <bool RIGHT> __global__ void one_counter(const int *in, int *out) {
    __shared__ int n;
    if (threadIdx.x == 0) n = 0;
    __syncthreads();
    if (RIGHT)
        atomicAdd(&n, in[threadIdx.x] & 1);
    else
        n += in[threadIdx.x] & 1;  // HAZARD one_counter: race
    __syncthreads();
    out[threadIdx.x] = n;
}

// A loop around an atomicCAS(): a stale first read is tried again.
template <bool RIGHT> __global__ void cas_max(const int *in, int *out) {
    __shared__ float most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    int *at = (int *)&most, old = RIGHT ? atomicCAS(at, 0, 0) : *at, assumed;  // NOTE cas_max: race with cas_max_update
    do {
        assumed = old;
        old = atomicCAS(at, assumed, __float_as_int(fmaxf((float)in[threadIdx.x], __int_as_float(assumed))));  // LABEL cas_max_update
    } while (old != assumed);
    __syncthreads();
    out[threadIdx.x] = (int)most;
}

static const Case cases[] = {
    TWINS(1, BLOCK, cas_max), TWINS(1, BLOCK, one_counter), TWINS(1, BLOCK, flag_between_warps),
    TWINS(1, BLOCK, tree), ONE(1, 64, "last_warp_volatile", last_warp<0>),
    ONE(1, 64, "last_warp_half_synced", last_warp<1>), ONE(1, 64, "last_warp_right", last_warp<2>),
    ONE(1, 64, "last_warp_guarded_right", last_warp<3>), TWINS(1, BLOCK, write_after_read),
    TWINS(1, 32, bytes_of_two_lanes), TWINS(1, 32, shuffle_is_no_fence),
    TWINS(1, BLOCK, two_reads_then_add), TWINS(1, BLOCK, byte_then_add),
    TWINS(1, BLOCK, add_to_nothing), TWINS(1, BLOCK, read_against_atomic),
    TWINS(1, BLOCK, flag_of_lane), ONE(1, BLOCK, "histogram_right", histogram),
    ONE(1, BLOCK, "store_different", all_store<false>),
    ONE(1, BLOCK, "store_same_right", all_store<true>), TWINS(1, BLOCK, two_stores),
    TWINS(1, BLOCK, reused_array), TWINS(1, BLOCK, warp_partials), TWINS(1, BLOCK, broadcast),
    TWINS(1, BLOCK, vector_store),
    RUN("dynamic_array", dynamic_array<false><<<1, BLOCK, BLOCK * 4>>>(d_in, d_out)),
    RUN("overlapping_arrays", overlapping_arrays<<<1, BLOCK, BLOCK * 8>>>(d_in, d_out, 64)),
    RUN("overlapping_arrays_right", overlapping_arrays<<<1, BLOCK, BLOCK * 8>>>(d_in, d_out, BLOCK)),
    RUN("dynamic_array_right", dynamic_array<true><<<1, BLOCK, BLOCK * 4>>>(d_in, d_out)),
    TWINS(1, BLOCK, generic_pointer), TWINS(1, BLOCK, ticket), TWINS(1, 32, tiles),
    TWINS(1, BLOCK, byte_against_atomic), TWINS(1, BLOCK, same_store_and_read),
    TWINS(1, BLOCK, same_store_and_other), TWINS(1, BLOCK, same_store_of_lanes),
    TWINS(1, BLOCK, flag_overwritten), TWINS(8, BLOCK, flag_of_another),
    ONE(1, 32, "shrinking_mask_right", shrinking_mask),
    ONE(1, 64, "many_steps_right", many_steps<50000, -1>),
    ONE(1, 64, "late_race", many_steps<36000, 35990>),
};

CORPUS_MAIN(cases)
