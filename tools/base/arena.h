// Arena: one growing region of memory for a whole run; nothing in it is freed singly.
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct {
    ArenaBlock *blocks; // newest first
    jmp_buf *leave;     // where to go when memory runs out; NULL: the program ends
} Arena;

// Zeroed memory for `count` objects of `size` bytes, aligned for any type. Never NULL: when
// memory runs out this does not return, see Arena.leave; a program then ends with a message and
// exit status 1.
void *arena_alloc(Arena *arena, size_t count, size_t size);

// Frees everything that came from the arena; the arena is empty and can be used again.
void arena_free(Arena *arena);

#define ARENA_NEW(arena, count, type) ((type *)arena_alloc((arena), (count), sizeof(type)))

// Makes room for one more element in an arena-backed array: `items` and `capacity` are lvalues.
#define ARENA_GROW(arena, items, count, capacity)                                                  \
    ((count) < (capacity)                                                                          \
         ? (void)0                                                                                 \
         : (void)((items) = arena_grow((arena), (items), (count), &(capacity), sizeof *(items))))

void *arena_grow(Arena *arena, const void *items, size_t count, size_t *capacity, size_t size);

#endif
