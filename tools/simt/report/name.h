// Names of kernels as people write them.
#ifndef NAME_H
#define NAME_H

#include "base/str.h"

// "block_sum<256>" for a mangled name: without return type and parameters. Returns `name`.
const char *name_kernel(const char *mangled, char *name, size_t bytes);

// Adds the name as a table shows it: without namespaces, long template arguments left out.
void name_short(Buf *buf, Str name);

#endif
