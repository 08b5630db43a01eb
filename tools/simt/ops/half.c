// 16-bit floating point: f16 and bf16, alone and in pairs. Operations are done in double and
// rounded once. PTX ISA, "Half Precision Floating-Point Instructions".
#include <math.h>
#include <string.h>

#include "simt/ops/ops.h"
#include "simt/ops/row.h"

static double from_bits(uint16_t bits, int mantissa, int least) {
    int exponent = bits >> mantissa & ((1 << (15 - mantissa)) - 1);
    int fraction = bits & ((1 << mantissa) - 1);
    double value;
    if (exponent == (1 << (15 - mantissa)) - 1)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, least - mantissa);
    else
        value = ldexp(fraction + (1 << mantissa), exponent - 1 + least - mantissa);
    return bits >> 15 ? -value : value;
}

static uint16_t to_bits(double value, int mantissa, int least, ConvertMode mode) {
    const uint16_t infinity = (uint16_t)(0x7fff & ~((1 << mantissa) - 1));
    if (value != value) return 0x7fff;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isinf(value)) return sign | infinity;
    if (value == 0) return sign;
    int exponent = ilogb(value);
    if (exponent < least) exponent = least;
    if (exponent > 200) exponent = 200; // far too large in either format
    double units = ldexp(value, mantissa - exponent);
    double rounded = (mode & ROUND_MASK) == ROUND_ZERO           ? trunc(units)
                     : (mode & ROUND_MASK) == ROUND_DOWN         ? floor(units)
                     : (mode & ROUND_MASK) == ROUND_UP           ? ceil(units)
                     : (mode & ROUND_MASK) == ROUND_NEAREST_AWAY ? round(units)
                                                                 : nearbyint(units);
    double magnitude = fabs(rounded) + ldexp(exponent - least, mantissa);
    if (magnitude >= infinity) {
        bool away = (mode & ROUND_MASK) == ROUND_NEAREST ||
                    (mode & ROUND_MASK) == ROUND_NEAREST_AWAY ||
                    (mode & ROUND_MASK) == (sign ? ROUND_DOWN : ROUND_UP);
        return sign | (uint16_t)(infinity - !away);
    }
    return sign | (uint16_t)magnitude;
}

float half_to_float(uint16_t bits) { return (float)from_bits(bits, 10, -14); }
float bfloat_to_float(uint16_t bits) { return (float)from_bits(bits, 7, -126); }
uint16_t float_to_half(double value, ConvertMode mode) { return to_bits(value, 10, -14, mode); }
uint16_t float_to_bfloat(double value, ConvertMode mode) { return to_bits(value, 7, -126, mode); }

