// Moves, selections, special registers, packing of vectors. PTX ISA, "Data Movement and Conversion
// Instructions" and "Comparison and Selection Instructions"; "Special Registers".
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "simt/exec/address.h"
#include "simt/ops/ops.h"

#define MOVE(name, type)                                                                           \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        LANE_RESULT(type, a[l]);                                                                   \
    }
MOVE(mov16, LaneU16)
MOVE(mov32, LaneU32)
MOVE(mov64, LaneU64)
static const Inst *mov_pred(Warp *warp, const Inst *inst) {
    LaneU32 *d = REG(warp, LaneU32, inst->r[0]);
    *d = (*d & ~warp->exec) | (*REG(warp, LaneU32, inst->r[1]) & warp->exec);
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

// d = imm, plus the local stack pointer of the path for addresses of local variables.
const Inst *op_local_address(Warp *warp, const Inst *inst) {
    const uint64_t address = inst->imm + warp->local;
    if (inst->wide) LANE_RESULT(LaneU64, address);
    LANE_RESULT(LaneU32, address);
}

// Vectors in registers: parts of `bytes` each to one register, r[0] <- r[1..], and back,
// r[1..] <- r[0].
static uint64_t read_lane(const Warp *warp, uint32_t offset, uint32_t bytes, int lane) {
    if (bytes == 2) return REG(warp, LaneU16, offset)[lane];
    if (bytes == 4) return REG(warp, LaneU32, offset)[lane];
    if (bytes == 1) return REG(warp, LaneU16, offset)[lane] & 0xff;
    return REG(warp, LaneU64, offset)[lane];
}
static void write_lane(const Warp *warp, uint32_t offset, uint32_t bytes, int lane, uint64_t v) {
    if (bytes <= 2)
        REG(warp, LaneU16, offset)[lane] = (LaneU16)v;
    else if (bytes == 4)
        REG(warp, LaneU32, offset)[lane] = (LaneU32)v;
    else
        REG(warp, LaneU64, offset)[lane] = v;
}
const Inst *op_pack(Warp *warp, const Inst *inst) {
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t value = 0;
        for (uint32_t k = 0; k < inst->elements; k++)
            value |= read_lane(warp, inst->r[1 + k], inst->bytes, lane) << (8 * inst->bytes * k);
        write_lane(warp, inst->r[0], (uint32_t)inst->bytes * inst->elements, lane, value);
    }
    return inst + 1;
}
const Inst *op_unpack(Warp *warp, const Inst *inst) {
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t value = read_lane(warp, inst->r[0], (uint32_t)inst->bytes * inst->elements, lane);
        for (uint32_t k = 0; k < inst->elements; k++) {
            if (inst->r[1 + k] == PTX_NONE) continue;
            uint64_t part = value >> (8 * inst->bytes * k);
            if (inst->bytes == 1) part &= 0xff;
            write_lane(warp, inst->r[1 + k], inst->bytes, lane, part);
        }
    }
    return inst + 1;
}

// isspacep: r[0] <- does the generic address r[1] lie in `space`?
const Inst *op_is_space(Warp *warp, const Inst *inst) {
    const LaneU64 *a = REG(warp, LaneU64, inst->r[1]);
    LaneU32 *d = REG(warp, LaneU32, inst->r[0]);
    uint32_t result = 0;
    for (int l = 0; l < LANES; l++)
        result |= (uint32_t)address_in_space(a[l], (PtxSpace)inst->space) << l;
    *d = (*d & ~warp->exec) | (result & warp->exec);
    return inst + 1;
}

// --- special registers ---

