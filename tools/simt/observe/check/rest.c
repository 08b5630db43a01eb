// Accesses that the records of their word have no room for: see rest.h.
#include "simt/observe/check/rest.h"

#include <stdlib.h>
#include <string.h>

#include "simt/observe/check/shadow.h"

// What is more, in all or of a word, is forgotten: then two of a word are remembered, as anywhere.
enum { FIRST_ENTRIES = 64, MOST_ENTRIES = 1 << 20, MOST_OF_WORD = 32 };

static uint32_t *slot_of(const RestTable *table, uint64_t word) {
    return &table->slots[(word * 0x9E3779B97F4A7C15u >> 32) & (table->capacity - 1)];
}

// Twice the room. False: out of memory.
static bool widen(RestTable *table) {
    const uint32_t capacity = table->capacity ? table->capacity * 2 : FIRST_ENTRIES;
    Rest *at = realloc(table->at, capacity * sizeof *at);
    if (at) table->at = at;
    uint32_t *slots = at ? calloc(capacity, sizeof *slots) : NULL;
    if (!slots) return false;
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    for (uint32_t k = 0; k < table->count; k++) {
        uint32_t *slot = slot_of(table, at[k].word);
        if (!at[k].lanes) continue;
        at[k].next = *slot;
        *slot = k + 1;
    }
    return true;
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
        table->stores -= rest->writes && !record_scope(rest->first);
        rest->lanes = 0;
        rest->next = table->spare;
        table->spare = index;
        table->live--;
    }
}

// A free entry. NULL: there are as many as may be, *good, or out of memory.
static Rest *take(RestTable *table, bool *good) {
    Rest *spare = entry_at(table, table->spare);
    *good = true;
    if (spare) {
        table->spare = spare->next;
        return spare;
    }
    if (table->count == MOST_ENTRIES) return NULL;
    if (table->count == table->capacity) *good = widen(table);
    return *good ? &table->at[table->count++] : NULL;
}

bool rest_add(RestTable *table, uint64_t word, uint32_t bytes, Record record, bool writes,
              Record floor) {
    const uint32_t lane = record_thread(record) % DEVICE_WARP;
    const Record first = (record & ~RECORD_OF_MANY) - ((Record)lane << RECORD_THREAD);
    Rest *const newest = rest_first(table, word);
    const uint32_t before = newest ? newest->before + 1u : 0;
    bool good, ended = false;
    if (before >= MOST_OF_WORD && newest->first != first) return true;
    if (table->work > REST_WORK) return true;
    table->work += 1 + before;
    for (Rest *rest = newest; rest; rest = rest_next(table, rest)) {
        if (rest->bytes != bytes || rest->writes != writes) continue;
        if (rest->first == first) {
            rest->lanes |= 1u << lane;
            return true;
        }
        const bool weaker = record_scope(first) && !record_scope(rest->first);
        if (rest->first < floor)
            rest->lanes = 0;
        else if (!weaker && shadow_same_warp(rest->first, first))
            rest->lanes &= ~(1u << lane);
        ended |= !rest->lanes;
    }
    if (ended) rest_sweep(table, word);
    Rest *made = take(table, &good);
    if (!made) return good;
    uint32_t *slot = slot_of(table, word);
    *made = (Rest){word, first, 1u << lane, *slot, (uint16_t)before, (uint8_t)bytes, writes};
    *slot = (uint32_t)(made - table->at) + 1;
    if (!table->live || word < table->low) table->low = word;
    if (!table->live || word >= table->high) table->high = word + 1;
    table->live++;
    table->writes += writes;
    table->weak += !record_scope(first);
    table->stores += writes && !record_scope(first);
    return true;
}

void rest_forget(RestTable *table) {
    if (table->live) memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->count = table->spare = table->live = 0;
    table->writes = table->weak = table->stores = 0;
    table->work = 0;
}

void rest_free(RestTable *table) {
    free(table->at);
    free(table->slots);
    *table = (RestTable){0};
}
