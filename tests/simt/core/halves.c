// Tests 16-bit floats: every conversion, and every operation on many values. The expected results
// are computed in double, by scaling and rounding to an integer.
#include <math.h>
#include <stdlib.h>

#include "simt/exec/warp.h"
#include "simt/ops/half.h"
#include "simt/ops/row.h"
#include "told.h"

// --- definitions ---

typedef struct {
    const char *name;
    int mantissa, least; // bits; the exponent of the smallest normal number
    bool flush;
} Format;

static const Format f16 = {"f16", 10, -14, false}, flushed_f16 = {"f16", 10, -14, true},
                    bf16 = {"bf16", 7, -126, false};

static double widened(uint32_t bits, const Format *format) {
    int exponent = (int)(bits >> format->mantissa) & ((1 << (15 - format->mantissa)) - 1);
    int fraction = (int)bits & ((1 << format->mantissa) - 1);
    double value;
    if (exponent == (1 << (15 - format->mantissa)) - 1)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = format->flush ? 0 : ldexp(fraction, format->least - format->mantissa);
    else
        value = ldexp(fraction + (1 << format->mantissa),
                      exponent - 1 + format->least - format->mantissa);
    return bits >> 15 & 1 ? -value : value;
}

static uint32_t rounded(double value, const Format *format, ConvertMode mode) {
    const uint32_t infinity = 0x7fffu & ~((1u << format->mantissa) - 1);
    if (value != value) return 0x7fff;
    const uint32_t sign = signbit(value) ? 0x8000 : 0;
    if (isinf(value)) return sign | infinity;
    if (value == 0 || (format->flush && fabs(value) < 0x1p-14)) return sign;
    int exponent = ilogb(value);
    if (exponent < format->least) exponent = format->least;
    if (exponent > 200) exponent = 200; // far too large in either format
    const double units = ldexp(value, format->mantissa - exponent);
    const double whole = mode == ROUND_ZERO           ? trunc(units)
                         : mode == ROUND_DOWN         ? floor(units)
                         : mode == ROUND_UP           ? ceil(units)
                         : mode == ROUND_NEAREST_AWAY ? round(units)
                                                      : nearbyint(units);
    const double magnitude = fabs(whole) + ldexp(exponent - format->least, format->mantissa);
    if (magnitude < infinity) return sign | (uint32_t)magnitude;
    const bool away = mode == ROUND_NEAREST || mode == ROUND_NEAREST_AWAY ||
                      mode == (sign ? ROUND_DOWN : ROUND_UP);
    return sign | (infinity - !away);
}

// The sum rounded to odd.
static double fused(double a, double b, double c) {
    const double product = a * b, sum = product + c, part = sum - product;
    const double error = (product - (sum - part)) + (c - part);
    if (error == 0 || error != error || sum == 0) return sum;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if ((error > 0) != (sum > 0)) bits--;
    bits |= 1;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

static double least(double a, double b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return signbit(a) ? a : b;
    return a < b ? a : b;
}
static double most(double a, double b) { return -least(-a, -b); }
static double if_numbers(double a, double b, double value) {
    return a != a || b != b ? (double)NAN : value;
}
static double with_sign(double value, double a, double b) {
    return !signbit(a) == !signbit(b) ? fabs(value) : -fabs(value);
}

// --- operations ---

#define OPERATION(name, value)                                                                     \
    static double name##_of(double x, double y, double z) {                                        \
        (void)y, (void)z;                                                                          \
        return value;                                                                              \
    }
OPERATION(add, x + y)
OPERATION(sub, x - y)
OPERATION(mul, x *y)
OPERATION(fma, fused(x, y, z))
OPERATION(fma_relu, fused(x, y, z) <= 0 ? 0 : fused(x, y, z))
OPERATION(min, least(x, y))
OPERATION(max, most(x, y))
OPERATION(min_nan, if_numbers(x, y, least(x, y)))
OPERATION(max_nan, if_numbers(x, y, most(x, y)))
OPERATION(min_sign, with_sign(least(fabs(x), fabs(y)), x, y))
OPERATION(max_sign, with_sign(most(fabs(x), fabs(y)), x, y))
OPERATION(min_nan_sign, if_numbers(x, y, with_sign(least(fabs(x), fabs(y)), x, y)))
OPERATION(max_nan_sign, if_numbers(x, y, with_sign(most(fabs(x), fabs(y)), x, y)))
OPERATION(neg, -x)
OPERATION(abs, fabs(x))
OPERATION(saturate, x > 0 ? x < 1 ? x : 1 : 0)

