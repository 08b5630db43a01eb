// Pointer attributes, host memory that the program registers, and placement hints.
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "simt/base/align.h"
#include "simt/cuda/unfinished.h"
#include "simt/memory/memory.h"

// driver_types.h: cudaPointerAttributes, enum cudaMemoryType. CUDA 13 appends reserved words, which
// CUDA 12 programs do not allocate.
enum { UNREGISTERED, HOST, DEVICE, MANAGED };

typedef struct {
    int type, device;
    void *device_pointer, *host_pointer;
} PointerAttributes;

enum { PAGE = 4096 };

// Host memory that the program registered. Copies can access it; kernels cannot.
typedef struct Registered {
    struct Registered *next;
    char *start;
    size_t bytes;
} Registered;

static Registered *registered;

static Registered **find_registered(const void *pointer) {
    for (Registered **link = &registered; *link; link = &(*link)->next)
        if ((size_t)((const char *)pointer - (*link)->start) < (*link)->bytes) return link;
    return NULL;
}

static const Allocation *find_live(const void *pointer) {
    const Allocation *allocation = memory_find((uint64_t)(uintptr_t)pointer);
    return allocation && allocation->live ? allocation : NULL;
}

static CudaError attributes(PointerAttributes *out, void *pointer) {
    if (!out) return CUDA_INVALID_VALUE;
    static const int types[] = {
        [MEMORY_MODULE] = DEVICE, [MEMORY_CONSTANTS] = DEVICE, [MEMORY_VARIABLES] = MANAGED,
        [MEMORY_DEVICE] = DEVICE, [MEMORY_HEAP] = DEVICE,      [MEMORY_MANAGED] = MANAGED,
        [MEMORY_PINNED] = HOST};
    const Allocation *allocation = find_live(pointer);
    if (!allocation) {
        *out = (PointerAttributes){.type = find_registered(pointer) ? HOST : UNREGISTERED,
                                   .device = find_registered(pointer) ? 0 : -2,
                                   .host_pointer = pointer};
        return CUDA_SUCCESS;
    }
    int type = types[allocation->kind];
    *out = (PointerAttributes){
        .type = type, .device_pointer = pointer, .host_pointer = type == DEVICE ? NULL : pointer};
    return CUDA_SUCCESS;
}

API CudaError cudaPointerGetAttributes(PointerAttributes *out, void *pointer) {
    return RUNTIME(attributes(out, pointer));
}

static CudaError device_pointer(void **out, void *pointer) {
    if (!out) return CUDA_INVALID_VALUE;
    const Allocation *allocation = find_live(pointer);
    if (allocation && allocation->kind == MEMORY_PINNED) {
        *out = pointer;
        return CUDA_SUCCESS;
    }
    if (find_registered(pointer))
        return runtime_unsupported("a device pointer to memory from cudaHostRegister");
    return CUDA_INVALID_VALUE;
}

API CudaError cudaHostGetDevicePointer(void **out, void *pointer, unsigned int flags) {
    return RUNTIME(flags ? CUDA_INVALID_VALUE : device_pointer(out, pointer));
}

static CudaError host_flags(unsigned int *flags, void *pointer) {
    const Allocation *allocation = find_live(pointer);
    if (!flags || !allocation || allocation->kind != MEMORY_PINNED) return CUDA_INVALID_VALUE;
    *flags = 2; // cudaHostAllocMapped: kernels can access all pinned memory
    return CUDA_SUCCESS;
}

API CudaError cudaHostGetFlags(unsigned int *flags, void *pointer) {
    return RUNTIME(host_flags(flags, pointer));
}

// Whether these bytes are mapped in the process. The system call does not change them.
static bool is_mapped(const void *pointer, size_t bytes) {
    const uintptr_t page = PAGE - 1, start = (uintptr_t)pointer & ~page;
    const size_t length = ((uintptr_t)pointer & page) + bytes;
    return bytes <= PTRDIFF_MAX && msync((void *)start, length, MS_ASYNC) == 0;
}

static CudaError add_registered(void *pointer, size_t bytes) {
    if (!pointer || bytes == 0 || !is_mapped(pointer, bytes)) return CUDA_INVALID_VALUE;
    if (find_registered(pointer) || find_live(pointer)) return CUDA_HOST_MEMORY_ALREADY_REGISTERED;
    Registered *added = malloc(sizeof *added);
    if (!added) return CUDA_MEMORY_ALLOCATION;
    *added = (Registered){registered, pointer, bytes};
    registered = added;
    return CUDA_SUCCESS;
}

API CudaError cudaHostRegister(void *pointer, size_t bytes, unsigned int flags) {
    (void)flags;
    return RUNTIME(add_registered(pointer, bytes));
}

static CudaError remove_registered(const void *pointer) {
    // A host function may let another thread unregister it.
    const CudaError error = unfinished_wait_all();
    Registered **link = find_registered(pointer);
    if (!link || (*link)->start != pointer) return CUDA_HOST_MEMORY_NOT_REGISTERED;
    Registered *gone = *link;
    *link = gone->next;
    free(gone);
    return error;
}

API CudaError cudaHostUnregister(void *pointer) { return RUNTIME(remove_registered(pointer)); }

// Checks placement advice. It has no effect, because managed memory has only one place.
static CudaError placement(const void *pointer, size_t bytes) {
    const Allocation *allocation = find_live(pointer);
    if (!allocation || (allocation->kind != MEMORY_MANAGED && allocation->kind != MEMORY_VARIABLES))
        return CUDA_INVALID_VALUE;
    const uint64_t at = (uint64_t)(uintptr_t)pointer - allocation->address;
    const uint64_t most = align_up(allocation->bytes, PAGE) - at;
    return bytes <= most ? CUDA_SUCCESS : CUDA_INVALID_VALUE;
}

// CUDA 13 passes a location where CUDA 12 passes a device. Both are ignored.
API CudaError cudaMemAdvise(const void *pointer, size_t bytes) {
    return RUNTIME(placement(pointer, bytes));
}
API CudaError cudaMemPrefetchAsync(const void *pointer, size_t bytes) {
    return RUNTIME(placement(pointer, bytes));
}
API CudaError cudaStreamAttachMemAsync(Stream *stream, const void *pointer, size_t bytes) {
    (void)stream;
    return RUNTIME(placement(pointer, bytes));
}

#define SAME(name, as) API extern __typeof__(as) name __attribute__((alias(#as)))

SAME(cudaMemAdvise_v2, cudaMemAdvise);
SAME(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync);
SAME(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync);
SAME(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync);
SAME(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync);
