// 16-bit floating point: f16 and bf16, alone and in pairs. Operations are done in double and
// rounded once. PTX ISA, "Half Precision Floating-Point Instructions".
#include <math.h>
#include <string.h>

#include "ops.h"

static double from_bits(uint16_t bits, int mantissa, int least) {
    int exponent = bits >> mantissa & ((1 << (15 - mantissa)) - 1);
    int fraction = bits & ((1 << mantissa) - 1);
    double value;
    if (exponent == (1 << (15 - mantissa)) - 1) {
        value = fraction ? NAN : INFINITY;
    } else if (exponent == 0) {
        value = ldexp(fraction, least - mantissa);
    } else {
        value = ldexp(fraction + (1 << mantissa), exponent - 1 + least - mantissa);
    }
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

#define F16(bits)    from_bits(bits, 10, -14)
#define BF16(bits)   from_bits(bits, 7, -126)
#define F16_(value)  to_bits(value, 10, -14, ROUND_NEAREST)
#define BF16_(value) to_bits(value, 7, -126, ROUND_NEAREST)

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
#define HALF_OPS(format)                                                                           \
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
    HALF_OP(max_nan_sign, format, 2, nan_or(x, y, xor_sign(most_of(fabs(x), fabs(y)), x, y)))      \
    HALF_OP(ex2, format, 1, exp2(x))                                                               \
    HALF_OP(tanh, format, 1, tanh(x))                                                              \
    HALF_OP(saturate, format, 1, clamp(x))
HALF_OPS(F16)
HALF_OPS(BF16)

#define BITS(name, type, value)                                                                    \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        LANE_RESULT(type, value);                                                                  \
    }
BITS(neg16, LaneU16, a[l] ^ 0x8000u)
BITS(abs16, LaneU16, a[l] & 0x7fffu)
BITS(neg16x2, LaneU32, a[l] ^ 0x80008000u)
BITS(abs16x2, LaneU32, a[l] & 0x7fff7fffu)

#define COMPARE(name, format, value)                                                               \
    static const Inst *name##_##format(Warp *warp, const Inst *inst) {                             \
        const LaneU16 *a = REG(warp, LaneU16, inst->r[1]);                                         \
        const LaneU16 *b = REG(warp, LaneU16, inst->r[2]);                                         \
        LaneU32 *d = REG(warp, LaneU32, inst->r[0]);                                               \
        uint32_t result = 0;                                                                       \
        for (int l = 0; l < LANES; l++) {                                                          \
            const double x = format(a[l]), y = format(b[l]);                                       \
            result |= (uint32_t)(value) << l;                                                      \
        }                                                                                          \
        *d = (*d & ~warp->exec) | (result & warp->exec);                                           \
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
#define ROWS(format, text)                                                                         \
    {"add." text, add_##format, "hhh"}, {"sub." text, sub_##format, "hhh"},                        \
        {"mul." text, mul_##format, "hhh"}, {"fma." text, fma_##format, "hhhh"},                   \
        {"fma.relu." text, fma_relu_##format, "hhhh"}, {"min." text, min_##format, "hhh"},         \
        {"max." text, max_##format, "hhh"}, {"min.NaN." text, min_nan_##format, "hhh"},            \
        {"max.NaN." text, max_nan_##format, "hhh"}, {"ex2.approx." text, ex2_##format, "hh"},      \
        {"tanh.approx." text, tanh_##format, "hh"}, {"saturate." text, saturate_##format, "hh"},   \
        {"neg." text, neg16, "hh"}, {"abs." text, abs16, "hh"},                                    \
        {"add." text "x2", add_##format##x2, "www"}, {"sub." text "x2", sub_##format##x2, "www"},  \
        {"mul." text "x2", mul_##format##x2, "www"}, {"fma." text "x2", fma_##format##x2, "wwww"}, \
        {"fma.relu." text "x2", fma_relu_##format##x2, "wwww"},                                    \
        {"min." text "x2", min_##format##x2, "www"}, {"max." text "x2", max_##format##x2, "www"},  \
        {"min.NaN." text "x2", min_nan_##format##x2, "www"},                                       \
        {"max.NaN." text "x2", max_nan_##format##x2, "www"},                                       \
        {"ex2.approx." text "x2", ex2_##format##x2, "ww"},                                         \
        {"tanh.approx." text "x2", tanh_##format##x2, "ww"},                                       \
        {"saturate." text "x2", saturate_##format##x2, "ww"}, {"neg." text "x2", neg16x2, "ww"},   \
        {"abs." text "x2", abs16x2, "ww"}, COMPARE_ROW(eq, format, text),                          \
        COMPARE_ROW(ne, format, text), COMPARE_ROW(lt, format, text),                              \
        COMPARE_ROW(le, format, text), COMPARE_ROW(gt, format, text),                              \
        COMPARE_ROW(ge, format, text), COMPARE_ROW(equ, format, text),                             \
        COMPARE_ROW(neu, format, text), COMPARE_ROW(ltu, format, text),                            \
        COMPARE_ROW(leu, format, text), COMPARE_ROW(gtu, format, text),                            \
        COMPARE_ROW(geu, format, text), COMPARE_ROW(num, format, text),                            \
        COMPARE_ROW(nan, format, text)

#define SIGN_ROWS(format, text, letters)                                                           \
    {"min.xorsign.abs." text, min_sign_##format, letters},                                         \
        {"max.xorsign.abs." text, max_sign_##format, letters},                                     \
        {"min.NaN.xorsign.abs." text, min_nan_sign_##format, letters}, {                           \
        "max.NaN.xorsign.abs." text, max_nan_sign_##format, letters                                \
    }

const OpRow op_half_rows[] = {
    ROWS(F16, "f16"),
    ROWS(BF16, "bf16"),
    SIGN_ROWS(F16, "f16", "hhh"),
    SIGN_ROWS(F16x2, "f16x2", "www"),
    SIGN_ROWS(BF16, "bf16", "hhh"),
    SIGN_ROWS(BF16x2, "bf16x2", "www"),
    {NULL, NULL, NULL},
};
