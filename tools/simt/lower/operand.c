// Gives operands their offsets in the frame: registers, constants, addresses of variables and
// special registers.
#include <string.h>

#include "simt/lower/lower.h"

RegisterClass lower_class(const Lower *lower, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_REG) return REGISTER_NONE;
    return register_class(lower->function->registers[operand->reg].type);
}

uint32_t lower_register(Lower *lower, uint32_t reg) {
    if (lower->ptx->offset[reg] == PTX_NONE)
        lower_fail(lower, "unsupported 128-bit register `%.*s`",
                   STR_ARG(lower->function->registers[reg].name));
    return lower->ptx->offset[reg];
}

static uint32_t checked_register(Lower *lower, uint32_t reg, RegisterClass class) {
    const PtxRegister *known = &lower->function->registers[reg];
    if (register_class(known->type) != class) {
        lower->lowering->status = SIMT_INVALID_PTX;
        lower_fail(lower, "register `%.*s` has the wrong size for `%.*s`", STR_ARG(known->name),
                   STR_ARG(lower->at->text));
    }
    return lower_register(lower, reg);
}

uint32_t lower_dest(Lower *lower, const PtxOperand *operand, RegisterClass class) {
    if (operand->kind == PTX_OPERAND_SINK) return lower_temp(lower, class);
    if (operand->kind != PTX_OPERAND_REG || operand->negated) {
        lower->lowering->status = SIMT_INVALID_PTX;
        lower_fail(lower, "the result of `%.*s` needs a register", STR_ARG(lower->at->text));
    }
    return checked_register(lower, operand->reg, class);
}

uint32_t lower_wanted(Lower *lower, const PtxOperand *operand, RegisterClass class) {
    return operand->kind == PTX_OPERAND_SINK ? PTX_NONE : lower_dest(lower, operand, class);
}

uint32_t lower_second_dest(Lower *lower, const PtxOperand *operand) {
    if (operand->reg2 == PTX_NONE) return PTX_NONE;
    return checked_register(lower, operand->reg2, REGISTER_PRED);
}

static uint32_t special_source(Lower *lower, Op *run, RegisterClass class) {
    uint32_t to = lower_temp(lower, class);
    lower_emit(lower, run)->special = (InstSpecial){to, class};
    return to;
}

// The start of dynamic shared memory is not known before the launch.
static uint32_t dynamic_shared_source(Lower *lower, uint64_t addend, RegisterClass class) {
    uint32_t to = special_source(lower, op_dynamic_shared_base, class);
    if (addend) {
        uint32_t sum[] = {to, to, lower_constant(lower, class, addend)};
        lower_emit_typed(lower, OPCODE_ADD, class == REGISTER_64 ? PTX_U64 : PTX_U32, sum);
    }
    return to;
}

static uint32_t local_source(Lower *lower, uint64_t offset, RegisterClass class) {
    uint32_t to = lower_temp(lower, class);
    lower_emit(lower, op_local_address)->local = (InstLocal){offset, to, class};
    return to;
}

static uint32_t name_source(Lower *lower, const PtxOperand *operand, RegisterClass class) {
    const Lowering *lowering = lower->lowering;
    if (operand->special) {
        lower->code->reserved |= ptx_specials[operand->special].reserved;
        return special_source(lower, op_special((PtxSpecial)operand->special), class);
    }
    const PtxVariable *variable = operand->variable;
    if (!variable) variable = ptx_variable(lowering->module, operand->name);
    if (variable && variable->space == PTX_LOCAL)
        return local_source(lower, variable->offset + operand->addend, class);
    if (variable && variable->space == PTX_SHARED && variable->external)
        return dynamic_shared_source(lower, operand->addend, class);
    uint64_t address;
    if (variable && lowering->variable_address(lowering->context, variable, &address))
        return lower_constant(lower, class, address + operand->addend);
    const PtxFunction *function = ptx_function(lowering->module, operand->name);
    if (function && class == REGISTER_64) {
        const Code *code = lowering->function_code(lowering->context, function);
        return lower_constant(lower, class, code->address);
    }
    lower_fail(lower, "unknown name `%.*s`", STR_ARG(operand->name));
}

static _Noreturn void bad_operand(Lower *lower) {
    lower->lowering->status = SIMT_INVALID_PTX;
    lower_fail(lower, "bad operand of `%.*s`", STR_ARG(lower->at->text));
}

static uint32_t register_source(Lower *lower, const PtxOperand *operand, RegisterClass class) {
    uint32_t offset = checked_register(lower, operand->reg, class);
    if (!operand->negated) return offset;
    if (class != REGISTER_PRED) bad_operand(lower);
    uint32_t to = lower_temp(lower, REGISTER_PRED);
    lower_emit_typed(lower, OPCODE_NOT, PTX_PRED, (uint32_t[]){to, offset});
    return to;
}

// A floating-point constant is converted to the register's size.
static uint32_t single_source(Lower *lower, uint32_t bits, RegisterClass class) {
    if (class == REGISTER_32) return lower_constant(lower, class, bits);
    if (class != REGISTER_64) bad_operand(lower);
    float value;
    memcpy(&value, &bits, sizeof value);
    double wide = (double)value;
    uint64_t wide_bits;
    memcpy(&wide_bits, &wide, sizeof wide_bits);
    return lower_constant(lower, class, wide_bits);
}

static uint32_t double_source(Lower *lower, uint64_t bits, RegisterClass class) {
    if (class == REGISTER_64) return lower_constant(lower, class, bits);
    if (class != REGISTER_32) bad_operand(lower);
    double value;
    memcpy(&value, &bits, sizeof value);
    float narrow = (float)value;
    uint32_t narrow_bits;
    memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
    return lower_constant(lower, class, narrow_bits);
}

uint32_t lower_source(Lower *lower, const PtxOperand *operand, RegisterClass class) {
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return register_source(lower, operand, class);
    case PTX_OPERAND_INT:
        if (class != REGISTER_PRED) return lower_constant(lower, class, operand->integer);
        return lower_constant(lower, class, operand->integer ? ALL_LANES : 0);
    case PTX_OPERAND_SINGLE:
        return single_source(lower, operand->single_bits, class);
    case PTX_OPERAND_DOUBLE:
        return double_source(lower, operand->double_bits, class);
    case PTX_OPERAND_NAME:
        return name_source(lower, operand, class);
    default:
        bad_operand(lower);
    }
}
