// Tests control flow and synchronisation: divergence of every kind, barriers, locks, tickets, grid
// barriers. The host computes each case's result too; a real GPU must agree.
//
//     flow [CASE]        prints `ok CASE` or `wrong CASE: ...`; exit status 1 if any is wrong
#include <stdio.h>
#include <string.h>
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define BLOCK 128
#define BLOCKS 6
#define THREADS (BLOCK * BLOCKS)
#define FULL 0xffffffffu

static int got[THREADS];

// A kernel, and the expected value of each word: the same expression of the thread's number.
#define SAME(name, value)                                                                          \
    WANT(name, value)                                                                              \
    __global__ void name(int *out) {                                                               \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        out[i] = value;                                                                            \
    }
// The expected words of a kernel.
#define WANT(name, value)                                                                          \
    static int name##_want(unsigned i) { return (void)i, (value); }

// --- divergence

static __host__ __device__ int nested_value(unsigned i) {
    int v = (int)i;
    if (i & 1) {
        v += 10;
        if (i & 2) {
            v *= 3;
            if (i & 4) v -= 7;
            else v ^= 0x55;
        } else {
            for (unsigned k = 0; k < (i & 15); k++) v = v * 5 + (int)k;
        }
    } else if (i % 3 == 0) {
        v = -v;
    }
    return v + 1;
}
SAME(nested, nested_value(i))

static __host__ __device__ int trips_value(unsigned i) {
    int v = 0;
    for (unsigned k = 0; k < i % 37; k++) {
        if (k % 5 == i % 5) continue;
        v += (int)(k * i);
        if (v > 5000) break;
    }
    return v;
}
SAME(trips, trips_value(i))

static __host__ __device__ int two_loops_value(unsigned i) {
    unsigned v = i;
    int steps = 0;
    while (v > 1) {  // Collatz; the inner loop strips zeros
        while (v % 2 == 0) v /= 2, steps++;
        if (v > 1) v = 3 * v + 1, steps += 100;
    }
    return steps;
}
SAME(two_loops, two_loops_value(i))

static __host__ __device__ int switch_value(unsigned i) {
    int v = 1;
    switch (i % 9) {
    case 0: v = 100; break;
    case 1: v = 7;  // falls through
    case 2: v += 20; break;
    case 3: return -3;
    case 4: v = (int)i * 2;  // falls through
    case 5: v--;             // falls through
    case 6: v *= 3; break;
    case 7: v = v << (i % 5); break;
    default: v = 0;
    }
    return v + (int)i;
}
SAME(switches, switch_value(i))

// Early exit of some lanes, of whole warps, and from inside a loop.
static __host__ __device__ int exit_value(unsigned i, unsigned t) {
    if (t / 32 == 2) return -1;
    if (t % 7 == 3) return (int)t;
    for (int k = 0;; k++)
        if ((k * k + (int)t) % 11 == 0 || k == 40) return 1000 + k + (int)i;
}
__global__ void early_exit(int *out) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t / 32 == 2) {
        out[i] = -1;
        return;
    }
    if (t % 7 == 3) {
        out[i] = (int)t;
        return;
    }
    for (int k = 0;; k++)
        if ((k * k + (int)t) % 11 == 0 || k == 40) {
            out[i] = 1000 + k + (int)i;
            return;
        }
}

// After the branches the warp has converged: a full-mask shuffle works for every lane.
__global__ void reconverge(int *out) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int v = nested_value(i);
    if (t % 3 == 0) v = trips_value(i);
    else if (t % 3 == 1) v = two_loops_value(i);
    __syncwarp();
    out[i] = v + __shfl_xor_sync(FULL, v, 9);
}

// Calls that are nested far deeper than in most programs.
static __host__ __device__ __noinline__ int deep_value(int n) {
    return n <= 0 ? 1 : (deep_value(n - 1) ^ n) + n;
}
SAME(deep, deep_value((int)(100 + i % 3 * 100)))

