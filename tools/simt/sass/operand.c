// Finds the operands of machine instructions in the warp's register frame.
#include "simt/sass/lower.h"

uint32_t sass_temp(SassLower *s, RegisterClass class) {
    SassTemps *temps = &s->temps[class];
    if (temps->used == SASS_TEMPS) sass_refuse(s, "it needs too many registers");
    if (temps->used == temps->count) temps->at[temps->count++] = lower_temp(s->lower, class);
    return temps->at[temps->used++];
}

uint32_t sass_constant(SassLower *s, uint32_t value) {
    return lower_constant(s->lower, REGISTER_32, value);
}

static uint32_t true_predicate(SassLower *s, bool negated) {
    return lower_constant(s->lower, REGISTER_PRED, negated ? 0 : UINT32_MAX);
}

static uint32_t placed(SassLower *s, uint32_t *offset) {
    if (*offset == PTX_NONE) *offset = lower_reserve(s->lower, LANES * 4);
    return *offset;
}

uint32_t sass_register(SassLower *s, uint32_t number) {
    if (number > SASS_RZ) sass_refuse(s, "it names registers that do not exist");
    return number == SASS_RZ ? sass_constant(s, 0) : placed(s, &s->registers[number]);
}

uint32_t sass_uniform(SassLower *s, uint32_t number) {
    if (number > SASS_URZ) sass_refuse(s, "it names registers that do not exist");
    return number == SASS_URZ ? sass_constant(s, 0) : placed(s, &s->uniforms[number]);
}

// A barrier is one word for all lanes.
uint32_t sass_barrier(SassLower *s, uint32_t number) {
    uint32_t *offset = &s->barriers[number];
    if (*offset == PTX_NONE) *offset = lower_reserve(s->lower, FRAME_ALIGN);
    return *offset;
}

// Whether the launch writes this part of constant bank 0, before or among the parameters.
static bool known_head(uint64_t at, uint32_t bytes) {
    static const struct {
        uint16_t at, bytes;
    } heads[] = {
        {SASS_BANK_BLOCK, 12},         {SASS_BANK_GRID, 12},   {SASS_BANK_LOCAL, 8},
        {SASS_BANK_STACK, 4},          {SASS_BANK_DYNAMIC, 4}, {SASS_BANK_WORKSPACE, 8},
        {SASS_BANK_RESERVED, 8},       {SASS_BANK_CLUSTER, 4}, {SASS_BANK_CLUSTER_SHAPE, 12},
        {SASS_BANK_CLUSTER_BLOCKS, 4}, {SASS_BANK_SMS, 4},     {0x208, 8}};
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
        if (at >= heads[k].at && at + bytes <= heads[k].at + heads[k].bytes) return true;
    return at >= SASS_PARAMETERS;
}

const PtxVariable *sass_bank_variable(const SassLower *s, uint32_t bank) {
    return bank == 2 && s->function->table ? s->function->table : s->module->banks[bank];
}

uint32_t sass_bank(SassLower *s, uint32_t bank, uint64_t at, RegisterClass class) {
    Lower *lower = s->lower;
    Code *code = lower->code;
    const uint32_t bytes = register_bytes(class);
    CodeConstant constant = {0, class, at, CONSTANT_PARAMETER};
    if (bank == 0) {
        if (!known_head(at, bytes)) sass_refuse(s, "unknown address in constant bank 0");
        if (at + bytes > ((lower->function->param_bytes + 7u) & ~7u))
            sass_refuse(s, "it reads past the end of the kernel's parameters");
    } else {
        const PtxVariable *variable = sass_bank_variable(s, bank);
        uint64_t address;
        if (!variable || at + bytes > variable->bytes ||
            !lower->lowering->variable_address(lower->lowering->context, variable, &address))
            sass_refuse(s, "it reads outside its constant bank");
        constant.value = address + at;
        constant.from = CONSTANT_MEMORY;
    }
    for (uint32_t k = 0; k < code->constant_count; k++) {
        const CodeConstant *known = &code->constants[k];
        if (known->from == constant.from && known->class == class && known->value == constant.value)
            return known->offset;
    }
    constant.offset = lower_temp(lower, class);
    ARENA_GROW(lower->arena, code->constants, code->constant_count, lower->constant_capacity);
    code->constants[code->constant_count++] = constant;
    return constant.offset;
}

bool sass_is_zero(const SassOperand *operand) {
    return (operand->kind == SASS_REG && operand->reg == SASS_RZ) ||
           (operand->kind == SASS_UREG && operand->reg == SASS_URZ);
}

