// Read: reads the CSV files of a results folder and checks them.
//
// Counts must be whole and not negative, times positive, and percentiles in order. No two rows of a
// file measure the same. Traces, steps, errors and comparisons have other columns and are not read
// here.
#ifndef NUMBERS_READ_H
#define NUMBERS_READ_H

#include "numbers/results.h"

typedef struct {
    const char *path;
    size_t line; // 0: the file as a whole
    Str message;
} ReadError;

// Reads a results folder; a missing one counts as empty. Joins limits and predictions to a device's
// times, and the counts of machine code to those of PTX. Everything is in the arena. False: `error`
// says where and what is wrong.
bool read_results(Arena *arena, const char *folder, Str reference, Results *results,
                  ReadError *error);

// Reads one file's text, which must outlive the table. `device` is the file's name without `.csv`;
// if it is empty, any columns and rows are accepted.
bool read_text(Arena *arena, const char *path, Str device, Str text, ResultTable *table,
               ReadError *error);

// Reads any CSV file with facts, a header row and data rows, whatever its columns are.
bool read_csv(Arena *arena, const char *path, ResultTable *table, ReadError *error);

#endif
