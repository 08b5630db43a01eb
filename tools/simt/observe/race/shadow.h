// Shadow memory: the records of each word of shared and global memory, and of each byte of words
// that were accessed in parts. Records of global memory stay from launch to launch: an old record
// is smaller than the first time of this launch. Only memory that is accessed has a shadow.
#ifndef CHECK_SHADOW_H
#define CHECK_SHADOW_H

#include <stdbool.h>

#include "simt/memory/memory.h"
#include "simt/observe/race/record.h"

// The records of a word or byte: the last write, the last read, and one more of each by another
// thread, see race.h.
enum { WRITE, WRITE_2, READ, READ_2, SLOTS };
typedef struct {
    Record *at[SLOTS]; // NULL: not needed yet
} Cells;

// The shadow of a range of memory.
typedef struct {
    uint64_t low; // where it begins
    uint32_t word_count;
    Cells words, bytes;
    uint32_t *split;      // a bit for each word: its bytes have records of their own
    uint32_t split_words; // number of these words
    Record latest[SLOTS]; // an upper bound of the records in each slot
} Shadow;

enum { REGION_SHIFT = 16, REGION_BYTES = 1 << REGION_SHIFT, REGION_WORDS = REGION_BYTES / 4 };

void shadow_free(Shadow *shadow); // frees it for other shadows

// Allocates a slot of the records of words, or bytes. False: out of memory.
bool shadow_allocate(const Shadow *shadow, Cells *cells, int slot);
static inline bool shadow_ensure(const Shadow *shadow, Cells *cells, int slot) {
    return cells->at[slot] || shadow_allocate(shadow, cells, slot);
}

static inline bool shadow_is_split(const Shadow *shadow, uint32_t word) {
    return shadow->split_words && shadow->split[word / 32] >> word % 32 & 1;
}
// The record of a byte in a slot.
static inline Record shadow_record(const Shadow *shadow, int slot, uint64_t offset) {
    const bool split = shadow_is_split(shadow, (uint32_t)offset / 4);
    const Record *records = split ? shadow->bytes.at[slot] : shadow->words.at[slot];
    return records ? records[split ? offset : offset / 4] : 0;
}
// Gives the bytes of a word records of their own, which are at first the word's. False: out of
// memory.
bool shadow_split(Shadow *shadow, uint32_t word);
// Gives a word one record again if the bytes' records from `all_before` on are equal and either all
// bytes or none were written from `start` on. Returns whether it did.
bool shadow_join(Shadow *shadow, uint32_t word, Record start, Record all_before);

// Call it first in a launch. Returns the launch's first time; 0: out of memory.
uint64_t shadow_launch(void);

// Forgets all records in a forked process, which lacks their memory (Observer.forked).
void shadow_reset(void);

// Reserves `count` consecutive times for this block of the grid, and returns the first one, which
// is a multiple of SHADOW_TIMES, as `count` must be.
enum { SHADOW_TIMES = 16 };
uint64_t shadow_times(uint64_t count, uint64_t block);
uint64_t shadow_next_time(void);      // the first time that is not reserved
uint64_t shadow_block(uint64_t time); // the block that has reserved a time

extern Shadow **shadow_regions; // of global memory, by address; NULL: not made yet
Shadow *shadow_new_region(uint64_t address);
Shadow *const *shadow_all(size_t *count); // regions that are in use, in no order

Record shadow_last_store(uint64_t address); // to a byte of global memory; 0: none

// The region of an address of global memory. NULL: out of memory.
static inline Shadow *shadow_region(uint64_t address) {
    Shadow *region = shadow_regions[(address - memory_base) >> REGION_SHIFT];
    return region ? region : shadow_new_region(address);
}

#endif
