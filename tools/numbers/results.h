// Results: recorded tables in memory, and what a folder of them holds. read.h reads them, and
// base/catalog.h says which file is of which kind.
//
// A table is a few facts, lines `# name: value` of its file, a row of column names and data rows.
// Columns of one file may be joined to the rows of another: join.h.
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
    double n, cols;   // elements, and the length of the rows they are in; -1: no such column
} ResultRow;

// The rows of one kernel of a chapter, in file order.
typedef struct {
    Str chapter, name;
    const size_t *rows; // their places in the table
    size_t row_count;
} ResultKernel;

typedef struct {
    const char *path;
    Str device; // the file's name without `.csv`; empty of a file with any columns
    CatalogFile file;
    const ResultFact *facts;
    size_t fact_count;
    const Str *columns;
    size_t column_count;
    const ResultRow *rows;
    size_t row_count;
    const ResultKernel *kernels; // by chapter and name; none of a file with any columns
    size_t kernel_count;
} ResultTable;

typedef struct {
    const char *folder;
    const ResultTable *devices; // the reference device first, the others by name
    size_t device_count;
    const ResultTable *shapes; // by name: nvidia-h200-shapes
    size_t shapes_count;
    const ResultTable *machines; // by name: nvidia-h200-machine
    size_t machine_count;
    const ResultTable *reference; // NULL when its file is not there
    const ResultTable *counters;  // cpu.csv with cpu-machine.csv, NULL when it is not there
    const ResultTable *lines;     // cpu-lines.csv, NULL when it is not there
} Results;

// Which cell of a row a column is; SIZE_MAX when there is none of that name.
size_t results_column(const ResultTable *table, Str column);

// The text in a named column of a row; empty when there is no such column.
Str results_cell(const ResultTable *table, const ResultRow *row, Str column);
bool results_has_column(const ResultTable *table, Str column);

// The value of a fact; empty if the table has no such fact.
Str results_fact(const ResultTable *table, Str name);

// Fills the table's kernels from its rows. They hold places of rows, so columns may still be joined
// to the table, but rows may not be added.
void results_index_kernels(Arena *arena, ResultTable *table);

// The kernels of a chapter, by name: *count from the place returned.
const ResultKernel *results_kernels(const ResultTable *table, Str chapter, size_t *count);

// One kernel of a chapter, or NULL.
const ResultKernel *results_kernel(const ResultTable *table, Str chapter, Str name);

// Which program measured a table's rows: the lab's own; for DEVICE-newest.csv and DEVICE-shapes.csv
// the one that the lab's block names with newest_from= or shapes=, which includes the lab.
typedef enum { PROGRAM_LAB, PROGRAM_NEWEST, PROGRAM_SHAPES, PROGRAM_COUNT } ResultProgram;
ResultProgram results_program(const ResultTable *table);

// What a device's table is called: its fact `device`, or its file, and the newer CUB if it has one.
Str results_device_name(Arena *arena, const ResultTable *table);

// The device whose labs were measured once more, with a newer CUB, in a table: nvidia-h200 of
// nvidia-h200-newest; empty for any other table.
Str results_newest_of(const ResultTable *table);

// A decimal number that takes all of s: digits, a point, an exponent; finite.
bool results_number(Str s, double *number);

#endif
