// Runs a prepared launch and adds up its counters.
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "simt/exec/block.h"

// Runs all blocks; the failure, if any, is in machine->status and error. False: out of memory.
bool schedule_run(Machine *machine, Tally *tally, uint32_t slots);

// Whether the counts are the same for every number of threads. False: the launch failed, and the
// tally is empty.
bool schedule_counts(const Machine *machine);

#endif
