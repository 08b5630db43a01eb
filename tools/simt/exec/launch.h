// One launch of a kernel: what it is asked for, and what it reports.
#ifndef LAUNCH_H
#define LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "simt/base/status.h"

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

#endif
