// Tests what reduce.cuh guarantees besides sums: NaN, zeros, empty input, overflow; user-defined
// operators; errors; workspaces that are not cleared; two streams; a graph.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce.cuh"

using namespace reduction;

enum { MOST = 140000 };

static void *d_workspace[2], *d_out, *d_data;
static cudaStream_t stream[2];
static int wrong;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "rules: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void expect(bool right, const char *what) {
    if (right) return;
    printf("WRONG: %s\n", what);
    wrong++;
}

template <class Op> static typename Op::Acc call(const typename Op::In *d_in, size_t n) {
    typename Op::Acc out;
    stop_on(cudaMemsetAsync(d_out, 0xFF, sizeof out, stream[0]), "poison");
    stop_on(reduce_launch<Op>(d_in, (typename Op::Acc *)d_out, n, d_workspace[0], stream[0]),
            "launch");
    stop_on(cudaStreamSynchronize(stream[0]), "run");
    stop_on(cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost), "result");
    return out;
}

// n elements equal to `all`, except for one `special`.
template <class Op>
static typename Op::Acc one_among(typename Op::In all, typename Op::In special, size_t n,
                                  size_t at) {
    typedef typename Op::In In;
    In *data = (In *)calloc(n, sizeof(In));
    for (size_t i = 0; i < n; i++) data[i] = i == at ? special : all;
    stop_on(cudaMemcpy(d_data, data, n * sizeof(In), cudaMemcpyHostToDevice), "copy");
    free(data);
    return call<Op>((const In *)d_data, n);
}

template <class T> static bool is_nan(T x) { return x != x; }
template <class T> static bool is(T x, double value) {
    return (double)x == value && signbit((double)x) == signbit(value);
}

// Chapter 13's table, at the start, in the middle and at the end, in one block and in several.
template <class T> static void test_floats(void) {
    typedef ReducePlace<T> Place;
    const T inf = INFINITY, nan = NAN, zero = 0, one = 1;
    for (size_t n : {(size_t)1000, (size_t)20000})
        for (size_t at : {(size_t)0, n / 2, n - 1}) {
            expect(is(one_among<ReduceSum<T>>(-zero, -zero, n, at), -0.0), "sum of -0");
            expect(is(one_among<ReduceSum<T>>(-zero, zero, n, at), 0.0), "sum of -0 and a +0");
            expect(is_nan(one_among<ReduceSum<T>>(one, nan, n, at)), "sum with a NaN");
            expect(is_nan(one_among<ReduceSum<T>>(inf, -inf, n, at)), "infinities of both signs");
            expect(is_nan(one_among<ReduceMin<T>>(one, nan, n, at)), "minimum with a NaN");
            expect(is_nan(one_among<ReduceMax<T>>(one, nan, n, at)), "maximum with a NaN");
            expect(is_nan(one_among<ReduceMin<T>>(nan, -inf, n, at)), "minimum of NaNs");
            expect(is(one_among<ReduceMin<T>>(zero, -zero, n, at), -0.0), "minimum of +0, a -0");
            expect(is(one_among<ReduceMin<T>>(-zero, zero, n, at), -0.0), "minimum of -0, a +0");
            expect(is(one_among<ReduceMax<T>>(-zero, zero, n, at), 0.0), "maximum of -0, a +0");
            expect(is(one_among<ReduceMax<T>>(zero, -zero, n, at), 0.0), "maximum of +0, a -0");
            expect(is(one_among<ReduceMin<T>>(inf, inf, n, at), inf), "minimum of +inf");
            Place p = one_among<ReduceArgMax<T>>(one, nan, n, at);
            expect(is_nan(p.value) && p.index == at, "place of a NaN");
            expect(one_among<ReduceArgMin<T>>(one, nan, n, at).index == at, "place of a NaN, min");
            expect(one_among<ReduceArgMax<T>>(nan, inf, n, at).index == (at == 0 ? 1 : 0),
                   "place of the first NaN");
            p = one_among<ReduceArgMax<T>>(-zero, zero, n, at);
            expect(p.index == 0 && is(p.value, at == 0 ? 0.0 : -0.0), "zeros are equal");
            p = one_among<ReduceArgMax<T>>(-inf, -inf, n, at);
            expect(p.index == 0 && p.value == -inf, "the first of the least");
        }
}

static void test_nothing(void) {
    const float *none = NULL;
    expect(is(call<ReduceSum<float>>(none, 0), -0.0), "sum of nothing");
    expect(call<ReduceMin<float>>(none, 0) == INFINITY, "minimum of nothing");
    expect(call<ReduceMax<double>>(NULL, 0) == -INFINITY, "maximum of nothing");
    expect(call<ReduceMin<int>>(NULL, 0) == INT_MAX, "minimum of no ints");
    expect(call<ReduceMax<long long>>(NULL, 0) == LLONG_MIN, "maximum of no 64-bit integers");
    expect(call<ReduceMin<unsigned long long>>(NULL, 0) == ULLONG_MAX, "minimum of no unsigned");
    expect(call<ReduceMax<unsigned>>(NULL, 0) == 0, "maximum of no unsigned");
    const ReducePlace<float> p = call<ReduceArgMin<float>>(none, 0);
    expect(p.value == INFINITY && p.index == ~0ull, "place of nothing");
}

