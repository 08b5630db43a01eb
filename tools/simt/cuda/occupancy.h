// What a multiprocessor holds of a kernel.
#ifndef OCCUPANCY_H
#define OCCUPANCY_H

#include "simt/device/device.h"

// Blocks of this kernel that fit on one multiprocessor: the least of the limits on threads, blocks
// and shared memory. Registers are left out, since their number is decided by ptxas.
int occupancy_blocks(const KernelInfo *info, int threads, size_t dynamic_shared_bytes);

// What is reported as registers per thread: the estimate, within what a full block could have.
int occupancy_registers(const KernelInfo *info);

#endif
