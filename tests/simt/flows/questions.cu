// What makes lanes of a warp go apart or together: one question a kernel, each run by one warp.
//
// Each question predicts the requests to global memory twice: first loads and stores, if lanes
// that split meet again as soon as all of them can, whatever stands between; the CPU device counts
// so; then loads and stores, if lanes that come to a YIELD while others of the warp wait
// are no longer waited for. The comments say what else a GPU's counts could mean.
//
// In the machine code (nvcc -cubin) YIELD stands in loops that end when a volatile or atomic access
// has given the right value, and nowhere else.
//
// in[i] is i, on the device and on the host, which runs each body for one thread after the other. x
// begins as 8 t.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#define WARP          32
#define WORDS         1024
#define SLOTS         8
#define NEXT(memory)  (x = (memory)[(x + 5) & (WORDS - 1)])
#define PUT(slot)     (out[WARP * (slot) + t] = x)
#define ROUNDS(count) _Pragma("unroll 1") for (unsigned i = 0, n = (count); i < n; i++)
#define READ(memory)  ((memory)[x & (WORDS - 1)] & 7)
// Goes round until the word read is `last` modulo 8: last + 1 loads if x is a multiple of 8.
#define UNTIL(memory, last) _Pragma("unroll 1") for (unsigned l = (last)&7; READ(memory) != l; x++)
struct Question {
    const char *name;
    void (*kernel)(const unsigned *in, const volatile unsigned *v, unsigned *out);
    void (*body)(unsigned t, unsigned x, const unsigned *in, const volatile unsigned *v,
                 volatile unsigned *s, unsigned *out);
    unsigned loads, stores, left_loads, left_stores;
};
static Question questions[100]; // in the order in which they stand below
static unsigned asked;

#define BODY(name)                                                                                 \
    __host__ __device__ static inline void name##_body(unsigned t, unsigned x, const unsigned *in, \
                                                       const volatile unsigned *v,                 \
                                                       volatile unsigned *s, unsigned *out)
