// setp and set: a comparison, combined with a predicate, as predicates or as a value.
#include <string.h>

#include "simt/lower/lower.h"

// The operands of a comparison: one pair, or two when each register holds two 16-bit numbers.
typedef struct {
    Op *run;
    uint32_t pairs, a[2], b[2];
    uint8_t mode; // how it is combined with c: see op_combine
    uint32_t c;
} Comparison;

static void split_halves(Lower *lower, uint32_t from, uint32_t to[2]) {
    to[0] = lower_temp(lower, 'h');
    to[1] = lower_temp(lower, 'h');
    Inst *inst = lower_emit(lower, op_unpack);
    inst->r[0] = from;
    inst->r[1] = to[0];
    inst->r[2] = to[1];
    inst->bytes = 2;
    inst->elements = 2;
}

// setp.cmp[.bool][.ftz].type p[|q], a, b[, c]; set has the type of its result in front of type.
static Comparison lower_operands_of(Lower *lower) {
    const PtxInst *at = lower->at;
    Comparison comparison = {.pairs = 1, .c = PTX_NONE};
    static const char *const combinations[] = {"and", "or", "xor"};
    for (uint8_t k = 0; k < 3 && !comparison.mode; k++)
        if (lower_take(lower, combinations[k])) comparison.mode = (uint8_t)(k + 1);
    bool flush = lower_take(lower, "ftz");
    uint32_t count = comparison.mode ? 4 : 3;
    lower_operands(lower, count, count);
    char name[128], opcode[128];
    size_t len = lower_row_name(lower, opcode), base = lower->part[0].len;
    if (len <= base || len - base + 4 > sizeof name) lower_unknown(lower);
    memcpy(name, "setp", 4);
    memcpy(name + 4, opcode + base, len - base);
    len += 4 - base;
    if (str_ends((Str){name, len}, STR("f16x2"))) {
        comparison.pairs = 2;
        len -= 2;
    }
    const char *shape = NULL;
    comparison.run = lower_row((Str){name, len}, &shape);
    if (!comparison.run) lower_unknown(lower);
    char letter = comparison.pairs == 2 ? 'w' : shape[1];
    uint32_t a = lower_source(lower, &at->operands[1], letter);
    uint32_t b = lower_source(lower, &at->operands[2], letter);
    if (comparison.pairs == 2) {
        split_halves(lower, a, comparison.a);
        split_halves(lower, b, comparison.b);
    } else {
        comparison.a[0] = a;
        comparison.b[0] = b;
    }
    // PTX ISA, "setp": .ftz is of f32 and f16.
    char part = shape[1];
    for (uint32_t k = 0; flush && part != 'd' && k < comparison.pairs; k++) {
        comparison.a[k] = lower_flushed(lower, part, comparison.a[k]);
        comparison.b[k] = lower_flushed(lower, part, comparison.b[k]);
    }
    if (comparison.mode) comparison.c = lower_source(lower, &at->operands[3], 'p');
    return comparison;
}

// Predicates of the pair: `to`, and of the opposite `other`; either may be PTX_NONE.
static void emit_compare(Lower *lower, const Comparison *comparison, uint32_t pair, uint32_t to,
                         uint32_t other) {
    bool simple = to != PTX_NONE && other == PTX_NONE && !comparison->mode;
    uint32_t compared = simple ? to : lower_temp(lower, 'p');
    Inst *inst = lower_emit(lower, comparison->run);
    inst->r[0] = compared;
    inst->r[1] = comparison->a[pair];
    inst->r[2] = comparison->b[pair];
    if (simple) return;
    inst = lower_emit(lower, op_combine);
    inst->r[0] = to;
    inst->r[1] = compared;
    inst->r[2] = other;
    inst->r[3] = comparison->c;
    inst->mode = comparison->mode;
}

void lower_setp(Lower *lower) {
    Comparison comparison = lower_operands_of(lower);
    const PtxOperand *result = &lower->at->operands[0];
    PtxOperand second = {.kind = PTX_OPERAND_REG, .reg = result->reg2, .reg2 = PTX_NONE};
    uint32_t p = PTX_NONE, q = PTX_NONE;
    if (result->kind != PTX_OPERAND_SINK) p = lower_dest(lower, result, 'p');
    if (result->reg2 != PTX_NONE) q = lower_dest(lower, &second, 'p');
    if (comparison.pairs == 1) {
        emit_compare(lower, &comparison, 0, p, q);
        return;
    }
    if (p != PTX_NONE) emit_compare(lower, &comparison, 0, p, PTX_NONE);
    if (q != PTX_NONE) emit_compare(lower, &comparison, 1, q, PTX_NONE);
}

// What set gives for true: 1 in a float, all ones in an integer.
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
    Comparison comparison = lower_operands_of(lower);
    uint32_t d = lower_dest(lower, &lower->at->operands[0], lower_type_letter(type));
    bool halves = comparison.pairs == 2;
    if (halves && ptx_type_bytes(type) != 4) lower_unknown(lower);
    char letter = halves ? 'h' : lower_type_letter(type);
    Str select = letter == 'h' ? STR("selp.b16") : STR("selp.b32");
    uint32_t part[2] = {d, d};
    for (uint32_t k = 0; k < comparison.pairs; k++) {
        uint32_t p = lower_temp(lower, 'p');
        emit_compare(lower, &comparison, k, p, PTX_NONE);
        if (halves) part[k] = lower_temp(lower, 'h');
        uint32_t yes = lower_constant(lower, letter, value), no = lower_constant(lower, letter, 0);
        Inst *inst = lower_emit(lower, lower_row(select, NULL));
        inst->r[0] = part[k];
        inst->r[1] = yes;
        inst->r[2] = no;
        inst->r[3] = p;
    }
    if (!halves) return;
    Inst *inst = lower_emit(lower, op_pack);
    inst->r[0] = d;
    inst->r[1] = part[0];
    inst->r[2] = part[1];
    inst->bytes = 2;
    inst->elements = 2;
}
