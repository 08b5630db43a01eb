// Checks launches against the limits of the device and the kernel, and reports those that fail.
#include <stdio.h>
#include <string.h>

#include "simt/base/limits.h"
#include "simt/cuda/launch.h"
#include "simt/report/name.h"

// --- what is requested, and what is possible ---

// The number with commas: 49,152. The text is valid until six more calls.
static const char *grouped(uint64_t number) {
    enum { TEXTS = 6, ROOM = 28 };
    static char texts[TEXTS][ROOM];
    static unsigned next;
    char *at = texts[next++ % TEXTS] + ROOM - 1;
    *at = '\0';
    for (int digit = 0; !digit || number; digit++, number /= 10) {
        if (digit && digit % 3 == 0) *--at = ',';
        *--at = (char)('0' + number % 10);
    }
    return at;
}

static uint64_t product(Dim3 shape) { return (uint64_t)shape.x * shape.y * shape.z; }

#define SHAPE(of)   grouped((of).x), grouped((of).y), grouped((of).z)
#define REFUSE(...) (snprintf(why, LAUNCH_WHY, __VA_ARGS__), CUDA_INVALID_VALUE)

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". The errors, also
// for the kernel's own limit, are those of CUDA 13 on an H200.
static CudaError check_shape(const Launch *launch, char why[LAUNCH_WHY]) {
    const Dim3 grid = launch->grid, block = launch->block;
    if (!grid.x || !grid.y || !grid.z) return REFUSE("a grid of 0 blocks");
    if (grid.x > DEVICE_MAX_GRID_X || grid.y > DEVICE_MAX_GRID_YZ || grid.z > DEVICE_MAX_GRID_YZ)
        return REFUSE("a grid of %s x %s x %s blocks; at most %s x %s x %s", SHAPE(grid),
                      grouped(DEVICE_MAX_GRID_X), grouped(DEVICE_MAX_GRID_YZ),
                      grouped(DEVICE_MAX_GRID_YZ));
    if (!block.x || !block.y || !block.z) return REFUSE("a block of 0 threads");
    if (block.x > DEVICE_MAX_THREADS || block.y > DEVICE_MAX_THREADS ||
        block.z > DEVICE_MAX_THREADS || product(block) > DEVICE_MAX_THREADS) {
        if (block.y == 1 && block.z == 1)
            return REFUSE("%s threads per block; at most %s", grouped(block.x),
                          grouped(DEVICE_MAX_THREADS));
        return REFUSE("%s x %s x %s threads per block; at most %s in all", SHAPE(block),
                      grouped(DEVICE_MAX_THREADS));
    }
    if (block.z > DEVICE_MAX_BLOCK_Z)
        return REFUSE("a block of %s threads in z; at most %d", grouped(block.z),
                      DEVICE_MAX_BLOCK_Z);
    return CUDA_SUCCESS;
}

// CUDA C++ Programming Guide, "Thread Block Clusters"; driver_types.h: cudaErrorInvalidClusterSize,
// "a kernel launch error has occurred due to cluster misconfiguration".
static CudaError check_cluster(const KernelEntry *entry, const Launch *launch,
                               char why[LAUNCH_WHY]) {
    const Dim3 grid = launch->grid, each = launch->cluster, own = entry->cluster;
    const uint32_t limit = entry->nonportable_cluster ? DEVICE_CLUSTER_MOST : DEVICE_CLUSTER;
    const uint32_t most = entry->info.max_cluster;
    CudaError error = CUDA_SUCCESS;
    if (!product(each))
        error = REFUSE("a cluster of 0 blocks");
    else if (each.x > limit || each.y > limit || each.z > limit || product(each) > limit)
        error = REFUSE("a cluster of %s x %s x %s blocks; at most %u", SHAPE(each), limit);
    else if (grid.x % each.x || grid.y % each.y || grid.z % each.z)
        error = REFUSE("a grid of %s x %s x %s blocks, not a multiple of its clusters, %u x %u x "
                       "%u blocks",
                       SHAPE(grid), each.x, each.y, each.z);
    else if (own.x && (own.x != each.x || own.y != each.y || own.z != each.z))
        error = REFUSE("a cluster of %u x %u x %u blocks; the kernel needs %u x %u x %u", each.x,
                       each.y, each.z, own.x, own.y, own.z);
    else if (most && product(each) > most)
        error =
            REFUSE("a cluster of %s blocks; the kernel allows %u", grouped(product(each)), most);
    else if (entry->info.explicit_cluster && !launch->explicit_cluster)
        error = REFUSE("no size of clusters, which the kernel needs");
    return error ? CUDA_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

CudaError launch_check_shape(const KernelEntry *entry, const Launch *launch, char why[LAUNCH_WHY]) {
    const CudaError error = check_shape(launch, why);
    return error ? error : check_cluster(entry, launch, why);
}

static CudaError check_resources(const KernelEntry *entry, const Launch *launch,
                                 char why[LAUNCH_WHY]) {
    const KernelInfo *info = &entry->info;
    const uint64_t threads = product(launch->block), blocks = product(launch->grid);
    const uint64_t dynamic = launch->dynamic_shared_bytes, fixed = info->static_shared_bytes;
    const uint64_t most = (uint64_t)entry->max_dynamic_shared;
    if (threads > info->max_threads_per_block)
        return REFUSE("%s threads per block; this kernel allows %s (__launch_bounds__)",
                      grouped(threads), grouped(info->max_threads_per_block));
    if (dynamic > most)
        return REFUSE(
            "%s static and %s dynamic bytes of shared memory; at most %s%s", grouped(fixed),
            grouped(dynamic), grouped(most + fixed),
            dynamic + fixed <= DEVICE_SHARED_OPTIN ? " (cudaFuncSetAttribute() allows more)" : "");
    const CudaError error = check_cluster(entry, launch, why);
    if (error || !launch->cooperative) return error;
    const int per_sm = kernel_occupancy(info, (int)threads, dynamic);
    const uint64_t resident = (uint64_t)per_sm * limits_sms();
    if (blocks <= resident) return CUDA_SUCCESS;
    snprintf(why, LAUNCH_WHY, "%s blocks at a time; this kernel and device hold %s",
             grouped(blocks), grouped(resident));
    return CUDA_COOPERATIVE_LAUNCH_TOO_LARGE;
}

// --- reports ---

void launch_failed(const KernelEntry *entry, CudaError error, const char *why) {
    char name[512];
    const char *kernel = entry ? name_kernel(entry->mangled, name, sizeof name) : "a kernel";
    runtime_failed_launch(kernel, why ? why : error_text(error), error);
}

CudaError launch_check(const KernelEntry *entry, const Launch *launch) {
    char why[LAUNCH_WHY] = "";
    CudaError error = check_shape(launch, why);
    if (!error) error = check_resources(entry, launch, why);
    if (error) launch_failed(entry, error, why);
    return error;
}
