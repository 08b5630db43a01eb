// Recorded: a results file recorded before. Its rows stay if their labs have not changed.
#ifndef COLLECT_RECORDED_H
#define COLLECT_RECORDED_H

#include "collect/lab_csv.h"

typedef struct {
    const char *path;
    LabCsvHead head;
} Recorded;

// Reads the head of a results file. Exits on an error.
Recorded recorded_open(Arena *arena, const char *path);

// Whether the file has rows of this lab and size.
bool recorded_has(const Recorded *recorded, const LabCsv *csv);

// Adds the rows of a lab and size, even if their source has changed.
void recorded_add(const Recorded *recorded, const LabCsv *csv, Buf *out);

// Whether the file has rows of this lab and size, all of its current source and without empty
// cells.
bool recorded_is_current(const Recorded *recorded, const LabCsv *csv);

// Whether another results file has a row of this lab and size, recorded from its current source, of
// a kernel that this file lacks.
bool recorded_lacks(const Recorded *recorded, const Recorded *other, const LabCsv *csv);

#endif
