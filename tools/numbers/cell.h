// Cells: the values that each column of a results file allows. A reader looks up a column's kind
// once and then checks its cells.
#ifndef NUMBERS_CELL_H
#define NUMBERS_CELL_H

#include "base/str.h"

// The kind of value of a column or a fact.
typedef enum {
    CELL_CHAPTER,
    CELL_KERNEL,
    CELL_SOURCE,
    CELL_TEXT,
    CELL_N,
    CELL_COLS,
    CELL_LAUNCH, // a grid or block, as the CPU device writes it
    CELL_COUNT,
    CELL_TIME,
    CELL_NUMBER
} CellKind;

// The kind of a column or fact. `counts`: of a table of the CPU device, where every number is a
// count.
CellKind cell_kind(Str name, bool counts);

// Returns what is wrong with a cell of this kind, in words that follow the cell; NULL: nothing.
const char *cell_fault(CellKind kind, Str cell);

// The same for a number, which must not be empty. A kernel's time is positive and at most 1e12
// microseconds (eleven days); rates and percentages have the same upper limit.
const char *cell_number_fault(CellKind kind, Str cell);

#endif
