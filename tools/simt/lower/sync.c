// Lowers warp-wide instructions, barriers and fences.
#include <string.h>

#include "simt/lower/lower.h"

static const InstSync nothing = {.d = PTX_NONE, .predicate = PTX_NONE};

// Takes .sync and one of these modifiers.
static uint32_t take_mode(Lower *lower, const Choice *modes) {
    if (!lower_take(lower, PTX_MOD_SYNC)) lower_unknown(lower); // required since sm_70
    return lower_choice(lower, modes);
}

static void emit_sync(Lower *lower, Op *op, const InstSync *sync) {
    Inst *inst = lower_emit(lower, op);
    inst->sync = *sync;
    inst->access = ACCESS_SYNC;
}

void lower_shfl(Lower *lower) {
    static const Choice modes[] = {{PTX_MOD_UP, SHUFFLE_UP},
                                   {PTX_MOD_DOWN, SHUFFLE_DOWN},
                                   {PTX_MOD_BFLY, SHUFFLE_BFLY},
                                   {PTX_MOD_IDX, SHUFFLE_IDX},
                                   {PTX_MOD_NONE, 0}};
    const PtxOperand *operands = lower->at->operands;
    InstSync sync = nothing;
    sync.shuffle = (ShuffleMode)take_mode(lower, modes);
    lower_all_taken(lower);
    lower_operands(lower, 5, 5);
    for (uint32_t k = 0; k < 3; k++)
        sync.value[k] = lower_source(lower, &operands[1 + k], REGISTER_32);
    sync.mask = lower_source(lower, &operands[4], REGISTER_32);
    sync.d = lower_dest(lower, &operands[0], REGISTER_32);
    sync.predicate = lower_second_dest(lower, &operands[0]);
    sync.class = REGISTER_32;
    emit_sync(lower, op_shuffle, &sync);
}

void lower_vote(Lower *lower) {
    static const Choice modes[] = {{PTX_MOD_ALL, VOTE_ALL},
                                   {PTX_MOD_ANY, VOTE_ANY},
                                   {PTX_MOD_UNI, VOTE_UNI},
                                   {PTX_MOD_BALLOT, VOTE_BALLOT},
                                   {PTX_MOD_NONE, 0}};
    const PtxOperand *operands = lower->at->operands;
    InstSync sync = nothing;
    sync.vote = (VoteMode)take_mode(lower, modes);
    lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 3, 3);
    sync.value[0] = lower_source(lower, &operands[1], REGISTER_PRED);
    sync.mask = lower_source(lower, &operands[2], REGISTER_32);
    if (sync.vote == VOTE_BALLOT)
        sync.d = lower_dest(lower, &operands[0], REGISTER_32);
    else
        sync.predicate = lower_dest(lower, &operands[0], REGISTER_PRED);
    sync.class = REGISTER_PRED;
    emit_sync(lower, op_vote, &sync);
}

void lower_match(Lower *lower) {
    static const Choice modes[] = {
        {PTX_MOD_ANY, MATCH_ANY}, {PTX_MOD_ALL, MATCH_ALL}, {PTX_MOD_NONE, 0}};
    const PtxOperand *operands = lower->at->operands;
    InstSync sync = nothing;
    sync.match = (MatchMode)take_mode(lower, modes);
    sync.class = register_class(lower_take_type(lower));
    lower_all_taken(lower);
    lower_operands(lower, 3, 3);
    sync.value[0] = lower_source(lower, &operands[1], sync.class);
    sync.mask = lower_source(lower, &operands[2], REGISTER_32);
    sync.d = lower_dest(lower, &operands[0], REGISTER_32);
    if (sync.match == MATCH_ALL) sync.predicate = lower_second_dest(lower, &operands[0]);
    emit_sync(lower, op_match, &sync);
}

void lower_redux(Lower *lower) {
    static const Choice modes[] = {
        {PTX_MOD_ADD, REDUCE_ADD}, {PTX_MOD_MIN, REDUCE_MIN_U}, {PTX_MOD_MAX, REDUCE_MAX_U},
        {PTX_MOD_AND, REDUCE_AND}, {PTX_MOD_OR, REDUCE_OR},     {PTX_MOD_XOR, REDUCE_XOR},
        {PTX_MOD_NONE, 0}};
    const PtxOperand *operands = lower->at->operands;
    InstSync sync = nothing;
    sync.reduce = (ReduceMode)take_mode(lower, modes);
    PtxType type = lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 3, 3);
    if (type != PTX_U32 && type != PTX_S32 && type != PTX_B32) lower_unknown(lower);
    if (type == PTX_S32 && sync.reduce == REDUCE_MIN_U) sync.reduce = REDUCE_MIN_S;
    if (type == PTX_S32 && sync.reduce == REDUCE_MAX_U) sync.reduce = REDUCE_MAX_S;
    sync.value[0] = lower_source(lower, &operands[1], REGISTER_32);
    sync.mask = lower_source(lower, &operands[2], REGISTER_32);
    sync.d = lower_dest(lower, &operands[0], REGISTER_32);
    sync.class = REGISTER_32;
    emit_sync(lower, op_reduce, &sync);
}

