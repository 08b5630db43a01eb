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
// launch, as Nsight Compute says. They are joined to the rows of <device>.csv, with
// `limits_source`, the hash of the lab that was profiled.
void join_limits(Arena *arena, ResultTable *device, const ResultTable *limits);

// predicted/<device>.csv has rows of <device>.csv with what `simt --time` says of them. They are
// joined as `predicted_us`, `predicted_limiter`, `predicted_stall` and so on, with
// `predicted_source`.
void join_predicted(Arena *arena, ResultTable *device, const ResultTable *predicted);

// A launch that `simt --time` has predicted, and the row of a device's times for the same launch.
typedef struct {
    Str name;                   // as results call the kernel
    Str base;                   // a template without its arguments
    const ResultRow *predicted; // the last one of several with the same kernel, grid and block
    size_t count;               // how many there are
    const ResultRow *recorded;  // NULL: nothing was recorded of this launch alone
} JoinLaunch;

// The launches of a CSV of `simt --time`, in its order, each with the row of `device` for this
// chapter and n that has the launch's block and as many partial sums as it has blocks. A kernel
// that was launched once has the row with its block, whatever the partial sums. A row may call a
// kernel by its name alone, or by this and its block: KERNEL_128. Returns the number of launches.
size_t join_launches(Arena *arena, const ResultTable *predicted, const ResultTable *device,
                     Str chapter, Str n, JoinLaunch **launches);

#endif
