// What the launcher must know about a program before it starts it, read from its ELF file.
#ifndef ELF_H
#define ELF_H

#include <stdbool.h>

#include "base/str.h"

typedef enum {
    ELF_CUDA,       // 64-bit x86, dynamically linked to libcudart.so.12 or .13
    ELF_NOT_ELF,    // a script, data, ...
    ELF_CORRUPT,    // an ELF file whose tables do not fit
    ELF_32_BIT,     //
    ELF_MACHINE,    // for another processor
    ELF_STATIC,     // CUDA code, but the runtime is linked into it
    ELF_RUNTIME,    // linked to another version of the runtime
    ELF_NEEDS,      // it needs a library that goes past the CUDA runtime
    ELF_NOT_CUDA,   // no CUDA code
    ELF_RELOCATABLE // built with -rdc=true
} ElfKind;

typedef struct {
    Str runtime; // soname of the CUDA runtime it needs
    bool rpath;  // DT_RPATH without DT_RUNPATH, which wins over LD_LIBRARY_PATH
    Str needs;   // soname of such a library, and what it is
    const char *needs_what;
} ElfProgram;

ElfKind elf_inspect(Str file, ElfProgram *program);

#endif
