// Map: a hash table from text to numbers, in an arena; open addressing, at most half full.
//
//     Map seen = {.arena = &arena};
//     bool new;
//     size_t *count = map_at(&seen, word, &new); // 0 if new
//     ++*count;
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Str key;
    size_t value;
    bool used;
} MapSlot;

typedef struct {
    Arena *arena;
    MapSlot *slots;
    size_t count;
    size_t capacity; // a power of two, or 0
} Map;

// Returns the number of this key. A new key is added with the number 0, and *is_new is set. The
// pointer is valid until the next key is added. The key's text must outlive the map.
size_t *map_at(Map *map, Str key, bool *is_new);

// The number of this key, or NULL.
const size_t *map_find(const Map *map, Str key);

#endif