// Two functions that call each other; one keeps an array meanwhile.
static __host__ __device__ int mutual_value(int n, int x);
static __host__ __device__ __noinline__ int mutual_kept(int n, int x) {
    volatile int kept[16];
    for (int k = 0; k < 16; k++) kept[(k * 7 + x) & 15] = x + k;
    int v = n ? mutual_value(n - 1, x + 1) : 0;
    for (int k = 0; k < 16; k++) v += kept[(k + x) & 15] * k;
    return v;
}
static __host__ __device__ __noinline__ int mutual_value(int n, int x) {
    return n ? mutual_kept(n - 1, x * 3 % 1000) + 1 : x;
}
SAME(mutual, mutual_kept((int)(i % 50), (int)i))

// Virtual functions that call virtual functions, in a tree of depth three, each with an array.
struct Node {
    __host__ __device__ virtual int value(int x) const = 0;
};
struct Leaf : Node {
    int added;
    __host__ __device__ Leaf(int added) : added(added) {}
    __host__ __device__ int value(int x) const override { return added + x; }
};
template <int K> struct Both : Node {
    const Node *left, *right;
    __host__ __device__ Both(const Node *left, const Node *right) : left(left), right(right) {}
    __host__ __device__ int value(int x) const override {
        volatile int kept[8];
        for (int k = 0; k < 8; k++) kept[k] = x + K * k;
        int v = left->value(kept[x & 7]);
        return v * K + right->value(kept[(x + 1) & 7]);
    }
};
static __host__ __device__ int tree_value(unsigned i) {
    Leaf a(1), b(2), c(3), d(4);
    Both<1> low(&a, &b);
    Both<2> high(&c, &d);
    Both<3> top(&low, &high);
    const Node *root = i % 3 == 0 ? (const Node *)&top : i % 3 == 1 ? (const Node *)&low : &a;
    return root->value((int)i);
}
SAME(virtual_calls, tree_value(i))

// Calls through a pointer that differs between lanes.
typedef int Operation(int, int);
static __host__ __device__ __noinline__ int op_add(int a, int b) { return a + b; }
static __host__ __device__ __noinline__ int op_sub(int a, int b) { return a - b; }
static __host__ __device__ __noinline__ int op_max(int a, int b) { return a > b ? a : b; }
__device__ Operation *const operations[3] = {op_add, op_sub, op_max};
__global__ void function_pointers(int *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = operations[i % 3]((int)i, 300);
}

// --- barriers and warps

// __syncwarp in divergent code: the lanes of each branch synchronise among themselves.
__global__ void syncwarp_in_branches(int *out) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x, lane = t % 32, i = blockIdx.x * blockDim.x + t;
    unsigned third = lane % 3, mask = third == 0 ? 0x49249249u : third == 1 ? 0x92492492u : 0x24924924u;
    s[t] = (int)i;
    __syncwarp();
    int v = 0;
    if (third == 0) {
        v = s[t < BLOCK - 3 && lane + 3 < 32 ? t + 3 : t];
        __syncwarp(mask);
        s[t] = v * 2;
        __syncwarp(mask);
        v = s[lane >= 3 ? t - 3 : t];
    } else if (third == 1) {
        v = s[lane + 3 < 32 ? t + 3 : t];
        __syncwarp(mask);
        s[t] = v * 3;
        __syncwarp(mask);
        v = s[lane >= 3 ? t - 3 : t];
    }
    out[i] = v;
}
static int syncwarp_in_branches_want(unsigned i) {
    unsigned lane = i % 32, third = lane % 3;
    if (third == 2) return 0;
    unsigned from = lane >= 3 ? i - 3 : i;
    unsigned next = from % 32 + 3 < 32 ? from + 3 : from;
    return (int)next * (third == 0 ? 2 : 3);
}

// A barrier in a branch that whole warps take, and the other warps' barrier elsewhere: the hardware
// counts warps, not places (PTX ISA, bar).
__global__ void barriers_in_branches(int *out) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = (int)i;
    int v;
    if (t < 64) {
        __syncthreads();
        v = s[t + 64];
    } else {
        __syncthreads();
        v = s[t - 64] * 2;
    }
    out[i] = v;
}

