// The instructions that warps have executed, which sm.h replays, and what the scheduler knows of
// each.
#ifndef TIME_TRACE_H
#define TIME_TRACE_H

#include "simt/sass/inst.h"
#include "simt/time/device.h"

// What the timing model knows of an instruction.
typedef struct {
    SassPipe pipe;
    SassAct act;
    uint8_t stall, write_barrier, read_barrier, wait_mask;
    bool floats;  // an atomic operation on floats
    bool swaps;   // a compare-and-swap
    bool unknown; // its latency was not measured
} TimeInst;

TimeInst time_inst(const SassInst *inst);

// For each pipe, in cycles: how long an instruction occupies its scheduler; until its result is
// there; from the queue until its registers may be overwritten.
typedef struct {
    double issue[PIPES], latency[PIPES], read[PIPES];
} TimePipes;

// PIPE_WIDE is the same hardware as PIPE_IMAD.
static inline SassPipe time_unit(SassPipe pipe) { return pipe == PIPE_WIDE ? PIPE_IMAD : pipe; }

TimePipes time_pipes(const TimeDevice *device);

enum { TIME_QUEUE = 14 }; // chosen: instructions to memory that a scheduler has waiting

// An instruction that a warp has executed, and if it accesses memory how much.
typedef struct {
    uint32_t inst;
    uint8_t wavefronts;    // of shared memory
    uint8_t groups;        // of these, without conflicts
    uint8_t bytes;         // a lane
    uint8_t ways;          // of global memory, as if it were shared memory
    uint8_t lines;         // of global memory, 128 bytes each
    bool even;             // its lanes lie at the same distance from each other
    uint16_t dram, l2, l1; // sectors that come from there
    uint8_t pieces;        // of 64 bytes, those that come from DRAM
    uint8_t lanes;         // of an atomic operation on global memory
    uint8_t atomics;       // addresses that differ, of an atomic operation on global memory
    uint8_t same;          // the most lanes at one of them
    bool waited;           // other blocks ran in front of it: it had to wait for them
} TimeStep;

typedef struct {
    TimeStep *steps;
    uint32_t count, capacity;
    uint64_t left_out; // executed when there was no more room
} TimeTrace;

#endif
