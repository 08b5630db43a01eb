// Machine instructions of asynchronous copies: by threads, mbarriers, bulk copies.
#include <string.h>

#include "simt/sass/lower.h"

// SYNCS, of an mbarrier in shared memory. The words that .EXCH stores for it say how many arrivals
// it waits for.
static InstMemory mbarrier_at(SassLower *s, uint32_t operand) {
    const SassOperand *at = &s->inst->operands[operand];
    const uint32_t base =
        at->reg == SASS_RZ ? sass_uniform(s, at->ureg) : sass_register(s, at->reg);
    if (at->reg != SASS_RZ && at->ureg != SASS_URZ) sass_refuse(s, "its address is not known");
    return (InstMemory){at->value, sass_within_block(s, base), PTX_SHARED, 8, 1, false};
}

static void emit_mbarrier(SassLower *s, uint32_t operand, InstMbarrier mbarrier, uint8_t order) {
    const InstMemory memory = mbarrier_at(s, operand);
    const uint32_t slot = lower_slot(s->lower, SLOT_ATOMIC);
    Inst *inst = sass_emit(s, op_mbarrier);
    inst->memory = memory;
    inst->mbarrier = mbarrier;
    inst->access = ACCESS_ATOMIC;
    inst->order = order;
    if (order) inst->scope = SCOPE_CTA;
    inst->slot = slot;
}

// The number of arrivals, of what is stored: the lower word is twice 2^20 less them.
static uint32_t arrivals(SassLower *s, const SassOperand *word) {
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "shr.u32", to, sass_raw(s, word, 0), sass_constant(s, 1), 0);
    sass_row(s, "sub.u32", to, sass_constant(s, 1u << 20), to, 0);
    return to;
}

void sass_lower_syncs(SassLower *s) {
    InstMbarrier mbarrier = {.d = PTX_NONE, .value = PTX_NONE};
    if (sass_take(s, "EXCH")) {
        sass_take(s, "64");
        mbarrier.mode = MBARRIER_INIT;
        mbarrier.value = arrivals(s, &s->inst->operands[2]);
        if (!sass_is_zero(&s->inst->operands[0])) sass_refuse(s, "its old value is not known");
        emit_mbarrier(s, 1, mbarrier, 0);
    } else if (sass_take(s, "ARRIVE")) {
        sass_take(s, "TRANS64");
        mbarrier.mode = MBARRIER_ARRIVE_EXPECT;
        mbarrier.value = sass_source(s, 2);
        if (!sass_is_zero(&s->inst->operands[0])) sass_refuse(s, "its old value is not known");
        emit_mbarrier(s, 1, mbarrier, ORDER_RELEASE);
    } else {
        sass_take(s, "PHASECHK"), sass_take(s, "TRANS64"), sass_take(s, "TRYWAIT");
        mbarrier.mode = MBARRIER_WAIT_PARITY;
        mbarrier.d = sass_wanted(s, 0);
        const uint32_t parity = sass_temp(s, REGISTER_32);
        sass_row(s, "shr.u32", parity, sass_source(s, 2), sass_constant(s, 31), 0);
        mbarrier.value = parity;
        if (mbarrier.d == PTX_NONE) sass_refuse(s, "nobody reads what it finds");
        emit_mbarrier(s, 1, mbarrier, ORDER_ACQUIRE);
    }
}

// UBLKCP.S.G [to], [from], bytes / 16: three uniform registers of two each, those of `to` being
// where to and which mbarrier, of `from` its address. It is made once, not by every lane.
void sass_lower_ublkcp(SassLower *s) {
    sass_take(s, "S"), sass_take(s, "G");
    const SassOperand *operands = s->inst->operands;
    const SassOperand to = {.kind = SASS_UREG, .reg = operands[0].ureg};
    const SassOperand from = {.kind = SASS_UREG, .reg = operands[1].ureg};
    const uint32_t bytes = sass_temp(s, REGISTER_32);
    sass_row(s, "shl.b32", bytes, sass_raw(s, &operands[2], 0), sass_constant(s, 4), 0);
    InstBulk bulk = {.ranks = PTX_NONE, .bytes = bytes};
    bulk.to = (BulkAddress){sass_raw(s, &to, 0), 0, PTX_SHARED_CLUSTER, 0};
    bulk.barrier = (BulkAddress){sass_raw(s, &to, 1), 0, PTX_SHARED_CLUSTER, 0};
    bulk.from = (BulkAddress){sass_pair(s, &from), 0, PTX_GLOBAL, 1};
    const uint32_t slot = lower_slot(s->lower, SLOT_SHARED_ST), one = sass_first_lane(s);
    lower_slot(s->lower, SLOT_SHARED_LD);
    sass_emit(s, op_guard)->guard = (InstGuard){one, false, 3};
    Inst *inst = sass_emit(s, op_bulk);
    inst->bulk = bulk;
    inst->slot = slot;
    sass_emit(s, op_unguard);
}

void sass_lower_fence(SassLower *s) {
    sass_take(s, "VIEW.ASYNC.S");
    Inst *inst = sass_emit(s, op_fence);
    inst->fence = FENCE_PROXY_ASYNC;
}

// LDGSTS: to, from, p
void sass_lower_ldgsts(SassLower *s) {
    const SassOperand *to = &s->inst->operands[0], *from = &s->inst->operands[1];
    const SassOperand address = {.kind = SASS_REG, .reg = from->reg};
    sass_take(s, "E"), sass_take(s, "BYPASS");
    const uint8_t words = sass_take(s, "128") ? 4 : sass_take(s, "64") ? 2 : 1;
    if (!sass_is_true(s, 2)) sass_refuse(s, "its predicate is not known");
    const uint32_t base = sass_within_block(s, sass_register(s, to->reg));
    const InstCopy copy = {from->value, sass_pair(s, &address), PTX_NONE, PTX_NONE};
    const uint32_t slot = lower_slot(s->lower, SLOT_GLOBAL_LD);
    Inst *inst = sass_emit(s, op_copy_async);
    inst->memory = (InstMemory){to->value, base, PTX_SHARED, 4, words, false};
    inst->copy = copy;
    inst->access = ACCESS_COPY;
    inst->slot = slot;
}

// The copies so far are a group, which DEPBAR waits for; copies are done at once.
void sass_lower_ldgdepbar(SassLower *s) { sass_emit(s, op_group)->group = (InstGroup){0}; }

void sass_lower_flush(SassLower *s) { sass_emit(s, op_group)->group = (InstGroup){.bulk = true}; }

// scoreboard, groups that may be under way
void sass_lower_depbar(SassLower *s) {
    if (!sass_take(s, "LE")) sass_refuse(s, "how long it waits is not known");
    const InstGroup group = {.pending = (uint32_t)s->inst->operands[1].value, .waits = true};
    sass_emit(s, op_group)->group = group;
}
