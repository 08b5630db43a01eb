// Finds races, lane by lane. See race.h.
#include "simt/observe/race/race.h"

#include <string.h>

// --- what orders two accesses ---

// The block of an access.
static uint64_t block_of(const Race *at, Record record) {
    const bool near = at->owner && !at->cluster;
    return near || race_own(at, record) ? at->checker->block : shadow_block(record_time(record));
}

// Whether the access of a record happens before this one. eager: both are volatile, see order.c.
static bool ordered_as(const Race *at, Record record, bool read, bool eager) {
    if (race_before(at, record, at->mine)) return true;
    Checker *checker = at->checker;
    const uint64_t time = record_time(record);
    const uint32_t other = record_thread(record), thread = record_thread(at->mine);
    const bool copy = record_is_copy(record);
    if (copy && time == RECORD_COPY) return false;
    const uint64_t block = copy ? record_copy_block(record) : block_of(at, record);
    if (block == checker->block && (other == thread || time < checker->sync.block_floor ||
                                    !sync_unordered(checker, time, other, thread)))
        return true;
    return order_acquired(checker, thread, &(Event){block, time, other, read, eager});
}

static bool ordered(const Race *at, Record record, bool read) {
    return ordered_as(at, record, read, false);
}

// Whether the two accesses are morally strong (PTX ISA). All scopes include a block's shared
// memory.
static bool both_strong(const Race *at, Record record) {
    const uint32_t mine = record_scope(at->mine), other = record_scope(record);
    if (!mine || !other) return false;
    if (at->owner || (mine == SCOPE_DEVICE && other == SCOPE_DEVICE)) return true;
    const uint64_t block = block_of(at, record);
    if (block == at->checker->block) return true;
    return mine != SCOPE_CTA && other != SCOPE_CTA && cluster_same(at->checker, block);
}

static const Site *site_of(const Race *at, Record record) {
    return check_site_of(at->checker, record);
}

// Whether both are volatile accesses of two warps to a flag in shared memory, which is a word
// through which a fence has released something. A thread that polls a flag needs no more.
static bool is_flag(const Race *at, Record record, uint64_t address) {
    return at->owner && at->access->order & ORDER_VOLATILE &&
           site_of(at, record)->inst->order & ORDER_VOLATILE &&
           (record ^ at->mine) & RECORD_WARP_MASK &&
           order_released(&at->owner->order.words, address);
}

// --- stores of equal values ---

// Copies to `to` the bytes that a lane stores, or copies by cp.async, at an address. False: they
// are not known.
static bool stored_bytes(const Race *at, uint32_t lane, uint64_t address, uint32_t count,
                         uint8_t *to) {
    const uint32_t offset = (uint32_t)(address - at->address[lane]);
    if (at->copy) return address_copied(at->warp, at->access->inst, (int)lane, offset, count, to);
    return address_stored(at->warp, at->access, lane, offset, count, to);
}

// Whether both accesses are plain stores, or both are cp.async.
static bool alike(const Race *at, Record record) {
    const Inst *other = site_of(at, record)->inst;
    if (at->copy) return at->access->inst->access == ACCESS_COPY && other->access == ACCESS_COPY;
    return !record_is_copy(record) && (at->owner || site_of(at, record)->kind == ACCESS_STORE);
}

// Whether this lane stores the value that another thread has stored. The other thread may be a lane
// of the same instruction, whose value is not in memory yet.
static bool same_value(const Race *at, Record record, uint64_t address, uint32_t count) {
    uint8_t mine[4], theirs[4];
    if (at->kind != ACCESS_STORE || !alike(at, record)) return false;
    if (!stored_bytes(at, at->lane, address, count, mine)) return false;
    const uint32_t lane = record_thread(record) % LANES;
    const Record same = (record ^ (at->copy ? at->copy : at->mine)) >> RECORD_SITE;
    const bool together = !same && !((record ^ at->mine) & RECORD_WARP_MASK) &&
                          at->warp->exec >> lane & 1 && lane < at->lane &&
                          at->address[lane] <= address &&
                          address + count <= at->address[lane] + at->size;
    if (together)
        stored_bytes(at, lane, address, count, theirs);
    else
        memcpy(theirs, at->owner ? at->owner->shared + address : memory_at(address), count);
    return memcmp(mine, theirs, count) == 0;
}