// Warps exit at different times; the others still synchronise.
__global__ void barriers_after_exit(int *out) {
    __shared__ volatile int s[BLOCK / 32];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, warp = t / 32;
    if (t % 32 == 0) s[warp] = 0;
    __syncthreads();
    for (unsigned round = 0; round < BLOCK / 32; round++) {
        if (round > warp) {
            out[i] = s[warp];
            return;
        }
        if (t % 32 == 0) s[warp] += (int)(round + i / BLOCK);
        __syncthreads();
    }
    out[i] = s[warp];
}
static int barriers_after_exit_want(unsigned i) {
    unsigned warp = i % BLOCK / 32, sum = 0;
    for (unsigned round = 0; round <= warp; round++) sum += round + i / BLOCK;
    return (int)sum;
}

// Barriers that count: how many, whether all, whether any.
__global__ void counting_barriers(int *out) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int count = __syncthreads_count(i % 5 == 0);
    int all = __syncthreads_and(i < 4 * BLOCK + 100), any = __syncthreads_or(i == 77);
    out[i] = count * 4 + (all ? 2 : 0) + (any ? 1 : 0);
}
static int counting_barriers_want(unsigned i) {
    unsigned block = i / BLOCK, count = 0;
    for (unsigned k = block * BLOCK; k < (block + 1) * BLOCK; k++) count += k % 5 == 0;
    return (int)count * 4 + (block < 4 ? 2 : 0) + (block == 0 ? 1 : 0);
}

// Two pairs of warps vote at one barrier, one pair after the other: a slow warp still gets the
// result of its own pair.
__global__ void votes_in_turn(int *out) {
    unsigned t = threadIdx.x, warp = t / 32, ones;
    if (warp == 0) asm volatile("bar.sync 3, 64;" ::: "memory");
    if (warp == 2) asm volatile("bar.arrive 3, 64;" ::: "memory");
    if (warp == 1 || warp == 2) asm volatile("bar.sync 2, 96;" ::: "memory");
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; bar.red.popc.u32 %0, 1, 64, p; }"
                 : "=r"(ones) : "r"(unsigned(warp == 0 || warp == 3)) : "memory");
    if (warp == 0) asm volatile("bar.arrive 2, 96;" ::: "memory");
    out[blockIdx.x * blockDim.x + t] = (int)ones;
}
WANT(votes_in_turn, i % BLOCK / 32 % 3 ? 0 : 64)

// All remaining threads vote yes, at barriers with and without a number of threads.
__global__ void votes_after_exit(int *out) {
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int all, counted;
    out[i] = -1;
    if (t < 16) return;
    all = __syncthreads_and((int)t);
    asm volatile("{ .reg .pred p, q; setp.ne.u32 q, %1, 0; bar.red.and.pred p, 1, 128, q;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(counted) : "r"(t) : "memory");
    out[i] = (all != 0) + 2 * counted;
}
WANT(votes_after_exit, i % BLOCK < 16 ? -1 : 3)

// Two teams, each with its own barrier number and its own number of rounds.
__global__ void named_barriers(int *out) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t, team = t / 64;
    int v = (int)i;
    for (unsigned round = 0; round < 3 + team * 4; round++) {
        s[t] = v;
        asm volatile("bar.sync %0, 64;" : : "r"(team + 1) : "memory");
        v = s[team * 64 + (t + 1) % 64] + 1;
        asm volatile("bar.sync %0, 64;" : : "r"(team + 1) : "memory");
    }
    out[i] = v;
}
static int named_barriers_want(unsigned i) {
    unsigned team = i % BLOCK / 64, rounds = 3 + team * 4;
    return (int)(i / 64 * 64 + (i + rounds) % 64 + rounds);
}

// Half of the block produces, arriving without waiting; the other half waits for it.
__global__ void arrive_and_wait(int *out) {
    __shared__ volatile int s[64];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 64) {
        s[t] = (int)i * 7;
        __threadfence_block();
        asm volatile("bar.arrive 3, 128;" : : : "memory");
        out[i] = 1;
    } else {
        asm volatile("bar.sync 3, 128;" : : : "memory");
        out[i] = s[127 - t];
    }
}
static int arrive_and_wait_want(unsigned i) {
    unsigned t = i % BLOCK;
    return t < 64 ? 1 : (int)(i / BLOCK * BLOCK + 127 - t) * 7;
}

