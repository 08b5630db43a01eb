// Whole warps at consecutive addresses: their records are compared and set in one loop, or are one
// for a group of words. See touch.h.
#include "simt/observe/check/touch.h"

// The first of `count` cells, 1 << `shift` of them a lane's; `base`: of the first of these lanes.
typedef struct {
    Record base;
    uint32_t first, count, shift;
} Span;

// The greatest of them: below a time, all are.
TOUCH_INLINE Record greatest(const Record *records, const Span *span) {
    Record found = 0;
    for (uint64_t k = span->first; k < (uint64_t)span->first + span->count; k++)
        found = records[k] > found ? records[k] : found;
    return found;
}

// Whether touch_settled holds of all.
TOUCH_INLINE bool all_settled(const Touch *at, const Record *records, const Span *span) {
    const Record done = at->done, floor = at->floor, warp_floor = at->warp_floor;
    const Record times = at->times, limit = at->span;
    const Span cells = *span;
    uint64_t wrong = 0;
    if (greatest(records, span) < done) return true;
    for (uint64_t k = 0; k < cells.count; k++) {
        const Record old = records[cells.first + k];
        const Record other = old ^ (cells.base + (k >> cells.shift << RECORD_THREAD));
        const uint64_t of_warp = other & RECORD_WARP_MASK ? 0 : old < warp_floor;
        const uint64_t of_lane = other & RECORD_LANE_MASK ? of_warp : 1;
        const uint64_t earlier = old < floor ? 1 : of_lane;
        const uint64_t settled = old - times < limit ? earlier : 0;
        wrong |= old < done ? 0 : settled ^ 1;
    }
    return !wrong;
}

// Whether touch_known holds of all.
TOUCH_INLINE bool all_known(const Touch *at, const Record *records, const Span *span) {
    const Record launch = at->launch, floor = at->floor, base = at->base;
    const Record times = at->times, limit = at->span;
    uint64_t wrong = 0;
    for (uint64_t k = span->first; k < (uint64_t)span->first + span->count; k++) {
        const Record old = records[k];
        const uint64_t of_warp = (old ^ base) & RECORD_WARP_MASK ? 0 : 1;
        const uint64_t earlier = old < floor ? 1 : of_warp;
        const uint64_t known = old - times < limit ? earlier : 0;
        wrong |= old < launch ? 0 : known ^ 1;
    }
    return !wrong;
}

TOUCH_INLINE void set_records(Record *records, const Span *span) {
    const Span cells = *span;
    for (uint64_t k = 0; k < cells.count; k++)
        records[cells.first + k] = cells.base + (k >> cells.shift << RECORD_THREAD);
}

// As set_records, of reads beside which others of the warp's lanes may have read the same: see
// touch_beside. All records are of this warp, or past.
TOUCH_INLINE void set_reads(const Touch *at, Record *records, const Span *span) {
    const Record floor = at->floor > at->warp_floor ? at->floor : at->warp_floor;
    const Record times = at->times, limit = at->span, done = at->done;
    const uint64_t whole = !at->parted;
    Record *const read = records + span->first;
    const Span cells = *span;
    for (uint64_t k = 0; k < cells.count; k++) {
        const Record mine = cells.base + (k >> cells.shift << RECORD_THREAD), old = read[k];
        const uint64_t strange = ((old ^ mine) & RECORD_LANE_MASK) ? whole : 0;
        const uint64_t own = old - times < limit ? strange : 0;
        const uint64_t late = old >= floor ? own : 0;
        const uint64_t many = old >= done ? late : 0;
        read[k] = mine | many << RECORD_MANY;
    }
}

TOUCH_INLINE void set_aside(const Touch *at, const Record *records, Record *aside,
                            const Span *span) {
    const Touch local = *at;
    for (uint32_t k = span->first; k < span->first + span->count; k++) {
        Record old = records[k], other = aside[k];
        aside[k] = touch_stays(&local, other, old) ? other : old;
    }
}

