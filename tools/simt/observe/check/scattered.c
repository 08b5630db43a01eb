// Lanes at any addresses: what most of them do is seen at once, and noted. See touch.h.
//
// Few of them one by one, in scattered_few.c; many in loops over all lanes, without branches, of
// which compilers make vectors. A lane that is off does in them what the first one does, once more.
#include "simt/observe/check/scattered.h"

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

// No other read of the cells need be noted; or nobody but the lanes themselves has read them in
// this launch; or this warp's reads stand for those that did; or some have that they do not stand
// for; or some cell has a strong read.
typedef enum { NOTED_OVER, NOTED_ALONE, NOTED_BEFORE, NOTED_BY_OTHERS, NOTED_STRONG } Noted;

// Whether all are weak reads by the same lanes.
static inline bool all_alone(const Touch *at, const Lanes *of, const Record old[LANES]) {
    const Record times = at->times, limit = at->span;
    uint64_t strange = 0;
    LANE_LOOP strange |= (old[l] ^ of->mine[l]) & (RECORD_LANE_MASK | 3);
    LANE_LOOP strange |= (uint64_t)(old[l] - times >= limit);
    return !strange;
}

static inline bool all_over(const Touch *at, const Record old[LANES]) {
    const Touch local = *at;
    uint64_t open = 0;
    LANE_LOOP open |= !touch_over(&local, old[l]);
    return !open;
}

static inline Noted noted(const Touch *at, const Lanes *of, const Record old[LANES]) {
    const Touch local = *at;
    Record scopes = 0, latest = 0;
    uint64_t strange = 0;
    if (local.over && all_over(at, old)) return NOTED_OVER;
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
    if (before == NOTED_OVER) return true;
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
    if (__builtin_popcount(heads) <= TOUCH_FEW) return scattered_read_few(at, place, heads);
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
    if (__builtin_popcount(place->lanes) <= TOUCH_FEW || place->each > 4)
        return scattered_write_few(at, place, place->lanes);
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
    if (!rest.lanes) return scattered_write_few(at, place, left);
    if (left) lanes_of(at, &rest, &of);
    if (!set_writes(cells->write, &of, place->each)) return place->lanes;
    return scattered_write_few(at, place, left);
}

// Lanes that all lie in one region.
static uint32_t touch_near(const Touch *at, uint32_t mask) {
    Place place = {.lanes = mask};
    place_at(at, at->address[__builtin_ctz(mask)], &place);
    if (!place.region) return mask;
    place_pages(at, &place, touch_pages(at, place.low));
    if (at->reads) return read_lanes(at, &place);
    return at->strong ? scattered_write_few(at, &place, mask) : write_lanes(at, &place);
}

// Weak accesses, or updates. The lanes that need a closer look. Where few lie in a region, all are
// done one by one.
uint32_t scattered_quick(const Touch *at, uint32_t mask) {
    uint32_t left = 0;
    while (mask) {
        const uint32_t lanes = touch_same_region(at, mask);
        if (lanes != mask && __builtin_popcount(lanes) <= TOUCH_FEW)
            return left | scattered_far(at, mask, at->reads ? check_heads(at->shape, mask) : mask);
        left |= touch_near(at, lanes);
        mask &= ~lanes;
    }
    return left;
}
