// The instructions that warps have executed, which sm.h replays, and what the timing model knows of
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

// For each pipe, in cycles: how long an instruction occupies the pipe; its latency; from the queue
// until its source registers may be overwritten.
typedef struct {
    double issue[PIPES], latency[PIPES], read[PIPES];
} TimePipes;

// PIPE_WIDE is the same hardware as PIPE_IMAD.
static inline SassPipe time_unit(SassPipe pipe) { return pipe == PIPE_WIDE ? PIPE_IMAD : pipe; }

TimePipes time_pipes(const TimeDevice *device);

enum { TIME_QUEUE = 14 }; // assumed: memory instructions that wait in a scheduler's queue

// An instruction that a warp has executed, and the amounts of its memory access.
typedef struct {
    uint32_t inst;
    uint8_t wavefronts;    // of shared memory
    uint8_t groups;        // wavefronts without conflicts
    uint8_t bytes;         // per lane
    uint8_t ways;          // conflict ways of global memory, by the rules of shared memory
    uint8_t lines;         // 128-byte lines of global memory
    bool even;             // its lanes have a constant stride
    uint16_t dram, l2, l1; // sectors from each of these
    uint8_t pieces;        // 64-byte units that come from DRAM
    uint8_t lanes;         // active lanes of an atomic operation on global memory
    uint8_t atomics;       // its distinct addresses
    uint8_t same;          // most lanes at one address
    uint8_t turns;         // most lanes at one word of each sector, added up over its sectors
    bool stores;
    bool waited; // the warp had to wait for other blocks, which ran before it
} TimeStep;

// What an atomic operation has accessed in the whole launch: words, and as many words in a row as
// have as many lines.
typedef struct {
    uint32_t words, spread;
} TimeWords;

typedef struct {
    TimeStep *steps;
    uint32_t count, capacity;
    uint32_t polled;  // `count` after the latest spin read; 0: there was none
    uint64_t dropped; // instructions executed after the trace was full
} TimeTrace;

#endif