// Whether strong accesses would take the place of weak ones, which are put aside one by one.
static bool any_weak(const Touch *at, const Record *records, const Span *span) {
    bool weak = false;
    for (uint32_t k = span->first; k < span->first + span->count; k++)
        weak |= touch_weak(at, records[k]);
    return weak;
}

// Whether all are of one warp of another block at one time, which every lane has acquired.
static bool all_acquired(const Touch *at, const Record *records, const Span *span) {
    const Record first = records[span->first];
    Record wrong = 0;
    for (uint32_t k = span->first; k < span->first + span->count; k++) wrong |= records[k] ^ first;
    return !(wrong & ~(RECORD_LANE_MASK & ~RECORD_WARP_MASK)) && touch_acquired(at, first);
}

TOUCH_INLINE bool whole_read(const Touch *at, Region *region, Cells *cells, const Span *span,
                             uint32_t pages) {
    const uint64_t launch = at->checker->check->launch;
    const bool more = region->more == launch;
    const bool read = shadow_pages(region->read, launch) & pages;
    if (shadow_pages(region->written, launch) & pages && cells->write) {
        if (!all_settled(at, cells->write, span) && !all_acquired(at, cells->write, span))
            return false;
        if (more && !all_settled(at, cells->write_2, span)) return false;
    }
    if (at->strong && read && any_weak(at, cells->read, span)) return false;
    if (at->rest && read && !all_settled(at, cells->read, span)) return false;
    if (!read || greatest(cells->read, span) < at->launch) {
        set_records(cells->read, span);
        return true;
    }
    if (!all_known(at, cells->read, span)) {
        if (!region_use_more(at, region)) return true;
        set_aside(at, cells->read, cells->read_2, span);
    }
    set_reads(at, cells->read, span);
    return true;
}

TOUCH_INLINE bool whole_write(const Touch *at, const Region *region, Cells *cells, const Span *span,
                              uint32_t pages) {
    const uint64_t launch = at->checker->check->launch;
    const bool more = region->more == launch;
    if (shadow_pages(region->written, launch) & pages) {
        if (!all_settled(at, cells->write, span)) return false;
        if (more && !all_settled(at, cells->write_2, span)) return false;
        if (at->strong && any_weak(at, cells->write, span)) return false;
    }
    if (shadow_pages(region->read, launch) & pages && cells->read) {
        if (!all_settled(at, cells->read, span)) return false;
        if (more && !all_settled(at, cells->read_2, span)) return false;
    }
    set_records(cells->write, span);
    return true;
}

// Whether a group's record is ordered before the access of the same words by `mine`.
static inline bool group_settled(const Touch *at, Record group, Record mine) {
    const Record other = group ^ mine;
    const bool earlier = (group < at->floor) | !(other & (RECORD_LANE_MASK | 3)) |
                         (!(other & RECORD_WARP_MASK) & (group < at->warp_floor));
    return (group < at->done) | (touch_own(at, group) & earlier);
}

// Whether nothing that the backlog has matters to an access of a whole group.
static bool quiet_backlog(const Touch *at, const Region *region, uint32_t group) {
    const uint64_t launch = at->checker->check->launch;
    const Backlog *backlog = &region->backlog;
    if (backlog->launch != launch || region->direct == launch) return true;
    if (at->writes && backlog->read_pages >> group * REGION_GROUP / REGION_PAGE & 1) return false;
    return !backlog->written[group];
}

// What the words have of their own. False: something to look at.
static bool quiet_cells(const Touch *at, const Region *region, const Span *span) {
    const uint64_t launch = at->checker->check->launch;
    const Cells *cells = &region->words;
    const bool more = region->more == launch;
    if (!quiet_backlog(at, region, span->first / REGION_GROUP)) return false;
    const uint32_t page = shadow_pages_between(span->first, span->first);
    const bool written = shadow_pages(region->written, launch) & page;
    if (written && !all_settled(at, cells->write, span)) return false;
    if (written && more && !all_settled(at, cells->write_2, span)) return false;
    if (at->reads || !(shadow_pages(region->read, launch) & page)) return true;
    if (!all_settled(at, cells->read, span)) return false;
    return !more || all_settled(at, cells->read_2, span);
}