static const struct {
    const char *before, *behind; // of the flush in an opcode
    double (*of)(double x, double y, double z);
} operations[] = {
    {"add.", "", add_of},
    {"sub.", "", sub_of},
    {"mul.", "", mul_of},
    {"fma.", "", fma_of},
    {"fma.", "relu.", fma_relu_of},
    {"min.", "", min_of},
    {"max.", "", max_of},
    {"min.", "NaN.", min_nan_of},
    {"max.", "NaN.", max_nan_of},
    {"min.", "xorsign.abs.", min_sign_of},
    {"max.", "xorsign.abs.", max_sign_of},
    {"min.", "NaN.xorsign.abs.", min_nan_sign_of},
    {"max.", "NaN.xorsign.abs.", max_nan_sign_of},
    {"neg.", "", neg_of},
    {"abs.", "", abs_of},
    {"saturate.", "", saturate_of},
};

// --- values: random ones, edge cases, and values for which a product and a sum cancel or are near
// the middle of two numbers ---

static uint64_t random_state = 1;

static uint32_t random_bits(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

static uint32_t random_value(const Format *format) {
    const uint32_t one = 1u << format->mantissa, infinity = 0x7fffu & ~(one - 1);
    const uint32_t edges[] = {0, 1, one - 1, one, one + 1, infinity - 1, infinity, infinity + 1};
    const uint32_t bits = random_bits();
    if (bits >> 28 == 0) return edges[bits % 8] ^ (bits >> 8 & 0x8000);
    const uint32_t few =
        one >> format->mantissa / 2; // half of the digits, so that the product is exact
    return bits >> 30 ? bits & 0xffff : bits & 0xffff & ~(few - 1);
}

// A value within two units in the last place of -x * y, or any.
static uint32_t random_third(uint32_t x, uint32_t y, const Format *format) {
    const uint32_t bits = random_bits();
    if (bits & 1) return random_value(format);
    const double product = widened(x, format) * widened(y, format);
    return (rounded(-product, format, ROUND_NEAREST) + (bits >> 8) % 5 - 2) & 0xffff;
}

// --- rows ---

enum { PAIRS = 6000, REGISTER = 4 * LANES };

static Op *row_named(const char *name) {
    for (const OpRow *row = op_half_rows; row->name; row++)
        if (strcmp(row->name, name) == 0) return row->run;
    return NULL;
}

static uint32_t wanted(double (*of)(double x, double y, double z), const Format *format, uint32_t x,
                       uint32_t y, uint32_t z) {
    return rounded(of(widened(x, format), widened(y, format), widened(z, format)), format,
                   ROUND_NEAREST);
}

typedef struct {
    uint32_t at[4][LANES][2]; // by register, lane and half: the old value, then x, y, z
} Values;

static void fill(Warp *warp, Values *values, const Format *format, bool pair) {
    for (int lane = 0; lane < LANES; lane++) {
        for (int half = 0; half <= pair; half++) {
            const uint32_t x = random_value(format), y = random_value(format);
            const uint32_t all[] = {random_bits() & 0xffff, x, y, random_third(x, y, format)};
            for (int k = 0; k < 4; k++) values->at[k][lane][half] = all[k];
        }
        for (uint32_t k = 0; k < 4; k++) {
            const uint32_t *halves = values->at[k][lane];
            if (pair)
                REG(warp, LaneU32, k * REGISTER)[lane] = halves[0] | halves[1] << 16;
            else
                REG(warp, LaneU16, k * REGISTER)[lane] = (uint16_t)halves[0];
        }
    }
}

// Tests one instruction, with some inactive lanes.
static void test_row(Op *run, const char *name, double (*of)(double x, double y, double z),
                     const Format *format, bool pair) {
    static _Alignas(64) uint8_t frame[4 * REGISTER];
    static Warp warp;
    static Values values;
    const Inst inst = {.r = {0, REGISTER, 2 * REGISTER, 3 * REGISTER}};
    warp.frame = frame;
    warp.exec = random_bits() % 4 ? ALL_LANES : random_bits();
    fill(&warp, &values, format, pair);
    run(&warp, &inst);
    for (int lane = 0; lane < LANES; lane++) {
        const uint32_t word =
            pair ? REG(&warp, LaneU32, 0)[lane] : (uint32_t)REG(&warp, LaneU16, 0)[lane];
        for (int half = 0; half <= pair; half++) {
            const uint32_t x = values.at[1][lane][half], y = values.at[2][lane][half];
            const uint32_t z = values.at[3][lane][half], got = word >> 16 * half & 0xffff;
            const bool on = warp.exec >> lane & 1;
            const uint32_t want = on ? wanted(of, format, x, y, z) : values.at[0][lane][half];
            if (got != want && !trouble[0])
                wrong("%s of %04x, %04x, %04x: %04x, not %04x", name, x, y, z, got, want);
        }
    }
}

static void test_operations(const Format *format, const char *told_as) {
    int found = 0;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        for (int pair = 0; pair <= 1; pair++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s%s%s%s%s", operations[k].before,
                           format->flush ? "ftz." : "", operations[k].behind, format->name,
                           pair ? "x2" : "");
            Op *run = row_named(name);
            if (!run) continue;
            found++;
            for (int i = 0; i < PAIRS / LANES; i++)
                test_row(run, name, operations[k].of, format, pair);
        }
    }
    if (found < 30) wrong("%d operations have rows", found);
    told(told_as);
}

