// The source files that a page shows: read when they are first heard of, for the program may change
// its folder; of each only the lines that something was counted or found at, and those around them.
#ifndef SOURCE_H
#define SOURCE_H

#include "base/str.h"

// The number of a file, from 1, and 0 for NULL; `name` is a path as reports show it.
size_t source_file(Arena *arena, const char *name);

// The line is to be shown.
void source_want(Arena *arena, size_t file, uint32_t line);

// All files as a list in JSON, the first at index 0 for number 1: name, why it cannot be shown or
// what is doubtful about it, pieces of consecutive lines.
void source_write(Buf *buf);

#endif
