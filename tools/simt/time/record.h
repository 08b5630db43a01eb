// What the warps of one SM execute, recorded while a launch runs.
#ifndef TIME_RECORD_H
#define TIME_RECORD_H

#include "simt/observe/observed.h"
#include "simt/time/time.h"
#include "simt/time/trace.h"

struct Recorder {
    Observer observer; // first, so that a pointer to it is one to the Recorder
    const Machine *machine;
    const SassFunction *function;
    const TimeDevice *device;
    uint32_t inst_count, resident;
    uint64_t sms, chosen; // the SM: of every so many blocks that one
    uint64_t blocks;      // it has
    TimeTrace *traces;    // of those that are recorded
    const Inst **last;    // by warp, of the step recorded last
    uint32_t recorded, capacity, warp_most;
    bool one_each; // no SM has two blocks: all are recorded, and the longest is kept
    uint64_t steps;
    uint64_t begun, *seen;              // blocks, and how many when a recorded block went on last
    uint64_t read, wrote;               // sectors of DRAM
    uint64_t atomic_first, atomic_last; // addresses of atomic operations on global memory
    uint64_t local_bytes, l1_bytes;     // local memory of an SM's threads; what L1 holds
    double local_missed;                // sectors that were not in L1, and are not counted yet
    bool stores;                        // to global memory
    bool early;                         // it starts before the launch in front has ended
    bool failed;                        // out of memory
    bool strange;                       // code of another function
};

// Opens an observer that records a launch and predicts how long it takes on SimtOptions.time.
void record_open(Observed *of);

#endif
