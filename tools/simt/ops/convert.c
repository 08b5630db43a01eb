// Executes cvt. Frequent conversions have a vectorized loop each; op_convert does all others, one
// lane at a time. PTX ISA, "cvt".
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "simt/ops/half.h"
#include "simt/ops/ops.h"
#include "simt/ops/row.h"

__extension__ typedef __int128 Wide;

static double float_value(uint64_t bits, PtxType type) {
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    switch (type) {
    case PTX_F16:
        return (double)half_to_float((uint16_t)bits);
    case PTX_BF16:
        return (double)bfloat_to_float((uint16_t)bits);
    case PTX_F32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    default:
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static Wide integer_value(uint64_t bits, PtxType type) {
    switch (type) {
    case PTX_S8:
        return (int8_t)bits;
    case PTX_S16:
        return (int16_t)bits;
    case PTX_S32:
        return (int32_t)bits;
    case PTX_S64:
        return (int64_t)bits;
    default: {
        uint32_t bytes = ptx_type_bytes(type);
        return bytes == 8 ? (Wide)bits : (Wide)(bits & ((1ull << (8 * bytes)) - 1));
    }
    }
}

static uint64_t clamp_integer(Wide value, PtxType type) {
    uint32_t bits = 8 * ptx_type_bytes(type);
    Wide low = ptx_type_is_signed(type) ? -((Wide)1 << (bits - 1)) : 0;
    Wide high = ((Wide)1 << (ptx_type_is_signed(type) ? bits - 1 : bits)) - 1;
    return (uint64_t)(value < low ? low : value > high ? high : value);
}

static double round_integral(double value, ConvertMode mode) {
    switch (mode & ROUND_MASK) {
    case ROUND_ZERO:
        return trunc(value);
    case ROUND_DOWN:
        return floor(value);
    case ROUND_UP:
        return ceil(value);
    default:
        return nearbyint(value);
    }
}

static uint64_t float_to_integer(double value, PtxType from, PtxType type, ConvertMode mode) {
    // A NaN becomes the sign bit alone if either type has 64 bits, else 0 (measured on an H200).
    if (value != value) {
        uint32_t bytes = ptx_type_bytes(type);
        return bytes == 8 || from == PTX_F64 ? 1ull << (8 * bytes - 1) : 0;
    }
    value = round_integral(value, mode);
    if (value >= 0x1p65) value = 0x1p65;
    if (value <= -0x1p65) value = -0x1p65;
    return clamp_integer((Wide)value, type);
}

static void set_rounding(ConvertMode mode) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    fesetround(modes[mode & ROUND_MASK]);
}

static uint64_t single_bits(float value) {
    uint32_t bits;
    if (value != value) return 0x7fffffffu;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t to_float(double value, PtxType type, ConvertMode mode) {
    if (mode & CONVERT_INTEGRAL) value = round_integral(value, mode);
    if (mode & CONVERT_SATURATE) value = value > 0 ? (value < 1 ? value : 1) : 0;
    if (mode & CONVERT_RELU && value <= 0) value = 0;
    if (type == PTX_F16) return float_to_half(value, mode);
    if (type == PTX_BF16) return float_to_bfloat(value, mode);
    if (type == PTX_F64) return double_bits(value);
    if ((mode & ROUND_MASK) == ROUND_NEAREST) return single_bits((float)value);
    set_rounding(mode);
    volatile double from = value;
    volatile float single = (float)from;
    fesetround(FE_TONEAREST);
    return single_bits(single);
}

static uint64_t integer_to_float(Wide value, PtxType type, ConvertMode mode) {
    if (type == PTX_F16 || type == PTX_BF16) {
        // 64 bits do not fit a double. For rounding, only whether a lost bit is set matters.
        Wide magnitude = value < 0 ? -value : value;
        int shift = 0;
        while (magnitude >> shift >= (Wide)1 << 40) shift++;
        Wide kept = magnitude >> shift;
        if (kept << shift != magnitude) kept |= 1;
        double exact = ldexp((double)kept, shift);
        return to_float(value < 0 ? -exact : exact, type, mode);
    }
    if (mode & CONVERT_SATURATE) value = value > 0;
    set_rounding(mode);
    uint64_t bits;
    if (value < 0) {
        volatile int64_t from = (int64_t)value;
        volatile float single = (float)from;
        volatile double wide = (double)from;
        bits = type == PTX_F32 ? single_bits(single) : double_bits(wide);
    } else {
        volatile uint64_t from = (uint64_t)value;
        volatile float single = (float)from;
        volatile double wide = (double)from;
        bits = type == PTX_F32 ? single_bits(single) : double_bits(wide);
    }
    fesetround(FE_TONEAREST);
    return bits;
}

static uint64_t convert(uint64_t bits, PtxType from, PtxType to, ConvertMode mode) {
    if (ptx_type_is_float(from)) {
        double value = float_value(bits, from);
        return ptx_type_is_float(to) ? to_float(value, to, mode)
                                     : float_to_integer(value, from, to, mode);
    }
    Wide value = integer_value(bits, from);
    if (ptx_type_is_float(to)) return integer_to_float(value, to, mode);
    return mode & CONVERT_SATURATE ? clamp_integer(value, to) : (uint64_t)value;
}

// The value extended to a register wider than its type.
static uint64_t widen(uint64_t bits, PtxType type) {
    return ptx_type_is_float(type) ? bits : (uint64_t)integer_value(bits, type);
}

const Inst *op_convert(Warp *warp, const Inst *inst) {
    const InstConvert *c = &inst->convert;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t bits = warp_read(warp, c->from_class, c->a, lane);
        bits = widen(convert(bits, c->from, c->to, c->mode), c->to);
        warp_write(warp, c->to_class, c->d, lane, bits);
    }
    return inst + 1;
}

// cvt.rn.f16x2.f32 d, a, b: a goes to the upper half.
const Inst *op_convert_pair(Warp *warp, const Inst *inst) {
    const InstConvert *c = &inst->convert;
    const LaneF32 *a = REG(warp, LaneF32, c->a), *b = REG(warp, LaneF32, c->b);
    const PtxType to = c->to == PTX_F16X2 ? PTX_F16 : PTX_BF16;
    if (c->mode == ROUND_NEAREST && to == PTX_F16)
        LANE_RESULT_IN(c->d, LaneU32, half_nearest(a[l]) << 16 | half_nearest(b[l]));
    if (c->mode == ROUND_NEAREST)
        LANE_RESULT_IN(c->d, LaneU32, bfloat_nearest(a[l]) << 16 | bfloat_nearest(b[l]));
    LANE_RESULT_SCALAR_IN(
        c->d, LaneU32,
        (to_float((double)a[l], to, c->mode) << 16 | to_float((double)b[l], to, c->mode)));
}

#define CONVERT(name, to, from, value)                                                             \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const from *a = REG(warp, from, inst->r[1]);                                               \
        LANE_RESULT(to, value);                                                                    \
    }
