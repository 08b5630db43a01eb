// Makes stand-ins for libraries beyond the CUDA runtime, such as cuBLAS and the driver API. A
// stand-in is a shared library that defines only the functions that one program imports. Each
// function passes its name to the CPU device, which refuses the call.
#ifndef STANDIN_H
#define STANDIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

// Finds the `number`th library, from 0, that the ELF file needs and that a stand-in can replace.
// Returns false if there are no more.
bool standin_needed(Str file, size_t number, Str *soname);

// Makes an x86-64 ELF shared library with this soname, for preloading, with the symbol versions
// that the program imports. Layout: Tool Interface Standard, ELF-64; versions: LSB, "Symbol
// Versioning".
Str standin_make(Arena *arena, Str file, Str soname);

#endif