// --- the rules ---

// Whether two strong accesses, which are no race, are still suspicious: one is a volatile store,
// the other is volatile or atomic, neither is a spin read (lower/spin_reads.c), and they are
// unordered. A lane may write what another lane of its warp has read before, as warp-synchronous
// code does. The reverse is found at the read.
static bool are_unordered(const Race *at, Record record, bool write) {
    const Site *other = site_of(at, record);
    const Inst *inst = at->access->inst;
    const bool mine = inst->order & ORDER_VOLATILE, theirs = other->inst->order & ORDER_VOLATILE;
    if (!(mine && at->kind == ACCESS_STORE) && !(theirs && other->kind == ACCESS_STORE))
        return false;
    if (!(mine || at->kind == ACCESS_ATOMIC) || !(theirs || other->kind == ACCESS_ATOMIC))
        return false;
    if (inst->use != DATA_READ || other->inst->use != DATA_READ) return false;
    const bool warp = race_own(at, record) && !((record ^ at->mine) & RECORD_WARP_MASK);
    return (write || !warp) && !ordered_as(at, record, !write, true);
}

static void against_volatile(const Race *at, Record record, uint64_t address, uint32_t count,
                             bool write) {
    if (check_saturated(at->checker, at->mine) || !are_unordered(at, record, write)) return;
    if (order_waited(&at->checker->check->words, address)) return;
    if (write && same_value(at, record, address, count)) return;
    finding_race(at->checker, KIND_VOLATILE, PTX_GLOBAL, at->mine, record, address);
}

// Checks the lane's access against an earlier one; `write`: the earlier one wrote. True: the two
// are unordered, but both stored the same value, so they are no race.
static bool against(const Race *at, Record record, uint64_t address, uint32_t count, bool write) {
    if (race_before(at, record, at->mine)) return false;
    if (both_strong(at, record)) {
        if (at->volatiles) against_volatile(at, record, address, count, write);
        return false;
    }
    if (ordered(at, record, !write)) return false;
    if (check_saturated(at->checker, at->mine) || is_flag(at, record, address)) return false;
    if (write && !record_scope(record) && same_value(at, record, address, count)) return true;
    finding_race(at->checker, KIND_RACE, at->owner ? PTX_SHARED : PTX_GLOBAL, at->mine, record,
                 address);
    return false;
}

// ld.global.nc must not read what the launch writes, even if the two are ordered: the compiler may
// move the read over the barrier. A thread may read its own element before it writes it.
static void check_constant(const Race *at, Record other, uint64_t address) {
    if (other < at->start || check_saturated(at->checker, at->mine) || !ordered(at, other, false))
        return;
    const bool own = record_thread(other) == record_thread(at->mine) &&
                     block_of(at, other) == at->checker->block;
    if (at->kind != ACCESS_LOAD && (own || !site_of(at, other)->constant)) return;
    finding_race(at->checker, KIND_CONSTANT, PTX_GLOBAL, at->mine, other, address);
}

// Whether a strong read has observed the last strong write to its word.
static bool observes(Record read) { return record_scope(read) && !(read & RECORD_IS_FOLLOWED); }

static uint32_t bits_of(uint64_t address, uint32_t count) {
    return ((1u << count) - 1) << address % 4;
}

static Record record_of(const Rest *rest, uint32_t lane) {
    return rest->first + ((Record)lane << RECORD_THREAD);
}

// Whether a strong access that happens before this one has observed all strong writes to the word:
// then they happen before this one as well (PTX ISA, "Causality Order"). An atomic operation whose
// old value is not used has observed nothing.
static bool observed(const Race *at, const Record old[SLOTS], uint64_t address) {
    const Record write = old[WRITE];
    if (!record_scope(write)) return false;
    if (write >= at->start && site_of(at, write)->uses_old && ordered(at, write, false))
        return true;
    if (at->strong) return false; // a volatile read and then a volatile write order nothing
    for (int slot = READ; slot < SLOTS; slot++)
        if (old[slot] >= at->start && observes(old[slot]) && ordered(at, old[slot], false))
            return true;
    for (Rest *rest = rest_first(at->rest, address / 4); rest; rest = rest_next(at->rest, rest))
        for (uint32_t m = !rest->writes && observes(rest->first) ? rest->lanes : 0; m; m &= m - 1)
            if (ordered(at, record_of(rest, (uint32_t)__builtin_ctz(m)), false)) return true;
    return false;
}

