// Fuzzes the ELF reader with damaged copies of a program. It is built with sanitizers, which end it
// at the first access outside the buffer.
//
// usage: fuzz_elf PROGRAM
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "simt/launcher/elf.h"
#include "simt/launcher/standin.h"
#include "simt/program/fatbin.h"

static uint64_t state = 2654435761u;

// xorshift64 (Marsaglia 2003).
static uint64_t next(uint64_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? state % limit : 0;
}

// A truncated copy with changed bytes, in a block of exactly its size; most changes are in the
// headers.
static Str damage(Str original, size_t header_bytes) {
    static const uint64_t special[] = {0, 1, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, UINT64_MAX};
    size_t len = next(4) ? original.len : next(original.len + 1);
    char *copy = malloc(len ? len : 1);
    memcpy(copy, original.at, len);
    for (uint64_t i = next(6); len && i > 0; i--) {
        size_t at = next(3) && header_bytes < len ? next(header_bytes) : next(len);
        size_t width = (size_t)1 << next(4);
        uint64_t value = next(2) ? special[next(8)] : next(0);
        for (size_t k = 0; k < width && at + k < len; k++) copy[at + k] = (char)(value >> 8 * k);
    }
    return (Str){copy, len};
}

int main(int argc, char **argv) {
    enum { RUNS = 5000 };
    Arena arena = {0};
    Str program;
    if (argc != 2 || !file_read(&arena, argv[1], &program)) return 2;
    unsigned accepted = 0, bytes = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        ElfProgram found;
        Str damaged = damage(program, 4096);
        if (elf_inspect(damaged, &found) == ELF_CUDA) accepted++;
        Str soname, image;
        Arena own = {0};
        for (size_t k = 0; standin_needed(damaged, k, &soname); k++) {
            image = standin_make(&own, damaged, soname);
            bytes += (unsigned char)image.at[image.len - 1];
        }
        arena_free(&own);
        for (size_t i = 0; i < found.runtime.len; i++) bytes += (unsigned char)found.runtime.at[i];
        free((void *)(uintptr_t)damaged.at);
    }
    arena_free(&arena);
    printf("%u files, %u accepted, sum %u\n", RUNS, accepted, bytes);
    return accepted > 0 && accepted < RUNS ? 0 : 1;
}
