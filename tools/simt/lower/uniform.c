// What is the same in all lanes of a warp.
#include "simt/lower/lower.h"

enum { DEPTH = 8 }; // instructions from a constant to what is made of it, at most

static bool names(Str opcode, const Str *known, size_t count) {
    size_t dot = 0;
    while (dot < opcode.len && opcode.at[dot] != '.') dot++;
    for (size_t k = 0; k < count; k++)
        if (str_equal(known[k], str_slice(opcode, 0, dot))) return true;
    return false;
}

// Whether equal operands give equal results: sums and the like, and parameters.
static bool is_plain(Str opcode) {
    static const Str plain[] = {STR("mov"), STR("cvta"), STR("cvt"), STR("add"), STR("sub"),
                                STR("mul"), STR("mad"),  STR("shl"), STR("shr"), STR("and"),
                                STR("or"),  STR("xor"),  STR("not"), STR("neg")};
    return names(opcode, plain, sizeof plain / sizeof *plain) ||
           str_starts(opcode, STR("ld.param"));
}

// The only instruction that writes the register, without a condition; NULL: there is none such.
static const PtxInst *only_definition(const PtxFunction *function, uint32_t reg) {
    const PtxInst *found = NULL;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        if (!inst->operand_count) continue;
        const PtxOperand *to = &inst->operands[0];
        bool here = to->kind == PTX_OPERAND_REG && (to->reg == reg || to->reg2 == reg);
        for (uint32_t j = 0; j < to->count; j++) here |= to->items[j].reg == reg;
        if (!here) continue;
        if (found || inst->guard != PTX_NONE || to->kind != PTX_OPERAND_REG) return NULL;
        found = inst;
    }
    return found;
}

static bool is_special_of_block(Str name) {
    return str_starts(name, STR("%ctaid.")) || str_starts(name, STR("%nctaid.")) ||
           str_starts(name, STR("%ntid."));
}

static bool is_uniform(const Lower *lower, const PtxOperand *operand, int depth) {
    if (operand->kind == PTX_OPERAND_VECTOR || depth > DEPTH) return false;
    if (operand->reg == PTX_NONE)
        return operand->kind != PTX_OPERAND_NAME || operand->variable ||
               operand->name.at[0] != '%' || is_special_of_block(operand->name);
    const PtxInst *inst = only_definition(lower->function, operand->reg);
    if (!inst || !is_plain(inst->opcode)) return false;
    for (uint32_t k = 1; k < inst->operand_count; k++)
        if (!is_uniform(lower, &inst->operands[k], depth + 1)) return false;
    return true;
}

bool lower_is_uniform(const Lower *lower, const PtxOperand *operand) {
    return is_uniform(lower, operand, 0);
}
