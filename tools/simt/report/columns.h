// Which columns of a table fit the screen.
#ifndef COLUMNS_H
#define COLUMNS_H

#include <stdbool.h>

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
