// Csv: files of comment lines `# name: value`, a header row and data rows, read line by line.
//
//     Csv csv = csv_open(&arena, text);
//     Str line, *cells;
//     size_t count;
//     while (csv_line(&csv, &line))
//         if (line.at[0] != '#' && csv_cells(&csv, line, &cells, &count)) use the cells;
//     if (csv.fault) say path:csv.line: csv.fault
//
// Cells are RFC 4180's: between commas, or in quotes, where "" stands for ".
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Arena *arena;
    Str rest;          // the lines to come
    size_t line;       // number of the line that was read last, from 1
    size_t good_until; // bytes of the text from `start` on that are UTF-8
    const char *start;
    const char *fault; // what is wrong with that line, or NULL
} Csv;

// `text` must outlive what is read.
Csv csv_open(Arena *arena, Str text);

// The next line that is not blank. False at the end, and at a fault: a line that is not UTF-8 or
// has a control character, a byte order mark at the start of the text.
bool csv_line(Csv *csv, Str *line);

// Takes the next cell off *row, trimmed unless it was quoted; *more tells whether a comma followed,
// so that there is another one. False: a fault.
bool csv_cell(Csv *csv, Str *row, Str *cell, bool *more);

// All cells of a row. False: a fault.
bool csv_cells(Csv *csv, Str row, Str **cells, size_t *count);

// Writes a cell, in quotes if it holds a comma or a quote, or has spaces at its ends.
void csv_add_cell(Buf *out, Str text);

#endif
