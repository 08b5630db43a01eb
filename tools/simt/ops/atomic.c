// Executes atom and red. PTX ISA, "Parallel Synchronization and Communication Instructions". Lanes
// act in order of their number. On global memory they use the host's atomic operations, since
// blocks may run on several host threads.
#include <math.h>
#include <string.h>

#include "simt/exec/address.h"
#include "simt/exec/spin.h"
#include "simt/ops/half.h"
#include "simt/ops/ops.h"

static float as_f32(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

// Additions of f32 in the L2 cache flush subnormal numbers; those in shared memory do not (measured
// on an H200; PTX ISA, "atom").
static float flushed(float value) {
    return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

static uint64_t from_f32(float value) {
    uint32_t bits;
    if (value != value) return 0x7fffffffu;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// If both numbers are NaNs, the L2 cache returns the added one, and shared memory the old one, made
// quiet (measured on an H200).
static uint64_t add_f64(uint64_t x, uint64_t y, bool cache) {
    const uint64_t quiet = 1ull << 51;
    double a, b;
    memcpy(&a, &x, sizeof a);
    memcpy(&b, &y, sizeof b);
    if (cache && b != b) return y;
    if (a != a) return cache ? x : x | quiet;
    if (b != b) return y | quiet;
    a += b;
    memcpy(&x, &a, sizeof x);
    return x;
}

static uint64_t add_half(uint64_t x, uint64_t y, bool brain) {
    if (brain) {
        return float_to_bfloat((double)bfloat_to_float((uint16_t)x) +
                                   (double)bfloat_to_float((uint16_t)y),
                               ROUND_NEAREST);
    }
    return float_to_half((double)half_to_float((uint16_t)x) + (double)half_to_float((uint16_t)y),
                         ROUND_NEAREST);
}

// `cache`: in global memory, by the L2 cache.
static uint64_t add(PtxType type, uint64_t x, uint64_t y, bool cache) {
    switch (type) {
    case PTX_F32:
        if (cache) return from_f32(flushed(flushed(as_f32(x)) + flushed(as_f32(y))));
        return from_f32(as_f32(x) + as_f32(y));
    case PTX_F64:
        return add_f64(x, y, cache);
    case PTX_F16:
    case PTX_BF16:
        return add_half(x, y, type == PTX_BF16);
    case PTX_F16X2:
    case PTX_BF16X2:
        return add_half(x & 0xffff, y & 0xffff, type == PTX_BF16X2) |
               add_half(x >> 16 & 0xffff, y >> 16 & 0xffff, type == PTX_BF16X2) << 16;
    default:
        return x + y;
    }
}

static bool less(PtxType type, uint64_t x, uint64_t y) {
    switch (type) {
    case PTX_S32:
        return (int32_t)x < (int32_t)y;
    case PTX_S64:
        return (int64_t)x < (int64_t)y;
    default:
        return x < y;
    }
}

// The value that replaces `old` in memory.
static uint64_t apply(AtomicMode mode, PtxType type, bool cache, uint64_t old, uint64_t b,
                      uint64_t c) {
    switch (mode) {
    case ATOMIC_ADD:
        return add(type, old, b, cache);
    case ATOMIC_MIN:
        return less(type, b, old) ? b : old;
    case ATOMIC_MAX:
        return less(type, old, b) ? b : old;
    case ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > b ? b : old - 1;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_EXCH:
        return b;
    case ATOMIC_CAS:
        return old == b ? c : old;
    }
    return old;
}

#define UPDATE(type)                                                                               \
    do {                                                                                           \
        type *at = (type *)(void *)pointer;                                                        \
        type old = __atomic_load_n(at, __ATOMIC_RELAXED), next;                                    \
        do {                                                                                       \
            next = (type)apply(mode, kind, cache, old, b, c);                                      \
        } while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_SEQ_CST,             \
                                              __ATOMIC_RELAXED));                                  \
        return old;                                                                                \
    } while (0)

static uint64_t update(AtomicMode mode, PtxType kind, bool cache, uint32_t bytes, uint8_t *pointer,
                       uint64_t b, uint64_t c) {
    if (mode == ATOMIC_ADD && (kind == PTX_U32 || kind == PTX_S32))
        return __atomic_fetch_add((LaneU32 *)(void *)pointer, (uint32_t)b, __ATOMIC_SEQ_CST);
    if (bytes == 2) UPDATE(LaneU16);
    if (bytes == 4) UPDATE(LaneU32);
    UPDATE(LaneU64);
}

void atomic_update(AtomicMode mode, PtxType type, uint8_t *pointer, uint64_t value) {
    update(mode, type, address_global_pointer(pointer), ptx_type_bytes(type), pointer, value, 0);
}

// Whether the operation would leave `old` unchanged.
static bool keeps(const InstAtomic *atomic, uint32_t bytes, bool cache, uint64_t old, uint64_t b,
                  uint64_t c) {
    uint64_t next = apply(atomic->mode, atomic->type, cache, old, b, c);
    return (old ^ next) << (64 - 8 * bytes) == 0;
}

static bool exchange(uint32_t bytes, uint8_t *pointer, uint64_t expected, uint64_t next) {
    if (bytes == 8)
        return __atomic_compare_exchange_n((LaneU64 *)(void *)pointer, &expected, next, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    uint32_t word = (uint32_t)expected;
    return __atomic_compare_exchange_n((LaneU32 *)(void *)pointer, &word, (uint32_t)next, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

// ATOMS.CAST.SPIN of 4 or 8 bytes in the block's own shared memory. Returns the lanes that found
// the expected value and stored. Only the first lane of each bank can succeed. For 8 bytes the
// lower half of the warp goes before the upper half. Measured on an H200.
static uint32_t cast_once(const Warp *warp, uint32_t mask, uint32_t bytes,
                          uint8_t *const pointer[LANES], const uint64_t expected[LANES],
                          const uint64_t next[LANES]) {
    const uint32_t at_once = bytes == 8 ? LANES / 2 : LANES;
    uint32_t done = 0;
    for (uint32_t from = 0; from < LANES; from += at_once) {
        uint32_t busy = 0;
        for (uint32_t m = mask & ALL_LANES >> (LANES - at_once) << from; m; m &= m - 1) {
            const int lane = __builtin_ctz(m);
            const uint64_t at = (uint64_t)(pointer[lane] - warp->block->shared);
            const uint32_t bank = 1u << at / bytes % (128 / bytes);
            if (busy & bank) continue;
            busy |= bank;
            if (exchange(bytes, pointer[lane], expected[lane], next[lane])) done |= 1u << lane;
        }
    }
    return done;
}

static uint32_t own_shared(const Warp *warp, uint32_t mask, uint8_t *const pointer[LANES]) {
    uint32_t own = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        const uintptr_t at = (uintptr_t)pointer[lane] - (uintptr_t)warp->block->shared;
        if (at < warp->block->shared_bytes) own |= 1u << lane;
    }
    return own;
}

// Counts a load in the machine code of an operation. It loads whole words.
static void count_load(Warp *warp, const Inst *inst, uint32_t mask, uint8_t *const pointer[LANES]) {
    const uint32_t bytes = inst->memory.bytes < 4 ? 4 : inst->memory.bytes;
    uint32_t at[LANES] = {0};
    for (uint32_t m = mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        at[lane] = (uint32_t)(pointer[lane] - warp->block->shared) & ~(bytes - 1);
    }
    address_count_shared(warp, inst->slot + 1, at, mask, bytes, true);
}

// Executes an operation as a loop of loads and ATOMS.CAST.SPIN until every lane of `mask` succeeds.
// A minimum or maximum that would change nothing does not store.
static void loop_shared(Warp *warp, const Inst *inst, uint32_t mask, uint8_t *const pointer[LANES],
                        uint64_t old[LANES]) {
    const InstAtomic *atomic = &inst->atomic;
    const RegisterClass class = register_class(atomic->type);
    const uint32_t bytes = inst->memory.bytes;
    const bool compares = atomic->mode == ATOMIC_MIN || atomic->mode == ATOMIC_MAX;
    uint64_t next[LANES] = {0};
    while (mask) {
        uint32_t idle = 0;
        count_load(warp, inst, mask, pointer);
        for (uint32_t m = mask; m; m &= m - 1) {
            const int lane = __builtin_ctz(m);
            const uint64_t b = warp_read(warp, class, atomic->b, lane);
            old[lane] = 0;
            memcpy(&old[lane], pointer[lane], bytes);
            next[lane] = apply(atomic->mode, atomic->type, false, old[lane], b, 0);
            if (compares && next[lane] == old[lane]) idle |= 1u << lane;
        }
        mask &= ~idle;
        mask &= ~cast_once(warp, mask, bytes, pointer, old, next);
    }
}

// Executes the operation with loads where ptxas does. Returns the lanes that are done, with their
// old values.
static uint32_t do_by_loads(Warp *warp, const Inst *inst, uint32_t mask,
                            uint8_t *const pointer[LANES], uint64_t old[LANES]) {
    const AtomicLoads loads = inst->atomic.loads;
    const uint32_t own = own_shared(warp, mask, pointer);
    if (loads == LOADS_AGAIN) {
        loop_shared(warp, inst, own, pointer, old);
        return own;
    }
    if (own) count_load(warp, inst, loads == LOADS_OF_FIRST ? own & -own : own, pointer);
    return 0;
}

const Inst *op_atomic(Warp *warp, const Inst *inst) {
    const InstAtomic *atomic = &inst->atomic;
    uint8_t *pointer[LANES];
    const uint32_t mask = warp->exec, bytes = inst->memory.bytes;
    const RegisterClass class = register_class(atomic->type);
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, mask, pointer)) return NULL;
    warp->tally[inst->slot].a += (uint32_t)__builtin_popcount(mask);
    bool changed = false;
    uint64_t seen = 0, old_of[LANES];
    const uint32_t done =
        atomic->loads != LOADS_NONE ? do_by_loads(warp, inst, mask, pointer, old_of) : 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t b = warp_read(warp, class, atomic->b, lane), c = 0;
        if (atomic->mode == ATOMIC_CAS) c = warp_read(warp, class, atomic->c, lane);
        bool cache = address_global_pointer(pointer[lane]);
        uint64_t old = done >> lane & 1
                           ? old_of[lane]
                           : update(atomic->mode, atomic->type, cache, bytes, pointer[lane], b, c);
        changed |= !inst->spins || !keeps(atomic, bytes, cache, old, b, c);
        if (lane == __builtin_ctz(mask)) seen = old;
        if (atomic->old != PTX_NONE) warp_write(warp, class, atomic->old, lane, old);
    }
    if (changed) spin_stored(warp);
    return inst->spins ? spin_read(warp, inst, seen) : inst + 1;
}

// b is the expected value and c the new one. `old` becomes 1 in lanes that stored, else 0.
const Inst *op_atomic_cast(Warp *warp, const Inst *inst) {
    const InstAtomic *atomic = &inst->atomic;
    uint8_t *pointer[LANES];
    uint64_t expected[LANES] = {0}, next[LANES] = {0};
    const uint32_t mask = warp->exec;
    const RegisterClass class = register_class(atomic->type);
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, mask, pointer)) return NULL;
    warp->tally[inst->slot].a += (uint32_t)__builtin_popcount(mask);
    for (uint32_t m = mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        expected[lane] = warp_read(warp, class, atomic->b, lane);
        next[lane] = warp_read(warp, class, atomic->c, lane);
    }
    const uint32_t done = cast_once(warp, mask, inst->memory.bytes, pointer, expected, next);
    for (uint32_t m = mask; m; m &= m - 1)
        warp_write(warp, REGISTER_32, atomic->old, __builtin_ctz(m), done >> __builtin_ctz(m) & 1);
    if (done) spin_stored(warp);
    return spin_read(warp, inst, done >> __builtin_ctz(mask) & 1);
}
