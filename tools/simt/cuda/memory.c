// Allocation, copies and fills.
#include "simt/memory/memory.h"

#include <string.h>

#include "simt/cuda/runtime.h"

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
    CudaError error = stream_refuse_capture();
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

// Rows start at multiples of 512 bytes, as the texture alignment that is reported.
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

// driver_types.h: cudaPitchedPtr, cudaExtent, cudaPos, cudaMemcpy3DParms.
typedef struct {
    void *pointer;
    size_t pitch, width, height;
} Pitched;

typedef struct {
    size_t width, height, depth;
} Extent;

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

// A program may also free memory of the kind it got from the other calls' families; only the start
// of a live allocation of the right family is accepted.
static CudaError release(const void *pointer, bool pinned) {
    if (!pointer) return CUDA_SUCCESS;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *allocation = memory_find(address);
    if (!allocation || allocation->kind == MEMORY_MODULE) return CUDA_INVALID_VALUE;
    if ((allocation->kind == MEMORY_PINNED) != pinned) return CUDA_INVALID_VALUE;
    return memory_free(address) ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

static CudaError release_now(const void *pointer, bool pinned) {
    CudaError error = stream_refuse_capture();
    return error ? error : release(pointer, pinned);
}

API CudaError cudaFree(void *pointer) { return RUNTIME(release_now(pointer, false)); }
API CudaError cudaFreeHost(void *pointer) { return RUNTIME(release_now(pointer, true)); }

// Stream-ordered allocation: at once, since everything before it has run. In a capture the address
// is the same for every launch of the graph.
static CudaError allocate_async(void **pointer, size_t bytes, Stream *stream) {
    Work nothing = {.kind = WORK_NOTHING};
    CudaError error = stream_submit(stream, &nothing);
    return error ? error : allocate(pointer, bytes, MEMORY_DEVICE);
}

API CudaError cudaMallocAsync(void **pointer, size_t bytes, Stream *stream) {
    return RUNTIME(allocate_async(pointer, bytes, stream));
}

API CudaError cudaMallocAsync_ptsz(void **pointer, size_t bytes, Stream *stream) {
    return cudaMallocAsync(pointer, bytes, stream_ptsz(stream));
}

static CudaError release_async(void *pointer, Stream *stream, bool capturing) {
    if (!capturing) return release(pointer, false);
    Work nothing = {.kind = WORK_NOTHING}; // the graph may be launched again: its memory stays
    return stream_submit(stream, &nothing);
}

API CudaError cudaFreeAsync(void *pointer, Stream *stream) {
    return RUNTIME(release_async(pointer, stream, stream_capturing(stream)));
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

// --- copies ---

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, COPY_DEFAULT };

static bool device_address(uint64_t address) {
    return address >= memory_low && address < memory_high;
}

// The bytes from the first of the first row to the last of the last.
static size_t span(size_t width, size_t pitch, size_t height, size_t slice, size_t depth) {
    return (depth - 1) * slice + (height - 1) * pitch + width;
}

// Whether [address, address + bytes) may be that side of a copy: for the device, all of it in one
// live allocation; for the host, anything but memory that only the device can reach.
static bool side_good(uint64_t address, size_t bytes, bool device, bool either) {
    if (!device_address(address)) return either || !device;
    const Allocation *allocation = memory_find(address);
    if (!allocation || !allocation->live) return false;
    if (address - allocation->address + bytes > allocation->bytes) return false;
    bool touchable = allocation->kind == MEMORY_MANAGED || allocation->kind == MEMORY_PINNED;
    return either || device || touchable;
}

static bool empty(const Copy *copy) {
    return copy->width == 0 || copy->height == 0 || copy->depth == 0;
}

CudaError copy_check(const Copy *copy) {
    if (copy->kind < HOST_TO_HOST || copy->kind > COPY_DEFAULT)
        return CUDA_INVALID_MEMCPY_DIRECTION;
    if (empty(copy)) return CUDA_SUCCESS;
    if (!copy->to || !copy->from) return CUDA_INVALID_VALUE;
    if (copy->height > 1 && (copy->to_pitch < copy->width || copy->from_pitch < copy->width))
        return CUDA_INVALID_PITCH_VALUE;
    bool either = copy->kind == COPY_DEFAULT;
    bool to_device = copy->kind == HOST_TO_DEVICE || copy->kind == DEVICE_TO_DEVICE;
    bool from_device = copy->kind == DEVICE_TO_HOST || copy->kind == DEVICE_TO_DEVICE;
    size_t to = span(copy->width, copy->to_pitch, copy->height, copy->to_slice, copy->depth);
    size_t from = span(copy->width, copy->from_pitch, copy->height, copy->from_slice, copy->depth);
    if (!side_good(copy->to, to, to_device, either)) return CUDA_INVALID_VALUE;
    if (!side_good(copy->from, from, from_device, either)) return CUDA_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static void *reach(uint64_t address) {
    return device_address(address) ? memory_at(address) : (void *)(uintptr_t)address;
}

CudaError copy_run(const Copy *copy) {
    CudaError error = copy_check(copy);
    if (error || empty(copy)) return error;
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++) {
            uint64_t to = copy->to + z * copy->to_slice + y * copy->to_pitch;
            uint64_t from = copy->from + z * copy->from_slice + y * copy->from_pitch;
            memmove(reach(to), reach(from), copy->width);
            if (device_address(to) && device_address(from))
                memory_copied(to, from, copy->width);
            else if (device_address(to))
                memory_written(to, copy->width);
        }
    }
    return CUDA_SUCCESS;
}

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