static uint64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t special_value(const Warp *warp, Special special, int lane) {
    const Block *block = warp->block;
    const Machine *machine = block->machine;
    const uint32_t bit = 1u << lane;
    switch (special) {
    case SPECIAL_TID_X:
        return warp->tid[0][lane];
    case SPECIAL_TID_Y:
        return warp->tid[1][lane];
    case SPECIAL_TID_Z:
        return warp->tid[2][lane];
    case SPECIAL_NTID_X:
        return machine->block.x;
    case SPECIAL_NTID_Y:
        return machine->block.y;
    case SPECIAL_NTID_Z:
        return machine->block.z;
    case SPECIAL_CTAID_X:
    case SPECIAL_CLUSTERID_X:
        return block->index.x;
    case SPECIAL_CTAID_Y:
    case SPECIAL_CLUSTERID_Y:
        return block->index.y;
    case SPECIAL_CTAID_Z:
    case SPECIAL_CLUSTERID_Z:
        return block->index.z;
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCLUSTERID_X:
        return machine->grid.x;
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCLUSTERID_Y:
        return machine->grid.y;
    case SPECIAL_NCTAID_Z:
    case SPECIAL_NCLUSTERID_Z:
        return machine->grid.z;
    case SPECIAL_LANEID:
        return (uint64_t)lane;
    case SPECIAL_WARPID:
        return warp->index;
    case SPECIAL_NWARPID:
        return 64;
    case SPECIAL_SMID:
        return block->number % DEVICE_SMS;
    case SPECIAL_NSMID:
        return DEVICE_SMS;
    case SPECIAL_GRIDID:
        return machine->grid_id;
    case SPECIAL_LANEMASK_EQ:
        return bit;
    case SPECIAL_LANEMASK_LT:
        return bit - 1;
    case SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    case SPECIAL_CLOCK:
        return now_ns(CLOCK_MONOTONIC) & UINT32_MAX;
    case SPECIAL_CLOCK_HI:
        return now_ns(CLOCK_MONOTONIC) >> 32;
    case SPECIAL_CLOCK64:
        return now_ns(CLOCK_MONOTONIC);
    case SPECIAL_GLOBALTIMER:
        return now_ns(CLOCK_REALTIME);
    case SPECIAL_GLOBALTIMER_LO:
        return now_ns(CLOCK_REALTIME) & UINT32_MAX;
    case SPECIAL_GLOBALTIMER_HI:
        return now_ns(CLOCK_REALTIME) >> 32;
    case SPECIAL_DYNAMIC_SHARED:
        return machine->dynamic_shared;
    case SPECIAL_TOTAL_SHARED:
        return machine->static_shared + machine->dynamic_shared;
    case SPECIAL_WARP_SIZE:
        return LANES;
    case SPECIAL_ENVREG1:
        return machine->grid_workspace >> 32;
    case SPECIAL_ENVREG2:
        return machine->grid_workspace & UINT32_MAX;
    case SPECIAL_DYNAMIC_BASE:
        return machine->dynamic_base;
    case SPECIAL_RESERVED_BEGIN:
    case SPECIAL_RESERVED_0:
        return machine->reserved_base;
    case SPECIAL_RESERVED_1:
        return machine->reserved_base + DEVICE_SHARED_RESERVED / 2;
    case SPECIAL_RESERVED_END:
        return machine->reserved_base + DEVICE_SHARED_RESERVED;
    case SPECIAL_RESERVED_CAP:
        return DEVICE_SHARED_RESERVED;
    case SPECIAL_ONE:
        return 1;
    case SPECIAL_ZERO:
    case SPECIALS:
        break;
    }
    return 0;
}

const Inst *op_special(Warp *warp, const Inst *inst) {
    Special special = (Special)inst->mode;
    if (special <= SPECIAL_TID_Z) {
        const uint32_t *a = warp->tid[special - SPECIAL_TID_X];
        if (inst->wide) LANE_RESULT(LaneU64, a[l]);
        LANE_RESULT(LaneU32, a[l]);
    }
    if (special >= SPECIAL_LANEID) {
        uint64_t value[LANES];
        for (int l = 0; l < LANES; l++) value[l] = special_value(warp, special, l);
        if (inst->bytes == 2) LANE_RESULT(LaneU16, value[l]);
        if (inst->wide) LANE_RESULT(LaneU64, value[l]);
        LANE_RESULT(LaneU32, value[l]);
    }
    const uint64_t value = special_value(warp, special, 0);
    if (inst->bytes == 2) LANE_RESULT(LaneU16, value);
    if (inst->wide) LANE_RESULT(LaneU64, value);
    LANE_RESULT(LaneU32, value);
}

