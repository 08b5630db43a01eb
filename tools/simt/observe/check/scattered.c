// Lanes at any addresses: what most of them do is seen at once, and noted. See touch.h.
#include "simt/observe/check/touch.h"

// Lanes whose accesses lie in one region, and what this launch did to it so far.
typedef struct {
    Region *region;     // NULL: some of the records that it needs are not there yet
    const Cells *cells; // of its words or bytes, `each` of them a lane's
    uint64_t low;       // where it begins
    uint32_t lanes, shift, each;
    bool written, read, more, grouped;
} Place;

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
    if (touch_known(at, old)) {
        cells->read[k] = record_of(at, last);
        return true;
    }
    if (!place->more) return false;
    if (!touch_stays(at, cells->read_2[k], old)) cells->read_2[k] = old;
    cells->read[k] = record_of(at, first);
    return true;
}

static inline bool read_lane(const Touch *at, const Place *place, uint32_t lane) {
    const Cells *cells = place->cells;
    const uint32_t first = cell_of(at, place, lane);
    const Record mine = record_of(at, lane);
    for (uint32_t k = first; k < first + place->each; k++) {
        if (place->written && !touch_settled(at, cells->write[k], mine)) return false;
        if (place->more && !touch_settled(at, cells->write_2[k], mine)) return false;
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
        if (place->more) *ordered &= settled_by_warp(at, cells->write_2[k]);
        if (!*ordered || !note_lanes(at, place, k, head, last)) return false;
    }
    return true;
}

// The lanes whose accesses lie right behind those of the lanes before.
static uint32_t behind(const Touch *at, uint32_t lanes) {
    uint32_t on = 0;
    if (warp_is_sparse(lanes)) return 0;
    for (uint32_t l = 1; l < LANES; l++)
        on |= (uint32_t)(at->address[l] == at->address[l - 1] + at->size) << l;
    return on & lanes & lanes << 1;
}

// Notes accesses of lanes one behind the other, at least SPAN of them; returns them. 0: others.
enum { SPAN = 4 };
static inline uint32_t note_span(const Touch *at, const Place *place, uint32_t on, uint32_t first) {
    const uint32_t end = ~(on >> first >> 1), lanes = 1 + (uint32_t)__builtin_ctz(end);
    if (lanes < SPAN || !whole_span(at, place->region, first, lanes)) return 0;
    return (lanes == LANES ? ALL_LANES : (1u << lanes) - 1) << first;
}

// All lanes read a word each, none of which this launch wrote: in loops without branches. False:
// they need a closer look.
static bool gather(const Touch *at, const Place *place) {
    const Touch local = *at;
    Record *const read = place->cells->read, *const read_2 = place->cells->read_2;
    uint32_t cell[LANES];
    Record old[LANES], other[LANES], scopes = 0;
    uint64_t strange = 0;
    LANE_LOOP cell[l] = (uint32_t)(local.address[l] - place->low) >> place->shift;
    LANE_LOOP old[l] = read[cell[l]];
    LANE_LOOP scopes |= old[l];
    LANE_LOOP strange += !touch_known(&local, old[l]);
    if (record_scope(scopes) || (strange && !place->more)) return false;
    for (int l = 0; place->grouped && l < LANES; l++)
        if (!unwritten_group(&local, place, cell[l])) return false;
    if (strange) {
        LANE_LOOP other[l] = read_2[cell[l]];
        LANE_LOOP {
            const uint64_t stays = touch_stays(&local, other[l], old[l]);
            other[l] = stays ? other[l] : old[l];
        }
        for (int l = 0; l < LANES; l++) read_2[cell[l]] = other[l];
    }
    for (uint32_t l = 0; l < LANES; l++) read[cell[l]] = record_of(&local, l);
    return true;
}

static uint32_t read_lanes(const Touch *at, const Place *place) {
    const uint32_t first = (uint32_t)__builtin_ctz(place->lanes);
    if (place->lanes == 1u << first) return (uint32_t)!read_lane(at, place, first) << first;
    const uint32_t on = behind(at, place->lanes), heads = check_heads(at->address, place->lanes);
    uint32_t left = 0, spans = 0;
    if (heads == ALL_LANES && !place->written && place->each == 1 && gather(at, place)) return 0;
    for (uint32_t m = heads; m;) {
        const uint32_t head = m & (0 - m), rest = m & (m - 1);
        if ((on & head << 1) && !(on & head))
            spans = note_span(at, place, on, (uint32_t)__builtin_ctz(m));
        if (spans & head) {
            m &= ~spans;
            continue;
        }
        const uint32_t before_next = rest ? (rest & (0 - rest)) - 1 : ALL_LANES;
        const uint32_t run = place->lanes & before_next & ~(head - 1);
        bool ordered;
        m = rest;
        if (read_run(at, place, run, &ordered)) continue;
        if (ordered) left |= run;
        for (uint32_t r = ordered ? 0 : run; r; r &= r - 1)
            left |= (uint32_t)!read_lane(at, place, (uint32_t)__builtin_ctz(r)) << __builtin_ctz(r);
    }
    return left;
}

