// What the files of device/ share: a module and its kernels, which module.c loads, kernel.c
// describes, prepare.c lowers and launch.c runs.
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

// The registers of a kernel and of the functions that it calls.
typedef struct {
    uint64_t stack_bytes; // of a warp
    bool recursive;
} Frames;

// Lowers the functions of a kernel that no launch has lowered before, and places their registers.
SimtStatus kernel_prepare(Kernel *kernel, Frames *frames, SimtError *error);
// After kernel_prepare was left by a jump: other kernels use the same Codes.
void kernel_clear_visited(const Kernel *kernel);
// Whether the kernel and the device allow the launch.
SimtStatus kernel_check_launch(const Kernel *kernel, const Launch *launch, SimtError *error);

// Every observer of a launch: opens those that its options ask for, which then may have failed it;
// lets them report; closes them.
void observers_open(Observed *of);
void observers_report(Observed *of);
void observers_close(Observed *of);

#endif
