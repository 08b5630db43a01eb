// Limits: what Nsight Compute said of one launch of each kernel, as columns of a device's results.
//
// results/<device>-limits.csv has a row per kernel and n: machine instructions, lanes in each of
// them, how much of the issue slots, of the shared-memory pipe, of L2 and of memory was used, and
// for how many cycles a warp waited for what (`stall_*`) from one instruction to the next. They are
// joined to the rows of results/<device>.csv, with two more columns: `limits_source`, the hash of
// the lab that was profiled, and `stall`, the longest wait in words.
#ifndef BOOK_LIMITS_H
#define BOOK_LIMITS_H

#include "book/results.h"

// The device of a file that is called `nvidia-h200-limits`; empty when it is no such file.
Str limits_device(Str name);

// Adds the columns of `limits` to `device`; rows that were not profiled have empty cells.
void limits_join(Arena *arena, ResultTable *device, const ResultTable *limits);

#endif
