// Accesses that the records of their word have no room for: see rest.h.
#include "simt/observe/check/rest.h"

#include <string.h>

#include "simt/observe/check/shadow.h"

// What is more, in all or of a word, is forgotten: then two of a word are remembered, as anywhere.
enum { MOST_ENTRIES = 1 << 20, MOST_OF_WORD = 32 };

static uint32_t *slot_of(const RestTable *table, uint64_t word) {
    return &table->slots[(word * 0x9E3779B97F4A7C15u >> 32) & (table->capacity - 1)];
}

// Twice the room.
static void widen(RestTable *table) {
    table->at = arena_grow(table->arena, table->at, table->count, &table->capacity, sizeof(Rest));
    table->slots = ARENA_NEW(table->arena, table->capacity, uint32_t);
    for (uint32_t k = 0; k < table->count; k++) {
        uint32_t *slot = slot_of(table, table->at[k].word);
        if (!table->at[k].lanes) continue;
        table->at[k].next = *slot;
        *slot = k + 1;
    }
}

static Rest *entry_at(const RestTable *table, uint32_t index) {
    return index ? &table->at[index - 1] : NULL;
}

static Rest *of_word(const RestTable *table, uint32_t index, uint64_t word) {
    Rest *rest = entry_at(table, index);
    while (rest && rest->word != word) rest = entry_at(table, rest->next);
    return rest;
}

Rest *rest_first(const RestTable *table, uint64_t word) {
    return table->live ? of_word(table, *slot_of(table, word), word) : NULL;
}

Rest *rest_next(const RestTable *table, const Rest *rest) {
    return of_word(table, rest->next, rest->word);
}

void rest_sweep(RestTable *table, uint64_t word) {
    uint32_t *link = table->live ? slot_of(table, word) : NULL;
    while (link && *link) {
        const uint32_t index = *link;
        Rest *rest = entry_at(table, index);
        if (rest->word != word || (rest->lanes && rest->bytes)) {
            link = &rest->next;
            continue;
        }
        *link = rest->next;
        table->writes -= rest->writes;
        table->weak -= !record_scope(rest->first);
        rest->lanes = 0;
        rest->next = table->spare;
        table->spare = index;
        table->live--;
    }
}

// A free entry. NULL: there are as many as may be.
static Rest *take(RestTable *table) {
    Rest *spare = entry_at(table, table->spare);
    if (spare) {
        table->spare = spare->next;
        return spare;
    }
    if (table->count == MOST_ENTRIES) return NULL;
    if (table->count == table->capacity) widen(table);
    return &table->at[table->count++];
}

static bool same_warp(Record one, Record other) {
    return !((one ^ other) & RECORD_WARP_MASK) &&
           shadow_block(record_time(one)) == shadow_block(record_time(other));
}

void rest_add(RestTable *table, uint64_t word, uint32_t bytes, Record record, bool writes,
              Record floor) {
    const uint32_t lane = record_thread(record) % DEVICE_WARP;
    const Record first = record - ((Record)lane << RECORD_THREAD);
    Rest *const newest = rest_first(table, word);
    const uint32_t before = newest ? newest->before + 1u : 0;
    bool ended = false;
    if (before >= MOST_OF_WORD && newest->first != first) return;
    if (table->work > REST_WORK) return;
    table->work += 1 + before;
    for (Rest *rest = newest; rest; rest = rest_next(table, rest)) {
        if (rest->bytes != bytes || rest->writes != writes) continue;
        if (rest->first == first) {
            rest->lanes |= 1u << lane;
            return;
        }
        const bool alike = !record_scope(first) == !record_scope(rest->first);
        if (rest->first < floor)
            rest->lanes = 0;
        else if (alike && same_warp(rest->first, first))
            rest->lanes &= ~(1u << lane);
        ended |= !rest->lanes;
    }
    if (ended) rest_sweep(table, word);
    Rest *made = take(table);
    if (!made) return;
    uint32_t *slot = slot_of(table, word);
    *made = (Rest){word, first, 1u << lane, *slot, (uint16_t)before, (uint8_t)bytes, writes};
    *slot = (uint32_t)(made - table->at) + 1;
    if (!table->live || word < table->low) table->low = word;
    if (!table->live || word >= table->high) table->high = word + 1;
    table->live++;
    table->writes += writes;
    table->weak += !record_scope(first);
}

void rest_forget(RestTable *table) {
    if (table->live) memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->count = 0;
    table->spare = table->live = table->writes = table->weak = 0;
    table->work = 0;
}