static void test_overflow(void) {
    expect(one_among<ReduceSum<int>>(INT_MAX, 3, 3, 1) == 1, "sums of ints wrap");
    expect(one_among<ReduceSum<long long>>(LLONG_MAX, 3, 3, 1) == 1, "sums of 64 bits wrap");
    expect(one_among<ReduceSum<signed char, int>>(-128, 127, 100000, 7) == -12799745, "32 bits");
    expect(one_among<ReduceSum<signed char>>(-128, 127, 100000, 7) == -12799745, "64 bits");
    expect(one_among<ReduceSum<unsigned char>>(255, 0, 100000, 9) == 25499745, "unsigned");
    expect(one_among<ReduceMax<long long>>(LLONG_MIN, LLONG_MIN, 50, 0) == LLONG_MIN, "least");
    expect(one_among<ReduceMin<unsigned>>(UINT_MAX, 7, 5000, 4999) == 7, "unsigned minimum");
}

// User-defined operators: states of 1 to 12 bytes, elements of 16 bytes, an element's index. GCC 13
// and later warn about a visible type that has a hidden type as its base or member.
#pragma GCC visibility push(hidden)
struct LargestSize : ReduceOf<float> {
    static __device__ float identity() { return 0; }
    static __device__ float lift(float x, unsigned long long) { return fabsf(x); }
    static __device__ float combine(float a, float b) { return fmaxf(a, b); }
};
struct AnyBit : ReduceOf<unsigned char> {
    static __device__ unsigned char identity() { return 0; }
    static __device__ unsigned char combine(unsigned char a, unsigned char b) {
        return (unsigned char)(a | b);
    }
};
struct Range {
    int least, most;
    unsigned count;
};
struct RangeOf : ReduceOf<int, Range> {
    static __device__ Range identity() { return {INT_MAX, INT_MIN, 0}; }
    static __device__ Range lift(int x, unsigned long long) { return {x, x, 1}; }
    static __device__ Range combine(Range a, Range b) {
        return {min(a.least, b.least), max(a.most, b.most), a.count + b.count};
    }
};
struct SumOfFour : ReduceOf<int4> {
    static __device__ int4 identity() { return make_int4(0, 0, 0, 0); }
    static __device__ int4 combine(int4 a, int4 b) {
        return make_int4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
};
struct SumOfPlaces : ReduceOf<double, unsigned long long> { // sums the indices of the elements above zero
    static __device__ unsigned long long identity() { return 0; }
    static __device__ unsigned long long lift(double x, unsigned long long i) {
        return x > 0 ? i : 0;
    }
    static __device__ unsigned long long combine(unsigned long long a, unsigned long long b) {
        return a + b;
    }
};
#pragma GCC visibility pop

static void test_own_operators(void) {
    for (size_t n : {(size_t)777, (size_t)MOST / 4}) {
        expect(one_among<LargestSize>(-2, -3, n, 5) == 3, "largest size");
        expect(one_among<AnyBit>(16, 3, n, n - 1) == 19, "any bit");
        const Range r = one_among<RangeOf>(4, -9, n, n / 2);
        expect(r.least == -9 && r.most == 4 && r.count == n, "range");
        const int4 s = one_among<SumOfFour>({1, 2, 3, 4}, {0, 0, 0, 14}, n, n - 1);
        expect(s.x == (int)n - 1 && s.w == 4 * (int)n + 10, "elements of 16 bytes");
        expect(one_among<SumOfPlaces>(-1, 1, n, n - 1) == n - 1, "an element's number");
        expect(one_among<SumOfPlaces>(1, 1, n, 0) == n * (n - 1) / 2, "all numbers");
    }
}

static void test_errors(void) {
    float *in = (float *)d_data, *out = (float *)d_out;
    char *off = (char *)d_data + 2;
    const cudaError_t bad = cudaErrorInvalidValue;
    void *w = d_workspace[0];
    ReducePlace<float> *place = (ReducePlace<float> *)((char *)d_out + 8);
    expect(reduce_sum_float(NULL, out, 1, w, 0) == bad, "no input is refused");
    expect(reduce_sum_float(in, NULL, 1, w, 0) == bad, "no output is refused");
    expect(reduce_sum_float(in, out, 1, NULL, 0) == bad, "no workspace is refused");
    expect(reduce_sum_float((float *)off, out, 1, w, 0) == bad, "odd input is refused");
    expect(reduce_sum_float(in, (float *)off, 1, w, 0) == bad, "odd output is refused");
    expect(reduce_sum_float(in, out, 1, off, 0) == bad, "odd workspace is refused");
    expect(reduce_argmax_float(in, place, 1, w, 0) == bad, "an odd place is refused");
    expect(reduce_clear_workspace(NULL, 0) == bad, "no workspace is not cleared");
    expect(reduce_clear_workspace(off, 0) == bad, "an odd workspace is not cleared");
    expect(reduce_sum_float(NULL, out, 0, w, 0) == cudaSuccess, "no input for n = 0");
    expect(cudaDeviceSynchronize() == cudaSuccess && cudaGetLastError() == cudaSuccess,
           "a refused call leaves no error");
}

// Random contents of a workspace do no harm; mailboxes that an interrupted kernel has filled do.
static void test_workspaces(void) {
    static unsigned long long words[REDUCE_WORKSPACE_BYTES / 8];
    int *ones = (int *)malloc(MOST * sizeof(int)), *d_in = (int *)d_data;
    for (int i = 0; i < MOST; i++) ones[i] = 1;
    stop_on(cudaMemcpy(d_in, ones, MOST * sizeof(int), cudaMemcpyHostToDevice), "copy");
    for (int fill : {0xFF, 0x01, 0x80, 0x9e}) {
        stop_on(cudaMemsetAsync(d_workspace[0], fill, REDUCE_WORKSPACE_BYTES, stream[0]), "fill");
        for (int n : {(int)MOST, MOST / 2, 9000, (int)MOST})
            expect(call<ReduceSum<int>>(d_in, (size_t)n) == n, "a workspace full of anything");
    }
    for (unsigned long long &word : words) word = (unsigned long long)REDUCE_FULL << 32 | 5;
    stop_on(cudaMemcpy(d_workspace[0], words, sizeof words, cudaMemcpyHostToDevice), "old mail");
    stop_on(reduce_clear_workspace(d_workspace[0], stream[0]), "clear");
    expect(call<ReduceSum<int>>(d_in, MOST) == MOST, "a cleared workspace");
    free(ones);
}

// Two concurrent streams with a workspace each, many times; then a graph of many calls.
static void test_streams(void) {
    int *d_in = (int *)d_data, *d_sums = (int *)d_out, sums[2];
    int *ones = (int *)malloc(MOST * sizeof(int));
    for (int i = 0; i < MOST; i++) ones[i] = 1 + i % 3;
    stop_on(cudaMemcpy(d_in, ones, MOST * sizeof(int), cudaMemcpyHostToDevice), "copy");
    int right[2] = {0, 0};
    for (int i = 0; i < MOST; i++) right[0] += ones[i], right[1] += i < 70001 ? ones[i] : 0;
    for (int repeat = 0; repeat < 50; repeat++) {
        stop_on(reduce_sum_int(d_in, d_sums, MOST, d_workspace[0], stream[0]), "first stream");
        stop_on(reduce_sum_int(d_in, d_sums + 1, 70001, d_workspace[1], stream[1]),
                "second stream");
    }
    stop_on(cudaDeviceSynchronize(), "two streams");
    stop_on(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost), "sums");
    expect(sums[0] == right[0] && sums[1] == right[1], "two streams at once");

