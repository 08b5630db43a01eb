// A chain of blocks. The first has at least 64 KiB, and each new one at least doubles the size.
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArenaBlock {
    ArenaBlock *next;
    size_t used;
    size_t capacity;
    alignas(max_align_t) unsigned char bytes[];
};

static _Noreturn void out_of_memory(const Arena *arena) {
    if (arena->leave) longjmp(*arena->leave, 1);
    fputs("out of memory\n", stderr);
    exit(1);
}

void *arena_alloc(Arena *arena, size_t count, size_t size) {
    const size_t align = alignof(max_align_t);
    if (size && count > (SIZE_MAX / 4) / size) out_of_memory(arena);
    size_t bytes = (count * size + align - 1) / align * align;
    ArenaBlock *block = arena->blocks;
    if (!block || block->capacity - block->used < bytes) {
        size_t capacity = block ? block->capacity * 2 : (size_t)1 << 16;
        while (capacity < bytes) capacity *= 2;
        ArenaBlock *fresh = malloc(sizeof *fresh + capacity);
        if (!fresh) out_of_memory(arena);
        fresh->next = block;
        fresh->used = 0;
        fresh->capacity = capacity;
        arena->blocks = block = fresh;
    }
    void *result = block->bytes + block->used;
    block->used += bytes;
    return memset(result, 0, bytes);
}

void *arena_grow(Arena *arena, const void *items, size_t count, size_t *capacity, size_t size) {
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *grown = arena_alloc(arena, larger, size);
    *capacity = larger;
    if (count) memcpy(grown, items, count * size);
    return grown;
}

void arena_free(Arena *arena) {
    for (ArenaBlock *block = arena->blocks; block;) {
        ArenaBlock *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
}
