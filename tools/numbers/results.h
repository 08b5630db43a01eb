// Results: the recorded tables of a results folder, in memory. read.h reads them, and
// base/catalog.h tells which file is of which kind.
//
// A table has facts, which are lines `# name: value` of its file, a row of column names, and data
// rows. Columns of another file may be joined to it: join.h.
#ifndef NUMBERS_RESULTS_H
#define NUMBERS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/catalog.h"
#include "base/str.h"

typedef struct {
    Str name;
    Str value;
} ResultFact;

typedef struct {
    size_t line;      // in the CSV file, from 1
    const Str *cells; // one per column of the table
    double n, cols;   // number of elements and the row length; -1: no such column
} ResultRow;

// The rows of one kernel of a chapter, in file order.
typedef struct {
    Str chapter, name;
    const size_t *rows; // indices into the table's rows
    size_t row_count;
} ResultKernel;

typedef struct {
    const char *path;
    Str device; // the file's name without `.csv`; empty for a file with any columns
    CatalogFile file;
    const ResultFact *facts;
    size_t fact_count;
    const Str *columns;
    size_t column_count;
    const ResultRow *rows;
    size_t row_count;
    const ResultKernel *kernels; // sorted by chapter and name; none for a file with any columns
    size_t kernel_count;
} ResultTable;

typedef struct {
    const char *folder;
    const ResultTable *devices; // the reference device first, then the others by name
    size_t device_count;
    const ResultTable *shapes; // by name: nvidia-h200-shapes
    size_t shapes_count;
    const ResultTable *machines; // by name: nvidia-h200-machine
    size_t machine_count;
    const ResultTable *reference; // NULL if its file is missing
    const ResultTable *model;     // predicted/errors.csv; NULL if it is missing
    const ResultTable *counters;  // cpu.csv joined with cpu-machine.csv; NULL if it is missing
    const ResultTable *lines;     // cpu-lines.csv; NULL if it is missing
    const ResultTable *small;     // cpu-small.csv; NULL if it is missing
} Results;

// The index of a column; SIZE_MAX if there is none of that name.
size_t results_column(const ResultTable *table, Str column);

// The text in a column of a row; empty if there is no such column.
Str results_cell(const ResultTable *table, const ResultRow *row, Str column);
bool results_has_column(const ResultTable *table, Str column);

// The number in a column of a row; 0 if there is none.
double results_cell_number(const ResultTable *table, const ResultRow *row, Str column);

// Appends columns to a table. Returns the new cells of each row, which are empty.
Str **results_add_columns(Arena *arena, ResultTable *table, const Str *names, size_t count);

// The value of a fact; empty if the table has no such fact.
Str results_fact(const ResultTable *table, Str name);

// Fills the table's kernels from its rows. They refer to rows by index, so columns may still be
// joined to the table, but no rows added.
void results_index_kernels(Arena *arena, ResultTable *table);

// The kernels of a chapter, sorted by name; *count is their number.
const ResultKernel *results_kernels(const ResultTable *table, Str chapter, size_t *count);

// One kernel of a chapter, or NULL.
const ResultKernel *results_kernel(const ResultTable *table, Str chapter, Str name);

// Splits the block size off a name such as `block_sum_first_add_128`. A lab may record a kernel by
// such a name, which its launches do not have. False: there is no number at the end.
bool results_split_block(Str *kernel, Str *block);

// The program that measured a table's rows: the lab itself, or, for DEVICE-newest.csv and
// DEVICE-shapes.csv, the program that the lab's block names with newest_from= or shapes=, which
// includes the lab.
typedef enum { PROGRAM_LAB, PROGRAM_NEWEST, PROGRAM_SHAPES, PROGRAM_COUNT } ResultProgram;
ResultProgram results_program(const ResultTable *table);

// A device's display name: the fact `device`, or else its file name, and the newer CUB if any.
Str results_device_name(Arena *arena, const ResultTable *table);

// The device of a table with a newer CUB: nvidia-h200 for nvidia-h200-newest; empty for other
// tables.
Str results_newest_of(const ResultTable *table);

// Parses all of s as a finite decimal number with optional sign, fraction and exponent.
bool results_number(Str s, double *number);

#endif
