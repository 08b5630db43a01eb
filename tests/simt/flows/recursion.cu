// Which lanes of a warp are together in functions that call themselves: each notes it, with
// activemask, where it begins, behind each call and where it ends. One line a case, as CSV: a
// number made of all results, how many times lanes that were together noted something, and a
// number made of who was together where.
//
// The compiler has one barrier for all calls of a function: it is saved and cleared when one
// begins, and restored when it ends.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

enum { WARP = 32, MOST = 4096, BEGIN = 1, FIRST, SECOND, END, LEAF, BACK };

struct Notes {
    unsigned count[WARP], kind[WARP][MOST], together[WARP][MOST];
};
static __device__ Notes notes;
static __device__ unsigned keys[WARP * 16];

__device__ __forceinline__ void note(unsigned kind) {
    const unsigned t = threadIdx.x, k = notes.count[t];
    unsigned together;
    asm volatile("activemask.b32 %0;" : "=r"(together));
    if (k >= MOST) return;
    notes.kind[t][k] = kind;
    notes.together[t][k] = together;
    notes.count[t] = k + 1;
}

static __device__ __noinline__ int ackermann(int m, int n) {
    note(BEGIN);
    if (m == 0) return n + 1;
    if (n == 0) {
        const int r = ackermann(m - 1, 1);
        note(LEAF);
        return r;
    }
    const int x = ackermann(m, n - 1);
    note(FIRST);
    const int r = ackermann(m - 1, x);
    note(SECOND);
    return r;
}

static __device__ __noinline__ int fibonacci(int n) {
    note(BEGIN);
    if (n < 2) return n;
    const int a = fibonacci(n - 1);
    note(FIRST);
    const int b = fibonacci(n - 2);
    note(SECOND);
    return a + b;
}

static __device__ __noinline__ int deep(int n) {
    note(BEGIN);
    int r = 1;
    if (n > 0) {
        r = deep(n - 1) ^ n;
        note(FIRST);
    }
    note(END);
    return r + n;
}

static __device__ __noinline__ int two_arms(int n) {
    note(BEGIN);
    int r = n;
    if (n & 1) {
        if (n > 1) {
            r = two_arms(n - 1) + 1;
            note(FIRST);
        }
    } else if (n > 0) {
        r = two_arms(n / 2) * 3;
        note(SECOND);
    }
    note(END);
    return r;
}

static __device__ __noinline__ int in_loop(int n) {
    int sum = 0;
    for (int k = 0; k < (n & 3); k++) {
        sum += in_loop(n / 2) + k;
        note(FIRST);
    }
    note(END);
    return sum + n;
}

static __device__ __noinline__ int one_arm(int n) {
    int r = 0;
    note(BEGIN);
    if (n > 2) {
        r = one_arm(n - 3);
        note(FIRST);
        if (r & 1) {
            r += one_arm(n - 4);
            note(SECOND);
        }
    } else {
        r = n * 7;
    }
    note(END);
    return r;
}

static __device__ __noinline__ int leaf(int n) {
    note(LEAF);
    return n & 1 ? n * 3 : n;
}
static __device__ __noinline__ int tree(int n) {
    int r = leaf(n);
    note(BEGIN);
    if (n > 1) {
        r += tree(n / 2);
        note(FIRST);
        if (n & 2) r += leaf(r);
        r += tree(n / 3);
        note(SECOND);
    }
    note(END);
    return r;
}

static __device__ __noinline__ int sort(unsigned *a, int low, int high) {
    note(BEGIN);
    if (low >= high) return 1;
    const unsigned middle = a[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (a[i] < middle) i++;
        while (a[j] > middle) j--;
        if (i > j) break;
        const unsigned t = a[i];
        a[i++] = a[j];
        a[j--] = t;
    }
    int r = sort(a, low, j);
    note(FIRST);
    r += sort(a, i, high);
    note(SECOND);
    return r;
}

static __device__ __noinline__ int call_sites(int n) {
    note(BEGIN);
    if (n < 1) return 0;
    int r;
    if (n % 3) {
        r = call_sites(n - 1);
        note(FIRST);
    } else {
        r = call_sites(n - 2);
        note(SECOND);
    }
    note(END);
    return r + n;
}

static __device__ __noinline__ int once(int n) {
    note(BEGIN);
    if (n < 1) return n;
    const int r = once(n - 1);
    note(FIRST);
    return r + n;
}

