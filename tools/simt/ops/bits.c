// Executes logic, shifts and bit fields. PTX ISA, "Logic and Shift Instructions" and the bit-field
// part of "Integer Arithmetic Instructions".
#include "simt/ops/row.h"

#define OP1(name, result, type, value)                                                             \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        LANE_RESULT(result, value);                                                                \
    }
#define OP2(name, result, type, type_b, value)                                                     \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        const type_b *b = REG(warp, type_b, inst->r[2]);                                           \
        LANE_RESULT(result, value);                                                                \
    }
#define OP3(name, result, type, type_c, value)                                                     \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        const type *b = REG(warp, type, inst->r[2]);                                               \
        const type_c *c = REG(warp, type_c, inst->r[3]);                                           \
        LANE_RESULT(result, value);                                                                \
    }
#define LOGIC(name, op)                                                                            \
    OP2(name##16, LaneU16, LaneU16, LaneU16, a[l] op b[l])                                         \
    OP2(name##32, LaneU32, LaneU32, LaneU32, a[l] op b[l])                                         \
    OP2(name##64, LaneU64, LaneU64, LaneU64, a[l] op b[l])                                         \
    static const Inst *name##_pred(Warp *warp, const Inst *inst) {                                 \
        uint32_t value = *REG(warp, LaneU32, inst->r[1]) op * REG(warp, LaneU32, inst->r[2]);      \
        warp_write_predicate(warp, inst->r[0], value);                                             \
        return inst + 1;                                                                           \
    }
LOGIC(and, &)
LOGIC(or, |)
LOGIC(xor, ^)
OP1(not16, LaneU16, LaneU16, ~(uint32_t)a[l])
OP1(not32, LaneU32, LaneU32, ~a[l])
OP1(not64, LaneU64, LaneU64, ~a[l])
OP1(cnot16, LaneU16, LaneU16, a[l] == 0)
OP1(cnot32, LaneU32, LaneU32, a[l] == 0)
OP1(cnot64, LaneU64, LaneU64, a[l] == 0)
static const Inst *not_pred(Warp *warp, const Inst *inst) {
    warp_write_predicate(warp, inst->r[0], ~*REG(warp, LaneU32, inst->r[1]));
    return inst + 1;
}

// Shifts by the width or more give 0, or copies of the sign.
OP2(shl16, LaneU16, LaneU16, LaneU32, b[l] > 15 ? 0u : (uint32_t)a[l] << (b[l] & 15))
OP2(shl32, LaneU32, LaneU32, LaneU32, b[l] > 31 ? 0u : a[l] << (b[l] & 31))
OP2(shl64, LaneU64, LaneU64, LaneU32, b[l] > 63 ? 0u : a[l] << (b[l] & 63))
OP2(shr_u16, LaneU16, LaneU16, LaneU32, b[l] > 15 ? 0u : (uint32_t)a[l] >> (b[l] & 15))
OP2(shr_u32, LaneU32, LaneU32, LaneU32, b[l] > 31 ? 0u : a[l] >> (b[l] & 31))
OP2(shr_u64, LaneU64, LaneU64, LaneU32, b[l] > 63 ? 0u : a[l] >> (b[l] & 63))
OP2(shr_s16, LaneS16, LaneS16, LaneU32, a[l] >> (b[l] > 15 ? 15 : b[l]))
OP2(shr_s32, LaneS32, LaneS32, LaneU32, a[l] >> (b[l] > 31 ? 31 : b[l]))
OP2(shr_s64, LaneS64, LaneS64, LaneU32, a[l] >> (b[l] > 63 ? 63 : b[l]))

static uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t n) {
    return (uint32_t)((((uint64_t)high << 32 | low) << n) >> 32);
}
static uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t n) {
    return (uint32_t)(((uint64_t)high << 32 | low) >> n);
}
OP3(shf_l_wrap, LaneU32, LaneU32, LaneU32, funnel_left(a[l], b[l], c[l] & 31))
OP3(shf_r_wrap, LaneU32, LaneU32, LaneU32, funnel_right(a[l], b[l], c[l] & 31))
OP3(shf_l_clamp, LaneU32, LaneU32, LaneU32, funnel_left(a[l], b[l], c[l] > 32 ? 32 : c[l]))
OP3(shf_r_clamp, LaneU32, LaneU32, LaneU32, funnel_right(a[l], b[l], c[l] > 32 ? 32 : c[l]))

