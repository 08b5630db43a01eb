// What becomes of a backlog: records. See backlog.c.
#include <string.h>

#include "simt/observe/check/backlog.h"

// Records of so many words of the region from `first` on.
typedef struct {
    Cells cells;
    uint32_t first, count;
    bool more; // some words have a second read
} Target;

// A read by the lane of at->mine, or by more of the warp, of which that is the last.
static void put_read(const Touch *at, Target *to, uint32_t k, bool more) {
    const Record old = to->cells.read[k], lanes = RECORD_LANE_MASK & ~RECORD_WARP_MASK;
    const bool same_access = old != at->mine && !((old ^ at->mine) & ~lanes);
    if (!touch_known(at, old)) {
        to->more = true;
        if (!touch_stays(at, to->cells.read_2[k], old)) to->cells.read_2[k] = old;
    }
    to->cells.read[k] = touch_beside(at, old, at->mine) | (Record)(more || same_access)
                                                              << RECORD_MANY;
}

static void put_lane(Touch *at, Target *to, uint32_t lane, uint32_t word, uint32_t shift,
                     bool more) {
    at->mine = at->base + ((Record)lane << RECORD_THREAD);
    for (uint32_t k = word - to->first; k != word - to->first + (1u << shift); k++) {
        if (k >= to->count) continue;
        if (at->writes)
            to->cells.write[k] = at->mine;
        else
            put_read(at, to, k, more);
    }
}

static void put_lanes(Touch *at, Target *to, const BacklogEntry *entry) {
    const uint16_t *word = backlog_words(entry);
    const uint32_t count = backlog_words_count(entry);
    uint32_t k = 0;
    for (uint32_t m = entry->mask; m; m &= m - 1, k = k + 1 < count ? k + 1 : 0)
        put_lane(at, to, (uint32_t)__builtin_ctz(m), word[k], entry->form.shift, false);
}

static void put_even(Touch *at, Target *to, const BacklogEntry *entry) {
    int32_t word = entry->first;
    if (!entry->stride) {
        put_lane(at, to, entry->lane + entry->lanes - 1u, entry->first, entry->form.shift,
                 entry->lanes > 1);
        return;
    }
    for (uint32_t k = 0; k < entry->lanes; k++, word += entry->stride)
        put_lane(at, to, entry->lane + k, (uint32_t)word, entry->form.shift, false);
}

// Reads by lanes of a word each, one behind the other, of which there is a target.
static void put_run(const Touch *at, Target *to, const BacklogEntry *entry) {
    const Touch local = *at;
    const Record first = at->base + ((Record)entry->lane << RECORD_THREAD);
    Record *const read = to->cells.read + entry->first, *const read_2 =
                                                            to->cells.read_2 + entry->first;
    const uint64_t lanes = entry->lanes;
    uint64_t strange = 0;
#pragma GCC ivdep
    for (uint64_t k = 0; k < lanes; k++) {
        const Record old = read[k], aside = read_2[k];
        read_2[k] = touch_stays(&local, aside, old) ? aside : old;
        read[k] = touch_beside(&local, old, first + (k << RECORD_THREAD));
        strange |= !touch_known(&local, old);
    }
    to->more |= strange != 0;
}

// The entry's length, with what is behind it.
static uint32_t bytes_of(const BacklogEntry *entry) {
    if (!entry->base) return sizeof *entry + sizeof(BacklogContext);
    return (uint32_t)sizeof *entry + backlog_words_bytes(backlog_words_count(entry));
}

static void put_entry(Touch *at, Target *to, const BacklogEntry *entry) {
    const BacklogContext *context = (const BacklogContext *)(const void *)(entry + 1);
    at->base = entry->base;
    at->parted = entry->form.parted;
    at->writes = entry->form.write;
    if (!entry->base) {
        at->times = context->times;
        at->span = context->span;
        at->floor = context->floor;
        at->warp_floor = context->warp_floor;
    } else if (!entry->form.write && entry->stride == 1 && !entry->form.shift &&
               to->count == REGION_WORDS) {
        put_run(at, to, entry);
    } else if (entry->lanes) {
        put_even(at, to, entry);
    } else {
        put_lanes(at, to, entry);
    }
}

// All entries, or those that are needed.
static void put_entries(const Backlog *backlog, Target *to, bool needed) {
    const Record launch = backlog->launch << RECORD_TIME;
    Touch at = {.launch = launch, .done = launch};
    for (uint32_t offset = 0; offset < backlog->used;) {
        const BacklogEntry *entry = backlog_entry(backlog, offset);
        if (!needed || entry->form.needed) put_entry(&at, to, entry);
        offset += bytes_of(entry);
    }
}

static bool room_for(Region *region) {
    Cells *cells = &region->words;
    if (region->backlog.written_pages && !shadow_room(&cells->write, REGION_WORDS)) return false;
    return !region->backlog.read_pages ||
           (shadow_room(&cells->read, REGION_WORDS) && shadow_room(&cells->read_2, REGION_WORDS) &&
            shadow_room(&cells->write_2, REGION_WORDS));
}

// The region has the records of `to` now.
static void note_records(Region *region, const Target *to) {
    const Backlog *backlog = &region->backlog;
    shadow_stamp(&region->written, backlog->launch, backlog->written_pages);
    shadow_stamp(&region->read, backlog->launch, backlog->read_pages);
    if (to->more) region->more = backlog->launch;
}