// In `_|%p1` the leader's number is not written.
void lower_elect(Lower *lower) {
    if (!lower_take(lower, PTX_MOD_SYNC)) lower_unknown(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 2);
    const PtxOperand *operands = lower->at->operands;
    InstSync sync = nothing;
    sync.mask = lower_source(lower, &operands[1], REGISTER_32);
    sync.d = lower_wanted(lower, &operands[0], REGISTER_32);
    sync.predicate = lower_second_dest(lower, &operands[0]);
    emit_sync(lower, op_elect, &sync);
}

static void lower_warp_barrier(Lower *lower) {
    lower_take(lower, PTX_MOD_SYNC);
    lower_all_taken(lower);
    lower_operands(lower, 1, 1);
    InstSync sync = nothing;
    const PtxOperand *mask = &lower->at->operands[0];
    sync.mask = lower_source(lower, mask, REGISTER_32);
    lower->code->partial |= mask->kind != PTX_OPERAND_INT || (uint32_t)mask->integer != UINT32_MAX;
    emit_sync(lower, op_warp_barrier, &sync);
}

// The barrier of `number{, threads}{, predicate}` from operand `first` on; only bar.red has the
// predicate.
static InstBarrier block_barrier(Lower *lower, uint32_t first, bool reduces) {
    const PtxInst *at = lower->at;
    InstBarrier barrier = {.threads = PTX_NONE, .predicate = PTX_NONE};
    barrier.number = lower_source(lower, &at->operands[first], REGISTER_32);
    if (at->operand_count - reduces > first + 1)
        barrier.threads = lower_source(lower, &at->operands[first + 1], REGISTER_32);
    lower->code->partial |= barrier.threads != PTX_NONE;
    if (reduces)
        barrier.predicate =
            lower_source(lower, &at->operands[at->operand_count - 1], REGISTER_PRED);
    return barrier;
}

// bar.red d, number{, threads}, predicate
static void lower_barrier_reduction(Lower *lower) {
    static const Choice modes[] = {{PTX_MOD_POPC, BARRIER_POPC},
                                   {PTX_MOD_AND, BARRIER_AND},
                                   {PTX_MOD_OR, BARRIER_OR},
                                   {PTX_MOD_NONE, 0}};
    BarrierMode mode = (BarrierMode)lower_choice(lower, modes);
    lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 3, 4);
    InstBarrier barrier = block_barrier(lower, 1, true);
    RegisterClass class = mode == BARRIER_POPC ? REGISTER_32 : REGISTER_PRED;
    uint32_t d = lower_dest(lower, &lower->at->operands[0], class);
    uint32_t slot = lower_slot(lower, SLOT_BARRIER);
    Inst *inst = lower_emit(lower, op_barrier);
    inst->barrier = barrier;
    inst->slot = slot;
    lower_emit(lower, op_barrier_result)->barrier_result = (InstBarrierResult){d, mode};
}

// Whether the wait follows immediately, so that this is a barrier of the whole cluster.
static bool waits_at_once(const Lower *lower) {
    const PtxFunction *function = lower->function;
    const PtxInst *next = lower->at + 1;
    return next < function->insts + function->inst_count && next->opcode == OPCODE_BARRIER &&
           ptx_has(next, PTX_MOD_CLUSTER) && ptx_has(next, PTX_MOD_WAIT);
}

// barrier.cluster.arrive{.release, .relaxed}, .wait{.acquire}. The default is .release or .acquire.
static void lower_cluster_barrier(Lower *lower) {
    const bool arrives = lower_take(lower, PTX_MOD_ARRIVE);
    if (!arrives && !lower_take(lower, PTX_MOD_WAIT)) lower_unknown(lower);
    const bool relaxed = arrives && lower_take(lower, PTX_MOD_RELAXED);
    if (!relaxed) lower_take(lower, arrives ? PTX_MOD_RELEASE : PTX_MOD_ACQUIRE);
    lower_all_taken(lower);
    lower_operands(lower, 0, 0);
    Inst *inst = lower_emit(lower, arrives ? op_cluster_arrive : op_cluster_wait);
    inst->scope = SCOPE_CLUSTER;
    inst->order = relaxed ? ORDER_RELAXED : arrives ? ORDER_RELEASE : ORDER_ACQUIRE;
    lower->code->partial |= relaxed || (arrives && !waits_at_once(lower));
}