__global__ void many_barriers(int *out) {
    __shared__ volatile int s[BLOCK];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int v = (int)t;
#pragma unroll 1
    for (int step = 0; step < 50000; step++) {  // 100,000 barriers
        s[t] = v;
        __syncthreads();
        v = s[(t + 33) % BLOCK];
        __syncthreads();
    }
    out[i] = v;
}

// --- threads that wait for each other

// A lock that two lanes of every warp take, also while the other lane holds it: this works since Volta,
// whose lanes are scheduled independently. Each holder gets the next number.
__device__ int lock_word;
__device__ volatile int lock_total;
__global__ void lock_start() { lock_total = 0; }
__global__ void spin_lock(int *out) {
    if (threadIdx.x % 16 != 5) return;
    while (atomicCAS(&lock_word, 0, 1) != 0) {}
    __threadfence();
    int number = lock_total;
    lock_total = number + 1;
    out[number] = 1000 + number;
    __threadfence();
    atomicExch(&lock_word, 0);
}
WANT(spin_lock, i < THREADS / 16 ? 1000 + (int)i : -1)

// Half a warp waits for a store that the other half makes after their merge point. While it waits, it
// counts its reads, stores a word each time, reads two words in turn, or sleeps.
template <int HOW> __global__ void waits_for_parked(int *out) {
    __shared__ volatile int flag[BLOCK / 32][3], beat[BLOCK];
    unsigned t = threadIdx.x, lane = t % 32;
    volatile int *mine = flag[t / 32];
    if (lane < 3) mine[lane] = 0;
    __syncwarp();
    int looks = 0;
    if (lane < 16) {
        if (HOW == 0) while (!mine[0] && looks < 100000000) looks++;
        if (HOW == 1) while (!mine[0]) beat[t] = ++looks;
        if (HOW == 2) while (!mine[0] || !mine[1]) {}
        if (HOW == 3) while (!mine[0]) __nanosleep(50);
    }
    if (lane >= 16) mine[lane % 2] = 1;
    __syncwarp();
    out[blockIdx.x * blockDim.x + t] = mine[0] + 2 * mine[1] + 4 * (looks < 100000000);
}
WANT(waits, 7)

// Every lane of a block adds to a plain word under a lock.
__global__ void lock_in_warp(int *out) {
    __shared__ int lock;
    __shared__ volatile int total;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) lock = 0, total = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            total = total + (int)t;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    out[i] = total;
}

// One warp waits for a word that another warp of the block writes later.
__global__ void warp_waits_for_warp(int *out) {
    __shared__ volatile int flag, value;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t < 32) {
        while (flag == 0) {}
        __threadfence_block();
        out[i] = value;
    } else {
        int work = 0;
        for (int k = 0; k < 200; k++) work = work * 3 + k;
        if (t == 96) {
            value = 42 + (int)blockIdx.x;
            __threadfence_block();
            flag = 1;
        }
        out[i] = work == 1 ? 0 : 5;
    }
}
WANT(warp_waits_for_warp, i % BLOCK < 32 ? 42 + (int)(i / BLOCK) : 5)

// One lane waits for another lane of its own warp.
__global__ void lane_waits_for_lane(int *out) {
    __shared__ volatile int flag;
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t == 3) {
        while (flag == 0) {}
        out[i] = flag;
    } else {
        if (t == 20) flag = 9;
        out[i] = 1;
    }
}
WANT(lane_waits_for_lane, i % BLOCK == 3 ? 9 : 1)

