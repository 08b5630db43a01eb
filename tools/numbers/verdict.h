// The one rule that decides the bottleneck of a profiled kernel, and its words. Tables, the ladder
// and sentences of the book take them from here; the timing model (simt/time/time.c) uses the same.
#ifndef NUMBERS_VERDICT_H
#define NUMBERS_VERDICT_H

#include "numbers/results.h"

// Adds three columns to the rows of a device that were profiled:
//
//   stall            the stall in which a warp spends most cycles, as Nsight Compute calls it
//   bottleneck       the resource that the kernel uses most, if it uses at least 70 % of what the
//                    device gives: DRAM bandwidth, L2 bandwidth, instruction issue, the
//                    shared-memory pipe, or block starts (chapter 1's lower bounds on time).
//                    Otherwise the kernel is bound by a latency, and the longest stall says which
//   bottleneck_pct   how much of that resource it uses; empty if it is bound by a latency
//
// Block starts are the launch's blocks, which `counters` has, times what one takes in the kernel
// `empty_blocks`, which does nothing else. plot/floors.py draws the same bound, from the same row.
void verdict_add(Arena *arena, ResultTable *device, const ResultTable *counters);

// The book's words for a stall such as `long_scoreboard`; `stall` itself if there are none.
Str verdict_stall_name(Str stall);

#endif