static uint64_t reverse(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}
OP1(popc32, LaneU32, LaneU32, __builtin_popcount(a[l]))
OP1(popc64, LaneU32, LaneU64, __builtin_popcountll(a[l]))
OP1(clz32, LaneU32, LaneU32, a[l] ? __builtin_clz(a[l]) : 32)
OP1(clz64, LaneU32, LaneU64, a[l] ? __builtin_clzll(a[l]) : 64)
OP1(brev32, LaneU32, LaneU32, reverse(a[l]) >> 32)
OP1(brev64, LaneU64, LaneU64, reverse(a[l]))

// bfind: the highest bit that differs from the sign, or ~0. shiftamt: the left shift that brings it
// to the top.
static uint32_t find_high(uint64_t x, uint32_t bits, bool is_signed, bool shift) {
    if (is_signed && (x >> (bits - 1) & 1)) x = ~x;
    if (bits < 64) x &= (1ull << bits) - 1;
    if (!x) return UINT32_MAX;
    uint32_t high = 63 - (uint32_t)__builtin_clzll(x);
    return shift ? bits - 1 - high : high;
}
OP1(bfind_u32, LaneU32, LaneU32, find_high(a[l], 32, false, false))
OP1(bfind_s32, LaneU32, LaneU32, find_high(a[l], 32, true, false))
OP1(bfind_u64, LaneU32, LaneU64, find_high(a[l], 64, false, false))
OP1(bfind_s64, LaneU32, LaneU64, find_high(a[l], 64, true, false))
OP1(bfind_shift_u32, LaneU32, LaneU32, find_high(a[l], 32, false, true))
OP1(bfind_shift_s32, LaneU32, LaneU32, find_high(a[l], 32, true, true))
OP1(bfind_shift_u64, LaneU32, LaneU64, find_high(a[l], 64, false, true))
OP1(bfind_shift_s64, LaneU32, LaneU64, find_high(a[l], 64, true, true))

// Bit fields: position and length are the low bytes of their operands, except that 64-bit bfe uses
// the whole position (measured on an H200).
static uint64_t extract(uint64_t x, uint32_t position, uint32_t length, uint32_t bits,
                        bool is_signed) {
    if (bits < 64) position &= 0xff;
    length &= 0xff;
    bool sign = false;
    if (is_signed && length) {
        uint64_t top = (uint64_t)position + length - 1;
        sign = x >> (top < bits ? top : bits - 1) & 1;
    }
    uint64_t field = position < 64 ? x >> position : 0;
    if (length < 64) field &= (1ull << length) - 1;
    if (sign) {
        uint32_t have = position < bits ? bits - position : 0;
        if (have > length) have = length;
        if (have < 64) field |= ~0ull << have;
    }
    return field;
}
static uint64_t insert(uint64_t field, uint64_t into, uint32_t position, uint32_t length) {
    position &= 0xff;
    length &= 0xff;
    if (position >= 64 || length == 0) return into;
    uint64_t mask = (length < 64 ? (1ull << length) - 1 : ~0ull) << position;
    return (into & ~mask) | (field << position & mask);
}
#define EXTRACT(name, type, bits, is_signed)                                                       \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        const LaneU32 *b = REG(warp, LaneU32, inst->r[2]), *c = REG(warp, LaneU32, inst->r[3]);    \
        LANE_RESULT(type, extract(a[l], b[l], c[l], bits, is_signed));                             \
    }
EXTRACT(bfe_u32, LaneU32, 32, false)
EXTRACT(bfe_s32, LaneU32, 32, true)
EXTRACT(bfe_u64, LaneU64, 64, false)
EXTRACT(bfe_s64, LaneU64, 64, true)
#define INSERT(name, type)                                                                         \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]), *b = REG(warp, type, inst->r[2]);             \
        const LaneU32 *c = REG(warp, LaneU32, inst->r[3]), *e = REG(warp, LaneU32, inst->r[4]);    \
        LANE_RESULT(type, insert(a[l], b[l], c[l], e[l]));                                         \
    }
INSERT(bfi32, LaneU32)
INSERT(bfi64, LaneU64)

// The position of the n-th set bit, searched from `base` upwards (n > 0) or downwards (n < 0).
static uint32_t find_nth(uint32_t mask, uint32_t base, int32_t n) {
    if (n == 0) return mask >> (base & 31) & 1 ? base : UINT32_MAX;
    int32_t count = 0, step = n > 0 ? 1 : -1, want = n > 0 ? n : -n;
    for (int32_t at = (int32_t)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && ++count == want) return (uint32_t)at;
    return UINT32_MAX;
}
static const Inst *fns(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]), *b = REG(warp, LaneU32, inst->r[2]);
    const LaneS32 *c = REG(warp, LaneS32, inst->r[3]);
    LANE_RESULT_SCALAR(LaneU32, find_nth(a[l], b[l], c[l]));
}

