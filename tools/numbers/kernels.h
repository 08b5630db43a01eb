// Kernels: the rows of a results table by chapter and kernel, so that a key that names one of a
// dozen kernels of its chapter does not look at each of the table's thousands of rows.
#ifndef NUMBERS_KERNELS_H
#define NUMBERS_KERNELS_H

#include "numbers/results.h"

// Fills the table's kernels from its rows. They hold places of rows, so columns may still be joined
// to the table; rows may not be added.
void kernels_index(Arena *arena, ResultTable *table);

// The kernels of a chapter, by name: *count from the place returned.
const ResultKernel *kernels_of(const ResultTable *table, Str chapter, size_t *count);

// One kernel of a chapter, or NULL.
const ResultKernel *kernels_find(const ResultTable *table, Str chapter, Str name);

#endif