    cudaGraph_t graph;
    cudaGraphExec_t replay;
    stop_on(cudaMemset(d_sums, 0xFF, sizeof sums), "poison");
    stop_on(cudaDeviceSynchronize(), "poison");
    stop_on(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal), "capture");
    for (int k = 0; k < 10; k++)
        stop_on(reduce_sum_int(d_in, d_sums + (k + 1) % 2, k % 2 ? MOST : 70001, d_workspace[0],
                               stream[0]),
                "captured call");
    stop_on(cudaStreamEndCapture(stream[0], &graph), "capture");
    stop_on(cudaGraphInstantiate(&replay, graph, 0), "graph");
    for (int repeat = 0; repeat < 3; repeat++)
        stop_on(cudaGraphLaunch(replay, stream[0]), "replay");
    stop_on(cudaStreamSynchronize(stream[0]), "replay");
    stop_on(cudaMemcpy(sums, d_sums, sizeof sums, cudaMemcpyDeviceToHost), "sums");
    expect(sums[0] == right[0] && sums[1] == right[1], "a graph of calls");
    free(ones);
}

// Every call must leave the workspace as it found it.
static void test_left_clear(void) {
    static unsigned char bytes[REDUCE_WORKSPACE_BYTES];
    for (int k = 0; k < 2; k++) {
        stop_on(cudaMemcpy(bytes, d_workspace[k], sizeof bytes, cudaMemcpyDeviceToHost),
                "workspace");
        size_t used = 0;
        for (size_t i = 0; i < sizeof bytes; i++) used += bytes[i] != 0;
        expect(used == 0, "the workspace is clear again");
    }
}

int main() {
    for (int k = 0; k < 2; k++) {
        stop_on(cudaMalloc(&d_workspace[k], REDUCE_WORKSPACE_BYTES), "workspace");
        stop_on(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking), "stream");
        stop_on(reduce_clear_workspace(d_workspace[k], stream[k]), "workspace");
    }
    stop_on(cudaMalloc(&d_out, 64), "output");
    stop_on(cudaMalloc(&d_data, MOST * sizeof(double)), "data");
    test_floats<float>();
    test_floats<double>();
    test_nothing();
    test_overflow();
    test_own_operators();
    test_errors();
    test_streams();
    test_left_clear();
    test_workspaces();
    if (!wrong) printf("all right\n");
    return wrong > 0;
}
