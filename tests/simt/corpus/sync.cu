// Barriers that not every thread reaches and masks that name the wrong lanes, each with a right twin.
// Verdicts: see corpus.h.
#include "corpus.h"

#define FULL 0xffffffffu

// Warps 0 and 1 wait at a barrier that warps 2 and 3 skip; all of them wait at a later one.
template <bool RIGHT> __global__ void barrier_for_some_warps(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
    if (RIGHT || t < 64) {
        v += 1;
        __syncthreads();  // HAZARD barrier_for_some_warps: divergent barrier
    }
    out[t] = v;
}

template <bool RIGHT> __global__ void barrier_for_some_lanes(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
    if (RIGHT || t % 2 == 0) {
        v *= 3;
        __syncthreads();  // HAZARD barrier_for_some_lanes: divergent barrier
    }
    out[t] = v;
}

// Every thread reaches a barrier, but not all the same one. The hardware counts arrivals and accepts
// this if whole warps agree; the CUDA C++ programming guide does not allow it.
template <bool RIGHT> __global__ void barrier_in_both_branches(const int *in, int *out) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    if ((RIGHT ? in[2] : t / 32) % 2 == 0) {
        __syncthreads();  // HAZARD barrier_in_both_branches: divergent barrier
        out[t] = s[BLOCK - 1 - t] * 2;
    } else {
        __syncthreads();  // LABEL barrier_in_both_branches
        out[t] = s[BLOCK - 1 - t] - 1;
    }
}

// Some threads skip the barrier, after which the others do nothing more: this is like an early return.
__global__ void barrier_at_end(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    if (t < 96) {
        s[t] = in[t];
        __syncthreads();  // NOTE barrier_at_end: divergent barrier
        out[t] = s[95 - t];
    }
}

// Tiles, as in a matrix product; some threads have no column.
__global__ void tiles_of_some(const int *in, int *out, int tiles) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    if (t >= 100) return;
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        s[t] = in[t + (unsigned)k];
        __syncthreads();  // NOTE tiles_of_some: divergent barrier
        for (int i = 0; i < 100; i++) sum += s[i];
        __syncthreads();  // NOTE tiles_of_some: divergent barrier
    }
    out[t] = sum;
}

// Threads past the last element have returned when the others reach the barrier.
template <bool RIGHT> __global__ void exit_before_barrier(const int *in, int *out, unsigned n) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    if (!RIGHT && t >= n) return;
    s[t] = t < n ? in[t] : 0;
    __syncthreads();  // NOTE exit_before_barrier: divergent barrier
    if (t < n) out[t] = s[n - 1 - t];
}

// One thread has returned.
template <bool RIGHT> __global__ void exit_of_one_thread(const int *in, int *out) {
    unsigned t = threadIdx.x;
    if (!RIGHT && t == BLOCK / 2) return;
    out[t] = in[t];
    __syncthreads();  // NOTE exit_of_one_thread: divergent barrier
}

// The number of barriers differs from warp to warp.
template <bool RIGHT> __global__ void barrier_in_warp_loop(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
#pragma unroll 1
    for (unsigned i = 0; i < (RIGHT ? 3 : t / 32); i++) {
        v += (int)i;
        __syncthreads();  // HAZARD barrier_in_warp_loop: divergent barrier
    }
    out[t] = v;
}

// The number of barriers differs from thread to thread.
template <bool RIGHT> __global__ void barrier_in_thread_loop(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
#pragma unroll 1
    for (int i = 0; i < (RIGHT ? 3 : in[t] % 4); i++) {
        v += i;
        __syncthreads();  // HAZARD barrier_in_thread_loop: divergent barrier
    }
    out[t] = v;
}

