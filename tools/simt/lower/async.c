// Lowers cp.async and mbarrier.
#include "simt/lower/lower.h"

// cp.async.ca.shared.global [to], [from], bytes{, read}
static void lower_copy(Lower *lower) {
    static const uint8_t hints[] = {PTX_MOD_CA,      PTX_MOD_SHARED,     PTX_MOD_SHARED_CTA,
                                    PTX_MOD_GLOBAL,  PTX_MOD_L2_64B,     PTX_MOD_L2_128B,
                                    PTX_MOD_L2_256B, PTX_MOD_CACHE_HINT, PTX_MOD_NONE};
    const PtxInst *at = lower->at;
    const bool bypass = lower_take(lower, PTX_MOD_CG);
    lower_take_hints(lower, hints);
    bool policy = lower_take(lower, PTX_MOD_L2_CACHE_HINT);
    lower_all_taken(lower);
    lower_operands(lower, 3, 5);
    if (at->operands[2].kind != PTX_OPERAND_INT) lower_unknown(lower);
    uint64_t bytes = at->operands[2].integer;
    if (bytes != 4 && bytes != 8 && bytes != 16) lower_unknown(lower);
    const MemoryForm shared = {
        .space = PTX_SHARED, .elements = (uint8_t)(bytes / 4), .type = PTX_B32};
    const MemoryForm global = {
        .space = PTX_GLOBAL, .elements = (uint8_t)(bytes / 4), .type = PTX_B32};
    InstMemory to = lower_memory(lower, &at->operands[0], &shared);
    InstMemory from = lower_memory(lower, &at->operands[1], &global);
    InstCopy copy = {from.offset, from.base, PTX_NONE, PTX_NONE, bypass};
    if (at->operand_count > 3u + policy) {
        if (lower_class(lower, &at->operands[3]) == REGISTER_PRED)
            copy.ignored = lower_source(lower, &at->operands[3], REGISTER_PRED);
        else
            copy.read = lower_source(lower, &at->operands[3], REGISTER_32);
    }
    uint32_t slot = lower_slot(lower, SLOT_GLOBAL_LD); // the store to shared memory is not counted
    Inst *inst = lower_emit(lower, op_copy_async);
    inst->memory = to;
    inst->copy = copy;
    inst->access = ACCESS_COPY;
    inst->slot = slot;
}

// PTX ISA, "mbarrier": by default arriving releases and waiting acquires, at block scope.
static uint8_t order_of(MbarrierMode mode, uint8_t said) {
    if (mode == MBARRIER_INIT) return 0;
    if (said) return said;
    return mode >= MBARRIER_WAIT_STATE ? ORDER_ACQUIRE : ORDER_RELEASE;
}

static void emit_mbarrier(Lower *lower, const PtxOperand *address, const InstMbarrier *mbarrier,
                          const MemoryForm *form) {
    InstMemory memory = lower_memory(lower, address, form);
    uint32_t slot = lower_slot(lower, SLOT_ATOMIC);
    Inst *inst = lower_emit(lower, op_mbarrier);
    inst->memory = memory;
    inst->mbarrier = *mbarrier;
    inst->access = ACCESS_ATOMIC;
    inst->order = order_of(mbarrier->mode, form->order);
    lower->code->partial |= lower_orders(inst->order);
    lower->code->order_matters |= mbarrier->mode >= MBARRIER_WAIT_STATE;
    if (inst->order) inst->scope = form->scope == SCOPE_CLUSTER ? SCOPE_CLUSTER : SCOPE_CTA;
    inst->slot = slot;
}

// The state space, order and scope that an instruction about an mbarrier names.
static MemoryForm take_mbarrier_form(Lower *lower) {
    MemoryForm form = lower_take_form(lower);
    const bool shared = form.space == PTX_SHARED || form.space == PTX_SHARED_CLUSTER;
    if ((!shared && form.space != PTX_GENERIC) || form.elements > 1) lower_unknown(lower);
    if (form.order == ORDER_VOLATILE) lower_unknown(lower);
    form.type = PTX_B64;
    return form;
}

// The rest of cp.async.mbarrier.arrive{.noinc}{.shared}.b64
static void lower_copies_arrive(Lower *lower) {
    const bool arrives = lower_take(lower, PTX_MOD_NOINC);
    if (!lower_take(lower, PTX_MOD_ARRIVE)) lower_unknown(lower);
    lower_take(lower, PTX_MOD_B64);
    const MemoryForm form = take_mbarrier_form(lower);
    lower_all_taken(lower);
    lower_operands(lower, 1, 1);
    const InstMemory memory = lower_memory(lower, &lower->at->operands[0], &form);
    lower_emit(lower, op_copies_arrive)->memory = memory;
    const InstMbarrier arrival = {PTX_NONE, PTX_NONE, MBARRIER_ARRIVE};
    if (arrives) emit_mbarrier(lower, &lower->at->operands[0], &arrival, &form);
}