// Whole warps access the group from now on. Whether some did before, in the same way.
static inline bool mark_group(const Touch *at, Region *region, uint32_t group) {
    uint64_t *pieces = at->reads ? region->group_read : region->group_written;
    const uint32_t pages = at->reads ? region->group_read_pages : region->group_written_pages;
    const bool page = pages >> group * REGION_GROUP / REGION_PAGE & 1;
    const bool known = region->grouped == at->checker->check->launch;
    if (known && shadow_group_bit(pieces, group)) return true;
    if (known && page) {
        pieces[group / GROUP_PIECE] |= (uint64_t)1 << group % GROUP_PIECE;
        return false;
    }
    backlog_group(at, region, group);
    return false;
}

// Notes a read, of which it is the first one by a whole warp in this launch, or not.
static inline void read_group(const Touch *at, GroupRecords *group, Record mine, bool first) {
    const Record old = first ? 0 : group->read;
    const bool many = touch_known(at, old) && !group_settled(at, old, mine) && !at->parted;
    if (!touch_known(at, old) && !touch_stays(at, group->read_2, old)) group->read_2 = old;
    group->read = mine | (Record)many << RECORD_MANY;
}

// Most groups are accessed once: then nothing is looked at.
static bool note_group(const Touch *at, Region *region, uint32_t g, Record mine) {
    GroupRecords *group = &region->groups[g];
    const bool first = !mark_group(at, region, g);
    const bool written = at->reads ? shadow_group_bit(region->group_written, g) : !first;
    if (written && !group_settled(at, group->write, mine) &&
        !(at->reads && touch_acquired(at, group->write)))
        return false;
    if (at->reads) {
        if (at->rest && !first && !group_settled(at, group->read, mine)) return false;
        read_group(at, group, mine, first);
        return true;
    }
    const bool read = shadow_group_bit(region->group_read, g);
    if (read && !(group_settled(at, group->read, mine) && group_settled(at, group->read_2, mine)))
        return false;
    group->write = mine;
    return true;
}

// Weak accesses to whole groups by so many lanes, each one's words within a group. False: look at
// the words.
static bool whole_groups(const Touch *at, Region *region, Record first, uint32_t word,
                         uint32_t lanes) {
    const uint32_t each = at->size / 4, words = each * lanes;
    if (at->strong || word % REGION_GROUP || words % REGION_GROUP || each > 4) return false;
    const Record shift = (Record)__builtin_ctz(each);
    const uint32_t of_group = REGION_GROUP >> shift;
    for (uint32_t k = 0; k < words / REGION_GROUP; k++) {
        const Record base = first + ((Record)(k * of_group) << RECORD_THREAD);
        const Span span = {base, word + k * REGION_GROUP, REGION_GROUP, (uint32_t)shift};
        if (!quiet_cells(at, region, &span)) return false;
        if (!note_group(at, region, word / REGION_GROUP + k, base | shift)) return false;
    }
    return true;
}

// Whether nobody wrote to the group in this launch, and no whole warp read it.
static inline bool untouched(const Touch *at, const Region *region, uint32_t g) {
    const uint64_t launch = at->checker->check->launch;
    const uint32_t page = 1u << g * REGION_GROUP / REGION_PAGE;
    return region->grouped == launch && !(shadow_pages(region->written, launch) & page) &&
           !shadow_group_bit(region->group_read, g) &&
           !shadow_group_bit(region->group_written, g) && quiet_backlog(at, region, g);
}

