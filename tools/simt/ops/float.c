// Executes arithmetic of f32 and f64. PTX ISA, "Floating-Point Instructions". An f32 result that is
// NaN is the canonical NaN 0x7fffffff, as on the GPU.
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "simt/ops/row.h"

static inline float quiet(float x) {
    union {
        uint32_t bits;
        float value;
    } canonical = {0x7fffffffu};
    return x == x ? x : canonical.value;
}
static inline double quiet64(double x) { return x; }
static inline bool is_nan32(uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
static inline bool is_nan64(uint64_t bits) { return bits << 1 > 0x7ffull << 53; }

#define OP1(name, type, value)                                                                     \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        LANE_RESULT(type, value);                                                                  \
    }
#define OP1_SCALAR(name, type, value)                                                              \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        LANE_RESULT_SCALAR(type, value);                                                           \
    }
#define OP2(name, type, value)                                                                     \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]), *b = REG(warp, type, inst->r[2]);             \
        LANE_RESULT(type, value);                                                                  \
    }
#define OP3(name, type, value)                                                                     \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]), *b = REG(warp, type, inst->r[2]);             \
        const type *c = REG(warp, type, inst->r[3]);                                               \
        LANE_RESULT(type, value);                                                                  \
    }

OP2(add_f32, LaneF32, quiet(a[l] + b[l]))
OP2(sub_f32, LaneF32, quiet(a[l] - b[l]))
OP2(mul_f32, LaneF32, quiet(a[l] * b[l]))
OP2(div_f32, LaneF32, quiet(a[l] / b[l]))
// A product with the reciprocal, as in ptxas's code for sm_75 to sm_120. Both operands are scaled
// if the divisor is subnormal, and a subnormal reciprocal is 0.
static inline float div_approx(float a, float b) {
    const float scale = fabsf(b) < 0x1p-126f ? 0x1p24f : 1, inverse = 1.0f / (b * scale);
    return a * scale * (fabsf(inverse) < 0x1p-126f ? copysignf(0, inverse) : inverse);
}
OP2(div_approx_f32, LaneF32, quiet(div_approx(a[l], b[l])))
OP3(fma_f32, LaneF32, quiet(__builtin_fmaf(a[l], b[l], c[l])))
OP2(add_f64, LaneF64, a[l] + b[l])
OP2(sub_f64, LaneF64, a[l] - b[l])
OP2(mul_f64, LaneF64, a[l] * b[l])
OP2(div_f64, LaneF64, a[l] / b[l])
OP3(fma_f64, LaneF64, __builtin_fma(a[l], b[l], c[l]))

// min and max. If one operand is a NaN, the result is the other one, or with .NaN the NaN. -0 is
// less than +0.
#define MINMAX(type, suffix, fix, sign)                                                            \
    static inline type min_of_##suffix(type x, type y) {                                           \
        if (x != x) return fix(y);                                                                 \
        if (y != y) return x;                                                                      \
        if (x == y) return sign(x) ? x : y;                                                        \
        return x < y ? x : y;                                                                      \
    }                                                                                              \
    static inline type max_of_##suffix(type x, type y) {                                           \
        if (x != x) return fix(y);                                                                 \
        if (y != y) return x;                                                                      \
        if (x == y) return sign(x) ? y : x;                                                        \
        return x > y ? x : y;                                                                      \
    }
MINMAX(float, f32, quiet, signbit)
MINMAX(double, f64, quiet64, signbit)

