// Machine instructions of floats, and conversions.
#include <stdio.h>
#include <string.h>

#include "simt/sass/lower.h"

// --- f32 ---

typedef struct {
    bool flush, saturate;
    const char *round; // "" or ".rm"
} Rounding;

static Rounding take_rounding(SassLower *s) {
    static const char *const names[] = {"RM", "RP", "RZ"}, *const parts[] = {".rm", ".rp", ".rz"};
    const uint32_t how = sass_choice(s, names, 3);
    return (Rounding){sass_take(s, "FTZ"), sass_take(s, "SAT"), how < 3 ? parts[how] : ""};
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
    const bool sum = strcmp(s->inst->name, "FADD") == 0;
    char name[24];
    const uint32_t a = flushed(s, &rounding, sass_single(s, 1));
    const uint32_t b = flushed(s, &rounding, sass_single(s, 2)), d = sass_dest(s, 0, 0);
    snprintf(name, sizeof name, "%s%s.f32", sum ? "add" : "mul", rounding.round);
    sass_row(s, name, d, a, b, 0);
    if (rounding.flush &&
        !sum) { // a product that was rounded up to the least normal number is zero
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

static const char *const compares[] = {"LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                       "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU"};
static const char *const rows[] = {"lt",  "eq",  "le",  "gt",  "ne",  "ge",  "num",
                                   "nan", "ltu", "equ", "leu", "gtu", "neu", "geu"};
enum { COMPARES = sizeof compares / sizeof *compares };

static void compare(SassLower *s, const char *type, uint32_t a, uint32_t b) {
    char name[24];
    const uint32_t how = sass_choice(s, compares, COMPARES);
    const uint32_t result = sass_compared(s);
    if (how == UINT32_MAX) sass_refuse(s, "its comparison is not known");
    snprintf(name, sizeof name, "setp.%s.%s", rows[how], type);
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
    const char *const name = s->inst->name;
    const uint32_t d = sass_temp(s, REGISTER_64), a = sass_double(s, 1), b = sass_double(s, 2);
    char row[24];
    snprintf(row, sizeof row, "%s%s.f64",
             name[1] == 'A'   ? "add"
             : name[1] == 'M' ? "mul"
                              : "fma",
             rounding.round);
    sass_row(s, row, d, a, b, name[1] == 'F' ? sass_double(s, 3) : 0);
    sass_split(s, 0, d);
}

void sass_lower_dsetp(SassLower *s) {
    const uint32_t a = sass_double(s, 2), b = sass_double(s, 3);
    compare(s, "f64", a, b);
}

// --- f16 ---

// HADD2.F32: d, -RZ, b: the half of b that it names, as f32.
void sass_lower_hadd2(SassLower *s) {
    const SassOperand *b = &s->inst->operands[2];
    if (!sass_take(s, "F32") || !sass_is_zero(&s->inst->operands[1]) || b->negated || b->absolute ||
        b->kind != SASS_REG || b->half < SASS_HALF_LOW)
        sass_refuse(s, "sums of two f16 are not known");
    const uint32_t half = sass_temp(s, REGISTER_16);
    sass_row(s, b->half == SASS_HALF_LOW ? "machine.half0" : "machine.half1", half,
             sass_raw(s, b, 0), 0, 0);
    sass_row(s, "cvt.f32.f16", sass_dest(s, 0, 0), half, 0, 0);
}

// HFMA2 d, -RZ, RZ, c: how the compiler writes a constant where other pipes are busy.
void sass_lower_hfma2(SassLower *s) {
    const SassOperand *operands = s->inst->operands;
    sass_take(s, "MMA");
    if (!sass_is_zero(&operands[1]) || !operands[1].negated || !sass_is_zero(&operands[2]) ||
        operands[3].kind != SASS_HALVES)
        sass_refuse(s, "products of two f16 are not known");
    sass_row(s, "mov.b32", sass_dest(s, 0, 0), sass_raw(s, &operands[3], 0), 0, 0);
}

// --- conversions ---

static void convert(SassLower *s, PtxType to, PtxType from, uint32_t d, uint32_t a,
                    ConvertMode mode) {
    sass_emit(s, op_convert)->convert = (InstConvert){.d = d,
                                                      .a = a,
                                                      .b = PTX_NONE,
                                                      .from = from,
                                                      .to = to,
                                                      .from_class = register_class(from),
                                                      .to_class = register_class(to),
                                                      .mode = mode};
}

static ConvertMode take_direction(SassLower *s) {
    static const char *const names[] = {"RM", "RP", "RZ"};
    static const ConvertMode modes[] = {ROUND_DOWN, ROUND_UP, ROUND_ZERO};
    const uint32_t how = sass_choice(s, names, 3);
    return how < 3 ? modes[how] : ROUND_NEAREST;
}

// The sizes of both, in places that all conversions have.
static void check_sizes(SassLower *s, uint32_t to, uint32_t from) {
    if (sass_bits(s->inst->word, 75, 2) != to || sass_bits(s->inst->word, 84, 2) != from)
        sass_refuse(s, "its sizes are not known");
}
enum { SIZE_32 = 2, SIZE_64 = 3 };

void sass_lower_i2f(SassLower *s) {
    const bool wide = sass_take(s, "F64");
    const PtxType from = sass_take(s, "U32") ? PTX_U32 : PTX_S32;
    const ConvertMode mode = take_direction(s);
    check_sizes(s, wide ? SIZE_64 : SIZE_32, SIZE_32);
    const uint32_t a = sass_source(s, 1);
    if (!wide && from == PTX_U32 && mode == ROUND_UP) {
        sass_row(s, "machine.i2f.rp", sass_dest(s, 0, 0), a, 0, 0);
        return;
    }
    if (!wide) {
        convert(s, PTX_F32, from, sass_dest(s, 0, 0), a, mode);
        return;
    }
    const uint32_t d = sass_temp(s, REGISTER_64);
    convert(s, PTX_F64, from, d, a, mode);
    sass_split(s, 0, d);
}

void sass_lower_i2fp(SassLower *s) {
    sass_take(s, "F32");
    const char *row = sass_take(s, "U32") ? "cvt.rn.f32.u32" : "cvt.rn.f32.s32";
    sass_take(s, "S32");
    check_sizes(s, SIZE_32, SIZE_32);
    sass_row(s, row, sass_dest(s, 0, 0), sass_source(s, 1), 0, 0);
}

void sass_lower_f2i(SassLower *s) {
    static const char *const names[] = {"FLOOR", "CEIL", "TRUNC"};
    static const ConvertMode modes[] = {ROUND_DOWN, ROUND_UP, ROUND_ZERO};
    const Rounding rounding = {.flush = sass_take(s, "FTZ")};
    const PtxType to = sass_take(s, "U32") ? PTX_U32 : PTX_S32;
    const uint32_t how = sass_choice(s, names, 3);
    sass_take(s, "NTZ");
    check_sizes(s, SIZE_32, SIZE_32);
    if (to == PTX_U32 && how == 2) { // subnormal numbers are cut to zero too
        sass_row(s, "machine.f2i.rz", sass_dest(s, 0, 0), sass_single(s, 1), 0, 0);
        return;
    }
    const uint32_t a = flushed(s, &rounding, sass_single(s, 1));
    const ConvertMode mode = (how < 3 ? modes[how] : ROUND_NEAREST) | CONVERT_INTEGRAL;
    convert(s, to, PTX_F32, sass_dest(s, 0, 0), a, mode);
}

void sass_lower_f2f(SassLower *s) {
    const bool widens = s->inst->modifier_count && str_equal(s->inst->modifiers[0], STR("F64"));
    sass_take(s, "F32"), sass_take(s, "F64");
    check_sizes(s, widens ? SIZE_64 : SIZE_32, widens ? SIZE_32 : SIZE_64);
    const uint32_t wide = sass_temp(s, REGISTER_64);
    if (widens) {
        sass_row(s, "cvt.f64.f32", wide, sass_single(s, 1), 0, 0);
        sass_split(s, 0, wide);
    } else {
        sass_row(s, "cvt.rn.f32.f64", sass_dest(s, 0, 0), sass_double(s, 1), 0, 0);
    }
}

// --- functions ---

// MUFU takes and gives zero for subnormal numbers.
void sass_lower_mufu(SassLower *s) {
    static const struct {
        const char *name, *row;
    } functions[] = {{"RCP", "rcp.approx.f32"},   {"RSQ", "rsqrt.approx.f32"},
                     {"EX2", "ex2.approx.f32"},   {"LG2", "lg2.approx.f32"},
                     {"SQRT", "sqrt.approx.f32"}, {"SIN", "machine.sin"},
                     {"COS", "machine.cos"},      {"TANH", "tanh.approx.f32"}};
    const Rounding rounding = {.flush = true};
    if (sass_has(s->inst, "RCP64H") || sass_has(s->inst, "RSQ64H")) { // of upper halves
        const bool root = !sass_take(s, "RCP64H") && sass_take(s, "RSQ64H");
        const uint32_t wide = sass_temp(s, REGISTER_64);
        sass_row(s, "machine.join", wide, sass_constant(s, 0), sass_single(s, 1), 0);
        sass_row(s, root ? "rsqrt.approx.ftz.f64" : "rcp.approx.ftz.f64", wide, wide, 0, 0);
        sass_row(s, "machine.high", sass_dest(s, 0, 0), wide, 0, 0);
        return;
    }
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        if (!sass_take(s, functions[k].name)) continue;
        const uint32_t a = flushed(s, &rounding, sass_single(s, 1)), d = sass_dest(s, 0, 0);
        sass_row(s, functions[k].row, d, a, 0, 0);
        finish(s, &rounding, d);
        return;
    }
    sass_refuse(s, "this function is not known");
}

// FCHK: p, a, b: whether a / b needs the long way.
void sass_lower_fchk(SassLower *s) {
    const uint32_t a = sass_single(s, 1), b = sass_single(s, 2), p = sass_wanted(s, 0);
    if (p != PTX_NONE) sass_row(s, "machine.fchk", p, a, b, 0);
}