// a * b is exact in double; the sum is rounded to odd, so that rounding it again to 16 bits gives
// what one rounding would (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
static double fma_odd(double a, double b, double c) {
    double product = a * b, sum = product + c, part = sum - product;
    double error = (product - (sum - part)) + (c - part);
    if (error == 0 || error != error || sum == 0) return sum;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if ((error > 0) != (sum > 0)) bits--;
    bits |= 1;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

static double least_of(double a, double b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return signbit(a) ? a : b;
    return a < b ? a : b;
}
static double most_of(double a, double b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return signbit(a) ? b : a;
    return a > b ? a : b;
}
static double nan_or(double a, double b, double value) { return a != a || b != b ? NAN : value; }
// The sign of the result is that of a ^ b (.xorsign.abs); a NaN has none.
static double xor_sign(double magnitude, double a, double b) {
    if (magnitude != magnitude) return magnitude;
    return !signbit(a) != !signbit(b) ? -magnitude : magnitude;
}
static double clamp(double x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
static double relu(double x) { return x != x ? x : x > 0 ? x : 0; }

// .ftz: subnormal operands are zero, and so are results that are below the normal numbers before
// they are rounded.
static double from_flushed(uint16_t bits) {
    return from_bits(bits & 0x7c00 ? bits : bits & 0x8000, 10, -14);
}
static uint16_t to_flushed(double value) {
    return to_bits(fabs(value) < 0x1p-14 ? copysign(0, value) : value, 10, -14, ROUND_NEAREST);
}

// A format is a name here, NAME(bits) and NAME_(value). F16Z is f16 with .ftz.
#define F16(bits)    from_bits(bits, 10, -14)
#define BF16(bits)   from_bits(bits, 7, -126)
#define F16Z(bits)   from_flushed(bits)
#define F16_(value)  to_bits(value, 10, -14, ROUND_NEAREST)
#define BF16_(value) to_bits(value, 7, -126, ROUND_NEAREST)
#define F16Z_(value) to_flushed(value)

// `value` uses x, y, z. Unused operands are read from a register that is there anyway.
#define HALF_OP(name, format, count, value)                                                        \
    static uint16_t name##_##format##_value(uint16_t a, uint16_t b, uint16_t c) {                  \
        const double x = format(a), y = format(b), z = format(c);                                  \
        (void)y, (void)z;                                                                          \
        return format##_(value);                                                                   \
    }                                                                                              \
    static const Inst *name##_##format(Warp *warp, const Inst *inst) {                             \
        const LaneU16 *a = REG(warp, LaneU16, inst->r[1]);                                         \
        const LaneU16 *b = REG(warp, LaneU16, inst->r[count > 1 ? 2 : 1]);                         \
        const LaneU16 *c = REG(warp, LaneU16, inst->r[count > 2 ? 3 : 1]);                         \
        LANE_RESULT_SCALAR(LaneU16, (name##_##format##_value(a[l], b[l], c[l])));                  \
    }                                                                                              \
    static const Inst *name##_##format##x2(Warp *warp, const Inst *inst) {                         \
        const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);                                         \
        const LaneU32 *b = REG(warp, LaneU32, inst->r[count > 1 ? 2 : 1]);                         \
        const LaneU32 *c = REG(warp, LaneU32, inst->r[count > 2 ? 3 : 1]);                         \
        LANE_RESULT_SCALAR(                                                                        \
            LaneU32, (name##_##format##_value((uint16_t)a[l], (uint16_t)b[l], (uint16_t)c[l]) |    \
                      (uint32_t)name##_##format##_value(                                           \
                          (uint16_t)(a[l] >> 16), (uint16_t)(b[l] >> 16), (uint16_t)(c[l] >> 16))  \
                          << 16));                                                                 \
    }
#define HALF_ARITHMETIC(format)                                                                    \
    HALF_OP(add, format, 2, x + y)                                                                 \
    HALF_OP(sub, format, 2, x - y)                                                                 \
    HALF_OP(mul, format, 2, x *y)                                                                  \
    HALF_OP(fma, format, 3, fma_odd(x, y, z))                                                      \
    HALF_OP(fma_relu, format, 3, relu(fma_odd(x, y, z)))                                           \
    HALF_OP(min, format, 2, least_of(x, y))                                                        \
    HALF_OP(max, format, 2, most_of(x, y))                                                         \
    HALF_OP(min_nan, format, 2, nan_or(x, y, least_of(x, y)))                                      \
    HALF_OP(max_nan, format, 2, nan_or(x, y, most_of(x, y)))                                       \
    HALF_OP(min_sign, format, 2, xor_sign(least_of(fabs(x), fabs(y)), x, y))                       \
    HALF_OP(max_sign, format, 2, xor_sign(most_of(fabs(x), fabs(y)), x, y))                        \
    HALF_OP(min_nan_sign, format, 2, nan_or(x, y, xor_sign(least_of(fabs(x), fabs(y)), x, y)))     \
    HALF_OP(max_nan_sign, format, 2, nan_or(x, y, xor_sign(most_of(fabs(x), fabs(y)), x, y)))
#define HALF_FUNCTIONS(format)                                                                     \
    HALF_OP(ex2, format, 1, exp2(x))                                                               \
    HALF_OP(tanh, format, 1, tanh(x))                                                              \
    HALF_OP(saturate, format, 1, clamp(x))
HALF_ARITHMETIC(F16)
HALF_ARITHMETIC(F16Z)
HALF_ARITHMETIC(BF16)
HALF_FUNCTIONS(F16)
HALF_FUNCTIONS(BF16)

