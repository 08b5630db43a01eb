// cp.async and mbarrier.
#include "simt/lower/lower.h"

// cp.async.ca.shared.global [to], [from], bytes{, read}
static void lower_copy(Lower *lower) {
    const PtxInst *at = lower->at;
    bool policy = lower_take(lower, "L2::cache_hint");
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
    InstCopy copy = {from.offset, from.base, PTX_NONE, PTX_NONE};
    if (at->operand_count > 3u + policy) {
        if (lower_class(lower, &at->operands[3]) == REGISTER_PRED)
            copy.ignored = lower_source(lower, &at->operands[3], REGISTER_PRED);
        else
            copy.read = lower_source(lower, &at->operands[3], REGISTER_32);
    }
    uint32_t slot = lower_slot(lower, SLOT_SHARED_ST);
    lower_slot(lower, SLOT_GLOBAL_LD);
    Inst *inst = lower_emit(lower, op_copy_async);
    inst->memory = to;
    inst->copy = copy;
    inst->access = ACCESS_COPY;
    inst->slot = slot;
}

// PTX ISA, "mbarrier": arriving releases and waiting acquires unless the instruction says
// otherwise.
static uint8_t order_of(MbarrierMode mode) {
    if (mode >= MBARRIER_WAIT_STATE) return ORDER_ACQUIRE;
    return mode == MBARRIER_INIT ? 0 : ORDER_RELEASE;
}

static void emit_mbarrier(Lower *lower, const PtxOperand *address, const InstMbarrier *mbarrier) {
    const MemoryForm form = {.space = PTX_SHARED, .elements = 1, .type = PTX_B64};
    InstMemory memory = lower_memory(lower, address, &form);
    uint32_t slot = lower_slot(lower, SLOT_ATOMIC);
    Inst *inst = lower_emit(lower, op_mbarrier);
    inst->memory = memory;
    inst->mbarrier = *mbarrier;
    inst->access = ACCESS_ATOMIC;
    inst->order = order_of(mbarrier->mode);
    if (inst->order) inst->scope = SCOPE_CTA;
    inst->slot = slot;
}

void lower_cp(Lower *lower) {
    if (!lower_take(lower, "async")) lower_unknown(lower);
    if (lower_take(lower, "commit_group") || lower_take(lower, "wait_group") ||
        lower_take(lower, "wait_all")) {
        lower_all_taken(lower);
        lower_emit(lower, op_nothing);
    } else if (lower_take(lower, "mbarrier")) {
        // The copies are done: with .noinc this is an arrival, else it leaves the count as it was.
        bool arrives = lower_take(lower, "noinc");
        if (!lower_take(lower, "arrive")) lower_unknown(lower);
        lower_all_taken(lower);
        lower_operands(lower, 1, 1);
        if (arrives)
            emit_mbarrier(lower, &lower->at->operands[0],
                          &(InstMbarrier){PTX_NONE, PTX_NONE, MBARRIER_ARRIVE});
        else
            lower_emit(lower, op_nothing);
    } else {
        lower_copy(lower);
    }
}

// What is asked of it: one or two modifiers.
static MbarrierMode take_mbarrier_mode(Lower *lower) {
    static const Choice first[] = {
        {STR("init"), MBARRIER_INIT},
        {STR("inval"), MBARRIER_INVALIDATE},
        {STR("arrive"), MBARRIER_ARRIVE},
        {STR("arrive_drop"), MBARRIER_ARRIVE_DROP},
        {STR("expect_tx"), MBARRIER_EXPECT},
        {STR("complete_tx"), MBARRIER_COMPLETE},
        {STR("test_wait"), MBARRIER_WAIT_STATE},
        {STR("try_wait"), MBARRIER_WAIT_STATE},
        {STR(""), 0},
    };
    MbarrierMode mode = (MbarrierMode)lower_choice(lower, first);
    if (mode == MBARRIER_ARRIVE && lower_take(lower, "expect_tx")) mode = MBARRIER_ARRIVE_EXPECT;
    if (mode == MBARRIER_WAIT_STATE && lower_take(lower, "parity")) mode = MBARRIER_WAIT_PARITY;
    lower_all_taken(lower);
    return mode;
}

void lower_mbarrier(Lower *lower) {
    const PtxInst *at = lower->at;
    InstMbarrier mbarrier = {PTX_NONE, PTX_NONE, take_mbarrier_mode(lower)};
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
    emit_mbarrier(lower, address, &mbarrier);
}
