// Races in shared memory. Two accesses of different threads to a byte are a race if one of them
// writes, they are not both strong, and no synchronization orders them. Two writes of the same
// value are none, nor are two copies of it. Volatile accesses are not strong here: what they leave
// open between lanes is what --check is asked about. Only those to a flag are, see is_flag().
#include "simt/observe/check/shared.h"

#include <stdlib.h>
#include <string.h>

// The same with blocks of a cluster, and with copies.
static bool concurrent_far(const SharedTouch *at, Record record) {
    Checker *checker = at->checker;
    const uint32_t other = record_thread(record), thread = at->thread;
    const uint64_t time = record_time(record);
    if (record_is_copy(record))
        return time == RECORD_COPY ||
               !check_acquired(checker, thread, record_copy_block(record), other, time);
    const uint64_t block = at->cluster ? shadow_block(time) : checker->block;
    if (block == checker->block && (other == thread || time < checker->block_floor ||
                                    !check_unordered(checker, time, other, thread)))
        return false;
    return !check_acquired(checker, thread, block, other, time);
}

// Whether the access of that record and the one now may be without order.
static inline bool concurrent(const SharedTouch *at, Record record) {
    if (record < at->noise) return false;
    if (at->cluster || record_is_copy(record))
        return !check_saturated(at->checker, at->mine) && concurrent_far(at, record);
    if (!((record ^ at->mine) & RECORD_LANE_MASK)) return false;
    if (check_saturated(at->checker, at->mine)) return false;
    const uint32_t other = record_thread(record);
    const uint64_t time = record_time(record);
    if (!check_unordered(at->checker, time, other, at->thread)) return false;
    return !check_acquired(at->checker, at->thread, at->checker->block, other, time);
}

// Whether both are volatile, by two warps, and to a flag: a word through which a fence released
// something. Who polls it needs no more.
static bool is_flag(const SharedTouch *at, Record record, uint32_t byte) {
    const Inst *other = at->checker->check->sites[record_site(record)].inst;
    return at->access->order & ORDER_VOLATILE && other->order & ORDER_VOLATILE &&
           record_thread(record) / LANES != at->thread / LANES &&
           order_released(&at->owner->words, byte);
}

// Bytes that a lane stores at shared address `byte`, which its access covers. False: not known.
static bool stored(const SharedTouch *at, uint32_t lane, uint32_t byte, uint32_t count,
                   uint8_t *out) {
    return address_stored(at->warp, at->access, lane, byte - (uint32_t)at->address[lane], count,
                          out);
}

// The same, or what its cp.async brings there.
static bool brought(const SharedTouch *at, uint32_t lane, uint32_t byte, uint32_t count,
                    uint8_t *out) {
    if (!at->copy) return stored(at, lane, byte, count, out);
    return address_copied(at->warp, at->access->inst, (int)lane, byte - (uint32_t)at->address[lane],
                          count, out);
}

// Whether the one now is such a copy, and that of the record is too or was; or neither is one.
static bool alike(const SharedTouch *at, Record record) {
    if (!at->copy) return !record_is_copy(record);
    return at->access->inst->access == ACCESS_COPY &&
           at->checker->check->sites[record_site(record)].inst->access == ACCESS_COPY;
}

// Whether this lane's store leaves what another thread wrote as it is, or its copy what a copy did.
// The other may be a lane of the same instruction, whose value is not yet in memory.
static bool same_value(const SharedTouch *at, Record record, uint32_t byte, uint32_t count) {
    if (at->kind != ACCESS_STORE || record_scope(record) || !alike(at, record)) return false;
    uint8_t mine[4], theirs[4];
    if (!brought(at, at->lane, byte, count, mine)) return false;
    uint32_t other = record_thread(record), lane = other % LANES;
    bool own = !at->cluster || shadow_block(record_time(record)) == at->checker->block;
    bool together = own && other / LANES == at->thread / LANES && lane < at->lane &&
                    (at->warp->exec >> lane & 1) && at->address[lane] <= byte &&
                    byte + count <= at->address[lane] + at->size;
    if (together)
        brought(at, lane, byte, count, theirs);
    else
        memcpy(theirs, at->shared + byte, count);
    return memcmp(mine, theirs, count) == 0;
}

// --- lane by lane ---

// Whether nothing orders the two, and it does not matter, since both stored the same.
static bool against_write(const SharedTouch *at, Record record, uint32_t byte, uint32_t count) {
    if ((at->strong && record_scope(record)) || !concurrent(at, record)) return false;
    if (is_flag(at, record, byte)) return false;
    if (same_value(at, record, byte, count)) return true;
    check_race(at->checker, PTX_SHARED, at->mine, record, byte);
    return false;
}

