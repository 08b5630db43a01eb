// Which accesses are ordered, and which are races: see touch.h.
#include "simt/observe/check/touch.h"

#include <string.h>

// Whether other lanes' reads, of which nobody knows by which lanes, may be ordered before the
// access of this thread, which is one of them.
static bool others_ordered(const Touch *at, uint64_t time, uint64_t block, uint32_t thread) {
    Checker *checker = at->checker;
    if (!at->parted && !checker->orders) return false;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t other = thread / LANES * LANES + lane;
        if (other == thread) continue;
        if (!check_unordered(checker, time, other, thread)) return true;
        if (check_acquired(checker, thread, block, other, time)) return true;
    }
    return false;
}

bool touch_ordered(const Touch *at, Record record) {
    if (touch_settled(at, record, at->mine)) return true;
    Checker *checker = at->checker;
    const uint64_t time = record_time(record), block = shadow_block(time);
    const uint32_t other = record_thread(record), thread = record_thread(at->mine);
    if (block == checker->block) {
        if (time < checker->block_floor) return true;
        if (other == thread)
            return !(record & RECORD_OF_MANY) || others_ordered(at, time, block, thread);
        if (!check_unordered(checker, time, other, thread)) return true;
    }
    return check_acquired(checker, thread, block, other, time);
}

// Whether every lane has acquired what the warp of this record did until then, in another block.
bool touch_acquired(const Touch *at, Record record) {
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

// Whether this store leaves `count` bytes that another thread wrote as they are.
static bool same_value(const Touch *at, Record record, uint64_t address, uint32_t count) {
    uint8_t mine[4], theirs[4];
    if (at->access->kind != ACCESS_STORE) return false;
    if (at->checker->check->sites[record_site(record)].kind != ACCESS_STORE) return false;
    uint32_t offset = (uint32_t)(address - at->address[at->lane]);
    if (!address_stored(at->warp, at->access, at->lane, offset, count, mine)) return false;
    const uint32_t lane = record_thread(record) % LANES;
    const uint64_t from = at->mask >> lane & 1 ? at->address[lane] : UINT64_MAX;
    if (touch_together(at, record) && from <= address && address + count <= from + at->size)
        address_stored(at->warp, at->access, lane, (uint32_t)(address - from), count, theirs);
    else
        memcpy(theirs, memory_at(address), count);
    return memcmp(mine, theirs, count) == 0;
}

// Whether it is a read by another block of a kernel in which such reads are done with.
static bool read_in_place(const Touch *at, Record record, bool write) {
    if (write || !at->checker->check->in_place) return false;
    return shadow_block(record_time(record)) != at->checker->block;
}

bool touch_against(const Touch *at, Record record, uint64_t address, uint32_t count, bool write) {
    if (read_in_place(at, record, write)) return false;
    if (check_saturated(at->checker, at->mine)) return false;
    if (touch_settled(at, record, at->mine) || both_strong(at, record) || touch_ordered(at, record))
        return false;
    if (write && same_value(at, record, address, count)) return true;
    check_race(at->checker, PTX_GLOBAL, at->mine, record, address);
    return false;
}

// Blocks that never wait for each other keep only what is their own: beside that of others, of
// which one is remembered, nothing is in order.
void touch_keep(const Touch *at, Record record, uint64_t address, uint32_t count, bool write) {
    const uint32_t bytes = ((1u << count) - 1) << address % 4;
    if (!at->rest || record < at->launch) return;
    const bool alone = at->rest == &at->checker->own_rest;
    if (alone && shadow_block(record_time(record)) != at->checker->block) return;
    at->checker->lost |= !rest_add(at->rest, address / 4, bytes, record, write, at->launch);
}

// The lanes for which it remains: stores of the same, and what is no race since both are strong.
static uint32_t against_one(const Touch *at, const Rest *rest, uint64_t address, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t m = rest->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const Record record = rest->first + ((Record)lane << RECORD_THREAD);
        kept |= (uint32_t)touch_against(at, record, address, count, rest->writes) << lane;
    }
    return at->strong ? rest->lanes : kept;
}

void touch_against_rest(const Touch *at, uint64_t address, uint32_t count, bool observed) {
    const uint32_t bytes = ((1u << count) - 1) << address % 4;
    for (Rest *rest = rest_first(at->rest, address / 4); rest; rest = rest_next(at->rest, rest)) {
        if (!(rest->bytes & bytes) || (at->reads && !rest->writes)) continue;
        if (observed && rest->writes && record_scope(rest->first)) continue;
        const uint32_t kept = against_one(at, rest, address, count);
        if (at->reads) continue;
        if (!(rest->bytes & ~bytes))
            rest->lanes = kept;
        else if (!kept)
            rest->bytes &= (uint8_t)~bytes;
    }
    if (at->writes) rest_sweep(at->rest, address / 4);
}
