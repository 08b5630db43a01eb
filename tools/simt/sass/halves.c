// Lowers instructions on two 16-bit floats in one register.
#include <stdio.h>

#include "simt/sass/lower.h"

enum { SIGNS = 0x80008000, BOTH_LOW = 0x1010, BOTH_HIGH = 0x3232 };

static const char *take_format(SassLower *s) {
    return sass_take(s, SASS_MOD_BF16_V2) ? "bf16" : "f16";
}

// Both halves of an operand. `plain`: without applying its signs.
static uint32_t halves_of(SassLower *s, uint32_t index, bool plain) {
    const SassOperand *operand = &s->inst->operands[index];
    uint32_t from = sass_raw(s, operand, 0);
    if (operand->half == SASS_HALF_SINGLE)
        sass_refuse(s, "unsupported mix of half and single precision");
    if (operand->half != SASS_HALF_BOTH) {
        const uint32_t to = sass_temp(s, REGISTER_32);
        const uint32_t which = operand->half == SASS_HALF_LOW ? BOTH_LOW : BOTH_HIGH;
        sass_row(s, "prmt.b32", to, from, from, sass_constant(s, which));
        from = to;
    }
    if (operand->absolute && !plain) {
        const uint32_t to = sass_temp(s, REGISTER_32);
        sass_row(s, "and.b32", to, from, sass_constant(s, ~(uint32_t)SIGNS), 0);
        from = to;
    }
    if (operand->negated && !plain) {
        const uint32_t to = sass_temp(s, REGISTER_32);
        sass_row(s, "xor.b32", to, from, sass_constant(s, SIGNS), 0);
        from = to;
    }
    return from;
}

static void operate(SassLower *s, const char *operation, const char *format, uint32_t first,
                    uint32_t count) {
    char name[40];
    uint32_t from[3] = {0};
    const char *flush = sass_take(s, SASS_MOD_FTZ) ? "ftz." : "";
    for (uint32_t k = 0; k < count; k++) from[k] = halves_of(s, first + k, false);
    const uint32_t d = sass_dest(s, 0, 0);
    snprintf(name, sizeof name, "%s.%s%s%sx2", operation, flush,
             sass_take(s, SASS_MOD_RELU) ? "relu." : "", format);
    sass_row(s, name, d, from[0], from[1], from[2]);
    if (!sass_take(s, SASS_MOD_SAT)) return;
    snprintf(name, sizeof name, "saturate.%sx2", format);
    sass_row(s, name, d, d, 0, 0);
}

// HADD2.F32: d, -RZ, b: the half of b that the operand names, as an f32 with the operand's sign.
static void widen_half(SassLower *s) {
    const SassOperand *b = &s->inst->operands[2];
    if (!sass_is_zero(&s->inst->operands[1]) || b->kind != SASS_REG || b->half < SASS_HALF_LOW)
        sass_refuse(s, "unsupported sum in single precision");
    const uint32_t half = sass_temp(s, REGISTER_16);
    sass_row(s, b->half == SASS_HALF_LOW ? "sass.half0" : "sass.half1", half, sass_raw(s, b, 0), 0,
             0);
    const uint32_t d = sass_dest(s, 0, 0);
    sass_row(s, "cvt.f32.f16", d, half, 0, 0);
    if (b->absolute) sass_row(s, "sass.drop", d, d, 0, 0);
    if (b->negated) sass_row(s, "sass.flip", d, d, 0, 0);
}

// d, a, b
void sass_lower_hadd2(SassLower *s) {
    const char *format = take_format(s);
    if (sass_take(s, SASS_MOD_F32))
        widen_half(s);
    else
        operate(s, "add", format, 1, 2);
}

void sass_lower_hmul2(SassLower *s) { operate(s, "mul", take_format(s), 1, 2); }