// In the last round of a stride loop some threads have left it. Right: every thread makes every round.
template <bool RIGHT> __global__ void barrier_in_stride_loop(const int *in, int *out, int n) {
    __shared__ int s[BLOCK];
    const int t = (int)threadIdx.x;
    int sum = 0;
    for (int i = t; RIGHT ? i - t < n : i < n; i += BLOCK) {
        s[t] = i < n ? in[i] : 0;
        __syncthreads();  // HAZARD barrier_in_stride_loop: divergent barrier
        sum += s[(t + 33) % BLOCK];
        __syncthreads();
    }
    s[t] = sum;
    __syncthreads();
    out[t] = s[BLOCK - 1 - t];
}

// Right: the condition is the same for the whole block.
__global__ void barrier_uniform(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    if (in[blockIdx.x] == 1) return;  // block 1 leaves as a whole
    for (int i = 0; i <= in[3]; i++) {
        s[t] = in[t] + i;
        __syncthreads();
        if (in[0] == 0) out[blockIdx.x * BLOCK + t] = s[BLOCK - 1 - t];
        __syncthreads();
    }
}

// Sixteen lanes shuffle; the mask names all, and the rest are busy elsewhere.
template <bool RIGHT> __global__ void shuffle_absent_lanes(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
    if (t < 16) {
        v = __shfl_xor_sync(RIGHT ? 0xffffu : FULL, v, 8);  // HAZARD shuffle_absent_lanes: mask
    } else {
        for (int i = 0; i < in[40]; i++) v = v * 5 + in[(t + i) % BLOCK];
    }
    __syncthreads();
    out[t] = v;
}

// Lanes 16 to 31 call a shuffle whose mask does not name them.
template <bool RIGHT> __global__ void shuffle_caller_unnamed(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
    if (RIGHT) {
        v = __shfl_xor_sync(FULL, v, 8);
    } else {
        v = __shfl_xor_sync(0xffffu, v, 8);  // HAZARD shuffle_caller_unnamed: mask
    }
    out[t] = v;
}

template <bool RIGHT> __global__ void vote_absent_lanes(const int *in, int *out) {
    unsigned t = threadIdx.x;
    unsigned votes = 0;
    int v = in[t];
    if (t % 32 < 20) {
        votes = __ballot_sync(RIGHT ? 0xfffffu : FULL, v & 1);  // HAZARD vote_absent_lanes: mask
    } else {
        for (int i = 0; i < in[40]; i++) v = v * 5 + in[(t + i) % BLOCK];
    }
    __syncthreads();
    out[t] = (int)votes + v;
}

// Lane 0, which the mask names, is elsewhere.
template <bool RIGHT> __global__ void vote_absent_first_lane(const int *in, int *out) {
    unsigned t = threadIdx.x;
    unsigned votes = 0;
    int v = in[t];
    if (t % 32 > 0) {
        votes = __ballot_sync(RIGHT ? FULL - 1 : FULL, v & 1);  // HAZARD vote_absent_first_lane: mask
    } else {
        for (int i = 0; i < in[40]; i++) v = v * 5 + in[(t + i) % BLOCK];
    }
    __syncthreads();
    out[t] = (int)votes + v;
}

template <bool RIGHT> __global__ void reduce_absent_lanes(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
    if (t % 2 == 0) {
        v = __reduce_add_sync(RIGHT ? 0x55555555u : FULL, v);  // HAZARD reduce_absent_lanes: mask
    } else {
        for (int i = 0; i < in[40]; i++) v = v * 5 + in[(t + i) % BLOCK];
    }
    __syncthreads();
    out[t] = v;
}

template <bool RIGHT> __global__ void syncwarp_absent_lanes(const int *in, int *out) {
    __shared__ volatile int s[32];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    int v = 0;
    __syncwarp();
    if (t < 16) {
        v = s[t + 16];
        __syncwarp(RIGHT ? 0xffffu : FULL);  // HAZARD syncwarp_absent_lanes: mask
    } else {
        for (int i = 0; i < in[40]; i++) v = v * 5 + in[(t + i) % BLOCK];
    }
    __syncthreads();
    out[t] = v;
}