// Whether a later access that races with `old` also races with this one, so that the record of
// `old` is no longer needed. equal: both stored the same value and are unordered.
static bool supersedes(const Race *at, Record old, bool write, bool equal) {
    if (old < at->all_before) return true;
    if (at->kind == ACCESS_LOAD)
        return (at->strong ? record_scope(old) : !observes(old)) && ordered(at, old, true);
    if (!at->strong) return !equal; // it happens before this one, or they race
    return record_scope(old) &&
           ((write && site_of(at, at->mine)->uses_old) || ordered(at, old, !write));
}

// Checks the access against those of the word that do not fit into its records. A write replaces
// some of them.
static void against_rest(const Race *at, uint64_t address, uint32_t count, bool seen) {
    const uint32_t bytes = bits_of(address, count);
    const bool loads = at->kind == ACCESS_LOAD;
    for (Rest *rest = rest_first(at->rest, address / 4); rest; rest = rest_next(at->rest, rest)) {
        uint32_t kept = 0;
        if (!(rest->bytes & bytes) || (loads && !rest->writes)) continue;
        if (seen && rest->writes && record_scope(rest->first)) continue;
        for (uint32_t m = rest->lanes; m; m &= m - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(m);
            const Record record = record_of(rest, lane);
            const bool equal = against(at, record, address, count, rest->writes);
            if (loads || !supersedes(at, record, rest->writes, equal)) kept |= 1u << lane;
            if (!loads && at->strong && observes(rest->first)) rest->first |= RECORD_IS_FOLLOWED;
        }
        if (!(rest->bytes & ~bytes))
            rest_drop(at->rest, rest, ~kept);
        else if (!kept)
            rest->bytes &= (uint8_t)~bytes;
    }
}

// Saves an access that does not fit into the records of `count` bytes of a word. If blocks never
// wait for each other, a block saves only its own accesses: those of other blocks are unordered.
static void keep_in_rest(const Race *at, Record record, uint64_t address, uint32_t count,
                         bool writes) {
    if (record_is_copy(record) || at->rest->work > REST_WORK) return;
    if (!at->owner && !at->checker->machine->ordered && block_of(at, record) != at->checker->block)
        return;
    rest_add(at->rest, address / 4, bits_of(address, count), record, writes, at->all_before);
}

// When only one of two records can be saved, it is the one with the higher worth: first a copy for
// which no thread has waited, then an access of another block, then one of another warp.
static uint64_t worth(const Race *at, Record record) {
    if (record_is_copy(record)) return 4;
    if (race_own(at, record) || block_of(at, record) != at->checker->block)
        return race_distance(at, record, at->mine);
    return (record ^ at->mine) & RECORD_WARP_MASK ? 2 : 1;
}

// Records the access in place of one of the last two of its kind.
static void keep(const Race *at, Cells *cells, int slot, uint32_t k, const Record old[SLOTS],
                 const bool equal[2], uint64_t address, uint32_t count) {
    const Record first = old[slot], second = old[slot + 1], mine = at->copy ? at->copy : at->mine;
    Shadow *shadow = at->shadow;
    const uint64_t steps = at->checker->pool->steps;
    bool beside = !supersedes(at, first, slot == WRITE, equal[0]);
    if (beside && !supersedes(at, second, slot == WRITE, equal[1])) {
        const bool strong = record_scope(first), even = strong == (record_scope(second) != 0);
        beside = even ? worth(at, first) >= worth(at, second) : !strong;
        if (at->partial || !even || strong != at->strong)
            keep_in_rest(at, beside ? second : first, address, count, slot == WRITE);
    }
    at->rest->work += at->checker->pool->steps - steps;
    if (!shadow_ensure(shadow, cells, slot) ||
        (beside && !shadow_ensure(shadow, cells, slot + 1))) {
        at->checker->lost = true;
        return;
    }
    cells->at[slot][k] = mine;
    if (!beside) return;
    cells->at[slot + 1][k] = first;
    race_note_latest(shadow, slot + 1, first);
}

