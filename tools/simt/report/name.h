// Readable names of kernels.
#ifndef NAME_H
#define NAME_H

#include "base/str.h"

// Demangles to "block_sum<256>", without return type and parameters. Returns `name`.
const char *name_kernel(const char *mangled, char *name, size_t bytes);

// Adds a name for a table: without namespaces, and with long template arguments elided.
void name_short(Buf *buf, Str name);

#endif
