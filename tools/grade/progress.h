// Progress: what the reader has had graded, WORK/progress.csv: a row for each exercise with the
// hash of what was graded, or the answer, and how many demands held.
#ifndef GRADE_PROGRESS_H
#define GRADE_PROGRESS_H

#include "base/str.h"

typedef struct {
    Str exercise; // its id
    Str graded;   // the hash, or the answer
    size_t met, of;
} ProgressRow;

typedef struct {
    Arena *arena;
    const char *path;
    ProgressRow *rows;
    size_t count, capacity;
} Progress;

// No file, or none that can be read: nothing has been graded.
Progress progress_read(Arena *arena, const char *path);

// The row of that exercise, or NULL.
const ProgressRow *progress_of(const Progress *progress, Str exercise);

// Enters a row in the place of the exercise's old one, and writes the file. False: errno.
bool progress_enter(Progress *progress, ProgressRow row);

#endif
