// Cells: what the columns of a results file may say. Which column is which is decided once, not for
// each of its cells.
#ifndef NUMBERS_CELL_H
#define NUMBERS_CELL_H

#include "base/str.h"

// What a column holds, or a fact.
typedef enum {
    CELL_CHAPTER,
    CELL_KERNEL,
    CELL_SOURCE,
    CELL_TEXT,
    CELL_N,
    CELL_COLS,
    CELL_LAUNCH, // blocks or threads, as the CPU device writes them
    CELL_COUNT,
    CELL_TIME,
    CELL_NUMBER
} CellKind;

// What a column of this name holds, or a fact. `counts`: of a table of the CPU device, where every
// number is a count.
CellKind cell_kind(Str name, bool counts);

// What is wrong with a cell of this kind, in words that follow it, or NULL.
const char *cell_fault(CellKind kind, Str cell);

// The same for a number, which may not be left out. Microseconds are those of a kernel: none takes
// no time, none eleven days. Rates and percentages stop there too.
const char *cell_number_fault(CellKind kind, Str cell);

#endif
