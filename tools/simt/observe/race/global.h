// Accesses to global memory: whether they are in bounds, aligned, of live and initialized memory,
// and early: in a launch that may start before the previous one has ended (programmatic dependent
// launch).
#ifndef RACE_GLOBAL_H
#define RACE_GLOBAL_H

#include "simt/observe/race/sync.h"

// Of a block.
typedef struct {
    uint32_t waited[MAX_WARPS]; // lanes that have waited for the launch before this one
    bool any, all;              // some thread has waited; a barrier followed, so all have
} EarlyState;

// An access to global memory: bounds, lifetime, alignment, reads of unwritten memory, races.
void global_access(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                   const uint64_t address[LANES]);
// The same for a weak load or store of consecutive elements, 1 << shift words (for elements smaller
// than a word: elements) for each lane from `lane` on. False: nothing was done, and each lane needs
// global_access.
bool global_row(Checker *checker, Warp *warp, const Access *access, uint32_t lane, uint64_t first,
                uint64_t bytes, uint32_t shift);
void global_free(Warp *warp, const Inst *inst, int lane, uint64_t address); // see Observer.bad_free

// An access to global memory, before it is recorded.
void early_access(Checker *checker, const Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]);
void early_waited(Warp *warp); // see Observer.grid_waited
// A barrier of all threads of the block.
void early_barrier(Checker *checker);
// Saves the sites of a launch that is over, for later launches; takes its arena.
void early_remember(Check *check);

#endif
