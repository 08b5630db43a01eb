// LabCsv: a CSV written by a lab, or by simt for a lab. Its name tells the lab and the size.
#ifndef COLLECT_LAB_CSV_H
#define COLLECT_LAB_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/csv.h"

// The lines before the rows of a file.
typedef struct {
    Str facts;  // the comment lines except the date
    Str date;   // the comment line with the date, or empty
    Str header; // the header row
    Csv reader; // positioned after the header row
} LabCsvHead;

typedef struct {
    const char *path; // 04_bank_conflicts@1024.csv; without .csv: rows recorded before
    Str lab;          // 04_bank_conflicts
    Str chapter;      // 04
    Str n;            // number of elements: from LAB@1024.csv, else from -n, else empty
    uint64_t source;  // hash of the program's source
    // Only for a file:
    LabCsvHead head;
    size_t columns; // number of columns
} LabCsv;

// Prints the file, the line unless it is 0, and the message, and exits.
_Noreturn void lab_csv_die(const char *path, size_t line, const char *message);

// Reads a file up to its rows. The header row must begin with `columns`. Exits on an error.
LabCsvHead lab_csv_head(Arena *arena, const char *path, Str columns);

Str lab_csv_lab(Str path);

// The location of the source of programs.
typedef struct {
    const char *code;  // folder of CODE/LAB.cu, or of LAB in another language
    const char **with; // LAB=FILE for each lab measured by another program, FILE, which includes it
    size_t with_count;
} LabSource;

// The hash of a lab's code, followed by the code of the program that includes it.
uint64_t lab_csv_source(Arena *arena, const LabSource *source, Str lab);

// Fills the fields that depend on the name and source only. `n`, or NULL, is used if no size is
// named.
LabCsv lab_csv_name(Arena *arena, const char *path, const LabSource *source, const char *n);

// The same, and reads the file up to its rows.
LabCsv lab_csv_open(Arena *arena, const char *path, const LabSource *source, const char *n);

// Whether a path is a file, and not only a name.
bool lab_csv_is_file(const char *path);

// Reads the next row; false at the end.
bool lab_csv_row(Csv *reader, const LabCsv *csv, Str *row);

// Takes `count` cells off a row that must have more; `expected` is the message if not.
void lab_csv_take(Csv *reader, const LabCsv *csv, Str *row, Str *cells, size_t count,
                  const char *expected);

#endif
