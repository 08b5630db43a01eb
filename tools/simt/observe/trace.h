// `simt --trace FILE`: every shared-memory access and barrier of a kernel's first block as a row
// kernel,launch,block,warp,pc_line,space,op,bytes,lane,address
#ifndef TRACE_H
#define TRACE_H

#include "simt/exec/observer.h"

// Appends to the file; the first launch of the process writes it anew, with a header row. NULL: the
// error says why, and errno.
Observer *trace_open(const char *path, const char *kernel, SimtError *error);
bool trace_close(Observer *trace); // false: not all could be written

#endif
