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
    to->cells.read[k] = touch_read(at, old, at->mine) | (Record)(more || same_access)
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
    for (uint32_t m = entry->mask; m; m &= m - 1)
        put_lane(at, to, (uint32_t)__builtin_ctz(m), *word++, entry->shift, false);
}

static void put_even(Touch *at, Target *to, const BacklogEntry *entry) {
    int32_t word = entry->first;
    if (!entry->stride) {
        put_lane(at, to, entry->lane + entry->lanes - 1u, entry->first, entry->shift,
                 entry->lanes > 1);
        return;
    }
    for (uint32_t k = 0; k < entry->lanes; k++, word += entry->stride)
        put_lane(at, to, entry->lane + k, (uint32_t)word, entry->shift, false);
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
        read[k] = touch_read(&local, old, first + (k << RECORD_THREAD));
        strange |= !touch_known(&local, old);
    }
    to->more |= strange != 0;
}

// The entry's length, with what is behind it.
static uint32_t bytes_of(const BacklogEntry *entry) {
    if (!entry->base) return sizeof *entry + sizeof(BacklogContext);
    const uint32_t words = entry->lanes ? 0 : (uint32_t)__builtin_popcount(entry->mask);
    return (uint32_t)sizeof *entry + backlog_words_bytes(words);
}

static void put_entry(Touch *at, Target *to, const BacklogEntry *entry) {
    const BacklogContext *context = (const BacklogContext *)(const void *)(entry + 1);
    at->base = entry->base;
    at->parted = entry->parted;
    at->writes = entry->write;
    if (!entry->base) {
        at->times = context->times;
        at->span = context->span;
        at->floor = context->floor;
        at->warp_floor = context->warp_floor;
    } else if (!entry->write && entry->stride == 1 && !entry->shift && to->count == REGION_WORDS) {
        put_run(at, to, entry);
    } else if (entry->lanes) {
        put_even(at, to, entry);
    } else {
        put_lanes(at, to, entry);
    }
}

static inline const BacklogEntry *entry_at(const Backlog *backlog, uint32_t offset) {
    return (const BacklogEntry *)(const void *)((const uint8_t *)backlog->entries + offset);
}

static Touch touch_of(const Backlog *backlog) {
    const Record launch = backlog->launch << RECORD_TIME;
    return (Touch){.launch = launch, .done = launch};
}

static void put_all(const Backlog *backlog, Target *to) {
    Touch at = touch_of(backlog);
    for (uint32_t offset = 0; offset < backlog->used;) {
        const BacklogEntry *entry = entry_at(backlog, offset);
        put_entry(&at, to, entry);
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
    if (backlog->written_pages) region->written = backlog->launch;
    if (backlog->read_pages) region->read = backlog->launch;
    if (to->more) region->more = backlog->launch;
}

bool backlog_put(Region *region) {
    if (!room_for(region)) return false;
    Target to = {region->words, 0, REGION_WORDS, false};
    put_all(&region->backlog, &to);
    note_records(region, &to);
    return true;
}

// --- a full backlog ---
//
// Where much is read again and again, records would tell of few of the reads. Of those of a word by
// the last block that read it: of the last warp's, and of the last one of another warp; where other
// blocks have read it too, of the last two, and of the last one of another block. So a word is done
// with, from the last entry to the first one, when these are found; and an entry is left out if all
// its words are.

enum { NO_WARP = 0xFF, SOME_WARPS = 0xFE };

typedef struct {
    uint32_t seen[REGION_GROUPS];   // words that the block at hand has read,
    uint32_t others[REGION_GROUPS]; // and blocks behind it, or before it
    uint32_t shared[REGION_GROUPS]; // that several have
    uint32_t own[REGION_GROUPS];    // of which the last block's reads are found,
    uint32_t done[REGION_GROUPS];   // and that of another block
    uint8_t last[REGION_GROUPS];    // the warp of all last reads by the block at hand
    uint16_t kept[BACKLOG_BYTES / sizeof(BacklogEntry)]; // by 8 bytes: the last ones of `all`
    uint32_t count, all;
} Condensed;

// Whether the record of some of these words may need this read, which is in front of all that were
// looked at.
static inline bool needs(Condensed *of, uint32_t group, uint32_t words, uint8_t warp) {
    const uint32_t other = words & of->others[group], own = words & ~other;
    const uint32_t again = own & of->seen[group];
    const uint8_t last = of->last[group];
    const bool open = (other & ~of->done[group]) | (own & ~of->own[group]);
    of->done[group] |= other;
    of->own[group] |= again & of->shared[group];
    if (last < SOME_WARPS && last != warp) of->own[group] |= again;
    if (own & ~again) of->last[group] = last == NO_WARP || last == warp ? warp : SOME_WARPS;
    of->seen[group] |= words;
    return open;
}

static inline bool finds(Condensed *of, uint32_t group, uint32_t words) {
    of->shared[group] |= words & of->others[group];
    of->seen[group] |= words;
    return false;
}

// Does one of both with the words of an entry.
static inline bool look_at(Condensed *of, const BacklogEntry *entry, uint32_t group, uint32_t words,
                           bool back) {
    if (!back) return finds(of, group, words);
    return needs(of, group, words, (uint8_t)(record_thread(entry->base) / LANES));
}

TOUCH_INLINE bool look_at_run(Condensed *of, const BacklogEntry *entry, uint32_t word,
                              uint32_t words, bool back) {
    const uint32_t end = word + words;
    bool needed = false;
    while (word < end) {
        const uint32_t next = word - word % REGION_GROUP + REGION_GROUP;
        const uint32_t count = (next < end ? next : end) - word;
        needed |= look_at(of, entry, word / REGION_GROUP,
                          ALL_LANES >> (REGION_GROUP - count) << word % REGION_GROUP, back);
        word = next;
    }
    return needed;
}

TOUCH_INLINE bool look_at_entry(Condensed *of, const BacklogEntry *entry, bool back) {
    const uint32_t each = 1u << entry->shift, words = (1u << each) - 1;
    bool needed = false;
    if (entry->write) return true;
    if (entry->lanes && (uint32_t)entry->stride == each)
        return look_at_run(of, entry, entry->first, entry->lanes * each, back);
    const uint32_t even = entry->stride ? entry->lanes : 1;
    const uint32_t count = entry->lanes ? even : (uint32_t)__builtin_popcount(entry->mask);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t word =
            entry->lanes ? entry->first + (uint32_t)entry->stride * k : backlog_words(entry)[k];
        needed |= look_at(of, entry, word / REGION_GROUP, words << word % REGION_GROUP, back);
    }
    return needed;
}

