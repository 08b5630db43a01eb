// Where in its source the program's own code is.
#ifndef HOST_LINE_H
#define HOST_LINE_H

#include <stddef.h>
#include <stdint.h>

// Writes "file.cu:12" if the program was built with -g, else "main()" if it has a table of symbols;
// an address outside of the program, or nothing known of it: an empty text.
void host_line(uint64_t address, char *text, size_t size);

#endif
