// Lowers instructions of asynchronous copies: copies by threads, bulk copies, mbarriers.
#include "simt/sass/lower.h"

// SYNCS operates on an mbarrier in shared memory. The words that .EXCH stores there encode the
// number of arrivals to wait for.
static InstMemory mbarrier_at(SassLower *s, uint32_t operand) {
    InstMemory memory = sass_shared(s, operand);
    memory.bytes = 8;
    memory.elements = 1;
    return memory;
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

// The number of arrivals in the stored words: the lower word is twice (2^20 - arrivals).
static uint32_t arrivals(SassLower *s, const SassOperand *word) {
    const uint32_t to = sass_temp(s, REGISTER_32);
    sass_row(s, "shr.u32", to, sass_raw(s, word, 0), sass_constant(s, 1), 0);
    sass_row(s, "sub.u32", to, sass_constant(s, 1u << 20), to, 0);
    return to;
}

// SYNCS.ARRIVE: state, [mbarrier], register. The modifier AxTy gives the number of arrivals and of
// expected bytes: a digit, or R for the register's value.
static void arrive(SassLower *s, InstMbarrier mbarrier) {
    static const struct {
        MbarrierMode mode;
        bool one; // counts one arrival instead of the register's value
    } kinds[] = {{MBARRIER_ARRIVE_EXPECT, false}, // without modifier
                 {MBARRIER_ARRIVE, true},
                 {MBARRIER_EXPECT, true},
                 {MBARRIER_EXPECT, false},
                 [5] = {MBARRIER_ARRIVE, false}};
    const uint32_t how = sass_listed(s, LIST_ARRIVE);
    const bool wanted = !sass_is_zero(&s->inst->operands[0]),
               leaves = sass_take(s, SASS_MOD_OPTOUT);
    mbarrier.mode = kinds[how].mode;
    if (leaves && mbarrier.mode != MBARRIER_ARRIVE) sass_refuse(s, "unsupported drop of arrivals");
    if (leaves) mbarrier.mode = MBARRIER_ARRIVE_DROP;
    mbarrier.value = kinds[how].one ? sass_constant(s, 1) : sass_source(s, 2);
    if (wanted) mbarrier.d = sass_temp(s, REGISTER_64);
    emit_mbarrier(s, 1, mbarrier, ORDER_RELEASE);
    if (wanted) sass_split(s, 0, mbarrier.d);
}

// ARRIVES: [mbarrier]. When all earlier copies of the thread are done, it arrives (.ARVCNT) or
// counts one expected byte as copied (.TRANSCNT). Here copies are done at once.
void sass_lower_arrives(SassLower *s) {
    sass_take(s, SASS_MOD_LDGSTSBAR), sass_take(s, SASS_MOD_64);
    const bool counts = sass_take(s, SASS_MOD_ARVCNT);
    if (!counts && !sass_take(s, SASS_MOD_TRANSCNT)) sass_refuse(s, "unsupported kind of count");
    const MbarrierMode mode = counts ? MBARRIER_ARRIVE : MBARRIER_COMPLETE;
    emit_mbarrier(s, 0, (InstMbarrier){PTX_NONE, sass_constant(s, 1), mode}, ORDER_RELEASE);
}

void sass_lower_syncs(SassLower *s) {
    InstMbarrier mbarrier = {.d = PTX_NONE, .value = PTX_NONE};
    if (sass_take(s, SASS_MOD_EXCH)) {
        sass_take(s, SASS_MOD_64);
        mbarrier.mode = MBARRIER_INIT;
        mbarrier.value = arrivals(s, &s->inst->operands[2]);
        if (!sass_is_zero(&s->inst->operands[0]))
            sass_refuse(s, "its old value is not supported as a result");
        emit_mbarrier(s, 1, mbarrier, 0);
    } else if (sass_take(s, SASS_MOD_ARRIVE)) {
        sass_take(s, SASS_MOD_TRANS64), sass_take(s, SASS_MOD_RED);
        arrive(s, mbarrier);
    } else if (sass_take(s, SASS_MOD_CCTL)) {
        sass_take(s, SASS_MOD_IV);
        mbarrier.mode = MBARRIER_INVALIDATE;
        emit_mbarrier(s, 0, mbarrier, 0);
    } else {
        sass_take(s, SASS_MOD_PHASECHK), sass_take(s, SASS_MOD_TRANS64),
            sass_take(s, SASS_MOD_TRYWAIT);
        mbarrier.mode = MBARRIER_WAIT_PARITY;
        mbarrier.d = sass_wanted(s, 0);
        const uint32_t parity = sass_temp(s, REGISTER_32);
        sass_row(s, "shr.u32", parity, sass_source(s, 2), sass_constant(s, 31), 0);
        mbarrier.value = parity;
        if (mbarrier.d == PTX_NONE) sass_refuse(s, "its result is not used");
        emit_mbarrier(s, 1, mbarrier, ORDER_ACQUIRE);
    }
}

// --- bulk copies: UBLKCP and UBLKRED [to], [from], size ---
//
// The three operands are uniform registers. If `to` is in shared memory, the register after it
// holds the mbarrier's address; an address in global memory takes two registers. The lower half of
// `size` counts units of 16 bytes, and its upper half holds the ranks of the blocks to which
// .MULTICAST copies. The warp makes one copy, not one for every lane.

static BulkAddress bulk_at(uint32_t base, PtxSpace space) {
    return (BulkAddress){
        .base = base, .space = (uint32_t)space & 0x7f, .wide = space == PTX_GLOBAL};
}

static BulkAddress bulk_place(SassLower *s, uint32_t index, bool global) {
    const SassOperand at = {.kind = SASS_UREG, .reg = s->inst->operands[index].ureg};
    if (s->inst->operands[index].value) sass_refuse(s, "unsupported form of address");
    return global ? bulk_at(sass_pair(s, &at), PTX_GLOBAL)
                  : bulk_at(sass_raw(s, &at, 0), PTX_SHARED_CLUSTER);
}

static void take_size(SassLower *s, InstBulk *bulk) {
    const uint32_t size = sass_raw(s, &s->inst->operands[2], 0);
    bulk->bytes = sass_temp(s, REGISTER_32);
    sass_row(s, "and.b32", bulk->bytes, size, sass_constant(s, UINT16_MAX), 0);
    sass_row(s, "shl.b32", bulk->bytes, bulk->bytes, sass_constant(s, 4), 0);
    if (!sass_take(s, SASS_MOD_MULTICAST)) return;
    const uint32_t ranks = sass_temp(s, REGISTER_32);
    bulk->ranks = sass_temp(s, REGISTER_16);
    sass_row(s, "shr.u32", ranks, size, sass_constant(s, 16), 0);
    sass_row(s, "cvt.u16.u32", bulk->ranks, ranks, 0, 0);
}

static void copy_in_bulk(SassLower *s, InstBulk bulk) {
    const bool from_global = sass_take(s, SASS_MOD_S_G),
               to_global = !from_global && sass_take(s, SASS_MOD_G_S);
    if (!from_global && !to_global) sass_take(s, SASS_MOD_S_S);
    bulk.ranks = PTX_NONE;
    take_size(s, &bulk);
    bulk.to = bulk_place(s, 0, to_global);
    bulk.from = bulk_place(s, 1, from_global);
    if (!to_global) {
        const SassOperand to = {.kind = SASS_UREG, .reg = s->inst->operands[0].ureg};
        bulk.barrier = bulk_at(sass_raw(s, &to, 1), PTX_SHARED_CLUSTER);
    }
    const uint32_t slot = lower_slot(s->lower, SLOT_SHARED_ST), one = sass_first_lane(s);
    lower_slot(s->lower, SLOT_SHARED_LD);
    sass_emit(s, op_guard)->guard = (InstGuard){one, false, 3};
    Inst *inst = sass_emit(s, op_bulk);
    inst->bulk = bulk;
    inst->slot = slot;
    sass_emit(s, op_unguard);
    s->lower->code->ordered |= to_global && bulk.reduces && ptx_type_is_float(bulk.type);
}

void sass_lower_ublkcp(SassLower *s) { copy_in_bulk(s, (InstBulk){.reduces = false}); }

static void take_reduction(SassLower *s, InstBulk *bulk) {
    static const PtxType types[] = {PTX_U32, PTX_S32,    PTX_U64, PTX_S64, PTX_F16,
                                    PTX_F32, PTX_NOTYPE, PTX_F64, PTX_BF16};
    const PtxType type = sass_take(s, SASS_MOD_64) ? PTX_U64 : types[sass_listed(s, LIST_BULKTYPE)];
    bulk->reduces = true;
    bulk->type = (uint8_t)type;
    bulk->mode = sass_operation(s);
    if (ptx_type_is_float(bulk->type) && bulk->mode != ATOMIC_ADD)
        sass_refuse(s, "unsupported operation on two floats");
}

void sass_lower_ublkred(SassLower *s) {
    InstBulk bulk = {.reduces = false};
    take_reduction(s, &bulk);
    copy_in_bulk(s, bulk);
}

// STAS, REDAS [to], from: the register after that of `to` holds the address of the mbarrier that
// counts the bytes.
static void store_async(SassLower *s, InstBulk bulk, uint32_t bytes) {
    const SassOperand *to = &s->inst->operands[0], *from = &s->inst->operands[1];
    if (to->value || to->ureg != SASS_URZ) sass_refuse(s, "unsupported form of address");
    const SassOperand pair = {.kind = SASS_REG, .reg = to->reg};
    bulk.to = bulk_at(sass_raw(s, &pair, 0), PTX_SHARED_CLUSTER);
    bulk.barrier = bulk_at(sass_raw(s, &pair, 1), PTX_SHARED_CLUSTER);
    bulk.size = bulk.reduces && bytes == 8 ? 8 : 4;
    bulk.elements = (uint8_t)(bytes / bulk.size);
    if (bulk.size == 8) bulk.value[0] = sass_pair(s, from);
    for (uint32_t k = 0; bulk.size == 4 && k < bulk.elements; k++)
        bulk.value[k] = sass_raw(s, from, k);
    const uint32_t slot = lower_slot(s->lower, SLOT_SHARED_ST);
    Inst *inst = sass_emit(s, op_store_async);
    inst->bulk = bulk;
    inst->slot = slot;
}

void sass_lower_stas(SassLower *s) {
    const uint32_t bytes = sass_take(s, SASS_MOD_128) ? 16 : sass_take(s, SASS_MOD_64) ? 8 : 4;
    store_async(s, (InstBulk){.reduces = false}, bytes);
}

void sass_lower_redas(SassLower *s) {
    InstBulk bulk = {.reduces = false};
    take_reduction(s, &bulk);
    store_async(s, bulk, ptx_type_bytes(bulk.type));
}

void sass_lower_fence(SassLower *s) {
    sass_take(s, SASS_MOD_VIEW_ASYNC_S);
    Inst *inst = sass_emit(s, op_fence);
    inst->fence = FENCE_PROXY_ASYNC;
}

// LDGSTS: to, from, p. Where p is false, the lane reads nothing and stores zeros.
void sass_lower_ldgsts(SassLower *s) {
    const SassOperand *to = &s->inst->operands[0], *from = &s->inst->operands[1];
    const SassOperand address = {.kind = SASS_REG, .reg = from->reg};
    const bool bypass = sass_take(s, SASS_MOD_BYPASS);
    sass_take_hints(s);
    const uint8_t words = sass_take(s, SASS_MOD_128) ? 4 : sass_take(s, SASS_MOD_64) ? 2 : 1;
    const uint32_t base = sass_within_block(s, sass_register(s, to->reg));
    InstCopy copy = {from->value, sass_pair(s, &address), PTX_NONE, PTX_NONE, bypass};
    if (!sass_is_true(s, 2)) {
        copy.ignored = sass_temp(s, REGISTER_PRED);
        sass_row(s, "not.pred", copy.ignored, sass_predicate(s, 2), 0, 0);
    }
    const uint32_t slot = lower_slot(s->lower, SLOT_GLOBAL_LD);
    Inst *inst = sass_emit(s, op_copy_async);
    inst->memory = (InstMemory){to->value, base, PTX_SHARED, 4, words, false};
    inst->copy = copy;
    inst->access = ACCESS_COPY;
    inst->slot = slot;
}

// Closes a group of the copies so far, for which DEPBAR waits. Here copies are done at once.
void sass_lower_ldgdepbar(SassLower *s) { sass_emit(s, op_group)->group = (InstGroup){0}; }

void sass_lower_flush(SassLower *s) { sass_emit(s, op_group)->group = (InstGroup){.bulk = true}; }

// scoreboard, the number of groups that may still be in flight
void sass_lower_depbar(SassLower *s) {
    if (!sass_take(s, SASS_MOD_LE)) sass_refuse(s, "unsupported form of wait");
    const InstGroup group = {.pending = (uint32_t)s->inst->operands[1].value, .waits = true};
    sass_emit(s, op_group)->group = group;
}
