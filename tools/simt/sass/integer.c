// Lowers integer instructions: sums, products, shifts, comparisons.
#include <stdio.h>

#include "simt/sass/lower.h"

// IADD3, UIADD3: d, p, q, a, b, c, x, y. To subtract, adds the complement and one, so that a carry
// means that nothing was borrowed, as in hardware.
typedef struct {
    uint32_t at, ones;
} Summand;

static Summand summand(SassLower *s, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    const uint32_t from = sass_raw(s, operand, 0);
    if (!operand->negated) return (Summand){from, 0};
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "not.b32", to, from, 0, 0);
    return (Summand){to, operand->inverted ? 0 : 1};
}

static uint32_t carry_in(SassLower *s, uint32_t index) {
    return sass_is_false(s, index) ? PTX_NONE : sass_predicate(s, index);
}

static void add_with_carries(SassLower *s) {
    const bool extended = sass_take(s, SASS_MOD_X);
    const Summand a = summand(s, 3), b = summand(s, 4), c = summand(s, 5);
    const InstCarry carry = {.d = sass_dest(s, 0, 0),
                             .p = sass_wanted(s, 1),
                             .q = sass_wanted(s, 2),
                             .a = a.at,
                             .b = b.at,
                             .c = c.at,
                             .x = extended ? carry_in(s, 6) : PTX_NONE,
                             .y = extended ? carry_in(s, 7) : PTX_NONE,
                             .plus = a.ones + b.ones + c.ones};
    sass_emit(s, op_add_carry)->carry = carry;
}

// Without carries: adds the operands that are not zero.
static void add_plainly(SassLower *s) {
    const SassOperand *operands = s->inst->operands;
    const uint32_t d = sass_dest(s, 0, 0);
    uint32_t plus[3], minus[3], plus_count = 0, minus_count = 0;
    for (uint32_t k = 3; k < 6; k++) {
        if (sass_is_zero(&operands[k])) continue;
        const uint32_t from = sass_raw(s, &operands[k], 0);
        if (operands[k].negated)
            minus[minus_count++] = from;
        else
            plus[plus_count++] = from;
    }
    if (plus_count == 3) {
        sass_row(s, "sass.add3", d, plus[0], plus[1], plus[2]);
        return;
    }
    uint32_t sum = plus_count ? plus[0] : sass_constant(s, 0);
    const uint32_t steps = (plus_count > 1) + minus_count;
    uint32_t left = steps;
    if (plus_count > 1) {
        const uint32_t to = --left ? sass_temp(s, REGISTER_32) : d;
        sass_row(s, "add.u32", to, sum, plus[1], 0);
        sum = to;
    }
    for (uint32_t k = 0; k < minus_count; k++) {
        const uint32_t to = --left ? sass_temp(s, REGISTER_32) : d;
        sass_row(s, "sub.u32", to, sum, minus[k], 0);
        sum = to;
    }
    if (!steps) sass_row(s, "mov.b32", d, sum, 0, 0);
}

// UIADD3.64: d, a, b, c, each two registers.
static void add_wide(SassLower *s) {
    const uint32_t sum = sass_temp(s, REGISTER_64);
    const SassOperand *b = &s->inst->operands[2];
    if (b->kind == SASS_INT && b->value >> 31) sass_refuse(s, "unsupported sign extension");
    sass_row(s, "add.u64", sum, sass_pair(s, &s->inst->operands[1]), sass_pair(s, b), 0);
    sass_row(s, "add.u64", sum, sum, sass_pair(s, &s->inst->operands[3]), 0);
    sass_split(s, 0, sum);
}

void sass_lower_iadd3(SassLower *s) {
    if (sass_take(s, SASS_MOD_64)) {
        add_wide(s);
        return;
    }
    const bool carries = sass_wanted(s, 1) != PTX_NONE || sass_wanted(s, 2) != PTX_NONE;
    if (carries || sass_has(s->inst, SASS_MOD_X))
        add_with_carries(s);
    else
        add_plainly(s);
}

// d, p, a, b, c, x; some uniform ones have d, a, b, c only.
typedef struct {
    uint32_t p, a, b, c, x;
} Factors;

