// Lowers atomic operations and reductions.
#include "simt/lower/lower.h"

static const Choice operations[] = {
    {PTX_MOD_ADD, ATOMIC_ADD}, {PTX_MOD_MIN, ATOMIC_MIN}, {PTX_MOD_MAX, ATOMIC_MAX},
    {PTX_MOD_INC, ATOMIC_INC}, {PTX_MOD_DEC, ATOMIC_DEC}, {PTX_MOD_AND, ATOMIC_AND},
    {PTX_MOD_OR, ATOMIC_OR},   {PTX_MOD_XOR, ATOMIC_XOR}, {PTX_MOD_EXCH, ATOMIC_EXCH},
    {PTX_MOD_CAS, ATOMIC_CAS}, {PTX_MOD_NONE, 0},
};

// Whether the operation exists for this type. PTX ISA, "atom".
static bool atomic_type(AtomicMode mode, PtxType type) {
    switch (type) {
    case PTX_U32:
        return mode != ATOMIC_AND && mode != ATOMIC_OR && mode != ATOMIC_XOR;
    case PTX_S32:
    case PTX_U64:
    case PTX_S64:
        return mode <= ATOMIC_MAX || mode == ATOMIC_EXCH || mode == ATOMIC_CAS;
    case PTX_B32:
    case PTX_B64:
        return mode >= ATOMIC_AND;
    case PTX_B16:
        return mode == ATOMIC_CAS;
    case PTX_F32:
    case PTX_F64:
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
        return mode == ATOMIC_ADD;
    default:
        return false;
    }
}

// Whether the final value in memory is independent of the order of the lanes.
static bool order_free(AtomicMode mode, PtxType type) {
    bool commutes = mode <= ATOMIC_MAX || (mode >= ATOMIC_AND && mode <= ATOMIC_XOR);
    return commutes && ptx_type_bytes(type) >= 4 && !ptx_type_is_float(type);
}

// How often ptxas's code for sm_90 loads the word in an atomic operation on shared memory. We
// compiled each operation and read its code. If a 64-bit sum has the same address and value in all
// lanes, one lane adds the value times the number of lanes.
static AtomicLoads loads_of(Lower *lower, AtomicMode mode, PtxType type,
                            const PtxOperand *operands) {
    const uint32_t bytes = ptx_type_bytes(type);
    if (bytes == 2) return LOADS_ONCE;
    if (mode == ATOMIC_EXCH || mode == ATOMIC_CAS) return LOADS_NONE;
    if (bytes == 4 && !ptx_type_is_float(type)) return LOADS_NONE;
    const bool once = mode == ATOMIC_ADD && !ptx_type_is_float(type) &&
                      lower_is_uniform(lower, &operands[0]) &&
                      lower_is_uniform(lower, &operands[1]);
    return once ? LOADS_OF_FIRST : LOADS_AGAIN;
}

static void lower_atomic(Lower *lower, bool result) {
    const PtxOperand *operands = lower->at->operands;
    MemoryForm form = lower_take_form(lower);
    AtomicMode mode = (AtomicMode)lower_choice(lower, operations);
    PtxType type = form.type = lower_take_type(lower);
    lower_all_taken(lower);
    uint32_t first = result ? 1 : 0, count = first + (mode == ATOMIC_CAS ? 3 : 2);
    lower_operands(lower, count, count + 1);
    if (form.elements > 1 || !atomic_type(mode, type)) lower_unknown(lower);
    const bool shared = form.space == PTX_SHARED || form.space == PTX_SHARED_CLUSTER;
    if (form.space != PTX_GLOBAL && !shared && form.space != PTX_GENERIC) lower_unknown(lower);
    RegisterClass class = register_class(type);
    InstMemory memory = lower_memory(lower, &operands[first], &form);
    InstAtomic atomic = {.old = PTX_NONE, .c = PTX_NONE, .mode = mode, .type = type};
    atomic.b = lower_source(lower, &operands[first + 1], class);
    if (mode == ATOMIC_CAS) atomic.c = lower_source(lower, &operands[first + 2], class);
    // An atom whose result is not read is the same as a red.
    if (result && operands[0].kind == PTX_OPERAND_REG && lower->ptx->uses[operands[0].reg] > 1)
        atomic.old = lower_dest(lower, &operands[0], class);
    uint32_t slot = lower_slot(lower, SLOT_ATOMIC);
    if (form.space != PTX_GLOBAL) atomic.loads = loads_of(lower, mode, type, &operands[first]);
    if (atomic.loads != LOADS_NONE) lower_slot(lower, SLOT_SHARED_LD); // the next one
    Inst *inst = lower_emit(lower, op_atomic);
    inst->memory = memory;
    inst->atomic = atomic;
    inst->access = ACCESS_ATOMIC;
    inst->order = form.order | ORDER_RELAXED;
    inst->scope = form.scope;
    inst->slot = slot;
    inst->spins = atomic.old != PTX_NONE;
    lower->code->partial |= lower_orders(form.order);
    lower->code->order_matters |= inst->spins;
    if (!shared && (inst->spins || !order_free(mode, type))) lower->code->ordered = true;
}

void lower_atom(Lower *lower) { lower_atomic(lower, true); }
void lower_red(Lower *lower) {
    if (lower_take(lower, PTX_MOD_ASYNC))
        lower_store_async(lower, true);
    else
        lower_atomic(lower, false);
}
