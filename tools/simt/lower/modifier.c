// Takes the modifiers of an opcode. A lowering function takes those that it supports, in any order;
// an instruction with any other modifier is not supported.
#include "simt/lower/lower.h"

// Takes modifier k if it is this one and not taken yet.
static bool take_at(Lower *lower, uint32_t k, PtxModifier modifier) {
    if (lower->ptx->taken >> k & 1 || lower->at->modifiers[k] != modifier) return false;
    lower->ptx->taken |= 1u << k;
    return true;
}

bool lower_take(Lower *lower, PtxModifier modifier) {
    for (uint32_t k = 0; k < lower->at->modifier_count; k++)
        if (take_at(lower, k, modifier)) return true;
    return false;
}

void lower_take_hints(Lower *lower, const uint8_t *hints) {
    for (; hints && *hints; hints++) lower_take(lower, (PtxModifier)*hints);
}

bool lower_take_choice(Lower *lower, const Choice *choices, uint32_t *value) {
    for (; choices->modifier; choices++) {
        if (!lower_take(lower, choices->modifier)) continue;
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

uint32_t lower_next(Lower *lower, const Choice *choices) {
    for (uint32_t k = 0; k < lower->at->modifier_count; k++)
        for (const Choice *choice = choices; choice->modifier; choice++)
            if (take_at(lower, k, choice->modifier)) return choice->value;
    lower_unknown(lower);
}

static PtxType type_of(uint8_t modifier) {
    return modifier < PTX_TYPES ? (PtxType)modifier : PTX_NOTYPE;
}

PtxType lower_take_type(Lower *lower) {
    for (uint32_t k = 0; k < lower->at->modifier_count; k++) {
        const PtxType type = type_of(lower->at->modifiers[k]);
        if (type && take_at(lower, k, (PtxModifier)type)) return type;
    }
    lower_unknown(lower);
}

PtxType lower_first_type(const Lower *lower) {
    PtxType type = PTX_NOTYPE;
    for (uint32_t k = 0; k < lower->at->modifier_count && !type; k++)
        type = type_of(lower->at->modifiers[k]);
    return type;
}

uint32_t lower_left(const Lower *lower, uint8_t left[PTX_MODIFIER_LIMIT]) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < lower->at->modifier_count; k++)
        if (!(lower->ptx->taken >> k & 1)) left[count++] = lower->at->modifiers[k];
    return count;
}

const Row *lower_row(const Lower *lower) {
    uint8_t left[PTX_MODIFIER_LIMIT];
    const uint32_t count = lower_left(lower, left);
    return row_find(lower->at->opcode, left, count);
}

void lower_all_taken(Lower *lower) {
    if (lower->ptx->taken != (1u << lower->at->modifier_count) - 1) lower_unknown(lower);
}

void lower_operands(Lower *lower, uint32_t least, uint32_t most) {
    uint32_t count = lower->at->operand_count;
    if (count >= least && count <= most) return;
    lower->lowering->status = SIMT_INVALID_PTX;
    lower_fail(lower, "`%.*s` cannot have %u operands", STR_ARG(lower->at->text), count);
}
