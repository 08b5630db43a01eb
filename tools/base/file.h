// Reads files completely, and writes them completely or not at all.
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

// Reads the whole file into the arena. Returns false on failure, with errno set.
bool file_read(Arena *arena, const char *path, Str *text);

// Like file_read, but drops a byte order mark and turns \r\n at the end of a line into \n.
bool file_read_text(Arena *arena, const char *path, Str *text);

// Returns the path of `name` relative to the folder of the running program. If a symbolic link
// started the program, that is the folder of the link's target.
const char *file_beside(Arena *arena, const char *name);

typedef enum { FILE_WRITTEN, FILE_UNCHANGED, FILE_FAILED } FileResult;

// Writes `text` to `path`, unless the file has this content already. The text goes to a temporary
// file in the same folder, which then replaces `path` in one step. Creates missing folders. Follows
// a symbolic link; writes directly to a device or a pipe. On FILE_FAILED, errno has the reason and
// the file is unchanged.
FileResult file_write_if_changed(Arena *arena, const char *path, Str text);

#endif