static void against_read(const SharedTouch *at, Record record, uint32_t byte) {
    if ((at->strong && record_scope(record)) || !concurrent(at, record)) return;
    if (!is_flag(at, record, byte)) check_race(at->checker, PTX_SHARED, at->mine, record, byte);
}

// Before which nobody has to wait for anything any more.
static Record floor_of_all(const SharedTouch *at) {
    if (!at->cluster) return at->floor;
    const uint64_t past = cluster_past(at->warp->block), start = at->owner->block_start;
    return (past > start ? past : start) << RECORD_TIME;
}

void shared_add_rest(const SharedTouch *at, Record record, uint32_t byte, uint32_t count,
                     bool writes) {
    Checker *owner = at->owner;
    const uint32_t bytes = ((1u << count) - 1) << byte % 4;
    if (!at->partial || record_is_copy(record)) return;
    owner->lost |= !rest_add(&owner->rest, byte / 4, bytes, record, writes, floor_of_all(at));
}

// The same of what is not ordered before this access, or weak, for which a strong one does not
// stand.
static void give_way(const SharedTouch *at, Record old, uint32_t byte, uint32_t count,
                     bool writes) {
    RestTable *rest = &at->owner->rest;
    if (!at->partial || old < at->noise || rest->work > REST_WORK) return;
    const uint64_t steps = at->checker->room->steps;
    if ((at->strong && !record_scope(old)) || concurrent(at, old))
        shared_add_rest(at, old, byte, count, writes);
    rest->work += at->checker->room->steps - steps;
}

static inline __attribute__((always_inline)) void
note_read(const SharedTouch *at, const Cells *cells, uint32_t k, uint32_t byte, uint32_t count) {
    const Record read = cells->read[k], second = cells->read_2[k];
    const bool weaker = at->strong && !record_scope(read); // which this one does not stand for
    const bool first = read < at->floor || (!weaker && shared_stands_for(at, read, at->mine));
    if (first && (!at->copy || record_is_copy(second))) {
        cells->read[k] = at->copy ? at->copy : at->mine;
        return;
    }
    if (!at->copy && shared_stays(at, read, second, at->mine)) {
        shared_add_rest(at, at->mine, byte, count, false);
        return;
    }
    give_way(at, second, byte, count, false);
    cells->read_2[k] = at->copy ? at->copy : at->mine;
    shared_noted(&at->owner->latest_read_2, cells->read_2[k]);
}

// Holds the access against one that the cells have no room for. The lanes for which it remains:
// stores of the same, and what is no race since both are strong.
static uint32_t against_rest(const SharedTouch *at, const Rest *rest, uint32_t byte, uint32_t count,
                             bool again) {
    uint32_t kept = 0;
    const bool strong = record_scope(rest->first);
    if ((at->strong && strong) || (again && rest->writes && !strong)) return rest->lanes;
    for (uint32_t m = rest->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const Record record = rest->first + ((Record)lane << RECORD_THREAD);
        if (!rest->writes)
            against_read(at, record, byte);
        else if (against_write(at, record, byte, count))
            kept |= 1u << lane;
    }
    return at->strong ? rest->lanes : kept;
}

// The same of all of a word. A store stands for those that it is ordered behind, or races with; of
// plain stores here all left what the memory has. Strong writes that were seen are ordered, too.
static void against_others(const SharedTouch *at, uint32_t byte, uint32_t count, bool seen) {
    RestTable *table = &at->owner->rest;
    const uint32_t bytes = ((1u << count) - 1) << byte % 4;
    const bool loads = at->kind == ACCESS_LOAD;
    uint8_t mine[4];
    const bool again = at->kind == ACCESS_STORE && stored(at, at->lane, byte, count, mine) &&
                       !memcmp(mine, at->shared + byte, count);
    for (Rest *rest = rest_first(table, byte / 4); rest; rest = rest_next(table, rest)) {
        if (!(rest->bytes & bytes) || (loads && !rest->writes)) continue;
        if (seen && rest->writes && record_scope(rest->first)) continue;
        const uint32_t kept = against_rest(at, rest, byte, count, again);
        if (loads) continue;
        if (!(rest->bytes & ~bytes))
            rest->lanes = kept;
        else if (!kept)
            rest->bytes &= (uint8_t)~bytes;
    }
    if (!loads) rest_sweep(table, byte / 4);
}

// Whether the last write is an atomic operation at whose old value the program looks, and lies
// before this access: then what it observed of other strong writes does, too. PTX ISA, "Causality
// Order".
static bool observed(const SharedTouch *at, Record write) {
    return record_scope(write) && write >= at->noise &&
           at->checker->check->sites[record_site(write)].looks && !concurrent(at, write);
}

