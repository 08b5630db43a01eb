// Executes moves, selections, and packing of vectors. PTX ISA, "Data Movement and Conversion
// Instructions" and "Comparison and Selection Instructions".
#include "simt/exec/address.h"
#include "simt/ops/ops.h"
#include "simt/ops/row.h"

#define MOVE(name, type)                                                                           \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        LANE_RESULT(type, a[l]);                                                                   \
    }
MOVE(mov16, LaneU16)
MOVE(mov32, LaneU32)
MOVE(mov64, LaneU64)
static const Inst *mov_pred(Warp *warp, const Inst *inst) {
    warp_write_predicate(warp, inst->r[0], *REG(warp, LaneU32, inst->r[1]));
    return inst + 1;
}

#define SELECT(name, type)                                                                         \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]), *b = REG(warp, type, inst->r[2]);             \
        const uint32_t p = *REG(warp, LaneU32, inst->r[3]);                                        \
        LANE_RESULT(type, (p >> l) & 1 ? a[l] : b[l]);                                             \
    }
SELECT(selp16, LaneU16)
SELECT(selp32, LaneU32)
SELECT(selp64, LaneU64)
#define SELECT_SIGN(name, type, type_c)                                                            \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]), *b = REG(warp, type, inst->r[2]);             \
        const type_c *c = REG(warp, type_c, inst->r[3]);                                           \
        LANE_RESULT(type, c[l] >= 0 ? a[l] : b[l]);                                                \
    }
SELECT_SIGN(slct16_s32, LaneU16, LaneS32)
SELECT_SIGN(slct32_s32, LaneU32, LaneS32)
SELECT_SIGN(slct64_s32, LaneU64, LaneS32)
SELECT_SIGN(slct16_f32, LaneU16, LaneF32)
SELECT_SIGN(slct32_f32, LaneU32, LaneF32)
SELECT_SIGN(slct64_f32, LaneU64, LaneF32)

// The address of a local variable: its offset plus the local stack pointer of the path.
const Inst *op_local_address(Warp *warp, const Inst *inst) {
    const InstLocal *local = &inst->local;
    const uint64_t address = local->offset + warp->local;
    if (local->class == REGISTER_64) LANE_RESULT_IN(local->d, LaneU64, address);
    LANE_RESULT_IN(local->d, LaneU32, address);
}

// The class of a register that holds this many bytes; a part may be a single byte.
static RegisterClass class_of(uint32_t bytes) {
    return bytes <= 2 ? REGISTER_16 : bytes == 4 ? REGISTER_32 : REGISTER_64;
}
static uint64_t part_of(uint64_t value, uint32_t bytes) {
    return bytes == 1 ? value & 0xff : value;
}

const Inst *op_pack(Warp *warp, const Inst *inst) {
    const InstVector *vector = &inst->vector;
    const uint32_t bytes = vector->bytes;
    const RegisterClass part = class_of(bytes), whole = class_of(bytes * vector->count);
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t value = 0;
        for (uint32_t k = 0; k < vector->count; k++)
            value |= part_of(warp_read(warp, part, vector->part[k], lane), bytes)
                     << (8 * bytes * k);
        warp_write(warp, whole, vector->whole, lane, value);
    }
    return inst + 1;
}

const Inst *op_unpack(Warp *warp, const Inst *inst) {
    const InstVector *vector = &inst->vector;
    const uint32_t bytes = vector->bytes;
    const RegisterClass part = class_of(bytes), whole = class_of(bytes * vector->count);
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t value = warp_read(warp, whole, vector->whole, lane);
        for (uint32_t k = 0; k < vector->count; k++) {
            if (vector->part[k] == PTX_NONE) continue;
            warp_write(warp, part, vector->part[k], lane, part_of(value >> (8 * bytes * k), bytes));
        }
    }
    return inst + 1;
}

// isspacep: whether the generic address is in the space.
const Inst *op_is_space(Warp *warp, const Inst *inst) {
    const LaneU64 *a = REG(warp, LaneU64, inst->in_space.address);
    uint32_t result = 0;
    for (int l = 0; l < LANES; l++)
        result |= (uint32_t)address_in_space(warp->block, a[l], inst->in_space.space) << l;
    warp_write_predicate(warp, inst->in_space.d, result);
    return inst + 1;
}

#define MOVES(type, run, shape)                                                                    \
    { "mov." type, run, shape }
#define SELECTS(type, bits, letter)                                                                \
    {"selp." type, selp##bits, letter letter letter "p"},                                          \
        {"slct." type ".s32", slct##bits##_s32, letter letter letter "w"}, {                       \
        "slct." type ".f32", slct##bits##_f32, letter letter letter "w"                            \
    }

const OpRow op_move_rows[] = {
    MOVES("b16", mov16, "hh"),     MOVES("u16", mov16, "hh"),    MOVES("s16", mov16, "hh"),
    MOVES("f16", mov16, "hh"),     MOVES("b32", mov32, "ww"),    MOVES("u32", mov32, "ww"),
    MOVES("s32", mov32, "ww"),     MOVES("f32", mov32, "ww"),    MOVES("f16x2", mov32, "ww"),
    MOVES("bf16", mov16, "hh"),    MOVES("bf16x2", mov32, "ww"), MOVES("b64", mov64, "dd"),
    MOVES("u64", mov64, "dd"),     MOVES("s64", mov64, "dd"),    MOVES("f64", mov64, "dd"),
    MOVES("pred", mov_pred, "pp"), SELECTS("b16", 16, "h"),      SELECTS("u16", 16, "h"),
    SELECTS("s16", 16, "h"),       SELECTS("b32", 32, "w"),      SELECTS("u32", 32, "w"),
    SELECTS("s32", 32, "w"),       SELECTS("f32", 32, "w"),      SELECTS("b64", 64, "d"),
    SELECTS("u64", 64, "d"),       SELECTS("s64", 64, "d"),      SELECTS("f64", 64, "d"),
    SELECTS("f16", 16, "h"),       SELECTS("f16x2", 32, "w"),    {NULL, NULL, NULL},
};
