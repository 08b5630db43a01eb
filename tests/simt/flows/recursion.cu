// Prints which lanes of a warp are together in recursive functions: each records activemask at its
// beginning, after each call and at its end. One line of CSV per case: a hash of all results, the
// number of groups of lanes that recorded something together, and a hash of which lanes were together
// where.
//
// The compiler uses one convergence barrier for all calls of a function, which is saved and cleared at
// its beginning, and restored at its end.
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

// Lanes 0 and 1 end at once, three lanes one call deeper, `less` of the others one call after that, and
// the rest at depth four, or in halves at three and four.
static __device__ int depth_of(int t, int less, bool halves) {
    const int rest = halves && t % 2 ? 3 : 4;
    return t < 2 ? 0 : t < 5 ? 1 : t < 5 + less ? 2 : rest;
}

// ---- Functions that were written before the CPU device's results for them were known

static __device__ __noinline__ int hanoi(int n, int from, int to) {
    note(BEGIN);
    if (n == 0) return from;
    int r = hanoi(n - 1, from, 3 - from - to);
    note(FIRST);
    r = r * 5 + from * 3 + to;
    r ^= hanoi(n - 1, 3 - from - to, to);
    note(SECOND);
    return r;
}

static __device__ __noinline__ int odd(int n);
static __device__ __noinline__ int even(int n) {
    note(BEGIN);
    if (n == 0) return 1;
    int r = odd(n - 1);
    note(FIRST);
    return r + (n & 4);
}

static __device__ __noinline__ int odd(int n) {
    note(LEAF);
    if (n == 0) return 0;
    if (n % 5 == 3) return even(n / 2) + 1;
    int r = even(n - 1);
    note(SECOND);
    return r ^ n;
}

static __device__ __noinline__ int queens(int n, int row, unsigned columns, unsigned left,
                                          unsigned right) {
    note(BEGIN);
    if (row == n) return 1;
    int found = 0;
    for (int k = 0; k < n; k++) {
        const unsigned bit = 1u << k;
        if ((columns | left | right) & bit) continue;
        found += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
        note(FIRST);
    }
    note(END);
    return found;
}

static __device__ __noinline__ bool subset(const unsigned *a, int n, int sum) {
    note(BEGIN);
    if (sum == 0) return true;
    if (n == 0 || sum < 0) return false;
    if (subset(a, n - 1, sum - (int)(a[n - 1] & 15))) return true;
    note(FIRST);
    return subset(a, n - 1, sum);
}

static __device__ __noinline__ int fill(unsigned *seen, unsigned walls, int x, int y) {
    note(BEGIN);
    if (x < 0 || y < 0 || x > 3 || y > 3) return 0;
    const unsigned bit = 1u << (y * 4 + x);
    if ((*seen | walls) & bit) return 0;
    *seen |= bit;
    int n = 1 + fill(seen, walls, x + 1, y);
    note(FIRST);
    n += fill(seen, walls, x, y + 1);
    note(SECOND);
    n += fill(seen, walls, x - 1, y);
    n += fill(seen, walls, x, y - 1);
    note(END);
    return n;
}

static __device__ __noinline__ int expression(unsigned code, int depth) {
    note(BEGIN);
    if (depth == 0) return (int)(code & 7);
    switch (code % 5) {
    case 0: {
        int a = expression(code * 3 + 1, depth - 1);
        note(FIRST);
        return a + expression(code * 5 + 2, depth - 1);
    }
    case 1:
        return -expression(code / 3, depth - 1);
    case 2: {
        int a = expression(code / 2, depth - 1);
        if (a & 1) a += expression(code / 5 + 1, depth - 1);
        note(SECOND);
        return a * 3;
    }
    case 3:
        return (int)code & 31;
    default: {
        int a = 0;
        for (unsigned k = 0; k <= (code & 1); k++)
            a ^= expression(code + k * 7, depth - 2 > 0 ? depth - 2 : 0);
        note(END);
        return a;
    }
    }
}

static __device__ __noinline__ void merge_sort(unsigned *a, unsigned *room, int n) {
    note(BEGIN);
    if (n < 2) return;
    const int half = n / 2;
    merge_sort(a, room, half);
    note(FIRST);
    merge_sort(a + half, room, n - half);
    note(SECOND);
    int i = 0, j = half, k = 0;
    while (i < half && j < n) room[k++] = a[i] <= a[j] ? a[i++] : a[j++];
    while (i < half) room[k++] = a[i++];
    while (j < n) room[k++] = a[j++];
    for (k = 0; k < n; k++) a[k] = room[k];
    note(END);
}

static __device__ int sorted(unsigned *a, int n) {
    unsigned room[16];
    merge_sort(a, room, n);
    int r = 0;
    for (int k = 0; k < n; k++) r = r * 31 + (int)a[k];
    return r;
}

static __device__ __noinline__ int power(int base, unsigned n) {
    note(BEGIN);
    if (n == 0) return 1;
    const int half = power(base, n / 2);
    note(FIRST);
    return n & 1 ? half * half * base : half * half;
}

