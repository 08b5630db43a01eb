// Read: the CSV files of a folder of results, checked while they are read.
//
// Numbers are what they can be: counts whole and not negative, times positive, the 5th percentile
// not above the median, and that not above the 95th. No two rows of a file measure the same.
// Traces, steps, errors and comparisons have columns of their own, and are not read here.
#ifndef NUMBERS_READ_H
#define NUMBERS_READ_H

#include "numbers/results.h"

typedef struct {
    const char *path;
    size_t line; // 0: the file as a whole
    Str message;
} ReadError;

// Reads a folder of results; one that does not exist reads as empty. What belongs to the same rows
// is joined: to a device's times its limits and what was predicted, to the counts of PTX those of
// machine code. Everything lives in the arena. False: `error` says where and what is wrong.
bool read_results(Arena *arena, const char *folder, Str reference, Results *results,
                  ReadError *error);

// The same for one file's text, which must outlive the table. `device` is the file's name without
// `.csv`; empty: any columns, any rows.
bool read_text(Arena *arena, const char *path, Str device, Str text, ResultTable *table,
               ReadError *error);

// Reads any CSV file with facts, a header row and data rows, whatever its columns are.
bool read_csv(Arena *arena, const char *path, ResultTable *table, ReadError *error);

#endif
