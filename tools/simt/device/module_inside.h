// What the files of device/ share: a module and its kernels, which module*.c load, kernel.c
// describes, prepare.c lowers and launch.c runs.
#ifndef MODULE_INSIDE_H
#define MODULE_INSIDE_H

#include "simt/base/align.h"
#include "simt/device/device.h"
#include "simt/device/static_shared.h"
#include "simt/emit/lowering.h"
#include "simt/exec/code.h"
#include "simt/sass/cubin.h"

struct Kernel {
    Module *module;
    Code *code;
    Code **codes; // by function: those that it may call; NULL: not lowered yet
    char *mangled;
    size_t *parameter_bytes;
    StaticShared static_shared;
    uint32_t shared_bytes;    // where dynamic shared memory begins
    uint32_t shared_reserved; // of these, bytes reserved for the system at the start
    uint32_t registers;       // 0: unknown
    uint32_t reordered;       // launches for which orders.c has tried another order
    Kernel *next;
};

typedef bool LowerMachine(Lowering *lowering, const SassModule *machine, Code *code);

struct Module {
    PtxModule *ptx;              // for machine code, a PTX module in its place
    SassModule *machine;         // NULL: it is PTX
    LowerMachine *lower_machine; // of machine code
    Arena arena;
    SlotTable slots;
    SharedUses *uses;    // NULL: it is machine code
    Code **codes;        // by function
    Code **every_code;   // these, and the copies for single kernels
    uint32_t code_count; // of every_code
    size_t code_capacity;
    uint64_t *addresses;                              // by variable
    uint64_t memory, constant_memory, managed_memory; // memory of its variables
    size_t constant_bytes;
    uint32_t dynamic_align; // alignment of dynamic shared memory; 1: it has none
    Kernel *kernels;
};

// Makes a module and loads it with this function. NULL on error.
typedef bool LoadModule(Module *module, Str text, const char *origin, SimtStatus *status,
                        SimtError *error);
Module *module_new(LoadModule *load, Str text, const char *origin, SimtStatus *status,
                   SimtError *error);
bool module_place_variables(Module *module, SimtStatus *status, SimtError *error);
Kernel *module_kernel_new(Module *module, PtxFunction *function);

bool module_variable_address(const Module *module, const PtxVariable *variable, uint64_t *address);
Code *module_code_new(Module *module, const PtxFunction *source, uint32_t number);
// The Code of a function that all kernels without a copy of their own share.
Code *module_function_code(Module *module, const PtxFunction *function);

// The registers of a kernel and of the functions that it calls.
typedef struct {
    uint64_t stack_bytes; // per warp
    bool recursive;
} Frames;

// Lowers the functions of a kernel that no launch has lowered before, and places their registers.
SimtStatus kernel_prepare(Kernel *kernel, Frames *frames, SimtError *error);
// Resets the Codes, which other kernels share, after a jump out of kernel_prepare.
void kernel_clear_visited(const Kernel *kernel);
// Whether the kernel and the device allow the launch.
SimtStatus kernel_check_launch(const Kernel *kernel, const Launch *launch, SimtError *error);

// All observers of a launch: opens those that its options request, which may fail the launch; lets
// them report; closes them.
void observers_open(Observed *of);
void observers_report(Observed *of);
void observers_close(Observed *of);

// --- orders.c: runs a launch in other orders of its blocks and warps ---
//
// This finds errors that the usual order hides: the first thread that takes a lock acquires nothing
// from another thread, and a thread that reads a flag after it was set never reads too early.
//
// Each of these runs happens before the usual one. Its effects on memory and output are not
// visible, so the program runs once, as it does without --check.

// Runs a prepared launch in SimtOptions.orders orders other than the usual one, if its observer can
// receive their findings: in reverse, then with the seeds from 2 on. If `orders` is 0: in reverse
// only, if the order of threads matters and while that is cheap; `tried` counts such launches of
// the kernel. The observer reports the findings; the rest is in report->orders.
void orders_run(Observed *observed, uint32_t *tried);
void orders_forget(Orders *orders); // frees what it holds when the launch is over

// Ends the process if it is such a child: host memory ran out.
void order_leave(void);

#endif
