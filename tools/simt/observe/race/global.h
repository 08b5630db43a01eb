// Accesses to global memory: whether they are in bounds, aligned, and of live and initialized
// memory.
#ifndef RACE_GLOBAL_H
#define RACE_GLOBAL_H

#include "simt/observe/race/finding.h"

// Checks an access to global memory, also for races, and records it.
void global_access(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                   const uint64_t address[LANES]);
// The same for a weak load or store of consecutive elements, 1 << shift words (for elements smaller
// than a word: elements) for each lane from `lane` on. False: nothing was done, and each lane needs
// global_access.
bool global_range(Checker *checker, Warp *warp, const Access *access, uint32_t lane, uint64_t first,
                  uint64_t bytes, uint32_t shift);
void global_free(Warp *warp, const Inst *inst, int lane, uint64_t address); // see Observer.bad_free

#endif
