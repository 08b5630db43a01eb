// Checks the usual accesses to consecutive words in loops over their records, without a branch for
// each record. race.c checks the others.
#include "simt/observe/race/race.h"

// Records of `count` words or bytes. `base` is the first one's; each lane has 1 << shift of them.
typedef struct {
    Cells *cells;
    Record base;
    uint32_t first, count, shift;
} Range;

static inline Record record_in(const Range *range, Record base, uint32_t k) {
    return base + ((Record)(k >> range->shift) << RECORD_THREAD);
}

// Whether all records of a slot happen before the access.
static bool all_before(const Race *at, const Range *range, int slot) {
    const Record *records = range->cells->at[slot];
    const Race local = *at;
    const Range of = *range;
    uint64_t ordered = 1;
    if (!records || at->shadow->latest[slot] < at->skip) return true;
    records += of.first;
    for (uint32_t k = 0; k < of.count; k++)
        ordered &= race_before(&local, records[k], record_in(&of, of.base, k));
    return ordered;
}

// Whether all words were written since the block began; true for global memory.
static bool all_written(const Race *at, const Range *range) {
    uint64_t missing = 0;
    if (!at->owner) return true;
    const Record *write = range->cells->at[WRITE] + range->first;
    for (uint32_t k = 0; k < range->count; k++) missing |= write[k] < at->start;
    return !missing;
}

// Whether the launch wrote, or read, some of the words.
static bool any_of_launch(const Race *at, const Range *range, int slot) {
    const Record *records = range->cells->at[slot];
    uint64_t some = 0;
    if (!records || at->shadow->latest[slot] < at->start) return false;
    for (uint32_t k = 0; k < range->count; k++) some |= records[range->first + k] >= at->start;
    return some;
}

static void set(const Race *at, const Range *range, int slot) {
    Record *const records = range->cells->at[slot] + range->first;
    const Record base = at->copy ? at->copy | (range->base & RECORD_LANE_MASK) : range->base;
    const Range of = *range;
    for (uint32_t k = 0; k < of.count; k++) records[k] = record_in(&of, base, k);
    race_note_latest(at->shadow, slot, at->copy ? at->copy : at->base);
}

// Whether the reads in a slot are weak, no copies, and of a block that is known without a search.
static bool plain_reads(const Race *at, const Range *range, int slot) {
    const Record *read = range->cells->at[slot] + range->first;
    const Record copies = RECORD_COPY << RECORD_TIME;
    uint64_t odd = 0;
    for (uint32_t k = 0; k < range->count; k++) {
        const uint64_t strange = !at->exact & (read[k] >= at->skip) & !race_own(at, read[k]);
        const uint64_t strong = (read[k] >= at->all_before) & ((read[k] & 3) != 0);
        odd |= strong | strange | (read[k] >= copies);
    }
    return !odd;
}

// Two reads of a word are recorded. Of the two recorded so far, this keeps the one that is further
// from the new read, and records the new one.
static bool set_beside(const Race *at, const Range *range) {
    if (!shadow_ensure(at->shadow, range->cells, READ_2)) return false;
    if (!plain_reads(at, range, READ) || !plain_reads(at, range, READ_2)) return false;
    Record *const read = range->cells->at[READ] + range->first;
    Record *const second = range->cells->at[READ_2] + range->first;
    const Race local = *at;
    const Range of = *range;
    for (uint32_t k = 0; k < of.count; k++) {
        const Record mine = record_in(&of, of.base, k), old = read[k], other = second[k];
        const uint64_t nearer =
            race_distance(&local, old, mine) < race_distance(&local, other, mine);
        second[k] = nearer ? other : old;
        read[k] = mine;
    }
    race_note_latest(at->shadow, READ_2, at->shadow->latest[READ]);
    race_note_latest(at->shadow, READ, at->base);
    return true;
}

