// The table of launches, as Nsight Compute would head its columns.
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

#include "base/str.h"
#include "simt/device/device.h"

typedef struct {
    const char *kernel;
    Dim3 grid, block;
    uint64_t launches;
    const Counters *counters; // of one of them
    bool waits;               // for what other threads do to memory, in a loop
} TableRow;

// 256, or 16x16, or 8x8x4.
void table_shape(Buf *buf, Dim3 shape);

// From now on instructions are the machine's, not those of PTX.
void table_of_machine(void);

// What stands above a counter's column: the group of columns that it belongs to, its own heading.
void table_heading(Counter counter, const char **group, const char **metric);

// Prints the columns that fit the screen. Those come first in which the rows differ, and among them
// those that this book is about; a line below says how to see the others. `timed`: times follow.
void table_print(Arena *arena, const TableRow *rows, size_t count, bool timed);

// --- which columns of a table fit the screen ---

// Characters in a line: COLUMNS if the environment has it, else the terminal's. At least 40; where
// neither is there, as in a pipe or a file, 0: whoever reads that may break lines.
int columns_told(void);
int columns_screen(void); // then 80

typedef struct {
    int width;   // characters, without the space before it
    int rank;    // the lowest are shown first; ranks of one table differ
    bool wanted; // in: has it something to say? out: is it shown?
} Column;

// Keeps those of `wanted` that fit `room` characters, `gap` before each, the lowest ranks first.
// Returns how many were left out.
int columns_choose(Column *columns, int count, int room, int gap);

#endif
