// The table of launches, with headings as in Nsight Compute, and the choice of columns.
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

#include "base/str.h"
#include "simt/device/device.h"

typedef struct {
    const char *kernel;
    Dim3 grid, block;
    uint64_t launches;
    const Counters *counters; // of one launch
    bool waits;               // has a loop that waits for another thread
} TableRow;

// Adds a shape as 256, 16x16, or 8x8x4.
void table_shape(Buf *buf, Dim3 shape);

// Labels instruction counts as machine code from now on.
void table_of_machine(void);

// The heading of a counter's column: its group and its metric.
void table_heading(Counter counter, const char **group, const char **metric);

// Prints the columns that fit the screen: first those in which rows differ, then by rank. A line
// below says how to see the others. `timed`: predicted times follow.
void table_print(Arena *arena, const TableRow *rows, size_t count, bool timed);

// --- which columns of a table fit the screen ---

// Characters in a line, at least 40: COLUMNS from the environment, or the terminal's width. In a
// pipe or a file columns_known() is 0, so that lines are not wrapped, and columns_screen() is 80.
int columns_known(void);
int columns_screen(void);

typedef struct {
    int width;   // in characters, without the gap
    int rank;    // unique; the lowest are chosen first
    bool wanted; // input: not empty; output: shown
} Column;

// Chooses the wanted columns that fit `width` characters with `gap` before each, by rank. Returns
// the number left out.
int columns_choose(Column *columns, int count, int width, int gap);

#endif