bool backlog_put(Region *region) {
    if (!room_for(region)) return false;
    Target to = {region->words, 0, REGION_WORDS, false};
    put_entries(&region->backlog, &to, false);
    note_records(region, &to);
    return true;
}

// --- a full backlog ---
//
// Where much is read again and again, records would tell of few of the reads. Of those of a word by
// the last block that read it: of the last warp's, and of the last one of another warp; where other
// blocks have read it too, of the last one of these, which takes the place of all before it. So a
// word is done with, from the last entry to the first one, when these are found; an entry is left
// out if all its words are.

// What is known of a word: 0, nobody has read it; the number of the block that read it last,
// counted from the last one, that block's last warp, and whether that is all; or that it is done
// with.
enum { STATE_OPEN = 1, STATE_WARP = 1, STATE_BLOCK = 8 };
#define STATE_DONE UINT32_MAX

typedef struct {
    uint32_t word[REGION_WORDS];
    uint32_t block;         // at hand
    uint32_t count, needed; // entries
} States;

// After a read in front of all that were looked at. Without branches, for loops over lanes.
TOUCH_INLINE uint32_t state_after(uint32_t before, uint32_t block, uint32_t warp) {
    const uint32_t own = block << STATE_BLOCK, mine = own | warp << STATE_WARP | STATE_OPEN;
    const uint32_t later = before == mine || before == own ? before : own;
    const uint32_t known = before >> STATE_BLOCK == block ? later : STATE_DONE;
    return before ? known : mine;
}

// Whether its record may need the read.
TOUCH_INLINE uint32_t state_open(uint32_t before, uint32_t block) {
    return (before & STATE_OPEN) | (before >> STATE_BLOCK != block) ? before != STATE_DONE : 0;
}

static inline bool needs_word(States *of, uint32_t warp, uint32_t word) {
    const uint32_t before = of->word[word];
    of->word[word] = state_after(before, of->block, warp);
    return state_open(before, of->block);
}

// Whether the records of some words, the k-th from each of these on, need a read.
static inline bool needs_words(States *of, uint32_t warp, const uint32_t first[LANES], uint32_t k) {
    const uint32_t block = of->block;
    uint32_t *const word = of->word;
    uint32_t before[LANES], after[LANES], open = 0, changed = 0;
    LANE_LOOP before[l] = word[first[l] + k];
    LANE_LOOP after[l] = state_after(before[l], block, warp);
    LANE_LOOP open |= state_open(before[l], block);
    LANE_LOOP changed |= before[l] ^ after[l];
    for (int l = 0; changed && l < LANES; l++) word[first[l] + k] = after[l];
    return open;
}

// The words of an entry's lanes; those that it does not have are as its first one's.
static void words_of(const BacklogEntry *entry, uint32_t first[LANES]) {
    const uint16_t *words = backlog_words(entry);
    const uint32_t lanes = entry->lanes ? entry->lanes : backlog_words_count(entry);
    const uint32_t begin = entry->first, stride = (uint32_t)entry->stride;
    if (entry->lanes)
        LANE_LOOP first[l] = begin + ((uint32_t)l < lanes ? stride * (uint32_t)l : 0);
    else if (lanes == LANES)
        LANE_LOOP first[l] = words[l];
    else
        for (uint32_t l = 0; l < LANES; l++) first[l] = words[l < lanes ? l : 0];
}

// Whether some record needs a read as an entry has it.
static bool needs_entry(States *of, const BacklogEntry *entry) {
    const uint32_t each = 1u << entry->form.shift, warp = record_thread(entry->base) / LANES;
    const bool run = entry->lanes && (!entry->stride || (uint32_t)entry->stride == each);
    uint32_t first[LANES];
    bool needed = false;
    if (run) {
        const uint32_t end = entry->first + (entry->stride ? entry->lanes * each : each);
        for (uint32_t word = entry->first; word < end; word++) needed |= needs_word(of, warp, word);
        return needed;
    }
    words_of(entry, first);
    for (uint32_t k = 0; k < each; k++) needed |= needs_words(of, warp, first, k);
    return needed;
}

// Finds those entries that records need, from the last one on.
static void find_needed(const Backlog *backlog, States *of) {
    uint32_t before = backlog->last;
    memset(of, 0, sizeof *of);
    of->block = 1;
    for (uint32_t offset = backlog->used; before;) {
        offset -= before;
        BacklogEntry *entry = backlog_entry(backlog, offset);
        entry->form.needed = !entry->base || entry->form.write || needs_entry(of, entry);
        of->needed += entry->form.needed;
        of->count++;
        of->block += !entry->base && entry->lane;
        before = entry->before * 8u;
    }
}

bool backlog_condense(Region *region) {
    Backlog *backlog = &region->backlog;
    States of;
    find_needed(backlog, &of);
    if (of.needed > of.count / 3 || !room_for(region)) return false;
    Target to = {region->words, 0, REGION_WORDS, false};
    put_entries(backlog, &to, true);
    note_records(region, &to);
    backlog->used = backlog->last = 0;
    backlog->context = (BacklogContext){0};
    backlog->scattered = 0;
    return true;
}

void backlog_look(const Region *region, uint64_t word, Record found[BACKLOG_FOUND]) {
    Target to = {{&found[0], NULL, &found[1], &found[2]}, (uint32_t)word, 1, false};
    if (region->backlog.launch) put_entries(&region->backlog, &to, false);
}
