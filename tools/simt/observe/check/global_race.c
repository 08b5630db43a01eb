// Races in global memory: of two threads' accesses to a byte one writes, no barrier orders them,
// neither has acquired what the other released (order.c), and they are not both strong at scopes
// that cover each other. PTX ISA, "Memory Consistency Model: Data-Races". Launches are ordered one
// behind the other. Two writes of the same value are no race.
//
// Most accesses are of words that nobody else touches, by whole warps at a time: those are compared
// and recorded in one loop. Bounds are checked before: see global.c.
#include <string.h>

#include "simt/observe/check/inside.h"

#define ALWAYS static inline __attribute__((always_inline))

typedef struct {
    Checker *checker;
    Warp *warp;
    const Access *access;
    const uint64_t *address;
    Record base;        // of the warp's first lane
    Record mine;        // of the lane at hand
    Record launch;      // earlier records are of earlier launches
    Record done;        // earlier ones are not looked at: as launch, or all
    Record floor;       // the block's own earlier ones are ordered by a barrier,
    Record warp_floor;  // the warp's own earlier ones by bar.warp.sync
    Record times, span; // where the block's own latest times are
    uint32_t lane, size;
    bool reads, writes, strong;
} Touch;

static Touch touch_of(Checker *checker, Warp *warp, const Access *access,
                      const uint64_t address[LANES]) {
    const Scope scope = access->order ? access->scope : SCOPE_NONE;
    const Record base = record_make(checker->now, check_site(checker, access),
                                    warp->index * (uint32_t)LANES, scope);
    const Record launch = checker->check->launch << RECORD_TIME;
    return (Touch){.checker = checker,
                   .warp = warp,
                   .access = access,
                   .address = address,
                   .base = base,
                   .launch = launch,
                   .done = check_saturated(checker, base) ? ~(Record)0 : launch,
                   .floor = checker->block_floor << RECORD_TIME,
                   .warp_floor = checker->warp_floor[warp->index] << RECORD_TIME,
                   .times = checker->times << RECORD_TIME,
                   .span = (checker->times_end - checker->times) << RECORD_TIME,
                   .size = address_bytes(access),
                   .reads = access->kind == ACCESS_LOAD,
                   .writes = access->kind != ACCESS_LOAD,
                   .strong = scope != SCOPE_NONE};
}

// --- order ---

static inline bool own(const Touch *at, Record record) { return record - at->times < at->span; }

// Whether it is seen at once that the access of this record is ordered before one of the thread of
// `mine`.
static inline bool settled(const Touch *at, Record record, Record mine) {
    const Record other = record ^ mine;
    const bool earlier = (record < at->floor) | !(other & RECORD_LANE_MASK) |
                         (!(other & RECORD_WARP_MASK) & (record < at->warp_floor));
    return (record < at->done) | (own(at, record) & earlier);
}

// The same, or of the same warp: what it reads counts once.
static inline bool known(const Touch *at, Record record) {
    return (record < at->launch) |
           (own(at, record) & ((record < at->floor) | !((record ^ at->base) & RECORD_WARP_MASK)));
}

// Of another block, as far as is seen at once.
static inline bool foreign(const Touch *at, Record record) {
    return record >= at->launch && !own(at, record);
}

static bool ordered(const Touch *at, Record record) {
    if (settled(at, record, at->mine)) return true;
    Checker *checker = at->checker;
    const uint64_t time = record_time(record), block = shadow_block(time);
    const uint32_t other = record_thread(record), thread = record_thread(at->mine);
    if (block == checker->block && (time < checker->block_floor || other == thread ||
                                    !check_unordered(checker, time, other, thread)))
        return true;
    return check_acquired(checker, thread, block, other, time);
}

// Whether every lane has acquired what the warp of this record did until then, in another block.
static bool acquired(const Touch *at, Record record) {
    Checker *checker = at->checker;
    const uint64_t time = record_time(record);
    if (!checker->orders || record < at->launch) return false;
    const uint64_t block = shadow_block(time);
    return block != checker->block &&
           check_acquired(checker, record_thread(at->base), block, record_thread(record), time) &&
           checker->known.time == time;
}