// Holds the access against the last writes. Which of them stored the same, and nothing orders them:
// the last one, the second one.
static void against_writes(const SharedTouch *at, const Cells *cells, uint32_t k, uint32_t byte,
                           uint32_t count, bool equal[2]) {
    const Record write = cells->write[k], second = cells->write_2[k];
    const bool others =
        rest_any(&at->owner->rest, byte / 4, 1, at->kind == ACCESS_LOAD, at->strong);
    if (write < at->noise && second < at->noise && !others) return;
    const bool seen = !at->strong && observed(at, write); // strong ones race with no strong one
    equal[0] = against_write(at, write, byte, count);
    equal[1] = !(seen && record_scope(second)) && against_write(at, second, byte, count);
    if (others) against_others(at, byte, count, seen);
}

static void load(const SharedTouch *at, const Cells *cells, uint32_t k, uint32_t byte,
                 uint32_t count) {
    bool equal[2];
    if (cells->write[k] < at->start) unwritten_read(at, byte);
    against_writes(at, cells, k, byte, count, equal);
    note_read(at, cells, k, byte, count);
}

// Before a strong write takes the place of the last one.
static void keep_write(const SharedTouch *at, const Cells *cells, uint32_t k, uint32_t byte,
                       uint32_t count) {
    const Record write = cells->write[k], second = cells->write_2[k];
    const bool keeps = shared_keeps(at, write, second, at->mine);
    give_way(at, keeps ? second : write, byte, count, true);
    if (!keeps) return;
    cells->write_2[k] = write;
    shared_noted_second(at->owner, byte / 4, write);
}

// Of stores of the same that nothing orders two are kept, of two warps if there are.
static void keep_equal(const SharedTouch *at, const Cells *cells, uint32_t k, uint32_t byte,
                       uint32_t count, const bool equal[2]) {
    const Record write = cells->write[k], second = cells->write_2[k];
    const bool nearer = shared_same_warp(at, second, at->mine);
    const bool farther = nearer && !shared_same_warp(at, write, at->mine);
    const bool keeps = equal[0] && (!equal[1] || farther);
    if (equal[0] && equal[1]) shared_add_rest(at, keeps ? second : write, byte, count, true);
    if (equal[1] && !keeps) return;
    cells->write_2[k] = keeps ? write : 0;
    if (keeps) shared_noted_second(at->owner, byte / 4, write);
}

static void store(const SharedTouch *at, const Cells *cells, uint32_t k, uint32_t byte,
                  uint32_t count) {
    bool equal[2] = {false, false};
    if (at->kind == ACCESS_ATOMIC && cells->write[k] < at->start) unwritten_read(at, byte);
    against_writes(at, cells, k, byte, count, equal);
    if (cells->read[k] >= at->noise || cells->read_2[k] >= at->noise) {
        against_read(at, cells->read[k], byte);
        against_read(at, cells->read_2[k], byte);
    }
    if (at->strong)
        keep_write(at, cells, k, byte, count);
    else
        keep_equal(at, cells, k, byte, count, equal);
    cells->write[k] = at->copy ? at->copy : at->mine;
}

static inline void touch(const SharedTouch *at, const Cells *cells, uint32_t k, uint32_t byte,
                         uint32_t count) {
    if (at->kind == ACCESS_LOAD)
        load(at, cells, k, byte, count);
    else
        store(at, cells, k, byte, count);
}

static void touch_bytes(const SharedTouch *at, uint32_t first, uint32_t count) {
    const Cells *cells = &at->owner->byte_cells;
    shared_split_word(at->owner, first / 4);
    shared_noted(&at->owner->latest_bytes, (at->copy ? at->copy : at->mine) | RECORD_LANE_MASK | 3);
    for (uint32_t byte = first; byte < first + count; byte++) touch(at, cells, byte, byte, 1);
}

void shared_set_lane(SharedTouch *at, Record base, uint32_t lane) {
    at->lane = lane;
    at->thread = at->warp->index * LANES + lane;
    at->mine = base | at->thread << RECORD_THREAD;
    if (at->copy) at->copy = (at->copy & ~RECORD_LANE_MASK) | at->thread << RECORD_THREAD;
}

static void lane_by_lane(SharedTouch *at, Record base, uint32_t lanes) {
    Checker *checker = at->owner;
    for (uint32_t m = lanes; m; m &= m - 1) {
        shared_set_lane(at, base, (uint32_t)__builtin_ctz(m));
        uint32_t first = (uint32_t)at->address[at->lane];
        if (at->size < 4) {
            touch_bytes(at, first, at->size);
            continue;
        }
        for (uint32_t byte = first; byte < first + at->size; byte += 4)
            if (__builtin_expect(checker->split[byte / 4], 0))
                touch_bytes(at, byte, 4);
            else
                touch(at, &checker->cells, byte / 4, byte, 4);
    }
}

