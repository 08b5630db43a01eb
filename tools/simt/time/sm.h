// Simulates the timing of one SM: its resident blocks, and four schedulers that issue in order and
// wait for operands, pipes and barriers.
#ifndef TIME_SM_H
#define TIME_SM_H

#include "simt/time/memory.h"

// The SM's input: the traces of its blocks' warps, in the order in which the blocks start.
typedef struct {
    const TimeDevice *device;
    const TimeInst *insts;
    uint32_t inst_count;
    const TimeTrace *traces; // block b's warps begin at b * warps
    uint32_t blocks, warps, resident;
    double active, last_active; // SMs that have blocks; SMs that have as many blocks as the fullest
    double adding;              // SMs that would execute all atomic operations of the launch, if
                                // each executed as many as this one
    double write_part;          // share of the DRAM bytes that are writes
    const TimeWords *words;     // by instruction
    double miss_part;           // of the sectors read from DRAM, those that no other SM reads first
    bool stores_stay;           // stores stay in L2, which holds all data of the launch
    bool fixed;                 // too few blocks for other SMs to take over the slowest SM's work
    bool without[LIMITERS];
    uint64_t seed; // of the random numbers
} TimeSm;

typedef struct {
    double cycles;        // from the start of the first block to the end of the last
    double block_cycles;  // between two block starts in the steady state
    double rate;          // instructions per cycle in the second half
    double issued, warps; // instructions; resident warps, on average
    double dram_bytes, l2_bytes;
    bool bounded; // atomic operations whose rate was not measured had their longest time
    double stalls[STALLS];
} TimeRun;

// `places`: stalls by instruction, or NULL. False: out of memory.
bool sm_run(const TimeSm *sm, TimeRun *run, double (*places)[STALLS]);

#endif
