// How long a launch of machine code would take on a device of which the speeds are known, and what
// would hold it back. What the warps of one SM execute is recorded while the launch runs, and then
// gone through with a clock; the other SMs are taken to do likewise. Chapter 17 builds it up step
// by step.
#ifndef TIME_H
#define TIME_H

#include "simt/exec/machine.h"
#include "simt/sass/cubin.h"
#include "simt/time/device.h"

// Why a warp does not issue, in Nsight Compute's words: warpstate_names[].
typedef enum {
    STALL_SELECTED, // it does
    STALL_WAIT,     // a fixed number of cycles, which the compiler has set
    STALL_LONG_SCOREBOARD,
    STALL_SHORT_SCOREBOARD,
    STALL_BARRIER,
    STALL_MATH_PIPE,
    STALL_MIO,
    STALL_LG,
    STALL_BRANCH,
    STALL_MEMBAR,
    STALL_DRAIN,
    STALL_NOT_SELECTED,
    STALLS
} Stall;

extern const char *const time_stall_names[STALLS];

// What could be taken away, to see what the launch would gain.
typedef enum {
    LIMITER_MEMORY,    // its rate: as if DRAM and L2 gave each byte at once
    LIMITER_LATENCY,   // of memory: as if all came after as long as from L1
    LIMITER_CONFLICTS, // of banks
    LIMITER_SHARED,    // the way to shared memory and L1: accesses of one wavefront, four at a time
    LIMITER_ISSUE,     // issue slots and pipes: as if there were four times as many
    LIMITER_BARRIER,   // as if nobody waited there
    LIMITER_ATOMICS,   // their rate
    LIMITER_BLOCKS,    // as if blocks started at once
    LIMITER_LAUNCH,    // what a launch costs that does nothing
    LIMITERS
} Limiter;

extern const char *const time_limit_names[LIMITERS];

typedef struct {
    uint32_t inst; // of the kernel's function
    double cycles[STALLS];
} TimePlace;

// The prediction for a launch.
typedef struct TimePrediction {
    double us, cycles;        // cycles of an SM while it has blocks
    double issue_share;       // of the slots in which an instruction could have been issued
    double memory_share;      // of the rate of DRAM, or L2 where that is nearer to its own
    double warps;             // resident, on average
    uint64_t insts;           // warp instructions of that SM
    double stalls[STALLS];    // warps' cycles
    double launch_us;         // of `us`: the launch, and memsets in front of it
    double without[LIMITERS]; // us, if that were no limit; as us where it was not tried
    Limiter limit;            // whose absence gains the most
    const char *unknown;      // what it rests on that was not measured; NULL: nothing
    TimePlace *places;        // of each instruction, in their order
    uint32_t place_count;
} TimePrediction;

// A memset of so many bytes that a stream does, in front of the next launch, which gets its time.
// Only of a few it is known; who writes much prepares what is to be measured.
void time_memset(size_t bytes);

// From what record.h has recorded of a launch. False: out of memory.
typedef struct Recorder Recorder;
bool time_predict(const Recorder *recorder, Arena *arena, TimePrediction *prediction);

typedef struct TimeLine {
    const char *file; // as in `.file`
    uint32_t line;
    double cycles[STALLS]; // warps', which all lines together have as many as the launch
} TimeLine;

// The same by source line: `*lines`, in the arena, sorted by file and line. Their number.
size_t time_by_line(Arena *arena, const PtxModule *module, const PtxFunction *function,
                    const TimePrediction *prediction, TimeLine **lines);

#endif
