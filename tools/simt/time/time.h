// How long a launch of machine code would take on a device of which the speeds were measured: what
// the warps of one multiprocessor execute is recorded while the launch runs, and then gone through
// with a clock.
#ifndef TIME_H
#define TIME_H

#include "simt/exec/observer.h"
#include "simt/sass/cubin.h"

// Where an instruction is executed.
typedef enum {
    PIPE_NONE, // issued, and done with
    PIPE_ALU,
    PIPE_FMA,
    PIPE_IMAD,
    PIPE_FP64,
    PIPE_XU,
    PIPE_UNIFORM,
    PIPE_BRANCH,
    PIPE_SHARED, // these and the next share the way out of the warp scheduler
    PIPE_SHUFFLE,
    PIPE_GLOBAL,
    PIPE_CONSTANT,
    PIPE_SPECIAL, // S2R and the like
    PIPE_BARRIER,
    PIPE_MATRIX,
    PIPES
} TimePipe;

// What the scheduler knows of an instruction.
typedef struct {
    uint8_t pipe, stall, write_barrier, read_barrier, wait_mask;
    bool yields, ends, joins; // EXIT; a barrier of the block
} TimeInst;

// What a warp has executed: an instruction, and if it accesses memory how much.
typedef struct {
    uint16_t inst;
    uint8_t wavefronts;     // of shared memory, or of the data of global memory
    uint8_t dram, l2, l1;   // sectors that come from there
    uint8_t atomics;        // lanes, of an atomic operation on global memory
    uint8_t same;           // of these, the most to one address
} TimeStep;

typedef struct {
    TimeStep *steps;
    uint32_t count, capacity;
    uint64_t left_out; // executed when there was no more room
} TimeTrace;

typedef struct {
    uint32_t sms, warps, blocks; // warps and blocks that an SM holds
    double clock_ghz, dram_gbps;
    double launch_ns;    // between launches of a graph, for a kernel that does nothing
    double block_cycles; // between two blocks that start, over the whole device
    double block_start;  // cycles, from the end of a block to the first instruction of the next
    double issue[PIPES]; // cycles that an instruction occupies the pipe of its scheduler
    double latency[PIPES];
    double l1, l2, dram; // latencies of loads
    double atomic;       // latency
    double atomic_same;  // cycles of the device for each atomic operation on one address
    double l2_bytes;     // a cycle, from L2 to an SM
    double branch; // cycles from a branch that is taken to its target
    double read;         // cycles until an instruction's sources are read
    uint32_t queue;      // instructions to memory that a scheduler has waiting
    double arrival; // cycles of the SM for each warp that arrives at a barrier
    double shared_more;
    double wake;         // cycles from the last arrival at a barrier to the next instruction
} TimeDevice;

typedef struct {
    uint64_t cycles, issued, steps, left_out;
    double ns;
    uint64_t stall[8];
} TimeResult;

Observer *time_open(const Machine *machine, const SassFunction *function, uint32_t count);
void time_close(Observer *observer, const char *kernel);

TimeDevice time_device(void);
TimeInst time_inst(const SassInst *inst);
// The warps of the blocks of one SM, in the order in which they start.
TimeResult time_sm(const TimeDevice *device, const TimeInst *insts, TimeTrace *traces,
                   uint32_t blocks, uint32_t warps, uint32_t resident, double sms_active);

#endif
