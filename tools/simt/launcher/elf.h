// Reads from a program's ELF file what the launcher needs before it starts the program.
#ifndef ELF_H
#define ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum {
    ELF_CUDA,    // 64-bit x86, dynamically linked to libcudart.so.12 or .13
    ELF_NOT_ELF, // a script, data, ...
    ELF_CORRUPT, // an ELF file whose tables run past its end
    ELF_32_BIT,
    ELF_MACHINE,   // built for another processor
    ELF_STATIC,    // statically linked to the runtime, whose symbols are present
    ELF_STRIPPED,  // statically linked to the runtime, whose symbols were stripped
    ELF_NO_LOADER, // linked with -static: LD_PRELOAD has no effect
    ELF_RUNTIME,   // linked to another version of the runtime
    ELF_NOT_CUDA   // no CUDA code
} ElfKind;

typedef struct {
    Str runtime;  // soname of the CUDA runtime that it links to, dynamically or statically
    bool rpath;   // has DT_RPATH, which overrides LD_LIBRARY_PATH, and no DT_RUNPATH
    bool preload; // the CPU device must be preloaded to be found first
} ElfProgram;

// An imported symbol. `version` and `file` (a soname) are empty if the import has no version.
typedef struct {
    Str name, version, file;
} ElfImport;

ElfKind elf_inspect(Str file, ElfProgram *program);

// Calls `found` with each needed soname until it returns false. Returns false if it did.
bool elf_needed(Str file, bool (*found)(void *context, Str soname), void *context);

// Calls `found` with each imported function.
void elf_imports(Str file, void (*found)(void *context, const ElfImport *import), void *context);

// Calls `found` with each CUDA runtime function in an ELF_STATIC program. `address` is not
// relocated.
void elf_runtime_functions(Str file, void (*found)(void *context, Str name, uint64_t address),
                           void *context);

#endif
