// Checks kernel launches, and computes occupancy.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "simt/device/device.h"
#include "simt/program/registry.h"

// Fills in the cluster, if the launch requests none: the kernel's own, or single blocks.
void launch_complete(const KernelEntry *entry, Launch *launch);

// --- limits ---

// Checks shape and resources. If the launch is impossible, reports it as failed.
CudaError launch_check(const KernelEntry *entry, const Launch *launch);
// Checks only the shape, and reports nothing: `why` is what is requested and what is possible.
enum { LAUNCH_WHY = 200 };
CudaError launch_check_shape(const KernelEntry *entry, const Launch *launch, char why[LAUNCH_WHY]);
// Reports a launch that failed. entry: NULL if there is no such kernel; why: NULL for the error's
// text.
void launch_failed(const KernelEntry *entry, CudaError error, const char *why);

// --- occupancy ---

// The registers per thread that are reported: an estimate, capped at what a full block could use.
int occupancy_registers(const KernelInfo *info);

#endif
