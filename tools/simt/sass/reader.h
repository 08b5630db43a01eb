// The state of a cubin reader, shared by the files that read cubins.
#ifndef SASS_READER_H
#define SASS_READER_H

#include <elf.h>

#include "simt/sass/cubin.h"

typedef struct Lines Lines;

typedef struct {
    Arena *arena;
    Str file, names, symbols, symbol_names;
    const char *origin;
    Elf64_Shdr *sections;
    uint32_t count;
    PtxModule *module;
    SassModule *machine;
    size_t variable_capacity;
    Lines *lines; // of .debug_line
    SimtStatus *status;
    SimtError *error;
} Cubin;

Str cubin_bytes(const Cubin *cubin,
                uint32_t section); // empty if the section has no bytes in the file
// The section whose name is `prefix` followed by `name`; 0: none.
uint32_t cubin_find(const Cubin *cubin, Str prefix, Str name);

#endif