#define QUESTION(name, ...)                                                                        \
    BODY(name);                                                                                    \
    __global__ void name(const unsigned *in, const volatile unsigned *v, unsigned *out) {          \
        __shared__ volatile unsigned s[WORDS];                                                     \
        unsigned t = threadIdx.x;                                                                  \
        _Pragma("unroll 1") for (unsigned i = t; i < WORDS; i += WARP) s[i] = i;                   \
        __syncthreads();                                                                           \
        name##_body(t, 8 * t, in, v, s, out);                                                      \
    }                                                                                              \
    static const Question *const name##_asked =                                                    \
        &(questions[asked++] = Question{#name, name, name##_body, __VA_ARGS__});                   \
    BODY(name)

__host__ __device__ static void sync_warp() {
#ifdef __CUDA_ARCH__
    __syncwarp();
#endif
}

__host__ __device__ static unsigned add(unsigned *to, unsigned value) {
#ifdef __CUDA_ARCH__
    return atomicAdd(to, value);
#else
    return (*to += value) - value;
#endif
}

// --- the same loop with one thing changed: lanes make 1 to 4 rounds, then all store ---

// No YIELD.
QUESTION(plain, 4, 1, 4, 1) {
    UNTIL(in, t & 3);
    PUT(0);
}

// YIELD in the loop. 4 stores: lanes leave at YIELD. 2: only those that waited when it was executed
// the first time go on alone.
QUESTION(polled, 4, 1, 4, 4) {
    UNTIL(v, t & 3);
    PUT(0);
}

// Volatile loads that do not decide when the loop ends: no YIELD.
QUESTION(counted, 4, 1, 4, 1) {
    ROUNDS((t & 3) + 1) NEXT(v);
    PUT(0);
}

// Does shared memory make a difference?
QUESTION(polled_shared, 0, 1, 0, 4) {
    UNTIL(s, t & 3);
    PUT(0);
}

// An atomic's old value decides.
QUESTION(polled_atomic, 0, 1, 0, 4) {
#pragma unroll 1
    while (add(&out[WARP * 6 + t], 1) < (t & 3)) x++;
    PUT(0);
}

QUESTION(counted_store, 0, 5, 0, 5) {
    volatile unsigned *w = out + WARP * 7;
    ROUNDS((t & 3) + 1) w[t] = x += 3;
    PUT(0);
}

// Does a fence in the loop make lanes go apart?
QUESTION(plain_fence, 4, 1, 4, 1) {
    ROUNDS((t & 3) + 1) {
        NEXT(in);
#ifdef __CUDA_ARCH__
        __threadfence();
#endif
    }
    PUT(0);
}

// Does sleeping?
QUESTION(plain_sleep, 4, 1, 4, 1) {
    ROUNDS((t & 3) + 1) {
        NEXT(in);
#ifdef __CUDA_ARCH__
        __nanosleep(20);
#endif
    }
    PUT(0);
}

// Two numbers of rounds only, 1 and 2. 2 stores: one YIELD is enough.
QUESTION(polled_two, 2, 1, 2, 2) {
    UNTIL(v, t & 1);
    PUT(0);
}

// The last lane goes round eight times, the others once: 2 stores. The first lane: is it the lanes'
// number that counts?
QUESTION(polled_last_long, 8, 1, 8, 2) {
    UNTIL(v, t == 31 ? 7 : 0);
    PUT(0);
}

QUESTION(polled_first_long, 8, 1, 8, 2) {
    UNTIL(v, t == 0 ? 7 : 0);
    PUT(0);
}

// What happens behind the loop: 4 loads and a store more for each group that goes on alone.
QUESTION(polled_then_work, 8, 1, 20, 4) {
    UNTIL(v, t & 3);
    ROUNDS(4) NEXT(in);
    PUT(0);
}

// Behind the loop an if of its own, its sides 2 loads and 1: lanes that were let go meet those of
// their own group only.
QUESTION(polled_then_if, 6, 1, 12, 4) {
    UNTIL(v, t & 3);
    if (t & 4) {
        NEXT(in);
        NEXT(in);
    } else {
        x = in[(3 * x + 1) & (WORDS - 1)];
    }
    PUT(0);
}

// --- who is let go ---

// All lanes go together: YIELD changes nothing.
QUESTION(polled_uniform, 6, 1, 6, 1) {
    UNTIL(v, 5);
    PUT(0);
}

// Those that wait are not in the loop and never were. 2 stores: YIELD lets any lane go that waits
// where the yielding lanes are waited for.
QUESTION(polled_in_if, 4, 1, 4, 2) {
    if (t & 1) UNTIL(v, 3);
    PUT(0);
}

// The loop is left at its first test. 1 store: the YIELD is behind it.
QUESTION(polled_in_if_once, 1, 1, 1, 2) {
    if (t & 1) UNTIL(v, 0);
    PUT(0);
}

// Volatile, but no loop, so no YIELD.
QUESTION(volatile_no_loop, 1, 1, 1, 1) {
    if (t & 1) NEXT(v);
    PUT(0);
}

// Both sides of an if yield. 2 stores: neither is waited for.
QUESTION(polled_both_sides, 4, 1, 4, 2) {
    if (t & 1)
        UNTIL(v, 3);
    else
        UNTIL(s, 2);
    PUT(0);
}

// One side yields, the other has work of 8 loads that does not. 2 stores: the first one leaves also
// lanes that have not come yet.
QUESTION(polled_one_side, 12, 1, 12, 2) {
    if (t & 1)
        UNTIL(v, 3);
    else
        UNTIL(in, 7);
    PUT(0);
}

// Nothing waits while the warp yields, and behind the loop nothing yields: a YIELD of all lanes
// leaves nothing behind.
QUESTION(polled_before_if, 8, 1, 8, 1) {
    UNTIL(v, 3);
    if (t & 1) UNTIL(in, 6);
    PUT(0);
}

// Two loops, the inner one yields: do lanes leave those that wait behind the inner loop only, or
// all?
QUESTION(polled_inner, 8, 3, 14, 12) {
    ROUNDS(2) {
        x = 8 * t;
        UNTIL(v, t & 3);
        PUT(i);
    }
    PUT(3);
}

// The outer loop yields, the inner does not. 1 to 2 rounds of the outer with a volatile load each,
// and in each 1 to 4 plain ones.
QUESTION(polled_outer, 10, 3, 10, 4) {
    unsigned k = 0;
#pragma unroll 1
    do {
        x = 8 * t;
        UNTIL(in, t >> 1 & 3);
        PUT(k);
    } while ((v[k++] & 1) != (t & 1));
    PUT(3);
}

// An if in a loop that yields, in which every lane makes all four rounds: the lanes meet behind the
// if before they come to the YIELD.
QUESTION(polled_if_in_loop, 8, 4, 8, 4) {
    unsigned k = 0;
#pragma unroll 1
    do {
        if (t >> k & 1) x = in[(x + 8) & (WORDS - 1)];
        PUT(k);
    } while ((v[(x & ~7 & (WORDS - 1)) + k++] & 3) != 3);
}

// Two loops one after the other: do lanes that have left each other meet in the second?
QUESTION(polled_twice, 9, 2, 24, 20) {
    UNTIL(v, t & 3);
    PUT(0);
    UNTIL(v, (t & 3) + (t >> 2 & 3) + 1);
    PUT(1);
}

// The kernel ends in the loop: nothing waits behind it.
QUESTION(polled_at_end, 4, 3, 4, 3) { UNTIL(v, t & 3) PUT(x & 7); }

// --- a barrier of the warp ---

// 1 store: __syncwarp() brings all lanes together, whatever YIELD did.
QUESTION(sync_behind, 4, 1, 4, 1) {
    UNTIL(v, t & 3);
    sync_warp();
    PUT(0);
}

// 4 and 1, or 1 and 1: lanes apart before it, together behind it.
QUESTION(sync_between, 4, 2, 4, 5) {
    UNTIL(v, t & 3);
    PUT(0);
    sync_warp();
    PUT(1);
}

// --- lanes that end ---

// Lanes that return in the loop are not waited for: 1 store.
QUESTION(exit_in_loop, 4, 1, 4, 1) {
    ROUNDS((t & 3) + 1) {
        NEXT(in);
        if (t % 5 == i) return;
    }
    PUT(0);
}

QUESTION(exit_in_polled, 4, 1, 4, 4) {
#pragma unroll 1
    for (; READ(v) != (t & 3); x++)
        if (t % 5 == (x & 7)) return;
    PUT(0);
}

// A way out with work of its own: lanes that take it in different rounds do not wait for each
// other, so 4 loads beside the loop's 4.
QUESTION(exit_with_work, 8, 5, 8, 5) {
    ROUNDS(4) {
        NEXT(in);
        if (t % 7 == i) {
            x = in[(7 * x + 3) & (WORDS - 1)];
            out[WARP + t] = ~x;
            out[2 * WARP + t] = 3 * x;
            return;
        }
    }
    PUT(0);
}

// A way out of two loops: lanes that jump wait behind the outer loop.
QUESTION(break_two_loops, 11, 4, 11, 4) {
#pragma unroll 1
    for (unsigned k = 0; k < 3; k++) {
        ROUNDS((t & 3) + 1) {
            NEXT(in);
            if (x % 11 == t >> 2) goto out;
        }
        PUT(k + 1);
    }
out:
    PUT(0);
}

// A break with work of its own: the same.
QUESTION(break_with_work, 8, 12, 8, 12) {
    ROUNDS(5) {
        NEXT(in);
        if ((t & 3) == i) {
            x = in[(7 * x + 3) & (WORDS - 1)];
            out[WARP + t] = ~x;
            out[2 * WARP + t] = 3 * x;
            break;
        }
        PUT(3 + i);
    }
    PUT(0);
}

// A switch whose first case goes on into the second. Lanes of both go together there: 2 loads.
QUESTION(fall_through, 2, 1, 2, 1) {
    switch (x % 3) {
    case 0:
        NEXT(in);
    case 1:
        x = in[(3 * x + 1) & (WORDS - 1)];
        break;
    default:
        x += 9;
    }
    PUT(0);
}

// The same where some lanes of the first leave the switch: do the others still meet the second's?
QUESTION(fall_through_past, 3, 1, 3, 1) {
    switch (x % 3) {
    case 0:
        NEXT(in);
        if (x & 4) break;
    case 1:
        x = in[(3 * x + 1) & (WORDS - 1)];
        break;
    default:
        NEXT(in);
    }
    PUT(0);
}

// (a && b) || c: the body is entered from two places. 5 loads: lanes do not meet in front of it,
// and so read in it twice.
QUESTION(short_circuit, 5, 1, 5, 1) {
    if ((in[x ^ 1] & 8 && in[x ^ 2] & 16) || in[x ^ 3] & 32) x = in[5 * x & (WORDS - 1)];
    PUT(0);
}

// --- calls ---

__host__ __device__ __noinline__ static unsigned load_it(unsigned x, const unsigned *in) {
    return in[(x + 11) & (WORDS - 1)];
}

__host__ __device__ __noinline__ static unsigned load_other(unsigned x, const unsigned *in) {
    return in[(x ^ 17) & (WORDS - 1)] + 1;
}

__host__ __device__ __noinline__ static unsigned load_some(unsigned x, unsigned n,
                                                           const unsigned *in) {
    ROUNDS(8) {
        NEXT(in);
        if (i == n) return x;
    }
    return NEXT(in);
}

__host__ __device__ __noinline__ static unsigned
wait_some(unsigned x, unsigned t, const volatile unsigned *v, unsigned *out) {
    UNTIL(v, t & 3);
    PUT(1);
    return x;
}

// One function called at two places by two halves: it runs twice.
QUESTION(call_both_sides, 2, 1, 2, 1) {
    if (t & 1)
        x = load_it(x + 1, in);
    else
        x = 3 * load_it(x + 2, in);
    PUT(0);
}

QUESTION(call_in_loop, 4, 1, 4, 1) {
    ROUNDS((t & 3) + 1) x = load_it(x, in);
    PUT(0);
}

// Lanes return early from a function; they meet again in the caller at the latest.
QUESTION(call_early_return, 9, 1, 9, 1) {
    x = load_some(x, t & 3, in);
    PUT(0);
}

// YIELD in the function, a store in it and one behind the call: does its end bring lanes together?
QUESTION(call_polled, 4, 2, 4, 8) {
    x = wait_some(x, t, v, out);
    PUT(0);
}

// Two functions by pointer: one after the other, then together.
QUESTION(call_pointer, 3, 1, 3, 1) {
#ifdef __CUDA_ARCH__
    unsigned (*which)(unsigned, const unsigned *) = in[t] & 1 ? load_it : load_other;
    x = which(x, in);
#else
    x = t & 1 ? load_it(x, in) : load_other(x, in);
#endif
    PUT(0);
}

static unsigned words[WORDS], shared[WORDS], zero[WARP * SLOTS], found[WARP * SLOTS],
    expected[WARP * SLOTS];

static int failed(cudaError_t error, const char *name) {
    if (error != cudaSuccess) printf("wrong %s: %s\n", name, cudaGetErrorName(error));
    return error != cudaSuccess;
}

static int check(const Question *question, unsigned *in, unsigned *out) {
    if (failed(cudaMemcpy(out, zero, sizeof zero, cudaMemcpyHostToDevice), question->name))
        return 1;
    question->kernel<<<1, WARP>>>(in, in, out);
    if (failed(cudaGetLastError(), question->name) ||
        failed(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost), question->name))
        return 1;
    memset(expected, 0, sizeof expected);
    for (unsigned t = 0; t < WARP; t++) {
        memcpy(shared, words, sizeof shared);
        question->body(t, 8 * t, words, words, shared, expected);
    }
    for (unsigned i = 0; i < WARP * SLOTS; i++)
        if (found[i] != expected[i]) {
            printf("wrong %s: slot %u of thread %u is %u, not %u\n", question->name, i / WARP,
                   i % WARP, found[i], expected[i]);
            return 1;
        }
    printf("ok %s %u %u %u %u\n", question->name, question->loads, question->stores,
           question->left_loads, question->left_stores);
    return 0;
}

int main(int count, char **names) {
    unsigned *in, *out, wrong = 0;
    for (unsigned i = 0; i < WORDS; i++) words[i] = i;
    if (failed(cudaMalloc((void **)&in, sizeof words), "input") ||
        failed(cudaMalloc((void **)&out, sizeof zero), "output") ||
        failed(cudaMemcpy(in, words, sizeof words, cudaMemcpyHostToDevice), "input"))
        return 1;
    for (const Question *question = questions; question < questions + asked; question++)
        if (count < 2 || !strcmp(question->name, names[1]))
            wrong += (unsigned)check(question, in, out);
    return wrong != 0;
}
