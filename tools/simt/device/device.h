// The CPU device as the CUDA runtime uses it: loads PTX or machine code, finds kernels and
// variables, launches and counts.
//
// cuda/ (the CUDA runtime's interface) and report/ use this header; the PTX front end, the
// executor, the counters and the checks are below it. Code below it neither prints nor exits: every
// failure is a SimtStatus and one line of text.
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "simt/base/dim3.h"
#include "simt/base/status.h"
#include "simt/observe/observed.h"
#include "simt/time/time.h"

typedef struct Module Module;
typedef struct Kernel Kernel;

// Parses and lowers a module's PTX text; `origin` names it in errors. NULL on error.
Module *module_load(Str ptx, const char *origin, SimtStatus *status, SimtError *error);
// The same for machine code: a cubin, to which the module keeps pointers.
Module *module_load_machine(Str cubin, const char *origin, SimtStatus *status, SimtError *error);
void module_unload(Module *module);

// An entry by its mangled name, NULL if there is none. Owned by the module.
Kernel *module_kernel(Module *module, const char *mangled);

// A __device__ or __constant__ variable by its mangled name: device address and size in bytes.
bool module_variable(Module *module, const char *mangled, uint64_t *address, size_t *bytes);

typedef struct {
    const char *mangled;
    size_t parameter_count;
    const size_t *parameter_bytes;   // size of each parameter, in order
    size_t static_shared_bytes;      // per block
    size_t local_bytes;              // per thread
    size_t constant_bytes;           // of the module
    uint32_t registers;              // per thread; an estimate for PTX
    uint32_t max_threads_per_block;  // 1024, or from .maxntid / .reqntid
    uint32_t ptx_version, sm_target; // 90 for 9.0, 75 for sm_75
    Dim3 cluster;                    // .reqnctapercluster; x is 0 if the launch may choose
    uint32_t max_cluster;            // .maxclusterrank; 0: not given
    bool explicit_cluster;           // .explicitcluster: the launch must choose a cluster
    bool releases;                   // lets the next kernel in the stream start before it ends
} KernelInfo;

void kernel_info(const Kernel *kernel, KernelInfo *info);

// Blocks of this kernel that fit on one multiprocessor: the least of the limits on threads, blocks,
// and shared memory. Registers are left out, because ptxas decides their number.
int kernel_occupancy(const KernelInfo *info, int threads, size_t dynamic_shared_bytes);

typedef struct {
    Dim3 grid, block, cluster; // cluster {1,1,1} when unused
    uint32_t dynamic_shared_bytes;
    size_t stack_bytes; // for recursion, per thread; at least 64 KB is available
    bool cooperative;
    bool explicit_cluster; // clusters were requested, even if of one block
    bool programmatic;     // may start before the previous kernel in the stream has ended:
    uint64_t after;        // that kernel's LaunchReport.serial; 0: none, or not needed
    // Runs that kernel. Called when this one first waits for it, or at the latest at its end. NULL:
    // it has already run.
    void (*prerequisite)(void *context);
    void *context;
    TouchedWhere touched;   // the memory for which touched addresses are reported; needs --check
    void *const *arguments; // one host pointer per parameter, as for cudaLaunchKernel
} Launch;

// Runs a kernel to its end. Totals are the same on every run and for any number of host threads.
SimtStatus kernel_launch(Kernel *kernel, const Launch *launch, const SimtOptions *options,
                         LaunchReport *report, SimtError *error);

#endif