// Morally strong, in the words of the PTX ISA.
static bool both_strong(const Touch *at, Record record) {
    const uint32_t mine = record_scope(at->mine), other = record_scope(record);
    if (!mine || !other) return false;
    if (mine == SCOPE_DEVICE && other == SCOPE_DEVICE) return true;
    const uint64_t block = shadow_block(record_time(record));
    if (block == at->checker->block) return true;
    return mine != SCOPE_CTA && other != SCOPE_CTA && cluster_same(at->checker, block);
}

// Whether a record is of this very instruction: its value is not yet in memory.
static bool together(const Touch *at, Record record) {
    return !((record ^ at->mine) & ~RECORD_LANE_MASK) && !((record ^ at->mine) & RECORD_WARP_MASK);
}

// Whether this store leaves `count` bytes that another thread wrote as they are.
static bool same_value(const Touch *at, Record record, uint64_t address, uint32_t count) {
    uint8_t mine[4], theirs[4];
    if (at->access->kind != ACCESS_STORE) return false;
    if (at->checker->check->sites[record_site(record)].kind != ACCESS_STORE) return false;
    uint32_t offset = (uint32_t)(address - at->address[at->lane]);
    if (!address_stored(at->warp, at->access, at->lane, offset, count, mine)) return false;
    const uint32_t lane = record_thread(record) % LANES;
    const uint64_t from = at->address[lane];
    if (together(at, record) && from <= address && address + count <= from + at->size)
        address_stored(at->warp, at->access, lane, (uint32_t)(address - from), count, theirs);
    else
        memcpy(theirs, memory_at(address), count);
    return memcmp(mine, theirs, count) == 0;
}

static void against(const Touch *at, Record record, uint64_t address, uint32_t count, bool write) {
    if (check_saturated(at->checker, at->mine)) return;
    if (settled(at, record, at->mine) || both_strong(at, record) || ordered(at, record)) return;
    if (write && same_value(at, record, address, count)) return;
    check_race(at->checker, PTX_GLOBAL, at->mine, record, address);
}

// --- word by word ---

// The records of a region, or of its bytes, that this access needs are there. False: no memory.
static bool make_room(const Touch *at, Region *region, bool bytes) {
    Cells *cells = bytes ? &region->bytes : &region->words;
    uint32_t count = bytes ? REGION_BYTES : REGION_WORDS;
    bool good = !at->reads || shadow_room(&cells->read, count);
    good = good && (!at->writes || shadow_room(&cells->write, count));
    if (good) return true;
    at->checker->lost = true;
    return false;
}

// This launch notes a second access to some word of the region. False: no memory.
static bool use_more(const Touch *at, Region *region) {
    Cells *cells = region->split == at->checker->check->launch ? &region->bytes : &region->words;
    uint32_t count = cells == &region->bytes ? REGION_BYTES : REGION_WORDS;
    if (!shadow_room(&cells->read_2, count) || !shadow_room(&cells->write_2, count)) {
        at->checker->lost = true;
        return false;
    }
    region->more = at->checker->check->launch;
    return true;
}

// Whether the block's own last strong access to the word, which is ordered before this one, came
// after all strong writes of others: then they are ordered too, by what it observed. PTX ISA,
// "Causality Order".
static bool observed(const Touch *at, const Region *region, const Cells *cells, uint32_t k) {
    const uint64_t launch = at->checker->check->launch;
    const bool more = region->more == launch;
    const Check *check = at->checker->check;
    Record write = cells->write[k];
    if (check->sites[record_site(write)].kind == ACCESS_ATOMIC && ordered(at, write)) return true;
    if (region->read != launch || !cells->read) return false;
    Record read = cells->read[k], other = more ? cells->read_2[k] : 0;
    return (record_scope(read) && read >= at->launch && ordered(at, read)) ||
           (record_scope(other) && other >= at->launch && ordered(at, other));
}

// The record of an access is put aside if one of another thread takes its place, those of other
// blocks first.
static void put_aside(const Touch *at, Record old, Record *aside) {
    if (!foreign(at, *aside) || foreign(at, old)) *aside = old;
}

// What was observed is kept beside a weak read behind it.
static void note_read(const Touch *at, Region *region, Cells *cells, uint32_t k) {
    Record old = cells->read[k];
    cells->read[k] = at->mine;
    bool observation = record_scope(old) && old >= at->launch && !at->strong;
    if ((known(at, old) && !observation) || !use_more(at, region)) return;
    put_aside(at, old, &cells->read_2[k]);
}

