// Finds the source line of each machine instruction: .debug_line of a cubin.
#ifndef SASS_LINES_H
#define SASS_LINES_H

#include "simt/sass/reader.h"

// Reads the table, if there is one, and the module's list of files.
void lines_open(Cubin *cubin);

// Sets the places of a function's instructions; `symbol` is the function's.
void lines_read(Cubin *cubin, PtxFunction *function, uint32_t symbol);

#endif
