// Lowers instructions that select, count, extend and pack integers, and that compute predicates.
#include <stdio.h>
#include <string.h>

#include "simt/sass/lower.h"

static const char *smaller(bool is_signed) { return is_signed ? "min.s32" : "min.u32"; }
static const char *greater(bool is_signed) { return is_signed ? "max.s32" : "max.u32"; }

// The smaller value where the predicate is true, else the greater one.
static void by_predicate(SassLower *s, uint32_t index, const char *low, const char *high,
                         uint32_t d, uint32_t a, uint32_t b) {
    if (sass_is_true(s, index)) {
        sass_row(s, low, d, a, b, 0);
    } else if (sass_is_false(s, index)) {
        sass_row(s, high, d, a, b, 0);
    } else {
        const uint32_t x = sass_temp(s, REGISTER_32), y = sass_temp(s, REGISTER_32);
        sass_row(s, low, x, a, b, 0);
        sass_row(s, high, y, a, b, 0);
        sass_row(s, "selp.b32", d, x, y, sass_predicate(s, index));
    }
}

// VIMNMX, IMNMX: d, a, b, p. With .RELU the result is not negative.
void sass_lower_iminmax(SassLower *s) {
    static const char *const types[] = {"u32", "s32", "u16x2", "s16x2"};
    char low[24], high[24];
    const char *type = types[sass_listed(s, LIST_VIMNMX)];
    const char *relu = sass_take(s, SASS_MOD_RELU) ? "relu." : "";
    if (*relu && *type != 's') sass_refuse(s, "unknown sign mode");
    snprintf(low, sizeof low, "min.%s%s", relu, type);
    snprintf(high, sizeof high, "max.%s%s", relu, type);
    const uint32_t a = sass_source(s, 1), b = sass_source(s, 2);
    by_predicate(s, 3, low, high, sass_dest(s, 0, 0), a, b);
}

// VIMNMX3: d, a, b, c, p
void sass_lower_minmax3(SassLower *s) {
    const bool is_signed = !sass_take(s, SASS_MOD_U32);
    const uint32_t a = sass_source(s, 1), b = sass_source(s, 2), c = sass_source(s, 3);
    const uint32_t two = sass_temp(s, REGISTER_32);
    by_predicate(s, 4, smaller(is_signed), greater(is_signed), two, a, b);
    by_predicate(s, 4, smaller(is_signed), greater(is_signed), sass_dest(s, 0, 0), two, c);
}

// VIADDMNMX: d, a, b, c, p: a + b and c. With .RELU the result is not negative.
void sass_lower_addminmax(SassLower *s) {
    const bool is_signed = !sass_take(s, SASS_MOD_U32), relu = sass_take(s, SASS_MOD_RELU);
    if (relu && !is_signed) sass_refuse(s, "unknown sign mode");
    const uint32_t a = sass_source(s, 1), b = sass_source(s, 2), c = sass_source(s, 3);
    const uint32_t sum = sass_temp(s, REGISTER_32);
    sass_row(s, "add.u32", sum, a, b, 0);
    by_predicate(s, 4, relu ? "min.relu.s32" : smaller(is_signed),
                 relu ? "max.relu.s32" : greater(is_signed), sass_dest(s, 0, 0), sum, c);
}

void sass_lower_fminmax(SassLower *s) {
    static const char *const rows[2][2][2] = {
        {{"min.f32", "max.f32"}, {"min.NaN.f32", "max.NaN.f32"}},
        {{"min.xorsign.abs.f32", "max.xorsign.abs.f32"},
         {"min.NaN.xorsign.abs.f32", "max.NaN.xorsign.abs.f32"}}};
    const bool flush = sass_take(s, SASS_MOD_FTZ), nan = sass_take(s, SASS_MOD_NAN);
    const bool crosses = sass_take(s, SASS_MOD_XORSIGN); // its row handles the signs
    const SassOperand *operands = s->inst->operands;
    uint32_t a = crosses ? sass_raw(s, &operands[1], 0) : sass_single(s, 1);
    uint32_t b = crosses ? sass_raw(s, &operands[2], 0) : sass_single(s, 2);
    if (flush) {
        a = lower_flushed(s->lower, REGISTER_32, a);
        b = lower_flushed(s->lower, REGISTER_32, b);
    }
    const char *const *names = rows[crosses][nan];
    by_predicate(s, 3, names[0], names[1], sass_dest(s, 0, 0), a, b);
}

void sass_lower_iabs(SassLower *s) {
    sass_row(s, "abs.s32", sass_dest(s, 0, 0), sass_source(s, 1), 0, 0);
}

void sass_lower_popc(SassLower *s) {
    sass_row(s, "popc.b32", sass_dest(s, 0, 0), sass_source(s, 1), 0, 0);
}

void sass_lower_brev(SassLower *s) {
    sass_row(s, "brev.b32", sass_dest(s, 0, 0), sass_source(s, 1), 0, 0);
}