// A strong write follows the strong reads of its word, which have not observed it.
static void mark_reads_followed(const Cells *cells, uint32_t k, const Record old[SLOTS]) {
    for (int slot = READ; slot < SLOTS; slot++)
        if (observes(old[slot])) cells->at[slot][k] |= RECORD_IS_FOLLOWED;
}

// Checks the access to one word or byte against all records, and records it.
static void check_cell(const Race *at, Cells *cells, uint32_t k, uint64_t address, uint32_t count) {
    const bool loads = at->kind == ACCESS_LOAD;
    const bool others = rest_any(at->rest, address / 4, 1, loads, at->strong);
    bool equal[2] = {false, false};
    Record old[SLOTS];
    for (int slot = 0; slot < SLOTS; slot++) old[slot] = race_record(at, cells, slot, k);
    if (at->owner && old[WRITE] < at->start && at->kind != ACCESS_STORE)
        unwritten_read(at, (uint32_t)address);
    const bool seen = (!at->strong || at->volatiles) && observed(at, old, address);
    for (int i = 0; i < 2; i++)
        if (!seen || !record_scope(old[i])) equal[i] = against(at, old[i], address, count, true);
    if (at->constant && loads) check_constant(at, old[WRITE], address);
    for (int slot = READ; !loads && slot < SLOTS; slot++) {
        against(at, old[slot], address, count, false);
        if (at->constant) check_constant(at, old[slot], address);
    }
    if (others) against_rest(at, address, count, seen);
    if (!loads && at->strong) mark_reads_followed(cells, k, old);
    keep(at, cells, loads ? READ : WRITE, k, old, equal, address, count);
}

// --- a fast path for most accesses ---

// Records the access in place of the last one of its kind. That becomes the second one if its
// thread is at least as distant as the second one's. False: check_cell has to decide.
static inline __attribute__((always_inline)) bool quick_put(const Race *at, const Cells *cells,
                                                            int slot, uint32_t k, Record first) {
    if (!race_before(at, first, at->mine)) {
        const Record second = race_record(at, cells, slot + 1, k);
        if (at->partial || !cells->at[slot + 1]) return false;
        if (second >= at->all_before && !record_scope(second) == at->strong) return false;
        if (!at->exact && !(race_own(at, first) && race_own(at, second))) return false;
        if (record_is_copy(first) || record_is_copy(second)) return false;
        if (race_distance(at, first, at->mine) >= race_distance(at, second, at->mine)) {
            cells->at[slot + 1][k] = first;
            race_note_latest(at->shadow, slot + 1, first);
        }
    }
    cells->at[slot][k] = at->mine;
    return true;
}

static inline __attribute__((always_inline)) bool quick_load(const Race *at, const Cells *cells,
                                                             uint32_t k) {
    const Record write = race_record(at, cells, WRITE, k), mine = at->mine;
    if (!race_before(at, write, mine) || (at->owner && write < at->start)) return false;
    if (at->constant && write >= at->start) return false;
    if (!race_before(at, race_record(at, cells, WRITE_2, k), mine)) return false;
    const Record read = race_record(at, cells, READ, k);
    return cells->at[READ] && !record_scope(read) && quick_put(at, cells, READ, k, read);
}

static inline __attribute__((always_inline)) bool quick_store(const Race *at, const Cells *cells,
                                                              uint32_t k) {
    const Record mine = at->mine;
    uint64_t ordered = cells->at[WRITE] != NULL;
    for (int slot = 0; slot < SLOTS; slot++)
        ordered &= race_before(at, race_record(at, cells, slot, k), mine);
    if (!ordered || (at->constant && race_record(at, cells, READ, k) >= at->start)) return false;
    cells->at[WRITE][k] = mine;
    return true;
}

