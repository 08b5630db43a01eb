// Blocks: their memory, and how their warps take turns.
#ifndef BLOCK_H
#define BLOCK_H

#include "simt/exec/warp.h"

typedef enum { BLOCK_DONE, BLOCK_YIELDS, BLOCK_FAILED } BlockResult;

// NULL: out of memory. `tally` has a slot for every counter of the module.
Block *block_new(Machine *machine, Tally *tally);
void block_free(Block *block);
void block_start(Block *block, uint64_t number);
// Runs until all threads have exited, or until all warps wait for something that other blocks may
// do, if `may_yield`.
BlockResult block_run(Block *block, bool may_yield);

int64_t clock_ns(void);

#endif