// Lanes 0 and 1 end at once, three of them one call further, `less` of the others behind that, and
// the rest at four, or in halves at three and four.
static __device__ int depth_of(int t, int less, bool halves) {
    const int rest = halves && t % 2 ? 3 : 4;
    return t < 2 ? 0 : t < 5 ? 1 : t < 5 + less ? 2 : rest;
}

#define CASES(X)                                                                                   \
    X(ackermann_3, ackermann(t % 3, t % 5))                                                        \
    X(ackermann_2, ackermann((t + 1) % 3, (t + 1) % 5))                                            \
    X(fibonacci_6, fibonacci(t % 7))                                                               \
    X(fibonacci_double, fibonacci(t * 2 % 7))                                                      \
    X(deep_8, deep(t * 3 % 9))                                                                     \
    X(deep_apart, deep(t * 4 % 9))                                                                 \
    X(two_arms_36, two_arms(t * 5 % 37))                                                           \
    X(two_arms_apart, two_arms(t * 6 % 37))                                                        \
    X(in_loop_22, in_loop(t * 2 % 23))                                                             \
    X(in_loop_apart, in_loop(t * 3 % 23))                                                          \
    X(one_arm_18, one_arm(t * 7 % 19))                                                             \
    X(one_arm_apart, one_arm(t * 8 % 19))                                                          \
    X(tree_28, tree(t * 3 % 29))                                                                   \
    X(tree_apart, tree(t * 4 % 29))                                                                \
    X(both_functions, t % 2 ? fibonacci(t % 6) : deep(t % 5))                                      \
    X(sort_11, sort(keys + t * 16, 0, 4 + t * 7 % 8))                                              \
    X(sort_15, sort(keys + t * 16, 0, 8 + t * 5 % 8))                                              \
    X(call_sites_8, call_sites(t * 5 % 9))                                                         \
    X(once_few_stay, once(depth_of(t, 11, false)))                                                 \
    X(once_most_stay, once(depth_of(t, 16, false)))                                                \
    X(once_few_stay_and_part, once(depth_of(t, 11, true)))                                         \
    X(once_most_stay_and_part, once(depth_of(t, 16, true)))                                        \
    X(fibonacci_most_stay, fibonacci(depth_of(t, 16, false)))                                      \
    X(fibonacci_most_stay_and_part, fibonacci(depth_of(t, 16, true)))

#define KERNEL(name, call)                                                                         \
    __global__ void name(int *out) {                                                               \
        const int t = (int)threadIdx.x;                                                            \
        const int result = call;                                                                   \
        note(BACK);                                                                                \
        out[t] = result;                                                                           \
    }
CASES(KERNEL)

static unsigned mixed(unsigned hash, unsigned value) {
    hash = (hash ^ value) * 0x9E3779B1u;
    return hash ^ hash >> 15;
}

static void tell(const char *name, const int *out) {
    static Notes host;
    unsigned results = 0, groups = 0, together = 0;
    int got[WARP];
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&host, notes, sizeof host);
    for (unsigned t = 0; t < WARP; t++) {
        results = mixed(results, (unsigned)got[t]);
        for (unsigned k = 0; k < host.count[t]; k++) {
            const unsigned mask = host.together[t][k];
            groups += !(mask & ((1u << t) - 1)); // the first of those that are together counts
            together = mixed(mixed(together, host.kind[t][k]), mask);
        }
    }
    printf("%s,%08x,%u,%08x\n", name, results, groups, together);
}

int main() {
    int *out;
    static unsigned host_keys[WARP * 16];
    static Notes none;
    if (cudaMalloc(&out, WARP * sizeof *out)) return 3;
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
    printf("case,results,groups,together\n");
#define RUN(name, call)                                                                            \
    for (unsigned k = 0; k < WARP * 16; k++) host_keys[k] = k * 2654435761u >> 20 & 255;           \
    cudaMemcpyToSymbol(keys, host_keys, sizeof host_keys);                                         \
    cudaMemcpyToSymbol(notes, &none, sizeof none);                                                 \
    name<<<1, WARP>>>(out);                                                                        \
    if (cudaDeviceSynchronize()) return 1;                                                         \
    tell(#name, out);
    CASES(RUN)
    return 0;
}
