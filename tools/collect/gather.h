// Gather: the rows of a device's results, from what its labs wrote and what was recorded before.
#ifndef COLLECT_GATHER_H
#define COLLECT_GATHER_H

#include "collect/kept.h"
#include "collect/lab_csv.h"

typedef struct {
    const char *fact; // to note at the head: `toolkit: 13.0`; or NULL
    const Kept *kept; // where rows come from whose CSV is only a name; NULL: all are files
} Gather;

// The text of the results file: what is in the CSVs, in their order. A fault ends the program.
Str gather_rows(Arena *arena, const LabCsv *csvs, size_t count, const Gather *gather);

#endif
