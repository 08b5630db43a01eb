// Lowers cp.async.bulk, cp.reduce.async.bulk, st.async and red.async.
#include "simt/lower/lower.h"

static const Choice operations[] = {
    {PTX_MOD_ADD, ATOMIC_ADD}, {PTX_MOD_MIN, ATOMIC_MIN}, {PTX_MOD_MAX, ATOMIC_MAX},
    {PTX_MOD_INC, ATOMIC_INC}, {PTX_MOD_DEC, ATOMIC_DEC}, {PTX_MOD_AND, ATOMIC_AND},
    {PTX_MOD_OR, ATOMIC_OR},   {PTX_MOD_XOR, ATOMIC_XOR}, {PTX_MOD_NONE, 0},
};

static BulkAddress bulk_address(Lower *lower, const PtxOperand *operand, PtxSpace space) {
    const MemoryForm form = {.space = space, .elements = 1, .type = PTX_B64};
    const InstMemory memory = lower_memory(lower, operand, &form);
    const int64_t offset = (int64_t)memory.offset, limit = 1 << (BULK_OFFSET_BITS - 1);
    if (offset < -limit || offset >= limit)
        lower_fail(lower, "the offset of an address is too large");
    return (BulkAddress){.base = memory.base,
                         .offset = (uint32_t)offset & ((1u << BULK_OFFSET_BITS) - 1),
                         .space = (uint32_t)space & 0x7f,
                         .wide = memory.wide};
}

// Takes the first space that the opcode names and that is not yet taken.
static PtxSpace take_space(Lower *lower) {
    static const Choice spaces[] = {{PTX_MOD_GLOBAL, PTX_GLOBAL},
                                    {PTX_MOD_SHARED, PTX_SHARED},
                                    {PTX_MOD_SHARED_CTA, PTX_SHARED},
                                    {PTX_MOD_SHARED_CLUSTER, PTX_SHARED_CLUSTER},
                                    {PTX_MOD_NONE, 0}};
    return (PtxSpace)lower_next(lower, spaces);
}

static bool is_reduction(AtomicMode mode, PtxType type) {
    switch (type) {
    case PTX_U32:
        return mode <= ATOMIC_DEC;
    case PTX_S32:
    case PTX_U64:
    case PTX_S64:
        return mode <= ATOMIC_MAX;
    case PTX_B32:
    case PTX_B64:
        return mode >= ATOMIC_AND;
    case PTX_F16:
    case PTX_BF16:
    case PTX_F32:
    case PTX_F64:
        return mode == ATOMIC_ADD;
    default:
        return false;
    }
}

static void take_reduction(Lower *lower, InstBulk *bulk) {
    bulk->reduces = true;
    bulk->mode = (AtomicMode)lower_choice(lower, operations);
    lower_take(lower, PTX_MOD_NOFTZ);
    bulk->type = lower_take_type(lower);
    if (!is_reduction(bulk->mode, bulk->type)) lower_unknown(lower);
}

// cp.async.bulk.prefetch.L2.global: no effect, since execution has no caches.
static void lower_prefetch(Lower *lower) {
    if (!lower_take(lower, PTX_MOD_L2) || !lower_take(lower, PTX_MOD_GLOBAL)) lower_unknown(lower);
    lower_take(lower, PTX_MOD_L2_CACHE_HINT);
    lower_all_taken(lower);
    lower_operands(lower, 2, 3);
    lower_emit(lower, op_nothing);
}

static void lower_bulk_group(Lower *lower, bool waits) {
    InstGroup group = {.bulk = true, .waits = waits};
    group.read = waits && lower_take(lower, PTX_MOD_READ);
    lower_all_taken(lower);
    lower_operands(lower, waits, waits);
    if (waits && lower->at->operands[0].kind != PTX_OPERAND_INT) lower_unknown(lower);
    if (waits) group.pending = (uint32_t)lower->at->operands[0].integer;
    lower_emit(lower, op_group)->group = group;
}