static const Inst *lop3(Warp *warp, const Inst *inst) {
    const LaneU32 *a = REG(warp, LaneU32, inst->r[1]), *b = REG(warp, LaneU32, inst->r[2]);
    const LaneU32 *c = REG(warp, LaneU32, inst->r[3]);
    const LaneU32 table = *REG(warp, LaneU32, inst->r[4]);
    uint32_t t[8];
    for (int k = 0; k < 8; k++) t[k] = table >> k & 1 ? ALL_LANES : 0;
    LANE_RESULT(LaneU32, (t[0] & ~a[l] & ~b[l] & ~c[l]) | (t[1] & ~a[l] & ~b[l] & c[l]) |
                             (t[2] & ~a[l] & b[l] & ~c[l]) | (t[3] & ~a[l] & b[l] & c[l]) |
                             (t[4] & a[l] & ~b[l] & ~c[l]) | (t[5] & a[l] & ~b[l] & c[l]) |
                             (t[6] & a[l] & b[l] & ~c[l]) | (t[7] & a[l] & b[l] & c[l]));
}

// prmt: each result byte is one of the eight bytes of {b, a}, or its sign.
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t nibble = selector >> (4 * k) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 0xff;
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * k);
    }
    return result;
}
// The other modes of prmt as selectors, by the low two bits of c.
static uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c, const uint16_t selectors[4]) {
    return permute(a, b, selectors[c & 3]);
}
static const uint16_t prmt_f4e[] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t prmt_b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t prmt_rc8[] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t prmt_ecl[] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t prmt_ecr[] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t prmt_rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
OP3(prmt, LaneU32, LaneU32, LaneU32, permute(a[l], b[l], c[l]))
OP3(prmt_op_f4e, LaneU32, LaneU32, LaneU32, permute_mode(a[l], b[l], c[l], prmt_f4e))
OP3(prmt_op_b4e, LaneU32, LaneU32, LaneU32, permute_mode(a[l], b[l], c[l], prmt_b4e))
OP3(prmt_op_rc8, LaneU32, LaneU32, LaneU32, permute_mode(a[l], b[l], c[l], prmt_rc8))
OP3(prmt_op_ecl, LaneU32, LaneU32, LaneU32, permute_mode(a[l], b[l], c[l], prmt_ecl))
OP3(prmt_op_ecr, LaneU32, LaneU32, LaneU32, permute_mode(a[l], b[l], c[l], prmt_ecr))
OP3(prmt_op_rc16, LaneU32, LaneU32, LaneU32, permute_mode(a[l], b[l], c[l], prmt_rc16))

static uint32_t bit_mask(uint32_t from, uint32_t count, bool clamp) {
    if (!clamp) {
        from &= 31;
        count &= 31;
    }
    if (from > 31 || count == 0) return 0;
    return (count > 31 ? ALL_LANES : (1u << count) - 1) << from;
}
static uint32_t sign_extend(uint32_t x, uint32_t bits, bool is_signed, bool clamp) {
    if (!clamp) bits &= 31;
    if (bits > 31) return x;
    if (bits == 0) return 0;
    uint32_t low = x & ((1u << bits) - 1);
    return is_signed && low >> (bits - 1) ? low | ALL_LANES << bits : low;
}
OP2(bmsk_clamp, LaneU32, LaneU32, LaneU32, bit_mask(a[l], b[l], true))
OP2(bmsk_wrap, LaneU32, LaneU32, LaneU32, bit_mask(a[l], b[l], false))
OP2(szext_clamp_u, LaneU32, LaneU32, LaneU32, sign_extend(a[l], b[l], false, true))
OP2(szext_clamp_s, LaneU32, LaneU32, LaneU32, sign_extend(a[l], b[l], true, true))
OP2(szext_wrap_u, LaneU32, LaneU32, LaneU32, sign_extend(a[l], b[l], false, false))
OP2(szext_wrap_s, LaneU32, LaneU32, LaneU32, sign_extend(a[l], b[l], true, false))

// The absolute differences of the unsigned halves or bytes of two words, packed, or their sum
// plus c.
static uint32_t differences(uint32_t a, uint32_t b, uint32_t bits, bool sum, uint32_t c) {
    const uint32_t mask = (1u << bits) - 1;
    uint32_t result = sum ? c : 0;
    for (uint32_t at = 0; at < 32; at += bits) {
        const uint32_t x = a >> at & mask, y = b >> at & mask, difference = x > y ? x - y : y - x;
        result += difference << (sum ? 0 : at);
    }
    return result;
}
OP3(vabsdiff2, LaneU32, LaneU32, LaneU32, differences(a[l], b[l], 16, false, c[l]))
OP3(vabsdiff2_add, LaneU32, LaneU32, LaneU32, differences(a[l], b[l], 16, true, c[l]))
OP3(vabsdiff4, LaneU32, LaneU32, LaneU32, differences(a[l], b[l], 8, false, c[l]))
OP3(vabsdiff4_add, LaneU32, LaneU32, LaneU32, differences(a[l], b[l], 8, true, c[l]))

