// The parts of an opcode: ld.global.nc.v4.f32. A lowering function takes the modifiers that it
// knows, in any order; one that is left over is not supported.
#include "simt/lower/lower.h"

void lower_split(Lower *lower, Str opcode) {
    lower->parts = 0;
    size_t start = 0;
    for (size_t k = 0; k <= opcode.len; k++) {
        if (k < opcode.len && opcode.at[k] != '.') continue;
        if (lower->parts == PARTS) lower_unknown(lower);
        lower->used[lower->parts] = false;
        lower->part[lower->parts++] = str_slice(opcode, start, k);
        start = k + 1;
    }
}

static bool take(Lower *lower, Str modifier) {
    for (uint32_t k = 1; k < lower->parts; k++) {
        if (lower->used[k] || !str_equal(lower->part[k], modifier)) continue;
        lower->used[k] = true;
        return true;
    }
    return false;
}

bool lower_take(Lower *lower, const char *modifier) { return take(lower, str_of(modifier)); }

void lower_take_hints(Lower *lower, const Str *hints) {
    for (; hints && hints->len; hints++) {
        if (!str_ends(*hints, STR("::"))) {
            take(lower, *hints);
            continue;
        }
        for (uint32_t k = 1; k < lower->parts; k++)
            if (str_starts(lower->part[k], *hints)) lower->used[k] = true;
    }
}

bool lower_take_choice(Lower *lower, const Choice *choices, uint32_t *value) {
    for (; choices->name.len; choices++) {
        if (!take(lower, choices->name)) continue;
        *value = choices->value;
        return true;
    }
    return false;
}

uint32_t lower_choice(Lower *lower, const Choice *choices) {
    uint32_t value;
    if (!lower_take_choice(lower, choices, &value)) lower_unknown(lower);
    return value;
}

PtxType lower_take_type(Lower *lower) {
    for (uint32_t k = 1; k < lower->parts; k++) {
        PtxType type = lower->used[k] ? PTX_NOTYPE : ptx_type_named(lower->part[k]);
        if (type == PTX_NOTYPE) continue;
        lower->used[k] = true;
        return type;
    }
    lower_unknown(lower);
}

PtxType lower_first_type(const Lower *lower) {
    PtxType type = PTX_NOTYPE;
    for (uint32_t k = 1; k < lower->parts && type == PTX_NOTYPE; k++)
        type = ptx_type_named(lower->part[k]);
    return type;
}

Str lower_rest(Lower *lower, Str base) {
    Buf *name = &lower->rest;
    name->arena = lower->arena;
    name->len = 0;
    buf_add(name, base);
    for (uint32_t k = 1; k < lower->parts; k++) {
        if (lower->used[k]) continue;
        buf_char(name, '.');
        buf_add(name, lower->part[k]);
    }
    return buf_str(name);
}

void lower_all_taken(Lower *lower) {
    for (uint32_t k = 1; k < lower->parts; k++)
        if (!lower->used[k]) lower_unknown(lower);
}

void lower_operands(Lower *lower, uint32_t least, uint32_t most) {
    uint32_t count = lower->at->operand_count;
    if (count >= least && count <= most) return;
    lower->lowering->status = SIMT_INVALID_PTX;
    lower_fail(lower, "`%.*s` with %u operands", STR_ARG(lower->at->opcode), count);
}
