// Loads and stores. Whole warps that access consecutive memory are copied in one piece; all else
// goes lane by lane through address_resolve(), which checks every address and counts.
#include <string.h>

#include "simt/exec/address.h"
#include "simt/ops/ops.h"

#define ALWAYS     static inline __attribute__((always_inline))
#define SPIN_LIMIT 32

const Inst *memory_spin(Warp *warp, const Inst *inst) {
    if (++warp->spins < SPIN_LIMIT) return inst + 1;
    return path_yield(warp, inst + 1, STOP_SPIN);
}

ALWAYS const Inst *memory_next(Warp *warp, const Inst *inst) {
    if (__builtin_expect(inst->flags & INST_SPINS, 0)) return memory_spin(warp, inst);
    return inst + 1;
}

// --- lane by lane between pointers and registers ---

#define COPY_IN(memory, type)                                                                      \
    do {                                                                                           \
        type *d = REG(warp, type, offset);                                                         \
        for (uint32_t m = mask; m; m &= m - 1) {                                                   \
            int l = __builtin_ctz(m);                                                              \
            memory value;                                                                          \
            memcpy(&value, pointer[l] + at, sizeof value);                                         \
            d[l] = (type)value;                                                                    \
        }                                                                                          \
        return;                                                                                    \
    } while (0)

#define COPY_IN_EXTENDED(memory)                                                                   \
    do {                                                                                           \
        if (inst->sizes == 2) COPY_IN(memory, LaneU16);                                            \
        if (inst->sizes == 4) COPY_IN(memory, LaneU32);                                            \
        COPY_IN(memory, LaneU64);                                                                  \
    } while (0)

static void copy_in(Warp *warp, const Inst *inst, uint32_t offset, uint32_t mask,
                    uint8_t *const pointer[LANES], uint32_t at) {
    switch (inst->bytes + (inst->mode ? 16 : 0)) {
    case 1:
        COPY_IN_EXTENDED(uint8_t);
    case 2:
        COPY_IN_EXTENDED(uint16_t);
    case 4:
        COPY_IN_EXTENDED(uint32_t);
    case 17:
        COPY_IN_EXTENDED(int8_t);
    case 18:
        COPY_IN_EXTENDED(int16_t);
    case 20:
        COPY_IN_EXTENDED(int32_t);
    default:
        COPY_IN(uint64_t, LaneU64);
    }
}

static void copy_out(Warp *warp, const Inst *inst, uint32_t offset, uint32_t mask,
                     uint8_t *const pointer[LANES], uint32_t at) {
    const uint8_t *from = REG(warp, uint8_t, offset);
    const uint32_t step = inst->sizes;
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const uint8_t *value = from + step * (uint32_t)l;
        uint8_t *to = pointer[l] + at;
        switch (inst->bytes) {
        case 1:
            *to = *value;
            break;
        case 2:
            memcpy(to, value, 2);
            break;
        case 4:
            memcpy(to, value, 4);
            break;
        default:
            memcpy(to, value, 8);
            break;
        }
    }
}

static const Inst *load_any(Warp *warp, const Inst *inst) {
    uint8_t *pointer[LANES];
    const uint32_t mask = warp->exec;
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, mask, pointer)) return NULL;
    for (uint32_t e = 0; e < inst->elements; e++) {
        if (inst->r[1 + e] == PTX_NONE) continue;
        copy_in(warp, inst, inst->r[1 + e], mask, pointer, e * inst->bytes);
    }
    return memory_next(warp, inst);
}

static const Inst *store_any(Warp *warp, const Inst *inst) {
    uint8_t *pointer[LANES];
    const uint32_t mask = warp->exec;
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, mask, pointer)) return NULL;
    for (uint32_t e = 0; e < inst->elements; e++)
        copy_out(warp, inst, inst->r[1 + e], mask, pointer, e * inst->bytes);
    return inst + 1;
}

const Inst *op_load_param(Warp *warp, const Inst *inst) {
    uint8_t *pointer[LANES];
    uint8_t *at = warp->block->machine->params + inst->imm;
    if (inst->elements == 1 && !inst->mode && inst->bytes == inst->sizes && inst->bytes >= 4) {
        if (inst->bytes == 4) {
            uint32_t value;
            memcpy(&value, at, sizeof value);
            const uint32_t m = warp->exec;
            LaneU32 *d = REG(warp, LaneU32, inst->r[1]);
            LANE_LOOP d[l] = (m >> l) & 1 ? value : d[l];
        } else {
            uint64_t value;
            memcpy(&value, at, sizeof value);
            const uint32_t m = warp->exec;
            LaneU64 *d = REG(warp, LaneU64, inst->r[1]);
            LANE_LOOP d[l] = (m >> l) & 1 ? value : d[l];
        }
        return inst + 1;
    }
    for (int l = 0; l < LANES; l++) pointer[l] = at;
    for (uint32_t e = 0; e < inst->elements; e++) {
        if (inst->r[1 + e] == PTX_NONE) continue;
        copy_in(warp, inst, inst->r[1 + e], warp->exec, pointer, e * inst->bytes);
    }
    return inst + 1;
}

static void frame_pointers(const Warp *warp, const Inst *inst, uint8_t *pointer[LANES]) {
    for (uint32_t l = 0; l < LANES; l++) pointer[l] = warp->frame + inst->imm + inst->r[0] * l;
}

