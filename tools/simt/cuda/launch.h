// Checks kernel launches, and computes occupancy.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "simt/device/device.h"
#include "simt/program/registry.h"

// Fills in the cluster, if the launch requests none: the kernel's own, or single blocks.
void launch_complete(const KernelEntry *entry, Launch *launch);
CudaError launch_check(const KernelEntry *entry, const Launch *launch); // shape and resources

// --- occupancy ---

// Blocks of this kernel that fit on one multiprocessor: the least of the limits on threads, blocks,
// and shared memory. Registers are left out, because ptxas decides their number.
int occupancy_blocks(const KernelInfo *info, int threads, size_t dynamic_shared_bytes);

// The registers per thread that are reported: an estimate, capped at what a full block could use.
int occupancy_registers(const KernelInfo *info);

#endif
