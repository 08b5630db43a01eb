// Joins: adds columns of one results file to the rows of another that measured the same launches.
// Rows that the other file lacks get empty cells.
#ifndef NUMBERS_JOIN_H
#define NUMBERS_JOIN_H

#include "numbers/results.h"

// cpu-machine.csv has the columns of cpu.csv, counted by the CPU device when it executed machine
// code. They become the columns `machine_warp_insts` and so on, and `machine_source`, the hash of
// the lab that was executed.
void join_machine(Arena *arena, ResultTable *counters, const ResultTable *machine);

// <device>-limits.csv has a row per kernel and n with Nsight Compute's numbers for one launch:
// machine instructions, active lanes in each, utilization of the issue slots, the shared-memory
// pipe, L2 and memory, and the cycles from one instruction of a warp to the next by stall
// (`stall_*`). They are joined to the rows of <device>.csv, with `limits_source`,
// the hash of the lab that was profiled.
void join_limits(Arena *arena, ResultTable *device, const ResultTable *limits);

// predicted/<device>.csv has predictions of `simt --time` for rows of <device>.csv. They become the
// columns `predicted_us`, `predicted_limiter`, `predicted_stall` and so on, and `predicted_source`.
void join_predicted(Arena *arena, ResultTable *device, const ResultTable *predicted);

// A launch predicted by `simt --time`, and the recorded row of the same launch.
typedef struct {
    Str name;                   // the kernel's name in results
    Str base;                   // the name without template arguments
    const ResultRow *predicted; // the last of those with the same kernel, grid and block
    size_t count;               // the number of those
    const ResultRow *recorded;  // NULL: this launch was not recorded alone
} JoinLaunch;

// Reads the launches of a CSV file of `simt --time`, in its order. Each gets the row of `device`
// for this chapter and n with the same block size and as many partial sums as it has blocks. If a
// kernel was launched once, the partial sums may differ. A row may name a kernel with its block
// size appended: KERNEL_128. Returns the number of launches.
size_t join_launches(Arena *arena, const ResultTable *predicted, const ResultTable *device,
                     Str chapter, Str n, JoinLaunch **launches);

#endif
