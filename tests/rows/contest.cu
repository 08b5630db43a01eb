// The calls that contest.py times, as a library: the headers' and CUB's. Each returns a CUDA error. CUB's scratch
// memory is as large as its largest call has needed.
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
        error = cudaMalloc(&scratch, had = bytes);
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