static inline void touch_set(SharedTouch *at, Checker *checker, Block *of, Warp *warp,
                             const Access *access, const uint64_t address[LANES]) {
    Checker *owner = of->watch;
    // An update that says nothing about order makes an mbarrier: for others it is a store.
    const bool atomic = access->kind == ACCESS_ATOMIC && access->order;
    const bool cluster = check_clusters(checker->machine);
    const bool enough = unwritten_often(checker, check_site(checker, access));
    const Record start = owner->block_start << RECORD_TIME;
    const Record met = checker->cluster_floor[warp->index] << RECORD_TIME;
    const Record far = met > start ? met : start;
    at->checker = checker;
    at->owner = owner;
    at->warp = warp;
    at->shared = of->shared;
    at->access = access;
    at->address = address;
    at->block_floor = checker->block_floor << RECORD_TIME;
    at->floor = cluster ? far : at->block_floor;
    at->times = cluster ? checker->times << RECORD_TIME : 0;
    at->span =
        cluster ? (checker->times_end - checker->times) << RECORD_TIME : RECORD_COPY << RECORD_TIME;
    at->start = enough ? 0 : start;
    at->warp_floor = checker->warp_floor[warp->index] << RECORD_TIME;
    at->size = address_bytes(access);
    at->kind = access->kind == ACCESS_LOAD ? ACCESS_LOAD : atomic ? ACCESS_ATOMIC : ACCESS_STORE;
    at->strong = access->order & ~ORDER_VOLATILE;
    at->cluster = cluster;
    at->partial = checker->check->partial;
    at->plain = !at->partial && !cluster;
    at->copy = 0;
}

void shared_note_latest(const SharedTouch *at, Record base) {
    Checker *owner = at->owner;
    const Record last = (at->copy ? at->copy : base) | RECORD_LANE_MASK | 3;
    shared_noted(at->kind == ACCESS_LOAD ? &owner->latest_read : &owner->latest_write, last);
}

Record shared_begin(SharedTouch *at, Checker *checker, Block *of, Warp *warp, const Access *access,
                    const uint64_t address[LANES], uint32_t mask, uint64_t copy) {
    touch_set(at, checker, of, warp, access, address);
    const uint32_t site = check_site(at->checker, at->access);
    const Record base = record_make(at->checker->now, site, 0, at->strong ? SCOPE_CTA : 0);
    if (copy) at->copy = record_make(copy, site, 0, 0);
    at->noise = check_saturated(at->checker, base) ? ~(Record)0 : at->floor;
    at->mask = mask;
    if (at->cluster) cluster_between(at->warp, mask);
    return base;
}

static void look_at(SharedTouch *at, Record base) {
    if (at->owner->groups_on) shared_expand_lanes(at);
    // A strong access does not stand for those before it beside other strong ones: none is
    // forgotten that some warp may still have to wait for.
    if (at->cluster && at->strong) at->floor = floor_of_all(at);
    const uint32_t left = at->copy ? at->mask : shared_quick(at, base);
    shared_note_latest(at, base);
    lane_by_lane(at, base, left);
}

void check_shared(Checker *checker, Block *of, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES], uint64_t copy) {
    SharedTouch at;
    const Record base = shared_begin(&at, checker, of, warp, access, address, mask, copy);
    look_at(&at, base);
}

// Whether lanes store to a word through which something may have been released.
static bool stores_words(const SyncTable *words, const Access *access, uint32_t mask,
                         const uint64_t address[LANES]) {
    if (!words->count || access->kind == ACCESS_LOAD) return false;
    for (uint32_t m = mask; m; m &= m - 1)
        if (order_words(words, address[__builtin_ctz(m)], address_bytes(access))) return true;
    return false;
}

bool check_shared_lanes(Warp *warp, const Inst *inst, const uint64_t address[LANES]) {
    Checker *checker = check_of(warp);
    const uint32_t site = check_known_site(checker, inst->slot), mask = warp->exec;
    const Extent *extent = &checker->variables[site];
    if (!site || (inst->order && (checker->words.count || checker->orders))) return false;
    const Access access = address_access(inst);
    if (mask & ~check_between(&access, address, extent->low, extent->high)) return false;
    if (stores_words(&checker->words, &access, mask, address)) return false;
    SharedTouch at;
    const Record base = shared_begin(&at, checker, warp->block, warp, &access, address, mask, 0);
    look_at(&at, base);
    return true;
}
