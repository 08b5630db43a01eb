// Records what the warps of one SM execute, while a launch runs.
#ifndef TIME_RECORD_H
#define TIME_RECORD_H

#include "simt/observe/observed.h"
#include "simt/time/time.h"
#include "simt/time/trace.h"

struct Recorder {
    Observer observer; // first, so that an Observer pointer can be cast to a Recorder
    const Machine *machine;
    const SassFunction *function;
    const TimeDevice *device;
    uint32_t inst_count, resident;
    uint64_t sms, chosen; // the number of SMs; the recorded SM gets every block whose number is
                          // `chosen` modulo `sms`
    uint64_t blocks;      // number of its blocks
    TimeTrace *traces;    // traces of the recorded blocks' warps
    const Inst **last;    // by warp: the last recorded step
    uint32_t recorded, capacity, warp_most;
    bool one_each; // no SM has two blocks: all blocks are recorded, and the longest is used
    uint64_t steps;
    uint64_t begun,
        *seen; // blocks begun, and for each recorded block how many had begun when it last ran
    uint64_t read, wrote; // sectors read from and written to DRAM
    uint64_t atomic_first,
        atomic_last; // lowest and highest address of atomic operations on global memory
    uint64_t local_bytes, l1_bytes; // local memory of an SM's threads; capacity of its L1
    double local_missed;            // fraction of missed L1 sectors not counted yet
    bool stores;                    // the launch stores to global memory
    bool early;                     // the launch starts before the previous one has ended
    bool failed;                    // out of memory
    bool outside_code;              // a warp ran code of another function
};

// Opens an observer that records a launch and predicts how long it takes on SimtOptions.time.
void record_open(Observed *of);

#endif