// Signs are changed on the bits; a NaN becomes the canonical one (measured on an H200).
static inline uint32_t negated(uint32_t bits, uint32_t infinity) {
    return (bits & 0x7fffu) > infinity ? 0x7fffu : bits ^ 0x8000u;
}
static inline uint32_t unsigned_of(uint32_t bits, uint32_t infinity) {
    return (bits & 0x7fffu) > infinity ? 0x7fffu : bits & 0x7fffu;
}
static inline uint32_t flushed(uint32_t bits) { return bits & 0x7c00u ? bits : bits & 0x8000u; }
#define SIGN_OP(name, value)                                                                       \
    static inline uint32_t name##_value(uint32_t x) { return value; }                              \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const LaneU16 *a = REG(warp, LaneU16, inst->r[1]);                                         \
        LANE_RESULT(LaneU16, name##_value(a[l]));                                                  \
    }                                                                                              \
    static const Inst *name##x2(Warp *warp, const Inst *inst) {                                    \
        const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);                                         \
        LANE_RESULT(LaneU32, name##_value(a[l] & 0xffff) | name##_value(a[l] >> 16) << 16);        \
    }
SIGN_OP(neg_F16, negated(x, 0x7c00))
SIGN_OP(abs_F16, unsigned_of(x, 0x7c00))
SIGN_OP(neg_F16Z, negated(flushed(x), 0x7c00))
SIGN_OP(abs_F16Z, unsigned_of(flushed(x), 0x7c00))
SIGN_OP(neg_BF16, negated(x, 0x7f80))
SIGN_OP(abs_BF16, unsigned_of(x, 0x7f80))
// In front of comparisons with .ftz.
static const Inst *flush_F16(Warp *warp, const Inst *inst) {
    const LaneU16 *a = REG(warp, LaneU16, inst->r[1]);
    LANE_RESULT(LaneU16, flushed(a[l]));
}

#define COMPARE(name, format, value)                                                               \
    static const Inst *name##_##format(Warp *warp, const Inst *inst) {                             \
        const LaneU16 *a = REG(warp, LaneU16, inst->r[1]);                                         \
        const LaneU16 *b = REG(warp, LaneU16, inst->r[2]);                                         \
        uint32_t result = 0;                                                                       \
        for (int l = 0; l < LANES; l++) {                                                          \
            const double x = format(a[l]), y = format(b[l]);                                       \
            result |= (uint32_t)(value) << l;                                                      \
        }                                                                                          \
        warp_write_predicate(warp, inst->r[0], result);                                            \
        return inst + 1;                                                                           \
    }
#define COMPARES(format)                                                                           \
    COMPARE(eq, format, x == y)                                                                    \
    COMPARE(ne, format, x<y || x> y)                                                               \
    COMPARE(lt, format, x < y)                                                                     \
    COMPARE(le, format, x <= y)                                                                    \
    COMPARE(gt, format, x > y)                                                                     \
    COMPARE(ge, format, x >= y)                                                                    \
    COMPARE(equ, format, !(x < y || x > y))                                                        \
    COMPARE(neu, format, !(x == y))                                                                \
    COMPARE(ltu, format, !(x >= y))                                                                \
    COMPARE(leu, format, !(x > y))                                                                 \
    COMPARE(gtu, format, !(x <= y))                                                                \
    COMPARE(geu, format, !(x < y))                                                                 \
    COMPARE(num, format, x == x && y == y)                                                         \
    COMPARE(nan, format, x != x || y != y)
COMPARES(F16)
COMPARES(BF16)

