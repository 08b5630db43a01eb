// What the CPU device counted when it executed machine code, as columns of its counters.
//
// results/cpu-machine.csv has the columns of cpu.csv. Its counters are joined to the launches of
// cpu.csv as `machine_warp_insts` and so on, with `machine_source`, the hash of the lab that was
// executed.
#ifndef BOOK_MACHINE_H
#define BOOK_MACHINE_H

#include "book/results.h"

// Adds the columns to `counters`; launches that `machine` does not have get empty cells.
void machine_join(Arena *arena, ResultTable *counters, const ResultTable *machine);

// Whether a column of the joined table was counted in machine code.
bool machine_column(Str column);

#endif