static Factors factors(const SassLower *s) {
    const uint32_t p =
        s->inst->operands[1].kind == SASS_PRED || s->inst->operands[1].kind == SASS_UPRED;
    return (Factors){p, 1 + p, 2 + p, 3 + p, 4 + p};
}

// Sets the summand, 64 bits in two registers, negated if it is subtracted.
static void add_to_product(SassLower *s, const SassOperand *c, InstWide *wide) {
    wide->c = sass_raw(s, c, 0);
    wide->c_high = sass_raw(s, c, 1);
    if (!c->negated) return;
    if (c->inverted || wide->p != PTX_NONE)
        sass_refuse(s, "unsupported operand of the subtraction");
    const uint32_t minus = sass_temp(s, REGISTER_64);
    sass_row(s, "neg.s64", minus, sass_pair(s, c), 0, 0);
    wide->c = sass_temp(s, REGISTER_32);
    wide->c_high = sass_temp(s, REGISTER_32);
    sass_row(s, "sass.low", wide->c, minus, 0, 0);
    sass_row(s, "sass.high", wide->c_high, minus, 0, 0);
}

static void multiply_wide(SassLower *s, bool is_signed) {
    const Factors at = factors(s);
    const bool extended = sass_take(s, SASS_MOD_X);
    InstWide wide = {.d = sass_dest(s, 0, 0),
                     .high = sass_dest(s, 0, 1),
                     .p = at.p ? sass_wanted(s, 1) : PTX_NONE,
                     .x = extended ? carry_in(s, at.x) : PTX_NONE,
                     .a = sass_source(s, at.a),
                     .b = sass_source(s, at.b),
                     .is_signed = is_signed};
    add_to_product(s, &s->inst->operands[at.c], &wide);
    sass_emit(s, op_multiply_wide)->multiply = wide;
}

// The result is the upper half of a * b + c, where c has 64 bits.
static void multiply_high(SassLower *s, bool is_signed) {
    const Factors at = factors(s);
    const bool extended = sass_take(s, SASS_MOD_X);
    InstWide wide = {.d = sass_temp(s, REGISTER_32),
                     .high = sass_dest(s, 0, 0),
                     .p = sass_wanted(s, 1),
                     .x = extended ? carry_in(s, at.x) : PTX_NONE,
                     .a = sass_source(s, at.a),
                     .b = sass_source(s, at.b),
                     .is_signed = is_signed};
    add_to_product(s, &s->inst->operands[at.c], &wide);
    sass_emit(s, op_multiply_wide)->multiply = wide;
}

static void multiply_carry(SassLower *s) {
    const Factors at = factors(s);
    if (at.p && sass_wanted(s, 1) != PTX_NONE) sass_refuse(s, "unsupported carry");
    const InstCarry carry = {.d = sass_dest(s, 0, 0),
                             .p = PTX_NONE,
                             .q = PTX_NONE,
                             .a = sass_source(s, at.a),
                             .b = sass_source(s, at.b),
                             .c = sass_source(s, at.c),
                             .x = carry_in(s, at.x),
                             .y = PTX_NONE};
    sass_emit(s, op_multiply_carry)->carry = carry;
}

// An IMAD without carries. One that only moves, adds or shifts is lowered as that operation.
static void multiply_plainly(SassLower *s) {
    const Factors at = factors(s);
    const SassOperand *operands = s->inst->operands;
    const uint32_t d = sass_dest(s, 0, 0);
    if (at.p && sass_wanted(s, 1) != PTX_NONE) sass_refuse(s, "unsupported carry");
    if (sass_take(s, SASS_MOD_MOV) || sass_is_zero(&operands[at.a])) {
        sass_row(s, "mov.b32", d, sass_source(s, at.c), 0, 0);
    } else if (sass_take(s, SASS_MOD_IADD)) {
        const uint32_t a = sass_source(s, at.a), c = sass_raw(s, &operands[at.c], 0);
        sass_row(s, operands[at.c].negated ? "sub.u32" : "add.u32", d, a, c, 0);
    } else if (sass_take(s, SASS_MOD_SHL) || sass_is_zero(&operands[at.c])) {
        const uint32_t a = sass_source(s, at.a), b = sass_source(s, at.b);
        sass_row(s, "mul.lo.u32", d, a, b, 0);
    } else {
        const uint32_t a = sass_source(s, at.a), b = sass_source(s, at.b), c = sass_source(s, at.c);
        sass_row(s, "mad.lo.u32", d, a, b, c);
    }
}

