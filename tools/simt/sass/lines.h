// Which source line an instruction was made from: .debug_line of a cubin.
#ifndef SASS_LINES_H
#define SASS_LINES_H

#include "simt/sass/reader.h"

// Reads the table, if there is one, and the module's list of files.
void lines_open(Cubin *cubin);

// Gives the function's instructions their places; `symbol` is the function's.
void lines_read(Cubin *cubin, PtxFunction *function, uint32_t symbol);

#endif
