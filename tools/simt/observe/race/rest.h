// Accesses that the records of their word have no room for: those tell of two reads and two writes,
// which is enough where only barriers of whole blocks and warps order threads. Where some threads
// can be ordered and others not (Code.partial), whoever comes behind the two that are remembered
// may race with a third: so all that give way there, though nothing orders them, are kept here.
#ifndef CHECK_REST_H
#define CHECK_REST_H

#include <stdbool.h>

#include "base/arena.h"
#include "simt/observe/race/record.h"

// By lanes of a warp, to bytes of a word.
typedef struct {
    uint64_t word;
    Record first;   // as if the warp's first lane did it
    uint32_t lanes; // none: it is no more
    uint32_t next;  // of the same slot: index + 1; 0: it is the last one
    uint8_t bytes;  // a bit for each
    bool writes;
} Rest;

typedef struct {
    Arena *arena;
    Rest *at;
    uint32_t *slots; // hash table of indices + 1
    size_t count, capacity;
    uint32_t live, writes, weak; // entries; those that write; weak ones
    uint64_t low, high;          // words between these
    uint64_t work;               // steps that it has cost; beyond REST_WORK it keeps nothing more
} RestTable;

// So many steps a block takes at most for what is kept here: flags that are polled and counted up
// again and again would take more and more. Then two of a word are remembered, as anywhere.
#define REST_WORK ((uint64_t)1 << 16)

// Adds the access of a record; what the same thread did there before counts no more, nor what is
// earlier than `past`.
void rest_add(RestTable *table, uint64_t word, uint32_t bytes, Record record, bool writes,
              Record past);
// The entries of a word: the first of them from here on, NULL: there are no more. Begin with
// rest_first.
Rest *rest_first(const RestTable *table, uint64_t word);
Rest *rest_next(const RestTable *table, const Rest *rest);
// These lanes of an entry are no more.
void rest_drop(RestTable *table, Rest *rest, uint32_t lanes);
void rest_forget(RestTable *table); // and what it has cost

// Whether some of so many words may have any that a load, or another access, has to do with; two
// strong ones have not.
static inline bool rest_any(const RestTable *table, uint64_t word, uint64_t words, bool loads,
                            bool strong) {
    const uint32_t count = loads ? table->writes : strong ? table->weak : table->live;
    return count && word < table->high && word + words > table->low;
}

#endif