// A synchronous copy is not allowed during a capture; an asynchronous one goes to the stream.
static CudaError copy_now(Work work) {
    CudaError error = stream_refuse_capture();
    return error ? error : copy_run(&work.copy);
}

static CudaError copy_async(Work work, Stream *stream) {
    CudaError error = copy_check(&work.copy);
    return error ? error : stream_submit(stream, &work);
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

CudaError copy_3d_work(const void *params, Work *work) {
    const Copy3D *in = params;
    if (!in) return CUDA_INVALID_VALUE;
    if (in->from_array || in->to_array)
        return runtime_unsupported("a copy to or from a CUDA array");
    size_t from_slice = in->from.pitch * in->from.height, to_slice = in->to.pitch * in->to.height;
    uint64_t from = (uintptr_t)in->from.pointer + in->from_at.z * from_slice +
                    in->from_at.y * in->from.pitch + in->from_at.x;
    uint64_t to = (uintptr_t)in->to.pointer + in->to_at.z * to_slice + in->to_at.y * in->to.pitch +
                  in->to_at.x;
    work->kind = WORK_COPY;
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
    CudaError error = copy_3d_work(in, &work);
    return error ? error : copy_now(work);
}

static CudaError copy_3d_async(const Copy3D *in, Stream *stream) {
    Work work;
    CudaError error = copy_3d_work(in, &work);
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
    CudaError error = module_symbol(symbol, &address, &size);
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

// --- fills ---

CudaError fill_check(const Fill *fill) {
    if (fill->width == 0 || fill->height == 0) return CUDA_SUCCESS;
    if (fill->element != 1 && fill->element != 2 && fill->element != 4) return CUDA_INVALID_VALUE;
    if (fill->width > SIZE_MAX / fill->element) return CUDA_INVALID_VALUE;
    size_t width = fill->width * fill->element;
    if (fill->height > 1 && fill->pitch < width) return CUDA_INVALID_PITCH_VALUE;
    size_t bytes = span(width, fill->pitch, fill->height, 0, 1);
    if (!device_address(fill->to) || !side_good(fill->to, bytes, true, false))
        return CUDA_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CudaError fill_run(const Fill *fill) {
    CudaError error = fill_check(fill);
    if (error || fill->width == 0) return error;
    for (size_t y = 0; y < fill->height; y++) {
        uint64_t row = fill->to + y * fill->pitch;
        unsigned char *at = memory_at(row);
        if (fill->element == 1)
            memset(at, (int)(fill->value & 0xFF), fill->width);
        else
            for (size_t x = 0; x < fill->width; x++)
                memcpy(at + x * fill->element, &fill->value, fill->element);
        memory_written(row, fill->width * fill->element);
    }
    return CUDA_SUCCESS;
}

static Work fill_work(void *to, size_t pitch, int value, size_t width, size_t height) {
    Fill fill = {(uintptr_t)to, pitch, width, height, (uint32_t)value, 1};
    return (Work){.kind = WORK_FILL, .fill = fill};
}

static CudaError fill_now(Work work) {
    CudaError error = stream_refuse_capture();
    return error ? error : fill_run(&work.fill);
}

static CudaError fill_async(Work work, Stream *stream) {
    CudaError error = fill_check(&work.fill);
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

// Rows of all slices follow each other at the same pitch.
API CudaError cudaMemset3D(Pitched to, int value, Extent extent) {
    if (extent.depth > 1 && extent.height != to.height) return RUNTIME(CUDA_INVALID_VALUE);
    return cudaMemset2D(to.pointer, to.pitch, value, extent.width, extent.height * extent.depth);
}

API CudaError cudaMemset3DAsync(Pitched to, int value, Extent extent, Stream *stream) {
    if (extent.depth > 1 && extent.height != to.height) return RUNTIME(CUDA_INVALID_VALUE);
    return cudaMemset2DAsync(to.pointer, to.pitch, value, extent.width,
                             extent.height * extent.depth, stream);
}

API CudaError cudaMemset3DAsync_ptsz(Pitched to, int value, Extent extent, Stream *stream) {
    return cudaMemset3DAsync(to, value, extent, stream_ptsz(stream));
}

// --- the same calls on the thread's default stream ---

#define PTDS(name) API extern __typeof__(name) name##_ptds __attribute__((alias(#name)))

PTDS(cudaMemcpy);
PTDS(cudaMemcpy2D);
PTDS(cudaMemcpy3D);
PTDS(cudaMemcpyToSymbol);
PTDS(cudaMemcpyFromSymbol);
PTDS(cudaMemset);
PTDS(cudaMemset2D);
PTDS(cudaMemset3D);
