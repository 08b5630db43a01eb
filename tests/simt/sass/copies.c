// Preloaded before the CUDA runtime: writes a line for each copy from the device to the host, its
// size and the 64-bit FNV-1a hash of its bytes, to the file that COPIES names; for 16 bytes also
// the hash of the first 12.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int Copy(void *to, const void *from, size_t bytes, int kind);
enum { DEVICE_TO_HOST = 2 };

Copy cudaMemcpy;

static uint64_t hash_of(const unsigned char *at, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < bytes; k++) hash = (hash ^ at[k]) * 0x100000001b3u;
    return hash;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
    static FILE *out;
    union {
        void *symbol;
        Copy *copy;
    } next = {dlsym(RTLD_NEXT, "cudaMemcpy")};
    if (!next.symbol) return 1;
    const int error = next.copy(to, from, bytes, kind);
    if (error || kind != DEVICE_TO_HOST) return error;
    if (!out && getenv("COPIES")) out = fopen(getenv("COPIES"), "w");
    if (!out) abort();
    fprintf(out, "%zu %016llx", bytes, (unsigned long long)hash_of(to, bytes));
    if (bytes == 16) fprintf(out, " %016llx", (unsigned long long)hash_of(to, 12));
    fprintf(out, "\n");
    fflush(out);
    return 0;
}
