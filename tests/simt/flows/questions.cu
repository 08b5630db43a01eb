// Tests when lanes of a warp split and reconverge: each kernel is one question, run by one warp.
//
// Each question predicts two pairs of numbers of requests to global memory. The first loads and stores
// are those of the CPU device: split lanes reconverge as soon as all of them can. The second ones hold
// if lanes that execute a YIELD while others of the warp wait are no longer waited for. The comments
// say what other counts of a GPU would mean.
//
// In the machine code (nvcc -cubin) YIELD is only in loops that end when a volatile or atomic access
// has returned the right value.
//
// in[i] is i, on the device and on the host, which runs each body for one thread after the other. x
// is 8 t at first.
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
// Loops until the word read is `last` modulo 8: last + 1 loads if x is a multiple of 8.
#define UNTIL(memory, last) _Pragma("unroll 1") for (unsigned l = (last)&7; READ(memory) != l; x++)
struct Question {
    const char *name;
    void (*kernel)(const unsigned *in, const volatile unsigned *v, unsigned *out);
    void (*body)(unsigned t, unsigned x, const unsigned *in, const volatile unsigned *v,
                 volatile unsigned *s, unsigned *out);
    unsigned loads, stores, left_loads, left_stores;
};
static Question questions[100]; // in the order of this file
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

// --- variants of one loop: lanes make 1 to 4 rounds, then all store ---

// No YIELD.
QUESTION(plain, 4, 1, 4, 1) {
    UNTIL(in, t & 3);
    PUT(0);
}

// YIELD in the loop. 4 stores: lanes leave at each YIELD. 2: only lanes that waited at the first YIELD
// continue alone.
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

// Does a fence in the loop make lanes split?
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

// Lanes make only 1 or 2 rounds. 2 stores: one YIELD is enough.
QUESTION(polled_two, 2, 1, 2, 2) {
    UNTIL(v, t & 1);
    PUT(0);
}

// The last lane makes eight rounds, the others one: 2 stores. Then the first lane does: does the lane's
// number matter?
QUESTION(polled_last_long, 8, 1, 8, 2) {
    UNTIL(v, t == 31 ? 7 : 0);
    PUT(0);
}

QUESTION(polled_first_long, 8, 1, 8, 2) {
    UNTIL(v, t == 0 ? 7 : 0);
    PUT(0);
}

// Work after the loop: 4 loads and a store more for each group that continues alone.
QUESTION(polled_then_work, 8, 1, 20, 4) {
    UNTIL(v, t & 3);
    ROUNDS(4) NEXT(in);
    PUT(0);
}

// An if after the loop, with 2 loads and 1 on its sides: released lanes reconverge only with those of
// their own group.
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

// --- which lanes are released ---

// All lanes stay together: YIELD changes nothing.
QUESTION(polled_uniform, 6, 1, 6, 1) {
    UNTIL(v, 5);
    PUT(0);
}

// The waiting lanes were never in the loop. 2 stores: YIELD releases any lane that waits for the
// yielding lanes.
QUESTION(polled_in_if, 4, 1, 4, 2) {
    if (t & 1) UNTIL(v, 3);
    PUT(0);
}

// The loop is left at its first test. 1 store: the YIELD comes after it.
QUESTION(polled_in_if_once, 1, 1, 1, 2) {
    if (t & 1) UNTIL(v, 0);
    PUT(0);
}

// Volatile, but no loop, so no YIELD.
QUESTION(volatile_no_loop, 1, 1, 1, 1) {
    if (t & 1) NEXT(v);
    PUT(0);
}

// Both sides of an if yield. 2 stores: the warp waits for neither.
QUESTION(polled_both_sides, 4, 1, 4, 2) {
    if (t & 1)
        UNTIL(v, 3);
    else
        UNTIL(s, 2);
    PUT(0);
}

// One side yields, the other has 8 loads without a YIELD. 2 stores: the first side does not wait for
// lanes that have not arrived yet.
QUESTION(polled_one_side, 12, 1, 12, 2) {
    if (t & 1)
        UNTIL(v, 3);
    else
        UNTIL(in, 7);
    PUT(0);
}

// No lane waits while the warp yields, and there is no YIELD after the loop: a YIELD of all lanes
// has no later effect.
QUESTION(polled_before_if, 8, 1, 8, 1) {
    UNTIL(v, 3);
    if (t & 1) UNTIL(in, 6);
    PUT(0);
}

// Two loops, the inner one yields: do lanes leave only those that wait after the inner loop, or
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

// An if in a loop that yields, in which every lane makes all four rounds: the lanes reconverge after the
// if before they reach the YIELD.
QUESTION(polled_if_in_loop, 8, 4, 8, 4) {
    unsigned k = 0;
#pragma unroll 1
    do {
        if (t >> k & 1) x = in[(x + 8) & (WORDS - 1)];
        PUT(k);
    } while ((v[(x & ~7 & (WORDS - 1)) + k++] & 3) != 3);
}

// Two loops in sequence: do lanes that split in the first reconverge in the second?
QUESTION(polled_twice, 9, 2, 24, 20) {
    UNTIL(v, t & 3);
    PUT(0);
    UNTIL(v, (t & 3) + (t >> 2 & 3) + 1);
    PUT(1);
}

// The kernel ends in the loop: no lane waits after it.
QUESTION(polled_at_end, 4, 3, 4, 3) { UNTIL(v, t & 3) PUT(x & 7); }

// --- a barrier of the warp ---

// 1 store: __syncwarp() brings all lanes together, whatever YIELD did.
QUESTION(sync_behind, 4, 1, 4, 1) {
    UNTIL(v, t & 3);
    sync_warp();
    PUT(0);
}

// 4 and 1, or 1 and 1: lanes are split before it and together after it.
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

// An exit with its own work: lanes that take it in different rounds do not wait for each other, so
// there are 4 loads besides the loop's 4.
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

// A jump out of two loops: lanes that jump wait after the outer loop.
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

// The same for a break with its own work.
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

// A switch whose first case falls through to the second. Lanes of both execute it together: 2 loads.
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

// The same if some lanes of the first case leave the switch: do the others still join the second's?
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

// (a && b) || c: the body is entered from two places. 5 loads: lanes do not reconverge before it,
// so they read twice in it.
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

// Two halves call one function from two places: it runs twice.
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

// Lanes return early from a function; they reconverge in the caller at the latest.
QUESTION(call_early_return, 9, 1, 9, 1) {
    x = load_some(x, t & 3, in);
    PUT(0);
}

// YIELD in the function, a store in it and one after the call: do lanes reconverge at its end?
QUESTION(call_polled, 4, 2, 4, 8) {
    x = wait_some(x, t, v, out);
    PUT(0);
}

// Two functions by pointer: lanes call them one after the other, then reconverge.
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