// The same for f32 on the bits, so that the loop is vectorized. As signed integers the bits have
// the order of the numbers after the order of the negative ones is reversed.
static inline int32_t in_order(uint32_t bits) {
    return (int32_t)(bits ^ ((uint32_t)((int32_t)bits >> 31) & 0x7fffffffu));
}
static inline uint32_t number_of(uint32_t x, uint32_t y, uint32_t chosen) {
    const uint32_t number = is_nan32(x) ? y : is_nan32(y) ? x : chosen;
    return is_nan32(number) ? 0x7fffffffu : number;
}
static inline uint32_t min_of_bits(uint32_t x, uint32_t y) {
    return number_of(x, y, in_order(x) < in_order(y) ? x : y);
}
static inline uint32_t max_of_bits(uint32_t x, uint32_t y) {
    return number_of(x, y, in_order(x) > in_order(y) ? x : y);
}
OP2(min_f32, LaneU32, min_of_bits(a[l], b[l]))
OP2(max_f32, LaneU32, max_of_bits(a[l], b[l]))
OP2(min_f64, LaneF64, min_of_f64(a[l], b[l]))
OP2(max_f64, LaneF64, max_of_f64(a[l], b[l]))
OP2(min_nan_f32, LaneF32, a[l] != a[l] || b[l] != b[l] ? quiet(NAN) : min_of_f32(a[l], b[l]))
OP2(max_nan_f32, LaneF32, a[l] != a[l] || b[l] != b[l] ? quiet(NAN) : max_of_f32(a[l], b[l]))
#define MIN_ABS(x, y) min_of_f32(fabsf(x), fabsf(y))
#define MAX_ABS(x, y) max_of_f32(fabsf(x), fabsf(y))
// The result's sign is the XOR of the operands' signs (.xorsign.abs). A NaN has no sign.
static inline float xor_sign(float magnitude, float x, float y) {
    if (magnitude != magnitude) return magnitude;
    return copysignf(magnitude, !signbit(x) != !signbit(y) ? -1.0f : 1.0f);
}
OP2(min_xorsign_f32, LaneF32, xor_sign(MIN_ABS(a[l], b[l]), a[l], b[l]))
OP2(max_xorsign_f32, LaneF32, xor_sign(MAX_ABS(a[l], b[l]), a[l], b[l]))

static inline float nan_or(float x, float y, float value) {
    return x != x || y != y ? quiet(NAN) : value;
}
OP2(min_nan_xorsign_f32, LaneF32, nan_or(a[l], b[l], xor_sign(MIN_ABS(a[l], b[l]), a[l], b[l])))
OP2(max_nan_xorsign_f32, LaneF32, nan_or(a[l], b[l], xor_sign(MAX_ABS(a[l], b[l]), a[l], b[l])))

// These change the sign bit. A NaN of f32 becomes the canonical one, and a NaN of f64 only becomes
// quiet (measured on an H200).
#define BITS1(name, type, value)                                                                   \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        LANE_RESULT(type, value);                                                                  \
    }
BITS1(neg_f32, LaneU32, is_nan32(a[l]) ? 0x7fffffffu : a[l] ^ 0x80000000u)
BITS1(abs_f32, LaneU32, is_nan32(a[l]) ? 0x7fffffffu : a[l] & 0x7fffffffu)
BITS1(neg_f64, LaneU64, is_nan64(a[l]) ? a[l] | 1ull << 51 : a[l] ^ 1ull << 63)
BITS1(abs_f64, LaneU64, is_nan64(a[l]) ? a[l] | 1ull << 51 : a[l] & ~(1ull << 63))
OP2(copysign_f32, LaneU32, (a[l] & 0x80000000u) | (b[l] & 0x7fffffffu))
OP2(copysign_f64, LaneU64, (a[l] & 1ull << 63) | (b[l] & ~(1ull << 63)))

OP1_SCALAR(sqrt_f32, LaneF32, quiet(sqrtf(a[l])))
OP1_SCALAR(sqrt_f64, LaneF64, sqrt(a[l]))
OP1(rcp_f32, LaneF32, quiet(1.0f / a[l]))
OP1(rcp_f64, LaneF64, 1.0 / a[l])
OP1_SCALAR(rsqrt_f32, LaneF32, quiet((float)(1.0 / sqrt((double)a[l]))))
OP1_SCALAR(rsqrt_f64, LaneF64, 1.0 / sqrt(a[l]))
OP1_SCALAR(sin_f32, LaneF32, quiet(sinf(a[l])))
OP1_SCALAR(cos_f32, LaneF32, quiet(cosf(a[l])))
OP1_SCALAR(lg2_f32, LaneF32, quiet(log2f(a[l])))
OP1_SCALAR(ex2_f32, LaneF32, quiet(exp2f(a[l])))
OP1_SCALAR(tanh_f32, LaneF32, quiet(tanhf(a[l])))

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 use only the upper half of the operand and compute
// only the upper half of the result.
static double upper(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0xffffffff00000000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}
OP1_SCALAR(rcp_upper_f64, LaneF64, upper(1.0 / upper(a[l])))
OP1_SCALAR(rsqrt_upper_f64, LaneF64, upper(1.0 / sqrt(upper(a[l]))))

