// Checks the usual accesses to consecutive words in loops over their records, without a branch for
// each record. race.c checks the others.
#include "simt/observe/race/race.h"

// Inlining makes the usual sizes of rows constants.
#define INLINE inline __attribute__((always_inline))

// Records of `count` words or bytes. `base` is the first one's; each lane has 1 << shift of them.
typedef struct {
    Cells *cells;
    Record base;
    uint32_t first, count, shift;
} Row;

static inline Record record_in(const Row *row, Record base, uint32_t k) {
    return base + ((Record)(k >> row->shift) << RECORD_THREAD);
}

// Whether all records of a slot happen before the access.
static INLINE bool all_before(const Race *at, const Row *row, int slot) {
    const Record *records = row->cells->at[slot];
    const Race local = *at;
    const Row of = *row;
    uint64_t ordered = 1;
    if (!records || at->shadow->latest[slot] < at->skip) return true;
    records += of.first;
    for (uint32_t k = 0; k < of.count; k++)
        ordered &= race_before(&local, records[k], record_in(&of, of.base, k));
    return ordered;
}

// Whether all words were written since the block began; true for global memory.
static INLINE bool all_written(const Race *at, const Row *row) {
    uint64_t missing = 0;
    if (!at->owner) return true;
    const Record *write = row->cells->at[WRITE] + row->first;
    for (uint32_t k = 0; k < row->count; k++) missing |= write[k] < at->start;
    return !missing;
}

// Whether the launch wrote some of the words.
static INLINE bool any_written(const Race *at, const Row *row) {
    const Record *write = row->cells->at[WRITE];
    uint64_t some = 0;
    if (!write || at->shadow->latest[WRITE] < at->start) return false;
    for (uint32_t k = 0; k < row->count; k++) some |= write[row->first + k] >= at->start;
    return some;
}

static INLINE void set(const Race *at, const Row *row, int slot) {
    Record *const records = row->cells->at[slot] + row->first;
    const Record copy = (at->copy & ~RECORD_LANE_MASK) | (row->base & RECORD_LANE_MASK);
    const Record base = at->copy ? copy : row->base;
    const Row of = *row;
    for (uint32_t k = 0; k < of.count; k++) records[k] = record_in(&of, base, k);
    race_note_latest(at->shadow, slot, at->copy ? at->copy : at->base);
}

// Whether the records of a slot have this scope, are no copies, and are of a block that is known
// without a search.
static INLINE bool all_alike(const Race *at, const Row *row, int slot, Scope scope) {
    const Record *records = row->cells->at[slot], copies = RECORD_COPY << RECORD_TIME;
    uint64_t odd = 0;
    if (!records) return true;
    records += row->first;
    for (uint32_t k = 0; k < row->count; k++) {
        const Record one = records[k];
        const uint64_t strange = !at->exact & (one >= at->skip) & !race_own(at, one);
        odd |= ((one >= at->all_before) & ((one & 3) != scope)) | strange | (one >= copies);
    }
    return !odd;
}

// Records accesses beside others of their kind: the last one of each word, and the more distant of
// the two before it.
static INLINE bool set_beside(const Race *at, const Row *row, int slot, Scope scope) {
    if (!shadow_room(at->shadow, row->cells, slot + 1)) return false;
    if (!all_alike(at, row, slot + 1, scope)) return false;
    Record *const last = row->cells->at[slot] + row->first;
    Record *const second = row->cells->at[slot + 1] + row->first;
    const Race local = *at;
    const Row of = *row;
    for (uint32_t k = 0; k < of.count; k++) {
        const Record mine = record_in(&of, of.base, k), old = last[k], other = second[k];
        const uint64_t nearer =
            race_distance(&local, old, mine) < race_distance(&local, other, mine);
        second[k] = nearer ? other : old;
        last[k] = mine;
    }
    race_note_latest(at->shadow, slot + 1, at->shadow->latest[slot]);
    race_note_latest(at->shadow, slot, at->base);
    return true;
}

static INLINE bool row_load(const Race *at, const Row *row) {
    if (!all_written(at, row) || (at->constant && any_written(at, row))) return false;
    if (!all_before(at, row, WRITE) || !all_before(at, row, WRITE_2)) return false;
    if (at->shadow->latest[READ] < at->all_before) {
        set(at, row, READ);
        return true;
    }
    if (at->copy) return false;
    if (!all_alike(at, row, READ, SCOPE_NONE)) return false;
    if (!all_before(at, row, READ)) return !at->partial && set_beside(at, row, READ, SCOPE_NONE);
    set(at, row, READ);
    return true;
}

