// Executes integer arithmetic. PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision
// Integer Arithmetic Instructions".
#include "simt/ops/row.h"

#define A(type) const type *a = REG(warp, type, inst->r[1])
#define B(type) const type *b = REG(warp, type, inst->r[2])
#define C(type) const type *c = REG(warp, type, inst->r[3])

#define OP1(name, result, type, value)                                                             \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        A(type);                                                                                   \
        LANE_RESULT(result, value);                                                                \
    }
#define OP2(name, result, type, value)                                                             \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        A(type);                                                                                   \
        B(type);                                                                                   \
        LANE_RESULT(result, value);                                                                \
    }
#define OP3(name, result, type, type_c, value)                                                     \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        A(type);                                                                                   \
        B(type);                                                                                   \
        C(type_c);                                                                                 \
        LANE_RESULT(result, value);                                                                \
    }
#define OP2_SCALAR(name, type, value)                                                              \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        A(type);                                                                                   \
        B(type);                                                                                   \
        LANE_RESULT_SCALAR(type, value);                                                           \
    }

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

static uint64_t high_u64(uint64_t a, uint64_t b) { return (uint64_t)(((Wide)a * b) >> 64); }
static uint64_t high_s64(int64_t a, int64_t b) { return (uint64_t)(((SignedWide)a * b) >> 64); }

OP2(add16, LaneU16, LaneU16, a[l] + b[l])
OP2(add32, LaneU32, LaneU32, a[l] + b[l])
OP2(add64, LaneU64, LaneU64, a[l] + b[l])
OP2(sub16, LaneU16, LaneU16, a[l] - b[l])
OP2(sub32, LaneU32, LaneU32, a[l] - b[l])
OP2(sub64, LaneU64, LaneU64, a[l] - b[l])
OP2(mul_lo16, LaneU16, LaneU16, (uint32_t)a[l] * b[l])
OP2(mul_lo32, LaneU32, LaneU32, a[l] * b[l])
OP2(mul_lo64, LaneU64, LaneU64, a[l] * b[l])
OP2(mul_hi_u16, LaneU16, LaneU16, ((uint32_t)a[l] * b[l]) >> 16)
OP2(mul_hi_s16, LaneU16, LaneS16, (uint32_t)((int32_t)a[l] * b[l]) >> 16)
OP2(mul_hi_u32, LaneU32, LaneU32, ((uint64_t)a[l] * b[l]) >> 32)
OP2(mul_hi_s32, LaneU32, LaneS32, (uint64_t)((int64_t)a[l] * b[l]) >> 32)
OP2(mul_hi_u64, LaneU64, LaneU64, high_u64(a[l], b[l]))
OP2(mul_hi_s64, LaneU64, LaneS64, high_s64(a[l], b[l]))
OP2(mul_wide_u16, LaneU32, LaneU16, (uint32_t)a[l] * b[l])
OP2(mul_wide_s16, LaneU32, LaneS16, (int32_t)a[l] * b[l])
OP2(mul_wide_u32, LaneU64, LaneU32, (uint64_t)a[l] * b[l])
OP2(mul_wide_s32, LaneU64, LaneS32, (int64_t)a[l] * b[l])
OP3(mad_lo16, LaneU16, LaneU16, LaneU16, (uint32_t)a[l] * b[l] + c[l])
OP3(mad_lo32, LaneU32, LaneU32, LaneU32, a[l] * b[l] + c[l])
OP3(mad_lo64, LaneU64, LaneU64, LaneU64, a[l] * b[l] + c[l])
OP3(mad_hi_u16, LaneU16, LaneU16, LaneU16, (((uint32_t)a[l] * b[l]) >> 16) + c[l])
OP3(mad_hi_s16, LaneU16, LaneS16, LaneU16, ((uint32_t)((int32_t)a[l] * b[l]) >> 16) + c[l])
OP3(mad_hi_u32, LaneU32, LaneU32, LaneU32, (uint32_t)(((uint64_t)a[l] * b[l]) >> 32) + c[l])
OP3(mad_hi_s32, LaneU32, LaneS32, LaneU32,
    (uint32_t)((uint64_t)((int64_t)a[l] * b[l]) >> 32) + c[l])