#define COMPARE_ROW(name, format, text)                                                            \
    { "setp." #name "." text, name##_##format, "phh" }
#define ARITHMETIC_ROWS(format, flush, text)                                                       \
    {"add." flush text, add_##format, "hhh"}, {"sub." flush text, sub_##format, "hhh"},            \
        {"mul." flush text, mul_##format, "hhh"}, {"fma." flush text, fma_##format, "hhhh"},       \
        {"fma." flush "relu." text, fma_relu_##format, "hhhh"},                                    \
        {"min." flush text, min_##format, "hhh"}, {"max." flush text, max_##format, "hhh"},        \
        {"min." flush "NaN." text, min_nan_##format, "hhh"},                                       \
        {"max." flush "NaN." text, max_nan_##format, "hhh"},                                       \
        {"neg." flush text, neg_##format, "hh"}, {"abs." flush text, abs_##format, "hh"},          \
        {"add." flush text "x2", add_##format##x2, "www"},                                         \
        {"sub." flush text "x2", sub_##format##x2, "www"},                                         \
        {"mul." flush text "x2", mul_##format##x2, "www"},                                         \
        {"fma." flush text "x2", fma_##format##x2, "wwww"},                                        \
        {"fma." flush "relu." text "x2", fma_relu_##format##x2, "wwww"},                           \
        {"min." flush text "x2", min_##format##x2, "www"},                                         \
        {"max." flush text "x2", max_##format##x2, "www"},                                         \
        {"min." flush "NaN." text "x2", min_nan_##format##x2, "www"},                              \
        {"max." flush "NaN." text "x2", max_nan_##format##x2, "www"},                              \
        {"neg." flush text "x2", neg_##format##x2, "ww"}, {                                        \
        "abs." flush text "x2", abs_##format##x2, "ww"                                             \
    }
#define FUNCTION_ROWS(format, text)                                                                \
    {"ex2.approx." text, ex2_##format, "hh"}, {"tanh.approx." text, tanh_##format, "hh"},          \
        {"saturate." text, saturate_##format, "hh"},                                               \
        {"ex2.approx." text "x2", ex2_##format##x2, "ww"},                                         \
        {"tanh.approx." text "x2", tanh_##format##x2, "ww"}, {                                     \
        "saturate." text "x2", saturate_##format##x2, "ww"                                         \
    }
#define COMPARE_ROWS(format, text)                                                                 \
    COMPARE_ROW(eq, format, text), COMPARE_ROW(ne, format, text), COMPARE_ROW(lt, format, text),   \
        COMPARE_ROW(le, format, text), COMPARE_ROW(gt, format, text),                              \
        COMPARE_ROW(ge, format, text), COMPARE_ROW(equ, format, text),                             \
        COMPARE_ROW(neu, format, text), COMPARE_ROW(ltu, format, text),                            \
        COMPARE_ROW(leu, format, text), COMPARE_ROW(gtu, format, text),                            \
        COMPARE_ROW(geu, format, text), COMPARE_ROW(num, format, text),                            \
        COMPARE_ROW(nan, format, text)

#define SIGN_ROWS(format, flush, text, letters)                                                    \
    {"min." flush "xorsign.abs." text, min_sign_##format, letters},                                \
        {"max." flush "xorsign.abs." text, max_sign_##format, letters},                            \
        {"min." flush "NaN.xorsign.abs." text, min_nan_sign_##format, letters}, {                  \
        "max." flush "NaN.xorsign.abs." text, max_nan_sign_##format, letters                       \
    }

const OpRow op_half_rows[] = {
    ARITHMETIC_ROWS(F16, "", "f16"),
    ARITHMETIC_ROWS(F16Z, "ftz.", "f16"),
    ARITHMETIC_ROWS(BF16, "", "bf16"),
    FUNCTION_ROWS(F16, "f16"),
    FUNCTION_ROWS(BF16, "bf16"),
    {"flush.f16", flush_F16, "hh"},
    COMPARE_ROWS(F16, "f16"),
    COMPARE_ROWS(BF16, "bf16"),
    SIGN_ROWS(F16, "", "f16", "hhh"),
    SIGN_ROWS(F16x2, "", "f16x2", "www"),
    SIGN_ROWS(F16Z, "ftz.", "f16", "hhh"),
    SIGN_ROWS(F16Zx2, "ftz.", "f16x2", "www"),
    SIGN_ROWS(BF16, "", "bf16", "hhh"),
    SIGN_ROWS(BF16x2, "", "bf16x2", "www"),
    {NULL, NULL, NULL},
};
