// Computes occupancy: see launch.h.
#include "simt/base/limits.h"
#include "simt/cuda/launch.h"
#include "simt/program/registry.h"

int occupancy_registers(const KernelInfo *info) {
    uint32_t most = DEVICE_REGISTERS / DEVICE_MAX_THREADS;
    return (int)(info->registers < most ? info->registers : most);
}

static CudaError occupancy(int *blocks, const void *function, int threads, size_t shared) {
    KernelEntry *entry;
    if (!blocks || threads <= 0) return CUDA_INVALID_VALUE;
    CudaError error = registry_entry(function, &entry);
    if (error) return error;
    *blocks = kernel_occupancy(&entry->info, threads, shared);
    return CUDA_SUCCESS;
}

API CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                            int threads, size_t shared) {
    return RUNTIME(occupancy(blocks, function, threads, shared));
}

API CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                     const void *function,
                                                                     int threads, size_t shared,
                                                                     unsigned int flags) {
    (void)flags;
    return RUNTIME(occupancy(blocks, function, threads, shared));
}

static CudaError available_shared(size_t *bytes, const void *function, int blocks, int threads) {
    KernelEntry *entry;
    if (!bytes || blocks <= 0 || threads <= 0) return CUDA_INVALID_VALUE;
    CudaError error = registry_entry(function, &entry);
    if (error) return error;
    if (kernel_occupancy(&entry->info, threads, 0) < blocks) return CUDA_INVALID_VALUE;
    size_t each = (size_t)(DEVICE_SHARED_PER_SM / blocks);
    size_t taken = DEVICE_SHARED_RESERVED + entry->info.static_shared_bytes;
    each = each > taken ? each - taken : 0;
    size_t most = DEVICE_SHARED_OPTIN - entry->info.static_shared_bytes;
    *bytes = each < most ? each : most;
    return CUDA_SUCCESS;
}

API CudaError cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                        int blocks, int threads) {
    return RUNTIME(available_shared(bytes, function, blocks, threads));
}