// Strong reads before a strong write do not race with it, and did not observe it.
static void note_write(const Touch *at, Region *region, Cells *cells, uint32_t k) {
    const uint64_t launch = at->checker->check->launch;
    Record old = cells->write[k];
    cells->write[k] = at->mine;
    if (at->strong && region->read == launch && cells->read) {
        if (record_scope(cells->read[k])) cells->read[k] = 0;
        if (region->more == launch && record_scope(cells->read_2[k])) cells->read_2[k] = 0;
    }
    if (!at->strong && region->more == launch) cells->write_2[k] = 0;
    if (!at->strong || known(at, old) || !use_more(at, region)) return;
    put_aside(at, old, &cells->write_2[k]);
}

static void touch(const Touch *at, Region *region, bool bytes, uint32_t k, uint64_t address) {
    const uint64_t launch = at->checker->check->launch;
    const uint32_t count = bytes ? 1 : 4;
    Cells *cells = bytes ? &region->bytes : &region->words;
    const bool more = region->more == launch;
    if (region->written == launch && cells->write) {
        const Record last = cells->write[k], other = more ? cells->write_2[k] : 0;
        bool open = !settled(at, last, at->mine) || !settled(at, other, at->mine);
        if (open && !(record_scope(last) && observed(at, region, cells, k))) {
            against(at, last, address, count, true);
            against(at, other, address, count, true);
        }
    }
    if (at->writes && region->read == launch && cells->read) {
        against(at, cells->read[k], address, count, false);
        if (more) against(at, cells->read_2[k], address, count, false);
    }
    if (at->reads)
        note_read(at, region, cells, k);
    else
        note_write(at, region, cells, k);
}

// --- groups of words that a warp accessed as a whole ---

static Record group_lane(Record group, uint32_t k) {
    return (group & ~(Record)3) + ((Record)(k >> (group & 3)) << RECORD_THREAD);
}

// The records of a group become those of its words. False: no memory.
static bool expand_group(const Touch *at, Region *region, uint32_t g) {
    const uint64_t launch = at->checker->check->launch;
    GroupRecords *group = &region->groups[g];
    Cells *cells = &region->words;
    const bool writes = group->write >= at->launch, reads = group->read >= at->launch;
    const bool more = reads && (group->read_2 >= at->launch || region->read == launch);
    if ((writes && !shadow_room(&cells->write, REGION_WORDS)) ||
        (reads && !shadow_room(&cells->read, REGION_WORDS)) || (more && !use_more(at, region))) {
        at->checker->lost = true;
        return false;
    }
    for (uint32_t k = 0; k < REGION_GROUP; k++) {
        const uint32_t word = g * REGION_GROUP + k;
        if (writes) cells->write[word] = group_lane(group->write, k);
        if (!reads) continue;
        if (more && cells->read[word] >= at->launch) cells->read_2[word] = cells->read[word];
        if (group->read_2 >= at->launch) cells->read_2[word] = group_lane(group->read_2, k);
        cells->read[word] = group_lane(group->read, k);
    }
    if (writes) region->written = launch;
    if (reads) region->read = launch;
    *group = (GroupRecords){0};
    return true;
}

static bool expand_groups(const Touch *at, Region *region, uint32_t first, uint32_t words) {
    bool good = true;
    if (region->grouped != at->checker->check->launch || !words) return true;
    for (uint32_t g = first / REGION_GROUP; good && g <= (first + words - 1) / REGION_GROUP; g++)
        if (region->groups[g].write >= at->launch || region->groups[g].read >= at->launch)
            good = expand_group(at, region, g);
    return good;
}

// --- regions ---

static bool copy_to_bytes(Record *words, Record **bytes) {
    if (!words) return true;
    if (!shadow_room(bytes, REGION_BYTES)) return false;
    for (uint32_t k = 0; k < REGION_BYTES; k++) (*bytes)[k] = words[k / 4];
    return true;
}

// From now on this launch has a record for each byte of the region. False: no memory.
static bool split_region(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    if (region->split == launch) return true;
    if (!expand_groups(at, region, 0, REGION_WORDS)) return false;
    bool used = region->written == launch || region->read == launch;
    Cells *words = &region->words, *bytes = &region->bytes;
    bool good = !used || (copy_to_bytes(words->write, &bytes->write) &&
                          copy_to_bytes(words->write_2, &bytes->write_2) &&
                          copy_to_bytes(words->read, &bytes->read) &&
                          copy_to_bytes(words->read_2, &bytes->read_2));
    region->split = launch;
    at->checker->lost |= !good;
    return good;
}

