// Recorded: a results file recorded before. Its rows stay if their labs have not changed.
#ifndef COLLECT_KEPT_H
#define COLLECT_KEPT_H

#include "collect/lab_csv.h"

typedef struct {
    const char *path;
    LabCsvHead head;
} Kept;

// Reads the head of a results file. Exits on an error.
Kept kept_open(Arena *arena, const char *path);

// Whether the file has rows of this lab and size.
bool kept_has(const Kept *kept, const LabCsv *csv);

// Adds the rows of a lab and size, even if their source has changed.
void kept_add(const Kept *kept, const LabCsv *csv, Buf *out);

// Whether the file has rows of this lab and size, all recorded from its current source and without
// empty cells.
bool kept_is_current(const Kept *kept, const LabCsv *csv);

// Whether another results file has a row of this lab and size, recorded from its current source, of
// a kernel that this file lacks.
bool kept_lacks(const Kept *kept, const Kept *other, const LabCsv *csv);

#endif
