// The ways of an SM to its memories, with a clock: who asks when, and when the data is there.
#ifndef TIME_MEMORY_H
#define TIME_MEMORY_H

#include "simt/time/time.h"
#include "simt/time/trace.h"

enum { TIME_FLIGHTS = 1 << 13 };

// Bytes that are under way, and when the last of them come.
typedef struct {
    double free; // when the next one may come
    double in_flight, moved;
    double done[TIME_FLIGHTS];
    float bytes[TIME_FLIGHTS];
    uint64_t first, last;
} TimeFlow;

typedef struct {
    const TimeDevice *d;
    TimePipes pipes;
    bool without[LIMITERS];
    double active;       // SMs that have blocks
    double write_part;   // of the bytes that go to DRAM
    bool stays;          // what is stored, in L2
    bool fixed;          // each SM has its share from the start
    double atomic_bytes; // between the first and the last address of atomic operations
    double way;          // when the way to shared memory and L1 is free again
    double atomics;      // when L2 can take the next atomic operation
    uint64_t draws;      // of chance
    TimeFlow l2, dram;
} TimeMemory;

// When what an instruction to memory asks for is there; `now` it is issued. *taken: when it has
// left the queue that it waits in.
double memory_access(TimeMemory *memory, const TimeInst *inst, const TimeStep *step, double now,
                     double *taken);

// Bytes a cycle that an SM gets from DRAM while all are at it.
double memory_dram_rate(const TimeMemory *memory);

#endif