#define LOGIC_ROWS(text, name)                                                                     \
    {text ".pred", name##_pred, "ppp"}, {text ".b16", name##16, "hhh"},                            \
        {text ".b32", name##32, "www"}, {                                                          \
        text ".b64", name##64, "ddd"                                                               \
    }

const OpRow op_bits_rows[] = {
    LOGIC_ROWS("and", and),
    LOGIC_ROWS("or", or),
    LOGIC_ROWS("xor", xor),
    {"not.pred", not_pred, "pp"},
    {"not.b16", not16, "hh"},
    {"not.b32", not32, "ww"},
    {"not.b64", not64, "dd"},
    {"cnot.b16", cnot16, "hh"},
    {"cnot.b32", cnot32, "ww"},
    {"cnot.b64", cnot64, "dd"},
    {"shl.b16", shl16, "hhw"},
    {"shl.b32", shl32, "www"},
    {"shl.b64", shl64, "ddw"},
    {"shr.b16", shr_u16, "hhw"},
    {"shr.b32", shr_u32, "www"},
    {"shr.b64", shr_u64, "ddw"},
    {"shr.u16", shr_u16, "hhw"},
    {"shr.u32", shr_u32, "www"},
    {"shr.u64", shr_u64, "ddw"},
    {"shr.s16", shr_s16, "hhw"},
    {"shr.s32", shr_s32, "www"},
    {"shr.s64", shr_s64, "ddw"},
    {"shf.l.wrap.b32", shf_l_wrap, "wwww"},
    {"shf.r.wrap.b32", shf_r_wrap, "wwww"},
    {"shf.l.clamp.b32", shf_l_clamp, "wwww"},
    {"shf.r.clamp.b32", shf_r_clamp, "wwww"},
    {"popc.b32", popc32, "ww"},
    {"popc.b64", popc64, "wd"},
    {"clz.b32", clz32, "ww"},
    {"clz.b64", clz64, "wd"},
    {"brev.b32", brev32, "ww"},
    {"brev.b64", brev64, "dd"},
    {"bfind.u32", bfind_u32, "ww"},
    {"bfind.s32", bfind_s32, "ww"},
    {"bfind.u64", bfind_u64, "wd"},
    {"bfind.s64", bfind_s64, "wd"},
    {"bfind.shiftamt.u32", bfind_shift_u32, "ww"},
    {"bfind.shiftamt.s32", bfind_shift_s32, "ww"},
    {"bfind.shiftamt.u64", bfind_shift_u64, "wd"},
    {"bfind.shiftamt.s64", bfind_shift_s64, "wd"},
    {"bfe.u32", bfe_u32, "wwww"},
    {"bfe.s32", bfe_s32, "wwww"},
    {"bfe.u64", bfe_u64, "ddww"},
    {"bfe.s64", bfe_s64, "ddww"},
    {"bfi.b32", bfi32, "wwwww"},
    {"bfi.b64", bfi64, "dddww"},
    {"fns.b32", fns, "wwww"},
    {"lop3.b32", lop3, "wwwww"},
    {"prmt.b32", prmt, "wwww"},
    {"prmt.b32.f4e", prmt_op_f4e, "wwww"},
    {"prmt.b32.b4e", prmt_op_b4e, "wwww"},
    {"prmt.b32.rc8", prmt_op_rc8, "wwww"},
    {"prmt.b32.ecl", prmt_op_ecl, "wwww"},
    {"prmt.b32.ecr", prmt_op_ecr, "wwww"},
    {"prmt.b32.rc16", prmt_op_rc16, "wwww"},
    {"bmsk.clamp.b32", bmsk_clamp, "www"},
    {"bmsk.wrap.b32", bmsk_wrap, "www"},
    {"szext.clamp.u32", szext_clamp_u, "www"},
    {"szext.clamp.s32", szext_clamp_s, "www"},
    {"szext.wrap.u32", szext_wrap_u, "www"},
    {"szext.wrap.s32", szext_wrap_s, "www"},
    {"vabsdiff2.u32.u32.u32", vabsdiff2, "wwww"},
    {"vabsdiff2.u32.u32.u32.add", vabsdiff2_add, "wwww"},
    {"vabsdiff4.u32.u32.u32", vabsdiff4, "wwww"},
    {"vabsdiff4.u32.u32.u32.add", vabsdiff4_add, "wwww"},
    {NULL, NULL, NULL},
};
