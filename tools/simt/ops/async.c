// Asynchronous copies and mbarriers. Copies are done at once, so groups of copies never have to be
// waited for. PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and
// "Parallel Synchronization and Communication Instructions: mbarrier".
#include <string.h>

#include "simt/exec/address.h"
#include "simt/ops/ops.h"

// cp.async: r[0], imm, wide: where to, in shared memory; r[1] and extra: where from, in global
// memory; r[2]: bytes to read, the rest is zero, or PTX_NONE; r[3]: lanes that read nothing.
const Inst *op_copy_async(Warp *warp, const Inst *inst) {
    const Access store = address_copy_store(inst), load = address_copy_load(inst);
    const uint32_t mask = warp->exec, size = address_bytes(&store);
    uint8_t *to[LANES], *from[LANES];
    uint32_t reading = mask;
    if (inst->r[3] != PTX_NONE) reading &= ~*REG(warp, LaneU32, inst->r[3]);
    if (!address_resolve(warp, &store, mask, to)) return NULL;
    if (reading && !address_resolve(warp, &load, reading, from)) return NULL;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        uint32_t bytes = address_copy_bytes(warp, inst, l);
        if (bytes) memcpy(to[l], from[l], bytes);
        memset(to[l] + bytes, 0, size - bytes);
    }
    return inst + 1;
}

// An mbarrier as it is kept here; PTX leaves that open. Of the current phase: arrivals still
// pending, bytes of transactions still pending (signed); and how many arrivals a phase expects.
typedef struct {
    uint32_t phase, expected, pending;
    int32_t bytes;
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

static uint32_t operand(const Warp *warp, const Inst *inst, int k, int lane, uint32_t otherwise) {
    return inst->r[k] == PTX_NONE ? otherwise : REG(warp, LaneU32, inst->r[k])[lane];
}

// r[0]: address; r[1]: result (state, or a predicate); r[2]: count, bytes, state or parity.
const Inst *op_mbarrier(Warp *warp, const Inst *inst) {
    uint8_t *at[LANES];
    const MbarrierMode mode = (MbarrierMode)inst->mode;
    uint32_t complete = 0;
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, warp->exec, at)) return NULL;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        Mbarrier barrier = mbarrier_read(at[l]);
        uint64_t before = mbarrier_word(&barrier);
        switch (mode) {
        case MBARRIER_INIT:
            barrier = (Mbarrier){.expected = operand(warp, inst, 2, l, 1)};
            barrier.pending = barrier.expected;
            mbarrier_write(at[l], &barrier);
            break;
        case MBARRIER_INVALIDATE:
            break;
        case MBARRIER_EXPECT:
            barrier.bytes += (int32_t)operand(warp, inst, 2, l, 0);
            mbarrier_write(at[l], &barrier);
            break;
        case MBARRIER_COMPLETE:
            barrier.bytes -= (int32_t)operand(warp, inst, 2, l, 0);
            mbarrier_write(at[l], &barrier);
            break;
        case MBARRIER_ARRIVE_EXPECT:
            barrier.bytes += (int32_t)operand(warp, inst, 2, l, 0);
            barrier.pending--;
            mbarrier_write(at[l], &barrier);
            break;
        case MBARRIER_ARRIVE_DROP:
            barrier.expected--;
            barrier.pending -= operand(warp, inst, 2, l, 1);
            mbarrier_write(at[l], &barrier);
            break;
        case MBARRIER_ARRIVE:
            barrier.pending -= operand(warp, inst, 2, l, 1);
            mbarrier_write(at[l], &barrier);
            break;
        case MBARRIER_WAIT_STATE:
            if (REG(warp, LaneU64, inst->r[2])[l] >> 63 != barrier.phase) complete |= 1u << l;
            break;
        case MBARRIER_WAIT_PARITY:
            if ((operand(warp, inst, 2, l, 0) & 1) != barrier.phase) complete |= 1u << l;
            break;
        }
        if (inst->r[1] != PTX_NONE && mode < MBARRIER_WAIT_STATE)
            REG(warp, LaneU64, inst->r[1])[l] = before;
    }
    if (mode < MBARRIER_WAIT_STATE) return inst + 1;
    LaneU32 *d = REG(warp, LaneU32, inst->r[1]);
    *d = (*d & ~warp->exec) | complete;
    return complete == warp->exec ? inst + 1 : path_yield(warp, inst + 1, STOP_SPIN);
}
