// Kept: a results file that was recorded before. Its rows of labs that have not changed stay.
#ifndef COLLECT_KEPT_H
#define COLLECT_KEPT_H

#include "collect/lab_csv.h"

typedef struct {
    const char *path;
    LabCsvHead head;
} Kept;

// Reads a results file's head. A fault ends the program.
Kept kept_open(Arena *arena, const char *path);

// Whether there are rows of this lab and size.
bool kept_has(const Kept *kept, const LabCsv *csv);

// Adds the rows of a lab and size, whatever source they are of.
void kept_add(const Kept *kept, const LabCsv *csv, Buf *out);

// Whether there are rows of this lab and size, all of them of its source as it is now, and with
// something in every column.
bool kept_is_current(const Kept *kept, const LabCsv *csv);

// Whether another results file has rows of this lab and size, of its source as it is now, of a
// kernel that this one has no row of.
bool kept_lacks(const Kept *kept, const Kept *other, const LabCsv *csv);

#endif
