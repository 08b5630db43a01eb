// Executes loads and stores. If a whole warp accesses consecutive memory, one loop copies it. All
// other accesses go through address_resolve(), which checks every address and counts.
#include <string.h>

#include "simt/exec/address.h"
#include "simt/exec/spin.h"
#include "simt/ops/ops.h"

#define ALWAYS static inline __attribute__((always_inline))

static const Inst *spin_after_load(Warp *warp, const Inst *inst) {
    const InstValues *values = &inst->values;
    if (values->value[0] == PTX_NONE) return inst + 1;
    int first = __builtin_ctz(warp->exec);
    return spin_read(warp, inst, warp_read(warp, values->class, values->value[0], first));
}

ALWAYS const Inst *memory_next(Warp *warp, const Inst *inst) {
    if (__builtin_expect(inst->spins, 0)) return spin_after_load(warp, inst);
    return inst + 1;
}

// --- lane by lane between pointers and registers ---

#define COPY_IN(memory, type)                                                                      \
    do {                                                                                           \
        type *d = REG(warp, type, offset);                                                         \
        memory value;                                                                              \
        for (int l = 0; mask == ALL_LANES && l < LANES; l++) {                                     \
            memcpy(&value, pointer[l] + at, sizeof value);                                         \
            d[l] = (type)value;                                                                    \
        }                                                                                          \
        for (uint32_t m = mask == ALL_LANES ? 0 : mask; m; m &= m - 1) {                           \
            int l = __builtin_ctz(m);                                                              \
            memcpy(&value, pointer[l] + at, sizeof value);                                         \
            d[l] = (type)value;                                                                    \
        }                                                                                          \
        return;                                                                                    \
    } while (0)

#define COPY_IN_EXTENDED(memory)                                                                   \
    do {                                                                                           \
        if (values->class == REGISTER_16) COPY_IN(memory, LaneU16);                                \
        if (values->class == REGISTER_32) COPY_IN(memory, LaneU32);                                \
        COPY_IN(memory, LaneU64);                                                                  \
    } while (0)

