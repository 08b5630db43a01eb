// Tests the launch shapes of reduce.cuh on the current device: every block has a mailbox and a tile,
// more elements never get fewer blocks of the same size, and the result is right if the grid has more
// than one wave, so that one thread reads several mailboxes.
#include <stdio.h>
#include <stdlib.h>

#include "reduce.cuh"

using namespace reduction;

enum { BYTES = 96 << 20 }; // of input: 3,072 tiles

static void *d_workspace, *d_out;
static unsigned char *d_data;

static void stop_on(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "shape: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

static void expect(bool right, const char *op, size_t n, const char *what) {
    if (right) return;
    printf("WRONG: %s of %zu elements: %s\n", op, n, what);
    exit(1);
}

// All sizes up to 2^40, each a little larger than the one before.
template <class Op> static void test_shapes(const char *op) {
    ReduceShape before = {1, 256, false};
    ReduceDevice d;
    stop_on(reduce_device(&d), "device");
    for (size_t n = 0; n <= (size_t)1 << 40; n += 1 + n / 50) {
        ReduceShape shape;
        stop_on(reduce_shape<Op>(n, &shape), "shape");
        const size_t each = (shape.threads == 512 ? 32768 : 16384) / sizeof(typename Op::In);
        const size_t words = shape.blocks * sizeof(ReduceSeen<typename Op::Acc>) / 8;
        const bool single = before.blocks == 1 || before.threads != shape.threads;
        expect(words <= REDUCE_BOXES, op, n, "more blocks than mailboxes");
        expect(shape.blocks >= 1 && (shape.blocks - 1) * each <= n, op, n, "blocks without a tile");
        expect(single || shape.blocks >= before.blocks, op, n, "fewer blocks than for less");
        expect(shape.threads >= before.threads || before.blocks == 1, op, n, "smaller blocks");
        const size_t bytes = n * sizeof(typename Op::In), cache = (size_t)d.cache_bytes;
        expect(!shape.stream || bytes > cache / 2, op, n, "marks an input that L2 would keep");
        expect(shape.stream || bytes <= cache, op, n, "does not mark an input larger than L2");
        before = shape;
    }
}

// The mailboxes are empty and the counter is reset.
static bool clear_again(void) {
    static unsigned char bytes[REDUCE_WORKSPACE_BYTES];
    stop_on(cudaMemcpy(bytes, d_workspace, sizeof bytes, cudaMemcpyDeviceToHost), "workspace");
    for (size_t i = 0; i < sizeof bytes; i++)
        if (bytes[i]) return false;
    return true;
}

// Sums the whole input and a little less of it: each element is a one.
template <class Op> static void test_sum(const char *op, unsigned one, bool waves) {
    typedef typename Op::In In;
    stop_on(cudaMemset(d_data, (int)one, BYTES), "ones");
    for (size_t n : {BYTES / sizeof(In), BYTES / sizeof(In) - 1237}) {
        ReduceShape shape;
        typename Op::Acc sum;
        size_t fit;
        stop_on(reduce_fit<Op>(&fit), "fit");
        stop_on(reduce_shape<Op>(n, &shape), "shape");
        expect(!waves || shape.blocks > fit, op, n, "a single wave");
        stop_on(reduce_launch<Op>((const In *)d_data, (typename Op::Acc *)d_out, n, d_workspace, 0),
                "launch");
        stop_on(cudaMemcpy(&sum, d_out, sizeof sum, cudaMemcpyDeviceToHost), "result");
        In element;
        memset(&element, (int)one, sizeof element);
        expect(sum == (typename Op::Acc)(element * (typename Op::Acc)n), op, n, "another sum");
        expect(clear_again(), op, n, "mail is left");
    }
}

// Finds the maximum at each position: a single element is larger than the others.
static void test_place(void) {
    typedef ReduceArgMax<int> Op;
    const size_t n = BYTES / sizeof(int);
    stop_on(cudaMemset(d_data, 1, BYTES), "ones");
    for (size_t at : {(size_t)0, n / 2 + 7, n - 1}) {
        Op::Acc place;
        stop_on(cudaMemset(d_data + at * sizeof(int), 2, sizeof(int)), "the larger one");
        stop_on(reduce_launch<Op>((const int *)d_data, (Op::Acc *)d_out, n, d_workspace, 0),
                "launch");
        stop_on(cudaMemcpy(&place, d_out, sizeof place, cudaMemcpyDeviceToHost), "result");
        expect(place.index == at && place.value == 0x02020202, "a place", n, "another one");
        expect(clear_again(), "a place", n, "mail is left");
        stop_on(cudaMemset(d_data + at * sizeof(int), 1, sizeof(int)), "one");
    }
}

int main(void) {
    stop_on(cudaMalloc(&d_data, BYTES), "input");
    stop_on(cudaMalloc(&d_out, 16), "result");
    stop_on(cudaMalloc(&d_workspace, REDUCE_WORKSPACE_BYTES), "workspace");
    stop_on(reduce_clear_workspace(d_workspace, 0), "clear");
    test_shapes<ReduceSum<float>>("a float sum");
    test_shapes<ReduceSum<double>>("a double sum");
    test_shapes<ReduceSum<signed char>>("a sum of bytes");
    test_shapes<ReduceArgMax<float>>("a place");
    int sms;
    stop_on(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "device");
    test_sum<ReduceSum<unsigned>>("an unsigned sum", 1, sms <= 200);
    test_sum<ReduceSum<unsigned long long>>("a 64-bit sum", 1, sms <= 200);
    test_sum<ReduceSum<unsigned char>>("a sum of bytes", 1, sms <= 200);
    test_place();
    stop_on(cudaDeviceSynchronize(), "end");
    printf("all right\n");
    return 0;
}
