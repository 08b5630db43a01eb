// A hash table with linear probing.
#include "base/map.h"

// The slot of this key, or the free slot where it belongs.
static MapSlot *slot_of(const Map *map, Str key) {
    size_t mask = map->capacity - 1;
    for (size_t at = (size_t)str_hash(key) & mask;; at = (at + 1) & mask) {
        MapSlot *slot = &map->slots[at];
        if (!slot->used || str_equal(slot->key, key)) return slot;
    }
}

static void grow(Map *map) {
    Map larger = {.arena = map->arena, .count = map->count, .capacity = 2 * map->capacity};
    if (larger.capacity == 0) larger.capacity = 16;
    larger.slots = ARENA_NEW(map->arena, larger.capacity, MapSlot);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used) *slot_of(&larger, map->slots[i].key) = map->slots[i];
    *map = larger;
}

size_t *map_at(Map *map, Str key, bool *is_new) {
    if (2 * map->count >= map->capacity) grow(map);
    MapSlot *slot = slot_of(map, key);
    *is_new = !slot->used;
    if (*is_new) {
        *slot = (MapSlot){.key = key, .used = true};
        map->count++;
    }
    return &slot->value;
}

const size_t *map_find(const Map *map, Str key) {
    if (map->capacity == 0) return NULL;
    const MapSlot *slot = slot_of(map, key);
    return slot->used ? &slot->value : NULL;
}