// Lanes of one warp wait for each other in different functions, each with its own words.
static __device__ __noinline__ long long wait_inside(volatile int *flag, long long a, short b) {
    long long x = a * 3, y = a ^ 0x123456789abcll;
    while (*flag == 0) x += (*flag + 1) * 0;
    return x + y * b + *flag;
}
static __device__ __noinline__ int raise_inside(volatile int *flag, int a, int b) {
    int x = a * 5 + b, y = b * 7;
    double z = a * 0.5;
    for (int k = 0; k < a % 7; k++) x = x * 3 + y, z += x;
    __threadfence_block();
    if (b == 20) *flag = 9;
    return x + y + (int)z;
}
static int raise_value(int a, int b) {
    int x = a * 5 + b, y = b * 7;
    double z = a * 0.5;
    for (int k = 0; k < a % 7; k++) x = x * 3 + y, z += x;
    return x + y + (int)z;
}
__global__ void waiting_inside_calls(int *out) {
    __shared__ volatile int flag[BLOCK / 32];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t % 32 == 0) flag[t / 32] = 0;
    __syncwarp();
    int v;
    if (t % 4 == 1) {
        v = (int)(wait_inside(flag + t / 32, 1000000007ll * i, (short)t) >> 3);
    } else {
        v = raise_inside(flag + t / 32, (int)i, (int)(t % 32));
    }
    out[i] = v;
}
static int waiting_inside_calls_want(unsigned i) {
    unsigned t = i % BLOCK;
    if (t % 4 != 1) return raise_value((int)i, (int)(t % 32));
    long long a = 1000000007ll * i;
    return (int)((a * 3 + (a ^ 0x123456789abcll) * t + 9) >> 3);
}

// Blocks in a chain: each takes a ticket and waits for its predecessor.
__device__ unsigned next_place;
__device__ volatile int chain[BLOCKS + 1];
__global__ void chain_start() {
    next_place = 0;
    for (int k = 0; k <= BLOCKS; k++) chain[k] = k == 0 ? 1 : 0;
}
__global__ void block_chain(int *out) {
    __shared__ unsigned place;
    __shared__ int before;
    unsigned t = threadIdx.x;
    if (t == 0) {
        place = atomicAdd(&next_place, 1);
        while ((before = chain[place]) == 0) {}
        __threadfence();
        chain[place + 1] = before * 2;
    }
    __syncthreads();
    out[place * BLOCK + t] = before;
}
WANT(block_chain, 1 << i / BLOCK)

// Three barriers of the whole grid.
__device__ int grid_words[2][BLOCKS];
__global__ void grid_sync(int *out) {
    auto grid = cg::this_grid();
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int v = (int)blockIdx.x;
    for (int round = 0; round < 3; round++) {
        if (t == 0) grid_words[round % 2][blockIdx.x] = v;
        grid.sync();
        v = ((volatile int *)grid_words[round % 2])[(blockIdx.x + 1) % BLOCKS] * 2;
    }
    out[i] = v + (int)grid.size();
}
WANT(grid_sync, (int)(i / BLOCK + 3) % BLOCKS * 8 + THREADS)

// Many lanes add to few words: all the old values that they get must differ.
__global__ void contended(int *out) {
    __shared__ unsigned counters[4], seen[4];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 4) counters[t] = 0, seen[t] = 0;
    __syncthreads();
    unsigned old = atomicAdd(&counters[t % 4], 1);
    atomicXor(&seen[t % 4], old * 2654435761u);
    __syncthreads();
    out[i] = (int)(counters[t % 4] ^ seen[t % 4]);
}
static int contended_want(unsigned) {
    unsigned seen = 0;
    for (unsigned k = 0; k < BLOCK / 4; k++) seen ^= k * 2654435761u;
    return (int)(seen ^ (BLOCK / 4));
}

// Every warp waits for the next one, and its odd lanes for its even ones, in deeply nested calls.
static __device__ __noinline__ int wait_deep(volatile int *flag, int depth) {
    if (depth) return wait_deep(flag, depth - 1) + 1;
    while (*flag == 0) {
    }
    return *flag;
}
__global__ void waiting_in_recursion(int *out) {
    __shared__ volatile int flags[BLOCK / 32 + 1], even[BLOCK / 32];
    unsigned t = threadIdx.x, w = t / 32;
    if (t <= BLOCK / 32) flags[t] = t == BLOCK / 32;
    if (t < BLOCK / 32) even[t] = 0;
    __syncthreads();
    int v;
    if (t % 2) {
        v = wait_deep(&even[w], 3 + (int)(t % 4));
    } else {
        v = wait_deep(&flags[w + 1], 40);
        if (t % 32 == 0) even[w] = 5;
    }
    __syncwarp();
    flags[w] = 1;
    out[blockIdx.x * BLOCK + t] = v;
}
WANT(waiting_in_recursion, i % 2 ? 8 + (int)(i % 4) : 41)

