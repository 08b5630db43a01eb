// The calls of the CUDA runtime that host code makes. See host.h.
#include <string.h>

#include "engine/host.h"
#include "simt/memory/memory.h"
#include "simt/report/read_back.h"

enum { MOST_ARGUMENTS = 5, OUT_OF_MEMORY = 2 };

typedef struct {
    Str name;
    size_t least; // arguments; a stream may follow
    HostValue (*execute)(Host *host, const Expression *call, const uint64_t *arguments);
} CudaCall;

// Whether these bytes are in one live allocation of the device.
static bool is_on_device(uint64_t address, uint64_t bytes) {
    const Allocation *found = memory_find(address);
    return found && found->live && bytes <= found->address + found->bytes - address;
}

static HostValue allocate(Host *host, const Expression *call, const uint64_t *arguments) {
    uint8_t *pointer = host_at(host, arguments[0], sizeof(uint64_t));
    if (!pointer) return host_refuse(host, call->place, "cudaMalloc with this address");
    const uint64_t most = memory_limit() - memory_used();
    const uint64_t address =
        arguments[1] < most ? memory_alloc_kind((size_t)arguments[1], MEMORY_DEVICE) : 0;
    memcpy(pointer, &address, sizeof address);
    return (HostValue){.integer = address ? 0 : OUT_OF_MEMORY};
}

static HostValue release(Host *host, const Expression *call, const uint64_t *arguments) {
    if (memory_free(arguments[0])) return (HostValue){0};
    return host_refuse(host, call->place, "cudaFree of what cudaMalloc has not returned");
}

static HostValue fill(Host *host, const Expression *call, const uint64_t *arguments) {
    const uint64_t address = arguments[0], bytes = arguments[2];
    if (bytes && !is_on_device(address, bytes))
        return host_refuse(host, call->place, "cudaMemset outside of an allocation");
    memset(memory_at(address), (int)(arguments[1] & 0xFF), (size_t)bytes);
    memory_written(address, (size_t)bytes);
    read_back_written(address, (size_t)bytes);
    return (HostValue){0};
}

static HostValue copy(Host *host, const Expression *call, const uint64_t *arguments) {
    const uint64_t to = arguments[0], from = arguments[1], bytes = arguments[2];
    const bool to_device = is_on_device(to, bytes), from_device = is_on_device(from, bytes);
    uint8_t *there = to_device ? memory_at(to) : host_at(host, to, bytes);
    const uint8_t *here = from_device ? memory_at(from) : host_at(host, from, bytes);
    if (!bytes) return (HostValue){0};
    if (!there || !here)
        return host_refuse(host, call->place, "cudaMemcpy outside of an allocation");
    memmove(there, here, (size_t)bytes);
    if (to_device && from_device) memory_copied(to, from, (size_t)bytes);
    if (to_device && !from_device) memory_written(to, (size_t)bytes);
    if (to_device) read_back_written(to, (size_t)bytes);
    if (from_device && !to_device) read_back_read(from, (size_t)bytes);
    return (HostValue){0};
}

// Every call has ended when it returns, so streams and events need no work.
static HostValue nothing(Host *host, const Expression *call, const uint64_t *arguments) {
    (void)host, (void)call, (void)arguments;
    return (HostValue){0};
}

static const CudaCall calls[] = {
    {STR("cudaMalloc"), 2, allocate},
    {STR("cudaFree"), 1, release},
    {STR("cudaMemset"), 3, fill},
    {STR("cudaMemsetAsync"), 3, fill},
    {STR("cudaMemcpy"), 4, copy},
    {STR("cudaMemcpyAsync"), 4, copy},
    {STR("cudaDeviceSynchronize"), 0, nothing},
    {STR("cudaStreamSynchronize"), 1, nothing},
    {STR("cudaStreamCreate"), 1, nothing},
    {STR("cudaStreamCreateWithFlags"), 2, nothing},
    {STR("cudaStreamWaitEvent"), 2, nothing},
    {STR("cudaEventCreate"), 1, nothing},
    {STR("cudaEventCreateWithFlags"), 2, nothing},
    {STR("cudaEventRecord"), 1, nothing},
    {STR("cudaGetLastError"), 0, nothing},
    {STR("cudaPeekAtLastError"), 0, nothing},
};

HostValue host_cuda(Host *host, const Expression *call, const HostValue *arguments) {
    uint64_t values[MOST_ARGUMENTS] = {0};
    for (size_t k = 0; k < call->argument_count && k < MOST_ARGUMENTS; k++)
        values[k] = (uint64_t)arguments[k].integer;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        if (str_equal(calls[k].name, call->text) && call->argument_count >= calls[k].least &&
            call->argument_count <= calls[k].least + 1)
            return calls[k].execute(host, call, values);
    return host_refuse(host, call->place, str_terminated(host->arena, call->text));
}
