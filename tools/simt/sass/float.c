// Lowers the instructions of f32 and f64 arithmetic.
#include <stdio.h>
#include <string.h>

#include "simt/sass/lower.h"

// --- f32 ---

typedef struct {
    bool flush, saturate;
    const char *round; // "" or ".rm"
} Rounding;

static Rounding take_rounding(SassLower *s) {
    static const char *const parts[] = {"", ".rm", ".rp", ".rz"};
    const char *round = parts[sass_listed(s, LIST_ROUND)];
    return (Rounding){sass_take(s, SASS_MOD_FTZ), sass_take(s, SASS_MOD_SAT), round};
}

static uint32_t flushed(SassLower *s, const Rounding *rounding, uint32_t from) {
    if (!rounding->flush) return from;
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "flush.f32", to, from, 0, 0);
    return to;
}

static void finish(SassLower *s, const Rounding *rounding, uint32_t d) {
    if (rounding->flush) sass_row(s, "flush.f32", d, d, 0, 0);
    if (rounding->saturate) sass_row(s, "saturate.f32", d, d, 0, 0);
}

// FADD, FMUL: d, a, b
void sass_lower_fadd(SassLower *s) {
    const Rounding rounding = take_rounding(s);
    const bool sum = s->inst->op == SASS_FADD, halved = sass_take(s, SASS_MOD_D2);
    char name[24];
    const uint32_t a = flushed(s, &rounding, sass_single(s, 1));
    const uint32_t b = flushed(s, &rounding, sass_single(s, 2)), d = sass_dest(s, 0, 0);
    if (halved) {
        if (*rounding.round || rounding.flush || rounding.saturate)
            sass_refuse(s, "unknown rounding mode");
        sass_row(s, "sass.mul.d2", d, a, b, 0);
        return;
    }
    snprintf(name, sizeof name, "%s%s.f32", sum ? "add" : "mul", rounding.round);
    sass_row(s, name, d, a, b, 0);
    if (rounding.flush &&
        !sum) { // a product that rounds up to the least normal number is zero, too
        sass_row(s, "flush.product.f32", d, d, a, b);
        if (rounding.saturate) sass_row(s, "saturate.f32", d, d, 0, 0);
        return;
    }
    finish(s, &rounding, d);
}

void sass_lower_ffma(SassLower *s) {
    const Rounding rounding = take_rounding(s);
    char name[24];
    const uint32_t a = flushed(s, &rounding, sass_single(s, 1));
    const uint32_t b = flushed(s, &rounding, sass_single(s, 2));
    const uint32_t c = flushed(s, &rounding, sass_single(s, 3)), d = sass_dest(s, 0, 0);
    snprintf(name, sizeof name, "fma%s.f32", rounding.round);
    sass_row(s, name, d, a, b, c);
    finish(s, &rounding, d);
}

const char *sass_float_compare(SassLower *s) {
    static const char *const rows[] = {NULL,  "lt",  "eq",  "le",  "gt",  "ne",  "ge",  "num",
                                       "nan", "ltu", "equ", "leu", "gtu", "neu", "geu", NULL};
    const uint32_t how = sass_listed(s, LIST_FCMP);
    if (how == UINT32_MAX || !rows[how]) sass_refuse(s, "unknown comparison");
    return rows[how];
}

static void compare(SassLower *s, const char *type, uint32_t a, uint32_t b) {
    char name[24];
    const uint32_t result = sass_compared(s);
    snprintf(name, sizeof name, "setp.%s.%s", sass_float_compare(s), type);
    sass_row(s, name, result, a, b, 0);
    sass_combine(s, result);
}

void sass_lower_fsetp(SassLower *s) {
    const Rounding rounding = take_rounding(s);
    const uint32_t a = flushed(s, &rounding, sass_single(s, 2));
    const uint32_t b = flushed(s, &rounding, sass_single(s, 3));
    compare(s, "f32", a, b);
}

// --- f64, in pairs of registers ---

void sass_lower_dadd(SassLower *s) {
    const Rounding rounding = take_rounding(s);
    const SassOpcode op = s->inst->op;
    const uint32_t d = sass_temp(s, REGISTER_64), a = sass_double(s, 1), b = sass_double(s, 2);
    char row[24];
    snprintf(row, sizeof row, "%s%s.f64",
             op == SASS_DADD   ? "add"
             : op == SASS_DMUL ? "mul"
                               : "fma",
             rounding.round);
    sass_row(s, row, d, a, b, op == SASS_DFMA ? sass_double(s, 3) : 0);
    sass_split(s, 0, d);
}

