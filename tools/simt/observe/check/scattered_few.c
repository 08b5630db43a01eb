// Few lanes at any addresses, one by one: see scattered.h.
#include "simt/observe/check/scattered.h"

static inline bool quiet_group(const Touch *at, const Place *place, uint32_t word) {
    const GroupRecords *group = &place->region->groups[word / REGION_GROUP];
    return !place->grouped || (group->write < at->launch && group->read < at->launch);
}

// Whether no whole warp's write to the word's group matters: then a read may be noted beside it.
static inline bool unwritten_group(const Touch *at, const Place *place, uint32_t word) {
    return !place->grouped || touch_past(at, place->region->groups[word / REGION_GROUP].write);
}

// Whether the access of this record is ordered before one of any lane.
static inline bool settled_by_warp(const Touch *at, Record record) {
    const bool earlier = (record < at->floor) |
                         (!((record ^ at->base) & RECORD_WARP_MASK) & (record < at->warp_floor));
    return (record < at->done) | (touch_own(at, record) & earlier);
}

// Notes that lanes of the warp, from `first` to `last`, read a cell. False: a closer look.
static inline bool note_lanes(const Touch *at, const Place *place, uint32_t k, uint32_t first,
                              uint32_t last) {
    const Cells *cells = place->cells;
    const Record old = cells->read[k];
    if (!unwritten_group(at, place, k) || record_scope(old)) return false;
    if (touch_over(at, old)) return true;
    if (at->rest && (first != last || !touch_settled(at, old, record_of(at, first)))) return false;
    if (!touch_known(at, old)) {
        if (!place->more) return false;
        // Where another block's is put aside, what was there is not looked at: it is far.
        if (touch_foreign(at, old) || !touch_stays(at, cells->read_2[k], old))
            cells->read_2[k] = old;
    }
    const Record many = (Record)(first != last) << RECORD_MANY;
    cells->read[k] = touch_beside(at, old, record_of(at, last)) | many;
    return true;
}

// The same of a word that nobody has touched in this launch, but perhaps before it: the common
// case.
static inline bool read_fresh(const Touch *at, const Place *place, uint32_t k, Record mine) {
    const Cells *cells = place->cells;
    if (place->grouped | place->written) return false;
    if (cells->read[k] >= at->launch) return false;
    cells->read[k] = mine;
    return true;
}

// A lane that reads cells from this one on.
TOUCH_INLINE bool read_cells(const Touch *at, const Place *place, uint32_t lane, uint32_t first) {
    const Cells *cells = place->cells;
    const Record mine = record_of(at, lane);
    for (uint32_t k = first; k < first + place->each; k++) {
        if (cells->read[k] == mine || read_fresh(at, place, k, mine)) continue; // as before
        if (place->written && !touch_settled(at, cells->write[k], mine)) return false;
        if (place->written_2 && !touch_settled(at, cells->write_2[k], mine)) return false;
        if (!note_lanes(at, place, k, lane, lane)) return false;
    }
    return true;
}

static inline bool read_lane(const Touch *at, const Place *place, uint32_t lane) {
    return read_cells(at, place, lane, cell_of(at, place, lane));
}

// What a warp reads counts once. The lanes of a run read the same; *ordered: all are behind what
// was written there. False: a closer look.
static inline bool read_run(const Touch *at, const Place *place, uint32_t run, bool *ordered) {
    const Cells *cells = place->cells;
    const uint32_t head = (uint32_t)__builtin_ctz(run), last = 31 - (uint32_t)__builtin_clz(run);
    const uint32_t first = cell_of(at, place, head);
    *ordered = true;
    for (uint32_t k = first; k < first + place->each; k++) {
        if (place->written) *ordered &= settled_by_warp(at, cells->write[k]);
        if (place->written_2) *ordered &= settled_by_warp(at, cells->write_2[k]);
        if (!*ordered || !note_lanes(at, place, k, head, last)) return false;
    }
    return true;
}

// The lanes of a run that need a closer look.
static inline uint32_t read_same(const Touch *at, const Place *place, uint32_t run) {
    bool ordered;
    uint32_t left = 0;
    if (!(run & (run - 1))) return read_lane(at, place, (uint32_t)__builtin_ctz(run)) ? 0 : run;
    if (read_run(at, place, run, &ordered)) return 0;
    if (ordered) return run;
    for (uint32_t r = run; r; r &= r - 1)
        left |= (uint32_t)!read_lane(at, place, (uint32_t)__builtin_ctz(r)) << __builtin_ctz(r);
    return left;
}

uint32_t scattered_read_few(const Touch *at, const Place *place, uint32_t heads) {
    uint32_t left = 0;
    for (uint32_t m = heads; m; m &= m - 1)
        left |= read_same(at, place, check_run(place->lanes, m));
    return left;
}