// Loads element e, of `bytes` bytes, from the lanes' pointers to its register.
static void copy_in(Warp *warp, const InstValues *values, uint32_t e, uint32_t bytes, uint32_t mask,
                    uint8_t *const pointer[LANES]) {
    const uint32_t offset = values->value[e], at = e * bytes;
    if (offset == PTX_NONE) return;
    switch (bytes + (values->sign_extend ? 16 : 0)) {
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

static void copy_out(Warp *warp, const InstValues *values, uint32_t e, uint32_t bytes,
                     uint32_t mask, uint8_t *const pointer[LANES]) {
    const uint8_t *from = REG(warp, uint8_t, values->value[e]);
    const uint32_t step = register_bytes(values->class);
    for (uint32_t m = mask; m; m &= m - 1) {
        int l = __builtin_ctz(m);
        const uint8_t *value = from + step * (uint32_t)l;
        uint8_t *to = pointer[l] + e * bytes;
        switch (bytes) {
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
    const InstMemory *memory = &inst->memory;
    uint8_t *pointer[LANES];
    const uint32_t mask = warp->exec;
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, mask, pointer)) return NULL;
    for (uint32_t e = 0; e < memory->elements; e++)
        copy_in(warp, &inst->values, e, memory->bytes, mask, pointer);
    return memory_next(warp, inst);
}

// Whether this is local memory, which no other thread waits for.
static bool is_own(const Warp *warp, const uint8_t *at) {
    const uint64_t bytes = warp->block->local_stride * LANES;
    return (uintptr_t)at - (uintptr_t)warp->block->local - warp->index * bytes < bytes;
}

static const Inst *store_any(Warp *warp, const Inst *inst) {
    const InstMemory *memory = &inst->memory;
    uint8_t *pointer[LANES];
    const uint32_t mask = warp->exec;
    const Access access = address_access(inst);
    if (!address_resolve(warp, &access, mask, pointer)) return NULL;
    for (uint32_t e = 0; e < memory->elements; e++)
        copy_out(warp, &inst->values, e, memory->bytes, mask, pointer);
    if (!mask || !is_own(warp, pointer[__builtin_ctz(mask)])) spin_stored(warp);
    return inst + 1;
}

#define LOAD_ONE(type, from)                                                                       \
    do {                                                                                           \
        type value;                                                                                \
        memcpy(&value, from, sizeof value);                                                        \
        LANE_RESULT_IN(inst->values.value[0], type, value);                                        \
    } while (0)

// Whether the access is of one value that fills its register.
static bool is_plain(const InstParameter *parameter, const InstValues *values) {
    return parameter->elements == 1 && values->value[0] != PTX_NONE &&
           parameter->bytes == register_bytes(values->class);
}

// All lanes read the same value.
const Inst *op_load_param(Warp *warp, const Inst *inst) {
    const InstParameter *parameter = &inst->parameter;
    uint8_t *pointer[LANES], *at = warp->block->machine->params + parameter->offset;
    if (is_plain(parameter, &inst->values)) {
        if (parameter->bytes == 4) LOAD_ONE(LaneU32, at);
        if (parameter->bytes == 8) LOAD_ONE(LaneU64, at);
    }
    for (int l = 0; l < LANES; l++) pointer[l] = at;
    for (uint32_t e = 0; e < parameter->elements; e++)
        copy_in(warp, &inst->values, e, parameter->bytes, warp->exec, pointer);
    return inst + 1;
}

static void frame_pointers(const Warp *warp, const InstParameter *parameter,
                           uint8_t *pointer[LANES]) {
    for (uint32_t l = 0; l < LANES; l++)
        pointer[l] = warp->frame + parameter->offset + parameter->stride * l;
}

const Inst *op_load_frame(Warp *warp, const Inst *inst) {
    const InstParameter *parameter = &inst->parameter;
    if (is_plain(parameter, &inst->values)) {
        warp_copy_lanes(warp->exec, REG(warp, uint8_t, inst->values.value[0]), parameter->bytes,
                        warp->frame + parameter->offset, parameter->stride, parameter->bytes);
        return inst + 1;
    }
    uint8_t *pointer[LANES];
    frame_pointers(warp, parameter, pointer);
    for (uint32_t e = 0; e < parameter->elements; e++)
        copy_in(warp, &inst->values, e, parameter->bytes, warp->exec, pointer);
    return inst + 1;
}

const Inst *op_store_frame(Warp *warp, const Inst *inst) {
    const InstParameter *parameter = &inst->parameter;
    if (is_plain(parameter, &inst->values)) {
        warp_copy_lanes(warp->exec, warp->frame + parameter->offset, parameter->stride,
                        REG(warp, uint8_t, inst->values.value[0]), parameter->bytes,
                        parameter->bytes);
        return inst + 1;
    }
    uint8_t *pointer[LANES];
    frame_pointers(warp, parameter, pointer);
    for (uint32_t e = 0; e < parameter->elements; e++)
        copy_out(warp, &inst->values, e, parameter->bytes, warp->exec, pointer);
    return inst + 1;
}

// --- whole warps at consecutive addresses ---

#define SPREAD(type)                                                                               \
    for (uint32_t e = 0; e < elements; e++) {                                                      \
        if (inst->values.value[e] == PTX_NONE) continue;                                           \
        type *d = REG(warp, type, inst->values.value[e]);                                          \
        const type *s = (const type *)(const void *)from;                                          \
        LANE_LOOP d[l] = s[(uint32_t)l * elements + e];                                            \
    }
#define COLLECT(type)                                                                              \
    for (uint32_t e = 0; e < elements; e++) {                                                      \
        const type *s = REG(warp, type, inst->values.value[e]);                                    \
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
    spin_stored(warp);
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

static Op *choose(PtxSpace space, uint32_t bytes, uint32_t elements, RegisterClass class,
                  bool load) {
    for (size_t k = 0; k < sizeof whole_rows / sizeof *whole_rows; k++) {
        if (whole_rows[k].bytes != bytes || whole_rows[k].elements != elements) continue;
        if (register_bytes(class) != bytes) break;
        if (space == PTX_GLOBAL)
            return load ? whole_rows[k].load_global : whole_rows[k].store_global;
        if (space == PTX_SHARED)
            return load ? whole_rows[k].load_shared : whole_rows[k].store_shared;
    }
    return load ? load_any : store_any;
}

Op *op_load(PtxSpace space, uint32_t bytes, uint32_t elements, RegisterClass class) {
    return choose(space, bytes, elements, class, true);
}

Op *op_store(PtxSpace space, uint32_t bytes, uint32_t elements, RegisterClass class) {
    return choose(space, bytes, elements, class, false);
}