static bool range_load(const Race *at, const Range *range) {
    if (!all_written(at, range) || (at->constant && any_of_launch(at, range, WRITE))) return false;
    if (!all_before(at, range, WRITE) || !all_before(at, range, WRITE_2)) return false;
    if (at->shadow->latest[READ] < at->all_before) {
        set(at, range, READ);
        return true;
    }
    if (at->copy) return false;
    if (!at->partial) return set_beside(at, range);
    if (!plain_reads(at, range, READ) || !all_before(at, range, READ)) return false;
    set(at, range, READ);
    return true;
}

static bool range_store(const Race *at, const Range *range) {
    if (at->constant && any_of_launch(at, range, READ)) return false;
    for (int slot = 0; slot < SLOTS; slot++)
        if (!all_before(at, range, slot)) return false;
    set(at, range, WRITE);
    return true;
}

// Gives all words records of words, or all words records of bytes. False: that is impossible.
static bool one_form(Race *at, uint32_t word, uint32_t words, bool bytes) {
    Shadow *shadow = at->shadow;
    if (!bytes && !shadow->split_words) return true;
    for (uint32_t k = word; k < word + words; k++) {
        const bool split = shadow_is_split(shadow, k);
        if (bytes && !split && !shadow_split(shadow, k)) return false;
        if (!bytes && split && !shadow_join(shadow, k, at->start, at->all_before)) return false;
    }
    return true;
}

bool race_range(Race *at, uint32_t first, uint64_t address, uint64_t bytes, uint32_t shift) {
    const bool loads = at->kind == ACCESS_LOAD, split = at->size < 4;
    if (at->strong || at->kind == ACCESS_ATOMIC || (address | bytes) & 3) return false;
    if (rest_any(at->rest, address / 4, bytes / 4, loads, false)) return false;
    if (!at->owner) at->shadow = shadow_region(address);
    Shadow *shadow = at->shadow;
    if (!shadow || address - shadow->low + bytes > (uint64_t)shadow->word_count * 4) return false;
    const uint32_t word = (uint32_t)(address - shadow->low) / 4, words = (uint32_t)bytes / 4;
    Cells *cells = split ? &shadow->bytes : &shadow->words;
    if (!one_form(at, word, words, split)) return false;
    if (!shadow_ensure(shadow, cells, loads ? READ : WRITE)) return false;
    if (at->owner && !shadow_ensure(shadow, cells, WRITE)) return false;
    const Range range = {.cells = cells,
                         .base = at->base + ((Record)first << RECORD_THREAD),
                         .first = split ? word * 4 : word,
                         .count = split ? words * 4 : words,
                         .shift = shift};
    // One word per lane is the common case, which constants make fast.
    if (range.count == LANES && !range.shift) {
        const Range warp = {cells, range.base, range.first, LANES, 0};
        return loads ? range_load(at, &warp) : range_store(at, &warp);
    }
    return loads ? range_load(at, &range) : range_store(at, &range);
}

// --- asynchronous copies ---

static void complete(const Cells *cells, uint64_t first, uint64_t count, Record copy, Record mine) {
    for (int slot = 0; slot < SLOTS; slot++)
        for (uint64_t k = first; cells->at[slot] && k < first + count; k++)
            if (!((cells->at[slot][k] ^ copy) & ~(Record)7)) cells->at[slot][k] = mine;
}

void race_complete_copy(Shadow *shadow, uint64_t address, uint64_t bytes, Record copy,
                        Record mine) {
    complete(&shadow->words, address / 4, (bytes + 3) / 4, copy, mine);
    if (shadow->split_words) complete(&shadow->bytes, address, bytes, copy, mine);
}

static void forget(const Cells *cells, uint64_t first, uint64_t end) {
    for (int slot = 0; slot < SLOTS; slot++)
        for (uint64_t k = first; cells->at[slot] && k < end; k++)
            if (record_is_copy(cells->at[slot][k])) cells->at[slot][k] = 0;
}

void race_forget_copies(Shadow *shadow, Extent where) {
    forget(&shadow->words, where.low / 4, (where.high + 3) / 4);
    forget(&shadow->bytes, where.low, where.high);
    for (int slot = 0; slot < SLOTS; slot++) shadow->latest[slot] = 0;
}