OP3(mad_hi_u64, LaneU64, LaneU64, LaneU64, high_u64(a[l], b[l]) + c[l])
OP3(mad_hi_s64, LaneU64, LaneS64, LaneU64, high_s64(a[l], b[l]) + c[l])
OP3(mad_wide_u16, LaneU32, LaneU16, LaneU32, (uint32_t)a[l] * b[l] + c[l])
OP3(mad_wide_s16, LaneU32, LaneS16, LaneU32, (uint32_t)((int32_t)a[l] * b[l]) + c[l])
OP3(mad_wide_u32, LaneU64, LaneU32, LaneU64, (uint64_t)a[l] * b[l] + c[l])
OP3(mad_wide_s32, LaneU64, LaneS32, LaneU64, (uint64_t)((int64_t)a[l] * b[l]) + c[l])

static uint32_t low24(uint32_t x) { return x & 0xffffffu; }
static int64_t signed24(uint32_t x) { return (int32_t)(x << 8) >> 8; }
OP2(mul24_lo_u32, LaneU32, LaneU32, low24(a[l]) * low24(b[l]))
OP2(mul24_lo_s32, LaneU32, LaneU32, signed24(a[l]) * signed24(b[l]))
OP2(mul24_hi_u32, LaneU32, LaneU32, ((uint64_t)low24(a[l]) * low24(b[l])) >> 16)
OP2(mul24_hi_s32, LaneU32, LaneU32, (signed24(a[l]) * signed24(b[l])) >> 16)
OP3(mad24_lo_u32, LaneU32, LaneU32, LaneU32, low24(a[l]) * low24(b[l]) + c[l])
OP3(mad24_lo_s32, LaneU32, LaneU32, LaneU32, (uint32_t)(signed24(a[l]) * signed24(b[l])) + c[l])

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))
OP2(min_u16, LaneU16, LaneU16, MIN(a[l], b[l]))
OP2(min_s16, LaneS16, LaneS16, MIN(a[l], b[l]))
OP2(min_u32, LaneU32, LaneU32, MIN(a[l], b[l]))
OP2(min_s32, LaneS32, LaneS32, MIN(a[l], b[l]))
OP2(min_u64, LaneU64, LaneU64, MIN(a[l], b[l]))
OP2(min_s64, LaneS64, LaneS64, MIN(a[l], b[l]))
OP2(max_u16, LaneU16, LaneU16, MAX(a[l], b[l]))
OP2(max_s16, LaneS16, LaneS16, MAX(a[l], b[l]))
OP2(max_u32, LaneU32, LaneU32, MAX(a[l], b[l]))
OP2(max_s32, LaneS32, LaneS32, MAX(a[l], b[l]))
OP2(max_u64, LaneU64, LaneU64, MAX(a[l], b[l]))
OP2(max_s64, LaneS64, LaneS64, MAX(a[l], b[l]))
OP2(min_relu_s32, LaneS32, LaneS32, MAX(MIN(a[l], b[l]), 0))
OP2(max_relu_s32, LaneS32, LaneS32, MAX(MAX(a[l], b[l]), 0))

OP1(abs16, LaneU16, LaneS16, a[l] < 0 ? 0 - (uint32_t)a[l] : (uint32_t)a[l])
OP1(abs32, LaneU32, LaneS32, a[l] < 0 ? 0 - (uint32_t)a[l] : (uint32_t)a[l])
OP1(abs64, LaneU64, LaneS64, a[l] < 0 ? 0 - (uint64_t)a[l] : (uint64_t)a[l])
OP1(neg16, LaneU16, LaneU16, 0 - (uint32_t)a[l])
OP1(neg32, LaneU32, LaneU32, 0 - a[l])
OP1(neg64, LaneU64, LaneU64, 0 - a[l])

