// The resources and limits of a kernel, and whether a launch fits them. The interface is device.h.
#include <stdio.h>

#include "simt/base/align.h"
#include "simt/base/limits.h"
#include "simt/device/module_inside.h"

void kernel_info(const Kernel *kernel, KernelInfo *info) {
    const PtxFunction *function = kernel->code->source;
    uint32_t words = 0;
    for (uint32_t k = 0; k < function->register_count; k++) {
        uint32_t bytes = ptx_type_bytes(function->registers[k].type);
        words += bytes == 8 ? 2 : bytes ? 1 : 0;
    }
    // PTX has a register for every value; about a quarter of the values are live at a time.
    uint32_t registers = kernel->registers ? kernel->registers : 16 + words / 4;
    *info = (KernelInfo){.mangled = kernel->mangled,
                         .parameter_count = function->param_count,
                         .parameter_bytes = kernel->parameter_bytes,
                         .static_shared_bytes = kernel->shared_bytes - kernel->shared_reserved,
                         .local_bytes = function->local_bytes,
                         .constant_bytes = kernel->module->constant_bytes,
                         .registers = registers > 255 ? 255 : registers,
                         .max_threads_per_block = DEVICE_MAX_THREADS,
                         .ptx_version = kernel->module->ptx->version,
                         .sm_target = kernel->module->ptx->target,
                         .cluster = function->cluster,
                         .max_cluster = function->max_cluster,
                         .explicit_cluster = function->explicit_cluster,
                         .releases = function->releases};
    if (function->max_threads && function->max_threads < DEVICE_MAX_THREADS)
        info->max_threads_per_block = function->max_threads;
}

int kernel_occupancy(const KernelInfo *info, int threads, size_t dynamic_shared_bytes) {
    if (threads > (int)info->max_threads_per_block) return 0;
    int warps = (threads + DEVICE_WARP - 1) / DEVICE_WARP;
    int blocks = (int)limits_sm_threads() / DEVICE_WARP / warps;
    if (blocks > (int)limits_sm_blocks()) blocks = (int)limits_sm_blocks();
    if (info->static_shared_bytes > DEVICE_SHARED_OPTIN ||
        dynamic_shared_bytes > DEVICE_SHARED_OPTIN - info->static_shared_bytes)
        return 0;
    const size_t shared =
        align_up(info->static_shared_bytes + dynamic_shared_bytes + DEVICE_SHARED_RESERVED,
                 DEVICE_SHARED_UNIT);
    int fit = DEVICE_SHARED_PER_SM / (int)shared;
    return fit < blocks ? fit : blocks;
}

static SimtStatus refuse(SimtError *error, SimtStatus status, const char *text,
                         unsigned long long have, unsigned long long limit) {
    snprintf(error->text, sizeof error->text, "%s: %llu, at most %llu", text, have, limit);
    return status;
}

static SimtStatus check_cluster(const Launch *launch, SimtError *error) {
    const Dim3 grid = launch->grid, each = launch->cluster;
    if (each.x && each.y && each.z && grid.x % each.x == 0 && grid.y % each.y == 0 &&
        grid.z % each.z == 0 && (uint64_t)each.x * each.y * each.z <= DEVICE_CLUSTER_MOST)
        return SIMT_OK;
    snprintf(error->text, sizeof error->text,
             "a grid of %ux%ux%u blocks has no clusters of %ux%ux%u", grid.x, grid.y, grid.z,
             each.x, each.y, each.z);
    return SIMT_INVALID_CONFIG;
}

SimtStatus kernel_check_launch(const Kernel *kernel, const Launch *launch, SimtError *error) {
    KernelInfo info;
    kernel_info(kernel, &info);
    Dim3 grid = launch->grid, block = launch->block;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z) {
        snprintf(error->text, sizeof error->text, "a dimension of the launch is 0");
        return SIMT_INVALID_CONFIG;
    }
    uint64_t threads = (uint64_t)block.x * block.y;
    threads = threads > UINT32_MAX ? threads : threads * block.z;
    if (threads > info.max_threads_per_block) {
        return refuse(error, SIMT_INVALID_CONFIG, "threads per block", threads,
                      info.max_threads_per_block);
    }
    if (block.z > DEVICE_MAX_BLOCK_Z)
        return refuse(error, SIMT_INVALID_CONFIG, "block z", block.z, DEVICE_MAX_BLOCK_Z);
    if (grid.x > DEVICE_MAX_GRID_X || grid.y > DEVICE_MAX_GRID_YZ || grid.z > DEVICE_MAX_GRID_YZ) {
        snprintf(error->text, sizeof error->text, "the grid is too large");
        return SIMT_INVALID_CONFIG;
    }
    Dim3 required = kernel->code->source->required;
    if (required.x && (required.x != block.x || required.y != block.y || required.z != block.z)) {
        snprintf(error->text, sizeof error->text, "the kernel requires blocks of %ux%ux%u",
                 required.x, required.y, required.z);
        return SIMT_INVALID_CONFIG;
    }
    SimtStatus status = check_cluster(launch, error);
    if (status != SIMT_OK) return status;
    uint64_t shared = (uint64_t)info.static_shared_bytes + launch->dynamic_shared_bytes;
    if (shared > DEVICE_SHARED_OPTIN) {
        return refuse(error, SIMT_OUT_OF_RESOURCES, "bytes of shared memory per block", shared,
                      DEVICE_SHARED_OPTIN);
    }
    return SIMT_OK;
}
