// Facts: the comment lines at the head of a results file. A file is of one device, and each of its
// chapters of one toolkit: that of the fact `toolkit`, or of `toolkit of CHAPTER` where a chapter
// was recorded with another one than the others. So an author can record a new chapter, whatever
// toolkit the others were recorded with.
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
