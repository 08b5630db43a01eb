// The calls of the CUDA runtime that host code makes. See host.h.
#include <string.h>

#include "engine/host.h"
#include "simt/base/limits.h"
#include "simt/device/device.h"
#include "simt/memory/memory.h"
#include "simt/report/read_back.h"

enum { MOST_ARGUMENTS = 6 };
static const char OUTSIDE[] = "the bytes are outside of an allocation",
                  NO_PLACE[] = "the result has no place in the host's memory",
                  NO_KERNEL[] = "the function is not a kernel";
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_FUNCTION = 98, LAUNCH_TOO_LARGE = 720 };

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

// A call fails as on a device: host code gets the error and goes on. The first one is noted.
static HostValue fail(Host *host, const Expression *call, int64_t error, const char *why) {
    Buf message = {.arena = host->arena};
    const Str name = call->built_in == BUILT_IN_LAUNCH ? call->function->name : call->text;
    buf_format(&message, "`%.*s` failed: %s", STR_ARG(name), why);
    if (!host->failure.message.len)
        host->failure = (Refusal){.place = call->place, .message = buf_str(&message)};
    return (HostValue){.integer = host->error = error};
}

static HostValue allocate(Host *host, const Expression *call, const uint64_t *arguments) {
    uint8_t *pointer = host_at(host, arguments[0], sizeof(uint64_t));
    if (!pointer) return fail(host, call, INVALID_VALUE, NO_PLACE);
    const uint64_t most = memory_limit() - memory_used(), bytes = arguments[1];
    const uint64_t address =
        bytes && bytes < most ? memory_alloc_kind((size_t)bytes, MEMORY_DEVICE) : 0;
    memcpy(pointer, &address, sizeof address);
    return address || !bytes ? (HostValue){0}
                             : fail(host, call, OUT_OF_MEMORY, "there is no memory left");
}

static HostValue release(Host *host, const Expression *call, const uint64_t *arguments) {
    if (memory_free(arguments[0])) return (HostValue){0};
    return fail(host, call, INVALID_VALUE, "cudaMalloc has not returned this pointer");
}

static HostValue fill(Host *host, const Expression *call, const uint64_t *arguments) {
    const uint64_t address = arguments[0], bytes = arguments[2];
    if (bytes && !is_on_device(address, bytes)) return fail(host, call, INVALID_VALUE, OUTSIDE);
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
    if (!there || !here) return fail(host, call, INVALID_VALUE, OUTSIDE);
    memmove(there, here, (size_t)bytes);
    if (to_device && from_device) memory_copied(to, from, (size_t)bytes);
    if (to_device && !from_device) memory_written(to, (size_t)bytes);
    if (to_device) read_back_written(to, (size_t)bytes);
    if (from_device && !to_device) read_back_read(from, (size_t)bytes);
    return (HostValue){0};
}

// --- the device and its kernels ---

static HostValue give(Host *host, const Expression *call, uint64_t address, uint32_t value) {
    uint8_t *to = host_at(host, address, sizeof value);
    if (!to) return fail(host, call, INVALID_VALUE, NO_PLACE);
    memcpy(to, &value, sizeof value);
    return (HostValue){0};
}

static HostValue get_device(Host *host, const Expression *call, const uint64_t *arguments) {
    return give(host, call, arguments[0], 0);
}

// Those of enum cudaDeviceAttr that the prelude of the compiler declares.
static HostValue get_attribute(Host *host, const Expression *call, const uint64_t *arguments) {
    const struct {
        uint32_t attribute, value;
    } facts[] = {
        {1, DEVICE_MAX_THREADS},
        {8, DEVICE_SHARED_DEFAULT},
        {10, DEVICE_WARP},
        {12, DEVICE_REGISTERS},
        {16, limits_sms()},
        {39, limits_sm_threads()},
        {75, DEVICE_ARCH / 10},
        {76, DEVICE_ARCH % 10},
        {81, DEVICE_SHARED_PER_SM},
        {82, DEVICE_REGISTERS},
        {95, 1},
        {97, DEVICE_SHARED_OPTIN},
        {106, limits_sm_blocks()},
    };
    for (size_t k = 0; k < sizeof facts / sizeof *facts; k++)
        if (facts[k].attribute == arguments[1] && arguments[2] == 0)
            return give(host, call, arguments[0], facts[k].value);
    return host_refuse(host, call->place, "cudaDeviceGetAttribute of this attribute");
}

static bool info_of(Host *host, const Function *kernel, KernelInfo *info) {
    const Kernel *found = host->ended ? NULL : host->kernel(host->context, kernel);
    if (found) kernel_info(found, info);
    host->ended = !found;
    return found;
}

// The kernel that an argument points to. NULL: it is not one, or the host has ended.
static const Function *kernel_at(Host *host, uint64_t argument, KernelInfo *info) {
    const Function *f = host_function(host, (HostValue){.integer = (int64_t)argument});
    return f && f->is_kernel && info_of(host, f, info) ? f : NULL;
}

static HostValue occupancy(Host *host, const Expression *call, const uint64_t *arguments) {
    KernelInfo info;
    const int threads = (int)arguments[2];
    if (threads <= 0) return fail(host, call, INVALID_VALUE, "a block has at least one thread");
    if (!kernel_at(host, arguments[1], &info)) return fail(host, call, INVALID_FUNCTION, NO_KERNEL);
    const int blocks = kernel_occupancy(&info, threads, (size_t)arguments[3]);
    return give(host, call, arguments[0], (uint32_t)blocks);
}