OP3(sad_u16, LaneU16, LaneU16, LaneU16, c[l] + (uint32_t)(MAX(a[l], b[l]) - MIN(a[l], b[l])))
OP3(sad_s16, LaneU16, LaneS16, LaneU16, c[l] + (uint32_t)(MAX(a[l], b[l]) - MIN(a[l], b[l])))
OP3(sad_u32, LaneU32, LaneU32, LaneU32, c[l] + MAX(a[l], b[l]) - MIN(a[l], b[l]))
OP3(sad_s32, LaneU32, LaneS32, LaneU32,
    c[l] + (uint32_t)MAX(a[l], b[l]) - (uint32_t)MIN(a[l], b[l]))
OP3(sad_u64, LaneU64, LaneU64, LaneU64, c[l] + MAX(a[l], b[l]) - MIN(a[l], b[l]))
OP3(sad_s64, LaneU64, LaneS64, LaneU64,
    c[l] + (uint64_t)MAX(a[l], b[l]) - (uint64_t)MIN(a[l], b[l]))

static int32_t saturate(int64_t value) {
    return (int32_t)MIN(MAX(value, (int64_t)INT32_MIN), (int64_t)INT32_MAX);
}
OP2(add_sat_s32, LaneS32, LaneS32, saturate((int64_t)a[l] + b[l]))
OP2(sub_sat_s32, LaneS32, LaneS32, saturate((int64_t)a[l] - b[l]))
OP3(mad_hi_sat_s32, LaneS32, LaneS32, LaneS32, saturate((((int64_t)a[l] * b[l]) >> 32) + c[l]))

// A quotient by zero is all ones and the remainder is the dividend, as on the GPU. PTX does not
// specify it.
#define DIVIDE(x, y)    ((y) == 0 ? ~0ull : (x) / (y))
#define REMAINDER(x, y) ((y) == 0 ? (x) : (x) % (y))
#define DIVIDE_SIGNED(x, y)                                                                        \
    ((y) == 0 ? -1 : (y) == -1 ? (int64_t)(0 - (uint64_t)(int64_t)(x)) : (int64_t)((x) / (y)))
#define REMAINDER_SIGNED(x, y) ((y) == 0 ? (x) : (y) == -1 ? 0 : (x) % (y))
OP2_SCALAR(div_u16, LaneU16, DIVIDE(a[l], b[l]))
OP2_SCALAR(div_s16, LaneS16, DIVIDE_SIGNED(a[l], b[l]))
OP2_SCALAR(div_u32, LaneU32, DIVIDE(a[l], b[l]))
OP2_SCALAR(div_s32, LaneS32, DIVIDE_SIGNED(a[l], b[l]))
OP2_SCALAR(div_u64, LaneU64, DIVIDE(a[l], b[l]))
OP2_SCALAR(div_s64, LaneS64, DIVIDE_SIGNED(a[l], b[l]))
OP2_SCALAR(rem_u16, LaneU16, REMAINDER(a[l], b[l]))
OP2_SCALAR(rem_s16, LaneS16, REMAINDER_SIGNED(a[l], b[l]))
OP2_SCALAR(rem_u32, LaneU32, REMAINDER(a[l], b[l]))
OP2_SCALAR(rem_s32, LaneS32, REMAINDER_SIGNED(a[l], b[l]))
OP2_SCALAR(rem_u64, LaneU64, REMAINDER(a[l], b[l]))
OP2_SCALAR(rem_s64, LaneS64, REMAINDER_SIGNED(a[l], b[l]))

// Carry in and out: warp->carry has a bit for each lane. Subtraction adds the inverted operand, so
// a borrow is a carry of 0. The code of nvcc for 128-bit divisions relies on this: it reads a
// borrow with addc.
#define CARRY_OP(name, type, in, out, wide_value, third)                                           \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        A(type);                                                                                   \
        B(type);                                                                                   \
        third type *d = REG(warp, type, inst->r[0]);                                               \
        uint32_t carry = 0;                                                                        \
        for (uint32_t m = warp->exec; m; m &= m - 1) {                                             \
            int l = __builtin_ctz(m);                                                              \
            Wide cc = (in) ? (Wide)(warp->carry >> l & 1) : 0;                                     \
            Wide value = wide_value;                                                               \
            d[l] = (type)value;                                                                    \
            if (value >> (8 * sizeof(type)) & 1) carry |= 1u << l;                                 \
        }                                                                                          \
        if (out) warp->carry = (warp->carry & ~warp->exec) | carry;                                \
        return inst + 1;                                                                           \
    }