static const struct {
    const char *name;
    Special special;
} specials[] = {
    {"%tid.x", SPECIAL_TID_X},
    {"%tid.y", SPECIAL_TID_Y},
    {"%tid.z", SPECIAL_TID_Z},
    {"%ntid.x", SPECIAL_NTID_X},
    {"%ntid.y", SPECIAL_NTID_Y},
    {"%ntid.z", SPECIAL_NTID_Z},
    {"%ctaid.x", SPECIAL_CTAID_X},
    {"%ctaid.y", SPECIAL_CTAID_Y},
    {"%ctaid.z", SPECIAL_CTAID_Z},
    {"%nctaid.x", SPECIAL_NCTAID_X},
    {"%nctaid.y", SPECIAL_NCTAID_Y},
    {"%nctaid.z", SPECIAL_NCTAID_Z},
    {"%clusterid.x", SPECIAL_CLUSTERID_X},
    {"%clusterid.y", SPECIAL_CLUSTERID_Y},
    {"%clusterid.z", SPECIAL_CLUSTERID_Z},
    {"%nclusterid.x", SPECIAL_NCLUSTERID_X},
    {"%nclusterid.y", SPECIAL_NCLUSTERID_Y},
    {"%nclusterid.z", SPECIAL_NCLUSTERID_Z},
    {"%cluster_ctaid.x", SPECIAL_ZERO},
    {"%cluster_ctaid.y", SPECIAL_ZERO},
    {"%cluster_ctaid.z", SPECIAL_ZERO},
    {"%cluster_nctaid.x", SPECIAL_ONE},
    {"%cluster_nctaid.y", SPECIAL_ONE},
    {"%cluster_nctaid.z", SPECIAL_ONE},
    {"%cluster_ctarank", SPECIAL_ZERO},
    {"%cluster_nctarank", SPECIAL_ONE},
    {"%is_explicit_cluster", SPECIAL_ZERO},
    {"%laneid", SPECIAL_LANEID},
    {"%warpid", SPECIAL_WARPID},
    {"%nwarpid", SPECIAL_NWARPID},
    {"%smid", SPECIAL_SMID},
    {"%nsmid", SPECIAL_NSMID},
    {"%gridid", SPECIAL_GRIDID},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT},
    {"%lanemask_le", SPECIAL_LANEMASK_LE},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE},
    {"%clock", SPECIAL_CLOCK},
    {"%clock_hi", SPECIAL_CLOCK_HI},
    {"%clock64", SPECIAL_CLOCK64},
    {"%globaltimer", SPECIAL_GLOBALTIMER},
    {"%globaltimer_lo", SPECIAL_GLOBALTIMER_LO},
    {"%globaltimer_hi", SPECIAL_GLOBALTIMER_HI},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SHARED},
    {"%total_smem_size", SPECIAL_TOTAL_SHARED},
    {"%aggr_smem_size", SPECIAL_TOTAL_SHARED},
    {"%reserved_smem_offset_begin", SPECIAL_RESERVED_BEGIN},
    {"%reserved_smem_offset_end", SPECIAL_RESERVED_END},
    {"%reserved_smem_offset_cap", SPECIAL_RESERVED_CAP},
    {"%reserved_smem_offset_0", SPECIAL_RESERVED_0},
    {"%reserved_smem_offset_1", SPECIAL_RESERVED_1},
    {"WARP_SZ", SPECIAL_WARP_SIZE},
    {"%envreg1", SPECIAL_ENVREG1},
    {"%envreg2", SPECIAL_ENVREG2},
};

bool special_named(Str name, Special *special) {
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++) {
        if (str_equal(name, str_of(specials[k].name))) {
            *special = specials[k].special;
            return true;
        }
    }
    return false;
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