static void next_block(Condensed *of) {
    for (uint32_t g = 0; g < REGION_GROUPS; g++) of->others[g] |= of->seen[g];
    memset(of->seen, 0, sizeof of->seen);
    memset(of->last, NO_WARP, sizeof of->last);
}

// Finds all entries, and which words several blocks have read.
static void find_shared(const Backlog *backlog, Condensed *of) {
    for (uint32_t offset = 0; offset < backlog->used;) {
        const BacklogEntry *entry = entry_at(backlog, offset);
        of->kept[of->all++] = (uint16_t)(offset / 8);
        if (!entry->base && entry->lane) next_block(of);
        if (entry->base) look_at_entry(of, entry, false);
        offset += bytes_of(entry);
    }
    memset(of->seen, 0, sizeof of->seen);
    memset(of->others, 0, sizeof of->others);
    memset(of->last, NO_WARP, sizeof of->last);
}

// Leaves those entries that records need.
static void condense(const Backlog *backlog, Condensed *of) {
    memset(of, 0, offsetof(Condensed, kept));
    of->all = of->count = 0;
    find_shared(backlog, of);
    for (uint32_t k = of->all, room = of->all; k--;) {
        const uint16_t place = of->kept[k];
        const BacklogEntry *entry = entry_at(backlog, place * 8u);
        if (!entry->base || look_at_entry(of, entry, true)) {
            of->kept[--room] = place;
            of->count++;
        }
        if (!entry->base && entry->lane) next_block(of);
    }
}

bool backlog_condense(Region *region) {
    Backlog *backlog = &region->backlog;
    Condensed of;
    condense(backlog, &of);
    if (of.count > of.all / 3 || !room_for(region)) return false;
    Target to = {region->words, 0, REGION_WORDS, false};
    Touch at = touch_of(backlog);
    for (uint32_t k = of.all - of.count; k < of.all; k++)
        put_entry(&at, &to, entry_at(backlog, of.kept[k] * 8u));
    note_records(region, &to);
    backlog->used = 0;
    backlog->context = (BacklogContext){0};
    backlog->scattered = 0;
    return true;
}

void backlog_look(const Region *region, uint64_t word, Record found[BACKLOG_FOUND]) {
    Target to = {{&found[0], NULL, &found[1], &found[2]}, (uint32_t)word, 1, false};
    if (region->backlog.launch) put_all(&region->backlog, &to);
}
