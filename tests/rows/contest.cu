// The calls that contest.py times, as a library: the headers', CUB's, and their ceilings. Each returns a CUDA error.
// CUB's scratch memory is as large as its largest call has needed.
//
//     nvcc -O3 -arch=native -shared -Xcompiler -fPIC -I code -I CCCL -o contest.so tests/rows/contest.cu
#include <cub/cub.cuh>

#include "reduce.cuh"
#include "reduce_rows.cuh"

#define CALL extern "C" __attribute__((visibility("default"))) int
#define MATRIX const float *in, float *out, size_t rows, size_t cols, void *space, cudaStream_t stream
#define RAGGED \
    const float *in, const int *offsets, float *out, size_t rows, size_t n, void *space, cudaStream_t stream

template <class Call> static int with_scratch(Call call) {
    static void *scratch;
    static size_t had;
    size_t bytes = 0;
    cudaError_t error = call((void *)NULL, bytes);
    if (error == cudaSuccess && bytes > had) {
        error = cudaMalloc(&scratch, bytes);
        had = error == cudaSuccess ? bytes : 0;
    }
    return error == cudaSuccess ? call(scratch, had) : error;
}

CALL cub_version() { return CUB_VERSION; }

CALL sum(const float *in, float *out, size_t n, void *space, cudaStream_t stream) {
    return reduction::reduce_sum_float(in, out, n, space, stream);
}
CALL cub_sum(const float *in, float *out, size_t n, void *, cudaStream_t stream) {
    return with_scratch([=](void *scratch, size_t &bytes) {
        return cub::DeviceReduce::Sum(scratch, bytes, in, out, (long long)n, stream);
    });
}

CALL rows(MATRIX) { return reduction::rows_sum(in, out, rows, cols, cols, space, stream); }
CALL softmax(MATRIX) { return reduction::rows_softmax(in, out, rows, cols, cols, cols, space, stream); }
CALL layer_norm(MATRIX) {
    const float *none = NULL;
    return reduction::rows_layer_norm(in, out, rows, cols, cols, cols, none, none, 1e-5f, space, stream);
}
CALL cub_rows(const float *in, float *out, size_t rows, size_t cols, void *, cudaStream_t stream) {
    return with_scratch([=](void *scratch, size_t &bytes) {
#if CUB_VERSION >= 300200
        return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in, out, (long long)rows, (int)cols, stream);
#else
        (void)scratch, (void)bytes, (void)in, (void)out, (void)rows, (void)cols, (void)stream;
        return cudaErrorNotSupported; // segments of one size: from CUB 3.2 on
#endif
    });
}

CALL ragged(RAGGED) { return reduction::rows_sum_ragged(in, offsets, out, rows, n, space, stream); }
CALL cub_ragged(const float *in, const int *offsets, float *out, size_t rows, size_t, void *, cudaStream_t stream) {
    return with_scratch([=](void *scratch, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in, out, (long long)rows, offsets, offsets + 1, stream);
    });
}

// Reads in4 vectors of 16 bytes of `in` and more4 of `more`, four per thread, and writes out4, `share` of them in each
// block. Blocks of 256.
static __global__ void __launch_bounds__(256)
    read_and_write(const uint4 *in, size_t in4, const uint4 *more, size_t more4, uint4 *out, size_t out4, size_t share) {
    const size_t base = (size_t)blockIdx.x * 1024 + threadIdx.x;
    uint4 v[4];
    unsigned x = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const size_t i = base + k * 256;
        const uint4 *from = i < in4 ? in + i : more + (i - in4);
        v[k] = i < in4 + more4 ? __ldcs(from) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) x ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    const size_t first = blockIdx.x * share, end = first + share < out4 ? first + share : out4;
    for (size_t i = first + threadIdx.x; i < end; i += 256) __stcs(out + i, make_uint4(x, x, x, x));
    if (x == 0x12345677) out->x = x; // so that each load is needed
}

// The vectors of 16 bytes, from an aligned address on, that hold so much.
struct Vectors {
    uint4 *first;
    size_t count;
    Vectors(const void *data, size_t bytes)
        : first((uint4 *)((size_t)data / 16 * 16)), count(((size_t)data + bytes + 15) / 16 - (size_t)data / 16) {}
};

// Reads n floats, and as many offsets, and writes as many results: what a call must do, and no more.
static int ceiling(const float *in, size_t n, const int *offsets, size_t of_them, float *out, size_t results,
                   cudaStream_t stream) {
    const Vectors a(in, n * sizeof *in), b(offsets, of_them * sizeof *offsets), c(out, results * sizeof *out);
    const size_t grid = (a.count + b.count + 1023) / 1024;
    read_and_write<<<(unsigned)grid, 256, 0, stream>>>(a.first, a.count, b.first, b.count, c.first, c.count,
                                                      (c.count + grid - 1) / grid);
    return cudaGetLastError();
}

CALL ceiling_sum(const float *in, float *out, size_t n, void *, cudaStream_t stream) {
    return ceiling(in, n, NULL, 0, out, 1, stream);
}
CALL ceiling_rows(MATRIX) { return (void)space, ceiling(in, rows * cols, NULL, 0, out, rows, stream); }
CALL ceiling_ragged(RAGGED) { return (void)space, ceiling(in, n, offsets, rows + 1, out, rows, stream); }
CALL ceiling_softmax(MATRIX) { return (void)space, ceiling(in, rows * cols, NULL, 0, out, rows * cols, stream); }
CALL ceiling_layer_norm(MATRIX) { return ceiling_softmax(in, out, rows, cols, space, stream); }
