// An SM's access to its memories, in time: takes the cycle of a request, and returns the cycle in
// which the data arrives.
#ifndef TIME_MEMORY_H
#define TIME_MEMORY_H

#include "simt/time/time.h"
#include "simt/time/trace.h"

enum { TIME_FLIGHTS = 1 << 13 };

// Bytes in flight to the SM, and when the last of them arrive.
typedef struct {
    double free; // when the next byte may arrive
    double in_flight, moved;
    double done[TIME_FLIGHTS];
    float bytes[TIME_FLIGHTS];
    uint64_t first, last;
} TimeFlow;

typedef struct {
    const TimeDevice *d;
    TimePipes pipes;
    bool without[LIMITERS];
    double active;     // number of SMs that have blocks
    double adding;     // SMs that would execute all atomic operations if all were like this one
    double write_part; // share of the DRAM bytes that are writes
    double miss_part;  // of the sectors read from DRAM, those that no other SM reads first
    bool stores_stay;  // stores stay in L2
    bool fixed;        // the SMs' shares of the work are fixed from the start
    const TimeWords *words; // by instruction
    double lsu;             // when the pipe to shared memory and L1 is free again
    double atomics;         // when L2 can take the next atomic operation
    bool bounded;           // an atomic operation whose rate was not measured had its longest time
    uint64_t draws;         // state of the random numbers
    TimeFlow l2, dram;
} TimeMemory;

// The cycle in which the data of a memory instruction that is issued at `now` arrives. *taken: when
// it leaves the instruction queue.
double memory_access(TimeMemory *memory, const TimeInst *inst, const TimeStep *step, double now,
                     double *taken);

// Bytes per cycle that each SM gets from DRAM while all SMs load.
double memory_dram_rate(const TimeMemory *memory);

#endif
