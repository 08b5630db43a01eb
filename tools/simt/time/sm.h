// One SM with a clock: its resident blocks, four schedulers that issue in order, and what they wait
// for.
#ifndef TIME_SM_H
#define TIME_SM_H

#include "simt/time/memory.h"

// What the SM goes through: the warps of its blocks, in the order in which these start.
typedef struct {
    const TimeDevice *device;
    const TimeInst *insts;
    uint32_t inst_count;
    const TimeTrace *traces; // of block b its warps from b * warps on
    uint32_t blocks, warps, resident;
    double active, last_active; // SMs that have blocks; that have one as late as its last
    double write_part;          // of the bytes that go to DRAM
    double atomic_bytes;        // between the first and the last address of atomic operations
    bool stays;                 // what is stored, in L2, which holds all that is touched
    bool fixed;                 // blocks are few: nobody helps the slowest SM
    bool without[LIMITERS];
    uint64_t seed; // of chance
} TimeSm;

typedef struct {
    double cycles;        // from the start of the first block to the end of the last
    double block_cycles;  // between two starts of blocks, once the rhythm is steady
    double rate;          // instructions a cycle, in the second half
    double issued, warps; // instructions; resident warps, on average
    double dram_bytes, l2_bytes;
    double stalls[STALLS];
} TimeRun;

// `places`: of each instruction, or NULL. False: out of memory.
bool sm_run(const TimeSm *sm, TimeRun *run, double (*places)[STALLS]);

#endif
