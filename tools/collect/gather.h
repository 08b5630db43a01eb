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

// --- facts.c ---

// The facts are the comment lines at the head of a results file. A file belongs to one device, and
// each of its chapters to one toolkit. The fact `toolkit` names it, and `toolkit of CHAPTER` names
// that of a chapter with another one. So an author can record a new chapter with any toolkit.
typedef struct {
    Arena *arena;
    const LabCsv *csvs; // the labs whose rows the file will have
    size_t count;
    const Kept *kept; // the file's earlier form, where some of its rows are kept; else NULL
    Str here;         // the facts of this run, a line each
} Facts;

// Adds the facts. Rows that cannot be kept beside those of this run end the program.
void facts_add(const Facts *facts, Buf *out);

#endif
