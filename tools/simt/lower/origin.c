// Finds the shared variable that an instruction's address was computed from: by `mov` of its name,
// then by sums with numbers. A register that may also hold other addresses has no such variable.
#include "simt/lower/lower.h"

// The variable whose address a register may hold. NULL: not known yet; &number: not an address of
// shared memory; &several: several variables.
typedef const PtxVariable *Origin;
static const PtxVariable number, several;

static Origin of_operand(const Lower *lower, const Origin *of, const PtxOperand *operand) {
    if (operand->reg != PTX_NONE) return of[operand->reg];
    if (!operand->name.len) return &number;
    const PtxVariable *variable = operand->variable;
    if (!variable) variable = ptx_variable(lower->lowering->module, operand->name);
    return variable && variable->space == PTX_SHARED ? variable : &number;
}

static Origin sum(Origin a, Origin b) {
    if (!a || !b) return NULL;
    if (b == &number) return a;
    return a == &number ? b : &several;
}

// The origin of a value that is one or the other.
static Origin either(Origin a, Origin b) {
    if (!a || !b) return a ? a : b;
    return a == b ? a : &several;
}

static Origin result(const Lower *lower, const Origin *of, const PtxInst *inst) {
    const PtxOperand *operands = inst->operands;
    const uint32_t count = inst->operand_count;
    const PtxDerives derives = ptx_opcodes[inst->opcode].derives;
    if (derives == DERIVES_FIRST && count == 2) return of_operand(lower, of, &operands[1]);
    if (derives == DERIVES_LAST && count == 4) return of_operand(lower, of, &operands[3]);
    if ((derives != DERIVES_SUM && derives != DERIVES_EITHER) || count < 3) return &number;
    Origin a = of_operand(lower, of, &operands[1]), b = of_operand(lower, of, &operands[2]);
    return derives == DERIVES_SUM ? sum(a, b) : either(a, b);
}

// Iterates once over the function. False if nothing changed.
static bool spread(const Lower *lower, Origin *of) {
    const PtxFunction *function = lower->function;
    bool changed = false;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        if (!inst->operand_count || inst->operands[0].kind != PTX_OPERAND_REG) continue;
        Origin *to = &of[inst->operands[0].reg], old = *to;
        *to = either(old, result(lower, of, inst));
        changed |= *to != old;
    }
    return changed;
}

void lower_origins(Lower *lower) {
    const PtxFunction *function = lower->function;
    Origin *of = ARENA_NEW(lower->arena, function->register_count + 1u, Origin);
    while (spread(lower, of)) {
    }
    const PtxVariable **origins = NULL;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxOperand *address = ptx_address(&function->insts[k]);
        Origin origin = address ? of_operand(lower, of, address) : NULL;
        if (!origin || origin == &number || origin == &several) continue;
        if (!origins) origins = ARENA_NEW(lower->arena, function->inst_count, const PtxVariable *);
        origins[k] = origin;
    }
    lower->code->origins = origins;
}
