// Gives the fat-binary reader and the ELF reader damaged files for some seconds. Built with the
// sanitizers, which end it at the first access outside the buffer.
//
// usage: fuzz_files SECONDS SEED FATBIN PROGRAM
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "simt/cuda/fatbin.h"
#include "simt/launcher/elf.h"

static uint64_t state;

// xorshift64 (Marsaglia 2003).
static uint64_t next(uint64_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? state % limit : 0;
}

// A copy in a block of exactly its size, cut and with some bytes changed; most changes where the
// headers are.
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
    if (argc != 5) return 2;
    Arena arena = {0};
    Str fatbin, program;
    if (!file_read(&arena, argv[3], &fatbin) || !file_read(&arena, argv[4], &program)) return 2;
    time_t end = time(NULL) + atoi(argv[1]);
    state = strtoull(argv[2], NULL, 10) * 2654435761u + 1;
    unsigned long long runs = 0, accepted = 0;
    unsigned long long bytes = 0;
    for (; time(NULL) < end; runs++) {
        Str damaged = damage(fatbin, 256);
        FatbinPtx ptx = {.payload = {NULL, 0}};
        SimtError error;
        if (fatbin_ptx(damaged, &ptx, &error) == FATBIN_OK) accepted++;
        for (size_t i = 0; i < ptx.payload.len; i++) bytes += (unsigned char)ptx.payload.at[i];
        free((void *)(uintptr_t)damaged.at);

        ElfProgram found;
        damaged = damage(program, 4096);
        if (elf_inspect(damaged, &found) == ELF_CUDA) accepted++;
        for (size_t i = 0; i < found.runtime.len; i++) bytes += (unsigned char)found.runtime.at[i];
        free((void *)(uintptr_t)damaged.at);
    }
    arena_free(&arena);
    printf("%llu files, %llu accepted, sum %llu\n", runs, accepted, bytes);
    return runs > 100 && accepted > 0 && accepted < 2 * runs ? 0 : 1;
}