static void mark(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    if (at->reads && region->read != launch) region->read = launch;
    if (at->writes && region->written != launch) region->written = launch;
}

static void touch_lane(const Touch *at, uint64_t first) {
    const uint64_t launch = at->checker->check->launch;
    Region *region = shadow_region(first);
    if (!region || (at->size < 4 && !split_region(at, region))) {
        at->checker->lost = true;
        return;
    }
    bool bytes = region->split == launch;
    const uint32_t word = (uint32_t)(first - memory_base) % REGION_BYTES / 4;
    if (!expand_groups(at, region, word, (at->size + 3) / 4)) return;
    if (!make_room(at, region, bytes)) return;
    mark(at, region);
    const uint32_t step = bytes ? 1 : 4;
    for (uint64_t address = first; address < first + at->size; address += step)
        touch(at, region, bytes, (uint32_t)((address - memory_base) % REGION_BYTES / step),
              address);
}

static inline bool quiet_group(const Touch *at, const Region *region, uint32_t word) {
    const GroupRecords *group = &region->groups[word / REGION_GROUP];
    return group->write < at->launch && group->read < at->launch;
}

// A word that only this warp touches, or that others only read as this one does.
static inline bool quick_lane(const Touch *at, uint64_t launch, const Region *region, uint32_t k,
                              Record mine) {
    const Cells *cells = &region->words;
    const bool more = region->more == launch, written = region->written == launch;
    const bool read = region->read == launch;
    if (written && !settled(at, cells->write[k], mine)) return false;
    if (more && !settled(at, cells->write_2[k], mine)) return false;
    if (at->reads) {
        if (!known(at, cells->read[k]) || record_scope(cells->read[k])) return false;
        cells->read[k] = mine;
        return true;
    }
    if (more && !settled(at, cells->read_2[k], mine)) return false;
    if (read && !settled(at, cells->read[k], mine)) return false;
    cells->write[k] = mine;
    return true;
}

// A word that others too only update, at the scope of the device; nobody reads it.
static inline bool quick_update(const Touch *at, uint64_t launch, const Region *region, uint32_t k,
                                Record mine) {
    const Cells *cells = &region->words;
    if (region->more != launch || region->read == launch) return false;
    const Record old = cells->write[k], other = cells->write_2[k];
    if (!settled(at, old, mine) && record_scope(old) != SCOPE_DEVICE) return false;
    if (!settled(at, other, mine) && record_scope(other) != SCOPE_DEVICE) return false;
    if (!known(at, old) && (!foreign(at, other) || foreign(at, old))) cells->write_2[k] = old;
    cells->write[k] = mine;
    return true;
}

// Words of weak accesses, or of updates. The lanes that need a closer look.
static uint32_t quick_lanes(const Touch *at, uint32_t mask) {
    const Touch local = *at;
    const uint64_t launch = at->checker->check->launch;
    const Region *last = NULL;
    uint64_t low = 1; // of the last region; none begins here
    uint32_t left = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t offset = local.address[lane] - memory_base;
        if (offset - low >= REGION_BYTES) {
            last = shadow_regions[offset >> REGION_SHIFT];
            low = offset / REGION_BYTES * REGION_BYTES;
            const bool ready = last && last->split != launch &&
                               (last->written != launch || last->words.write) &&
                               (last->read != launch || last->words.read) &&
                               (local.reads ? last->read == launch : last->written == launch);
            if (!ready) last = NULL;
        }
        const uint32_t k = (uint32_t)(offset - low) / 4;
        if (last && last->grouped == launch && !quiet_group(&local, last, k)) {
            left |= 1u << lane;
            continue;
        }
        const Record mine = local.base + ((Record)lane << RECORD_THREAD);
        if (!last || !(local.strong ? quick_update(&local, launch, last, k, mine)
                                    : quick_lane(&local, launch, last, k, mine)))
            left |= 1u << lane;
        if (!last) low = 1;
    }
    return left;
}

static void lane_by_lane(Touch *at, uint32_t mask) {
    uint64_t last = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        at->lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = at->address[at->lane];
        if (address == last && at->reads) continue; // what a warp reads counts once
        last = address;
        at->mine = at->base + ((Record)at->lane << RECORD_THREAD);
        touch_lane(at, address);
    }
}

// --- whole warps at consecutive addresses ---