// mapa{.shared::cluster}.type d, a, rank; getctarank{.shared::cluster}.type d, a
static RegisterClass take_cluster_address(Lower *lower) {
    const bool within = lower_take(lower, PTX_MOD_SHARED_CLUSTER);
    const PtxType type = lower_take_type(lower);
    lower_all_taken(lower);
    if (type != PTX_U64 && (type != PTX_U32 || !within)) lower_unknown(lower);
    return register_class(type);
}

void lower_mapa(Lower *lower) {
    const RegisterClass class = take_cluster_address(lower);
    const PtxOperand *operands = lower->at->operands;
    lower_operands(lower, 3, 3);
    const uint32_t r[] = {lower_dest(lower, &operands[0], class),
                          lower_source(lower, &operands[1], class),
                          lower_source(lower, &operands[2], REGISTER_32)};
    Inst *inst = lower_emit(lower, class == REGISTER_64 ? op_map_rank_wide : op_map_rank);
    memcpy(inst->r, r, sizeof r);
}

void lower_getctarank(Lower *lower) {
    const RegisterClass class = take_cluster_address(lower);
    const PtxOperand *operands = lower->at->operands;
    lower_operands(lower, 2, 2);
    const uint32_t r[] = {lower_dest(lower, &operands[0], REGISTER_32),
                          lower_source(lower, &operands[1], class)};
    Inst *inst = lower_emit(lower, class == REGISTER_64 ? op_get_rank_wide : op_get_rank);
    memcpy(inst->r, r, sizeof r);
}

// bar.sync, bar.arrive, bar.red, also as barrier[.cta]; bar.warp.sync; barrier.cluster.
void lower_bar(Lower *lower) {
    if (lower_take(lower, PTX_MOD_CLUSTER)) {
        lower_cluster_barrier(lower);
        return;
    }
    if (lower_take(lower, PTX_MOD_WARP)) {
        lower_warp_barrier(lower);
        return;
    }
    if (lower_take(lower, PTX_MOD_RED)) {
        lower_barrier_reduction(lower);
        return;
    }
    bool arrives = lower_take(lower, PTX_MOD_ARRIVE);
    if (!arrives && !lower_take(lower, PTX_MOD_SYNC)) lower_unknown(lower);
    lower_all_taken(lower);
    lower_operands(lower, arrives ? 2 : 1, 2);
    InstBarrier barrier = block_barrier(lower, 0, false);
    uint32_t slot = lower_slot(lower, SLOT_BARRIER);
    Inst *inst = lower_emit(lower, arrives ? op_barrier_arrive : op_barrier);
    inst->barrier = barrier;
    inst->slot = slot;
}

// The kind of a fence: of memory, fence.proxy.async{.space}, fence.mbarrier_init.release.cluster,
// or of another proxy, which has no effect here.
static FenceKind take_fence_kind(Lower *lower) {
    if (lower_take(lower, PTX_MOD_MBARRIER_INIT)) return FENCE_MBARRIER_INIT;
    if (!lower_take(lower, PTX_MOD_PROXY)) return FENCE_MEMORY;
    const bool async = lower_take(lower, PTX_MOD_ASYNC) || lower_take(lower, PTX_MOD_ASYNC_GENERIC);
    return async ? FENCE_PROXY_ASYNC : FENCE_PROXY;
}

// fence.acq_rel.gpu, membar.gl (a synonym of fence.sc.gpu).
void lower_fence(Lower *lower) {
    static const Choice orders[] = {
        {PTX_MOD_ACQUIRE, ORDER_ACQUIRE}, {PTX_MOD_RELEASE, ORDER_RELEASE}, {PTX_MOD_NONE, 0}};
    uint32_t order = ORDER_ACQUIRE | ORDER_RELEASE;
    const FenceKind kind = take_fence_kind(lower);
    lower_take_choice(lower, orders, &order);
    Scope scope = lower_take_scope(lower);
    Inst *inst = lower_emit(lower, op_fence);
    inst->fence = kind;
    inst->order = kind == FENCE_MEMORY ? (uint8_t)order : 0;
    lower->code->partial |= kind == FENCE_MEMORY;
    inst->scope = scope;
}

// griddepcontrol.launch_dependents, .wait
void lower_griddepcontrol(Lower *lower) {
    const bool waits = lower_take(lower, PTX_MOD_WAIT);
    if (!waits && !lower_take(lower, PTX_MOD_LAUNCH_DEPENDENTS)) lower_unknown(lower);
    lower_all_taken(lower);
    lower_emit(lower, waits ? op_grid_wait : op_nothing);
}

void lower_activemask(Lower *lower) {
    lower_operands(lower, 1, 1);
    uint32_t d = lower_dest(lower, &lower->at->operands[0], REGISTER_32);
    lower_emit(lower, op_activemask)->r[0] = d;
}