// Cells that only this warp touches.
static inline bool write_lane(const Touch *at, const Place *place, uint32_t lane) {
    const Cells *cells = place->cells;
    const uint32_t first = cell_of(at, place, lane), end = first + place->each;
    const Record mine = record_of(at, lane);
    for (uint32_t k = first; k < end; k++) {
        if (!quiet_group(at, place, k) || !touch_settled(at, cells->write[k], mine)) return false;
        if (place->more && !touch_settled(at, cells->write_2[k], mine)) return false;
        if (place->more && !touch_settled(at, cells->read_2[k], mine)) return false;
        if (place->read && !touch_settled(at, cells->read[k], mine)) return false;
    }
    for (uint32_t k = first; k < end; k++) cells->write[k] = mine;
    return true;
}

// A word that others too only update, at the scope of the device; nobody reads it.
static inline bool update_lane(const Touch *at, const Place *place, uint32_t lane) {
    const Cells *cells = place->cells;
    const uint32_t k = cell_of(at, place, lane);
    const Record mine = record_of(at, lane);
    if (!place->more || place->read || place->each > 1 || !quiet_group(at, place, k)) return false;
    const Record old = cells->write[k], other = cells->write_2[k];
    if (!touch_settled(at, old, mine) && record_scope(old) != SCOPE_DEVICE) return false;
    if (!touch_settled(at, other, mine) && record_scope(other) != SCOPE_DEVICE) return false;
    const bool weak = touch_weak(at, old), kept = touch_weak(at, other);
    if (weak && kept) return false;
    if (weak || (!kept && !touch_stays(at, other, old))) cells->write_2[k] = old;
    cells->write[k] = mine;
    return true;
}

static uint32_t write_lanes(const Touch *at, const Place *place) {
    const uint32_t on = at->strong ? 0 : behind(at, place->lanes);
    uint32_t left = 0;
    for (uint32_t m = place->lanes; m;) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint32_t span = on >> lane >> 1 & 1 ? note_span(at, place, on, lane) : 0;
        m &= span ? ~span : m - 1;
        if (span) continue;
        const bool quick = at->strong ? update_lane(at, place, lane) : write_lane(at, place, lane);
        left |= (uint32_t)!quick << lane;
    }
    return left;
}

// What the records of the lanes' region are, if all that are needed are there.
static void find_records(const Touch *at, Region *region, Place *place) {
    const uint64_t launch = at->checker->check->launch;
    const bool split = region->split == launch;
    const Cells *cells = split ? &region->bytes : &region->words;
    place->cells = cells;
    place->shift = split ? 0 : 2;
    place->each = at->size >> place->shift;
    place->written = region->written == launch;
    place->read = region->read == launch;
    place->more = region->more == launch;
    place->grouped = region->grouped == launch && !split;
    const bool ready = place->each && (!place->written || cells->write) &&
                       (!place->read || cells->read) && (!place->more || cells->read_2) &&
                       (at->reads ? place->read : place->written);
    if (ready) place->region = region;
}

// The lanes of `mask` whose words lie in the same region as those of the first.
static Place place_of(const Touch *at, uint32_t mask) {
    const uint64_t offset = at->address[__builtin_ctz(mask)] - memory_base;
    const uint64_t low = memory_base + offset / REGION_BYTES * REGION_BYTES;
    uint64_t outside = mask == ALL_LANES ? 0 : REGION_BYTES;
    if (!outside) LANE_LOOP outside |= at->address[l] - low;
    uint32_t lanes = mask;
    for (uint32_t m = outside < REGION_BYTES ? 0 : mask; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        lanes &= ~((uint32_t)(at->address[lane] - low >= REGION_BYTES) << lane);
    }
    Region *region = shadow_regions[offset >> REGION_SHIFT];
    Place place = {.low = low, .lanes = lanes};
    if (region) find_records(at, region, &place);
    return place;
}

// Weak accesses, or updates. The lanes that need a closer look.
uint32_t scattered_quick(const Touch *at, uint32_t mask) {
    const Touch local = *at;
    uint32_t left = 0;
    while (mask) {
        const Place place = place_of(&local, mask);
        mask &= ~place.lanes;
        if (!place.region)
            left |= place.lanes;
        else
            left |= local.reads ? read_lanes(&local, &place) : write_lanes(&local, &place);
    }
    return left;
}
