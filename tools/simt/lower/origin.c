// Which variable of shared memory an instruction's address was made from: `mov` of its name, then
// sums with what is no address. Registers that may hold addresses of several variables, or come
// from elsewhere too, have none.
#include "simt/lower/lower.h"

// What a register may hold: NULL: not known yet; &number: no such address; &several.
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

// Of what comes from one place or another.
static Origin either(Origin a, Origin b) {
    if (!a || !b) return a ? a : b;
    return a == b ? a : &several;
}

typedef enum { GIVES_NUMBER, GIVES_FIRST, GIVES_SUM, GIVES_LAST, GIVES_EITHER } Gives;

static Gives gives(Str opcode) {
    static const struct {
        Str name;
        Gives gives;
    } known[] = {{STR("mov"), GIVES_FIRST},  {STR("cvta"), GIVES_FIRST}, {STR("cvt"), GIVES_FIRST},
                 {STR("add"), GIVES_SUM},    {STR("sub"), GIVES_SUM},    {STR("or"), GIVES_SUM},
                 {STR("xor"), GIVES_SUM},    {STR("and"), GIVES_SUM},    {STR("mad"), GIVES_LAST},
                 {STR("selp"), GIVES_EITHER}};
    size_t dot = 0;
    while (dot < opcode.len && opcode.at[dot] != '.') dot++;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (str_equal(known[k].name, str_slice(opcode, 0, dot))) return known[k].gives;
    return GIVES_NUMBER;
}

static Origin result(const Lower *lower, const Origin *of, const PtxInst *inst) {
    const PtxOperand *operands = inst->operands;
    const uint32_t count = inst->operand_count;
    Gives what = gives(inst->opcode);
    if (what == GIVES_FIRST && count == 2) return of_operand(lower, of, &operands[1]);
    if (what == GIVES_LAST && count == 4) return of_operand(lower, of, &operands[3]);
    if ((what != GIVES_SUM && what != GIVES_EITHER) || count < 3) return &number;
    Origin a = of_operand(lower, of, &operands[1]), b = of_operand(lower, of, &operands[2]);
    return what == GIVES_SUM ? sum(a, b) : either(a, b);
}

// One more round over the function. False: nothing new.
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

static const PtxOperand *address_of(const PtxInst *inst) {
    for (uint32_t k = 0; k < inst->operand_count; k++)
        if (inst->operands[k].kind == PTX_OPERAND_ADDRESS) return &inst->operands[k];
    return NULL;
}

void lower_origins(Lower *lower) {
    const PtxFunction *function = lower->function;
    Origin *of = ARENA_NEW(lower->arena, function->register_count + 1u, Origin);
    while (spread(lower, of)) {
    }
    const PtxVariable **origins = NULL;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxOperand *address = address_of(&function->insts[k]);
        Origin origin = address ? of_operand(lower, of, address) : NULL;
        if (!origin || origin == &number || origin == &several) continue;
        if (!origins) origins = ARENA_NEW(lower->arena, function->inst_count, const PtxVariable *);
        origins[k] = origin;
    }
    lower->code->origins = origins;
}
