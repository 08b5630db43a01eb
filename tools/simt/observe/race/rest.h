// Accesses that do not fit into the records of their word. The records hold two reads and two
// writes, which is enough if only barriers of whole blocks and warps order threads. If a kernel can
// order some threads and not others (Code.partial), an access that is ordered after the two
// recorded ones may race with a third. This table holds all accesses whose records were replaced by
// unordered ones.
#ifndef CHECK_REST_H
#define CHECK_REST_H

#include <stdbool.h>

#include "base/arena.h"
#include "simt/observe/race/record.h"

// Accesses of lanes of a warp to bytes of a word.
typedef struct {
    uint64_t word;
    Record first;   // the record that the warp's first lane would have
    uint32_t lanes; // 0: the entry is unused
    uint32_t next;  // index + 1 of the next entry in the same slot; 0: this is the last one
    uint8_t bytes;  // a bit for each
    bool writes;
} Rest;

typedef struct {
    Arena *arena;
    Rest *at;
    uint32_t *slots; // hash table of indices + 1
    size_t count, capacity;
    uint32_t live, writes, weak; // used entries; those that write; weak ones
    uint64_t low, high;          // all words are in [low, high)
    uint64_t work;               // steps so far; after REST_WORK steps nothing is added
} RestTable;

// The most steps that a block spends on this table, since flags that are polled and incremented
// repeatedly would take ever more. After that, only the records of a word remain.
#define REST_WORK ((uint64_t)1 << 16)

// Adds the access of a record. It replaces what the same thread did there before, and entries that
// are earlier than `all_before`.
void rest_add(RestTable *table, uint64_t word, uint32_t bytes, Record record, bool writes,
              Record all_before);
// The first entry of a word, and the next one; NULL: there is none.
Rest *rest_first(const RestTable *table, uint64_t word);
Rest *rest_next(const RestTable *table, const Rest *rest);
// Removes these lanes from an entry.
void rest_drop(RestTable *table, Rest *rest, uint32_t lanes);
void rest_forget(RestTable *table); // empties it and resets `work`

// Whether `words` words may have an entry that could race with an access: a load only with writes,
// a strong access only with weak ones.
static inline bool rest_any(const RestTable *table, uint64_t word, uint64_t words, bool loads,
                            bool strong) {
    const uint32_t count = loads ? table->writes : strong ? table->weak : table->live;
    return count && word < table->high && word + words > table->low;
}

#endif
