// LabCsv: what a lab, or simt with it, wrote into one CSV, whose name says which lab and size it
// is.
#ifndef COLLECT_LAB_CSV_H
#define COLLECT_LAB_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/csv.h"

// What stands before the rows of a file.
typedef struct {
    Str facts;  // the comment lines but the date
    Str date;   // the comment line with the date, or empty
    Str header; // the header row
    Csv reader; // before the row that follows it
} LabCsvHead;

typedef struct {
    const char *path; // 04_bank_conflicts@1024.csv; without .csv: rows that were recorded before
    Str lab;          // 04_bank_conflicts
    Str chapter;      // 04
    Str n;            // elements: 1024 of LAB@1024.csv, else what -n says, else empty
    uint64_t source;  // hash of the program's source
    // Of a file:
    LabCsvHead head;
    size_t columns; // the cells of its header row
} LabCsv;

// Ends the program with one line: the file, the line if it is not 0, what is wrong.
_Noreturn void lab_csv_die(const char *path, size_t line, const char *message);

// Reads a file up to its rows. The header row must begin with these columns, `kernel,`; what is
// wrong ends the program.
LabCsvHead lab_csv_head(Arena *arena, const char *path, Str columns);

Str lab_csv_lab(Str path);

// Where a program's source is.
typedef struct {
    const char *code;  // the folder: CODE/LAB.cu, or LAB in another language
    const char **with; // LAB=FILE for each lab that a program measured which includes it: its path
    size_t with_count;
} LabSource;

// The hash of a program's code: the lab's, and behind it that of what includes it.
uint64_t lab_csv_source(Arena *arena, const LabSource *source, Str lab);

// Only what the name and the source say; `n` if the name says no size, or NULL.
LabCsv lab_csv_name(Arena *arena, const char *path, const LabSource *source, const char *n);

// The same, and the file up to its rows.
LabCsv lab_csv_open(Arena *arena, const char *path, const LabSource *source, const char *n);

// Whether a path is a file's, and not only a name.
bool lab_csv_is_file(const char *path);

// The next row; false at the end.
bool lab_csv_row(Csv *reader, const LabCsv *csv, Str *row);

// Takes `count` cells off a row that has more than these.
void lab_csv_take(Csv *reader, const LabCsv *csv, Str *row, Str *cells, size_t count,
                  const char *expected);

#endif