// The first of `count` cells, 1 << `shift` of them a lane's.
typedef struct {
    uint32_t first, count, shift;
} Span;

static inline Record lane_record(const Touch *at, const Span *span, uint32_t k) {
    return at->base + ((Record)(k >> span->shift) << RECORD_THREAD);
}

ALWAYS bool all_settled(const Touch *at, const Record *records, const Span *span) {
    const Touch local = *at;
    const Span cells = *span;
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < cells.count; k++)
        wrong |=
            (uint32_t)!settled(&local, records[cells.first + k], lane_record(&local, &cells, k));
    return !wrong;
}

ALWAYS bool all_known(const Touch *at, const Record *records, const Span *span) {
    const Touch local = *at;
    uint32_t wrong = 0;
    for (uint32_t k = span->first; k < span->first + span->count; k++)
        wrong |= (uint32_t)!known(&local, records[k]);
    return !wrong;
}

ALWAYS void set_records(const Touch *at, Record *records, const Span *span) {
    const Touch local = *at;
    const Span cells = *span;
    for (uint32_t k = 0; k < cells.count; k++)
        records[cells.first + k] = lane_record(&local, &cells, k);
}

ALWAYS void set_aside(const Touch *at, const Record *records, Record *aside, const Span *span) {
    const Touch local = *at;
    for (uint32_t k = span->first; k < span->first + span->count; k++) {
        Record old = records[k], other = aside[k];
        int keep = known(&local, old) | ((int)foreign(&local, other) & (int)!foreign(&local, old));
        aside[k] = keep ? other : old;
    }
}

// Whether all are of one warp of another block at one time, which every lane has acquired.
static bool all_acquired(const Touch *at, const Record *records, const Span *span) {
    const Record first = records[span->first];
    Record wrong = 0;
    for (uint32_t k = span->first; k < span->first + span->count; k++) wrong |= records[k] ^ first;
    return !(wrong & ~(RECORD_LANE_MASK & ~RECORD_WARP_MASK)) && acquired(at, first);
}

ALWAYS bool whole_read(const Touch *at, Region *region, Cells *cells, const Span *span) {
    const uint64_t launch = at->checker->check->launch;
    const bool more = region->more == launch;
    if (region->written == launch && cells->write) {
        if (!all_settled(at, cells->write, span) && !all_acquired(at, cells->write, span))
            return false;
        if (more && !all_settled(at, cells->write_2, span)) return false;
    }
    if (region->read == launch && !all_known(at, cells->read, span)) {
        if (!use_more(at, region)) return true;
        set_aside(at, cells->read, cells->read_2, span);
    }
    set_records(at, cells->read, span);
    return true;
}

ALWAYS bool whole_write(const Touch *at, const Region *region, Cells *cells, const Span *span) {
    const uint64_t launch = at->checker->check->launch;
    const bool more = region->more == launch;
    if (region->written == launch) {
        if (!all_settled(at, cells->write, span)) return false;
        if (more && !all_settled(at, cells->write_2, span)) return false;
    }
    if (region->read == launch && cells->read) {
        if (!all_settled(at, cells->read, span)) return false;
        if (more && !all_settled(at, cells->read_2, span)) return false;
    }
    set_records(at, cells->write, span);
    return true;
}

// Whether a group's record is ordered before the access of the same words by `mine`.
static inline bool group_settled(const Touch *at, Record group, Record mine) {
    const Record other = group ^ mine;
    const bool earlier = (group < at->floor) | !(other & (RECORD_LANE_MASK | 3)) |
                         (!(other & RECORD_WARP_MASK) & (group < at->warp_floor));
    return (group < at->done) | (own(at, group) & earlier);
}

// What the words have of their own. False: something to look at.
static bool quiet_cells(const Touch *at, const Region *region, const Span *span) {
    const uint64_t launch = at->checker->check->launch;
    const Cells *cells = &region->words;
    const bool more = region->more == launch;
    if (region->written == launch && !all_settled(at, cells->write, span)) return false;
    if (more && !all_settled(at, cells->write_2, span)) return false;
    if (at->reads) return true;
    if (region->read == launch && !all_settled(at, cells->read, span)) return false;
    return !more || all_settled(at, cells->read_2, span);
}

