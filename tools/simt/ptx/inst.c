// Questions about a parsed instruction.
#include "simt/ptx/ptx.h"

bool ptx_has(const PtxInst *inst, PtxModifier modifier) {
    for (uint32_t k = 0; k < inst->modifier_count; k++)
        if (inst->modifiers[k] == modifier) return true;
    return false;
}

bool ptx_has_result(const PtxInst *inst) {
    if (!inst->operand_count || ptx_opcodes[inst->opcode].reads_first) return false;
    const PtxOperandKind kind = inst->operands[0].kind;
    return kind == PTX_OPERAND_REG || kind == PTX_OPERAND_VECTOR || kind == PTX_OPERAND_SINK;
}

const PtxOperand *ptx_address(const PtxInst *inst) {
    for (uint32_t k = 0; k < inst->operand_count; k++)
        if (inst->operands[k].kind == PTX_OPERAND_ADDRESS) return &inst->operands[k];
    return NULL;
}