void sass_lower_imad(SassLower *s) {
    const bool is_signed = !sass_take(s, SASS_MOD_U32);
    if (sass_take(s, SASS_MOD_WIDE))
        multiply_wide(s, is_signed);
    else if (sass_take(s, SASS_MOD_HI))
        multiply_high(s, is_signed);
    else if (sass_take(s, SASS_MOD_X))
        multiply_carry(s);
    else
        multiply_plainly(s);
}

// The upper word of {high, low} << by, where `by` is 0 to 31.
static uint32_t shifted_high(SassLower *s, uint32_t low, uint32_t high, uint32_t by) {
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "shf.l.clamp.b32", to, low, high, sass_constant(s, by));
    return to;
}

// LEA: d, p, a, b, c, shift, x: b + (a << shift); with .HI, b + the upper word of {c, a} << shift.
// If a is negated, it is subtracted: then p says, as in IADD3, that nothing was borrowed.
void sass_lower_lea(SassLower *s) {
    const SassOperand *operands = s->inst->operands;
    const bool high = sass_take(s, SASS_MOD_HI), extended = sass_take(s, SASS_MOD_X);
    const bool widens = sass_take(s, SASS_MOD_SX32);
    const uint32_t by = (uint32_t)operands[5].value;
    uint32_t a = sass_raw(s, &operands[2], 0), part;
    const bool minus = operands[2].negated;
    if (minus && (high || extended)) sass_refuse(s, "unsupported negation");
    if (high) {
        uint32_t upper = widens ? sass_temp(s, REGISTER_32) : sass_raw(s, &operands[4], 0);
        if (widens) sass_row(s, "shr.s32", upper, a, sass_constant(s, 31), 0);
        part = shifted_high(s, a, upper, by);
    } else {
        part = by ? sass_temp(s, REGISTER_32) : a;
        if (by) sass_row(s, "shl.b32", part, a, sass_constant(s, by), 0);
    }
    const uint32_t b = sass_source(s, 3);
    if (!extended && sass_wanted(s, 1) == PTX_NONE) {
        sass_row(s, minus ? "sub.u32" : "add.u32", sass_dest(s, 0, 0), b, part, 0);
        return;
    }
    if (minus) {
        const uint32_t inverted = sass_temp(s, REGISTER_32);
        sass_row(s, "not.b32", inverted, part, 0, 0);
        part = inverted;
    }
    const InstCarry carry = {.d = sass_dest(s, 0, 0),
                             .p = sass_wanted(s, 1),
                             .q = PTX_NONE,
                             .a = part,
                             .b = b,
                             .c = sass_constant(s, 0),
                             .x = extended ? carry_in(s, 6) : PTX_NONE,
                             .y = PTX_NONE,
                             .plus = minus};
    sass_emit(s, op_add_carry)->carry = carry;
}

// LOP3, ULOP3: p, d, a, b, c, table, x. p: any bit of the result is set, or x.
void sass_lower_lop3(SassLower *s) {
    static const struct {
        uint8_t table;
        const char *row;
    } pairs[] = {{0xc0, "and.b32"}, {0xfc, "or.b32"}, {0x3c, "xor.b32"}};
    sass_take(s, SASS_MOD_LUT);
    const uint32_t table = (uint32_t)s->inst->operands[5].value;
    const uint32_t p = sass_wanted(s, 0), d = sass_dest(s, 1, 0);
    const uint32_t to = p == PTX_NONE ? d : sass_temp(s, REGISTER_32);
    const uint32_t a = sass_source(s, 2), b = sass_source(s, 3);
    const char *row = NULL;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (pairs[k].table == table) row = pairs[k].row;
    if (row) {
        sass_row(s, row, to, a, b, 0);
    } else {
        const uint32_t r[] = {to, a, b, sass_source(s, 4), sass_constant(s, table)};
        lower_emit_row(s->lower, STR("lop3.b32"), r);
    }
    if (p == PTX_NONE) return;
    const uint32_t any = sass_temp(s, REGISTER_PRED);
    sass_row(s, "setp.ne.u32", any, to, sass_constant(s, 0), 0);
    if (!sass_is_false(s, 6)) sass_row(s, "or.pred", any, any, sass_predicate(s, 6), 0);
    sass_row(s, "mov.pred", p, any, 0, 0);
    sass_row(s, "mov.b32", d, to, 0, 0);
}

