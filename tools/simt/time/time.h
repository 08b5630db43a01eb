// Predicts how long a launch of machine code takes on a device with measured speeds, and what
// limits it. The instructions of one SM's warps are recorded while the launch runs, and then
// replayed with a clock; the other SMs are assumed to behave alike. Chapter 17 builds the model
// step by step.
#ifndef TIME_H
#define TIME_H

#include "simt/exec/machine.h"
#include "simt/sass/cubin.h"
#include "simt/time/device.h"

// Why a warp does not issue, with Nsight Compute's names: time_stall_names[].
typedef enum {
    STALL_SELECTED, // it issues
    STALL_WAIT,     // the fixed stall count that the compiler has set
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

// The limits that the model can remove, to see how much faster the launch would be.
typedef enum {
    LIMITER_MEMORY,    // its rate: as if DRAM and L2 delivered each byte at once
    LIMITER_LATENCY,   // of memory: as if every access had L1's latency
    LIMITER_CONFLICTS, // bank conflicts
    LIMITER_SHARED, // the pipe to shared memory and L1: as if each access took a quarter of a cycle
    LIMITER_ISSUE,  // issue slots and pipes: as if there were four times as many
    LIMITER_BARRIER, // as if no warp waited at barriers
    LIMITER_ATOMICS, // their rate
    LIMITER_BLOCKS,  // as if blocks started at once
    LIMITER_LAUNCH,  // the cost of an empty launch
    LIMITERS
} Limiter;

extern const char *const time_limit_names[LIMITERS];

typedef struct {
    uint32_t inst; // index in the kernel's function
    double cycles[STALLS];
} TimePlace;

// The prediction for a launch.
typedef struct TimePrediction {
    double us, cycles;        // cycles of an SM while it has blocks
    double issue_share;       // share of the issue slots that are used
    double memory_share;      // share of the peak rate of DRAM or L2, whichever is higher
    double warps;             // resident, on average
    uint64_t insts;           // warp instructions of the recorded SM
    double stalls[STALLS];    // cycles of all its warps
    double launch_us;         // the part of `us` for the launch, and memsets before it
    double without[LIMITERS]; // predicted us without that limit; `us` if it was not tried
    Limiter limit;            // the limit whose removal saves the most
    const char *unknown;      // why the time is not known, and `us` is 0; NULL: it is known
    double stream_us; // what the launch takes longer in a stream than in a graph; NaN: not measured
    TimePlace *places; // one per instruction, in their order
    uint32_t place_count;
} TimePrediction;

// Notes a memset of `bytes` bytes that precedes the next launch in a stream, whose prediction
// includes it. Only small ones count: a large one usually prepares the data before the measured
// part.
void time_memset(size_t bytes);

// Predicts from the recording of a launch (record.h). False: out of memory.
typedef struct Recorder Recorder;
bool time_predict(const Recorder *recorder, Arena *arena, TimePrediction *prediction);

typedef struct TimeLine {
    const char *file; // as in `.file`
    uint32_t line;
    double cycles[STALLS]; // cycles of warps; the sum over all lines is the launch's
} TimeLine;

// Adds up stalls by source line: `*lines`, in the arena, sorted by file and line. Returns their
// number.
size_t time_by_line(Arena *arena, const PtxModule *module, const PtxFunction *function,
                    const TimePrediction *prediction, TimeLine **lines);

#endif