void sass_lower_flo(SassLower *s) {
    const bool is_signed = !sass_take(s, SASS_MOD_U32), shift = sass_take(s, SASS_MOD_SH);
    const char *row = shift ? (is_signed ? "bfind.shiftamt.s32" : "bfind.shiftamt.u32")
                            : (is_signed ? "bfind.s32" : "bfind.u32");
    sass_row(s, row, sass_dest(s, 0, 0), sass_source(s, 1), 0, 0);
}

static const char *sign_of(SassModifier type) {
    return type == SASS_MOD_S8 || type == SASS_MOD_S16 ? "s32" : "u32";
}

// IDP: d, a, b, c: c plus the products of four bytes, or of two halves of a with two bytes of b
void sass_lower_idp(SassLower *s) {
    static const char *const rows[] = {"dp4a", "dp2a.lo", NULL, "dp2a.hi"};
    char name[32];
    const uint32_t kind = sass_listed(s, LIST_IDP);
    if (kind > 3 || s->inst->modifier_count != 3) sass_refuse(s, "its factors are not supported");
    s->taken = 7;
    snprintf(name, sizeof name, "%s.%s.%s", rows[kind], sign_of(s->inst->modifiers[1]),
             sign_of(s->inst->modifiers[2]));
    const uint32_t a = sass_source(s, 1), b = sass_source(s, 2), c = sass_source(s, 3);
    sass_row(s, name, sass_dest(s, 0, 0), a, b, c);
}

// d, a, b, c: c + |a - b|
void sass_lower_absdiff(SassLower *s) {
    const char *row = sass_take(s, SASS_MOD_U32) ? "sad.u32" : "sad.s32";
    const uint32_t a = sass_source(s, 1), b = sass_source(s, 2), c = sass_source(s, 3);
    sass_row(s, row, sass_dest(s, 0, 0), a, b, c);
}

// VABSDIFF4: d, a, b, c: |a - b| of four bytes; with .ACC c plus their sum
void sass_lower_absdiff4(SassLower *s) {
    if (!sass_take(s, SASS_MOD_U8)) sass_refuse(s, "its signedness is not supported");
    const char *row =
        sass_take(s, SASS_MOD_ACC) ? "vabsdiff4.u32.u32.u32.add" : "vabsdiff4.u32.u32.u32";
    const uint32_t a = sass_source(s, 1), b = sass_source(s, 2), c = sass_source(s, 3);
    sass_row(s, row, sass_dest(s, 0, 0), a, b, c);
}

// d, a, bits: the lowest bits of a, with their sign or without
void sass_lower_sgxt(SassLower *s) {
    const char *row = sass_take(s, SASS_MOD_U32) ? "szext.clamp.u32" : "szext.clamp.s32";
    const uint32_t a = sass_source(s, 1), bits = sass_source(s, 2);
    sass_row(s, row, sass_dest(s, 0, 0), a, bits, 0);
}

// d, first, count: `count` ones from bit `first` on
void sass_lower_bmsk(SassLower *s) {
    const uint32_t first = sass_source(s, 1), count = sass_source(s, 2);
    sass_row(s, "bmsk.clamp.b32", sass_dest(s, 0, 0), first, count, 0);
}

// P2R: d, PR, old, mask; R2P: PR, from, mask
static void lower_p2r(SassLower *s, uint32_t predicates) {
    const uint32_t old = sass_source(s, 2), mask = sass_source(s, 3);
    sass_row(s, "sass.p2r", sass_dest(s, 0, 0), predicates, old, mask);
}

void sass_lower_p2r(SassLower *s) { lower_p2r(s, s->predicates); }

void sass_lower_up2ur(SassLower *s) { lower_p2r(s, s->uniform_predicates); }

void sass_lower_r2p(SassLower *s) {
    sass_row(s, "sass.r2p", s->predicates, sass_source(s, 1), sass_source(s, 2), 0);
}

// PLOP3: p, q, a, b, c, tables of p and q
void sass_lower_plop3(SassLower *s) {
    sass_take(s, SASS_MOD_LUT);
    const uint32_t a = sass_predicate(s, 2), b = sass_predicate(s, 3), c = sass_predicate(s, 4);
    uint32_t results[2];
    for (uint32_t k = 0; k < 2; k++) { // both are read before one is written
        results[k] = sass_temp(s, REGISTER_PRED);
        const uint32_t table = (uint32_t)s->inst->operands[5 + k].value;
        if (sass_wanted(s, k) == PTX_NONE) continue;
        const uint32_t r[] = {results[k], a, b, c, table};
        memcpy(sass_emit(s, op_predicate_table)->r, r, sizeof r);
    }
    for (uint32_t k = 0; k < 2; k++)
        if (sass_wanted(s, k) != PTX_NONE)
            sass_row(s, "mov.pred", sass_wanted(s, k), results[k], 0, 0);
}
