// Executes arithmetic of f16 and bf16, alone and in pairs. PTX ISA, "Half Precision Floating-Point
// Instructions". Every result is correctly rounded.
//
// Most operations compute in single precision and round the result to 16 bits. Together this rounds
// correctly if the first result is exact, if it is rounded to odd (Boldo and Melquiond, "Emulation
// of FMA and correctly rounded sums": then rounding to a format with at least two bits less is
// correct), or if rounding twice is harmless:
//
//   f16 add     Rounding twice is harmless: a single has 24 bits, an f16 has 11, a bf16 has 8, and
//   bf16 add    24 >= 2 * 11 + 2 (Figueroa, "When is double rounding innocuous?"). Subnormal sums
//               are exact, because f16 and bf16 are multiples of 2^-24 and 2^-133. A sum that
//               overflows a single overflows a bf16, and sums of f16 do not overflow a single.
//   f16 mul     The product has 22 bits and is a multiple of 2^-48, so it is exact.
//   f16 fma     The product is exact and the sum is rounded to odd. The error of the sum is also a
//               multiple of 2^-48, so it is computed exactly.
//   bf16 mul    The product has 16 bits, so it is exact if it is at least 2^-134, half of the
//               smallest bf16. A smaller product becomes at most 2^-134, and then 0.
//   bf16 fma    As for f16, but in double, which has a larger range of exponents, then rounded to
//               odd in single precision.
#include "simt/ops/half.h"

#include <math.h>

#include "simt/ops/ops.h"
#include "simt/ops/row.h"

#define ALWAYS static inline __attribute__((always_inline))

// --- one value, any mode ---

// Whether the magnitude `kept` is rounded up. `rest` is the part cut off, and `half` is half of the
// last place of `kept`.
static bool rounds_up(uint64_t kept, uint64_t rest, uint64_t half, bool negative,
                      ConvertMode mode) {
    switch (mode & ROUND_MASK) {
    case ROUND_ZERO:
        return false;
    case ROUND_DOWN:
        return negative && rest;
    case ROUND_UP:
        return !negative && rest;
    case ROUND_NEAREST_AWAY:
        return rest >= half;
    default:
        return rest > half || (rest == half && (kept & 1));
    }
}

// Converts to a format with this many bits of mantissa and this least exponent of normal numbers.
static uint16_t to_bits(double value, int mantissa, int least, ConvertMode mode) {
    enum { PLACES = 52, BIAS = 1023 };
    const uint64_t infinity = 0x7fffu & ~((1u << mantissa) - 1);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const bool negative = bits >> 63;
    const uint16_t sign = negative ? 0x8000 : 0;
    if (value != value) return HALF_NAN;
    if (isinf(value)) return sign | (uint16_t)infinity;
    int exponent = (int)(bits >> PLACES & 0x7ff);
    uint64_t significand = bits & ((1ull << PLACES) - 1);
    if (exponent)
        significand |= 1ull << PLACES;
    else
        exponent = 1;
    exponent -= BIAS;
    const int last = exponent > least ? exponent : least; // the exponent of the result's binade
    int shift = PLACES - mantissa + last - exponent;
    if (shift > PLACES + 3) shift = PLACES + 3; // less than half of the last place
    uint64_t result = significand >> shift;
    const uint64_t rest = significand - (result << shift), half = 1ull << (shift - 1);
    result += rounds_up(result, rest, half, negative, mode);
    result += (uint64_t)(last - least) << mantissa;
    if (result < infinity) return sign | (uint16_t)result;
    const bool away = rounds_up(1, half + 1, half, negative, mode);
    return sign | (uint16_t)(infinity - !away);
}

uint16_t float_to_half(double value, ConvertMode mode) { return to_bits(value, 10, -14, mode); }
uint16_t float_to_bfloat(double value, ConvertMode mode) { return to_bits(value, 7, -126, mode); }

// --- rounding to odd ---