CONVERT(u64_u32, LaneU64, LaneU32, a[l])
CONVERT(s64_s32, LaneS64, LaneS32, a[l])
CONVERT(u32_u64, LaneU32, LaneU64, a[l])
CONVERT(u32_u16, LaneU32, LaneU16, a[l])
CONVERT(s32_s16, LaneS32, LaneS16, a[l])
CONVERT(u16_u32, LaneU16, LaneU32, a[l])
CONVERT(u16_u64, LaneU16, LaneU64, a[l])
CONVERT(u64_u16, LaneU64, LaneU16, a[l])
CONVERT(s64_s16, LaneS64, LaneS16, a[l])
CONVERT(u32_u8, LaneU32, LaneU32, a[l] & 0xff)
CONVERT(u16_u8, LaneU16, LaneU16, a[l] & 0xffu)
CONVERT(s32_s8, LaneS32, LaneS32, (int8_t)a[l])
CONVERT(f32_s32, LaneF32, LaneS32, a[l])
CONVERT(f32_u32, LaneF32, LaneU32, a[l])
CONVERT(f64_s32, LaneF64, LaneS32, a[l])
CONVERT(f64_u32, LaneF64, LaneU32, a[l])
CONVERT(f64_f32, LaneF64, LaneF32, a[l])
static inline float narrow(double x) {
    union {
        uint32_t bits;
        float value;
    } canonical = {0x7fffffffu};
    return x == x ? (float)x : canonical.value;
}
CONVERT(f32_f64, LaneF32, LaneF64, narrow(a[l]))
// Replaces any NaN by the canonical one.
static inline uint32_t wide(float x) { return x == x ? half_single_bits(x) : 0x7fffffffu; }
CONVERT(f32_f16, LaneU32, LaneU16, wide(half_to_float(a[l])))
CONVERT(f32_bf16, LaneU32, LaneU16, wide(bfloat_to_float(a[l])))
CONVERT(f16_f32, LaneU16, LaneF32, half_nearest(a[l]))
CONVERT(bf16_f32, LaneU16, LaneF32, bfloat_nearest(a[l]))
static inline float saturated(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }
// Converts to a 32-bit integer, clamped to its range; 0 for a NaN.
static inline int32_t integer(double x) {
    const double high = x < 0x1p31 - 1 ? x : 0x1p31 - 1, both = high > -0x1p31 ? high : -0x1p31;
    return (int32_t)(x == x ? both : 0);
}
CONVERT(saturated_f32, LaneF32, LaneF32, saturated(a[l]))
CONVERT(rni_f32, LaneU32, LaneF32, wide(nearbyintf(a[l])))
CONVERT(rzi_f32, LaneU32, LaneF32, wide(truncf(a[l])))
CONVERT(rni_s32, LaneS32, LaneF32, integer((double)nearbyintf(a[l])))
CONVERT(rzi_s32, LaneS32, LaneF32, integer((double)truncf(a[l])))

