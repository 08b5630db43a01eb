// cp.async and mbarrier.
#include "simt/lower/lower.h"

static void take_order(Lower *lower) {
    static const char *const names[] = {"release", "acquire", "relaxed",     "cta",
                                        "cluster", "shared",  "shared::cta", "b64"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) lower_take(lower, names[k]);
}

// cp.async.ca.shared.global [to], [from], bytes{, read}
static void lower_copy(Lower *lower) {
    const PtxInst *at = lower->at;
    (void)(lower_take(lower, "ca") || lower_take(lower, "cg"));
    (void)(lower_take(lower, "shared") || lower_take(lower, "shared::cta"));
    lower_take(lower, "global");
    static const char *const hints[] = {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"};
    bool policy = lower_take(lower, hints[0]);
    for (int k = 1; k < 4; k++) lower_take(lower, hints[k]);
    lower_all_taken(lower);
    lower_operands(lower, 3, 5);
    uint64_t bytes = at->operands[2].value;
    bool known =
        at->operands[2].kind == PTX_OPERAND_INT && (bytes == 4 || bytes == 8 || bytes == 16);
    if (!known) lower_unknown(lower);
    Address to = lower_address(lower, &at->operands[0], PTX_SHARED);
    Address from = lower_address(lower, &at->operands[1], PTX_GLOBAL);
    uint32_t read = PTX_NONE, ignore = PTX_NONE;
    if (at->operand_count > 3u + policy) {
        bool predicate = lower_letter(lower, &at->operands[3]) == 'p';
        if (predicate)
            ignore = lower_source(lower, &at->operands[3], 'p');
        else
            read = lower_source(lower, &at->operands[3], 'w');
    }
    uint32_t slot = lower_slot(lower, SLOT_SHARED_ST);
    lower_slot(lower, SLOT_GLOBAL_LD);
    Inst *inst = lower_emit(lower, op_copy_async);
    inst->r[0] = to.base;
    inst->imm = to.offset;
    inst->wide = to.wide;
    inst->r[1] = from.base;
    inst->extra = (const void *)(uintptr_t)from.offset;
    inst->r[2] = read;
    inst->r[3] = ignore;
    inst->access = ACCESS_COPY;
    inst->space = PTX_SHARED;
    inst->bytes = 4;
    inst->elements = (uint8_t)(bytes / 4);
    inst->slot = slot;
}

// PTX ISA, "mbarrier": arriving releases and waiting acquires unless the instruction says
// otherwise.
static uint8_t order_of(MbarrierMode mode) {
    if (mode >= MBARRIER_WAIT_STATE) return ORDER_ACQUIRE;
    return mode == MBARRIER_INIT ? 0 : ORDER_RELEASE;
}

static Inst *emit_mbarrier(Lower *lower, MbarrierMode mode, const PtxOperand *memory,
                           uint32_t result, uint32_t value) {
    Address address = lower_address(lower, memory, PTX_SHARED);
    uint32_t slot = lower_slot(lower, SLOT_ATOMIC);
    Inst *inst = lower_emit(lower, op_mbarrier);
    inst->r[0] = address.base;
    inst->r[1] = result;
    inst->r[2] = value;
    inst->imm = address.offset;
    inst->wide = address.wide;
    inst->access = ACCESS_ATOMIC;
    inst->space = PTX_SHARED;
    inst->bytes = 8;
    inst->elements = 1;
    inst->mode = (uint8_t)mode;
    inst->order = order_of(mode);
    inst->slot = slot;
    return inst;
}

static void lower_cp(Lower *lower) {
    if (!lower_take(lower, "async")) lower_unknown(lower);
    if (lower_take(lower, "commit_group") || lower_take(lower, "wait_group") ||
        lower_take(lower, "wait_all")) {
        lower_all_taken(lower);
        lower_emit(lower, op_nothing);
    } else if (lower_take(lower, "mbarrier")) {
        // The copies are done: with .noinc this is an arrival, else it leaves the count as it was.
        bool arrives = lower_take(lower, "noinc");
        if (!lower_take(lower, "arrive")) lower_unknown(lower);
        take_order(lower);
        lower_all_taken(lower);
        lower_operands(lower, 1, 1);
        if (arrives)
            emit_mbarrier(lower, MBARRIER_ARRIVE, &lower->at->operands[0], PTX_NONE, PTX_NONE);
        else
            lower_emit(lower, op_nothing);
    } else {
        lower_copy(lower);
    }
}

static void lower_mbarrier(Lower *lower) {
    static const struct {
        const char *first, *second;
        MbarrierMode mode;
    } rows[] = {
        {"init", NULL, MBARRIER_INIT},
        {"inval", NULL, MBARRIER_INVALIDATE},
        {"arrive", "expect_tx", MBARRIER_ARRIVE_EXPECT},
        {"arrive", NULL, MBARRIER_ARRIVE},
        {"arrive_drop", NULL, MBARRIER_ARRIVE_DROP},
        {"expect_tx", NULL, MBARRIER_EXPECT},
        {"complete_tx", NULL, MBARRIER_COMPLETE},
        {"test_wait", "parity", MBARRIER_WAIT_PARITY},
        {"try_wait", "parity", MBARRIER_WAIT_PARITY},
        {"test_wait", NULL, MBARRIER_WAIT_STATE},
        {"try_wait", NULL, MBARRIER_WAIT_STATE},
    };
    const PtxInst *at = lower->at;
    MbarrierMode mode = MBARRIER_INIT;
    bool found = false;
    for (size_t k = 0; k < sizeof rows / sizeof *rows && !found; k++) {
        if (!lower_take(lower, rows[k].first)) continue;
        found = !rows[k].second || lower_take(lower, rows[k].second);
        mode = rows[k].mode;
        for (uint32_t p = 1; !found && p < lower->parts; p++)
            if (str_equal(lower->part[p], str_of(rows[k].first))) lower->used[p] = false;
    }
    if (!found) lower_unknown(lower);
    lower_take(lower, "noComplete");
    take_order(lower);
    lower_all_taken(lower);
    bool waits = mode >= MBARRIER_WAIT_STATE;
    uint32_t k = 0, result = PTX_NONE, value = PTX_NONE;
    lower_operands(lower, 1, 4);
    if (at->operands[0].kind != PTX_OPERAND_ADDRESS) {
        bool wanted = at->operands[0].kind != PTX_OPERAND_SINK;
        if (wanted || waits) result = lower_dest(lower, &at->operands[0], waits ? 'p' : 'd');
        k = 1;
    }
    if (k >= at->operand_count || (waits && result == PTX_NONE)) lower_unknown(lower);
    const PtxOperand *memory = &at->operands[k++];
    if (k < at->operand_count)
        value = lower_source(lower, &at->operands[k], mode == MBARRIER_WAIT_STATE ? 'd' : 'w');
    else if (waits)
        lower_unknown(lower);
    emit_mbarrier(lower, mode, memory, result, value);
}

bool lower_async(Lower *lower, Str base) {
    if (str_equal(base, STR("cp")))
        lower_cp(lower);
    else if (str_equal(base, STR("mbarrier")))
        lower_mbarrier(lower);
    else
        return false;
    return true;
}