#define LOW(type, x, y)  ((Wide)(type)((x) * (y)))
#define HIGH(type, x, y) ((Wide)(type)(((Wide)(x) * (y)) >> (8 * sizeof(type))))
#define CARRY_OPS(type, bits)                                                                      \
    CARRY_OP(add_cc##bits, type, 0, 1, (Wide)a[l] + b[l] + cc, )                                   \
    CARRY_OP(addc##bits, type, 1, 0, (Wide)a[l] + b[l] + cc, )                                     \
    CARRY_OP(addc_cc##bits, type, 1, 1, (Wide)a[l] + b[l] + cc, )                                  \
    CARRY_OP(sub_cc##bits, type, 0, 1, (Wide)a[l] + (type)~b[l] + 1 + cc, )                        \
    CARRY_OP(subc##bits, type, 1, 0, (Wide)a[l] + (type)~b[l] + cc, )                              \
    CARRY_OP(subc_cc##bits, type, 1, 1, (Wide)a[l] + (type)~b[l] + cc, )                           \
    CARRY_OP(mad_lo_cc##bits, type, 0, 1, LOW(type, a[l], b[l]) + c[l] + cc, C(type);)             \
    CARRY_OP(madc_lo##bits, type, 1, 0, LOW(type, a[l], b[l]) + c[l] + cc, C(type);)               \
    CARRY_OP(madc_lo_cc##bits, type, 1, 1, LOW(type, a[l], b[l]) + c[l] + cc, C(type);)            \
    CARRY_OP(mad_hi_cc##bits, type, 0, 1, HIGH(type, a[l], b[l]) + c[l] + cc, C(type);)            \
    CARRY_OP(madc_hi##bits, type, 1, 0, HIGH(type, a[l], b[l]) + c[l] + cc, C(type);)              \
    CARRY_OP(madc_hi_cc##bits, type, 1, 1, HIGH(type, a[l], b[l]) + c[l] + cc, C(type);)
CARRY_OPS(LaneU32, 32)
CARRY_OPS(LaneU64, 64)

// dp4a and dp2a: sums of products of the bytes of a with the bytes or halves of b, plus c.
static uint32_t byte_of(uint32_t x, int k, bool is_signed) {
    uint32_t byte = x >> (8 * k) & 0xff;
    return is_signed ? (uint32_t)(int32_t)(int8_t)byte : byte;
}
static uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool signed_a, bool signed_b) {
    for (int k = 0; k < 4; k++) c += byte_of(a, k, signed_a) * byte_of(b, k, signed_b);
    return c;
}
OP3(dp4a_uu, LaneU32, LaneU32, LaneU32, dot4(a[l], b[l], c[l], false, false))
OP3(dp4a_us, LaneU32, LaneU32, LaneU32, dot4(a[l], b[l], c[l], false, true))
OP3(dp4a_su, LaneU32, LaneU32, LaneU32, dot4(a[l], b[l], c[l], true, false))
OP3(dp4a_ss, LaneU32, LaneU32, LaneU32, dot4(a[l], b[l], c[l], true, true))

static uint32_t half_of(uint32_t x, int k, bool is_signed) {
    uint32_t half = x >> (16 * k) & 0xffff;
    return is_signed ? (uint32_t)(int32_t)(int16_t)half : half;
}
static uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool high, bool signed_a, bool signed_b) {
    for (int k = 0; k < 2; k++)
        c += half_of(a, k, signed_a) * byte_of(b, k + (high ? 2 : 0), signed_b);
    return c;
}
#define DOT2(suffix, signed_a, signed_b)                                                           \
    OP3(dp2a_lo_##suffix, LaneU32, LaneU32, LaneU32,                                               \
        dot2(a[l], b[l], c[l], false, signed_a, signed_b))                                         \
    OP3(dp2a_hi_##suffix, LaneU32, LaneU32, LaneU32,                                               \
        dot2(a[l], b[l], c[l], true, signed_a, signed_b))
DOT2(uu, false, false)
DOT2(us, false, true)
DOT2(su, true, false)
DOT2(ss, true, true)

// Two 16-bit values in one register (sm_90).
#define HALVES(x, y, op, type)                                                                     \
    ((uint32_t)(uint16_t)op((type)((x)&0xffff), (type)((y)&0xffff)) |                              \
     (uint32_t)(uint16_t)op((type)((x) >> 16), (type)((y) >> 16)) << 16)
#define PLUS(x, y) ((x) + (y))
OP2(add_u16x2, LaneU32, LaneU32, HALVES(a[l], b[l], PLUS, uint16_t))
OP2(min_u16x2, LaneU32, LaneU32, HALVES(a[l], b[l], MIN, uint16_t))
OP2(max_u16x2, LaneU32, LaneU32, HALVES(a[l], b[l], MAX, uint16_t))
OP2(min_s16x2, LaneU32, LaneU32, HALVES(a[l], b[l], MIN, int16_t))
OP2(max_s16x2, LaneU32, LaneU32, HALVES(a[l], b[l], MAX, int16_t))

#define RELU(x)        ((x) < 0 ? 0 : (x))
#define MIN_RELU(x, y) RELU(MIN(x, y))
#define MAX_RELU(x, y) RELU(MAX(x, y))
OP2(min_relu_s16x2, LaneU32, LaneU32, HALVES(a[l], b[l], MIN_RELU, int16_t))
OP2(max_relu_s16x2, LaneU32, LaneU32, HALVES(a[l], b[l], MAX_RELU, int16_t))

#define DOT2_ROWS(a, b, suffix)                                                                    \
    {"dp2a.lo." a "." b, dp2a_lo_##suffix, "wwww"}, { "dp2a.hi." a "." b, dp2a_hi_##suffix, "wwww" }
#define SAME_FOR_SIGNS(text, run16, run32, run64)                                                  \
    {text ".u16", run16, "hhh"}, {text ".s16", run16, "hhh"}, {text ".u32", run32, "www"},         \
        {text ".s32", run32, "www"}, {text ".u64", run64, "ddd"}, {                                \
        text ".s64", run64, "ddd"                                                                  \
    }
#define BY_SIGN(text, name)                                                                        \
    {text ".u16", name##_u16, "hhh"}, {text ".s16", name##_s16, "hhh"},                            \
        {text ".u32", name##_u32, "www"}, {text ".s32", name##_s32, "www"},                        \
        {text ".u64", name##_u64, "ddd"}, {                                                        \
        text ".s64", name##_s64, "ddd"                                                             \
    }
#define BY_SIGN3(text, name)                                                                       \
    {text ".u16", name##_u16, "hhhh"}, {text ".s16", name##_s16, "hhhh"},                          \
        {text ".u32", name##_u32, "wwww"}, {text ".s32", name##_s32, "wwww"},                      \
        {text ".u64", name##_u64, "dddd"}, {                                                       \
        text ".s64", name##_s64, "dddd"                                                            \
    }
#define CARRY(text, name, extra)                                                                   \
    {text ".u32", name##32, "www" extra}, {text ".s32", name##32, "www" extra},                    \
        {text ".u64", name##64, "ddd" extra}, {                                                    \
        text ".s64", name##64, "ddd" extra                                                         \
    }
#define CARRY3(text, name)                                                                         \
    {text ".u32", name##32, "wwww"}, {text ".s32", name##32, "wwww"},                              \
        {text ".u64", name##64, "dddd"}, {                                                         \
        text ".s64", name##64, "dddd"                                                              \
    }

const OpRow op_integer_rows[] = {
    SAME_FOR_SIGNS("add", add16, add32, add64),
    SAME_FOR_SIGNS("sub", sub16, sub32, sub64),
    SAME_FOR_SIGNS("mul.lo", mul_lo16, mul_lo32, mul_lo64),
    BY_SIGN("mul.hi", mul_hi),
    BY_SIGN("min", min),
    BY_SIGN("max", max),
    BY_SIGN("div", div),
    BY_SIGN("rem", rem),
    BY_SIGN3("mad.hi", mad_hi),
    BY_SIGN3("sad", sad),
    {"mul.wide.u16", mul_wide_u16, "whh"},
    {"mul.wide.s16", mul_wide_s16, "whh"},
    {"mul.wide.u32", mul_wide_u32, "dww"},
    {"mul.wide.s32", mul_wide_s32, "dww"},
    {"mad.lo.u16", mad_lo16, "hhhh"},
    {"mad.lo.s16", mad_lo16, "hhhh"},
    {"mad.lo.u32", mad_lo32, "wwww"},
    {"mad.lo.s32", mad_lo32, "wwww"},
    {"mad.lo.u64", mad_lo64, "dddd"},
    {"mad.lo.s64", mad_lo64, "dddd"},
    {"mad.wide.u16", mad_wide_u16, "whhw"},
    {"mad.wide.s16", mad_wide_s16, "whhw"},
    {"mad.wide.u32", mad_wide_u32, "dwwd"},
    {"mad.wide.s32", mad_wide_s32, "dwwd"},
    {"mul24.lo.u32", mul24_lo_u32, "www"},
    {"mul24.lo.s32", mul24_lo_s32, "www"},
    {"mul24.hi.u32", mul24_hi_u32, "www"},
    {"mul24.hi.s32", mul24_hi_s32, "www"},
    {"mad24.lo.u32", mad24_lo_u32, "wwww"},
    {"mad24.lo.s32", mad24_lo_s32, "wwww"},
    {"min.relu.s32", min_relu_s32, "www"},
    {"max.relu.s32", max_relu_s32, "www"},
    {"abs.s16", abs16, "hh"},
    {"abs.s32", abs32, "ww"},
    {"abs.s64", abs64, "dd"},
    {"neg.s16", neg16, "hh"},
    {"neg.s32", neg32, "ww"},
    {"neg.s64", neg64, "dd"},
    {"add.sat.s32", add_sat_s32, "www"},
    {"sub.sat.s32", sub_sat_s32, "www"},
    {"mad.hi.sat.s32", mad_hi_sat_s32, "wwww"},
    CARRY("add.cc", add_cc, ""),
    CARRY("addc", addc, ""),
    CARRY("addc.cc", addc_cc, ""),
    CARRY("sub.cc", sub_cc, ""),
    CARRY("subc", subc, ""),
    CARRY("subc.cc", subc_cc, ""),
    CARRY3("mad.lo.cc", mad_lo_cc),
    CARRY3("madc.lo", madc_lo),
    CARRY3("madc.lo.cc", madc_lo_cc),
    CARRY3("mad.hi.cc", mad_hi_cc),
    CARRY3("madc.hi", madc_hi),
    CARRY3("madc.hi.cc", madc_hi_cc),
    {"dp4a.u32.u32", dp4a_uu, "wwww"},
    {"dp4a.u32.s32", dp4a_us, "wwww"},
    {"dp4a.s32.u32", dp4a_su, "wwww"},
    {"dp4a.s32.s32", dp4a_ss, "wwww"},
    DOT2_ROWS("u32", "u32", uu),
    DOT2_ROWS("u32", "s32", us),
    DOT2_ROWS("s32", "u32", su),
    DOT2_ROWS("s32", "s32", ss),
    {"min.relu.s16x2", min_relu_s16x2, "www"},
    {"max.relu.s16x2", max_relu_s16x2, "www"},
    {"add.u16x2", add_u16x2, "www"},
    {"add.s16x2", add_u16x2, "www"},
    {"min.u16x2", min_u16x2, "www"},
    {"max.u16x2", max_u16x2, "www"},
    {"min.s16x2", min_s16x2, "www"},
    {"max.s16x2", max_s16x2, "www"},
    {NULL, NULL, NULL},
};
