// What the program registers before main(): modules, kernels and variables.
#ifndef REGISTRY_H
#define REGISTRY_H

#include "simt/program/runtime.h"

typedef struct RegisteredModule RegisteredModule;

typedef struct KernelEntry {
    struct KernelEntry *next;
    const void *host; // the stub's address, which programs use as the kernel's name
    const char *mangled;
    RegisteredModule *module;
    Kernel *kernel; // NULL until the module is loaded
    KernelInfo info;
    int max_dynamic_shared; // bytes; raised by cudaFuncSetAttribute
    int carveout, nonportable_cluster;
    Dim3 cluster; // that every launch must have; x is 0: none. From the kernel or an attribute
} KernelEntry;

// The entry of a stub address or of a handle, its module loaded.
CudaError registry_entry(const void *function, KernelEntry **entry);
CudaError registry_symbol(const void *symbol, uint64_t *address, size_t *bytes);

#endif