// --- running them

typedef struct {
    const char *name;
    void (*kernel)(int *);
    int (*want)(unsigned i); // the expected final word of thread i
    void (*prepare)();
    bool cooperative;
} Case;

static int reconverge_part(unsigned i) {
    unsigned t = i % BLOCK;
    return t % 3 == 0 ? trips_value(i) : t % 3 == 1 ? two_loops_value(i) : nested_value(i);
}
static int pointer_value(unsigned i) {
    Operation *const host[3] = {op_add, op_sub, op_max};
    return host[i % 3]((int)i, 300);
}
WANT(early_exit, exit_value(i, i % BLOCK))
WANT(reconverge, reconverge_part(i) + reconverge_part(i ^ 9))
WANT(function_pointers, pointer_value(i))
WANT(barriers_in_branches, i % BLOCK < 64 ? (int)i + 64 : ((int)i - 64) * 2)
WANT(many_barriers, (int)((i % BLOCK + 33u * 50000) % BLOCK))
WANT(lock_in_warp, BLOCK * (BLOCK - 1) / 2)
static void start_lock() { lock_start<<<1, 1>>>(); }
static void start_chain() { chain_start<<<1, 1>>>(); }

#define CASE(name, ...) {#name, name, name##_want, ##__VA_ARGS__}
static const Case cases[] = {
    CASE(nested), CASE(trips), CASE(two_loops), CASE(switches), CASE(early_exit),
    CASE(reconverge), CASE(deep), CASE(mutual), CASE(virtual_calls),
    CASE(function_pointers), CASE(syncwarp_in_branches), CASE(barriers_in_branches),
    CASE(barriers_after_exit), CASE(counting_barriers), CASE(votes_in_turn),
    CASE(votes_after_exit), CASE(named_barriers), CASE(arrive_and_wait), CASE(many_barriers),
    CASE(spin_lock, start_lock), CASE(lock_in_warp), CASE(warp_waits_for_warp),
    CASE(lane_waits_for_lane), CASE(waiting_inside_calls),
    {"waits_counting", waits_for_parked<0>, waits_want},
    {"waits_storing", waits_for_parked<1>, waits_want},
    {"waits_in_turn", waits_for_parked<2>, waits_want},
    {"waits_sleeping", waits_for_parked<3>, waits_want}, CASE(block_chain, start_chain),
    CASE(grid_sync, NULL, true), CASE(contended),
    CASE(waiting_in_recursion),
};

static bool run(const Case *one, int *d_out) {
    cudaMemset(d_out, 0xff, sizeof got);
    if (one->prepare) one->prepare();
    void *arguments[] = {&d_out};
    cudaError_t error =
        one->cooperative
            ? cudaLaunchCooperativeKernel((const void *)one->kernel, dim3(BLOCKS), dim3(BLOCK),
                                          arguments, 0, 0)
            : cudaLaunchKernel((const void *)one->kernel, dim3(BLOCKS), dim3(BLOCK), arguments, 0, 0);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("wrong %s: %s\n", one->name, cudaGetErrorString(error));
        return false;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        int want = one->want(i);
        if (got[i] != want) {
            printf("wrong %s: word %u is %d, not %d\n", one->name, i, got[i], want);
            return false;
        }
    }
    printf("ok %s\n", one->name);
    return true;
}

int main(int argc, char **argv) {
    cudaDeviceSetLimit(cudaLimitStackSize, 32 << 10);  // recursion needs more than a GPU's default
    int *d_out, wrong = 0, ran = 0;
    if (cudaMalloc((void **)&d_out, sizeof got) != cudaSuccess) return 3;
    for (const Case &one : cases) {
        if (argc > 1 && strcmp(argv[1], one.name)) continue;
        wrong += !run(&one, d_out);
        ran++;
    }
    return wrong || !ran;
}
