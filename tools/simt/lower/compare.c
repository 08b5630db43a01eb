// Lowers setp and set: a comparison, optionally combined with a predicate, whose result is one or
// two predicates or a value.
#include "simt/lower/lower.h"

// The operands of a comparison: one pair, or two when each register holds two 16-bit numbers.
typedef struct {
    Op *run;
    uint32_t pairs, a[2], b[2];
    uint32_t combine; // CombineMode, with c
    uint32_t c;
} Comparison;

static void split_halves(Lower *lower, uint32_t from, uint32_t to[2]) {
    to[0] = lower_temp(lower, REGISTER_16);
    to[1] = lower_temp(lower, REGISTER_16);
    lower_emit(lower, op_unpack)->vector =
        (InstVector){.whole = from, .part = {to[0], to[1]}, .bytes = 2, .count = 2};
}

// The row that compares one pair. set uses the row of setp.
static const Row *comparison_row(Lower *lower, uint32_t *pairs) {
    uint8_t left[PTX_MODIFIER_LIMIT];
    const uint32_t count = lower_left(lower, left);
    const uint8_t type = count ? left[count - 1] : PTX_MOD_NONE;
    *pairs = type == PTX_MOD_F16X2 || type == PTX_MOD_BF16X2 ? 2 : 1;
    if (*pairs == 2) left[count - 1] = type == PTX_MOD_F16X2 ? PTX_MOD_F16 : PTX_MOD_BF16;
    const Row *row = row_find(OPCODE_SETP, left, count);
    if (!row) lower_unknown(lower);
    return row;
}

// setp.cmp[.bool][.ftz].type p[|q], a, b[, c]; set has the type of its result before `type`.
static Comparison lower_comparison(Lower *lower) {
    static const Choice combinations[] = {{PTX_MOD_AND, COMBINE_AND},
                                          {PTX_MOD_OR, COMBINE_OR},
                                          {PTX_MOD_XOR, COMBINE_XOR},
                                          {PTX_MOD_NONE, 0}};
    const PtxOperand *operands = lower->at->operands;
    Comparison comparison = {.combine = COMBINE_NONE, .c = PTX_NONE};
    lower_take_choice(lower, combinations, &comparison.combine);
    bool flush = lower_take(lower, PTX_MOD_FTZ);
    uint32_t count = comparison.combine ? 4 : 3;
    lower_operands(lower, count, count);
    const Row *row = comparison_row(lower, &comparison.pairs);
    comparison.run = row->run;
    const RegisterClass part = row->operands[1];
    if (comparison.pairs == 2) {
        uint32_t a = lower_source(lower, &operands[1], REGISTER_32);
        uint32_t b = lower_source(lower, &operands[2], REGISTER_32);
        split_halves(lower, a, comparison.a);
        split_halves(lower, b, comparison.b);
    } else {
        comparison.a[0] = lower_source(lower, &operands[1], part);
        comparison.b[0] = lower_source(lower, &operands[2], part);
    }
    // PTX ISA, "setp": .ftz applies to f32 and f16.
    for (uint32_t k = 0; flush && part != REGISTER_64 && k < comparison.pairs; k++) {
        comparison.a[k] = lower_flushed(lower, part, comparison.a[k]);
        comparison.b[k] = lower_flushed(lower, part, comparison.b[k]);
    }
    if (comparison.combine) comparison.c = lower_source(lower, &operands[3], REGISTER_PRED);
    return comparison;
}

// Writes the result for the pair to the predicate `to` and its negation to `other`. Either may be
// PTX_NONE.
static void emit_compare(Lower *lower, const Comparison *comparison, uint32_t pair, uint32_t to,
                         uint32_t other) {
    bool simple = to != PTX_NONE && other == PTX_NONE && !comparison->combine;
    uint32_t compared = simple ? to : lower_temp(lower, REGISTER_PRED);
    Inst *inst = lower_emit(lower, comparison->run);
    inst->r[0] = compared;
    inst->r[1] = comparison->a[pair];
    inst->r[2] = comparison->b[pair];
    if (simple) return;
    lower_emit(lower, op_combine)->combine =
        (InstCombine){to, other, compared, comparison->c, (CombineMode)comparison->combine};
}

void lower_setp(Lower *lower) {
    Comparison comparison = lower_comparison(lower);
    const PtxOperand *result = &lower->at->operands[0];
    uint32_t p = lower_wanted(lower, result, REGISTER_PRED);
    uint32_t q = lower_second_dest(lower, result);
    if (comparison.pairs == 1) {
        emit_compare(lower, &comparison, 0, p, q);
        return;
    }
    // If p is also the source c, it must be written last.
    const uint32_t to[] = {p, q}, last = p == comparison.c ? 0 : 1;
    for (uint32_t k = 1 - last, n = 0; n < 2; n++, k = 1 - k)
        if (to[k] != PTX_NONE) emit_compare(lower, &comparison, k, to[k], PTX_NONE);
}

// The value that set writes for true: 1.0, or all ones in an integer.
static uint64_t true_value(Lower *lower, PtxType type) {
    switch (type) {
    case PTX_F32:
        return 0x3f800000u;
    case PTX_F16:
    case PTX_F16X2:
        return 0x3c00u;
    case PTX_BF16:
    case PTX_BF16X2:
        return 0x3f80u;
    case PTX_U16:
    case PTX_S16:
    case PTX_U32:
    case PTX_S32:
        return UINT32_MAX;
    default:
        lower_unknown(lower);
    }
}

void lower_set(Lower *lower) {
    PtxType type = lower_take_type(lower);
    uint64_t value = true_value(lower, type);
    Comparison comparison = lower_comparison(lower);
    uint32_t d = lower_dest(lower, &lower->at->operands[0], register_class(type));
    bool halves = comparison.pairs == 2;
    if (halves && ptx_type_bytes(type) != 4) lower_unknown(lower);
    RegisterClass class = halves ? REGISTER_16 : register_class(type);
    const PtxType bits = class == REGISTER_16 ? PTX_B16 : PTX_B32;
    uint32_t part[2] = {d, d};
    for (uint32_t k = 0; k < comparison.pairs; k++) {
        uint32_t p = lower_temp(lower, REGISTER_PRED);
        emit_compare(lower, &comparison, k, p, PTX_NONE);
        if (halves) part[k] = lower_temp(lower, REGISTER_16);
        uint32_t yes = lower_constant(lower, class, value), no = lower_constant(lower, class, 0);
        lower_emit_typed(lower, OPCODE_SELP, bits, (uint32_t[]){part[k], yes, no, p});
    }
    if (!halves) return;
    lower_emit(lower, op_pack)->vector =
        (InstVector){.whole = d, .part = {part[0], part[1]}, .bytes = 2, .count = 2};
}
