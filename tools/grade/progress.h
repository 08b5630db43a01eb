// Progress: the reader's graded exercises, WORK/progress.csv. Each exercise has a row with a hash
// of the graded files, or the answer, and the number of demands that held.
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

// Reads the file. A missing or unreadable file means that nothing has been graded.
Progress progress_read(Arena *arena, const char *path);

// The row of an exercise, or NULL.
const ProgressRow *progress_of(const Progress *progress, Str exercise);

// Replaces or adds the exercise's row, and writes the file. False: see errno.
bool progress_enter(Progress *progress, ProgressRow row);

#endif