static void lower_group(Lower *lower, bool waits, bool all) {
    const PtxInst *at = lower->at;
    InstGroup group = {.waits = waits, .all = all};
    lower_all_taken(lower);
    lower_operands(lower, waits && !all, waits && !all);
    if (waits && !all && at->operands[0].kind != PTX_OPERAND_INT) lower_unknown(lower);
    if (waits && !all) group.pending = (uint32_t)at->operands[0].integer;
    lower_emit(lower, op_group)->group = group;
}

void lower_cp(Lower *lower) {
    const bool reduces = lower_take(lower, PTX_MOD_REDUCE);
    if (!lower_take(lower, PTX_MOD_ASYNC)) lower_unknown(lower);
    const bool bulk = lower_take(lower, PTX_MOD_BULK);
    if (bulk && lower_take(lower, PTX_MOD_TENSOR))
        lower_fail(lower, "the CPU device has no tensor maps: `%.*s`", STR_ARG(lower->at->text));
    if (bulk)
        lower_bulk(lower, reduces);
    else if (lower_take(lower, PTX_MOD_COMMIT_GROUP))
        lower_group(lower, false, false);
    else if (lower_take(lower, PTX_MOD_WAIT_GROUP))
        lower_group(lower, true, false);
    else if (lower_take(lower, PTX_MOD_WAIT_ALL))
        lower_group(lower, true, true);
    else if (lower_take(lower, PTX_MOD_MBARRIER))
        lower_copies_arrive(lower);
    else
        lower_copy(lower);
}

// Takes the operation, which one or two modifiers name.
static MbarrierMode take_mbarrier_mode(Lower *lower) {
    static const Choice first[] = {
        {PTX_MOD_INIT, MBARRIER_INIT},
        {PTX_MOD_INVAL, MBARRIER_INVALIDATE},
        {PTX_MOD_ARRIVE, MBARRIER_ARRIVE},
        {PTX_MOD_ARRIVE_DROP, MBARRIER_ARRIVE_DROP},
        {PTX_MOD_EXPECT_TX, MBARRIER_EXPECT}, // after those that it may be combined with
        {PTX_MOD_COMPLETE_TX, MBARRIER_COMPLETE},
        {PTX_MOD_TEST_WAIT, MBARRIER_WAIT_STATE},
        {PTX_MOD_TRY_WAIT, MBARRIER_WAIT_STATE},
        {PTX_MOD_NONE, 0},
    };
    MbarrierMode mode = (MbarrierMode)lower_choice(lower, first);
    if (mode == MBARRIER_ARRIVE && lower_take(lower, PTX_MOD_EXPECT_TX))
        mode = MBARRIER_ARRIVE_EXPECT;
    if (mode == MBARRIER_ARRIVE_DROP && lower_take(lower, PTX_MOD_EXPECT_TX))
        mode = MBARRIER_ARRIVE_DROP_EXPECT;
    if (mode == MBARRIER_WAIT_STATE && lower_take(lower, PTX_MOD_PARITY))
        mode = MBARRIER_WAIT_PARITY;
    return mode;
}

// mbarrier.pending_count.b64 count, state
static void lower_pending_count(Lower *lower) {
    const PtxOperand *operands = lower->at->operands;
    lower_all_taken(lower);
    lower_operands(lower, 2, 2);
    const uint32_t a = lower_source(lower, &operands[1], REGISTER_64);
    const uint32_t d = lower_dest(lower, &operands[0], REGISTER_32);
    Inst *inst = lower_emit(lower, op_pending_count);
    inst->r[0] = d;
    inst->r[1] = a;
}

void lower_mbarrier(Lower *lower) {
    const PtxInst *at = lower->at;
    if (lower_take(lower, PTX_MOD_PENDING_COUNT)) {
        lower_pending_count(lower);
        return;
    }
    InstMbarrier mbarrier = {PTX_NONE, PTX_NONE, take_mbarrier_mode(lower)};
    const MemoryForm form = take_mbarrier_form(lower);
    lower_all_taken(lower);
    bool waits = mbarrier.mode >= MBARRIER_WAIT_STATE;
    uint32_t k = 0;
    lower_operands(lower, 1, 4);
    if (at->operands[0].kind != PTX_OPERAND_ADDRESS) {
        RegisterClass class = waits ? REGISTER_PRED : REGISTER_64;
        mbarrier.d = waits ? lower_dest(lower, &at->operands[0], class)
                           : lower_wanted(lower, &at->operands[0], class);
        k = 1;
    }
    if (k >= at->operand_count || (waits && k == 0)) lower_unknown(lower);
    const PtxOperand *address = &at->operands[k++];
    RegisterClass class = mbarrier.mode == MBARRIER_WAIT_STATE ? REGISTER_64 : REGISTER_32;
    if (k < at->operand_count)
        mbarrier.value = lower_source(lower, &at->operands[k], class);
    else if (waits)
        lower_unknown(lower);
    emit_mbarrier(lower, address, &mbarrier, &form);
}