// A lane that stores there.
typedef struct {
    const Inst *inst;
    uint64_t address;
    uint32_t lane;
} Stored;

// Whether weak writes (0: none) that are not by the same instruction at the same time, and one of
// this lane leave the same in memory, as stores do of what is there already.
static inline bool same_stores(const Touch *at, const Stored *by, Record write, Record write_2) {
    const Site *sites = at->checker->check->sites;
    const Record writes[] = {write, write_2};
    for (int i = 0; i < 2; i++) {
        if (!writes[i]) continue;
        if (sites[record_site(writes[i])].kind != ACCESS_STORE) return false;
        if (touch_together(at, writes[i])) return false;
    }
    return address_unchanged(at->warp, by->inst, by->lane, memory_at(by->address));
}

// Whether the lane's store does not race with the last writes of a cell. *again: since it stores
// what is there already.
static inline bool write_behind(const Touch *at, const Place *place, const Stored *by, uint32_t k,
                                bool *again) {
    const Cells *cells = place->cells;
    const Record mine = record_of(at, by->lane), last = cells->write[k];
    const Record other = place->written_2 && last >= at->launch ? cells->write_2[k] : 0;
    const bool open = !touch_settled(at, last, mine), open_2 = !touch_settled(at, other, mine);
    if (!(open | open_2)) return true;
    *again = true;
    return same_stores(at, by, open ? last : 0, open_2 ? other : 0);
}

// Of stores of the same that nothing orders two are kept.
static inline void keep_equal(const Touch *at, const Place *place, uint32_t k, Record mine) {
    const Cells *cells = place->cells;
    const Record last = cells->write[k], other = cells->write_2[k];
    const bool open = !touch_settled(at, last, mine), open_2 = !touch_settled(at, other, mine);
    cells->write_2[k] = touch_second(at, open ? last : 0, open_2 ? other : 0);
}

// Whether the lane's store does not race with the last reads of a cell: there is no second one
// without a first.
static inline bool read_behind(const Touch *at, const Place *place, uint32_t k, Record mine) {
    const Record last = place->cells->read[k];
    if (last < at->launch) return true;
    return touch_settled(at, last, mine) &&
           (!place->read_2 || touch_settled(at, place->cells->read_2[k], mine));
}

// Cells that only this warp touches, or in which others have left the same: the latter only where
// no lane before this one waits for a closer look.
TOUCH_INLINE bool write_cells(const Touch *at, const Place *place, const Stored *by, uint32_t first,
                              bool in_turn) {
    const Cells *cells = place->cells;
    const uint32_t end = first + place->each;
    const Record mine = record_of(at, by->lane);
    bool again = false;
    for (uint32_t k = first; k < end; k++) {
        if (!quiet_group(at, place, k) || !write_behind(at, place, by, k, &again)) return false;
        if (again && (!in_turn || !place->written_2 || at->rest)) return false;
        if (place->read && !read_behind(at, place, k, mine)) return false;
    }
    for (uint32_t k = first; again && k < end; k++) keep_equal(at, place, k, mine);
    for (uint32_t k = first; k < end; k++) cells->write[k] = mine;
    return true;
}

static bool write_lane(const Touch *at, const Place *place, uint32_t lane, bool in_turn) {
    const Stored by = {at->access->inst, at->address[lane], lane};
    return write_cells(at, place, &by, cell_of(at, place, lane), in_turn);
}

// Whether touch_keep might have to keep the write of this record once it gives way.
static inline bool keeps_rest(const Touch *at, Record record, Record mine) {
    const Checker *checker = at->checker;
    if (!at->rest || touch_settled(at, record, mine)) return false;
    const bool foreign =
        touch_foreign(at, record) && shadow_block(record_time(record)) != checker->block;
    return at->rest != &checker->own_rest || !foreign;
}

// Whether others too only update a word, at the scope of the device; nobody reads it.
static inline bool only_updated(const Touch *at, const Place *place, uint32_t k, Record mine) {
    const Record old = place->cells->write[k], other = place->cells->write_2[k];
    if (keeps_rest(at, old, mine) || keeps_rest(at, other, mine)) return false;
    if (!quiet_group(at, place, k)) return false;
    if (!touch_settled(at, old, mine) && record_scope(old) != SCOPE_DEVICE) return false;
    if (!touch_settled(at, other, mine) && record_scope(other) != SCOPE_DEVICE) return false;
    return !touch_weak(at, old) || !touch_weak(at, other);
}

static inline bool update_lane(const Touch *at, const Place *place, uint32_t lane) {
    const Cells *cells = place->cells;
    const uint32_t first = cell_of(at, place, lane), end = first + place->each;
    const Record mine = record_of(at, lane);
    if (!place->more || place->read) return false;
    for (uint32_t k = first; k < end; k++)
        if (!only_updated(at, place, k, mine)) return false;
    for (uint32_t k = first; k < end; k++) {
        const Record old = cells->write[k], other = cells->write_2[k];
        const bool aside = !touch_weak(at, other) && !touch_stays(at, other, old);
        if (touch_weak(at, old) || aside) cells->write_2[k] = old;
        cells->write[k] = touch_beside(at, old, mine);
    }
    return true;
}

