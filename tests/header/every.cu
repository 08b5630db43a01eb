// Tests reduce.cuh against the host: every element type with every operator, at awkward sizes and
// alignments, in one block, in several, and in more than one wave of blocks.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "reduce.cuh"

using namespace reduction;

enum { MOST = 100003, PAD = 64, WIDE_BYTES = 18 << 20 };

static void *d_workspace, *d_out, *d_data;
static cudaStream_t stream;
static int wrong;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "every: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void expect(bool right, const char *type, const char *what, size_t n, size_t offset) {
    if (right) return;
    printf("WRONG: %s of %s, n = %zu, offset %zu\n", what, type, n, offset);
    wrong++;
}

template <class Op> static typename Op::Acc call(const typename Op::In *d_in, size_t n) {
    typename Op::Acc out;
    stop_on(cudaMemsetAsync(d_out, 0xFF, sizeof out, stream), "poison");
    stop_on(reduce_launch<Op>(d_in, (typename Op::Acc *)d_out, n, d_workspace, stream), "launch");
    stop_on(cudaMemcpyAsync(&out, d_out, sizeof out, cudaMemcpyDeviceToHost, stream), "result");
    stop_on(cudaStreamSynchronize(stream), "run");
    return out;
}

// An element type: how the test makes its numbers, and how the host adds them. The numbers are
// integers from -span to span, or from 0 to 2 * span, times `scale`, so that all sums are exact.
template <class T> struct Numbers {
    static T element(int x) { return (T)x; }
    static T from(const T &x) { return x; }
};
template <> struct Numbers<__half> {
    static __half element(int x) { return __float2half((float)x); }
    static float from(const __half &x) { return __half2float(x); }
};
template <> struct Numbers<__nv_bfloat16> {
    static __nv_bfloat16 element(int x) { return __float2bfloat16((float)x); }
    static float from(const __nv_bfloat16 &x) { return __bfloat162float(x); }
};

// The expected result of the elements from `first` to `first + n`. Hidden as the header's types are: see rules.cu.
#pragma GCC visibility push(hidden)
template <class T> struct Answers {
    typename ReduceSum<T>::Acc sum;
    ReducePlace<typename ReduceMin<T>::Acc> least, most;
};
#pragma GCC visibility pop
template <class T> static Answers<T> answers(const T *data, size_t n) {
    typedef typename ReduceSum<T>::Acc Sum;
    Answers<T> a = {(Sum)0, {0, ~0ull}, {0, ~0ull}};
    for (size_t i = 0; i < n; i++) {
        const typename ReduceMin<T>::Acc x = Numbers<T>::from(data[i]);
        a.sum = (Sum)(a.sum + (Sum)x);
        if (i == 0 || x < a.least.value) a.least = {x, i};
        if (i == 0 || x > a.most.value) a.most = {x, i};
    }
    return a;
}

template <class V> static bool same(ReducePlace<V> a, ReducePlace<V> b) {
    return a.index == b.index && (a.index == ~0ull || a.value == b.value);
}

template <class T>
static void test_one(const char *type, const T *data, const T *d_in, size_t n, size_t offset) {
    const Answers<T> should = answers(data + offset, n);
    d_in += offset;
    expect(call<ReduceSum<T>>(d_in, n) == should.sum, type, "sum", n, offset);
    expect(same(call<ReduceArgMin<T>>(d_in, n), should.least), type, "argmin", n, offset);
    expect(same(call<ReduceArgMax<T>>(d_in, n), should.most), type, "argmax", n, offset);
    if (n == 0) return; // extremes of nothing are in rules.cu
    expect(call<ReduceMin<T>>(d_in, n) == should.least.value, type, "min", n, offset);
    expect(call<ReduceMax<T>>(d_in, n) == should.most.value, type, "max", n, offset);
}

template <class T> static void test_sizes(const char *type, int span) {
    static const size_t sizes[] = {0,    1,    2,    5,    15,    31,    33,
                                   1000, 4095, 4097, 8200, 16385, 33333, MOST};
    T *data = (T *)malloc((MOST + PAD) * sizeof(T)), *d_in = (T *)d_data;
    const int least = (T)-1 < (T)0 ? -span : 0;
    for (int i = 0; i < MOST + PAD; i++)
        data[i] = Numbers<T>::element(i * 7919 % 100003 % (2 * span + 1) + least);
    stop_on(cudaMemcpy(d_in, data, (MOST + PAD) * sizeof(T), cudaMemcpyHostToDevice), "copy");
    for (size_t n : sizes)
        for (size_t offset : {0, 1, 5, 33}) test_one(type, data, d_in, n, offset);
    free(data);
}

// Blocks that share tiles. The extremes are at the edges of the range.
template <class T> static void test_wide(const char *type) {
    const size_t n = WIDE_BYTES / sizeof(T) - 1;
    const int least = (T)-1 < (T)0 ? -7 : 0;
    T *data = (T *)malloc(WIDE_BYTES), *d_in = (T *)d_data;
    for (size_t i = 0; i < n + 1; i++) data[i] = Numbers<T>::element((int)(i % 13) + least + 1);
    data[1] = Numbers<T>::element(least), data[n] = Numbers<T>::element(least + 99);
    stop_on(cudaMemcpy(d_in, data, WIDE_BYTES, cudaMemcpyHostToDevice), "copy");
    test_one(type, data, d_in, n, 1);
    free(data);
}

// Puts the one element that decides the result at each position: no element may be dropped.
static void test_positions(void) {
    const size_t n = 8301; // two blocks and a remainder, one past the boundary
    float *d_in = (float *)d_data + 1;
    const float low = -1e9f;
    for (size_t at = 0; at < n; at += at < 40 || at > n - 40 ? 1 : 97) {
        stop_on(cudaMemset(d_data, 0, (n + 1) * sizeof(float)), "clear");
        stop_on(cudaMemcpy(d_in + at, &low, sizeof low, cudaMemcpyHostToDevice), "copy");
        expect(call<ReduceArgMin<float>>(d_in, n).index == at, "floats", "the place", n, at);
    }
}

int main() {
    stop_on(cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES), "workspace");
    stop_on(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    stop_on(reduce_clear_workspace(d_workspace, stream), "workspace");
    stop_on(cudaMalloc(&d_out, 64), "output");
    stop_on(cudaMalloc(&d_data, WIDE_BYTES), "data");
    test_sizes<float>("float", 504);
    test_sizes<double>("double", 504);
    test_sizes<int>("int", 30000);
    test_sizes<unsigned>("unsigned", 50000);
    test_sizes<long long>("int64", 50000);
    test_sizes<unsigned long long>("uint64", 50000);
    test_sizes<__half>("half", 128);
    test_sizes<__nv_bfloat16>("bfloat16", 128);
    test_sizes<signed char>("int8", 127);
    test_sizes<unsigned char>("uint8", 127);
    test_wide<float>("wide float");
    test_wide<double>("wide double");
    test_wide<unsigned>("wide unsigned");
    test_wide<__half>("wide half");
    test_wide<signed char>("wide int8");
    test_positions();
    if (!wrong) printf("all right\n");
    return wrong > 0;
}
