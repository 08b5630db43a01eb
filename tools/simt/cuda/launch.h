// Limits of kernel launches.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "simt/program/registry.h"

// The cluster that is not asked for is the kernel's own, or single blocks.
void launch_complete(const KernelEntry *entry, Launch *launch);
CudaError launch_check(const KernelEntry *entry, const Launch *launch); // shape and resources

#endif
