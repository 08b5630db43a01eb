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
    uint32_t reordered;       // launches for which orders.c has tried another order
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

// --- orders.c: runs a launch in other orders of its blocks and warps ---
//
// This finds what the usual order hides: the first thread that takes a lock acquires nothing from
// another, and a thread that reads a flag after it was set never reads too early.
//
// Each of these runs happens before the usual one, in a forked child that ends with it. Nobody sees
// what the launch does there to memory, output or anything else, so the program runs once, as it
// does without --check.

// Runs a launch that is ready to run, if machine->observer can receive what a child finds, in
// `count` orders but for the usual one: in reverse, then with the seeds from 2 on. 0: in two, while
// that is cheap, and if the order of threads matters; `tried` counts such launches of the kernel.
// The observer reports what is found; the rest is in report->orders.
void orders_run(Machine *machine, uint32_t count, uint32_t *tried, LaunchReport *report);

// Ends the process if it is such a child: memory ran out.
void orders_leave(void);

#endif