// Those of the lanes that need a closer look.
uint32_t scattered_write_few(const Touch *at, const Place *place, uint32_t lanes) {
    uint32_t left = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const bool done =
            at->strong ? update_lane(at, place, lane) : write_lane(at, place, lane, !left);
        left |= (uint32_t)!done << lane;
    }
    return left;
}

// Lanes in several regions, run by run of those that read the same.
uint32_t scattered_far(const Touch *at, uint32_t mask, uint32_t heads) {
    uint32_t left = 0;
    Place place = {.low = memory_base - REGION_BYTES};
    for (uint32_t m = heads; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), run = check_run(mask, m);
        if (at->address[lane] - place.low >= REGION_BYTES) place_at(at, at->address[lane], &place);
        if (!place.region) {
            left |= run;
            continue;
        }
        const uint32_t word = (uint32_t)(at->address[lane] - place.low) / 4;
        place_pages(at, &place, shadow_pages_between(word, word));
        if (at->reads)
            left |= read_same(at, &place, run);
        else if (!(at->strong ? update_lane(at, &place, lane)
                              : write_lane(at, &place, lane, !left)))
            left |= run;
    }
    return left;
}

void scattered_fetch(uint64_t launch, bool loads, uint32_t mask, const uint64_t address[LANES]) {
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t offset = address[__builtin_ctz(m)] - memory_base;
        const Region *region = shadow_regions[offset >> REGION_SHIFT];
        if (!region || region->direct != launch) continue;
        const bool split = region->split == launch, more = region->more == launch;
        const Cells *cells = split ? &region->bytes : &region->words;
        const uint32_t k = (uint32_t)(offset % REGION_BYTES) >> (split ? 0 : 2);
        const bool written = !loads || shadow_pages(region->written, launch);
        if (written && cells->write) __builtin_prefetch(cells->write + k, 1);
        if (written && more) __builtin_prefetch(cells->write_2 + k, 1);
        if (cells->read) __builtin_prefetch(cells->read + k, 1);
    }
}

// All of a place.
static uint32_t few_lanes_at(const Touch *at, Place *place, uint32_t pages) {
    uint32_t left = 0;
    place_pages(at, place, pages);
    if (at->writes) return scattered_write_few(at, place, place->lanes);
    for (uint32_t m = place->lanes; m; m &= m - 1)
        left |= read_lane(at, place, (uint32_t)__builtin_ctz(m)) ? 0 : m & (0 - m);
    return left;
}

// A few lanes, those of each region at a time.
uint32_t scattered_few(const Touch *at, uint32_t mask) {
    uint32_t left = 0;
    while (mask) {
        Place place = {0};
        place_at(at, at->address[__builtin_ctz(mask)], &place);
        uint32_t pages = 0;
        for (uint32_t m = mask; m; m &= m - 1) {
            const uint64_t offset = at->address[__builtin_ctz(m)] - place.low;
            if (offset >= REGION_BYTES) continue;
            const uint32_t word = (uint32_t)offset / 4;
            place.lanes |= m & (0 - m);
            pages |= shadow_pages_between(word, word + (at->size - 1) / 4);
        }
        mask &= ~place.lanes;
        left |= place.region ? few_lanes_at(at, &place, pages) : place.lanes;
    }
    return left;
}

// Its records are far: those that it will be held against are asked for all at once.
static inline void fetch_one(const Touch *at, const Place *place, uint32_t k) {
    const Cells *cells = place->cells;
    if (at->writes || place->written) __builtin_prefetch(cells->write + k, 1);
    if (at->reads || place->read) __builtin_prefetch(cells->read + k, 1);
    if (at->reads ? place->more : place->written_2)
        __builtin_prefetch((at->reads ? cells->read_2 : cells->write_2) + k, 1);
}

bool scattered_one(const One *one) {
    const uint32_t offset = (uint32_t)(one->address - memory_base) % REGION_BYTES;
    const uint32_t word = offset / 4, last = word + (one->size - 1) / 4;
    Place place = {.lanes = 1u << one->lane, .low = one->address - offset};
    Touch at;
    touch_one(&at, one);
    place_records(&at, one->region, &place);
    if (!place.region) return false;
    const uint32_t k = offset >> place.shift;
    if (!place_marked(&at, &place, shadow_pages_between(word, last))) return false;
    fetch_one(&at, &place, k);
    if (at.reads) return read_cells(&at, &place, one->lane, k);
    const Stored by = {one->inst, one->address, one->lane};
    return write_cells(&at, &place, &by, k, true);
}
