// Gather: combines the CSVs that labs wrote and rows recorded before into a device's results.
#ifndef COLLECT_GATHER_H
#define COLLECT_GATHER_H

#include "collect/lab_csv.h"
#include "collect/recorded.h"

typedef struct {
    const char *fact;         // added at the head, such as `toolkit: 13.0`; or NULL
    const Recorded *recorded; // the source of rows for names without a CSV; NULL: all are files
} Gather;

// The text of the results file: the rows of the CSVs, in their order. Exits on an error.
Str gather_rows(Arena *arena, const LabCsv *csvs, size_t count, const Gather *gather);

// --- facts.c ---

// Facts are the comment lines at the head of a results file. A file belongs to one device, and each
// of its chapters to one toolkit. The fact `toolkit` gives the toolkit of the file, and `toolkit of
// CHAPTER` that of a chapter with another one, so that an author can record a new chapter with any
// toolkit.
typedef struct {
    Arena *arena;
    const LabCsv *csvs; // the labs whose rows the file will contain
    size_t count;
    const Recorded *recorded; // the earlier file, if some of its rows stay; else NULL
    Str here;                 // the facts of this run, one per line
} Facts;

// Adds the facts. Exits if earlier rows are incompatible with those of this run.
void facts_add(const Facts *facts, Buf *out);

#endif