// Half the lanes have ended, and the last of the others reads one of them.
template <bool RIGHT> __global__ void shuffle_exited_lane(const int *in, int *out) {
    unsigned t = threadIdx.x;
    if (t < 16) {
        // HAZARD-NEXT shuffle_exited_lane: mask
        out[t] = RIGHT ? __shfl_down_sync(0xffffu, in[t], 1, 16) : __shfl_down_sync(FULL, in[t], 1);
    }
}

// The upper half ends, and then a sum reads it.
template <bool RIGHT> __global__ void sum_with_exited_lanes(const int *in, int *out) {
    unsigned t = threadIdx.x;
    if (!RIGHT && t >= 16) return;
    int v = RIGHT && t >= 16 ? 0 : in[t];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(FULL, v, d);  // HAZARD sum_with_exited_lanes: mask
    if (t == 0) out[0] = v;
}

// A lane reads a lane that is active but not in the mask.
template <bool RIGHT> __global__ void shuffle_unnamed_source(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
    if (t < 16) {
        v = __shfl_down_sync(0xffffu, v, 1, RIGHT ? 16 : 32);  // HAZARD shuffle_unnamed_source: mask
    }
    __syncthreads();
    out[t] = v;
}

// --- undefined values, discarded or used ---

// Half of a sum's lanes read lanes that do not exist; only the first lane's sum is used.
template <bool RIGHT> __global__ void sum_of_half_warp(const int *in, int *out) {
    int v = in[threadIdx.x];
    for (int d = RIGHT ? 8 : 16; d > 0; d /= 2)
        v += __shfl_down_sync(FULL, v, d);  // HAZARD sum_of_half_warp: mask
    if (threadIdx.x == 0) out[0] = v;
}

// A value from a lane that does not exist is not added.
template <bool RIGHT> __global__ void sum_of_some_lanes(const int *in, int *out) {
    unsigned t = threadIdx.x;
    int v = in[t];
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_down_sync(0xffffffu, v, d);  // HAZARD sum_of_some_lanes: mask
        if (!RIGHT || t + d < 24) v += other;
    }
    if (t == 0) out[0] = v;
}

// The same with two halves of a number, and with a maximum, among lanes that have not exited.
template <bool RIGHT> __global__ void greatest_of_some_lanes(const int *in, int *out) {
    unsigned lane = threadIdx.x % 32;
    if (lane >= 20) return;
    double v = in[threadIdx.x];
    for (unsigned d = 16; d > 0; d /= 2) {
        double other = __shfl_xor_sync(FULL, v, d);  // HAZARD greatest_of_some_lanes: mask
        if (!RIGHT || (lane ^ d) < 20) v = max(v, other);
    }
    if (lane == 0) out[threadIdx.x / 32] = (int)v;
}

// An undefined value decides a branch, an address, a vote; it is stored where others may read it.
template <int USE, bool RIGHT> __global__ void undefined_used(const int *in, int *out) {
    __shared__ int s[16];
    unsigned t = threadIdx.x;
    // HAZARD-NEXT decides_branch: mask
    // HAZARD-NEXT decides_address: mask
    // HAZARD-NEXT decides_vote: mask
    // HAZARD-NEXT stored_partial: mask
    int next = __shfl_down_sync(0xffffu, in[t], 1);
    const bool known = !RIGHT || t < 15;
    if (USE == 0 && known && next > 3) out[t] = in[t];
    if (USE == 1) out[t] = in[known ? next & 127 : 0];
    if (USE == 2 && __all_sync(0xffffu, known ? next > in[t] : 1)) out[t] = 1;
    if (USE == 3) {
        if (known) s[t] = next;
        __syncwarp(0xffffu);
        out[t] = s[0];
    }
}

// Right: lane 15's value is not used.
__global__ void undefined_unused(const int *in, int *out) {
    int next;
    asm volatile("shfl.sync.down.b32 %0, %1, 1, 31, 0xffff;" : "=r"(next) : "r"(in[threadIdx.x]));
    out[threadIdx.x] = in[1];
}