// [to], [from], bytes{, [mbarrier]}{, ranks}{, policy}
static void lower_bulk_copy(Lower *lower, bool reduces) {
    const PtxInst *at = lower->at;
    InstBulk bulk = {.ranks = PTX_NONE};
    const PtxSpace to = take_space(lower), from = take_space(lower);
    const bool counted = lower_take(lower, PTX_MOD_MBARRIER_COMPLETE_TX_BYTES);
    if (!counted && !lower_take(lower, PTX_MOD_BULK_GROUP)) lower_unknown(lower);
    const bool ranks = lower_take(lower, PTX_MOD_MULTICAST_CLUSTER);
    const bool policy = lower_take(lower, PTX_MOD_L2_CACHE_HINT);
    if (reduces) take_reduction(lower, &bulk);
    lower_all_taken(lower);
    if ((to == PTX_GLOBAL) == counted || (ranks && from != PTX_GLOBAL)) lower_unknown(lower);
    if (from == PTX_SHARED_CLUSTER || (to == PTX_GLOBAL && from == PTX_GLOBAL))
        lower_unknown(lower);
    const uint32_t count = 3u + counted + ranks + policy;
    lower_operands(lower, count, count);
    bulk.to = bulk_address(lower, &at->operands[0], to);
    bulk.from = bulk_address(lower, &at->operands[1], from);
    bulk.bytes = lower_source(lower, &at->operands[2], REGISTER_32);
    if (counted) bulk.barrier = bulk_address(lower, &at->operands[3], PTX_SHARED_CLUSTER);
    if (ranks) bulk.ranks = lower_source(lower, &at->operands[4], REGISTER_16);
    const uint32_t slot = lower_slot(lower, SLOT_SHARED_ST);
    lower_slot(lower, SLOT_SHARED_LD);
    Inst *inst = lower_emit(lower, op_bulk);
    inst->bulk = bulk;
    inst->slot = slot;
    lower->code->partial = true;
    if (to == PTX_GLOBAL) lower->code->ordered |= reduces && ptx_type_is_float(bulk.type);
}

void lower_bulk(Lower *lower, bool reduces) {
    if (lower_take(lower, PTX_MOD_PREFETCH))
        lower_prefetch(lower);
    else if (lower_take(lower, PTX_MOD_COMMIT_GROUP))
        lower_bulk_group(lower, false);
    else if (lower_take(lower, PTX_MOD_WAIT_GROUP))
        lower_bulk_group(lower, true);
    else
        lower_bulk_copy(lower, reduces);
}

// st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.v2, .v4}.type [to], b, [mbarrier];
// red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.op.type likewise
void lower_store_async(Lower *lower, bool reduces) {
    static const Choice vectors[] = {{PTX_MOD_V2, 2}, {PTX_MOD_V4, 4}, {PTX_MOD_NONE, 0}};
    const PtxOperand *operands = lower->at->operands;
    InstBulk bulk = {0};
    uint32_t elements = 1;
    lower_take(lower, PTX_MOD_WEAK);
    if (reduces) lower_take(lower, PTX_MOD_RELAXED), lower_take(lower, PTX_MOD_CLUSTER);
    lower_take(lower, PTX_MOD_SHARED_CLUSTER);
    if (!lower_take(lower, PTX_MOD_MBARRIER_COMPLETE_TX_BYTES)) lower_unknown(lower);
    lower_take_choice(lower, vectors, &elements);
    if (reduces)
        take_reduction(lower, &bulk);
    else
        bulk.type = lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 3, 3);
    const RegisterClass class = register_class(bulk.type);
    bulk.size = (uint8_t)ptx_type_bytes(bulk.type);
    bulk.elements = (uint8_t)elements;
    if ((bulk.size != 4 && bulk.size != 8) || (reduces && elements > 1)) lower_unknown(lower);
    const PtxOperand *items = elements > 1 ? operands[1].items : &operands[1];
    if (elements > 1 && (operands[1].kind != PTX_OPERAND_VECTOR || operands[1].count != elements))
        lower_unknown(lower);
    for (uint32_t k = 0; k < elements; k++) bulk.value[k] = lower_source(lower, &items[k], class);
    bulk.to = bulk_address(lower, &operands[0], PTX_SHARED_CLUSTER);
    bulk.barrier = bulk_address(lower, &operands[2], PTX_SHARED_CLUSTER);
    const uint32_t slot = lower_slot(lower, SLOT_SHARED_ST);
    Inst *inst = lower_emit(lower, op_store_async);
    inst->bulk = bulk;
    inst->slot = slot;
}
