// Reads of unwritten shared memory, whose values may be discarded: a compiler may move a load before the
// condition that guards it. A volatile read is not moved, and a condition after it only selects the
// value. `in` counts from 0. Verdicts: see corpus.h.
#include "corpus.h"

enum { WRITTEN = 100 }; // words of s, from the first on

#define FILL() \
    __shared__ int s[BLOCK]; \
    const int t = (int)threadIdx.x; \
    if (t < WRITTEN) s[t] = in[t]; \
    __syncthreads()
#define READ(k) (((volatile int *)s)[k])
// Whether the value of a thread is selected; in the wrong kernel also an unwritten value.
#define PICKED(k) (in[k] < (RIGHT ? WRITTEN : WRITTEN + 1))

template <bool RIGHT> __global__ void picked(const int *in, int *out) {
    FILL();
    int v = READ(t);  // HAZARD picked: uninitialized
    out[t] = PICKED(t) ? v : 7;
}

template <bool RIGHT> __global__ void picked_sum(const int *in, int *out) {
    FILL();
    int x = in[t], v = READ(t);  // HAZARD picked_sum: uninitialized
    int sum = (x + v) * 3 ^ x;
    out[t] = PICKED(t) ? sum : x;
}

// One of two values is selected.
template <bool RIGHT> __global__ void picked_both(const int *in, int *out) {
    FILL();
    int v = READ(t);            // HAZARD picked_both: uninitialized
    int w = READ(t % 10 + 101); // HAZARD picked_both: uninitialized
    out[t] = PICKED(t + !RIGHT * (101 - t)) ? v : in[t];
    out[t + BLOCK] = !RIGHT && in[t] > 5 ? v + w : 1;
}

template <bool RIGHT> __global__ void one_side(const int *in, int *out) {
    FILL();
    int v = READ(t);  // HAZARD one_side: uninitialized
    if (PICKED(t)) out[t] = v;
}

template <bool RIGHT> __global__ void other_side(const int *in, int *out) {
    FILL();
    int v = READ(t);  // HAZARD other_side: uninitialized
    if (!PICKED(t)) {
        out[t] = 7;
        return;
    }
    out[t + BLOCK] = v * v;
}

// Selects without a branch, as compilers do for short branches.
template <bool RIGHT> __global__ void under_predicate(const int *in, int *out) {
    FILL();
    int v = READ(t), x = in[t];  // HAZARD under_predicate: uninitialized
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, %2; @p mov.b32 %0, %3; @p st.global.b32 [%4], %3; }"
                 : "+r"(x)
                 : "r"(x), "r"(RIGHT ? (int)WRITTEN : WRITTEN + 1), "r"(v), "l"(out + t + BLOCK)
                 : "memory");
    out[t] = x;
}

typedef struct {
    int a, b, c;
} Three;

template <bool RIGHT> __global__ void three(const int *in, int *out) {
    FILL();
    Three v;
    v.a = READ(t);              // HAZARD three: uninitialized
    v.b = READ((t + 1) % 128);  // HAZARD three: uninitialized
    v.c = READ((t + 2) % 128);  // HAZARD three: uninitialized
    out[t] = PICKED(t + (RIGHT ? 2 : 0)) ? v.a + v.b * v.c : -1;
}

// The value is used in the next iteration.
template <bool RIGHT> __global__ void turn_later(const int *in, int *out) {
    FILL();
    int sum = 0, last = 0;
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        sum = k && PICKED((t + k - 1) % BLOCK) ? sum + last : sum;
        last = READ((t + k) % BLOCK);  // HAZARD turn_later: uninitialized
    }
    out[t] = sum;
}

template <bool RIGHT> __global__ void as_address(const int *in, int *out) {
    FILL();
    int v = READ(t);  // HAZARD as_address: uninitialized
    out[t] = in[(PICKED(t) ? v : t) & (BLOCK - 1)];
}

template <bool RIGHT> __global__ void as_condition(const int *in, int *out) {
    FILL();
    int v = READ(t);  // HAZARD as_condition: uninitialized
    if ((PICKED(t) ? v : 5) % 3 == 2) out[t] = 1;
}

template <bool RIGHT> __global__ void to_other_lane(const int *in, int *out) {
    FILL();
    int v = READ(t);  // HAZARD to_other_lane: uninitialized
    int w = __shfl_xor_sync(~0u, v, 1);
    out[t] = PICKED(t ^ 1) ? w : 0;
}

// After a barrier, and with another value by then.
template <bool RIGHT> __global__ void behind_barrier(const int *in, int *out) {
    FILL();
    int v = READ(t);  // HAZARD behind_barrier: uninitialized
    __syncthreads();
    s[t] = in[t] * 5;
    __syncthreads();
    out[t] = PICKED(t) ? v : READ(BLOCK - 1 - t);
}

// A pair of words, the first of which is written.
template <bool RIGHT> __global__ void half_of_pair(const int *in, int *out) {
    __shared__ __align__(8) int s[2 * BLOCK];
    const int t = (int)threadIdx.x;
    s[2 * t] = in[t];
    if (t < WRITTEN) s[2 * t + 1] = in[t];
    __syncthreads();
    int a, b;
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[2 * t]);
    // HAZARD-NEXT half_of_pair: uninitialized
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
    out[t] = a + (PICKED(t) ? b : 0);
}

// A byte that all lanes read.
template <bool RIGHT> __global__ void byte_of_all(const int *in, int *out) {
    __shared__ volatile unsigned char s[BLOCK];
    const int t = (int)threadIdx.x;
    if (t != 7 || RIGHT) s[t] = (unsigned char)in[t];
    __syncthreads();
    out[t] = s[7];  // HAZARD byte_of_all: uninitialized
}

// Two lanes have read each byte; then other lanes read it.
template <bool RIGHT> __global__ void bytes_again(const int *in, int *out) {
    __shared__ volatile unsigned char s[BLOCK];
    const int t = (int)threadIdx.x;
    if (t != 7 || RIGHT) s[t] = (unsigned char)in[t];
    __syncthreads();
    int v = s[t / 2];       // HAZARD bytes_again: uninitialized
    int w = s[t / 2 ^ 1];   // HAZARD bytes_again: uninitialized
    out[t] = v;
    out[t + BLOCK] = w;
}

// Each thread clears its bit of a word, whatever its value, and then sets it.
template <bool RIGHT> __global__ void bits_of_word(const int *in, int *out) {
    __shared__ unsigned s[BLOCK / 32];
    unsigned t = threadIdx.x, bit = 1u << t % 32;
    if (RIGHT) atomicAnd(&s[t / 32], ~bit);
    __syncthreads();
    if (in[t] % 3) atomicOr(&s[t / 32], bit);  // HAZARD bits_of_word: uninitialized
    __syncthreads();
    out[t] = (int)s[t / 32];
}

static const Case cases[] = {
    TWINS(1, BLOCK, picked), TWINS(1, BLOCK, picked_sum), TWINS(1, BLOCK, picked_both),
    TWINS(1, BLOCK, one_side), TWINS(1, BLOCK, other_side), TWINS(1, BLOCK, under_predicate),
    TWINS(1, BLOCK, three), TWINS(1, BLOCK, turn_later), TWINS(1, BLOCK, as_address),
    TWINS(1, BLOCK, as_condition), TWINS(1, BLOCK, to_other_lane), TWINS(1, BLOCK, behind_barrier),
    TWINS(1, BLOCK, half_of_pair), TWINS(1, BLOCK, byte_of_all), TWINS(1, BLOCK, bytes_again),
    TWINS(1, BLOCK, bits_of_word),
};

CORPUS_MAIN(cases)
