// Races in shared memory. Two accesses of different threads to a byte are a race if one of them
// writes, they are not both atomic, and no synchronization orders them. Two writes of the same
// value are none.
#include <string.h>

#include "simt/observe/check_inside.h"
#include "simt/ops/ops.h"

typedef struct {
    Checker *checker;
    Warp *warp;
    const Inst *inst;
    const uint64_t *address;
    uint64_t stamp;
    uint32_t thread, lane, mask;
    AccessKind kind;
    bool atomic;
} Access;

// Loads and stores with .relaxed, .acquire or .release; volatile ones are not atomic.
static bool strong(const Checker *checker, const Inst *inst) {
    if (!(inst->flags & INST_VOLATILE)) return false;
    const PtxInst *ptx = machine_instruction(checker->machine, inst);
    return ptx && str_find(ptx->opcode, STR(".volatile")) == SIZE_MAX;
}

static const char *verb(const Inst *inst) {
    static const char *const verbs[] = {"accesses", "reads", "writes", "updates"};
    return verbs[inst->access <= ACCESS_ATOMIC ? inst->access : 0];
}

static void race(const Access *at, uint64_t stamp, const Inst *earlier, uint32_t byte) {
    const Checker *checker = at->checker;
    bool atomic = at->atomic || strong(checker, at->inst);
    if (atomic && (stamp & STAMP_ATOMIC || strong(checker, earlier))) return;
    uint32_t other = (uint32_t)(stamp & STAMP_THREAD);
    checker_found(at->checker, at->warp, KIND_RACE, PTX_SHARED, at->inst, at->thread, earlier,
                  other, byte,
                  "thread %u %s what thread %u %s, and nothing orders the two: put %s between",
                  at->thread, verb(at->inst), other, verb(earlier),
                  other / LANES == at->thread / LANES ? "__syncwarp()" : "__syncthreads()");
}

// Bytes that a lane stores at shared address `byte`, which its access covers.
static void stored(const Access *at, uint32_t lane, uint32_t byte, uint32_t count, uint8_t *out) {
    const Inst *inst = at->inst;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = byte + i - (uint32_t)at->address[lane];
        const uint8_t *registers = REG(at->warp, uint8_t, inst->r[1 + offset / inst->bytes]);
        out[i] = registers[lane * inst->sizes + offset % inst->bytes];
    }
}

// Whether this lane's store leaves what another thread wrote as it is. The other may be a lane of
// the same instruction, whose value is not yet in memory.
static bool same_value(const Access *at, uint64_t stamp, uint32_t byte, uint32_t count) {
    bool values = at->inst->plain != op_copy_async && at->inst->plain != op_mbarrier;
    if (at->kind != ACCESS_STORE || !values || stamp & STAMP_ATOMIC) return false;
    uint8_t mine[4], theirs[4];
    stored(at, at->lane, byte, count, mine);
    uint32_t other = (uint32_t)(stamp & STAMP_THREAD), lane = other % LANES;
    uint64_t size = (uint64_t)at->inst->bytes * at->inst->elements;
    bool together = other / LANES == at->thread / LANES && lane < at->lane &&
                    (at->warp->exec >> lane & 1) && at->address[lane] <= byte &&
                    byte + count <= at->address[lane] + size;
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
static uint32_t written_words(const Access *at, uint32_t lane) {
    uint32_t first = (uint32_t)at->address[lane] & ~3u, words = 0;
    uint32_t count = ((uint32_t)at->inst->bytes * at->inst->elements + 3) / 4;
    for (uint32_t i = 0; i < count; i++)
        words |= (uint32_t)(last_write(at->checker, first + 4 * i) >= at->checker->block_start)
                 << i;
    return words;
}

// As for global memory: the padding of structures is unwritten in all lanes.
static bool padding(const Access *at) {
    uint32_t any = 0;
    for (uint32_t m = at->mask; m; m &= m - 1) any |= written_words(at, (uint32_t)__builtin_ctz(m));
    return any && written_words(at, at->lane) == any;
}

static void unwritten(const Access *at, uint32_t byte) {
    Checker *checker = at->checker;
    if (at->inst->bytes * at->inst->elements > 4 && padding(at)) return;
    if (checker->unwritten_count == MAX_UNWRITTEN) return; // of one step of one block: enough
    checker->unwritten[checker->unwritten_count++] =
        (UnwrittenRead){at->inst, checker->now, byte, at->thread};
}

void check_unwritten(Checker *checker, const Warp *warp) {
    for (size_t i = 0; i < checker->unwritten_count; i++) {
        const UnwrittenRead *read = &checker->unwritten[i];
        const Cell *cell = checker->split[read->byte / 4] ? &checker->bytes[read->byte]
                                                          : &checker->words[read->byte / 4];
        bool written = cell->write >> STAMP_SHIFT >= read->time;
        if (written && (cell->write & STAMP_THREAD) != read->thread) continue;
        checker_found(checker, warp, KIND_UNWRITTEN, PTX_SHARED, read->inst, read->thread, NULL, 0,
                      read->byte,
                      "thread %u reads shared memory that nothing in its block has written: store "
                      "first",
                      read->thread);
    }
    checker->unwritten_count = 0;
}

static void against_writes(const Access *at, const Cell *cell, uint32_t byte, uint32_t count) {
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

static void against_reads(const Access *at, const Cell *cell, uint32_t byte) {
    const uint64_t stamps[] = {cell->read, cell->read_2};
    const Inst *const insts[] = {cell->read_inst, cell->read_2_inst};
    for (int i = 0; i < 2; i++) {
        if (!stamp_concurrent(at->checker, stamps[i], at->thread)) continue;
        if (at->atomic && stamps[i] & STAMP_ATOMIC) continue;
        race(at, stamps[i], insts[i], byte);
    }
}

static inline __attribute__((always_inline)) void load(const Access *at, Cell *cell, uint32_t byte,
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
        cell->read_inst = at->inst;
    } else {
        cell->read_2 = at->stamp;
        cell->read_2_inst = at->inst;
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

static inline __attribute__((always_inline)) void store(const Access *at, Cell *cell, uint32_t byte,
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
    cell->write_inst = at->inst;
}

static inline __attribute__((always_inline)) void touch(const Access *at, Cell *cell, uint32_t byte,
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

static void touch_bytes(const Access *at, uint32_t first, uint32_t count) {
    split_word(at->checker, first / 4);
    for (uint32_t byte = first; byte < first + count; byte++)
        touch(at, &at->checker->bytes[byte], byte, 1);
}

void check_shared(Checker *checker, Warp *warp, const Inst *inst, uint32_t mask,
                  const uint64_t address[LANES]) {
    const uint32_t size = (uint32_t)inst->bytes * inst->elements;
    const bool init = inst->plain == op_mbarrier && inst->mode == MBARRIER_INIT;
    const AccessKind kind = init ? ACCESS_STORE : (AccessKind)inst->access;
    const bool atomic = kind == ACCESS_ATOMIC;
    if (atomic || inst->flags & INST_VOLATILE) check_order(checker, warp, inst, mask, address);
    Access at = {.checker = checker,
                 .warp = warp,
                 .inst = inst,
                 .address = address,
                 .mask = mask,
                 .kind = kind,
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
