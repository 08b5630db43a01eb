// cudaMemset and its relatives.
#include "simt/cuda/capture.h"

static Work fill_work(void *to, size_t pitch, int value, size_t width, size_t height) {
    Fill fill = {(uintptr_t)to, pitch, width, height, (uint32_t)value, 1, false};
    return (Work){.kind = WORK_FILL, .fill = fill};
}

// Fills on the legacy stream. The call waits only if the host can access the memory.
static CudaError fill_now(Work work) {
    CudaError error = capture_refuse();
    if (!error) error = copy_fill_check(&work.fill);
    if (!error) error = stream_submit_legacy(&work);
    return error || copy_fill_inside_device(&work.fill) ? error : stream_finish(STREAM_LEGACY);
}

static CudaError fill_async(Work work, Stream *stream) {
    CudaError error = copy_fill_check(&work.fill);
    work.fill.queued = true;
    return error ? error : stream_submit(stream, &work);
}

API CudaError cudaMemset(void *to, int value, size_t bytes) {
    return RUNTIME(fill_now(fill_work(to, bytes, value, bytes, 1)));
}

API CudaError cudaMemsetAsync(void *to, int value, size_t bytes, Stream *stream) {
    return RUNTIME(fill_async(fill_work(to, bytes, value, bytes, 1), stream));
}

API CudaError cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, Stream *stream) {
    return cudaMemsetAsync(to, value, bytes, stream_ptsz(stream));
}

API CudaError cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    return RUNTIME(fill_now(fill_work(to, pitch, value, width, height)));
}

API CudaError cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                Stream *stream) {
    return RUNTIME(fill_async(fill_work(to, pitch, value, width, height), stream));
}

API CudaError cudaMemset2DAsync_ptsz(void *to, size_t pitch, int value, size_t width, size_t height,
                                     Stream *stream) {
    return cudaMemset2DAsync(to, pitch, value, width, height, stream_ptsz(stream));
}

// All rows, across slices, have the same pitch.
static bool find_rows(const Pitched *to, const Extent *extent, size_t *rows) {
    return (extent->depth <= 1 || extent->height == to->height) &&
           !__builtin_mul_overflow(extent->height, extent->depth, rows);
}

API CudaError cudaMemset3D(Pitched to, int value, Extent extent) {
    size_t rows;
    if (!find_rows(&to, &extent, &rows)) return RUNTIME(CUDA_INVALID_VALUE);
    return cudaMemset2D(to.pointer, to.pitch, value, extent.width, rows);
}

API CudaError cudaMemset3DAsync(Pitched to, int value, Extent extent, Stream *stream) {
    size_t rows;
    if (!find_rows(&to, &extent, &rows)) return RUNTIME(CUDA_INVALID_VALUE);
    return cudaMemset2DAsync(to.pointer, to.pitch, value, extent.width, rows, stream);
}

API CudaError cudaMemset3DAsync_ptsz(Pitched to, int value, Extent extent, Stream *stream) {
    return cudaMemset3DAsync(to, value, extent, stream_ptsz(stream));
}

// --- the same calls on the thread's default stream ---

#define PTDS(name) API extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

PTDS(cudaMemset);
PTDS(cudaMemset2D);
PTDS(cudaMemset3D);
