// cudaMemcpy and its relatives: copies in up to three dimensions, and to and from variables.
#include "simt/cuda/capture.h"
#include "simt/cuda/node_params.h"

// driver_types.h: cudaPos, cudaMemcpy3DParms.
typedef struct {
    size_t x, y, z;
} Position;

typedef struct {
    void *from_array;
    Position from_at;
    Pitched from;
    void *to_array;
    Position to_at;
    Pitched to;
    Extent extent;
    int kind;
} Copy3D;

static Work copy_1d(uint64_t to, uint64_t from, size_t bytes, int kind) {
    Copy copy = {to, from, bytes, bytes, bytes, bytes, bytes, 1, 1, kind};
    return (Work){.kind = WORK_COPY, .copy = copy};
}

static Work copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, int kind) {
    Copy copy = {(uintptr_t)to, (uintptr_t)from, to_pitch, 0,   from_pitch, 0,
                 width,         height,          1,        kind};
    return (Work){.kind = WORK_COPY, .copy = copy};
}

// Runs a synchronous copy, which is not allowed during a capture, on the legacy stream. The call
// waits for it unless both sides are on the device. CUDA runtime API, "API synchronization
// behavior".
static CudaError copy_now(Work work) {
    CudaError error = capture_refuse();
    if (!error) error = copy_check(&work.copy);
    if (!error) error = stream_submit_legacy(&work);
    if (error || copy_inside_device(&work.copy)) return error;
    return stream_finish(STREAM_LEGACY);
}

// Submits an asynchronous copy, and waits for it if one side is pageable memory.
static CudaError copy_async(Work work, Stream *handle) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (!error) error = copy_check(&work.copy);
    if (!error) error = stream_submit(handle, &work);
    if (error || stream->capture || !copy_pageable(&work.copy)) return error;
    return stream_finish(handle);
}

API CudaError cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    return RUNTIME(copy_now(copy_1d((uintptr_t)to, (uintptr_t)from, bytes, kind)));
}

API CudaError cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, Stream *stream) {
    return RUNTIME(copy_async(copy_1d((uintptr_t)to, (uintptr_t)from, bytes, kind), stream));
}

API CudaError cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, int kind,
                                   Stream *stream) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream_ptsz(stream));
}

API CudaError cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                           size_t width, size_t height, int kind) {
    return RUNTIME(copy_now(copy_2d(to, to_pitch, from, from_pitch, width, height, kind)));
}

API CudaError cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, int kind, Stream *stream) {
    return RUNTIME(
        copy_async(copy_2d(to, to_pitch, from, from_pitch, width, height, kind), stream));
}

API CudaError cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, int kind, Stream *stream) {
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                             stream_ptsz(stream));
}

// Computes the start of a copy and the distance of its slices, if it has several. Returns false on
// overflow.
static bool find_start(const Pitched *in, Position at, size_t depth, uint64_t *start,
                       size_t *slice) {
    size_t slices, rows;
    *slice = 0;
    if ((depth > 1 || at.z) && __builtin_mul_overflow(in->pitch, in->height, slice)) return false;
    return !__builtin_mul_overflow(at.z, *slice, &slices) &&
           !__builtin_mul_overflow(at.y, in->pitch, &rows) &&
           !__builtin_add_overflow((uintptr_t)in->pointer, slices, start) &&
           !__builtin_add_overflow(*start, rows, start) &&
           !__builtin_add_overflow(*start, at.x, start);
}

CudaError memcpy_3d_work(const void *params, Work *work) {
    const Copy3D *in = params;
    if (!in) return CUDA_INVALID_VALUE;
    if (in->from_array || in->to_array)
        return runtime_unsupported("a copy to or from a CUDA array");
    uint64_t from, to;
    size_t from_slice, to_slice;
    if (!find_start(&in->from, in->from_at, in->extent.depth, &from, &from_slice) ||
        !find_start(&in->to, in->to_at, in->extent.depth, &to, &to_slice))
        return CUDA_INVALID_VALUE;
    *work = (Work){.kind = WORK_COPY};
    work->copy = (Copy){to,
                        from,
                        in->to.pitch,
                        to_slice,
                        in->from.pitch,
                        from_slice,
                        in->extent.width,
                        in->extent.height,
                        in->extent.depth,
                        in->kind};
    return CUDA_SUCCESS;
}

