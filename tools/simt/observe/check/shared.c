// Races in shared memory. Two accesses of different threads to a byte are a race if one of them
// writes, they are not both atomic, and no synchronization orders them. Two writes of the same
// value are none.
#include <string.h>

#include "simt/observe/check/inside.h"

typedef struct {
    Checker *checker;
    Warp *warp;
    const Access *access;
    const uint64_t *address;
    uint64_t stamp;
    uint32_t thread, lane, mask, size;
    AccessKind kind;
    bool atomic;
} Touch;

// Loads and stores with .relaxed, .acquire or .release; volatile ones are not atomic.
static bool strong(const Inst *inst) {
    return inst->order & (ORDER_RELAXED | ORDER_ACQUIRE | ORDER_RELEASE);
}

static void race(const Touch *at, uint64_t stamp, const Inst *earlier, uint32_t byte) {
    const Inst *inst = at->access->inst;
    bool atomic = at->atomic || strong(inst);
    if (atomic && (stamp & STAMP_ATOMIC || strong(earlier))) return;
    uint32_t other = (uint32_t)(stamp & STAMP_THREAD);
    check_found(at->checker, at->warp, KIND_RACE, PTX_SHARED, inst, at->thread, earlier, other,
                byte, "thread %u %s what thread %u %s, and nothing orders the two: put %s between",
                at->thread, check_verb(inst), other, check_verb(earlier),
                other / LANES == at->thread / LANES ? "__syncwarp()" : "__syncthreads()");
}

// Bytes that a lane stores at shared address `byte`, which its access covers. False: not known.
static bool stored(const Touch *at, uint32_t lane, uint32_t byte, uint32_t count, uint8_t *out) {
    return address_stored(at->warp, at->access, lane, byte - (uint32_t)at->address[lane], count,
                          out);
}

// Whether this lane's store leaves what another thread wrote as it is. The other may be a lane of
// the same instruction, whose value is not yet in memory.
static bool same_value(const Touch *at, uint64_t stamp, uint32_t byte, uint32_t count) {
    if (at->kind != ACCESS_STORE || stamp & STAMP_ATOMIC) return false;
    uint8_t mine[4], theirs[4];
    if (!stored(at, at->lane, byte, count, mine)) return false;
    uint32_t other = (uint32_t)(stamp & STAMP_THREAD), lane = other % LANES;
    bool together = other / LANES == at->thread / LANES && lane < at->lane &&
                    (at->warp->exec >> lane & 1) && at->address[lane] <= byte &&
                    byte + count <= at->address[lane] + at->size;
    if (together)
        stored(at, lane, byte, count, theirs);
    else
        memcpy(theirs, at->warp->block->shared + byte, count);
    return memcmp(mine, theirs, count) == 0;
}

static uint64_t last_write(const Checker *checker, uint32_t byte) {
    const Cell *cell = checker->split[byte / 4] ? &checker->bytes[byte] : &checker->words[byte / 4];
    return cell->write >> STAMP_SHIFT;
}

// A bit for each word of a lane's access that its block has written.
static uint32_t written_words(const Touch *at, uint32_t lane) {
    uint32_t first = (uint32_t)at->address[lane] & ~3u, words = 0;
    uint32_t count = (at->size + 3) / 4;
    for (uint32_t i = 0; i < count; i++)
        words |= (uint32_t)(last_write(at->checker, first + 4 * i) >= at->checker->block_start)
                 << i;
    return words;
}

// As for global memory: the padding of structures is unwritten in all lanes.
static bool padding(const Touch *at) {
    uint32_t any = 0;
    for (uint32_t m = at->mask; m; m &= m - 1) any |= written_words(at, (uint32_t)__builtin_ctz(m));
    return any && written_words(at, at->lane) == any;
}

static void unwritten(const Touch *at, uint32_t byte) {
    Checker *checker = at->checker;
    if (at->size > 4 && padding(at)) return;
    if (checker->unwritten_count == MAX_UNWRITTEN) return; // of one step of one block: enough
    checker->unwritten[checker->unwritten_count++] =
        (UnwrittenRead){at->access->inst, checker->now, byte, at->thread};
}

void check_unwritten(Checker *checker, const Warp *warp) {
    for (size_t i = 0; i < checker->unwritten_count; i++) {
        const UnwrittenRead *read = &checker->unwritten[i];
        const Cell *cell = checker->split[read->byte / 4] ? &checker->bytes[read->byte]
                                                          : &checker->words[read->byte / 4];
        bool written = cell->write >> STAMP_SHIFT >= read->time;
        if (written && (cell->write & STAMP_THREAD) != read->thread) continue;
        check_found(checker, warp, KIND_UNWRITTEN, PTX_SHARED, read->inst, read->thread, NULL, 0,
                    read->byte,
                    "thread %u reads shared memory that nothing in its block has written: store "
                    "first",
                    read->thread);
    }
    checker->unwritten_count = 0;
}

static void against_writes(const Touch *at, const Cell *cell, uint32_t byte, uint32_t count) {
    const Checker *checker = at->checker;
    const uint64_t stamps[] = {cell->write, cell->write_2};
    const Inst *const insts[] = {cell->write_inst, cell->write_2_inst};
    for (int i = 0; i < 2; i++) {
        if (!stamp_concurrent(checker, stamps[i], at->thread)) continue;
        if (at->atomic && stamps[i] & STAMP_ATOMIC) continue;
        if (same_value(at, stamps[i], byte, count)) continue;
        race(at, stamps[i], insts[i], byte);
    }
}