// DSETP.MIN, .MAX: p says whether a is the minimum or maximum, q whether both are NaN.
static void choose_double(SassLower *s, const char *row, uint32_t a, uint32_t b) {
    sass_take(s, SASS_MOD_AND);
    if (!sass_is_true(s, 4)) sass_refuse(s, "unsupported predicate");
    const uint32_t p = sass_temp(s, REGISTER_PRED), q = sass_temp(s, REGISTER_PRED);
    sass_row(s, row, p, a, b, 0);
    sass_row(s, "sass.nans", q, a, b, 0);
    if (sass_wanted(s, 0) != PTX_NONE) sass_row(s, "mov.pred", sass_wanted(s, 0), p, 0, 0);
    if (sass_wanted(s, 1) != PTX_NONE) sass_row(s, "mov.pred", sass_wanted(s, 1), q, 0, 0);
}

void sass_lower_dsetp(SassLower *s) {
    const uint32_t a = sass_double(s, 2), b = sass_double(s, 3);
    if (sass_take(s, SASS_MOD_MIN))
        choose_double(s, "sass.dmin", a, b);
    else if (sass_take(s, SASS_MOD_MAX))
        choose_double(s, "sass.dmax", a, b);
    else
        compare(s, "f64", a, b);
}

// --- functions ---

// A function of the 16-bit float in the lower half, with the row for that type.
static void half_function(SassLower *s, const char *row) {
    char name[32];
    const SassOperand *operand = &s->inst->operands[1];
    const uint32_t half = sass_temp(s, REGISTER_16);
    const bool brain = sass_take(s, SASS_MOD_BF16);
    if (operand->negated || operand->absolute) sass_refuse(s, "unsupported sign modifier");
    const int stem = (int)(strstr(row, "f32") - row);
    snprintf(name, sizeof name, "%.*s%s", stem, row, brain ? "bf16" : "f16");
    sass_row(s, "sass.half0", half, sass_raw(s, operand, 0), 0, 0);
    sass_row(s, name, half, half, 0, 0);
    sass_row(s, "cvt.u32.u16", sass_dest(s, 0, 0), half, 0, 0);
}

// MUFU reads and writes subnormal numbers as zero.
void sass_lower_mufu(SassLower *s) {
    static const char *const rows[] = {"sass.cos",
                                       "sass.sin",
                                       "ex2.approx.f32",
                                       "lg2.approx.f32",
                                       "rcp.approx.f32",
                                       "rsqrt.approx.f32",
                                       NULL,
                                       NULL,
                                       "sqrt.approx.f32",
                                       "tanh.approx.f32"};
    const Rounding rounding = {.flush = true};
    if (sass_has(s->inst, SASS_MOD_RCP64H) ||
        sass_has(s->inst, SASS_MOD_RSQ64H)) { // an f64's upper half
        const bool root = !sass_take(s, SASS_MOD_RCP64H) && sass_take(s, SASS_MOD_RSQ64H);
        const uint32_t wide = sass_temp(s, REGISTER_64);
        const SassOperand *a = &s->inst->operands[1];
        const uint32_t high = a->kind == SASS_DOUBLE ? sass_raw(s, a, 1) : sass_single(s, 1);
        sass_row(s, "sass.join", wide, sass_constant(s, 0), high, 0);
        sass_row(s, root ? "rsqrt.approx.ftz.f64" : "rcp.approx.ftz.f64", wide, wide, 0, 0);
        sass_row(s, "sass.high", sass_dest(s, 0, 0), wide, 0, 0);
        return;
    }
    const uint32_t how = sass_listed(s, LIST_MUFU);
    if (how == UINT32_MAX) sass_refuse(s, "unknown function");
    if (sass_take(s, SASS_MOD_F16) || sass_has(s->inst, SASS_MOD_BF16)) {
        half_function(s, rows[how]);
        return;
    }
    const uint32_t a = flushed(s, &rounding, sass_single(s, 1)), d = sass_dest(s, 0, 0);
    sass_row(s, rows[how], d, a, 0, 0);
    finish(s, &rounding, d);
}

// FCHK: p, a, b: whether a / b needs the slow path.
void sass_lower_fchk(SassLower *s) {
    const uint32_t a = sass_single(s, 1), b = sass_single(s, 2), p = sass_wanted(s, 0);
    if (p != PTX_NONE) sass_row(s, "sass.fchk", p, a, b, 0);
}
