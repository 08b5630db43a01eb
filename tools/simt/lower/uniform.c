// Finds operands that are the same in all lanes of a warp.
#include "simt/lower/lower.h"

enum { DEPTH = 8 }; // the longest chain of instructions that is followed

// The instruction that writes the register, if it is the only one and unconditional; else NULL.
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

static bool is_uniform(const Lower *lower, const PtxOperand *operand, int depth) {
    if (operand->kind == PTX_OPERAND_VECTOR || depth > DEPTH) return false;
    if (operand->reg == PTX_NONE)
        return !operand->special || ptx_specials[operand->special].uniform;
    const PtxInst *inst = only_definition(lower->function, operand->reg);
    if (!inst) return false;
    const bool parameter =
        ptx_is_load(inst) && (ptx_has(inst, PTX_MOD_PARAM) || ptx_has(inst, PTX_MOD_PARAM_ENTRY));
    if (!parameter && !ptx_opcodes[inst->opcode].pure) return false;
    for (uint32_t k = 1; k < inst->operand_count; k++)
        if (!is_uniform(lower, &inst->operands[k], depth + 1)) return false;
    return true;
}

bool lower_is_uniform(const Lower *lower, const PtxOperand *operand) {
    return is_uniform(lower, operand, 0);
}