static void against_reads(const Touch *at, const Cell *cell, uint32_t byte) {
    const uint64_t stamps[] = {cell->read, cell->read_2};
    const Inst *const insts[] = {cell->read_inst, cell->read_2_inst};
    for (int i = 0; i < 2; i++) {
        if (!stamp_concurrent(at->checker, stamps[i], at->thread)) continue;
        if (at->atomic && stamps[i] & STAMP_ATOMIC) continue;
        race(at, stamps[i], insts[i], byte);
    }
}

static inline __attribute__((always_inline)) void load(const Touch *at, Cell *cell, uint32_t byte,
                                                       uint32_t count) {
    const Checker *checker = at->checker;
    uint64_t floor = checker->block_floor;
    if (cell->write >> STAMP_SHIFT < checker->block_start) unwritten(at, byte);
    if (cell->write >> STAMP_SHIFT >= floor || cell->write_2 >> STAMP_SHIFT >= floor)
        against_writes(at, cell, byte, count);
    bool first =
        cell->read >> STAMP_SHIFT < floor || ((cell->read ^ at->stamp) & STAMP_THREAD) == 0;
    if (first) {
        cell->read = at->stamp;
        cell->read_inst = at->access->inst;
    } else {
        cell->read_2 = at->stamp;
        cell->read_2_inst = at->access->inst;
    }
}

// Whether this was a store that accesses now may still collide with.
static bool is_plain(const Checker *checker, uint64_t stamp) {
    return !(stamp & STAMP_ATOMIC) && stamp >> STAMP_SHIFT >= checker->block_floor;
}

// Before an atomic takes the place of the last write: a store is kept, and an atomic by another
// thread.
static void keep_write(Cell *cell, uint64_t stamp) {
    if (cell->write & STAMP_ATOMIC && ((cell->write ^ stamp) & STAMP_THREAD) == 0) return;
    cell->write_2 = cell->write;
    cell->write_2_inst = cell->write_inst;
}

static inline __attribute__((always_inline)) void store(const Touch *at, Cell *cell, uint32_t byte,
                                                        uint32_t count) {
    const Checker *checker = at->checker;
    uint64_t floor = checker->block_floor;
    if (at->kind == ACCESS_ATOMIC && cell->write >> STAMP_SHIFT < checker->block_start)
        unwritten(at, byte);
    if (cell->write >> STAMP_SHIFT >= floor || cell->write_2 >> STAMP_SHIFT >= floor)
        against_writes(at, cell, byte, count);
    if (cell->read >> STAMP_SHIFT >= floor || cell->read_2 >> STAMP_SHIFT >= floor)
        against_reads(at, cell, byte);
    if (!at->atomic)
        cell->write_2 = 0;
    else if (!is_plain(checker, cell->write_2) || is_plain(checker, cell->write))
        keep_write(cell, at->stamp);
    cell->write = at->stamp;
    cell->write_inst = at->access->inst;
}

static inline __attribute__((always_inline)) void touch(const Touch *at, Cell *cell, uint32_t byte,
                                                        uint32_t count) {
    if (at->kind == ACCESS_LOAD)
        load(at, cell, byte, count);
    else
        store(at, cell, byte, count);
}

static void split_word(Checker *checker, uint32_t word) {
    if (checker->split[word]) return;
    checker->split[word] = 1;
    checker->any_split = true;
    for (uint32_t i = 0; i < 4; i++) checker->bytes[word * 4 + i] = checker->words[word];
}

static void touch_bytes(const Touch *at, uint32_t first, uint32_t count) {
    split_word(at->checker, first / 4);
    for (uint32_t byte = first; byte < first + count; byte++)
        touch(at, &at->checker->bytes[byte], byte, 1);
}

void check_shared(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]) {
    const uint32_t size = address_bytes(access);
    // An update that says nothing about order makes an mbarrier: for others it is a store.
    const bool atomic = access->kind == ACCESS_ATOMIC && access->order;
    if (access->order & ~ORDER_VOLATILE) check_order(checker, warp, access, mask, address);
    Touch at = {.checker = checker,
                .warp = warp,
                .access = access,
                .address = address,
                .mask = mask,
                .size = size,
                .kind = access->kind == ACCESS_LOAD ? ACCESS_LOAD
                        : atomic                    ? ACCESS_ATOMIC
                                                    : ACCESS_STORE,
                .atomic = atomic};
    for (uint32_t m = mask; m; m &= m - 1) {
        at.lane = (uint32_t)__builtin_ctz(m);
        at.thread = warp->index * LANES + at.lane;
        at.stamp = checker->now << STAMP_SHIFT | (atomic ? STAMP_ATOMIC : 0) | at.thread;
        uint32_t first = (uint32_t)address[at.lane];
        if (size < 4) {
            touch_bytes(&at, first, size);
            continue;
        }
        for (uint32_t byte = first; byte < first + size; byte += 4)
            if (__builtin_expect(checker->split[byte / 4], 0))
                touch_bytes(&at, byte, 4);
            else
                touch(&at, &checker->words[byte / 4], byte, 4);
    }
}