// The compiler uses HFMA2 d, -RZ, RZ, c to load a constant when other pipes are busy.
void sass_lower_hfma2(SassLower *s) {
    const SassOperand *operands = s->inst->operands;
    sass_take(s, SASS_MOD_MMA);
    if (sass_is_zero(&operands[1]) && operands[1].negated && sass_is_zero(&operands[2]) &&
        operands[3].kind == SASS_HALVES)
        sass_row(s, "mov.b32", sass_dest(s, 0, 0), sass_raw(s, &operands[3], 0), 0, 0);
    else
        operate(s, "fma", take_format(s), 1, 3);
}

// d, a, b, p: the smaller ones where p is true, else the greater ones.
void sass_lower_hminmax(SassLower *s) {
    char name[48];
    const char *format = take_format(s), *flush = sass_take(s, SASS_MOD_FTZ) ? "ftz." : "";
    const char *nan = sass_take(s, SASS_MOD_NAN) ? "NaN." : "";
    const bool crosses = sass_take(s, SASS_MOD_XORSIGN);
    if (!sass_is_true(s, 3) && !sass_is_false(s, 3)) sass_refuse(s, "unsupported predicate");
    const uint32_t a = halves_of(s, 1, crosses), b = halves_of(s, 2, crosses);
    snprintf(name, sizeof name, "%s.%s%s%s%sx2", sass_is_true(s, 3) ? "min" : "max", flush, nan,
             crosses ? "xorsign.abs." : "", format);
    sass_row(s, name, sass_dest(s, 0, 0), a, b, 0);
}

// One half of a pair.
static uint32_t half_of(SassLower *s, uint32_t pair, uint32_t which, bool flush) {
    const uint32_t half = sass_temp(s, REGISTER_16);
    sass_row(s, which ? "sass.half1" : "sass.half0", half, pair, 0, 0);
    if (flush) sass_row(s, "flush.f16", half, half, 0, 0);
    return half;
}

// Compares both halves.
static void compare_halves(SassLower *s, uint32_t first, const char *format, uint32_t results[2]) {
    char name[24];
    const char *how = sass_float_compare(s);
    const bool flush = sass_take(s, SASS_MOD_FTZ);
    if (!sass_take(s, SASS_MOD_AND) || !sass_is_true(s, first + 2))
        sass_refuse(s, "unknown combination of predicates");
    const uint32_t a = halves_of(s, first, false), b = halves_of(s, first + 1, false);
    snprintf(name, sizeof name, "setp.%s.%s", how, format);
    for (uint32_t k = 0; k < 2; k++) {
        results[k] = sass_temp(s, REGISTER_PRED);
        sass_row(s, name, results[k], half_of(s, a, k, flush), half_of(s, b, k, flush), 0);
    }
}

// p, q, a, b, with: p compares the lower halves, q the upper ones.
void sass_lower_hsetp2(SassLower *s) {
    uint32_t results[2];
    compare_halves(s, 2, take_format(s), results);
    for (uint32_t k = 0; k < 2; k++)
        if (sass_wanted(s, k) != PTX_NONE)
            sass_row(s, "mov.pred", sass_wanted(s, k), results[k], 0, 0);
}

// d, a, b, with: each half is all ones, or with .BF the number 1, if the comparison holds.
void sass_lower_hset2(SassLower *s) {
    uint32_t results[2], halves[2];
    const char *format = take_format(s);
    const uint32_t one = !sass_take(s, SASS_MOD_BF) ? 0xffff : format[0] == 'b' ? 0x3f80 : 0x3c00;
    compare_halves(s, 1, format, results);
    for (uint32_t k = 0; k < 2; k++) {
        halves[k] = sass_temp(s, REGISTER_32);
        sass_row(s, "selp.b32", halves[k], sass_constant(s, one << 16 * k), sass_constant(s, 0),
                 results[k]);
    }
    sass_row(s, "or.b32", sass_dest(s, 0, 0), halves[0], halves[1], 0);
}
