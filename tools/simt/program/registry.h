// Kernels and variables that the program registers before main().
#ifndef REGISTRY_H
#define REGISTRY_H

#include "simt/program/runtime.h"

typedef struct RegisteredModule RegisteredModule;

typedef struct KernelEntry {
    struct KernelEntry *next;
    const void *host; // the stub's address, by which programs refer to the kernel
    const char *mangled;
    RegisteredModule *module;
    Kernel *kernel; // NULL until the module is loaded
    KernelInfo info;
    int max_dynamic_shared; // bytes; raised by cudaFuncSetAttribute
    int carveout, nonportable_cluster;
    Dim3 cluster; // required of every launch by the kernel or an attribute; x is 0: none
} KernelEntry;

// Finds the entry for a stub address or a handle, and loads its module.
CudaError registry_entry(const void *function, KernelEntry **entry);
CudaError registry_symbol(const void *symbol, uint64_t *address, size_t *bytes);

#endif
