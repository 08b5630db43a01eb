// Launches that may start before the launch before them has ended (programmatic dependent launch).
#ifndef RACE_EARLY_H
#define RACE_EARLY_H

#include "simt/observe/race/sync.h"

// Of a block.
typedef struct {
    uint32_t waited[MAX_WARPS]; // lanes that have waited for the launch before this one
    bool any, all;              // some thread has waited; a barrier followed, so all have
} EarlyState;

// An access to global memory, before it is recorded.
void early_access(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]);
void early_waited(Warp *warp); // see Observer.grid_waited
// A barrier of all threads of the block.
void early_barrier(Checker *checker);
// Saves the sites of a launch that is over, for later launches; takes its arena.
void early_remember(Check *check);

#endif
