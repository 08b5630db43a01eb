// Stand-ins for libraries that go past the CUDA runtime, as cuBLAS and the driver API do: shared
// libraries that are made for one program and hold just the functions which it imports. Each of
// them says its name to the CPU device, which refuses the call.
#ifndef STANDIN_H
#define STANDIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

// The sonames among those that an ELF file needs for which there can be one, `number` from 0 on.
// False: no more.
bool standin_needed(Str file, size_t number, Str *soname);

// An ELF shared library with this soname, for preloading: x86-64, version definitions as the
// program asks for them. Layout: Tool Interface Standard, ELF-64; versions: LSB, "Symbol
// Versioning".
Str standin_make(Arena *arena, Str file, Str soname);

#endif
