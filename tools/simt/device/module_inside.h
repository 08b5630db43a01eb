// A module and its kernels from the inside: module.c loads them, kernel.c launches them.
#ifndef MODULE_INSIDE_H
#define MODULE_INSIDE_H

#include "simt/base/align.h"
#include "simt/device/device.h"
#include "simt/device/shared_room.h"
#include "simt/exec/code.h"
#include "simt/sass/cubin.h"

struct Kernel {
    Module *module;
    Code *code;
    Code **codes; // by function: those that it may call; NULL: not lowered yet
    char *mangled;
    size_t *parameter_bytes;
    SharedRoom room;
    uint32_t shared_bytes;    // where dynamic shared memory begins
    uint32_t shared_reserved; // of these the system's, in front
    uint32_t registers;       // 0: not known
    uint32_t reordered;       // launches that other orders were tried of, see orders.h
    Kernel *next;
};

struct Module {
    PtxModule *ptx;      // of machine code, what stands for it
    SassModule *machine; // NULL: it is PTX
    Arena arena;
    SlotTable slots;
    SharedUses *uses;    // NULL: it is machine code
    Code **codes;        // by function
    Code **every_code;   // these, and copies for single kernels
    uint32_t code_count; // of every_code
    size_t code_capacity;
    uint64_t *addresses;                              // by variable
    uint64_t memory, constant_memory, managed_memory; // of its variables
    size_t constant_bytes;
    uint32_t dynamic_align; // of dynamic shared memory; 1: it has none
    Kernel *kernels;
};

bool module_variable_address(const Module *module, const PtxVariable *variable, uint64_t *address);
Code *module_code_new(Module *module, const PtxFunction *source, uint32_t number);
// The Code of a function as all kernels have it that have no copy of their own.
Code *module_function_code(Module *module, const PtxFunction *function);

#endif
