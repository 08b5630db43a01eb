// Executes asynchronous copies and mbarriers. Copies complete immediately, so nothing waits for
// groups of copies. PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and
// "Parallel Synchronization and Communication Instructions: mbarrier".
#include <string.h>

#include "simt/exec/address.h"
#include "simt/exec/observer.h"
#include "simt/exec/spin.h"
#include "simt/memory/memory.h"
#include "simt/ops/ops.h"

// cp.async
const Inst *op_copy_async(Warp *warp, const Inst *inst) {
    const Access store = address_copy_store(inst), load = address_copy_load(inst);
    const uint32_t mask = warp->exec, size = address_bytes(&store);
    uint8_t *to[LANES], *from[LANES];
    // A lane that copies 0 bytes may have an invalid source address, as on an H200.
    uint32_t reading = 0, bytes[LANES];
    for (uint32_t m = mask; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        bytes[l] = address_copy_bytes(warp, inst, l);
        reading |= (uint32_t)(bytes[l] > 0) << l;
    }
    uint32_t whole = reading; // the others copy fewer bytes, up to the last one that is allocated
    for (uint32_t m = reading; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        const uint64_t at = REG(warp, LaneU64, load.base)[l] + load.offset;
        if (bytes[l] == size || at & (size - 1) || at < memory_low || at >= memory_high ||
            memory_high - at < bytes[l])
            continue;
        from[l] = memory_at(at);
        whole &= ~(1u << l);
    }
    if (!address_resolve(warp, &store, mask, to)) return NULL;
    if (whole && !address_resolve(warp, &load, whole, from)) return NULL;
    if (reading) address_count_copy(warp, inst, reading, from, to);
    for (uint32_t m = mask; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        if (bytes[l]) memcpy(to[l], from[l], bytes[l]);
        memset(to[l] + bytes[l], 0, size - bytes[l]);
    }
    spin_stored(warp);
    return inst + 1;
}

// The copies are complete. With .noinc this is an arrival; otherwise the count does not change.
const Inst *op_copies_arrive(Warp *warp, const Inst *inst) {
    observer_copies_arrive(warp, inst);
    return inst + 1;
}

const Inst *op_group(Warp *warp, const Inst *inst) {
    observer_group(warp, inst);
    return inst + 1;
}

// The contents of an mbarrier, which PTX does not specify.
typedef struct {
    uint32_t phase;
    uint32_t expected; // arrivals per phase
    uint32_t pending;  // arrivals in the current phase
    int32_t bytes;     // pending bytes of transactions in the current phase, may be negative
} Mbarrier;

enum { COUNT_BITS = 20, BYTE_BITS = 22 };

static Mbarrier mbarrier_read(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    const uint64_t count = (1u << COUNT_BITS) - 1;
    Mbarrier barrier = {(uint32_t)(word >> 63), (uint32_t)(word & count),
                        (uint32_t)(word >> COUNT_BITS & count), 0};
    uint32_t bytes = (uint32_t)(word >> (2 * COUNT_BITS)) & ((1u << BYTE_BITS) - 1);
    barrier.bytes = (int32_t)(bytes << (32 - BYTE_BITS)) >> (32 - BYTE_BITS);
    return barrier;
}

static uint64_t mbarrier_word(const Mbarrier *barrier) {
    uint64_t bytes = (uint32_t)barrier->bytes & ((1u << BYTE_BITS) - 1);
    return (uint64_t)barrier->phase << 63 | bytes << (2 * COUNT_BITS) |
           (uint64_t)barrier->pending << COUNT_BITS | barrier->expected;
}

static void mbarrier_write(uint8_t *at, Mbarrier *barrier) {
    if (barrier->pending == 0 && barrier->bytes == 0) { // the phase is complete
        barrier->phase ^= 1;
        barrier->pending = barrier->expected;
    }
    uint64_t word = mbarrier_word(barrier);
    memcpy(at, &word, sizeof word);
}

void async_complete(uint8_t *mbarrier, uint32_t bytes) {
    Mbarrier barrier = mbarrier_read(mbarrier);
    barrier.bytes = (int32_t)((uint32_t)barrier.bytes - bytes);
    mbarrier_write(mbarrier, &barrier);
}