bool whole_group(const Touch *at, uint64_t address) {
    const uint64_t launch = at->checker->check->launch, offset = address - memory_base;
    Region *region = shadow_region(address);
    if (!region || region->split == launch || at->strong) return false;
    if (touch_rest(at, address, REGION_GROUP)) return false;
    const uint32_t word = (uint32_t)(offset % REGION_BYTES / 4);
    const Span span = {at->mine, word, REGION_GROUP, 5};
    const uint32_t g = word / REGION_GROUP;
    if (at->reads && untouched(at, region, g)) {
        mark_group(at, region, g);
        region->groups[g].read = at->mine | GROUP_ONE;
        return true;
    }
    return quiet_cells(at, region, &span) && note_group(at, region, g, at->mine | GROUP_ONE);
}

// Whether no whole warp's write to the groups of these words matters: a read of the words may be
// noted beside those of the groups.
static bool groups_unwritten(const Touch *at, const Region *region, uint32_t first,
                             uint32_t words) {
    bool written = false;
    for (uint32_t g = first / REGION_GROUP; g <= (first + words - 1) / REGION_GROUP; g++)
        written |= !touch_past(at, region->groups[g].write);
    return !written;
}

// What the cells have. One for each lane of a whole warp is the common case, which constants make
// quick.
static bool whole_cells(const Touch *at, Region *region, const Span *span, uint32_t pages,
                        bool split) {
    Cells *cells = split ? &region->bytes : &region->words;
    if (span->count == LANES && !span->shift) {
        const Span warp = {span->base, span->first, LANES, 0};
        return at->reads ? whole_read(at, region, cells, &warp, pages)
                         : whole_write(at, region, cells, &warp, pages);
    }
    return at->reads ? whole_read(at, region, cells, span, pages)
                     : whole_write(at, region, cells, span, pages);
}

static bool touch_run(const Touch *at, Record base, uint32_t lanes, uint64_t first) {
    const uint64_t begin = first - memory_base, bytes = (uint64_t)at->size * lanes;
    if (begin / REGION_BYTES != (begin + bytes - 1) / REGION_BYTES) return false;
    if (touch_rest(at, first, (bytes + 3) / 4 + 1)) return false;
    Region *region = shadow_region(first);
    if (!region || (at->size < 4 && !region_split(at, region))) return false;
    const bool split = region->split == at->checker->check->launch;
    const uint32_t word = (uint32_t)(begin % REGION_BYTES / 4);
    const uint32_t words = (uint32_t)(begin % 4 + bytes + 3) / 4;
    if (!split && whole_groups(at, region, base, word, lanes)) return true;
    if (!split && backlog_add_run(at, region, base, word, lanes)) return true;
    backlog_done(at, region);
    if (!at->reads || !groups_unwritten(at, region, word, words))
        if (!region_expand(at, region, word, words)) return true;
    if (!region_room(at, region, split)) return false;
    const uint32_t pages = shadow_pages_between(word, word + words - 1);
    region_mark(at, region, pages);
    const uint32_t unit = split ? 1 : 4, each = at->size / unit;
    const Span span = {base, (uint32_t)(begin % REGION_BYTES / unit), each * lanes,
                       (uint32_t)__builtin_ctz(each)};
    return whole_cells(at, region, &span, pages, split);
}

bool whole_touch(const Touch *at, uint64_t first) { return touch_run(at, at->base, LANES, first); }

uint32_t whole_runs(const Touch *at, uint32_t mask) {
    enum { FEW_RUNS = 4 };
    const uint32_t on = at->shape->on & mask & mask >> 1;
    uint32_t left = 0;
    if (__builtin_popcount(mask & ~(on << 1)) > FEW_RUNS) return mask;
    while (mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const uint32_t count = 1 + (uint32_t)__builtin_ctz(~(on >> lane));
        const uint32_t lanes = (count == LANES ? ALL_LANES : (1u << count) - 1) << lane;
        const Record base = at->base + ((Record)lane << RECORD_THREAD);
        if (count == 1 || !touch_run(at, base, count, at->address[lane])) left |= lanes;
        mask &= ~lanes;
    }
    return left;
}
