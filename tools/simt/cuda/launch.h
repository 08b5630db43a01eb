// Limits of kernel launches.
#ifndef LAUNCH_H
#define LAUNCH_H

#include "simt/cuda/registry.h"

CudaError launch_check(const KernelEntry *entry, const Launch *launch); // shape and resources

#endif