// For words that atomic operations of one scope update, and which are only read before.
static __attribute__((noinline)) bool row_update(const Race *at, const Row *row) {
    if (at->owner ? !all_written(at, row) : record_scope(at->base) != SCOPE_DEVICE) return false;
    for (int slot = READ; slot < SLOTS; slot++)
        if (!all_alike(at, row, slot, SCOPE_NONE) || !all_before(at, row, slot)) return false;
    const Scope scope = (Scope)record_scope(at->base);
    return !at->partial && all_alike(at, row, WRITE, scope) && set_beside(at, row, WRITE, scope);
}

static INLINE bool row_store(const Race *at, const Row *row) {
    for (int slot = 0; slot < SLOTS; slot++)
        if (!all_before(at, row, slot)) return false;
    set(at, row, WRITE);
    return true;
}

// Makes all words have records of words or, with `bytes` or where that is impossible, all have
// records of bytes. NULL: out of memory.
static Cells *one_form(Race *at, uint32_t word, uint32_t words, bool bytes) {
    Shadow *shadow = at->shadow;
    if (!bytes && !shadow->split_words) return &shadow->words;
    for (uint32_t k = word; !bytes && k < word + words; k++)
        bytes = shadow_is_split(shadow, k) && !shadow_join(shadow, k, at->start, at->all_before);
    for (uint32_t k = word; bytes && k < word + words; k++)
        if (!shadow_split(shadow, k)) return NULL;
    return bytes ? &shadow->bytes : &shadow->words;
}

bool race_row(Race *at, uint32_t first, uint64_t address, uint64_t bytes, uint32_t shift) {
    const bool loads = at->kind == ACCESS_LOAD, parts = at->size < 4;
    const uint32_t words = (uint32_t)(address % 4 + bytes + 3) / 4;
    if (at->strong != (at->kind == ACCESS_ATOMIC) || (!parts && (address | bytes) & 3))
        return false;
    if (rest_any(at->rest, address / 4, words, loads, at->strong)) return false;
    if (!at->owner) at->shadow = shadow_region(address);
    Shadow *shadow = at->shadow;
    if (!shadow || address - shadow->low + bytes > (uint64_t)shadow->word_count * 4) return false;
    const uint32_t offset = (uint32_t)(address - shadow->low);
    Cells *cells = one_form(at, offset / 4, words, parts);
    if (!cells || !shadow_room(shadow, cells, loads ? READ : WRITE)) return false;
    if (at->owner && !shadow_room(shadow, cells, WRITE)) return false;
    const bool split = cells == &shadow->bytes;
    const Row row = {.cells = cells,
                     .base = at->base + ((Record)first << RECORD_THREAD),
                     .first = split ? offset : offset / 4,
                     .count = split ? (uint32_t)bytes : words,
                     .shift = split && !parts ? shift + 2 : shift};
    if (at->strong) return row_update(at, &row);
    if (row.count == LANES && !row.shift) { // one word for each lane
        const Row warp = {cells, row.base, row.first, LANES, 0};
        return loads ? row_load(at, &warp) : row_store(at, &warp);
    }
    if (row.count == 1) {
        const Row lane = {cells, row.base, row.first, 1, 0};
        return loads ? row_load(at, &lane) : row_store(at, &lane);
    }
    return loads ? row_load(at, &row) : row_store(at, &row);
}

// --- asynchronous copies ---

// Replaces records of a copy, or of all copies if that is 0.
static void replace(const Cells *cells, uint64_t first, uint64_t end, Record copy, Record with) {
    for (int slot = 0; slot < SLOTS; slot++)
        for (uint64_t k = first; cells->at[slot] && k < end; k++) {
            Record *at = &cells->at[slot][k];
            if (copy ? !((*at ^ copy) & ~(Record)7) : record_is_copy(*at)) *at = with;
        }
}

void race_complete_copy(Shadow *shadow, uint64_t address, uint64_t bytes, Record copy,
                        Record mine) {
    const uint64_t end = address + bytes;
    replace(&shadow->words, address / 4, (end + 3) / 4, copy, mine);
    if (shadow->split_words) replace(&shadow->bytes, address, end, copy, mine);
}

void race_forget_copies(Shadow *shadow, Extent where) {
    replace(&shadow->words, where.low / 4, (where.high + 3) / 4, 0, 0);
    replace(&shadow->bytes, where.low, where.high, 0, 0);
    for (int slot = 0; slot < SLOTS; slot++) shadow->latest[slot] = 0;
}
