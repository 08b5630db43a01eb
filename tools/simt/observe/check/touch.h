// Races in global memory from the inside: one access of a warp while it is held against the records
// of earlier ones. global_race.c says what a race is.
#ifndef CHECK_TOUCH_H
#define CHECK_TOUCH_H

#include "simt/observe/check/inside.h"

enum { TOUCH_FEW = 12 }; // so many lanes that lie apart are looked at one by one

#define TOUCH_INLINE static inline __attribute__((always_inline))

typedef struct {
    Checker *checker;
    Warp *warp;
    const Access *access;
    const uint64_t *address;
    const Shape *shape; // how the lanes of this mask lie
    uint32_t mask;
    Record base;        // of the warp's first lane
    Record mine;        // of the lane at hand
    Record launch;      // earlier records are of earlier launches
    Record done;        // earlier ones are not looked at: as launch, or all
    Record floor;       // the block's own earlier ones are ordered by a barrier,
    Record warp_floor;  // the warp's own earlier ones by bar.warp.sync
    Record times, span; // where the block's own latest times are
    Record over;        // from `launch` on, those of so many are of blocks that have ended
    uint32_t lane, size;
    bool reads, writes, strong;
    bool parted;     // not all of the warp's lanes met at every bar.warp.sync
    RestTable *rest; // where some threads are ordered and others not, see Code; else NULL
} Touch;

// A weak access of a single lane.
typedef struct {
    Checker *checker;
    Warp *warp;
    const Inst *inst;
    Region *region;
    uint64_t address;
    uint32_t site, lane, size;
} One;

// --- touch.c: which accesses are ordered, and which are races ---

// What does not depend on the lanes' addresses, of a load or not, at a site. In place: who copies
// what was just written waits for it.
TOUCH_INLINE void touch_begin(Touch *at, Checker *checker, Warp *warp, uint32_t site, bool loads,
                              Scope scope) {
    at->checker = checker;
    at->warp = warp;
    at->base = record_make(checker->now, site, warp->index * (uint32_t)LANES, scope);
    at->launch = checker->check->launch << RECORD_TIME;
    at->done = check_saturated(checker, at->base) ? ~(Record)0 : at->launch;
    at->floor = checker->block_floor << RECORD_TIME;
    at->warp_floor = checker->warp_floor[warp->index] << RECORD_TIME;
    at->times = checker->times << RECORD_TIME;
    at->span = (checker->times_end - checker->times) << RECORD_TIME;
    at->over = checker->check->in_turn ? (checker->block_start << RECORD_TIME) - at->launch : 0;
    at->reads = loads;
    at->writes = !loads;
    at->strong = scope != SCOPE_NONE;
    at->parted = checker->parted >> warp->index & 1;
    at->rest = checker->check->partial ? checker->far_rest : NULL;
}

// Of a single lane, without at->access and at->address.
TOUCH_INLINE void touch_one(Touch *at, const One *one) {
    touch_begin(at, one->checker, one->warp, one->site, one->inst->access == ACCESS_LOAD,
                SCOPE_NONE);
    at->access = NULL;
    at->address = NULL;
    at->size = one->size;
}

// Of an access.
static inline void touch_set(Touch *at, Checker *checker, Warp *warp, const Access *access,
                             uint32_t mask, const uint64_t address[LANES]) {
    const Scope scope = access->order ? access->scope : SCOPE_NONE;
    touch_begin(at, checker, warp, check_site(checker, access), access->kind == ACCESS_LOAD, scope);
    at->access = access;
    at->mask = mask;
    at->address = address;
    at->size = address_bytes(access);
}

static inline bool touch_own(const Touch *at, Record record) {
    return record - at->times < at->span;
}

// Whether it is seen at once that the access of this record is ordered before one of the thread of
// `mine`.
static inline bool touch_settled(const Touch *at, Record record, Record mine) {
    const Record other = record ^ mine;
    const bool earlier = (record < at->floor) | !(other & RECORD_LANE_MASK) |
                         (!(other & RECORD_WARP_MASK) & (record < at->warp_floor));
    return (record < at->done) | (touch_own(at, record) & earlier);
}