static CudaError copy_3d_now(const Copy3D *in) {
    Work work;
    CudaError error = memcpy_3d_work(in, &work);
    return error ? error : copy_now(work);
}

static CudaError copy_3d_async(const Copy3D *in, Stream *stream) {
    Work work;
    CudaError error = memcpy_3d_work(in, &work);
    return error ? error : copy_async(work, stream);
}

API CudaError cudaMemcpy3D(const Copy3D *copy) { return RUNTIME(copy_3d_now(copy)); }

API CudaError cudaMemcpy3DAsync(const Copy3D *copy, Stream *stream) {
    return RUNTIME(copy_3d_async(copy, stream));
}

API CudaError cudaMemcpy3DAsync_ptsz(const Copy3D *copy, Stream *stream) {
    return cudaMemcpy3DAsync(copy, stream_ptsz(stream));
}

API CudaError cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                             size_t bytes) {
    if (to_device || from_device) return RUNTIME(CUDA_INVALID_DEVICE);
    return cudaMemcpy(to, from, bytes, DEVICE_TO_DEVICE);
}

API CudaError cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                  size_t bytes, Stream *stream) {
    if (to_device || from_device) return RUNTIME(CUDA_INVALID_DEVICE);
    return cudaMemcpyAsync(to, from, bytes, DEVICE_TO_DEVICE, stream);
}

// --- __device__ and __constant__ variables ---

static CudaError symbol_copy(const void *symbol, bool to_symbol, const void *other, size_t bytes,
                             size_t offset, int kind, Work *work) {
    uint64_t address;
    size_t size;
    CudaError error = registry_symbol(symbol, &address, &size);
    if (error) return error;
    if (offset > size || bytes > size - offset) return CUDA_INVALID_VALUE;
    address += offset;
    *work = to_symbol ? copy_1d(address, (uintptr_t)other, bytes, kind)
                      : copy_1d((uintptr_t)other, address, bytes, kind);
    return CUDA_SUCCESS;
}

static CudaError symbol_copy_now(const void *symbol, bool to_symbol, const void *other,
                                 size_t bytes, size_t offset, int kind) {
    Work work;
    CudaError error = symbol_copy(symbol, to_symbol, other, bytes, offset, kind, &work);
    return error ? error : copy_now(work);
}

static CudaError symbol_copy_async(const void *symbol, bool to_symbol, const void *other,
                                   size_t bytes, size_t offset, int kind, Stream *stream) {
    Work work;
    CudaError error = symbol_copy(symbol, to_symbol, other, bytes, offset, kind, &work);
    return error ? error : copy_async(work, stream);
}

API CudaError cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                 int kind) {
    return RUNTIME(symbol_copy_now(symbol, true, from, bytes, offset, kind));
}

API CudaError cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                   int kind) {
    return RUNTIME(symbol_copy_now(symbol, false, to, bytes, offset, kind));
}

API CudaError cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                      size_t offset, int kind, Stream *stream) {
    return RUNTIME(symbol_copy_async(symbol, true, from, bytes, offset, kind, stream));
}

API CudaError cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from, size_t bytes,
                                           size_t offset, int kind, Stream *stream) {
    return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, stream_ptsz(stream));
}

API CudaError cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                        int kind, Stream *stream) {
    return RUNTIME(symbol_copy_async(symbol, false, to, bytes, offset, kind, stream));
}

API CudaError cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol, size_t bytes,
                                             size_t offset, int kind, Stream *stream) {
    return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, stream_ptsz(stream));
}

// --- the same calls on the thread's default stream ---

#define PTDS(name) API extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

PTDS(cudaMemcpy);
PTDS(cudaMemcpy2D);
PTDS(cudaMemcpy3D);
PTDS(cudaMemcpyToSymbol);
PTDS(cudaMemcpyFromSymbol);
