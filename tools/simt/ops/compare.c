// Executes the comparisons of setp and set. PTX ISA, "Comparison and Selection Instructions".
#include "simt/ops/ops.h"
#include "simt/ops/row.h"

#define COMPARE(name, type, value)                                                                 \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]), *b = REG(warp, type, inst->r[2]);             \
        uint32_t result = 0;                                                                       \
        if (warp_is_sparse(warp->exec)) {                                                          \
            for (uint32_t m = warp->exec; m; m &= m - 1) {                                         \
                const int l = __builtin_ctz(m);                                                    \
                result |= (uint32_t)(value) << l;                                                  \
            }                                                                                      \
        } else {                                                                                   \
            LANE_LOOP result |= (uint32_t)(value) << l;                                            \
        }                                                                                          \
        warp_write_predicate(warp, inst->r[0], result);                                            \
        return inst + 1;                                                                           \
    }
#define EQUAL(type)                                                                                \
    COMPARE(eq_##type, type, a[l] == b[l])                                                         \
    COMPARE(ne_##type, type, a[l] != b[l])
#define ORDER(type)                                                                                \
    COMPARE(lt_##type, type, a[l] < b[l])                                                          \
    COMPARE(le_##type, type, a[l] <= b[l])                                                         \
    COMPARE(gt_##type, type, a[l] > b[l])                                                          \
    COMPARE(ge_##type, type, a[l] >= b[l])
// If an operand is a NaN, eq, lt, ... are false, and equ, ltu, ... are true.
#define UNORDERED(type)                                                                            \
    COMPARE(ne_ordered_##type, type, a[l]<b[l] || a[l]> b[l])                                      \
    COMPARE(equ_##type, type, !(a[l] < b[l] || a[l] > b[l]))                                       \
    COMPARE(ltu_##type, type, !(a[l] >= b[l]))                                                     \
    COMPARE(leu_##type, type, !(a[l] > b[l]))                                                      \
    COMPARE(gtu_##type, type, !(a[l] <= b[l]))                                                     \
    COMPARE(geu_##type, type, !(a[l] < b[l]))                                                      \
    COMPARE(num_##type, type, a[l] == a[l] && b[l] == b[l])                                        \
    COMPARE(nan_##type, type, a[l] != a[l] || b[l] != b[l])
EQUAL(LaneU16)
EQUAL(LaneU32)
EQUAL(LaneU64)
COMPARE(eq_LaneF32, LaneF32, a[l] == b[l])
COMPARE(eq_LaneF64, LaneF64, a[l] == b[l])
COMPARE(neu_LaneF32, LaneF32, !(a[l] == b[l]))
COMPARE(neu_LaneF64, LaneF64, !(a[l] == b[l]))
ORDER(LaneU16)
ORDER(LaneU32)
ORDER(LaneU64)
ORDER(LaneS16)
ORDER(LaneS32)
ORDER(LaneS64)
ORDER(LaneF32)
ORDER(LaneF64)
UNORDERED(LaneF32)
UNORDERED(LaneF64)

static uint32_t combined(CombineMode mode, uint32_t value, uint32_t c) {
    switch (mode) {
    case COMBINE_AND:
        return value & c;
    case COMBINE_OR:
        return value | c;
    case COMBINE_XOR:
        return value ^ c;
    case COMBINE_NONE:
        break;
    }
    return value;
}

const Inst *op_combine(Warp *warp, const Inst *inst) {
    const InstCombine *combine = &inst->combine;
    const uint32_t compared = *REG(warp, LaneU32, combine->compared);
    const uint32_t c = combine->mode ? *REG(warp, LaneU32, combine->c) : 0;
    if (combine->d != PTX_NONE)
        warp_write_predicate(warp, combine->d, combined(combine->mode, compared, c));
    if (combine->negated != PTX_NONE)
        warp_write_predicate(warp, combine->negated, combined(combine->mode, ~compared, c));
    return inst + 1;
}

#define EQUAL_ROWS(name, type, letter)                                                             \
    {"setp.eq." name, eq_##type, "p" letter letter}, {                                             \
        "setp.ne." name, ne_##type, "p" letter letter                                              \
    }
#define SIGNED_ROWS(name, type, letter)                                                            \
    {"setp.lt." name, lt_##type, "p" letter letter},                                               \
        {"setp.le." name, le_##type, "p" letter letter},                                           \
        {"setp.gt." name, gt_##type, "p" letter letter}, {                                         \
        "setp.ge." name, ge_##type, "p" letter letter                                              \
    }
#define UNSIGNED_ROWS(name, type, letter)                                                          \
    SIGNED_ROWS(name, type, letter), {"setp.lo." name, lt_##type, "p" letter letter},              \
        {"setp.ls." name, le_##type, "p" letter letter},                                           \
        {"setp.hi." name, gt_##type, "p" letter letter}, {                                         \
        "setp.hs." name, ge_##type, "p" letter letter                                              \
    }
#define FLOAT_ROWS(name, type, letter)                                                             \
    {"setp.eq." name, eq_##type, "p" letter letter},                                               \
        {"setp.ne." name, ne_ordered_##type, "p" letter letter},                                   \
        {"setp.equ." name, equ_##type, "p" letter letter},                                         \
        {"setp.neu." name, neu_##type, "p" letter letter},                                         \
        {"setp.ltu." name, ltu_##type, "p" letter letter},                                         \
        {"setp.leu." name, leu_##type, "p" letter letter},                                         \
        {"setp.gtu." name, gtu_##type, "p" letter letter},                                         \
        {"setp.geu." name, geu_##type, "p" letter letter},                                         \
        {"setp.num." name, num_##type, "p" letter letter},                                         \
        {"setp.nan." name, nan_##type, "p" letter letter}, SIGNED_ROWS(name, type, letter)

const OpRow op_compare_rows[] = {
    EQUAL_ROWS("b16", LaneU16, "h"),    EQUAL_ROWS("u16", LaneU16, "h"),
    EQUAL_ROWS("s16", LaneU16, "h"),    EQUAL_ROWS("b32", LaneU32, "w"),
    EQUAL_ROWS("u32", LaneU32, "w"),    EQUAL_ROWS("s32", LaneU32, "w"),
    EQUAL_ROWS("b64", LaneU64, "d"),    EQUAL_ROWS("u64", LaneU64, "d"),
    EQUAL_ROWS("s64", LaneU64, "d"),    UNSIGNED_ROWS("u16", LaneU16, "h"),
    UNSIGNED_ROWS("u32", LaneU32, "w"), UNSIGNED_ROWS("u64", LaneU64, "d"),
    SIGNED_ROWS("s16", LaneS16, "h"),   SIGNED_ROWS("s32", LaneS32, "w"),
    SIGNED_ROWS("s64", LaneS64, "d"),   FLOAT_ROWS("f32", LaneF32, "w"),
    FLOAT_ROWS("f64", LaneF64, "d"),    {NULL, NULL, NULL},
};
