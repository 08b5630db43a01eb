// Allocation of device, managed and pinned memory.
#include "simt/memory/memory.h"

#include <string.h>

#include "simt/cuda/capture.h"
#include "simt/cuda/queue.h"
#include "simt/cuda/unfinished.h"

// --- allocation ---

static CudaError allocate(void **pointer, size_t bytes, MemoryKind kind) {
    if (!pointer) return CUDA_INVALID_VALUE;
    *pointer = NULL;
    if (bytes == 0) return CUDA_SUCCESS;
    uint64_t address = memory_alloc_kind(bytes, kind);
    if (address == 0) return CUDA_MEMORY_ALLOCATION;
    *pointer = (void *)(uintptr_t)address;
    return CUDA_SUCCESS;
}

static CudaError allocate_now(void **pointer, size_t bytes, MemoryKind kind) {
    CudaError error = capture_refuse();
    return error ? error : allocate(pointer, bytes, kind);
}

API CudaError cudaMalloc(void **pointer, size_t bytes) {
    return RUNTIME(allocate_now(pointer, bytes, MEMORY_DEVICE));
}

API CudaError cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags) {
    (void)flags;
    return RUNTIME(bytes ? allocate_now(pointer, bytes, MEMORY_MANAGED) : CUDA_INVALID_VALUE);
}

API CudaError cudaMallocHost(void **pointer, size_t bytes) {
    return RUNTIME(allocate_now(pointer, bytes, MEMORY_PINNED));
}

API CudaError cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    (void)flags;
    return RUNTIME(allocate_now(pointer, bytes, MEMORY_PINNED));
}

// Rows are aligned to 512 bytes, the texture alignment that the device reports.
enum { PITCH = 512 };

static CudaError allocate_rows(void **pointer, size_t *pitch, size_t width, size_t rows) {
    if (!pitch || width > SIZE_MAX / 2) return CUDA_INVALID_VALUE;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    if (rows && *pitch > SIZE_MAX / rows) return CUDA_MEMORY_ALLOCATION;
    return allocate_now(pointer, *pitch * rows, MEMORY_DEVICE);
}

API CudaError cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return RUNTIME(allocate_rows(pointer, pitch, width, height));
}

static CudaError allocate_3d(Pitched *pitched, Extent extent) {
    if (!pitched) return CUDA_INVALID_VALUE;
    if (extent.depth && extent.height > SIZE_MAX / extent.depth) return CUDA_MEMORY_ALLOCATION;
    pitched->width = extent.width;
    pitched->height = extent.height;
    return allocate_rows(&pitched->pointer, &pitched->pitch, extent.width,
                         extent.height * extent.depth);
}

API CudaError cudaMalloc3D(Pitched *pitched, Extent extent) {
    return RUNTIME(allocate_3d(pitched, extent));
}

