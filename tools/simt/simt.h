// The CPU device seen from its CUDA runtime: load PTX, find kernels and variables, launch, count.
//
// runtime_*.c (the CUDA runtime's interface) and report.c sit above this header; the PTX front end,
// the warp executor, the counters and the checks sit below it. Nothing below prints or exits:
// every failure is a SimtStatus and one line of text.
#ifndef SIMT_H
#define SIMT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../str.h"

typedef struct {
    uint32_t x, y, z;
} Dim3;

typedef struct {
    char text[1024]; // one line, terminated; empty when there was no error
} SimtError;

typedef enum {
    SIMT_OK,
    SIMT_UNSUPPORTED,      // PTX or a feature the device does not know; text names it and its line
    SIMT_INVALID_PTX,      // text names the PTX line
    SIMT_INVALID_CONFIG,   // block too large, zero dimension, ...
    SIMT_OUT_OF_RESOURCES, // too much shared memory, ...
    SIMT_OUT_OF_MEMORY,
    SIMT_ILLEGAL_ADDRESS, // text names source line, thread, block, address
    SIMT_MISALIGNED_ADDRESS,
    SIMT_ASSERT,
    SIMT_TRAP,
    SIMT_DEADLOCK, // every live warp waits for something that cannot come
    SIMT_TIMEOUT,  // the watchdog
    SIMT_INTERRUPTED
} SimtStatus;

typedef struct Module Module;
typedef struct Kernel Kernel;

// Parses and lowers a module's PTX text; `origin` names it in errors. NULL on error.
Module *module_load(Str ptx, const char *origin, SimtStatus *status, SimtError *error);
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
    uint32_t registers;              // per thread, an estimate from the PTX
    uint32_t max_threads_per_block;  // 1024, or from .maxntid / .reqntid
    uint32_t ptx_version, sm_target; // 90 for 9.0, 75 for sm_75
} KernelInfo;

void kernel_info(const Kernel *kernel, KernelInfo *info);

// The counters, in the order of the CSV's columns (DESIGN: counting rules). simt_counter_names[]
// has the CSV's names.
typedef enum {
    COUNT_WARP_INSTS,   // PTX instructions issued by warps
    COUNT_THREAD_INSTS, // the same, counted by active lanes
    COUNT_SHARED_LD_INSTS,
    COUNT_SHARED_LD_WAVEFRONTS,
    COUNT_SHARED_LD_CONFLICTS,
    COUNT_SHARED_ST_INSTS,
    COUNT_SHARED_ST_WAVEFRONTS,
    COUNT_SHARED_ST_CONFLICTS,
    COUNT_GLOBAL_LD_REQUESTS,
    COUNT_GLOBAL_LD_SECTORS,
    COUNT_GLOBAL_ST_REQUESTS,
    COUNT_GLOBAL_ST_SECTORS,
    COUNT_ATOMICS,            // lanes that executed an atomic or a reduction, shared or global
    COUNT_BARRIERS,           // block-wide barriers completed, summed over blocks
    COUNT_DIVERGENT_BRANCHES, // branches that split a warp's active lanes
    COUNTERS
} Counter;

extern const char *const simt_counter_names[COUNTERS];

typedef struct {
    uint64_t value[COUNTERS];
} Counters;

typedef struct {
    const char *file; // as in `.file`; the user's line when code was inlined from a header
    uint32_t line;
    Counters counters;
} LineCounters;

// What a check found. `other_*` is the earlier access it collides with; other_line is 0 if none.
typedef struct {
    const char *kind; // "race", "divergent barrier", "out of bounds", "uninitialized read", ...
    const char *file, *other_file;
    uint32_t line, other_line;
    Dim3 block, thread, other_thread;
    uint64_t address;     // in its space
    const char *space;    // "shared", "global", "local"
    uint64_t occurrences; // equal findings (same kind and lines) merged into this one
    char advice[256];     // one sentence: what happened in words and how to fix it
} Hazard;

typedef struct {
    const char *path;        // where `simt --trace` writes accesses; NULL: no trace
    bool lines;              // attribute counters to source lines
    bool check;              // find hazards
    uint64_t order;          // seed that permutes the order of warps and blocks; 0: in order
    uint32_t host_threads;   // 0: one per core
    double watchdog_seconds; // a kernel with no progress for this long is ended; 0: never
} SimtOptions;

typedef struct {
    Dim3 grid, block, cluster; // cluster {1,1,1} when unused
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    void *const *arguments; // one host pointer per parameter, as for cudaLaunchKernel
} Launch;

// What one launch did. Filled also when the launch failed, as far as it got.
typedef struct {
    Counters total;
    LineCounters *lines; // sorted by file and line; NULL without SimtOptions.lines
    size_t line_count;
    Hazard *hazards;
    size_t hazard_count;
    Arena arena; // owns the two arrays; arena_free(&report->arena)
} LaunchReport;

// Set, also by a signal handler, to end the kernel that runs with SIMT_INTERRUPTED.
extern volatile sig_atomic_t simt_interrupted;

// Runs a kernel to its end. Totals are the same on every run and for any number of host threads.
SimtStatus kernel_launch(Kernel *kernel, const Launch *launch, const SimtOptions *options,
                         LaunchReport *report, SimtError *error);

#endif
