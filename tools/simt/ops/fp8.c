// Converts pairs of 8-bit floats, e4m3 and e5m2. PTX ISA, "cvt" and "Packed Data Types". The
// formats are defined in Micikevicius et al., "FP8 Formats for Deep Learning".
//
// An e5m2 is the upper half of an f16. An e4m3 has no infinity, and one NaN of each sign.
#include <math.h>

#include "simt/ops/half.h"
#include "simt/ops/ops.h"

enum { CANONICAL_NAN = 0x7f };

typedef struct {
    int mantissa, least; // bits, exponent of the smallest normal number
    uint8_t largest;     // finite
} Format;

static const Format e4m3 = {3, -6, 0x7e}, e5m2 = {2, -14, 0x7b};

static const Format *format_of(PtxType type) { return type == PTX_E4M3X2 ? &e4m3 : &e5m2; }

// Rounds to nearest even and clamps to the largest finite number.
static uint8_t narrow(double value, const Format *format, ConvertMode mode) {
    if (value != value) return CANONICAL_NAN;
    if (mode & CONVERT_RELU && value <= 0) return 0;
    uint8_t sign = signbit(value) ? 0x80 : 0;
    if (value == 0) return sign;
    if (isinf(value)) return sign | format->largest;
    int exponent = ilogb(value);
    if (exponent < format->least) exponent = format->least;
    if (exponent > 100) return sign | format->largest;
    double units = nearbyint(fabs(ldexp(value, format->mantissa - exponent)));
    double bits = units + ldexp(exponent - format->least, format->mantissa);
    return sign | (bits > format->largest ? format->largest : (uint8_t)bits);
}

static double widen(uint8_t bits, const Format *format) {
    int exponent = bits >> format->mantissa & ((1 << (7 - format->mantissa)) - 1);
    int fraction = bits & ((1 << format->mantissa) - 1);
    double value;
    if ((bits & 0x7f) == 0x7f || (format == &e5m2 && (bits & 0x7f) > 0x7c))
        value = NAN;
    else if (format == &e5m2 && (bits & 0x7f) == 0x7c)
        value = INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, format->least - format->mantissa);
    else
        value = ldexp(fraction + (1 << format->mantissa),
                      exponent - 1 + format->least - format->mantissa);
    return bits >> 7 ? -value : value;
}

// cvt.rn.satfinite.e4m3x2.f32 d, a, b: a goes to the upper half.
const Inst *op_narrow_singles(Warp *warp, const Inst *inst) {
    const InstConvert *c = &inst->convert;
    const Format *format = format_of(c->to);
    const LaneF32 *a = REG(warp, LaneF32, c->a), *b = REG(warp, LaneF32, c->b);
    LANE_RESULT_SCALAR_IN(
        c->d, LaneU16,
        (narrow((double)a[l], format, c->mode) << 8 | narrow((double)b[l], format, c->mode)));
}

const Inst *op_narrow_halves(Warp *warp, const Inst *inst) {
    const InstConvert *c = &inst->convert;
    const Format *format = format_of(c->to);
    const LaneU32 *a = REG(warp, LaneU32, c->a);
    LANE_RESULT_SCALAR_IN(
        c->d, LaneU16,
        (narrow((double)half_to_float((uint16_t)(a[l] >> 16)), format, c->mode) << 8 |
         narrow((double)half_to_float((uint16_t)a[l]), format, c->mode)));
}

static uint32_t half_of(uint32_t bits, const Format *format, ConvertMode mode) {
    double value = widen((uint8_t)bits, format);
    if (mode & CONVERT_RELU && value <= 0) value = 0;
    return float_to_half(value, ROUND_NEAREST);
}

const Inst *op_widen_to_halves(Warp *warp, const Inst *inst) {
    const InstConvert *c = &inst->convert;
    const Format *format = format_of(c->from);
    const LaneU16 *a = REG(warp, LaneU16, c->a);
    LANE_RESULT_SCALAR_IN(
        c->d, LaneU32,
        (half_of(a[l] >> 8, format, c->mode) << 16 | half_of(a[l], format, c->mode)));
}