// --- __syncwarp() by the remaining lanes, after others have exited ---

template <bool RIGHT> __global__ void ended_before_sync(const int *in, int *out) {
    __shared__ int s[32];
    unsigned t = threadIdx.x;
    s[t] = in[t];  // LABEL ended_before_sync_store
    if (RIGHT) __syncwarp();
    if (t >= 16) return;
    __syncwarp(__activemask());
    out[t] = s[t + 16];  // HAZARD ended_before_sync: race with ended_before_sync_store
}

// Odd lanes alone, and in global memory.
template <bool RIGHT> __global__ void sync_of_odd_lanes(const int *in, int *out) {
    unsigned t = threadIdx.x;
    out[t] = in[t];  // LABEL sync_of_odd_lanes_store
    if (RIGHT) __syncwarp();
    if (t & 1) {
        __syncwarp(__activemask());
        out[BLOCK + t] = out[t - 1];  // HAZARD sync_of_odd_lanes: race with sync_of_odd_lanes_store
    }
}

// Right: the mask names lanes that have exited; a half warp has all its lanes.
__global__ void sync_names_ended(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;  // 48 threads
    s[t] = in[t];
    if (t < 32 && t >= 16) return;
    __syncwarp(t < 32 ? FULL : 0xffffu);
    out[t] = s[t < 32 ? t ^ 16 : t ^ 1];
}

// The named lanes are active when the others begin to wait for them, which they check, and exit elsewhere.
__device__ int waiting_begins[3][2];
template <int KIND, bool RIGHT> __global__ void awaited_lanes_end(const int *in, int *out) {
    unsigned t = threadIdx.x, mask = RIGHT ? 0xffffu : FULL;
    int *begins = &waiting_begins[KIND][RIGHT];
    if (t < 16) {
        atomicExch(begins, 1);
        // HAZARD-NEXT vote_awaits_end: mask
        if (KIND == 0) out[t] = (int)__ballot_sync(mask, in[t] & 1);
        // HAZARD-NEXT match_awaits_end: mask
        if (KIND == 1) out[t] = (int)__match_any_sync(mask, in[t] & 1);
        if (KIND == 2) __syncwarp(mask);  // HAZARD syncwarp_awaits_end: mask
    } else {
        int v = in[t];
        while (atomicAdd(begins, 0) == 0) v++;
        for (int i = 0; i < in[40]; i++) v = v * 5 + in[(t + i) % BLOCK];
        out[t] = v;
    }
}

// The halves of a warp at two barriers, of one line or two.
template <int KIND> __global__ void warp_at_two_barriers(const int *in, int *out) {
    __shared__ int s[BLOCK];
    unsigned t = threadIdx.x;
    s[t] = in[t];
    if (KIND == 0) {
        if (t & 1) __syncthreads(); else { s[t]++; __syncthreads(); }  // HAZARD one_line: divergent barrier
    } else if (KIND == 1) {
        if (t & 1) {
            __syncthreads();  // LABEL two_lines_other
        } else {
            s[t]++;
            __syncthreads();  // HAZARD two_lines: divergent barrier with two_lines_other
        }
    } else {
        if (t % 2 == 0) s[t]++;
        __syncthreads();
    }
    out[t] = s[BLOCK - 1 - t];
}

// Right: the participating lanes compute the mask.
__global__ void mask_by_ballot(const int *in, int *out) {
    unsigned t = threadIdx.x;
    unsigned odd = __ballot_sync(FULL, in[t] % 3 == 0);
    int v = in[t];
    if (in[t] % 3 == 0) v = __reduce_add_sync(odd, v);
    out[t] = v;
}

// --- the width of a shuffle ---

template <int WIDTH> __global__ void width_xor(const int *in, int *out) {
    int v = in[threadIdx.x];
    for (int d = WIDTH / 2; d > 0; d /= 2) v += __shfl_xor_sync(FULL, v, d, WIDTH);  // HAZARD width_of_six: width
    out[threadIdx.x] = v;
}

