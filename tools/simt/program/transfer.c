// Wraps C library calls that let the kernel read or write the program's memory: touches guarded
// pages (guard.h) first, because the kernel's access would not fault.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "simt/memory/guard.h"
#include "simt/program/runtime.h"

// The C library's function.
static void *next_function(void **known, const char *name) {
    if (!*known) *known = dlsym(RTLD_NEXT, name);
    return *known;
}

// Defines a wrapper: result, name, parameters, arguments, and the bytes that the call reads or
// writes.
#define TRANSFER(result, name, parameters, arguments, at, bytes, write)                            \
    static void *known_##name;                                                                     \
    API result name parameters {                                                                   \
        guard_touch((void *)(uintptr_t)(at), bytes, write);                                        \
        result(*const function) parameters =                                                       \
            (result(*) parameters)(uintptr_t)next_function(&known_##name, #name);                  \
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

// Looks up all functions early, because signal handlers call them and must not call dlsym.
__attribute__((constructor)) static void find_all(void) {
    next_function(&known_read, "read");
    next_function(&known_pread, "pread");
    next_function(&known_recv, "recv");
    next_function(&known_write, "write");
    next_function(&known_pwrite, "pwrite");
    next_function(&known_send, "send");
    next_function(&known_fread, "fread");
    next_function(&known_fwrite, "fwrite");
}
