// Calls of the C library by which the system reads and writes the program's memory: guarded pages
// among it are touched first. See guard.h.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "simt/memory/guard.h"
#include "simt/program/runtime.h"

// The function that would have been called.
static void *behind(void **known, const char *name) {
    if (!*known) *known = dlsym(RTLD_NEXT, name);
    return *known;
}

// A function, its parameters and arguments; the bytes that are read or written.
#define TRANSFER(result, name, parameters, arguments, at, bytes, write)                            \
    static void *known_##name;                                                                     \
    API result name parameters {                                                                   \
        guard_touch((void *)(uintptr_t)(at), bytes, write);                                        \
        result(*const function) parameters =                                                       \
            (result(*) parameters)(uintptr_t)behind(&known_##name, #name);                         \
        return function arguments;                                                                 \
    }

TRANSFER(ssize_t, read, (int file, void *to, size_t bytes), (file, to, bytes), to, bytes, true)
TRANSFER(ssize_t, pread, (int file, void *to, size_t bytes, off_t from), (file, to, bytes, from),
         to, bytes, true)
TRANSFER(ssize_t, recv, (int file, void *to, size_t bytes, int flags), (file, to, bytes, flags), to,
         bytes, true)
TRANSFER(ssize_t, write, (int file, const void *from, size_t bytes), (file, from, bytes), from,
         bytes, false)
TRANSFER(ssize_t, pwrite, (int file, const void *from, size_t bytes, off_t to),
         (file, from, bytes, to), from, bytes, false)
TRANSFER(ssize_t, send, (int file, const void *from, size_t bytes, int flags),
         (file, from, bytes, flags), from, bytes, false)
TRANSFER(size_t, fread, (void *restrict to, size_t size, size_t count, FILE *restrict file),
         (to, size, count, file), to, size *count, true)
TRANSFER(size_t, fwrite,
         (const void *restrict from, size_t size, size_t count, FILE *restrict file),
         (from, size, count, file), from, size *count, false)

// Handlers of signals call these too, where dlsym must not be called.
__attribute__((constructor)) static void find_all(void) {
    behind(&known_read, "read");
    behind(&known_pread, "pread");
    behind(&known_recv, "recv");
    behind(&known_write, "write");
    behind(&known_pwrite, "pwrite");
    behind(&known_send, "send");
    behind(&known_fread, "fread");
    behind(&known_fwrite, "fwrite");
}