// The upper or lower word of {c, a}, shifted.
static void shift_pair(SassLower *s, bool right, bool high, bool is_signed) {
    const uint32_t pair = sass_temp(s, REGISTER_64), to = sass_temp(s, REGISTER_64);
    sass_row(s, "sass.join", pair, sass_source(s, 1), sass_source(s, 3), 0);
    const char *row = !right ? "shl.b64" : is_signed ? "shr.s64" : "shr.u64";
    sass_row(s, row, to, pair, sass_source(s, 2), 0);
    sass_row(s, high ? "sass.high" : "sass.low", sass_dest(s, 0, 0), to, 0, 0);
}

// SHF: d, a, by, c.
void sass_lower_shf(SassLower *s) {
    const bool right = sass_take(s, SASS_MOD_R), high = sass_take(s, SASS_MOD_HI);
    sass_take(s, SASS_MOD_L);
    const uint32_t type = sass_listed(s, LIST_SHF);
    const SassOperand *operands = s->inst->operands;
    const bool wraps = sass_take(s, SASS_MOD_W),
               both = !sass_is_zero(&operands[1]) && !sass_is_zero(&operands[3]);
    if (type == 3 && (both || wraps) && right != high) { // 32 bits of 64, like shf of PTX
        static const char *const names[] = {"shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32",
                                            "shf.r.wrap.b32"};
        const uint32_t a = sass_source(s, 1), by = sass_source(s, 2), b = sass_source(s, 3);
        sass_row(s, names[2 * right + wraps], sass_dest(s, 0, 0), a, b, by);
        return;
    }
    const SassOperand *used = high && right ? &operands[3] : &operands[1];
    const SassOperand *other = high && right ? &operands[1] : &operands[3];
    if (type < 2) {
        shift_pair(s, right, high, type == 0);
        return;
    }
    if (!sass_is_zero(other) || (high && !right)) sass_refuse(s, "unsupported second operand");
    if (wraps) { // only the lower five bits of the distance count
        if (type == 2) sass_refuse(s, "unsupported wrap mode");
        const uint32_t from = sass_raw(s, used, 0), by = sass_source(s, 2),
                       none = sass_constant(s, 0);
        sass_row(s, right ? "shf.r.wrap.b32" : "shf.l.wrap.b32", sass_dest(s, 0, 0),
                 right ? from : none, right ? none : from, by);
        return;
    }
    const char *row = !right ? "shl.b32" : type == 2 ? "shr.s32" : "shr.u32";
    const uint32_t from = sass_raw(s, used, 0), by = sass_source(s, 2);
    sass_row(s, row, sass_dest(s, 0, 0), from, by, 0);
}

// d, a, selection, b
void sass_lower_prmt(SassLower *s) {
    static const char *const rows[] = {"prmt.b32",     "prmt.b32.f4e", "prmt.b32.b4e",
                                       "prmt.b32.rc8", "prmt.b32.ecl", "prmt.b32.ecr",
                                       "prmt.b32.rc16"};
    const char *row = rows[sass_listed(s, LIST_PRMT)];
    const uint32_t a = sass_source(s, 1), how = sass_source(s, 2), b = sass_source(s, 3);
    sass_row(s, row, sass_dest(s, 0, 0), a, b, how);
}

// SEL, USEL, FSEL: d, a, b, p
void sass_lower_sel(SassLower *s) {
    const bool single = s->inst->op == SASS_FSEL;
    const uint32_t a = single ? sass_single(s, 1) : sass_source(s, 1);
    const uint32_t b = single ? sass_single(s, 2) : sass_source(s, 2);
    sass_row(s, "selp.b32", sass_dest(s, 0, 0), a, b, sass_predicate(s, 3));
}

