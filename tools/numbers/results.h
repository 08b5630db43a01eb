// Recorded results: the CSV files of a results folder, checked when they are read.
//
// <device>.csv holds what a GPU measured, <device>-limits.csv what held its kernels back, and
// predicted/<device>.csv what `simt --time` says of both (they are joined to the former: join.h),
// <device>-newest.csv what the same labs measured there with a CUB
// newer than the toolkit's (a device to whoever names it, and to nobody else), <device>-shapes.csv
// rows of every shape, told by the column `cols` (for keys that name a shape: shapes.h), cpu.csv
// what the CPU device counted per kernel, cpu-machine.csv the same of machine code (joined to it,
// too), and cpu-lines.csv per line of tangled code, of PTX. <device>-machine.csv holds latencies
// and rates (machine.h). Each is a few comment lines `# name: value` (its facts), a header row and
// data rows. Numbers are what they can be: counts whole and not negative, times positive, the 5th
// percentile not above the median, nor that above the 95th. trace-*.csv, errors*.csv, compare-*.csv
// and steps/*.csv have columns of their own: they are for plots, for tables that show a file as it
// is, and for the page's player.
#ifndef NUMBERS_RESULTS_H
#define NUMBERS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
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

// The rows of one kernel of a chapter, in file order: kernels.h.
typedef struct {
    Str chapter, name;
    const size_t *rows; // their places in the table
    size_t row_count;
} ResultKernel;

typedef struct {
    const char *path;
    Str device; // the file's name without `.csv`
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

typedef struct {
    const char *path;
    size_t line; // 0: the file as a whole
    Str message;
} ResultError;

// Reads every CSV file of the folder; a folder that does not exist reads as an empty one.
// Everything lives in the arena. False: `error` says where and what is wrong.
bool results_read(Arena *arena, const char *folder, Str reference, Results *results,
                  ResultError *error);

// The same for one file's text, which must outlive the table. `device` is the file's name without
// `.csv`; empty: any columns, any rows.
bool results_parse(Arena *arena, const char *path, Str device, Str text, ResultTable *table,
                   ResultError *error);

// Reads any CSV file with facts, a header row and data rows, whatever its columns are.
bool results_read_csv(Arena *arena, const char *path, ResultTable *table, ResultError *error);

// Which cell of a row a column is; SIZE_MAX when there is none of that name.
size_t results_column(const ResultTable *table, Str column);

// The text in a named column of a row; empty when there is no such column.
Str results_cell(const ResultTable *table, const ResultRow *row, Str column);
bool results_has_column(const ResultTable *table, Str column);

// Which program measured a table's rows: the lab's own; for DEVICE-newest.csv and DEVICE-shapes.csv
// the one that the lab's block names with newest_from= or shapes=, which includes the lab.
typedef enum { PROGRAM_LAB, PROGRAM_NEWEST, PROGRAM_SHAPES, PROGRAM_COUNT } ResultProgram;
ResultProgram results_program(const ResultTable *table);

// The value of a fact; empty when there is none of that name.
Str results_fact(const ResultTable *table, Str name);

// What a device's table is called: its fact `device`, or its file, and the newer CUB if it has one.
Str results_device_name(Arena *arena, const ResultTable *table);

// The device whose labs were measured once more, with a newer CUB, in a table: nvidia-h200 of
// nvidia-h200-newest; empty for any other table.
Str results_newest_of(const ResultTable *table);

// A decimal number that takes all of s: digits, a point, an exponent; finite.
bool results_number(Str s, double *number);

#endif