// For words that only atomic operations of one scope update, such as counters.
static bool quick_update(const Race *at, const Cells *cells, uint32_t k) {
    const Record write = race_record(at, cells, WRITE, k), mine = at->mine;
    const Record second = race_record(at, cells, WRITE_2, k);
    if (at->owner ? write < at->start : record_scope(mine) != SCOPE_DEVICE) return false;
    for (int slot = READ; slot < SLOTS; slot++) {
        const Record read = race_record(at, cells, slot, k);
        if (record_scope(read) || !race_before(at, read, mine)) return false;
    }
    if (!cells->at[WRITE] ||
        (write >= at->all_before && record_scope(write) != record_scope(mine)) ||
        (second >= at->all_before && record_scope(second) != record_scope(mine)))
        return false;
    return quick_put(at, cells, WRITE, k, write);
}

// --- lanes ---

static void touch(Race *at, Cells *cells, uint32_t k, uint64_t address, uint32_t count,
                  bool quick) {
    if (quick && (at->strong ? at->kind == ACCESS_ATOMIC && quick_update(at, cells, k)
                  : at->kind == ACCESS_LOAD ? quick_load(at, cells, k)
                                            : quick_store(at, cells, k)))
        return;
    check_cell(at, cells, k, address, count);
}

static bool find_region(Race *at, uint64_t address) {
    if (!at->owner) at->shadow = shadow_region(address);
    at->checker->lost |= !at->shadow;
    return at->shadow != NULL;
}

// Checks an access to part of a word, or to a word of which parts were accessed before.
static void touch_bytes(Race *at, uint64_t address, uint32_t count, bool quick) {
    const uint32_t offset = (uint32_t)(address - at->shadow->low);
    if (!shadow_split(at->shadow, offset / 4)) at->checker->lost = true;
    if (!shadow_is_split(at->shadow, offset / 4)) return;
    for (uint32_t k = 0; k < count; k++)
        touch(at, &at->shadow->bytes, offset + k, address + k, 1, quick);
}

static void touch_lane(Race *at, bool quick) {
    const uint64_t first = at->address[at->lane];
    if (!find_region(at, first)) return;
    Shadow *shadow = at->shadow;
    race_note_latest(shadow, at->kind == ACCESS_LOAD ? READ : WRITE,
                     at->copy ? at->copy : at->base);
    if (at->size < 4) {
        touch_bytes(at, first, at->size, quick);
        return;
    }
    for (uint64_t address = first; address < first + at->size; address += 4) {
        const uint32_t word = (uint32_t)(address - shadow->low) / 4;
        if (shadow_is_split(shadow, word) && !shadow_join(shadow, word, at->start, at->all_before))
            touch_bytes(at, address, 4, quick);
        else
            touch(at, &shadow->words, word, address, 4, quick);
    }
}

// Removes the lanes between the first and the last of consecutive lanes that access one address:
// whatever races with one of them also races with the first or the last. If one reads unwritten
// memory, all lanes stay.
static uint32_t without_middle(const Race *at, uint32_t mask) {
    uint32_t same = 0;
    for (uint32_t l = 0; l < LANES - 1; l++)
        same |= (uint32_t)(at->address[l + 1] == at->address[l]) << l;
    same &= mask & mask >> 1;
    same &= same << 1;
    for (uint32_t m = at->owner ? same : 0; m; m &= m - 1)
        if (shadow_record(at->shadow, WRITE, at->address[__builtin_ctz(m)]) < at->start)
            return mask;
    return mask & ~same;
}

static bool any_rest(const Race *at, uint32_t mask) {
    const RestTable *rest = at->rest;
    const bool loads = at->kind == ACCESS_LOAD;
    for (uint32_t m = rest->live ? mask : 0; m; m &= m - 1)
        if (rest_any(rest, at->address[__builtin_ctz(m)] / 4, at->size / 4 + 1, loads, at->strong))
            return true;
    return false;
}

// The lanes of a mask whose next lane accesses the next element.
static uint32_t followed(const Race *at, uint32_t mask) {
    uint32_t next = 0;
    for (uint32_t l = 0; l < LANES - 1; l++)
        next |= (uint32_t)(at->address[l + 1] == at->address[l] + at->size) << l;
    return next & mask & mask >> 1;
}

// The first lane of a mask, with the lanes that follow it in a range of consecutive elements.
static uint32_t range_from(uint32_t mask, uint32_t next) {
    const uint32_t first = mask & -mask, last = ~next & ~(first - 1);
    return ((last & -last) << 1) - first;
}