void sass_lower_mov(SassLower *s) {
    sass_row(s, "mov.b32", sass_dest(s, 0, 0), sass_source(s, 1), 0, 0);
}

// Both halves of a register, each with its own sign.
static uint32_t two_halves(SassLower *s, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    const uint32_t from = sass_raw(s, operand, 0);
    if (!operand->negated) return from;
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "not.b32", to, from, 0, 0);
    sass_row(s, "add.u16x2", to, to, sass_constant(s, 0x10001), 0);
    return to;
}

void sass_lower_viadd(SassLower *s) {
    const bool halves = sass_take(s, SASS_MOD_16x2);
    const uint32_t a = halves ? two_halves(s, 1) : sass_source(s, 1);
    const uint32_t b = halves ? two_halves(s, 2) : sass_source(s, 2);
    sass_row(s, halves ? "add.u16x2" : "add.u32", sass_dest(s, 0, 0), a, b, 0);
}

// ISETP: p, q, a, b, with, result for the lower words
void sass_lower_isetp(SassLower *s) {
    static const char *const rows[] = {"", "lt", "eq", "le", "gt", "ne", "ge", ""};
    static const char *const strict[] = {"", "lt", "", "lt", "gt", "ne", "gt", ""};
    const char *type = sass_take(s, SASS_MOD_U32) ? "u32" : "s32";
    const uint32_t compare = sass_listed(s, LIST_ICMP);
    if (compare == UINT32_MAX || !*rows[compare]) sass_refuse(s, "unknown comparison");
    const uint32_t a = sass_source(s, 2), b = sass_source(s, 3);
    uint32_t result = sass_compared(s);
    char name[24];
    if (!sass_take(s, SASS_MOD_EX)) {
        snprintf(name, sizeof name, "setp.%s.%s", rows[compare], type);
        sass_row(s, name, result, a, b, 0);
    } else {
        // 64 bits: the upper words decide or, if they are equal, the lower ones have decided.
        const uint32_t equal = sass_temp(s, REGISTER_PRED);
        sass_row(s, "setp.eq.u32", equal, a, b, 0);
        sass_row(s, "and.pred", equal, equal, sass_predicate(s, 5), 0);
        if (*strict[compare]) {
            snprintf(name, sizeof name, "setp.%s.%s", strict[compare], type);
            sass_row(s, name, result, a, b, 0);
            sass_row(s, "or.pred", result, result, equal, 0);
        } else {
            result = equal;
        }
    }
    sass_combine(s, result);
}

// Whether p is the comparison's result unchanged, and q is not needed.
static bool combines_nothing(const SassLower *s) {
    return sass_has(s->inst, SASS_MOD_AND) && s->inst->operands[1].reg == SASS_PT &&
           sass_is_true(s, 4);
}

uint32_t sass_compared(SassLower *s) {
    const uint32_t p = sass_wanted(s, 0);
    const bool plain = combines_nothing(s) && p != PTX_NONE && !sass_has(s->inst, SASS_MOD_EX);
    return plain ? p : sass_temp(s, REGISTER_PRED);
}

// Combines a comparison's result with operand 4; p and q, operands 0 and 1, are written.
void sass_combine(SassLower *s, uint32_t result) {
    static const CombineMode modes[] = {COMBINE_AND, COMBINE_OR, COMBINE_XOR};
    const uint32_t how = sass_listed(s, LIST_BOOL), p = sass_wanted(s, 0), q = sass_wanted(s, 1);
    if (how == UINT32_MAX) sass_refuse(s, "unknown combination of predicates");
    if (how == 0 && q == PTX_NONE && sass_is_true(s, 4)) {
        if (p != PTX_NONE && p != result) sass_row(s, "mov.pred", p, result, 0, 0);
        return;
    }
    const uint32_t with = sass_predicate(s, 4);
    sass_emit(s, op_combine)->combine = (InstCombine){p, q, result, with, modes[how]};
}