template <int WIDTH> __global__ void width_up(const int *in, int *out) {
    out[threadIdx.x] = __shfl_up_sync(FULL, in[threadIdx.x], 1, WIDTH);  // HAZARD width_of_twelve: width
}

// The compiler does not know the width.
__global__ void width_down(const int *width, int *out) {
    out[threadIdx.x] = __shfl_down_sync(FULL, width[threadIdx.x], 1, *width);  // HAZARD width_unknown: width
}

template <int WIDTH> __global__ void width_index(const double *in, int *out) {
    // HAZARD-NEXT width_of_64: width
    out[threadIdx.x] = __shfl_sync(FULL, in[threadIdx.x], 0, WIDTH) > 0;
}

// PTX defines segments of every kind; this one ends at lane 4 of the warp.
__global__ void width_in_ptx(const int *in, int *out) {
    int next;
    asm volatile("shfl.sync.down.b32 %0, %1, 1, 6660, -1;" : "=r"(next) : "r"(in[threadIdx.x]));
    out[threadIdx.x] = next;
}

// --- masks from which a leader is chosen ---

// Lanes with an even number end, and the leader of those that named them is one of them.
template <int WAY, bool RIGHT> __global__ void leader_ended(const int *in, int *out) {
    const unsigned t = threadIdx.x;
    const unsigned here = RIGHT ? __ballot_sync(FULL, in[t] & 1) : __activemask();
    int v = in[t];
    if (!(v & 1)) return;
    if (WAY == 0) v = __reduce_add_sync(here, v);            // NOTE leader_reduces: mask
    if (WAY == 1) v = (int)__ballot_sync(here, v > 20);      // NOTE leader_votes: mask
    if (WAY == 2) v = (int)__match_any_sync(here, v & 3);    // NOTE leader_matches: mask
    if (WAY == 3) __syncwarp(here);                          // NOTE leader_waits: mask
    if (t == __ffs((int)here) - 1) out[0] = v;
}

// No lane is chosen as the leader, or the leader is there.
__global__ void leaderless(const int *in, int *out) {
    const unsigned t = threadIdx.x, here = __activemask();
    if (!(in[t] & 1)) return;
    out[t] = __reduce_add_sync(here, in[t]);
}
__global__ void leader_stays(const int *in, int *out) {
    const unsigned t = threadIdx.x, here = __activemask();
    if (in[t] & 1) return;
    const int sum = __reduce_add_sync(here, in[t]);
    if (t == __ffs((int)here) - 1) out[0] = sum;
}