static bool note_group(const Touch *at, GroupRecords *group, Record mine) {
    if (!group_settled(at, group->write, mine) && !(at->reads && acquired(at, group->write)))
        return false;
    if (at->reads) {
        const Record old = group->read;
        if (!known(at, old) && (!foreign(at, group->read_2) || foreign(at, old)))
            group->read_2 = old;
        group->read = mine;
        return true;
    }
    if (!group_settled(at, group->read, mine) || !group_settled(at, group->read_2, mine))
        return false;
    group->write = mine;
    return true;
}

// Weak accesses to whole groups, each lane's words within one. False: look at the words.
static bool whole_groups(const Touch *at, Region *region, uint32_t word, uint32_t each) {
    const uint64_t launch = at->checker->check->launch;
    if (at->strong || word % REGION_GROUP || each > 4) return false;
    const Record shift = (Record)__builtin_ctz(each);
    const uint32_t lanes = REGION_GROUP >> shift; // of a group
    for (uint32_t k = 0; k < each; k++) {
        Touch part = *at;
        part.base += (Record)(k * lanes) << RECORD_THREAD;
        const Span span = {word + k * REGION_GROUP, REGION_GROUP, (uint32_t)shift};
        if (!quiet_cells(&part, region, &span)) return false;
        GroupRecords *group = &region->groups[word / REGION_GROUP + k];
        if (region->grouped != launch) region->grouped = launch;
        if (!note_group(&part, group, part.base | shift)) return false;
    }
    return true;
}

// Whether no whole warp's write to the groups of these words matters: a read of the words may be
// noted beside those of the groups.
static bool groups_unwritten(const Touch *at, const Region *region, uint32_t first,
                             uint32_t words) {
    bool written = false;
    for (uint32_t g = first / REGION_GROUP; g <= (first + words - 1) / REGION_GROUP; g++) {
        const Record write = region->groups[g].write;
        if (write >= at->done && !(own(at, write) && write < at->floor)) written = true;
    }
    return !written;
}

// False: look at every lane.
static bool whole_warp(const Touch *at) {
    const uint64_t first = at->address[0] - memory_base, bytes = (uint64_t)at->size * LANES;
    if (first / REGION_BYTES != (first + bytes - 1) / REGION_BYTES) return false;
    Region *region = shadow_region(at->address[0]);
    if (!region || (at->size < 4 && !split_region(at, region))) return false;
    const bool split = region->split == at->checker->check->launch;
    const uint32_t word = (uint32_t)(first % REGION_BYTES / 4);
    if (!split && whole_groups(at, region, word, at->size / 4)) return true;
    const uint32_t words = at->size * LANES / 4;
    if (!at->reads || !groups_unwritten(at, region, word, words))
        if (!expand_groups(at, region, word, words)) return true;
    if (!make_room(at, region, split)) return false;
    mark(at, region);
    Cells *cells = split ? &region->bytes : &region->words;
    const uint32_t unit = split ? 1 : 4, each = at->size / unit;
    const uint32_t cell = (uint32_t)(first % REGION_BYTES / unit);
    if (each == 1) { // the same with constants, which makes it quick
        const Span span = {cell, LANES, 0};
        return at->reads ? whole_read(at, region, cells, &span)
                         : whole_write(at, region, cells, &span);
    }
    const Span span = {cell, each * LANES, (uint32_t)__builtin_ctz(each)};
    return at->reads ? whole_read(at, region, cells, &span) : whole_write(at, region, cells, &span);
}

void check_global_ahead(const Access *access, uint32_t mask, const uint64_t address[LANES]) {
    const bool reads = access->kind == ACCESS_LOAD;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        if (at < memory_low || at >= memory_high) continue;
        const uint64_t offset = at - memory_base;
        const Region *region = shadow_regions[offset >> REGION_SHIFT];
        const Record *records = !region ? NULL : reads ? region->words.read : region->words.write;
        __builtin_prefetch(memory_at(at));
        __builtin_prefetch(memory_shadow + offset / 4);
        if (records) __builtin_prefetch(&records[offset % REGION_BYTES / 4], 1);
    }
}

void check_global_races(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                        const uint64_t address[LANES], bool whole) {
    Touch at = touch_of(checker, warp, access, address);
    if (whole && whole_warp(&at)) return;
    const bool updates = access->kind == ACCESS_ATOMIC && record_scope(at.base) == SCOPE_DEVICE;
    if (at.size == 4 && (!at.strong || updates)) mask = quick_lanes(&at, mask);
    lane_by_lane(&at, mask);
}
