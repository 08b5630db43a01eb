// The source files of a page. A file is read when its name first appears, because the program may
// change its working folder. The page shows the lines with counts or hazards and their context.
#ifndef SOURCE_H
#define SOURCE_H

#include "base/str.h"

// The number of a file, from 1; 0 for NULL. `name` is a path as reports show it.
size_t source_file(Arena *arena, const char *name);

// Marks a line to be shown.
void source_want(Arena *arena, size_t file, uint32_t line);

// Writes a JSON list of all files, number 1 at index 0: name, a warning or why it cannot be shown,
// and ranges of consecutive lines.
void source_write(Buf *buf);

#endif
