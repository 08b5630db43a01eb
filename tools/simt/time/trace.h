// What warps have executed, for sm.h to go through; and what a scheduler knows of an instruction.
#ifndef TIME_TRACE_H
#define TIME_TRACE_H

#include "simt/sass/inst.h"
#include "simt/time/device.h"

// Where an instruction is executed.
typedef enum {
    PIPE_NONE, // issued, and done with
    PIPE_ALU,
    PIPE_FMA,
    PIPE_HALF,
    PIPE_IMAD,
    PIPE_WIDE, // the same, but with a result of 64 bits
    PIPE_FP64,
    PIPE_XU,
    PIPE_CONVERT, // of f64
    PIPE_UNIFORM,
    PIPE_BRANCH,
    PIPE_VOTE,
    PIPE_REDUX,
    PIPE_SPECIAL, // S2R and the like
    PIPE_CONSTANT,
    PIPE_BARRIER,
    PIPE_MATRIX,
    PIPE_SHARED, // these and the next go out of the scheduler by one way
    PIPE_SHUFFLE,
    PIPE_GLOBAL,
    PIPES
} TimePipe;

typedef enum {
    ACT_NONE,
    ACT_EXIT,
    ACT_BARRIER, // of the block
    ACT_STORE,
    ACT_FENCE,
    ACT_FENCE_BLOCK,
    ACT_ATOMIC, // that returns
    ACT_REDUCE, // that does not
    ACT_STRONG, // load past L1
    ACT_BULK,   // a copy to shared memory
    ACT_AWAIT,  // waits for one: the first of them for the first that the block has asked for
} TimeAct;

typedef struct {
    uint8_t pipe, act;
    uint8_t stall, write_barrier, read_barrier, wait_mask;
    bool floats;  // of an atomic operation
    bool swaps;   // it is CAS
    bool unknown; // its latency was not measured, and someone waits for it
} TimeInst;

// The arena is for what is forgotten.
TimeInst time_inst(Arena *arena, const SassInst *inst);

// Of each pipe: cycles of a scheduler, until the result is there, and from when the instruction has
// left its queue until its registers may be written again.
typedef struct {
    double issue[PIPES], latency[PIPES], read[PIPES];
} TimePipes;

// Pipes that are one.
static inline uint8_t time_unit(uint8_t pipe) { return pipe == PIPE_WIDE ? PIPE_IMAD : pipe; }

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
