// A module and its kernels from the inside: module.c loads them, kernel.c launches them.
#ifndef MODULE_INSIDE_H
#define MODULE_INSIDE_H

#include "simt/base/align.h"
#include "simt/device/device.h"
#include "simt/exec/code.h"
#include "simt/sass/cubin.h"

struct Kernel {
    Module *module;
    Code *code;
    char *mangled;
    size_t *parameter_bytes;
    uint32_t shared_bytes;    // where dynamic shared memory begins
    uint32_t shared_reserved; // of these the system's, in front
    uint32_t registers;       // 0: not known
    Kernel *next;
};

struct Module {
    PtxModule *ptx;      // of machine code, what stands for it
    SassModule *machine; // NULL: it is PTX
    Arena arena;
    SlotTable slots;
    Code **codes;                    // by function
    uint64_t *addresses;             // by variable
    uint64_t memory, managed_memory; // of its variables
    size_t constant_bytes;
    uint32_t shared_bytes;  // of variables outside kernels
    uint32_t dynamic_align; // of dynamic shared memory; 1: it has none
    Kernel *kernels;
};

// Of Lowering: the context is the Module.
bool module_variable_address(void *context, const PtxVariable *variable, uint64_t *address);
Code *module_function_code(void *context, const PtxFunction *function);

#endif
