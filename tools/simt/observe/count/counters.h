// The counters of a launch: made from counter slots, in total, by source line and by instruction.
#ifndef COUNTERS_H
#define COUNTERS_H

#include "base/arena.h"
#include "simt/exec/observer.h"

// The counters, in the order of the CSV's columns, whose names are counters_names[]. Appendix B,
// "What is counted, and how".
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

extern const char *const counters_names[COUNTERS];

typedef struct {
    uint64_t value[COUNTERS];
} Counters;

typedef struct {
    const char *file; // as in `.file`; code of a toolkit header counts at the user's line
    uint32_t line;
    Counters counters;
} LineCounters;

// The counters of each of the instructions [ptx, ptx_end) of a function.
typedef struct {
    const PtxFunction *function;
    uint32_t ptx, ptx_end;
    Counters counters;
} SpanCounters;

// Opens an observer that reports the counters. It needs no events: instructions count by
// themselves.
void counters_open(Observed *of);

#endif