static __device__ __noinline__ int collatz(unsigned n, int left) {
    note(BEGIN);
    while ((n & 1) == 0 && n) {
        n >>= 1;
        note(LEAF);
    }
    if (n <= 1 || left == 0) return (int)n;
    const int r = collatz(3 * n + 1, left - 1);
    note(FIRST);
    return r + 1;
}

static __device__ __noinline__ int partitions(int n, int most) {
    note(BEGIN);
    if (n == 0) return 1;
    int sum = 0;
    for (int k = most < n ? most : n; k > 0; k--) {
        sum += partitions(n - k, k);
        note(FIRST);
        if (sum > 9) break;
    }
    return sum;
}

static __device__ __noinline__ int walk(unsigned bits, int n) {
    note(BEGIN);
    if (n <= 0) return 0;
    int r = 0;
    if (bits & 1) {
        r = walk(bits >> 1, n - 1);
        note(FIRST);
    }
    if (bits & 2) {
        r += walk(bits >> 2, n - 2);
        note(SECOND);
    }
    if (!(bits & 3)) {
        r -= walk(bits >> 3 | 1, n - 3);
        note(LEAF);
    }
    note(END);
    return r + n;
}

static __device__ __noinline__ int gcd_sum(int a, int b) {
    note(BEGIN);
    if (b == 0) return a;
    const int r = gcd_sum(b, a % b);
    note(FIRST);
    return r + a % 3;
}

static __device__ __noinline__ int binomial(int n, int k) {
    note(BEGIN);
    if (k == 0 || k == n) return 1;
    const int a = binomial(n - 1, k - 1);
    note(FIRST);
    const int b = binomial(n - 1, k);
    note(SECOND);
    return a + b;
}

static __device__ __noinline__ int three(int n) {
    note(BEGIN);
    int r = n;
    do {
        if (n < 2) break;
        r += three(n / 2);
        note(FIRST);
        if (r % 3 == 0) return r;
        r -= three(n / 3);
        note(SECOND);
        if (r & 2) continue;
        r += three(n / 4);
        note(END);
    } while (false);
    return r;
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
    X(fibonacci_most_stay_and_part, fibonacci(depth_of(t, 16, true)))                              \
    X(hanoi_a, hanoi(t % 5, 0, 2))                                                                 \
    X(hanoi_b, hanoi(t * 3 % 6, t & 1, 2))                                                         \
    X(even_a, even(t * 5 % 13))                                                                    \
    X(even_b, t & 1 ? odd(t * 7 % 17) : even(t % 11))                                              \
    X(queens_a, queens(1 + t % 4, 0, 0, 0, 0))                                                     \
    X(queens_b, queens(4, 0, (unsigned)t & 5, (unsigned)t & 2, 0))                                 \
    X(subset_a, subset(keys + t * 16, 5, t % 19))                                                  \
    X(subset_b, subset(keys + t * 16, 4 + t % 3, 7 + t % 11))                                      \
    X(fill_a, ({                                                                                   \
          unsigned seen = 0;                                                                       \
          fill(&seen, (unsigned)t * 40503u, t & 3, t >> 2 & 3);                                    \
      }))                                                                                          \
    X(fill_b, ({                                                                                   \
          unsigned seen = 0;                                                                       \
          fill(&seen, (unsigned)t * 2654435761u >> 16 & 0xA5A5u, 0, t & 3);                        \
      }))                                                                                          \
    X(expression_a, expression((unsigned)t * 2654435761u >> 8, 4))                                 \
    X(expression_b, expression((unsigned)t * 97u + 5u, 3 + t % 3))                                 \
    X(merge_a, sorted(keys + t * 16, 4 + t * 7 % 8))                                               \
    X(merge_b, sorted(keys + t * 16, 1 + t * 5 % 12))                                              \
    X(power_a, power(3, (unsigned)t * 37u % 101u))                                                 \
    X(power_b, power(t, 1u << t % 9))                                                              \
    X(collatz_a, collatz((unsigned)t + 3, 9))                                                      \
    X(collatz_b, collatz((unsigned)t * 8 + 4, 4 + t % 5))                                          \
    X(partitions_a, partitions(t % 7, 6))                                                          \
    X(partitions_b, partitions(3 + t % 4, 1 + t % 5))                                              \
    X(walk_a, walk((unsigned)t * 2654435761u >> 9, 6))                                             \
    X(walk_b, walk((unsigned)t * 40503u >> 3, 4 + t % 5))                                          \
    X(gcd_a, gcd_sum(t * 13 + 5, t * 7 + 2))                                                       \
    X(gcd_b, gcd_sum(89 + t % 3, 55 - t))                                                          \
    X(binomial_a, binomial(2 + t % 4, t % 3))                                                      \
    X(binomial_b, binomial(5, t % 6))                                                              \
    X(three_a, three(t * 5 % 31))                                                                  \
    X(three_b, three(t *t % 47))

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
            groups += !(mask & ((1u << t) - 1)); // count the first lane of each group
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