// Applies an instruction that does not wait. `value` is its operand or the default.
static void mbarrier_change(Mbarrier *barrier, MbarrierMode mode, uint32_t value) {
    switch (mode) {
    case MBARRIER_INIT:
        *barrier = (Mbarrier){.expected = value, .pending = value};
        break;
    case MBARRIER_EXPECT:
        barrier->bytes = (int32_t)((uint32_t)barrier->bytes + value);
        break;
    case MBARRIER_COMPLETE:
        barrier->bytes = (int32_t)((uint32_t)barrier->bytes - value);
        break;
    case MBARRIER_ARRIVE_EXPECT:
        barrier->bytes = (int32_t)((uint32_t)barrier->bytes + value);
        barrier->pending--;
        break;
    case MBARRIER_ARRIVE_DROP:
        barrier->expected -= value;
        barrier->pending -= value;
        break;
    case MBARRIER_ARRIVE_DROP_EXPECT:
        barrier->bytes = (int32_t)((uint32_t)barrier->bytes + value);
        barrier->expected--;
        barrier->pending--;
        break;
    case MBARRIER_ARRIVE:
        barrier->pending -= value;
        break;
    case MBARRIER_INVALIDATE:
    case MBARRIER_WAIT_STATE:
    case MBARRIER_WAIT_PARITY:
        break;
    }
}

// The operand. The default is 1 for a count of arrivals and 0 for a count of bytes.
static uint32_t value_of(const Warp *warp, const InstMbarrier *mbarrier, int lane) {
    if (mbarrier->value != PTX_NONE) return REG(warp, LaneU32, mbarrier->value)[lane];
    return mbarrier->mode == MBARRIER_EXPECT || mbarrier->mode == MBARRIER_COMPLETE ||
                   mbarrier->mode == MBARRIER_ARRIVE_EXPECT ||
                   mbarrier->mode == MBARRIER_ARRIVE_DROP_EXPECT
               ? 0
               : 1;
}

static bool phase_complete(const Warp *warp, const InstMbarrier *mbarrier, int lane,
                           uint32_t phase) {
    if (mbarrier->mode == MBARRIER_WAIT_PARITY)
        return (REG(warp, LaneU32, mbarrier->value)[lane] & 1) != phase;
    return REG(warp, LaneU64, mbarrier->value)[lane] >> 63 != phase;
}

static const Inst *mbarrier_wait(Warp *warp, const Inst *inst, uint8_t *const at[LANES]) {
    uint32_t complete = 0;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (phase_complete(warp, &inst->mbarrier, l, mbarrier_read(at[l]).phase))
            complete |= 1u << l;
    }
    warp_write_predicate(warp, inst->mbarrier.d, complete);
    return complete == warp->exec ? inst + 1 : path_yield(warp, inst + 1, STOP_SPIN);
}

const Inst *op_mbarrier(Warp *warp, const Inst *inst) {
    uint8_t *at[LANES];
    const InstMbarrier *mbarrier = &inst->mbarrier;
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, warp->exec, at)) return NULL;
    if (mbarrier->mode >= MBARRIER_WAIT_STATE) return mbarrier_wait(warp, inst, at);
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        Mbarrier barrier = mbarrier_read(at[l]);
        if (mbarrier->d != PTX_NONE) REG(warp, LaneU64, mbarrier->d)[l] = mbarrier_word(&barrier);
        if (mbarrier->mode == MBARRIER_INVALIDATE) continue;
        mbarrier_change(&barrier, mbarrier->mode, value_of(warp, mbarrier, l));
        mbarrier_write(at[l], &barrier);
    }
    spin_stored(warp);
    return inst + 1;
}

// mbarrier.pending_count: the arrivals that were pending in a state.
const Inst *op_pending_count(Warp *warp, const Inst *inst) {
    const LaneU64 *state = REG(warp, LaneU64, inst->r[1]);
    LANE_RESULT(LaneU32, state[l] >> COUNT_BITS & ((1u << COUNT_BITS) - 1));
}