// Directed rounding changes the host's rounding mode for one operation.
static const int rounding_modes[] = {FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

#define ROUNDED_MODE(name, type, fix, count, mode, value)                                          \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *pa = REG(warp, type, inst->r[1]), *pb = pa, *pc = pa;                          \
        if (count > 1) pb = REG(warp, type, inst->r[2]);                                           \
        if (count > 2) pc = REG(warp, type, inst->r[3]);                                           \
        type *d = REG(warp, type, inst->r[0]);                                                     \
        fesetround(rounding_modes[mode]);                                                          \
        for (uint32_t m = warp->exec; m; m &= m - 1) {                                             \
            int l = __builtin_ctz(m);                                                              \
            volatile type a = pa[l], b = pb[l], c = pc[l];                                         \
            volatile type result = value;                                                          \
            (void)a, (void)b, (void)c;                                                             \
            d[l] = fix(result);                                                                    \
        }                                                                                          \
        fesetround(FE_TONEAREST);                                                                  \
        return inst + 1;                                                                           \
    }
#define ROUNDED(name, type, fix, count, value)                                                     \
    ROUNDED_MODE(name##_rz, type, fix, count, 0, value)                                            \
    ROUNDED_MODE(name##_rm, type, fix, count, 1, value)                                            \
    ROUNDED_MODE(name##_rp, type, fix, count, 2, value)
ROUNDED(add32, LaneF32, quiet, 2, a + b)
ROUNDED(sub32, LaneF32, quiet, 2, a - b)
ROUNDED(mul32, LaneF32, quiet, 2, a *b)
ROUNDED(div32, LaneF32, quiet, 2, a / b)
ROUNDED(fma32, LaneF32, quiet, 3, fmaf(a, b, c))
ROUNDED(sqrt32, LaneF32, quiet, 1, sqrtf(a))
ROUNDED(rcp32, LaneF32, quiet, 1, 1.0f / a)
ROUNDED(add64, LaneF64, quiet64, 2, a + b)
ROUNDED(sub64, LaneF64, quiet64, 2, a - b)
ROUNDED(mul64, LaneF64, quiet64, 2, a *b)
ROUNDED(div64, LaneF64, quiet64, 2, a / b)
ROUNDED(fma64, LaneF64, quiet64, 3, fma(a, b, c))
ROUNDED(sqrt64, LaneF64, quiet64, 1, sqrt(a))
ROUNDED(rcp64, LaneF64, quiet64, 1, 1.0 / a)

// testp
#define TEST(name, type, value)                                                                    \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const type *a = REG(warp, type, inst->r[1]);                                               \
        uint32_t result = 0;                                                                       \
        for (int l = 0; l < LANES; l++) result |= (uint32_t)((value) != 0) << l;                   \
        warp_write_predicate(warp, inst->r[0], result);                                            \
        return inst + 1;                                                                           \
    }
#define TESTS(suffix, type)                                                                        \
    TEST(finite_##suffix, type, isfinite(a[l]))                                                    \
    TEST(infinite_##suffix, type, isinf(a[l]))                                                     \
    TEST(number_##suffix, type, !isnan(a[l]))                                                      \
    TEST(notanumber_##suffix, type, isnan(a[l]))                                                   \
    TEST(normal_##suffix, type, isnormal(a[l]) || a[l] == 0)                                       \
    TEST(subnormal_##suffix, type, fpclassify(a[l]) == FP_SUBNORMAL)
TESTS(f32, LaneF32)
TESTS(f64, LaneF64)

// Lowering emits these around other operations for .ftz and .sat.
BITS1(flush_f32, LaneU32, a[l] & 0x7f800000u ? a[l] : a[l] & 0x80000000u)
// The result d of a * b is flushed if the exact product is subnormal, even if d was rounded up to
// the smallest normal number (measured on an H200).
static inline float flush_product(double product, float d) {
    return fabs(product) < 0x1p-126 ? copysignf(0.0f, (float)product) : d;
}
static const Inst *flush_product_f32(Warp *warp, const Inst *inst) {
    const LaneF32 *r = REG(warp, LaneF32, inst->r[1]);
    const LaneF32 *a = REG(warp, LaneF32, inst->r[2]), *b = REG(warp, LaneF32, inst->r[3]);
    LANE_RESULT(LaneF32, flush_product((double)a[l] * (double)b[l], r[l]));
}
static inline float clamp01(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline double clamp01_64(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
OP1(saturate_f32, LaneF32, clamp01(a[l]))
OP1(saturate_f64, LaneF64, clamp01_64(a[l]))

#define ARITHMETIC(type, letter)                                                                   \
    {"add." #type, add_##type, letter letter letter},                                              \
        {"sub." #type, sub_##type, letter letter letter},                                          \
        {"mul." #type, mul_##type, letter letter letter},                                          \
        {"div." #type, div_##type, letter letter letter},                                          \
        {"fma." #type, fma_##type, letter letter letter letter},                                   \
        {"mad." #type, fma_##type, letter letter letter letter},                                   \
        {"min." #type, min_##type, letter letter letter},                                          \
        {"max." #type, max_##type, letter letter letter},                                          \
        {"neg." #type, neg_##type, letter letter}, {"abs." #type, abs_##type, letter letter},      \
        {"sqrt." #type, sqrt_##type, letter letter}, {"rcp." #type, rcp_##type, letter letter},    \
        {"copysign." #type, copysign_##type, letter letter letter},                                \
        {"rsqrt.approx." #type, rsqrt_##type, letter letter},                                      \
        {"testp.finite." #type, finite_##type, "p" letter},                                        \
        {"testp.infinite." #type, infinite_##type, "p" letter},                                    \
        {"testp.number." #type, number_##type, "p" letter},                                        \
        {"testp.notanumber." #type, notanumber_##type, "p" letter},                                \
        {"testp.normal." #type, normal_##type, "p" letter}, {                                      \
        "testp.subnormal." #type, subnormal_##type, "p" letter                                     \
    }
#define ROUNDINGS(base, name, type, shape)                                                         \
    {base ".rz." type, name##_rz, shape}, {base ".rm." type, name##_rm, shape}, {                  \
        base ".rp." type, name##_rp, shape                                                         \
    }

const OpRow op_float_rows[] = {
    ARITHMETIC(f32, "w"),
    ARITHMETIC(f64, "d"),
    {"min.NaN.f32", min_nan_f32, "www"},
    {"max.NaN.f32", max_nan_f32, "www"},
    {"min.NaN.xorsign.abs.f32", min_nan_xorsign_f32, "www"},
    {"max.NaN.xorsign.abs.f32", max_nan_xorsign_f32, "www"},
    {"min.xorsign.abs.f32", min_xorsign_f32, "www"},
    {"max.xorsign.abs.f32", max_xorsign_f32, "www"},
    {"div.approx.f32", div_approx_f32, "www"},
    {"div.full.f32", div_f32, "www"},
    {"sqrt.approx.f32", sqrt_f32, "ww"},
    {"rcp.approx.f32", rcp_f32, "ww"},
    {"sin.approx.f32", sin_f32, "ww"},
    {"cos.approx.f32", cos_f32, "ww"},
    {"lg2.approx.f32", lg2_f32, "ww"},
    {"ex2.approx.f32", ex2_f32, "ww"},
    {"tanh.approx.f32", tanh_f32, "ww"},
    {"rcp.approx.ftz.f64", rcp_upper_f64, "dd"},
    {"rsqrt.approx.ftz.f64", rsqrt_upper_f64, "dd"},
    ROUNDINGS("add", add32, "f32", "www"),
    ROUNDINGS("sub", sub32, "f32", "www"),
    ROUNDINGS("mul", mul32, "f32", "www"),
    ROUNDINGS("div", div32, "f32", "www"),
    ROUNDINGS("fma", fma32, "f32", "wwww"),
    ROUNDINGS("mad", fma32, "f32", "wwww"),
    ROUNDINGS("sqrt", sqrt32, "f32", "ww"),
    ROUNDINGS("rcp", rcp32, "f32", "ww"),
    ROUNDINGS("add", add64, "f64", "ddd"),
    ROUNDINGS("sub", sub64, "f64", "ddd"),
    ROUNDINGS("mul", mul64, "f64", "ddd"),
    ROUNDINGS("div", div64, "f64", "ddd"),
    ROUNDINGS("fma", fma64, "f64", "dddd"),
    ROUNDINGS("mad", fma64, "f64", "dddd"),
    ROUNDINGS("sqrt", sqrt64, "f64", "dd"),
    ROUNDINGS("rcp", rcp64, "f64", "dd"),
    {"flush.f32", flush_f32, "ww"},
    {"flush.product.f32", flush_product_f32, "wwww"},
    {"saturate.f32", saturate_f32, "ww"},
    {"saturate.f64", saturate_f64, "dd"},
    {NULL, NULL, NULL},
};