static HostValue set_attribute(Host *host, const Expression *call, const uint64_t *arguments) {
    enum { MAX_DYNAMIC_SHARED = 8, CARVEOUT = 9 };
    KernelInfo info;
    const Function *kernel = kernel_at(host, arguments[0], &info);
    if (!kernel) return fail(host, call, INVALID_FUNCTION, NO_KERNEL);
    if (arguments[1] == CARVEOUT) return (HostValue){0}; // a hint
    if (arguments[1] != MAX_DYNAMIC_SHARED)
        return host_refuse(host, call->place, "cudaFuncSetAttribute of this attribute");
    if (arguments[2] > DEVICE_SHARED_OPTIN - info.static_shared_bytes)
        return fail(host, call, INVALID_VALUE, "a block does not have so much shared memory");
    ARENA_GROW(host->arena, host->limits, host->limit_count, host->limit_capacity);
    host->limits[host->limit_count].kernel = kernel;
    host->limits[host->limit_count++].bytes = arguments[2];
    return (HostValue){0};
}

static uint64_t most_dynamic(const Host *host, const Function *kernel, const KernelInfo *info) {
    for (size_t k = host->limit_count; k-- > 0;)
        if (host->limits[k].kernel == kernel) return host->limits[k].bytes;
    const uint64_t fixed = info->static_shared_bytes;
    return fixed < DEVICE_SHARED_DEFAULT ? DEVICE_SHARED_DEFAULT - fixed : 0;
}

HostValue host_start(Host *host, const Expression *call, const HostLaunch *made) {
    KernelInfo info;
    if (!info_of(host, made->kernel, &info)) return (HostValue){0};
    if (made->shared_bytes > most_dynamic(host, made->kernel, &info))
        return fail(
            host, call, INVALID_VALUE,
            "a block has 48 KB of shared memory, unless cudaFuncSetAttribute() allows more");
    if (!host->launch(host->context, made)) host->ended = true;
    return (HostValue){0};
}

// Takes the arguments of a kernel from a list of pointers to them.
static bool take_arguments(Host *host, const Function *f, uint64_t list, HostLaunch *made) {
    if (f->parameter_count > HOST_ARGUMENTS) return false;
    for (; made->count < f->parameter_count; made->count++) {
        const Type *type = f->parameters[made->count]->type;
        uint64_t address;
        const uint8_t *pointer = host_at(host, list + 8 * made->count, sizeof address);
        if (pointer) memcpy(&address, pointer, sizeof address);
        const uint8_t *bytes = pointer ? host_at(host, address, type->size) : NULL;
        if (!bytes || type->kind == TYPE_STRUCT) return false;
        memcpy(&made->values[made->count], bytes, (size_t)type->size);
        made->bytes[made->count] = (size_t)type->size;
    }
    return true;
}

static bool holds_all(const HostLaunch *made, const KernelInfo *info) {
    const uint64_t threads = (uint64_t)made->block[0] * made->block[1] * made->block[2];
    const uint64_t blocks = (uint64_t)made->grid[0] * made->grid[1] * made->grid[2];
    if (!threads || threads > DEVICE_MAX_THREADS) return true; // the launch refuses it
    const int per_sm = kernel_occupancy(info, (int)threads, (size_t)made->shared_bytes);
    return blocks <= (uint64_t)per_sm * limits_sms();
}

// cudaLaunchKernel(kernel, grid, block, arguments, bytes, stream)
static HostValue launch(Host *host, const Expression *call, const uint64_t *arguments) {
    KernelInfo info;
    HostLaunch made = {.kernel = kernel_at(host, arguments[0], &info),
                       .shared_bytes = arguments[4],
                       .cooperative = str_equal(call->text, STR("cudaLaunchCooperativeKernel"))};
    if (!made.kernel) return fail(host, call, INVALID_FUNCTION, NO_KERNEL);
    host_shape(host, call->arguments[1]->type, (HostValue){.integer = (int64_t)arguments[1]},
               made.grid);
    host_shape(host, call->arguments[2]->type, (HostValue){.integer = (int64_t)arguments[2]},
               made.block);
    if (!take_arguments(host, made.kernel, arguments[3], &made))
        return host_refuse(host, call->place, "a launch with these pointers to arguments");
    if (made.cooperative && !holds_all(&made, &info))
        return fail(host, call, LAUNCH_TOO_LARGE,
                    "the device cannot hold all blocks of this kernel at the same time");
    return host_start(host, call, &made);
}

// --- errors, and what needs no work ---

static HostValue last_error(Host *host, const Expression *call, const uint64_t *arguments) {
    const HostValue error = {.integer = host->error};
    (void)arguments;
    if (str_equal(call->text, STR("cudaGetLastError"))) host->error = 0;
    return error;
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
    {STR("cudaGetLastError"), 0, last_error},
    {STR("cudaPeekAtLastError"), 0, last_error},
    {STR("cudaGetDevice"), 1, get_device},
    {STR("cudaDeviceGetAttribute"), 3, get_attribute},
    {STR("cudaFuncSetAttribute"), 3, set_attribute},
    {STR("cudaOccupancyMaxActiveBlocksPerMultiprocessor"), 4, occupancy},
    {STR("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"), 5, occupancy},
    {STR("cudaLaunchKernel"), 5, launch},
    {STR("cudaLaunchCooperativeKernel"), 5, launch},
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
