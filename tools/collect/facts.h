// Facts: the comment lines at the head of a results file. A file belongs to one device, and each of
// its chapters to one toolkit. The fact `toolkit` names it, and `toolkit of CHAPTER` names that of
// a chapter with another one. So an author can record a new chapter with any toolkit.
#ifndef COLLECT_FACTS_H
#define COLLECT_FACTS_H

#include "collect/kept.h"

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