// Checks a range at once. False: nothing was done, and each lane has to be checked.
static bool touch_range(Race *at, uint32_t lanes) {
    enum { WORTH_A_RANGE = 4 };
    const uint32_t first = (uint32_t)__builtin_ctz(lanes), size = at->size;
    const uint32_t count = (uint32_t)__builtin_popcount(lanes);
    const uint32_t shift = size < 4 ? size / 2 : (uint32_t)__builtin_ctz(size / 4);
    return count >= WORTH_A_RANGE &&
           race_range(at, first, at->address[first], (uint64_t)count * size, shift);
}

// Checks ranges and single lanes, in the order of the lanes, since one lane may race with another.
void race_lanes(Race *at, uint32_t mask) {
    const bool quick = !at->copy && !any_rest(at, mask) && !(at->strong && at->volatiles);
    const bool simple = !at->partial && (at->kind == ACCESS_LOAD || at->strong);
    if (simple) mask = without_middle(at, mask);
    const bool weak = quick && !at->strong && at->kind != ACCESS_ATOMIC;
    const uint32_t next = weak ? followed(at, mask) : 0;
    while (mask) {
        const uint32_t range = next ? range_from(mask, next) : mask;
        mask &= ~range;
        for (uint32_t m = next && touch_range(at, range) ? 0 : range; m; m &= m - 1) {
            at->lane = (uint32_t)__builtin_ctz(m);
            at->mine = at->base + ((Record)at->lane << RECORD_THREAD);
            if (at->copy) at->copy = (at->copy & ~RECORD_LANE_MASK) | (at->mine & RECORD_LANE_MASK);
            touch_lane(at, quick);
        }
    }
}

static Record at_shift(uint64_t time) { return time << RECORD_TIME; }

void race_begin(Race *at, Checker *checker, Block *of, Warp *warp, const Access *access,
                uint32_t mask, const uint64_t address[LANES], uint64_t copy) {
    const uint32_t site = check_site(checker, access);
    // In shared memory volatile accesses count as weak, since users ask --check whether lanes that
    // use them are synchronized. An atomic operation without an order initializes an mbarrier,
    // which is a store for other threads.
    const uint8_t strong = of ? access->order & (uint8_t)~ORDER_VOLATILE : access->order;
    const Scope scope = !strong ? SCOPE_NONE : of ? SCOPE_CTA : access->scope;
    *at = (Race){
        .checker = checker,
        .owner = of ? of->watch : NULL,
        .warp = warp,
        .access = access,
        .address = address,
        .base = record_make(checker->sync.now, site, warp->index * (uint32_t)LANES, scope),
        .copy = copy ? record_make(copy, site, warp->index * (uint32_t)LANES, 0) : 0,
        .floor = at_shift(checker->sync.block_floor),
        .warp_floor = at_shift(checker->sync.warp_floor[warp->index]),
        .times = at_shift(checker->sync.times),
        .span = at_shift(checker->sync.times_end - checker->sync.times),
        .mask = mask,
        .size = address_bytes(access),
        .kind = access->kind == ACCESS_ATOMIC && of && !access->order ? ACCESS_STORE : access->kind,
        .strong = scope != SCOPE_NONE,
        .cluster = of && check_clusters(checker->machine),
        .partial = checker->check->partial,
        .volatiles = !of && checker->machine->volatiles,
        .constant = !of && (access->kind == ACCESS_LOAD ? checker->check->sites[site].constant
                                                        : checker->check->constants),
        .exact = !checker->machine->ordered};
    const Record start = at_shift(of ? at->owner->sync.block_start : checker->check->launch);
    at->start = at->skip = at->all_before = start;
    at->rest = of ? &at->owner->rest : &checker->check->rest;
    if (of) at->shadow = &at->owner->shadow;
    if (of && !at->cluster) { // only the block itself has accessed this memory
        at->skip = at->all_before = at->floor;
        at->exact = true;
        at->times = 0;
        at->span = at_shift(RECORD_COPY);
    }
    if (of && unwritten_often(checker, site)) at->start = 0;
    if (check_saturated(checker, at->base)) at->skip = ~(Record)0;
}