const OpRow op_convert_rows[] = {
    {"cvt.u64.u32", u64_u32, "dw"},
    {"cvt.s64.u32", u64_u32, "dw"},
    {"cvt.s64.s32", s64_s32, "dw"},
    {"cvt.u64.s32", s64_s32, "dw"},
    {"cvt.u32.u64", u32_u64, "wd"},
    {"cvt.s32.s64", u32_u64, "wd"},
    {"cvt.u32.s64", u32_u64, "wd"},
    {"cvt.s32.u64", u32_u64, "wd"},
    {"cvt.u32.u16", u32_u16, "wh"},
    {"cvt.s32.u16", u32_u16, "wh"},
    {"cvt.s32.s16", s32_s16, "wh"},
    {"cvt.u32.s16", s32_s16, "wh"},
    {"cvt.u16.u32", u16_u32, "hw"},
    {"cvt.s16.s32", u16_u32, "hw"},
    {"cvt.u16.s32", u16_u32, "hw"},
    {"cvt.s16.u32", u16_u32, "hw"},
    {"cvt.u16.u64", u16_u64, "hd"},
    {"cvt.u64.u16", u64_u16, "dh"},
    {"cvt.s64.s16", s64_s16, "dh"},
    {"cvt.u32.u8", u32_u8, "ww"},
    {"cvt.u16.u8", u16_u8, "hh"},
    {"cvt.s32.s8", s32_s8, "ww"},
    {"cvt.rn.f32.s32", f32_s32, "ww"},
    {"cvt.rn.f32.u32", f32_u32, "ww"},
    {"cvt.rn.f64.s32", f64_s32, "dw"},
    {"cvt.rn.f64.u32", f64_u32, "dw"},
    {"cvt.f64.f32", f64_f32, "dw"},
    {"cvt.rn.f32.f64", f32_f64, "wd"},
    {"cvt.sat.f32.f32", saturated_f32, "ww"},
    {"cvt.rni.f32.f32", rni_f32, "ww"},
    {"cvt.rzi.f32.f32", rzi_f32, "ww"},
    {"cvt.rni.s32.f32", rni_s32, "ww"},
    {"cvt.rzi.s32.f32", rzi_s32, "ww"},
    {"cvt.f32.f16", f32_f16, "wh"},
    {"cvt.f32.bf16", f32_bf16, "wh"},
    {"cvt.rn.f16.f32", f16_f32, "hw"},
    {"cvt.rn.bf16.f32", bf16_f32, "hw"},
    {NULL, NULL, NULL},
};
