// Files as wholes: read completely, written completely or not at all.
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

// Reads the whole file into the arena. On failure returns false with errno set.
bool file_read(Arena *arena, const char *path, Str *text);

// As file_read, for a text that somebody wrote in an editor: its byte order mark is left out, and
// lines that end in \r\n end in \n.
bool file_read_text(Arena *arena, const char *path, Str *text);

// The path of `name` as seen from the folder of the program that is running. A program that is
// started by a link is in the folder that the link leads to.
const char *file_beside(Arena *arena, const char *name);

typedef enum { FILE_WRITTEN, FILE_UNCHANGED, FILE_FAILED } FileResult;

// Gives `path` this content. Same content: the file is not touched. Otherwise the text goes to a
// temporary name beside it, which then replaces the file in one step; missing folders are made. A
// link stays one, and the file that it leads to is written; a device or a pipe is written into.
// On FILE_FAILED errno says why, and the file is as it was.
FileResult file_write_if_changed(Arena *arena, const char *path, Str text);

#endif
