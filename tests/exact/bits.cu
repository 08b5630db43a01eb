// Prints the bits of exact sums, one line each: type, data, n, elements before the first, bits. The
// data is computed from integers only, so that it is the same on every machine. Each sum is computed
// twice, the second time in reverse order and at another address; the program fails if their bits
// differ.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce_exact.cuh"

using namespace reduction;

enum { MOST = 1 << 20, PAD = 64 };

static void *d_data, *d_out, *d_workspace;
static int wrong;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "bits: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static uint64_t hash(uint64_t i) {  // the finalizer of SplitMix64
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

// The bits of a number: its sign, its exponent, and a fraction taken from a hash.
template <class T> struct Number;
template <> struct Number<float> {
    typedef uint32_t Bits;
    static Bits bits(uint64_t sign, int power, uint64_t random) {
        return (Bits)(sign << 31 | (uint64_t)(power + 127) << 23 | (random & 0x7fffff));
    }
};
template <> struct Number<double> {
    typedef uint64_t Bits;
    static Bits bits(uint64_t sign, int power, uint64_t random) {
        return sign << 63 | (uint64_t)(power + 1023) << 52 | (random & 0xfffffffffffff);
    }
};

static int leading_zeros(uint64_t x) { return x ? __builtin_clzll(x) : 64; }

static const char *const names[] = {"uniform",   "spread",     "any",
                                    "subnormal", "cancelling", "sparse"};
enum Data { UNIFORM, SPREAD, ANY, SUBNORMAL, CANCELLING, SPARSE, KINDS };

// Element i of n.
template <class T> static typename Number<T>::Bits datum(int data, uint64_t i, uint64_t n) {
    typedef typename Number<T>::Bits Bits;
    const int most = sizeof(T) == 4 ? 254 : 2046;
    uint64_t h = hash(i), more = hash(i + (1ull << 40));
    if (data == UNIFORM) return Number<T>::bits(0, -1 - leading_zeros(h), more);
    if (data == SPREAD) return Number<T>::bits(h & 1, (int)(h >> 1 & 63) - 32, more);
    if (data == ANY) return Number<T>::bits(h & 1, (int)((h >> 1) % most) - most / 2, more);
    if (data == SUBNORMAL) return Number<T>::bits(h & 1, -(most / 2), more);
    if (data == SPARSE) return (h >> 8) % 16 ? (Bits)(h & 1) << (8 * sizeof(T) - 1)
                                             : Number<T>::bits(h & 1, (int)(h >> 16 & 7), more);
    if (i < n / 2) return datum<T>(ANY, i, n);
    Bits mirror = datum<T>(ANY, n - 1 - i, n);
    return i == n / 2 ? Number<T>::bits(0, -20, more) : mirror ^ (Bits)1 << (8 * sizeof(T) - 1);
}

template <class T> static typename Number<T>::Bits sum(size_t n, size_t offset) {
    typename Number<T>::Bits bits;
    stop_on(cudaMemset(d_out, 0xA5, sizeof(T)), "poison");
    stop_on(exact_sum((T *)d_data + offset, (T *)d_out, n, d_workspace, 0), "launch");
    stop_on(cudaMemcpy(&bits, d_out, sizeof bits, cudaMemcpyDeviceToHost), "result");
    return bits;
}

template <class T> static void place(int data, size_t n, size_t offset, bool backwards) {
    typedef typename Number<T>::Bits Bits;
    static Bits h[MOST];
    for (size_t i = 0; i < n; i++) h[backwards ? n - 1 - i : i] = datum<T>(data, i, n);
    stop_on(cudaMemcpy((T *)d_data + offset, h, n * sizeof(T), cudaMemcpyHostToDevice), "copy");
}

template <class T> static void tell(const char *type, int data, size_t n, size_t offset) {
    typedef typename Number<T>::Bits Bits;
    place<T>(data, n, offset, false);
    Bits first = sum<T>(n, offset);
    place<T>(data, n, (offset + 7) % PAD, true);
    if (sum<T>(n, (offset + 7) % PAD) != first) wrong++;
    printf("%s,%s,%zu,%zu,%llx\n", type, names[data], n, offset, (unsigned long long)first);
}

int main(int argc, char **argv) {
    static const size_t sizes[] = {1, 2, 3, 31, 100, 1000, 4099, 65537, 300007, MOST};
    const size_t most = argc > 1 ? (size_t)atol(argv[1]) : (size_t)MOST;
    stop_on(cudaMalloc(&d_data, (MOST + PAD) * sizeof(double)), "memory");
    stop_on(cudaMalloc(&d_out, sizeof(double)), "memory");
    stop_on(cudaMalloc(&d_workspace, REDUCE_EXACT_WORKSPACE_BYTES), "memory");
    stop_on(cudaMemset(d_workspace, 0, REDUCE_EXACT_WORKSPACE_BYTES), "clear");
    printf("type,data,n,offset,bits\n");
    for (int data = 0; data < KINDS; data++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes && sizes[k] <= most; k++) {
            tell<float>("float", data, sizes[k], (k * 5) % 32);
            tell<double>("double", data, sizes[k], (k * 3) % 16);
        }
    if (wrong) fprintf(stderr, "bits: %d sums differ between ways to make them\n", wrong);
    return wrong > 0;
}
