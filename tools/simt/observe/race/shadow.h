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
    Record *at[SLOTS]; // NULL: nothing needed it yet
} Cells;

// The shadow of a range of memory.
typedef struct {
    uint64_t low; // where it begins
    uint32_t word_count;
    Cells words, bytes;
    uint32_t *split;      // a bit for each word: its bytes have records of their own
    uint32_t split_words; // how many have
    Record latest[SLOTS]; // no record is later
} Shadow;

enum { REGION_SHIFT = 16, REGION_BYTES = 1 << REGION_SHIFT, REGION_WORDS = REGION_BYTES / 4 };

void shadow_give(Shadow *shadow); // frees it for other shadows

// Makes room for records of words, or bytes, where there is none yet. False: out of memory.
bool shadow_new_room(const Shadow *shadow, Cells *cells, int slot);
static inline bool shadow_room(const Shadow *shadow, Cells *cells, int slot) {
    return cells->at[slot] || shadow_new_room(shadow, cells, slot);
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
// From now on the bytes of a word have records of their own, at first the word's. False: out of
// memory.
bool shadow_split(Shadow *shadow, uint32_t word);
// If the bytes' records from `all_before` on are equal, and all bytes or none were written from
// `start` on, the word has one record again. Returns whether that is so.
bool shadow_join(Shadow *shadow, uint32_t word, Record start, Record all_before);

// Before anything else in a launch: its first time. 0: the host refuses memory.
uint64_t shadow_launch(void);

// See Observer.forked.
void shadow_start_anew(void);

// `count` times that no other block gets, in one piece, for this block of the grid; the first.
// `count` is a multiple of SHADOW_TIMES; so are all first ones.
enum { SHADOW_TIMES = 16 };
uint64_t shadow_times(uint64_t count, uint64_t block);
uint64_t shadow_next_time(void);      // that nobody has yet
uint64_t shadow_block(uint64_t time); // of a time that was given out

extern Shadow **shadow_regions; // of global memory, by address; NULL: not made yet
Shadow *shadow_new_region(uint64_t address);
Shadow *const *shadow_all(size_t *count); // regions that are in use, in no order

// The region of an address of global memory. NULL: out of memory.
static inline Shadow *shadow_region(uint64_t address) {
    Shadow *region = shadow_regions[(address - memory_base) >> REGION_SHIFT];
    return region ? region : shadow_new_region(address);
}

#endif
