// A hash table of accesses by word. See rest.h.
#include "simt/observe/race/rest.h"

#include <string.h>

#include "simt/observe/race/shadow.h"

// The most entries of the table and of a word. Further accesses are not added.
enum { MOST_ENTRIES = 1 << 20, MOST_OF_WORD = 32 };

static uint32_t *slot_of(const RestTable *table, uint64_t word) {
    return &table->slots[(word * 0x9E3779B97F4A7C15u >> 32) & (table->capacity - 1)];
}

static void link_entry(RestTable *table, Rest *rest) {
    uint32_t *slot = slot_of(table, rest->word);
    rest->next = *slot;
    *slot = (uint32_t)(rest - table->at) + 1;
}

// Makes room for one more entry: removes unused ones, and doubles the table if most are used.
static bool make_room(RestTable *table) {
    size_t kept = 0;
    if (table->count < table->capacity) return true;
    if (table->live > table->capacity / 2 && table->capacity == MOST_ENTRIES) return false;
    for (size_t k = 0; k < table->count; k++)
        if (table->at[k].lanes) table->at[kept++] = table->at[k];
    table->count = kept;
    if (kept >= table->capacity / 2) {
        table->at = arena_grow(table->arena, table->at, kept, &table->capacity, sizeof(Rest));
        table->slots = ARENA_NEW(table->arena, table->capacity, uint32_t);
    }
    memset(table->slots, 0, table->capacity * sizeof *table->slots);
    for (size_t k = 0; k < kept; k++) link_entry(table, &table->at[k]);
    return true;
}

static Rest *of_word(const RestTable *table, uint32_t index, uint64_t word) {
    while (index && (table->at[index - 1].word != word || !table->at[index - 1].lanes))
        index = table->at[index - 1].next;
    return index ? &table->at[index - 1] : NULL;
}

Rest *rest_first(const RestTable *table, uint64_t word) {
    return table->live ? of_word(table, *slot_of(table, word), word) : NULL;
}

Rest *rest_next(const RestTable *table, const Rest *rest) {
    return of_word(table, rest->next, rest->word);
}

void rest_drop(RestTable *table, Rest *rest, uint32_t lanes) {
    if (!rest->lanes) return;
    rest->lanes &= ~lanes;
    if (rest->lanes) return;
    table->live--;
    table->writes -= rest->writes;
    table->weak -= !record_scope(rest->first);
}

static bool same_warp(Record one, Record other) {
    return !((one ^ other) & RECORD_WARP_MASK) &&
           shadow_block(record_time(one)) == shadow_block(record_time(other));
}

void rest_add(RestTable *table, uint64_t word, uint32_t bytes, Record record, bool writes,
              Record all_before) {
    const uint32_t lane = record_thread(record) % DEVICE_WARP;
    const Record first = record - ((Record)lane << RECORD_THREAD);
    uint32_t count = 0;
    if (table->work > REST_WORK) return;
    for (Rest *rest = rest_first(table, word); rest; rest = rest_next(table, rest)) {
        count++;
        if (rest->bytes != bytes || rest->writes != writes) continue;
        if (rest->first == first) {
            rest->lanes |= 1u << lane;
            return;
        }
        const bool alike = !record_scope(first) == !record_scope(rest->first);
        if (rest->first < all_before)
            rest_drop(table, rest, ~(uint32_t)0);
        else if (alike && same_warp(rest->first, first))
            rest_drop(table, rest, 1u << lane);
    }
    table->work += 1 + count;
    if (count >= MOST_OF_WORD || !make_room(table)) return;
    Rest *made = &table->at[table->count++];
    *made = (Rest){word, first, 1u << lane, 0, (uint8_t)bytes, writes};
    link_entry(table, made);
    if (!table->live || word < table->low) table->low = word;
    if (!table->live || word >= table->high) table->high = word + 1;
    table->live++;
    table->writes += writes;
    table->weak += !record_scope(first);
}

void rest_forget(RestTable *table) {
    if (table->count) memset(table->slots, 0, table->capacity * sizeof *table->slots);
    table->count = 0;
    table->live = table->writes = table->weak = 0;
    table->work = 0;
}
