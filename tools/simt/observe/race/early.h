// Launches that may start before the previous launch has ended (programmatic dependent launch).
#ifndef RACE_EARLY_H
#define RACE_EARLY_H

#include "simt/observe/race/sync.h"

// The threads of a block that have waited.
typedef struct {
    uint32_t waited[MAX_WARPS]; // lanes that have waited for the previous launch
    bool any, all;              // some thread has waited; a barrier followed, so all have
} EarlyState;

// Checks an access to global memory, before it is recorded.
void early_access(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]);
void early_waited(Warp *warp); // see Observer.grid_waited
// Call it at a barrier of all threads of the block.
void early_barrier(Checker *checker);
// Saves the sites of a launch that has ended, for later launches; takes its arena.
void early_remember(Check *check);

#endif