// --- conversions ---

static void test_format(const Format *format, float (*to_float)(uint32_t bits)) {
    for (uint32_t bits = 0; bits < 65536 && !trouble[0]; bits++) {
        const double want = widened(bits, format);
        const float got = to_float(bits);
        const bool same = want == want ? (double)got == want : got != got;
        if (!same || !signbit(got) != !signbit(want)) wrong("%04x is %a", bits, (double)got);
    }
}

static void test_widening(void) {
    test_format(&f16, half_to_float);
    test_format(&bf16, bfloat_to_float);
    told("16-bit floats: all of them in single precision");
}

// Values for which rounding is difficult: near a number and near the middle of two; and any value.
static double random_double(const Format *format) {
    const uint32_t bits = random_bits();
    double value = widened(bits >> 16, format);
    if (bits % 8 == 0) return ldexp((double)(int32_t)random_bits(), (int)(bits >> 8 & 0x1ff) - 256);
    if (bits & 8) value += ldexp(value, -format->mantissa - 1);
    if (bits & 16) value = nextafter(value, bits & 32 ? (double)INFINITY : -(double)INFINITY);
    return value;
}

static void test_rounding(void) {
    static const ConvertMode modes[] = {ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP,
                                        ROUND_NEAREST_AWAY};
    for (int round = 0; round < 200000 && !trouble[0]; round++) {
        const double of_f16 = random_double(&f16), of_bf16 = random_double(&bf16);
        const ConvertMode mode = modes[round % 5];
        if (float_to_half(of_f16, mode) != rounded(of_f16, &f16, mode))
            wrong("%a as f16, mode %d", of_f16, (int)mode);
        if (float_to_bfloat(of_bf16, mode) != rounded(of_bf16, &bf16, mode))
            wrong("%a as bf16, mode %d", of_bf16, (int)mode);
        const float half = (float)of_f16, brain = (float)of_bf16;
        if (half_nearest(half) != rounded((double)half, &f16, ROUND_NEAREST))
            wrong("%a to the nearest f16", (double)half);
        if (bfloat_nearest(brain) != rounded((double)brain, &bf16, ROUND_NEAREST))
            wrong("%a to the nearest bf16", (double)brain);
    }
    told("16-bit floats: rounding by every mode");
}

int main(void) {
    test_widening();
    test_rounding();
    test_operations(&f16, "16-bit floats: operations of f16");
    test_operations(&flushed_f16, "16-bit floats: operations of f16 with .ftz");
    test_operations(&bf16, "16-bit floats: operations of bf16");
    return 0;
}