const Inst *op_load_frame(Warp *warp, const Inst *inst) {
    uint8_t *pointer[LANES];
    frame_pointers(warp, inst, pointer);
    for (uint32_t e = 0; e < inst->elements; e++) {
        if (inst->r[1 + e] == PTX_NONE) continue;
        copy_in(warp, inst, inst->r[1 + e], warp->exec, pointer, e * inst->bytes);
    }
    return inst + 1;
}

const Inst *op_store_frame(Warp *warp, const Inst *inst) {
    uint8_t *pointer[LANES];
    frame_pointers(warp, inst, pointer);
    for (uint32_t e = 0; e < inst->elements; e++)
        copy_out(warp, inst, inst->r[1 + e], warp->exec, pointer, e * inst->bytes);
    return inst + 1;
}

// --- whole warps at consecutive addresses ---

#define SPREAD(type)                                                                               \
    for (uint32_t e = 0; e < elements; e++) {                                                      \
        if (inst->r[1 + e] == PTX_NONE) continue;                                                  \
        type *d = REG(warp, type, inst->r[1 + e]);                                                 \
        const type *s = (const type *)(const void *)from;                                          \
        LANE_LOOP d[l] = s[(uint32_t)l * elements + e];                                            \
    }
#define COLLECT(type)                                                                              \
    for (uint32_t e = 0; e < elements; e++) {                                                      \
        const type *s = REG(warp, type, inst->r[1 + e]);                                           \
        type *d = (type *)(void *)to;                                                              \
        LANE_LOOP d[(uint32_t)l * elements + e] = s[l];                                            \
    }

ALWAYS const Inst *load_whole(Warp *warp, const Inst *inst, bool shared, uint32_t bytes,
                              uint32_t elements) {
    const uint8_t *from = shared ? address_whole_shared(warp, inst, bytes * elements)
                                 : address_whole_global(warp, inst, bytes * elements);
    if (!from) return load_any(warp, inst);
    if (bytes == 4)
        SPREAD(LaneU32)
    else
        SPREAD(LaneU64)
    return memory_next(warp, inst);
}

ALWAYS const Inst *store_whole(Warp *warp, const Inst *inst, bool shared, uint32_t bytes,
                               uint32_t elements) {
    uint8_t *to = shared ? address_whole_shared(warp, inst, bytes * elements)
                         : address_whole_global(warp, inst, bytes * elements);
    if (!to) return store_any(warp, inst);
    if (bytes == 4)
        COLLECT(LaneU32)
    else
        COLLECT(LaneU64)
    return inst + 1;
}

#define WHOLE(bytes, elements)                                                                     \
    static const Inst *load_global_##bytes##x##elements(Warp *warp, const Inst *inst) {            \
        return load_whole(warp, inst, false, bytes, elements);                                     \
    }                                                                                              \
    static const Inst *store_global_##bytes##x##elements(Warp *warp, const Inst *inst) {           \
        return store_whole(warp, inst, false, bytes, elements);                                    \
    }                                                                                              \
    static const Inst *load_shared_##bytes##x##elements(Warp *warp, const Inst *inst) {            \
        return load_whole(warp, inst, true, bytes, elements);                                      \
    }                                                                                              \
    static const Inst *store_shared_##bytes##x##elements(Warp *warp, const Inst *inst) {           \
        return store_whole(warp, inst, true, bytes, elements);                                     \
    }
WHOLE(4, 1)
WHOLE(4, 2)
WHOLE(4, 4)
WHOLE(8, 1)
WHOLE(8, 2)

static const struct {
    uint8_t bytes, elements;
    Op *load_global, *store_global, *load_shared, *store_shared;
} whole_rows[] = {
#define WHOLE_ROW(bytes, elements)                                                                 \
    {                                                                                              \
        bytes, elements, load_global_##bytes##x##elements, store_global_##bytes##x##elements,      \
            load_shared_##bytes##x##elements, store_shared_##bytes##x##elements                    \
    }
    WHOLE_ROW(4, 1), WHOLE_ROW(4, 2), WHOLE_ROW(4, 4), WHOLE_ROW(8, 1), WHOLE_ROW(8, 2),
};

static Op *choose(PtxSpace space, uint32_t bytes, uint32_t elements, uint32_t register_bytes,
                  bool load) {
    for (size_t k = 0; k < sizeof whole_rows / sizeof *whole_rows; k++) {
        if (whole_rows[k].bytes != bytes || whole_rows[k].elements != elements) continue;
        if (register_bytes != bytes) break;
        if (space == PTX_GLOBAL)
            return load ? whole_rows[k].load_global : whole_rows[k].store_global;
        if (space == PTX_SHARED)
            return load ? whole_rows[k].load_shared : whole_rows[k].store_shared;
    }
    return load ? load_any : store_any;
}

Op *op_load(PtxSpace space, uint32_t bytes, uint32_t elements, uint32_t register_bytes) {
    return choose(space, bytes, elements, register_bytes, true);
}

Op *op_store(PtxSpace space, uint32_t bytes, uint32_t elements, uint32_t register_bytes) {
    return choose(space, bytes, elements, register_bytes, false);
}

// Prefetches and cache hints do nothing.
const Inst *op_prefetch(Warp *warp, const Inst *inst) {
    (void)warp;
    return inst + 1;
}
