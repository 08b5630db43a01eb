// Arena: a growing region of memory that is freed as a whole.
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct {
    ArenaBlock *blocks; // newest first
    jmp_buf *leave;     // longjmp target when memory runs out; NULL: the program exits
} Arena;

// Returns zeroed memory for `count` objects of `size` bytes, aligned for any type. Never returns
// NULL: when memory runs out it jumps to Arena.leave, or prints a message and exits with status 1.
void *arena_alloc(Arena *arena, size_t count, size_t size);

// Frees all memory of the arena, which is then empty and can be used again.
void arena_free(Arena *arena);

#define ARENA_NEW(arena, count, type) ((type *)arena_alloc((arena), (count), sizeof(type)))

// Grows an array in the arena if it is full; `items` and `capacity` are lvalues.
#define ARENA_GROW(arena, items, count, capacity)                                                  \
    ((count) < (capacity)                                                                          \
         ? (void)0                                                                                 \
         : (void)((items) = arena_grow((arena), (items), (count), &(capacity), sizeof *(items))))

void *arena_grow(Arena *arena, const void *items, size_t count, size_t *capacity, size_t size);

#endif
