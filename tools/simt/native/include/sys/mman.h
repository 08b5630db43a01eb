// Anonymous memory for the native platform, which has a heap but no pages: access rights and advice
// have no effect.
#ifndef NATIVE_MMAN_H
#define NATIVE_MMAN_H

#include <stddef.h>

enum { PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 1, MAP_SHARED = 2, MAP_ANONYMOUS = 4, MAP_NORESERVE = 8 };
enum { MADV_HUGEPAGE, MADV_DONTFORK };

void *native_map(size_t bytes); // see simt/native/native.h
void native_unmap(void *at);

#define MAP_FAILED ((void *)-1)

static inline void *mmap(void *at, size_t bytes, int rights, int flags, int file, long offset) {
    void *memory = native_map(bytes);
    (void)at, (void)rights, (void)flags, (void)file, (void)offset;
    return memory ? memory : MAP_FAILED;
}

static inline int munmap(void *at, size_t bytes) {
    (void)bytes;
    native_unmap(at);
    return 0;
}

static inline int madvise(void *at, size_t bytes, int advice) {
    (void)at, (void)bytes, (void)advice;
    return 0;
}

#endif