// The same, or of the same warp: what it reads counts once.
static inline bool touch_known(const Touch *at, Record record) {
    return (record < at->launch) |
           (touch_own(at, record) &
            ((record < at->floor) | !((record ^ at->base) & RECORD_WARP_MASK)));
}

// The record of a read, or of a strong write, in the place of `old`. What a warp does counts once:
// where other lanes did the same, unordered, it is of many. Between lanes that met in parts only
// touch_ordered can tell.
static inline Record touch_beside(const Touch *at, Record old, Record mine) {
    const bool many = touch_known(at, old) & !touch_settled(at, old, mine) & !at->parted;
    return mine | (Record)many << RECORD_MANY;
}

// Of another block, as far as is seen at once.
static inline bool touch_foreign(const Touch *at, Record record) {
    return (record >= at->launch) & !touch_own(at, record);
}

// A weak access of this launch. Strong ones behind it do not stand for it: beside those of other
// threads they are no race, and it may be.
static inline bool touch_weak(const Touch *at, Record record) {
    return (record >= at->launch) & !record_scope(record);
}

// A read by a block that has ended: it is weak, and nothing orders it and a write that comes in
// this launch, so beside it no other read of the word need be noted.
static inline bool touch_over(const Touch *at, Record read) { return read - at->launch < at->over; }

// Whether `aside` stays where it is when another record takes the place of `old`: one of another
// thread is put aside, those of other blocks first. Without branches, for loops over lanes.
static inline uint64_t touch_stays(const Touch *at, Record aside, Record old) {
    return (uint64_t)touch_known(at, old) |
           ((uint64_t)touch_foreign(at, aside) & (uint64_t)!touch_foreign(at, old));
}

// How far off the thread of a record is: none is at all, of the warp, of the block, of another one.
static inline int touch_distance(const Touch *at, Record record) {
    if (record < at->launch) return 0;
    if (!touch_own(at, record)) return 3;
    return (record ^ at->base) & RECORD_WARP_MASK ? 2 : 1;
}

// Of two stores of the same that nothing orders before a third one, which takes the place of `old`,
// the one that is kept beside it: so, where two warps or blocks have stored, stores of two are.
static inline Record touch_second(const Touch *at, Record old, Record other) {
    return touch_distance(at, old) > touch_distance(at, other) ? old : other;
}

// Whether a record is of this very instruction: its value is not yet in memory.
static inline bool touch_together(const Touch *at, Record record) {
    const Record others = ~(RECORD_LANE_MASK & ~RECORD_WARP_MASK);
    return !((record ^ at->base) & others);
}

// Whether a barrier of the whole block, or more, lies behind what a group's record tells.
static inline bool touch_past(const Touch *at, Record group) {
    return group < at->done || (touch_own(at, group) && group < at->floor);
}

// Whether some of so many words, from an address on, have more accesses than their records tell.
static inline bool touch_rest(const Touch *at, uint64_t address, uint64_t words) {
    if (!at->rest || !rest_any(at->rest, address / 4, words, at->reads, at->strong)) return false;
    for (uint64_t k = 0; k < words; k++)
        if (rest_first(at->rest, address / 4 + k)) return true;
    return false;
}

// Of the lanes those that lie in the region of the first.
static inline uint32_t touch_same_region(const Touch *at, uint32_t mask) {
    const uint64_t first = at->address[__builtin_ctz(mask)] - memory_base;
    const uint64_t low = memory_base + first / REGION_BYTES * REGION_BYTES;
    uint32_t same = 0;
    if (at->shape->near) return mask;
    LANE_LOOP same |= (uint32_t)(at->address[l] - low < REGION_BYTES) << l;
    return same & mask;
}

