// Lanes at any addresses: what most of them do is seen at once, and noted. See touch.h.
//
// Few of them one by one; many in loops over all lanes, without branches, of which compilers make
// vectors. A lane that is off does in them what the first one does, once more.
#include "simt/observe/check/touch.h"

// Lanes whose accesses lie in one region, and what this launch did to it so far.
typedef struct {
    Region *region;     // NULL: some of the records that it needs are not there yet
    const Cells *cells; // of its words or bytes, `each` of them a lane's
    uint64_t low;       // where it begins
    uint32_t lanes, shift, each;
    uint32_t written_pages, read_pages; // of the region: where the launch writes, and reads
    bool written, read, more, grouped;  // the first two where the lanes are
    bool written_2, read_2;             // there may be a second write, or read
} Place;

// --- few lanes, one by one ---

enum { FEW = 8 };

static inline uint32_t cell_of(const Touch *at, const Place *place, uint32_t lane) {
    return (uint32_t)(at->address[lane] - place->low) >> place->shift;
}

static inline Record record_of(const Touch *at, uint32_t lane) {
    return at->base + ((Record)lane << RECORD_THREAD);
}

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

static inline bool read_lane(const Touch *at, const Place *place, uint32_t lane) {
    const Cells *cells = place->cells;
    const uint32_t first = cell_of(at, place, lane);
    const Record mine = record_of(at, lane);
    for (uint32_t k = first; k < first + place->each; k++) {
        if (read_fresh(at, place, k, mine)) continue;
        if (place->written && !touch_settled(at, cells->write[k], mine)) return false;
        if (place->written_2 && !touch_settled(at, cells->write_2[k], mine)) return false;
        if (!note_lanes(at, place, k, lane, lane)) return false;
    }
    return true;
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

static uint32_t read_few(const Touch *at, const Place *place, uint32_t heads) {
    uint32_t left = 0;
    for (uint32_t m = heads; m; m &= m - 1) {
        const uint32_t head = m & (0 - m), rest = m & (m - 1);
        const uint32_t before_next = rest ? (rest & (0 - rest)) - 1 : ALL_LANES;
        left |= read_same(at, place, place->lanes & before_next & ~(head - 1));
    }
    return left;
}

// Whether weak writes (0: none) that are not by the same instruction at the same time, and one of
// this lane leave the same in memory, as stores do of what is there already.
static inline bool same_stores(const Touch *at, Record write, Record write_2, uint32_t lane) {
    const Site *sites = at->checker->check->sites;
    const Record writes[] = {write, write_2};
    for (int i = 0; i < 2; i++) {
        if (!writes[i]) continue;
        if (sites[record_site(writes[i])].kind != ACCESS_STORE) return false;
        if (touch_together(at, writes[i])) return false;
    }
    return address_unchanged(at->warp, at->access, lane, memory_at(at->address[lane]));
}

// Whether the lane's store does not race with the last writes of a cell. *again: since it stores
// what is there already.
static inline bool write_behind(const Touch *at, const Place *place, uint32_t k, uint32_t lane,
                                bool *again) {
    const Cells *cells = place->cells;
    const Record mine = record_of(at, lane), last = cells->write[k];
    const Record other = place->written_2 && last >= at->launch ? cells->write_2[k] : 0;
    const bool open = !touch_settled(at, last, mine), open_2 = !touch_settled(at, other, mine);
    if (!(open | open_2)) return true;
    *again = true;
    return same_stores(at, open ? last : 0, open_2 ? other : 0, lane);
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
static inline bool write_lane(const Touch *at, const Place *place, uint32_t lane, bool in_turn) {
    const Cells *cells = place->cells;
    const uint32_t first = cell_of(at, place, lane), end = first + place->each;
    const Record mine = record_of(at, lane);
    bool again = false;
    for (uint32_t k = first; k < end; k++) {
        if (!quiet_group(at, place, k) || !write_behind(at, place, k, lane, &again)) return false;
        if (again && (!in_turn || !place->written_2 || at->rest)) return false;
        if (place->read && !read_behind(at, place, k, mine)) return false;
    }
    for (uint32_t k = first; again && k < end; k++) keep_equal(at, place, k, mine);
    for (uint32_t k = first; k < end; k++) cells->write[k] = mine;
    return true;
}

// Whether others too only update a word, at the scope of the device; nobody reads it.
static inline bool only_updated(const Touch *at, const Place *place, uint32_t k, Record mine) {
    const Record old = place->cells->write[k], other = place->cells->write_2[k];
    if (at->rest && !(touch_settled(at, old, mine) && touch_settled(at, other, mine))) return false;
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
static uint32_t write_few(const Touch *at, const Place *place, uint32_t lanes) {
    uint32_t left = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const bool done =
            at->strong ? update_lane(at, place, lane) : write_lane(at, place, lane, !left);
        left |= (uint32_t)!done << lane;
    }
    return left;
}

// --- many lanes ---

// What each lane touches, and the record of that.
typedef struct {
    uint32_t cell[LANES]; // the first of them
    Record mine[LANES];
    bool apart; // no two lanes touch the same; false: some may
} Lanes;

static inline void all_lanes_of(const Touch *at, const Place *place, Lanes *of) {
    const uint64_t low = place->low;
    const uint32_t shift = place->shift;
    const Record base = at->base;
    LANE_LOOP of->cell[l] = (uint32_t)(at->address[l] - low) >> shift;
    LANE_LOOP of->mine[l] = base + ((Record)l << RECORD_THREAD);
    of->apart = at->shape->even && at->shape->stride;
}

static inline void lanes_of(const Touch *at, const Place *place, Lanes *of) {
    const uint32_t lanes = place->lanes, first = (uint32_t)__builtin_ctz(lanes);
    const uint64_t low = place->low, first_address = at->address[first];
    const uint32_t shift = place->shift;
    const Record base = at->base;
    if (lanes == ALL_LANES) {
        all_lanes_of(at, place, of);
        return;
    }
    LANE_LOOP {
        const bool on = lanes >> l & 1;
        const uint64_t address = on ? at->address[l] : first_address;
        of->cell[l] = (uint32_t)(address - low) >> shift;
        of->mine[l] = base + ((Record)(on ? (uint32_t)l : first) << RECORD_THREAD);
    }
    of->apart = false;
}

static inline uint32_t bits_of(const uint64_t wrong[LANES]) {
    uint64_t any = 0;
    uint32_t bits = 0;
    LANE_LOOP any |= wrong[l];
    if (any) LANE_LOOP bits |= (uint32_t)(wrong[l] != 0) << l;
    return bits;
}

// Adds to `wrong` where it is not seen at once that the accesses of these records are ordered
// before those of the lanes.
static inline void add_open(const Touch *at, const Record *records, const Lanes *of, uint32_t k,
                            uint64_t wrong[LANES]) {
    const Touch local = *at;
    Record old[LANES], latest = 0;
    LANE_LOOP old[l] = records[of->cell[l] + k];
    LANE_LOOP latest = old[l] > latest ? old[l] : latest;
    if (latest < local.done) return;
    LANE_LOOP wrong[l] |= !touch_settled(&local, old[l], of->mine[l]);
}

// The same where whole warps' accesses to the cells' groups may matter: to a read their writes, if
// no barrier lies behind them; to a write all of this launch.
static inline void add_groups(const Touch *at, const Place *place, const Lanes *of, uint32_t k,
                              uint64_t wrong[LANES]) {
    const Touch local = *at;
    const GroupRecords *groups = place->region->groups;
    Record write[LANES], read[LANES];
    LANE_LOOP write[l] = groups[(of->cell[l] + k) / REGION_GROUP].write;
    if (at->reads) {
        LANE_LOOP wrong[l] |=
            (write[l] >= local.done) & !(touch_own(&local, write[l]) & (write[l] < local.floor));
        return;
    }
    LANE_LOOP read[l] = groups[(of->cell[l] + k) / REGION_GROUP].read;
    LANE_LOOP wrong[l] |= (write[l] >= local.launch) | (read[l] >= local.launch);
}

// Nobody but the lanes themselves has read the cells in this launch; or this warp's reads stand for
// those that did; or some have that they do not stand for; or some cell has a strong read.
typedef enum { NOTED_ALONE, NOTED_BEFORE, NOTED_BY_OTHERS, NOTED_STRONG } Noted;

// Whether all are weak reads by the same lanes.
static inline bool all_alone(const Touch *at, const Lanes *of, const Record old[LANES]) {
    const Record times = at->times, limit = at->span;
    uint64_t strange = 0;
    LANE_LOOP strange |= (old[l] ^ of->mine[l]) & (RECORD_LANE_MASK | 3);
    LANE_LOOP strange |= (uint64_t)(old[l] - times >= limit);
    return !strange;
}

static inline Noted noted(const Touch *at, const Lanes *of, const Record old[LANES]) {
    const Touch local = *at;
    Record scopes = 0, latest = 0;
    uint64_t strange = 0;
    LANE_LOOP latest = old[l] > latest ? old[l] : latest;
    if (latest < local.launch || all_alone(at, of, old)) return NOTED_ALONE;
    LANE_LOOP scopes |= old[l];
    LANE_LOOP strange += !touch_known(&local, old[l]);
    return record_scope(scopes) ? NOTED_STRONG : strange ? NOTED_BY_OTHERS : NOTED_BEFORE;
}

static inline void put_aside(const Touch *at, Record *read_2, const Lanes *of, uint32_t k,
                             const Record old[LANES]) {
    const Touch local = *at;
    Record other[LANES];
    LANE_LOOP other[l] = read_2[of->cell[l] + k];
    LANE_LOOP other[l] = touch_stays(&local, other[l], old[l]) ? other[l] : old[l];
    for (int l = 0; l < LANES; l++) read_2[of->cell[l] + k] = other[l];
}

// Whether a lane's record gave way to that of another lane of this access. It may also have given
// way to one of another block, which runs at the same time.
static inline bool lost_to_lane(Record record, Record mine) {
    const Record lanes = RECORD_LANE_MASK & ~RECORD_WARP_MASK;
    return record != mine && !((record ^ mine) & ~lanes);
}

// Sets the last read of the lanes' k-th cells to these.
static inline void put_reads(Record *read, const Lanes *of, uint32_t k, const Record mine[LANES]) {
    uint64_t twice = 0;
    for (int l = 0; l < LANES; l++) read[of->cell[l] + k] = mine[l];
    if (of->apart) return;
    LANE_LOOP twice |= read[of->cell[l] + k] ^ mine[l];
    for (int l = 0; twice && l < LANES; l++) {
        const Record now = read[of->cell[l] + k];
        if (lost_to_lane(now, mine[l])) read[of->cell[l] + k] = now | RECORD_OF_MANY;
    }
}

// The same where `old` were in this launch.
static inline void set_reads(const Touch *at, Record *read, const Lanes *of, uint32_t k,
                             const Record old[LANES]) {
    const Touch local = *at;
    Record mine[LANES];
    LANE_LOOP mine[l] = touch_beside(&local, old[l], of->mine[l]);
    put_reads(read, of, k, mine);
}

// Notes the lanes' k-th cells. False: they need a closer look.
static inline bool note_reads(const Touch *at, const Place *place, const Lanes *of, uint32_t k) {
    Record *const read = place->cells->read;
    Record old[LANES];
    LANE_LOOP old[l] = read[of->cell[l] + k];
    const Noted before = noted(at, of, old);
    if (at->rest && (before != NOTED_ALONE || !of->apart)) return false;
    if (before == NOTED_STRONG || (before == NOTED_BY_OTHERS && !place->more)) return false;
    if (before == NOTED_ALONE) {
        put_reads(read, of, k, of->mine);
        return true;
    }
    if (before == NOTED_BY_OTHERS) put_aside(at, place->cells->read_2, of, k, old);
    set_reads(at, read, of, k, old);
    return true;
}

// Where what others wrote matters.
static inline uint32_t open_reads(const Touch *at, const Place *place, const Lanes *of) {
    const Cells *cells = place->cells;
    uint64_t wrong[LANES] = {0};
    if (!place->written && !place->grouped) return 0;
    for (uint32_t k = 0; k < place->each; k++) {
        if (place->written) add_open(at, cells->write, of, k, wrong);
        if (place->written_2) add_open(at, cells->write_2, of, k, wrong);
        if (place->grouped) add_groups(at, place, of, k, wrong);
    }
    return bits_of(wrong) & place->lanes;
}

static uint32_t read_lanes(const Touch *at, const Place *place) {
    const uint32_t heads = check_heads(at->shape, place->lanes);
    if (__builtin_popcount(heads) <= FEW) return read_few(at, place, heads);
    Place rest = *place;
    Lanes of;
    lanes_of(at, &rest, &of);
    const uint32_t left = open_reads(at, &rest, &of);
    rest.lanes &= ~left;
    if (!rest.lanes) return left;
    if (left) lanes_of(at, &rest, &of);
    for (uint32_t k = 0; k < place->each; k++)
        if (!note_reads(at, &rest, &of, k)) return place->lanes;
    return left;
}

// Sets the last write of the lanes' cells. False: two lanes write to one, and all is as before.
static inline bool set_writes(Record *write, const Lanes *of, uint32_t each) {
    Record old[4][LANES];
    uint64_t twice = 0;
    for (uint32_t k = 0; k < each; k++) LANE_LOOP old[k][l] = write[of->cell[l] + k];
    for (uint32_t k = 0; k < each; k++)
        for (int l = 0; l < LANES; l++) write[of->cell[l] + k] = of->mine[l];
    for (uint32_t k = 0; k < each; k++) LANE_LOOP twice |= write[of->cell[l] + k] ^ of->mine[l];
    if (!twice) return true;
    for (uint32_t k = 0; k < each; k++)
        for (int l = 0; l < LANES; l++) write[of->cell[l] + k] = old[k][l];
    return false;
}

static uint32_t write_lanes(const Touch *at, const Place *place) {
    const Cells *cells = place->cells;
    Place rest = *place;
    Lanes of;
    uint64_t wrong[LANES] = {0};
    if (__builtin_popcount(place->lanes) <= FEW || place->each > 4)
        return write_few(at, place, place->lanes);
    if (at->shape->same & place->lanes & place->lanes >> 1) return place->lanes; // two to one cell
    lanes_of(at, &rest, &of);
    for (uint32_t k = 0; k < place->each; k++) {
        add_open(at, cells->write, &of, k, wrong);
        if (place->read) add_open(at, cells->read, &of, k, wrong);
        if (place->written_2) add_open(at, cells->write_2, &of, k, wrong);
        if (place->read_2) add_open(at, cells->read_2, &of, k, wrong);
        if (place->grouped) add_groups(at, place, &of, k, wrong);
    }
    const uint32_t left = bits_of(wrong) & place->lanes;
    rest.lanes &= ~left;
    if (!rest.lanes) return write_few(at, place, left);
    if (left) lanes_of(at, &rest, &of);
    if (!set_writes(cells->write, &of, place->each)) return place->lanes;
    return write_few(at, place, left);
}

// What the records of a region are, if all that are needed are there.
static void find_records(const Touch *at, Region *region, Place *place) {
    const uint64_t launch = at->checker->check->launch;
    const bool split = region->split == launch;
    const Cells *cells = split ? &region->bytes : &region->words;
    place->cells = cells;
    place->shift = split ? 0 : 2;
    place->each = at->size >> place->shift;
    place->written_pages = shadow_pages(region->written, launch);
    place->read_pages = shadow_pages(region->read, launch);
    place->more = region->more == launch;
    place->grouped = region->grouped == launch && !split;
    const bool ready = place->each && (!place->written_pages || cells->write) &&
                       (!place->read_pages || cells->read) && (!place->more || cells->read_2) &&
                       (at->reads ? place->read_pages : place->written_pages);
    if (ready) place->region = region;
}

// The lanes are at these pages.
static void look_at_pages(const Touch *at, Place *place, uint32_t pages) {
    place->written = place->written_pages & pages;
    place->read = place->read_pages & pages;
    place->written_2 = place->more && place->written;
    place->read_2 = place->more && place->read;
    if (pages & ~(at->reads ? place->read_pages : place->written_pages))
        region_mark(at, place->region, pages);
}

// The region of an address, without lanes.
static void place_at(const Touch *at, uint64_t address, Place *place) {
    const uint64_t offset = address - memory_base;
    Region *region = shadow_regions[offset >> REGION_SHIFT];
    place->low = memory_base + offset / REGION_BYTES * REGION_BYTES;
    place->region = NULL;
    if (!region) return;
    backlog_done(at, region);
    find_records(at, region, place);
}

// Lanes that all lie in one region.
static uint32_t touch_near(const Touch *at, uint32_t mask) {
    Place place = {.lanes = mask};
    place_at(at, at->address[__builtin_ctz(mask)], &place);
    if (!place.region) return mask;
    look_at_pages(at, &place, touch_pages(at, place.low));
    if (at->reads) return read_lanes(at, &place);
    return at->strong ? write_few(at, &place, mask) : write_lanes(at, &place);
}

// Lanes in several regions, run by run of those that read the same.
static uint32_t touch_far(const Touch *at, uint32_t mask, uint32_t heads) {
    uint32_t left = 0;
    Place place = {.low = memory_base - REGION_BYTES};
    for (uint32_t m = heads; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), rest = m & (m - 1);
        const uint32_t before_next = rest ? (rest & (0 - rest)) - 1 : ALL_LANES;
        const uint32_t run = mask & before_next & ~((1u << lane) - 1);
        if (at->address[lane] - place.low >= REGION_BYTES) place_at(at, at->address[lane], &place);
        if (!place.region) {
            left |= run;
            continue;
        }
        const uint32_t word = (uint32_t)(at->address[lane] - place.low) / 4;
        look_at_pages(at, &place, shadow_pages_between(word, word));
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

uint32_t scattered_few(const Touch *at, uint32_t mask) { return touch_far(at, mask, mask); }

// Weak accesses, or updates. The lanes that need a closer look. Where few lie in a region, all are
// done one by one.
uint32_t scattered_quick(const Touch *at, uint32_t mask) {
    uint32_t left = 0;
    while (mask) {
        const uint32_t lanes = touch_same_region(at, mask);
        if (lanes != mask && __builtin_popcount(lanes) <= FEW)
            return left | touch_far(at, mask, at->reads ? check_heads(at->shape, mask) : mask);
        left |= touch_near(at, lanes);
        mask &= ~lanes;
    }
    return left;
}