// a * b + c, rounded to odd. The product is exact.
#define FMA_ODD(name, type, Bits)                                                                  \
    ALWAYS type name(type a, type b, type c) {                                                     \
        const type product = a * b, sum = product + c, part = sum - product;                       \
        const type error = (product - (sum - part)) + (c - part);                                  \
        Bits bits;                                                                                 \
        memcpy(&bits, &sum, sizeof bits);                                                          \
        bits = (bits - (Bits)((error > 0) != (sum > 0))) | 1;                                      \
        type odd;                                                                                  \
        memcpy(&odd, &bits, sizeof odd);                                                           \
        return error < 0 || error > 0 ? odd : sum;                                                 \
    }
FMA_ODD(fma_odd_single, float, uint32_t)
FMA_ODD(fma_odd_double, double, uint64_t)

ALWAYS float narrow_odd(double value) {
    const float near = (float)value;
    const double back = (double)near;
    const uint32_t larger = fabs(back) > fabs(value);
    const float odd = half_single((half_single_bits(near) - larger) | 1);
    return back < value || back > value ? odd : near;
}

// --- operations ---

ALWAYS bool negative(float x) { return half_single_bits(x) >> 31; }

ALWAYS float least_of(float a, float b) {
    const float of_equals = negative(a) ? a : b, less = a < b ? a : b;
    const float least = a == b ? of_equals : less;
    return a != a ? b : b != b ? a : least;
}
ALWAYS float most_of(float a, float b) {
    const float of_equals = negative(a) ? b : a, more = a > b ? a : b;
    const float most = a == b ? of_equals : more;
    return a != a ? b : b != b ? a : most;
}
ALWAYS float nan_or(float a, float b, float value) { return a != a || b != b ? NAN : value; }
// The result's sign is the XOR of the operands' signs (.xorsign.abs). A NaN has no sign.
ALWAYS float xor_sign(float magnitude, float a, float b) {
    const uint32_t sign = (half_single_bits(a) ^ half_single_bits(b)) & 0x80000000u;
    return half_single(half_single_bits(magnitude) ^ sign);
}
ALWAYS float clamp(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
ALWAYS float relu(float x) { return x < 0 ? 0 : x + 0.0f; } // -0 becomes 0

// .ftz: subnormal operands are zero, and so are results that are subnormal before rounding.
ALWAYS uint32_t flushed(uint32_t bits) { return bits & 0x7c00u ? bits : bits & 0x8000u; }
ALWAYS uint32_t nearest_flushed(float value) {
    return half_nearest(fabsf(value) < 0x1p-14f ? copysignf(0, value) : value);
}

// A format NAME has the functions NAME(bits), NAME_(value) and NAME_fma.
#define F16(bits)         half_to_float((bits)&0xffffu)
#define BF16(bits)        bfloat_to_float((bits)&0xffffu)
#define F16Z(bits)        half_to_float(flushed((bits)&0xffffu))
#define F16_(value)       half_nearest(value)
#define BF16_(value)      bfloat_nearest(value)
#define F16Z_(value)      nearest_flushed(value)
#define F16_fma           fma_odd_single
#define F16Z_fma          fma_odd_single
#define BF16_fma(x, y, z) narrow_odd(fma_odd_double((double)(x), (double)(y), (double)(z)))

// `value` uses x, y and z. Unused operands are read from some register that exists.
#define HALF_OP(name, format, count, value, lane_result)                                           \
    ALWAYS uint32_t name##_##format##_value(uint32_t a, uint32_t b, uint32_t c) {                  \
        const float x = format(a), y = format(b), z = format(c);                                   \
        (void)y, (void)z;                                                                          \
        return format##_(value);                                                                   \
    }                                                                                              \
    static const Inst *name##_##format(Warp *warp, const Inst *inst) {                             \
        const LaneU16 *a = REG(warp, LaneU16, inst->r[1]);                                         \
        const LaneU16 *b = REG(warp, LaneU16, inst->r[count > 1 ? 2 : 1]);                         \
        const LaneU16 *c = REG(warp, LaneU16, inst->r[count > 2 ? 3 : 1]);                         \
        lane_result(LaneU16, (name##_##format##_value(a[l], b[l], c[l])));                         \
    }                                                                                              \
    static const Inst *name##_##format##x2(Warp *warp, const Inst *inst) {                         \
        const LaneU32 *a = REG(warp, LaneU32, inst->r[1]);                                         \
        const LaneU32 *b = REG(warp, LaneU32, inst->r[count > 1 ? 2 : 1]);                         \
        const LaneU32 *c = REG(warp, LaneU32, inst->r[count > 2 ? 3 : 1]);                         \
        lane_result(LaneU32, (name##_##format##_value(a[l], b[l], c[l]) |                          \
                              name##_##format##_value(a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16)); \
    }
#define HALF_ARITHMETIC(format)                                                                    \
    HALF_OP(add, format, 2, x + y, LANE_RESULT)                                                    \
    HALF_OP(sub, format, 2, x - y, LANE_RESULT)                                                    \
    HALF_OP(mul, format, 2, x *y, LANE_RESULT)                                                     \
    HALF_OP(fma, format, 3, format##_fma(x, y, z), LANE_RESULT)                                    \
    HALF_OP(fma_relu, format, 3, relu(format##_fma(x, y, z)), LANE_RESULT)                         \
    HALF_OP(min, format, 2, least_of(x, y), LANE_RESULT)                                           \
    HALF_OP(max, format, 2, most_of(x, y), LANE_RESULT)                                            \
    HALF_OP(min_nan, format, 2, nan_or(x, y, least_of(x, y)), LANE_RESULT)                         \
    HALF_OP(max_nan, format, 2, nan_or(x, y, most_of(x, y)), LANE_RESULT)                          \
    HALF_OP(min_sign, format, 2, xor_sign(least_of(fabsf(x), fabsf(y)), x, y), LANE_RESULT)        \
    HALF_OP(max_sign, format, 2, xor_sign(most_of(fabsf(x), fabsf(y)), x, y), LANE_RESULT)         \
    HALF_OP(min_nan_sign, format, 2, nan_or(x, y, xor_sign(least_of(fabsf(x), fabsf(y)), x, y)),   \
            LANE_RESULT)                                                                           \
    HALF_OP(max_nan_sign, format, 2, nan_or(x, y, xor_sign(most_of(fabsf(x), fabsf(y)), x, y)),    \
            LANE_RESULT)
HALF_ARITHMETIC(F16)
HALF_ARITHMETIC(F16Z)
HALF_ARITHMETIC(BF16)
HALF_OP(saturate, F16, 1, clamp(x), LANE_RESULT)
HALF_OP(saturate, BF16, 1, clamp(x), LANE_RESULT)

// Functions of the host's math library, computed in double.
#define F16D(bits)    F16(bits)
#define BF16D(bits)   BF16(bits)
#define F16D_(value)  float_to_half(value, ROUND_NEAREST)
#define BF16D_(value) float_to_bfloat(value, ROUND_NEAREST)
#define HALF_FUNCTIONS(format)                                                                     \
    HALF_OP(ex2, format, 1, exp2((double)x), LANE_RESULT_SCALAR)                                   \
    HALF_OP(tanh, format, 1, tanh((double)x), LANE_RESULT_SCALAR)
HALF_FUNCTIONS(F16D)
HALF_FUNCTIONS(BF16D)

// These change the sign bit. A NaN becomes the canonical one (measured on an H200).
static inline uint32_t negated(uint32_t bits, uint32_t infinity) {
    return (bits & 0x7fffu) > infinity ? 0x7fffu : bits ^ 0x8000u;
}
static inline uint32_t unsigned_of(uint32_t bits, uint32_t infinity) {
    return (bits & 0x7fffu) > infinity ? 0x7fffu : bits & 0x7fffu;
}
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
// Lowering emits these before comparisons with .ftz.
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
            const float x = format(a[l]), y = format(b[l]);                                        \
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
    {"ex2.approx." text, ex2_##format##D, "hh"}, {"tanh.approx." text, tanh_##format##D, "hh"},    \
        {"saturate." text, saturate_##format, "hh"},                                               \
        {"ex2.approx." text "x2", ex2_##format##Dx2, "ww"},                                        \
        {"tanh.approx." text "x2", tanh_##format##Dx2, "ww"}, {                                    \
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
