// Joins: columns of one results file beside those of another that has the same rows. Rows that the
// other file lacks get empty cells.
#ifndef NUMBERS_JOIN_H
#define NUMBERS_JOIN_H

#include "numbers/results.h"

// cpu-machine.csv has the columns of cpu.csv: what the CPU device counted when it executed machine
// code. They are joined to its launches as `machine_warp_insts` and so on, with `machine_source`,
// the hash of the lab that was executed.
void join_machine(Arena *arena, ResultTable *counters, const ResultTable *machine);

// <device>-limits.csv has a row per kernel and n: machine instructions, lanes in each of them, how
// much of the issue slots, of the shared-memory pipe, of L2 and of memory was used, and for how
// many cycles a warp waited for what (`stall_*`) from one instruction to the next, all of one
// launch, as Nsight Compute says. They are joined to the rows of <device>.csv, with two more
// columns: `limits_source`, the hash of the lab that was profiled, and `stall`, the longest wait in
// words.
void join_limits(Arena *arena, ResultTable *device, const ResultTable *limits);

// What a warp waits for in a stall, `barrier`, in words that follow "waits for"; empty: there is
// none of this name.
Str join_wait(Str stall);

// predicted/<device>.csv has rows of <device>.csv with what `simt --time` says of them. They are
// joined as `predicted_us`, `predicted_limiter`, `predicted_stall` and so on, with
// `predicted_source`.
void join_predicted(Arena *arena, ResultTable *device, const ResultTable *predicted);

#endif
