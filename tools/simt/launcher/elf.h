// What the launcher must know about a program before it starts it, read from its ELF file.
#ifndef ELF_H
#define ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum {
    ELF_CUDA,      // 64-bit x86, dynamically linked to libcudart.so.12 or .13
    ELF_NOT_ELF,   // a script, data, ...
    ELF_CORRUPT,   // an ELF file whose tables do not fit
    ELF_32_BIT,    //
    ELF_MACHINE,   // for another processor
    ELF_STATIC,    // the runtime is linked into it, and its functions can be found
    ELF_STRIPPED,  // the same without names: they cannot
    ELF_NO_LOADER, // linked with -static: no library can be put in front
    ELF_RUNTIME,   // linked to another version of the runtime
    ELF_NOT_CUDA   // no CUDA code
} ElfKind;

typedef struct {
    Str runtime;  // soname of the CUDA runtime it needs, or of what is linked into it
    bool rpath;   // DT_RPATH without DT_RUNPATH, which wins over LD_LIBRARY_PATH
    bool preload; // only then does the CPU device come first
} ElfProgram;

// What it takes from a library: its name there; version and soname where it asks for a version.
typedef struct {
    Str name, version, file;
} ElfImport;

ElfKind elf_inspect(Str file, ElfProgram *program);

// Calls `found` with the soname of each library that it needs, until that returns false; then
// false.
bool elf_needed(Str file, bool (*found)(void *context, Str soname), void *context);

// Calls `found` with each function that it imports.
void elf_imports(Str file, void (*found)(void *context, const ElfImport *import), void *context);

// Calls `found` with each function of an ELF_STATIC program whose name is one of the CUDA runtime:
// its address before the program is moved.
void elf_runtime_functions(Str file, void (*found)(void *context, Str name, uint64_t address),
                           void *context);

#endif