// The pages of the region that begins there, from the access's lowest address to its highest one.
static inline uint32_t touch_pages(const Touch *at, uint64_t low) {
    const uint64_t high = at->shape->high + at->size - 1;
    const uint32_t first = at->shape->low > low ? (uint32_t)(at->shape->low - low) / 4 : 0;
    const uint32_t last = high - low < REGION_BYTES ? (uint32_t)(high - low) / 4 : REGION_WORDS - 1;
    return shadow_pages_between(first, last);
}

// The same as touch_settled, by all that is known of at->lane.
bool touch_ordered(const Touch *at, Record record);

// Whether every lane has acquired what the warp of this record did until then, in another block.
bool touch_acquired(const Touch *at, Record record);

// Keeps the access of a record that has no room, or gives way, to `count` bytes.
void touch_keep(const Touch *at, Record record, uint64_t address, uint32_t count, bool write);

// Holds at->lane's access of `count` bytes against what was kept so; strong writes that it has
// observed are in order.
void touch_against_rest(const Touch *at, uint64_t address, uint32_t count, bool observed);

// Holds at->lane's access of `count` bytes against an earlier one; `write`: which wrote. Whether
// nothing orders the two, and they are no race since both stored the same.
bool touch_against(const Touch *at, Record record, uint64_t address, uint32_t count, bool write);

// --- backlog.c: accesses that the records need not have yet ---

// Notes weak accesses to words by these lanes. The lanes that are left: those need records.
uint32_t backlog_add(const Touch *at, uint32_t mask);
// The same of a few, of which it need not be known how they lie.
uint32_t backlog_add_few(const Touch *at, uint32_t mask);
// The same of one. False: it needs records.
bool backlog_add_one(const One *one);
// The same of so many lanes one behind the other, of which the first accesses this word of the
// region; `base` is its record. False: they need records.
bool backlog_add_run(const Touch *at, Region *region, Record base, uint32_t word, uint32_t lanes);
void backlog_enter(const Touch *at, Region *region);
// Whole warps have records of a group from now on.
void backlog_group(const Touch *at, Region *region, uint32_t group);

// Before records of the region are looked at: they have all that this launch did there.
static inline void backlog_done(const Touch *at, Region *region) {
    const uint64_t launch = at->checker->check->launch;
    if (region->direct != launch) backlog_enter(at, region);
}

// --- region.c: what records a region has, and in which form; false: no memory ---

// The records that this access needs are there, of the words or of the bytes.
bool region_room(const Touch *at, Region *region, bool bytes);
// This launch notes a second access to some word of the region.
bool region_use_more(const Touch *at, Region *region);
// What whole warps left for groups of words becomes records of the words: those from `first` on.
bool region_expand(const Touch *at, Region *region, uint32_t first, uint32_t words);
// From now on this launch has a record for each byte of the region.
bool region_split(const Touch *at, Region *region);
// This launch reads or writes there.
void region_mark(const Touch *at, Region *region, uint32_t pages);

// --- words.c: lane by lane and word by word, every case ---

void words_touch(Touch *at, uint32_t mask);

// --- scattered.c: lanes anywhere, the frequent cases ---

// Of weak accesses, or of updates. The lanes that need a closer look.
uint32_t scattered_quick(const Touch *at, uint32_t mask);
// The same of a few, of which it need not be known how they lie; not of lanes that met in parts.
uint32_t scattered_few(const Touch *at, uint32_t mask);
// The same of one, where the region has no backlog any more. False: it needs a closer look.
bool scattered_one(const One *one);
// Asks for the records that an access of these lanes will be held against: most of them are far.
void scattered_fetch(uint64_t launch, bool loads, uint32_t mask, const uint64_t address[LANES]);

// --- whole.c: whole warps at consecutive addresses, and runs of lanes ---

// From this address on. False: look at every lane.
bool whole_touch(const Touch *at, uint64_t first);
// Lanes at any addresses, if they are few runs of lanes one behind the other. The lanes that need a
// closer look.
uint32_t whole_runs(const Touch *at, uint32_t mask);
// As whole_touch, of one lane, at->mine, that accesses all words of a group.
bool whole_group(const Touch *at, uint64_t address);

#endif