uint32_t sass_raw(SassLower *s, const SassOperand *operand, uint32_t part) {
    switch (operand->kind) {
    case SASS_REG:
        return sass_register(s, operand->reg == SASS_RZ ? SASS_RZ : operand->reg + part);
    case SASS_UREG:
        return sass_uniform(s, operand->reg == SASS_URZ ? SASS_URZ : operand->reg + part);
    case SASS_INT:
    case SASS_UINT:
    case SASS_SINGLE:
    case SASS_HALVES:
    case SASS_BRAINS: {
        const bool sign = part && operand->kind == SASS_INT && operand->value >> 31 & 1;
        return sass_constant(s, part ? (sign ? UINT32_MAX : 0) : (uint32_t)operand->value);
    }
    case SASS_DOUBLE:
        return sass_constant(s, part ? (uint32_t)operand->value : 0);
    case SASS_BANK:
        return sass_bank(s, operand->bank, operand->value + 4 * part, REGISTER_32);
    default:
        sass_refuse(s, "an operand of the wrong kind");
    }
}

uint32_t sass_source(SassLower *s, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    uint32_t from = sass_raw(s, operand, 0);
    if (operand->absolute) {
        const uint32_t to = sass_temp(s, REGISTER_32);
        sass_row(s, "abs.s32", to, from, 0, 0);
        from = to;
    }
    if (operand->negated && !sass_is_zero(operand)) {
        const uint32_t to = sass_temp(s, REGISTER_32);
        sass_row(s, operand->inverted ? "not.b32" : "neg.s32", to, from, 0, 0);
        return to;
    }
    return operand->inverted ? sass_constant(s, UINT32_MAX) : from;
}

// Changes the sign bit, so that NaN keeps its payload.
static uint32_t with_sign(SassLower *s, const SassOperand *operand, uint32_t from) {
    if (operand->absolute) {
        const uint32_t to = sass_temp(s, REGISTER_32);
        sass_row(s, "sass.drop", to, from, 0, 0);
        from = to;
    }
    if (operand->negated) {
        const uint32_t to = sass_temp(s, REGISTER_32);
        sass_row(s, "sass.flip", to, from, 0, 0);
        from = to;
    }
    return from;
}

uint32_t sass_single(SassLower *s, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    return with_sign(s, operand, sass_raw(s, operand, 0));
}

static uint32_t joined(SassLower *s, uint32_t low, uint32_t high) {
    const uint32_t to = sass_temp(s, REGISTER_64);
    sass_row(s, "sass.join", to, low, high, 0);
    return to;
}

uint32_t sass_pair(SassLower *s, const SassOperand *operand) {
    if (sass_is_zero(operand)) return lower_constant(s->lower, REGISTER_64, 0);
    if (operand->kind == SASS_BANK) return sass_bank(s, operand->bank, operand->value, REGISTER_64);
    return joined(s, sass_raw(s, operand, 0), sass_raw(s, operand, 1));
}

uint32_t sass_double(SassLower *s, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    if (!operand->negated && !operand->absolute) return sass_pair(s, operand);
    return joined(s, sass_raw(s, operand, 0), with_sign(s, operand, sass_raw(s, operand, 1)));
}

static uint32_t sink(SassLower *s, bool predicate) {
    uint32_t *at = &s->sinks[predicate];
    if (*at == PTX_NONE) *at = lower_reserve(s->lower, predicate ? FRAME_ALIGN : LANES * 4);
    return *at;
}

uint32_t sass_dest(SassLower *s, uint32_t index, uint32_t part) {
    const SassOperand *operand = &s->inst->operands[index];
    if (sass_is_zero(operand)) return sink(s, false);
    return sass_raw(s, operand, part);
}

void sass_split(SassLower *s, uint32_t index, uint32_t from) {
    sass_row(s, "sass.low", sass_dest(s, index, 0), from, 0, 0);
    sass_row(s, "sass.high", sass_dest(s, index, 1), from, 0, 0);
}

static uint32_t predicate_at(const SassLower *s, const SassOperand *operand) {
    const uint32_t first = operand->kind == SASS_UPRED ? s->uniform_predicates : s->predicates;
    return first + 4u * operand->reg;
}

uint32_t sass_predicate(SassLower *s, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    if (operand->reg == SASS_PT) return true_predicate(s, operand->negated);
    const uint32_t from = predicate_at(s, operand);
    if (!operand->negated) return from;
    const uint32_t to = sass_temp(s, REGISTER_PRED);
    sass_row(s, "not.pred", to, from, 0, 0);
    return to;
}

uint32_t sass_guard(SassLower *s) {
    const SassInst *inst = s->inst;
    const uint32_t first = inst->guard_uniform ? s->uniform_predicates : s->predicates;
    const uint32_t from = first + 4u * inst->guard;
    if (!inst->guard_negated) return from;
    const uint32_t to = sass_temp(s, REGISTER_PRED);
    sass_row(s, "not.pred", to, from, 0, 0);
    return to;
}

uint32_t sass_wanted(SassLower *s, uint32_t index) {
    const SassOperand *operand = &s->inst->operands[index];
    return operand->reg == SASS_PT ? PTX_NONE : predicate_at(s, operand);
}

bool sass_is_true(const SassLower *s, uint32_t index) {
    return s->inst->operands[index].reg == SASS_PT && !s->inst->operands[index].negated;
}

bool sass_is_false(const SassLower *s, uint32_t index) {
    return s->inst->operands[index].reg == SASS_PT && s->inst->operands[index].negated;
}
