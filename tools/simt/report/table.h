// The table of launches, as Nsight Compute would head its columns.
#ifndef TABLE_H
#define TABLE_H

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

#endif