// Frees memory. The pointer must be the start of a live allocation by a matching call.
static CudaError release(const void *pointer, bool pinned) {
    if (!pointer) return CUDA_SUCCESS;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *allocation = memory_find(address);
    if (!allocation || memory_of_module(allocation->kind) || allocation->kind == MEMORY_HEAP)
        return CUDA_INVALID_VALUE;
    if ((allocation->kind == MEMORY_PINNED) != pinned) return CUDA_INVALID_VALUE;
    return memory_free(address) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

static CudaError release_now(const void *pointer, bool pinned) {
    CudaError error = capture_refuse();
    if (!error) error = unfinished_wait_all();
    return error ? error : release(pointer, pinned);
}

API CudaError cudaFree(void *pointer) { return RUNTIME(release_now(pointer, false)); }
API CudaError cudaFreeHost(void *pointer) { return RUNTIME(release_now(pointer, true)); }

// --- stream-ordered allocation, from the device's default pool ---

// driver_types.h: the settable part of cudaMemPoolAttr. Programs can read what they set, but it has
// no effect, because work runs immediately and freed memory is released immediately.
enum { REUSE_FOLLOW_EVENTS = 1, REUSE_INTERNAL = 3, RELEASE_THRESHOLD };

typedef struct {
    int reuse[REUSE_INTERNAL]; // indexed by attribute - 1
    uint64_t threshold;
} Pool;

static Pool default_pool = {.reuse = {1, 1, 1}};

static CudaError get_pool(Pool **pool, int device) {
    if (!pool) return CUDA_INVALID_VALUE;
    if (device != 0) return CUDA_INVALID_DEVICE;
    *pool = &default_pool;
    return CUDA_SUCCESS;
}

API CudaError cudaDeviceGetDefaultMemPool(Pool **pool, int device) {
    return RUNTIME(get_pool(pool, device));
}

API CudaError cudaDeviceGetMemPool(Pool **pool, int device) {
    return RUNTIME(get_pool(pool, device));
}

static CudaError get_or_set(Pool *pool, int attribute, void *value, bool set) {
    if (pool != &default_pool || !value || attribute < REUSE_FOLLOW_EVENTS)
        return CUDA_INVALID_VALUE;
    if (attribute > RELEASE_THRESHOLD)
        return runtime_unsupported(set ? "cudaMemPoolSetAttribute of how many bytes a pool holds"
                                       : "cudaMemPoolGetAttribute of how many bytes a pool holds");
    const bool reuse = attribute <= REUSE_INTERNAL;
    void *at = reuse ? (void *)&pool->reuse[attribute - 1] : &pool->threshold;
    memcpy(set ? at : value, set ? value : at, reuse ? sizeof(int) : sizeof(uint64_t));
    return CUDA_SUCCESS;
}

API CudaError cudaMemPoolGetAttribute(Pool *pool, int attribute, void *value) {
    return RUNTIME(get_or_set(pool, attribute, value, false));
}

API CudaError cudaMemPoolSetAttribute(Pool *pool, int attribute, void *value) {
    return RUNTIME(get_or_set(pool, attribute, value, true));
}

API CudaError cudaMemPoolTrimTo(Pool *pool, size_t least) {
    (void)least; // a pool holds nothing in reserve
    return RUNTIME(pool == &default_pool ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

// Allocates immediately. In a capture, every launch of the graph gets the same address.
static CudaError allocate_async(void **pointer, size_t bytes, const Pool *pool, Stream *stream) {
    if (pool != &default_pool) return CUDA_INVALID_VALUE;
    CudaError error = allocate(pointer, bytes, MEMORY_DEVICE);
    if (error) return error;
    Work work = {.kind = WORK_NOTHING, .memory = {(uint64_t)(uintptr_t)*pointer, bytes, false}};
    error = stream_submit(stream, &work);
    if (error) memory_free(work.memory.address);
    return error;
}

API CudaError cudaMallocAsync(void **pointer, size_t bytes, Stream *stream) {
    return RUNTIME(allocate_async(pointer, bytes, &default_pool, stream));
}

API CudaError cudaMallocAsync_ptsz(void **pointer, size_t bytes, Stream *stream) {
    return cudaMallocAsync(pointer, bytes, stream_ptsz(stream));
}

API CudaError cudaMallocFromPoolAsync(void **pointer, size_t bytes, Pool *pool, Stream *stream) {
    return RUNTIME(allocate_async(pointer, bytes, pool, stream));
}

API CudaError cudaMallocFromPoolAsync_ptsz(void **pointer, size_t bytes, Pool *pool,
                                           Stream *stream) {
    return cudaMallocFromPoolAsync(pointer, bytes, pool, stream_ptsz(stream));
}

static CudaError release_async(void *pointer, Stream *handle) {
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    Work work = {.kind = WORK_NOTHING};
    const Allocation *of = memory_find((uint64_t)(uintptr_t)pointer);
    if (of && of->live) {
        work.memory.address = of->address;
        work.memory.bytes = of->bytes;
        work.memory.frees = true;
    }
    error = stream_submit(handle, &work);
    if (error || stream->capture) return error; // the graph may be launched again
    error = queue_run(stream);
    return error ? error : release(pointer, false);
}

API CudaError cudaFreeAsync(void *pointer, Stream *stream) {
    return RUNTIME(release_async(pointer, stream));
}

API CudaError cudaFreeAsync_ptsz(void *pointer, Stream *stream) {
    return cudaFreeAsync(pointer, stream_ptsz(stream));
}

static CudaError memory_info(size_t *left, size_t *total) {
    if (!left || !total) return CUDA_INVALID_VALUE;
    *total = memory_limit();
    *left = memory_limit() - memory_used();
    return CUDA_SUCCESS;
}

API CudaError cudaMemGetInfo(size_t *left, size_t *total) {
    return RUNTIME(memory_info(left, total));
}
