// Records what the warps of one SM execute, while a launch runs.
#ifndef TIME_RECORD_H
#define TIME_RECORD_H

#include "simt/observe/observed.h"
#include "simt/time/time.h"
#include "simt/time/trace.h"

typedef struct {
    uint32_t sectors; // of global memory that it has accessed
    uint32_t depth;   // handovers that had to precede what it does now
} BlockNote;

// A store or atomic operation on a word, and after how many handovers it was made.
typedef struct {
    uint64_t word, block;
    uint32_t depth;
    bool counts; // an operation that any block may do before another: not a store, exchange or swap
} Tag;

enum { ATOMIC_BITS = 1 << 16 };

// What an atomic operation has accessed.
typedef struct {
    uint32_t words, lines; // number of bits set by their hashes
    uint64_t seen[2][ATOMIC_BITS / 64];
} AtomicWords;

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
    BlockNote *notes;     // of every block of the grid
    uint32_t latest;      // the recorded block that ran last
    uint32_t depth;       // the most handovers from block to block that one of them had to wait for
    uint32_t most;        // the most sectors of a block
    Tag *tags;            // by hash of the address: the latest store to a word; NULL: none can wait
    AtomicWords **atomic; // of each instruction; NULL: it is no atomic operation on global memory
    uint64_t read, wrote; // sectors read from and written to DRAM
    uint64_t loaded;      // sectors read from anywhere
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
