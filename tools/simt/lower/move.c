// Lowers mov, also of vectors, and conversions of addresses.
#include "simt/exec/address.h"
#include "simt/lower/lower.h"

// Packing and unpacking: mov.b32 %r, {%rs1, %rs2}; mov.b64 {%r1, %r2}, %rd.
static void lower_vector(Lower *lower, PtxType type) {
    const PtxInst *at = lower->at;
    bool unpack = at->operands[0].kind == PTX_OPERAND_VECTOR;
    const PtxOperand *vector = &at->operands[unpack ? 0 : 1];
    const PtxOperand *whole = &at->operands[unpack ? 1 : 0];
    uint32_t bytes = ptx_type_bytes(type), count = vector->count;
    if ((count != 2 && count != 4) || bytes / count == 0 || bytes > 8) lower_unknown(lower);
    InstVector inst = {.bytes = bytes / count, .count = count};
    RegisterClass class = inst.bytes == 4 ? REGISTER_32 : REGISTER_16;
    for (uint32_t k = 0; k < count; k++) {
        const PtxOperand *item = &vector->items[k];
        if (!unpack)
            inst.part[k] = lower_source(lower, item, class);
        else
            inst.part[k] = lower_wanted(lower, item, class);
    }
    inst.whole = unpack ? lower_source(lower, whole, register_class(type))
                        : lower_dest(lower, whole, register_class(type));
    lower_emit(lower, unpack ? op_unpack : op_pack)->vector = inst;
}

void lower_mov(Lower *lower) {
    lower_operands(lower, 2, 2);
    const PtxInst *at = lower->at;
    if (at->operands[0].kind == PTX_OPERAND_VECTOR || at->operands[1].kind == PTX_OPERAND_VECTOR) {
        PtxType type = lower_take_type(lower);
        lower_all_taken(lower);
        lower_vector(lower, type);
        return;
    }
    const PtxOperand *from = &at->operands[1];
    if (from->kind == PTX_OPERAND_NAME && from->variable && from->variable->space == PTX_PARAM &&
        !lower->function->entry)
        lower_fail(lower, "cannot take the address of parameter `%.*s` of a function",
                   STR_ARG(from->name));
    lower_by_row(lower, lower_row(lower), 0);
}

// Spaces that have generic addresses.
static const Choice spaces[] = {
    {PTX_MOD_SHARED, PTX_SHARED},
    {PTX_MOD_SHARED_CTA, PTX_SHARED},
    {PTX_MOD_SHARED_CLUSTER, PTX_SHARED_CLUSTER},
    {PTX_MOD_LOCAL, PTX_LOCAL},
    {PTX_MOD_PARAM, PTX_PARAM},
    {PTX_MOD_PARAM_ENTRY, PTX_PARAM},
    {PTX_MOD_GLOBAL, PTX_GLOBAL},
    {PTX_MOD_CONST, PTX_CONST},
    {PTX_MOD_NONE, 0},
};

// cvta[.to].space.u64
void lower_cvta(Lower *lower) {
    lower_operands(lower, 2, 2);
    bool to = lower_take(lower, PTX_MOD_TO);
    PtxSpace space = (PtxSpace)lower_choice(lower, spaces);
    PtxType type = lower_take_type(lower);
    lower_all_taken(lower);
    if (ptx_type_bytes(type) != 8) lower_unknown(lower);
    uint32_t a = lower_source(lower, &lower->at->operands[1], REGISTER_64);
    uint32_t d = lower_dest(lower, &lower->at->operands[0], REGISTER_64);
    if (space == PTX_SHARED_CLUSTER) space = PTX_SHARED;
    uint64_t window = address_window(space);
    if (!window) {
        lower_emit_typed(lower, OPCODE_MOV, PTX_B64, (uint32_t[]){d, a});
        return;
    }
    uint32_t constant = lower_constant(lower, REGISTER_64, to ? ADDRESS_WITHIN : window);
    lower_emit_typed(lower, to ? OPCODE_AND : OPCODE_OR, PTX_B64, (uint32_t[]){d, a, constant});
}

// createpolicy makes a cache policy for accesses. Execution has no caches, so every policy is 0.
void lower_createpolicy(Lower *lower) {
    static const uint8_t hints[] = {
        PTX_MOD_FRACTIONAL, PTX_MOD_RANGE,      PTX_MOD_CVT,           PTX_MOD_GLOBAL, PTX_MOD_L2,
        PTX_MOD_CACHE_HINT, PTX_MOD_CACHE_HINT, PTX_MOD_L2_CACHE_HINT, PTX_MOD_NONE};
    lower_take_hints(lower, hints);
    if (ptx_type_bytes(lower_take_type(lower)) != 8) lower_unknown(lower);
    lower_all_taken(lower);
    lower_operands(lower, 1, 4);
    const uint32_t d = lower_dest(lower, &lower->at->operands[0], REGISTER_64);
    lower_emit_typed(lower, OPCODE_MOV, PTX_B64,
                     (uint32_t[]){d, lower_constant(lower, REGISTER_64, 0)});
}

void lower_isspacep(Lower *lower) {
    lower_operands(lower, 2, 2);
    PtxSpace space = (PtxSpace)lower_choice(lower, spaces);
    lower_all_taken(lower);
    uint32_t a = lower_source(lower, &lower->at->operands[1], REGISTER_64);
    uint32_t d = lower_dest(lower, &lower->at->operands[0], REGISTER_PRED);
    lower_emit(lower, op_is_space)->in_space = (InstSpace){d, a, space};
}
