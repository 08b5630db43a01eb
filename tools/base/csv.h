// Csv: reads files of comment lines `# name: value`, a header row and data rows.
//
//     Csv csv = csv_open(&arena, text);
//     Str line, *cells;
//     size_t count;
//     while (csv_line(&csv, &line))
//         if (line.at[0] != '#' && csv_cells(&csv, line, &cells, &count)) use the cells;
//     if (csv.fault) say path:csv.line: csv.fault
//
// Cells follow RFC 4180: commas separate them, and in a quoted cell "" means a quote.
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Arena *arena;
    Str rest;          // the lines not read yet
    size_t line;       // number of the line read last, from 1
    size_t good_until; // length of the valid UTF-8 at `start`
    const char *start;
    const char *fault; // the error in that line, or NULL
} Csv;

// `text` must outlive what is read.
Csv csv_open(Arena *arena, Str text);

// Reads the next line that is not blank. Returns false at the end of the text and on an error:
// invalid UTF-8, a control character, or a byte order mark at the start of the text.
bool csv_line(Csv *csv, Str *line);

// Takes the next cell off *row, trimmed unless it was quoted. Sets *more if a comma, and so another
// cell, follows. Returns false on an error.
bool csv_cell(Csv *csv, Str *row, Str *cell, bool *more);

// Splits a row into cells. Returns false on an error.
bool csv_cells(Csv *csv, Str row, Str **cells, size_t *count);

// Writes a cell, in quotes if it holds a comma or a quote, or has spaces at its ends.
void csv_add_cell(Buf *out, Str text);

#endif
