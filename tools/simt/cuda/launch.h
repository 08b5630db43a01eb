// Limits of kernel launches, and occupancy.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "simt/device/device.h"
#include "simt/program/registry.h"

// The cluster that is not asked for is the kernel's own, or single blocks.
void launch_complete(const KernelEntry *entry, Launch *launch);
CudaError launch_check(const KernelEntry *entry, const Launch *launch); // shape and resources

// --- what a multiprocessor holds of a kernel ---

// Blocks of this kernel that fit on one multiprocessor: the least of the limits on threads, blocks
// and shared memory. Registers are left out, since their number is decided by ptxas.
int occupancy_blocks(const KernelInfo *info, int threads, size_t dynamic_shared_bytes);

// What is reported as registers per thread: the estimate, within what a full block could have.
int occupancy_registers(const KernelInfo *info);

#endif