static const Case cases[] = {
    ONE(1, BLOCK, "barrier_at_end", barrier_at_end),
    RUN("tiles_of_some", tiles_of_some<<<1, BLOCK>>>(d_in, d_out, 3)),
    TWINS(1, BLOCK, barrier_for_some_warps), TWINS(1, BLOCK, barrier_for_some_lanes),
    TWINS(1, BLOCK, barrier_in_both_branches),
    RUN("exit_before_barrier", exit_before_barrier<false><<<1, BLOCK>>>(d_in, d_out, 100)),
    RUN("exit_before_barrier_right", exit_before_barrier<true><<<1, BLOCK>>>(d_in, d_out, 100)),
    TWINS(1, BLOCK, exit_of_one_thread), TWINS(1, BLOCK, barrier_in_warp_loop),
    TWINS(1, BLOCK, barrier_in_thread_loop), ONE(3, BLOCK, "barrier_uniform_right", barrier_uniform),
    TWINS(1, 32, shuffle_absent_lanes), TWINS(1, 32, shuffle_caller_unnamed),
    TWINS(1, BLOCK, vote_absent_lanes), TWINS(1, 32, vote_absent_first_lane),
    TWINS(1, 32, reduce_absent_lanes), TWINS(1, 32, syncwarp_absent_lanes),
    TWINS(1, 32, shuffle_exited_lane), TWINS(1, 32, sum_with_exited_lanes),
    TWINS(1, 32, shuffle_unnamed_source), TWINS(1, 16, sum_of_half_warp),
    TWINS(1, 24, sum_of_some_lanes), TWINS(1, 64, greatest_of_some_lanes),
    ONE(1, 16, "decides_branch", undefined_used<0, false>),
    ONE(1, 16, "decides_branch_right", undefined_used<0, true>),
    ONE(1, 16, "decides_address", undefined_used<1, false>),
    ONE(1, 16, "decides_address_right", undefined_used<1, true>),
    ONE(1, 16, "decides_vote", undefined_used<2, false>),
    ONE(1, 16, "decides_vote_right", undefined_used<2, true>),
    ONE(1, 16, "stored_partial", undefined_used<3, false>),
    ONE(1, 16, "stored_partial_right", undefined_used<3, true>),
    ONE(1, 16, "undefined_unused_right", undefined_unused), TWINS(1, 32, ended_before_sync),
    TWINS(1, 32, sync_of_odd_lanes), ONE(1, 48, "sync_names_ended_right", sync_names_ended),
    ONE(1, 32, "vote_awaits_end", awaited_lanes_end<0, false>),
    ONE(1, 32, "vote_awaits_end_right", awaited_lanes_end<0, true>),
    ONE(1, 32, "match_awaits_end", awaited_lanes_end<1, false>),
    ONE(1, 32, "match_awaits_end_right", awaited_lanes_end<1, true>),
    ONE(1, 32, "syncwarp_awaits_end", awaited_lanes_end<2, false>),
    ONE(1, 32, "syncwarp_awaits_end_right", awaited_lanes_end<2, true>),
    ONE(1, BLOCK, "one_line", warp_at_two_barriers<0>),
    ONE(1, BLOCK, "two_lines", warp_at_two_barriers<1>),
    ONE(1, BLOCK, "two_lines_right", warp_at_two_barriers<2>),
    ONE(1, BLOCK, "mask_by_ballot_right", mask_by_ballot),
    RUN("barrier_in_stride_loop", barrier_in_stride_loop<false><<<1, BLOCK>>>(d_in, d_out, 400)),
    RUN("barrier_in_stride_loop_right", barrier_in_stride_loop<true><<<1, BLOCK>>>(d_in, d_out, 400)),
    ONE(1, 32, "width_of_six", width_xor<6>), ONE(1, 32, "width_of_eight_right", width_xor<8>),
    ONE(1, 32, "width_of_twelve", width_up<12>), ONE(1, 32, "width_of_sixteen_right", width_up<16>),
    RUN("width_unknown", width_down<<<1, 32>>>(d_in + 24, d_out)),
    RUN("width_unknown_right", width_down<<<1, 32>>>(d_in + 4, d_out)),
    RUN("width_of_64", width_index<64><<<1, 32>>>((double *)d_in, d_out)),
    RUN("width_of_32_right", width_index<32><<<1, 32>>>((double *)d_in, d_out)),
    ONE(1, 32, "width_of_one_right", width_up<1>), ONE(1, 32, "width_in_ptx_right", width_in_ptx),
    ONE(1, 32, "leader_reduces", leader_ended<0, false>),
    ONE(1, 32, "leader_reduces_right", leader_ended<0, true>),
    ONE(1, 32, "leader_votes", leader_ended<1, false>), ONE(1, 32, "leader_votes_right", leader_ended<1, true>),
    ONE(1, 32, "leader_matches", leader_ended<2, false>),
    ONE(1, 32, "leader_matches_right", leader_ended<2, true>),
    ONE(1, 32, "leader_waits", leader_ended<3, false>), ONE(1, 32, "leader_waits_right", leader_ended<3, true>),
    ONE(1, 32, "leaderless_right", leaderless), ONE(1, 32, "leader_stays_right", leader_stays),
};

CORPUS_MAIN(cases)
