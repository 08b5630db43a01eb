// Lowers instructions of control flow, and those that the lanes of a warp or the threads of a block
// execute together.
#include "simt/sass/lower.h"

static uint32_t guard_predicate(const SassLower *s) {
    const uint32_t first = s->inst->guard_uniform ? s->uniform_predicates : s->predicates;
    return first + 4u * s->inst->guard;
}

// The lanes that branch: those for which the guard and the predicate, operand `index`, are true.
static InstBranch branch_if(SassLower *s, uint32_t index) {
    const SassInst *inst = s->inst;
    InstBranch branch = {.predicate = PTX_NONE, .merges = {NULL, 0}};
    const bool guarded = inst->guard != SASS_PT, more = !sass_is_true(s, index);
    if (guarded) {
        branch.predicate = guard_predicate(s);
        branch.negated = inst->guard_negated;
    }
    if (!more) return branch;
    const uint32_t predicate = sass_predicate(s, index);
    if (!guarded) {
        branch.predicate = predicate;
        return branch;
    }
    const uint32_t both = sass_temp(s, REGISTER_PRED);
    if (branch.negated)
        sass_row(s, "not.pred", both, branch.predicate, 0, 0);
    else
        sass_row(s, "mov.pred", both, branch.predicate, 0, 0);
    sass_row(s, "and.pred", both, both, predicate, 0);
    return (InstBranch){.predicate = both, .merges = {NULL, 0}};
}

// BRA.DIV: all lanes branch if a lane that the register names is not active, or if the guard
// excludes one. The compiler's guard is whether a lane names the same lanes as the first one does.
static void branch_if_divided(SassLower *s) {
    const uint32_t divided = sass_temp(s, REGISTER_PRED);
    const uint32_t here = s->inst->guard == SASS_PT
                              ? lower_constant(s->lower, REGISTER_PRED, UINT32_MAX)
                              : sass_guard(s);
    sass_row(s, "sass.divided", divided, sass_raw(s, &s->inst->operands[0], 0), here, 0);
    sass_emit(s, op_branch_any)->branch = (InstBranch){.predicate = divided};
    sass_jump(s, s->inst->operands[2].value);
}

// BRA: register of .DIV, predicate, label
void sass_lower_bra(SassLower *s) {
    const uint64_t target = s->inst->operands[2].value;
    const bool any = sass_take(s, SASS_MOD_ANY);
    const bool uniform = sass_take(s, SASS_MOD_U);
    if (sass_take(s, SASS_MOD_DIV)) {
        branch_if_divided(s);
        return;
    }
    const InstBranch branch = branch_if(s, 1);
    if (branch.predicate == PTX_NONE) {
        sass_emit(s, op_jump)->branch = branch;
    } else {
        const uint32_t slot = lower_slot(s->lower, SLOT_BRANCH);
        Inst *inst = sass_emit(s, any ? op_branch_any : uniform ? op_branch_all : op_branch_lanes);
        inst->branch = branch;
        inst->slot = slot;
    }
    sass_jump(s, target);
}

// Emits an instruction for the lanes for which its guard and its first operand are true.
static Inst *emit_for_both(SassLower *s, Op *run) {
    const InstBranch lanes = branch_if(s, 0);
    const bool all = lanes.predicate == PTX_NONE;
    if (!all) sass_emit(s, op_guard)->guard = (InstGuard){lanes.predicate, lanes.negated, 3};
    const size_t at = s->lower->count;
    sass_emit(s, run);
    if (!all) sass_emit(s, op_unguard);
    return &s->lower->insts[at];
}

void sass_lower_exit(SassLower *s) { emit_for_both(s, op_exit); }

void sass_lower_trap(SassLower *s) {
    sass_take(s, SASS_MOD_TRAP);
    sass_emit(s, op_trap);
}

// --- convergence ---

// BSSY: barrier, label. The label is not needed: lanes continue after the BSYNC at which they wait.
void sass_lower_bssy(SassLower *s) {
    const uint32_t barrier = sass_barrier(s, s->inst->operands[0].reg);
    sass_emit(s, op_converge_begin)->converge = (InstConverge){PTX_NONE, barrier};
}

void sass_lower_bsync(SassLower *s) {
    if (!sass_is_true(s, 0) || s->inst->guard != SASS_PT) sass_refuse(s, "unsupported predicate");
    const uint32_t barrier = sass_barrier(s, s->inst->operands[1].reg);
    sass_emit(s, op_converge)->converge = (InstConverge){PTX_NONE, barrier};
}

void sass_lower_yield(SassLower *s) {
    if (!sass_is_true(s, 0)) sass_refuse(s, "unsupported predicate");
    sass_emit(s, op_converge_yield);
}

// BREAK: predicate, barrier. Lanes for which guard and predicate are true leave the barrier.
void sass_lower_break(SassLower *s) {
    const uint32_t barrier = sass_barrier(s, s->inst->operands[1].reg);
    emit_for_both(s, op_converge_break)->converge = (InstConverge){PTX_NONE, barrier};
}

// The lanes whose mask differs from the first lane's.
static uint32_t lanes_that_differ(SassLower *s, uint32_t mask) {
    const uint32_t first = sass_temp(s, REGISTER_32), others = sass_temp(s, REGISTER_PRED);
    sass_row(s, "sass.first", first, mask, 0, 0);
    sass_row(s, "setp.ne.u32", others, mask, first, 0);
    return others;
}

// These lanes execute the instruction again, without the lanes that the first one names. Hardware
// counts each time as a divergent branch. Groups that have split may merge again while they wait
// for their turn: then they split again.
static void split_by_mask(SassLower *s, uint32_t mask) {
    if (s->inst->guard != SASS_PT) sass_refuse(s, "unsupported guard predicate");
    const uint32_t others = lanes_that_differ(s, mask);
    const uint32_t slot = lower_slot(s->lower, SLOT_BRANCH);
    Inst *inst = sass_emit(s, op_branch_lanes);
    inst->branch = (InstBranch){.predicate = others, .merges = {NULL, 0}};
    inst->slot = slot;
    sass_jump(s, s->inst->at);
    const uint32_t still = lanes_that_differ(s, mask);
    sass_emit(s, op_branch_any)->branch = (InstBranch){.predicate = still};
    sass_jump(s, s->inst->at);
}

// WARPSYNC: mask, label of a collective. Up to ENDCOLLECTIVE, lanes with the same mask execute as
// one path.
void sass_lower_warpsync(SassLower *s) {
    bool apart = sass_take(s, SASS_MOD_COLLECTIVE);
    apart |= sass_take(s, SASS_MOD_EXCLUSIVE);
    const bool named = s->inst->operands[0].kind == SASS_REG;
    sass_take(s, SASS_MOD_ALL);
    const uint32_t mask = named ? sass_source(s, 0) : sass_constant(s, UINT32_MAX);
    if (apart && named) split_by_mask(s, mask);
    sass_emit(s, op_converge_named)->converge = (InstConverge){mask, PTX_NONE};
}

// BMOV: register, barrier or barrier, register: copies the lanes for which the barrier waits. A
// function saves the barriers that its caller may use.
void sass_lower_bmov(SassLower *s) {
    const bool saves = s->inst->operands[0].kind == SASS_REG;
    const uint32_t barrier = sass_barrier(s, s->inst->operands[saves].reg);
    sass_take(s, SASS_MOD_32);
    const uint32_t reg = saves ? sass_dest(s, 0, 0) : sass_source(s, 1);
    Inst *inst = sass_emit(s, saves ? op_barrier_save : op_barrier_restore);
    inst->r[0] = saves ? reg : barrier;
    inst->r[1] = saves ? barrier : reg;
    if (sass_take(s, SASS_MOD_CLEAR)) sass_emit(s, op_barrier_clear)->r[0] = barrier;
}

// --- calls: the return address is in registers ---

// LEPC: d, label: the label's address, 64 bits
void sass_lower_lepc(SassLower *s) {
    const uint64_t at = s->inst->operands[1].value;
    sass_row(s, "mov.b32", sass_dest(s, 0, 0), sass_constant(s, (uint32_t)at), 0, 0);
    sass_row(s, "mov.b32", sass_dest(s, 0, 1), sass_constant(s, (uint32_t)(at >> 32)), 0, 0);
}

// Jumps to the first lane's value of the register plus `plus`. Lanes with another value execute the
// instruction again.
static void jump_to_register(SassLower *s, uint64_t plus) {
    const uint32_t address = sass_source(s, 0);
    const uint32_t slot = lower_slot(s->lower, SLOT_BRANCH);
    Inst *inst = sass_emit(s, op_jump_register);
    inst->indirect =
        (InstIndirect){.targets = s->targets, .plus = plus, .address = address, .count = s->count};
    inst->slot = slot;
    sass_emit(s, op_jump)->branch = (InstBranch){.predicate = PTX_NONE};
    sass_jump(s, s->inst->at);
}

// --- built-in functions ---

enum { FIRST_ARGUMENT = 4, MOST_ARGUMENTS = 4 }; // two registers each, from R4 on

static void copy_result(SassLower *s, const BuiltIn *function, uint32_t from) {
    const bool wide = str_equal(function->name, STR("malloc"));
    sass_row(s, "sass.low", sass_register(s, FIRST_ARGUMENT), from, 0, 0);
    if (wide) sass_row(s, "sass.high", sass_register(s, FIRST_ARGUMENT + 1), from, 0, 0);
}

// Calls this function for the lanes that have its address, and removes them from `others`.
static void call_built_in(SassLower *s, size_t index, uint32_t address, uint32_t others,
                          uint32_t *arguments) {
    const BuiltIn *function = lower_built_in(s->module->outside[index]);
    if (!function) return;
    Lower *lower = s->lower;
    const uint32_t own = sass_temp(s, REGISTER_PRED);
    CallSite *site = ARENA_NEW(lower->arena, 1, CallSite);
    *site = (CallSite){.caller = lower->code,
                       .arguments = arguments,
                       .results = ARENA_NEW(lower->arena, 1, uint32_t),
                       .argument_count = function->count,
                       .result_count = 1,
                       .stride = sizeof(uint64_t)};
    site->results[0] = sass_temp(s, REGISTER_64);
    sass_row(s, "setp.eq.u64", own, address,
             lower_constant(lower, REGISTER_64, sass_outside(index)), 0);
    const size_t guard = lower->count;
    sass_emit(s, op_guard)->guard = (InstGuard){own, false, 0};
    sass_row(s, "mov.b64", site->results[0], lower_constant(lower, REGISTER_64, 0), 0, 0);
    sass_emit(s, function->run)->call.site = site;
    copy_result(s, function, site->results[0]);
    sass_emit(s, op_unguard);
    lower->insts[guard].guard.skip = (uint32_t)(lower->count - guard);
    sass_row(s, "not.pred", own, own, 0, 0);
    sass_row(s, "and.pred", others, others, own, 0);
    lower->code->ordered |= function->ordered;
}

// CALL.ABS: a pair of registers. The function returns to the instruction after the call.
static void call_outside(SassLower *s) {
    if (s->inst->guard != SASS_PT) sass_refuse(s, "unsupported guard predicate");
    const uint32_t address = sass_pair(s, &s->inst->operands[0]);
    const uint32_t others = sass_temp(s, REGISTER_PRED);
    uint32_t *arguments = ARENA_NEW(s->lower->arena, MOST_ARGUMENTS, uint32_t);
    for (uint32_t k = 0; k < MOST_ARGUMENTS; k++) {
        const SassOperand pair = {.kind = SASS_REG, .reg = (uint8_t)(FIRST_ARGUMENT + 2 * k)};
        arguments[k] = sass_pair(s, &pair);
    }
    sass_row(s, "mov.pred", others, lower_constant(s->lower, REGISTER_PRED, UINT32_MAX), 0, 0);
    for (size_t k = 0; k < s->module->outside_count; k++)
        call_built_in(s, k, address, others, arguments);
    sass_emit(s, op_guard)->guard = (InstGuard){others, false, 3};
    sass_emit(s, op_call_nowhere)->outside =
        (InstOutside){address, (uint32_t)s->module->outside_count, s->module->outside};
    sass_emit(s, op_unguard);
}

// CALL: label, or register and summand
void sass_lower_call(SassLower *s) {
    if (sass_take(s, SASS_MOD_ABS)) {
        sass_take(s, SASS_MOD_NOINC);
        call_outside(s);
        return;
    }
    sass_take(s, SASS_MOD_REL), sass_take(s, SASS_MOD_NOINC);
    if (s->inst->operands[0].kind == SASS_REG) {
        jump_to_register(s, s->inst->operands[1].value);
        return;
    }
    sass_emit(s, op_jump)->branch = (InstBranch){.predicate = PTX_NONE};
    sass_jump(s, s->inst->operands[0].value);
}

// RET: register, summand
void sass_lower_ret(SassLower *s) {
    sass_take(s, SASS_MOD_REL), sass_take(s, SASS_MOD_NODEC);
    jump_to_register(s, s->inst->operands[1].value);
}

// BRX: register, summand, counted from the next instruction
void sass_lower_brx(SassLower *s) {
    jump_to_register(s, s->inst->at + SASS_BYTES + s->inst->operands[1].value);
}

// --- warps ---

// The active lanes: an instruction that they execute together waits for no others.
static uint32_t lanes_here(SassLower *s) {
    const uint32_t mask = sass_temp(s, REGISTER_32);
    sass_emit(s, op_activemask)->r[0] = mask;
    return mask;
}

static void emit_sync(SassLower *s, Op *run, InstSync sync) {
    Inst *inst = sass_emit(s, run);
    inst->sync = sync;
    inst->access = ACCESS_SYNC;
}

// SHFL: p, d, a, lane, bounds
void sass_lower_shfl(SassLower *s) {
    static const ShuffleMode modes[] = {SHUFFLE_IDX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY};
    const uint32_t how = sass_listed(s, LIST_SHFL);
    if (how > 3) sass_refuse(s, "unknown shuffle mode");
    InstSync sync = {.d = sass_dest(s, 1, 0),
                     .predicate = sass_wanted(s, 0),
                     .shuffle = modes[how],
                     .class = REGISTER_32,
                     .mask = lanes_here(s)};
    for (uint32_t k = 0; k < 3; k++) sync.value[k] = sass_source(s, 2 + k);
    emit_sync(s, op_shuffle, sync);
}

// VOTE, VOTEU: d, p, q: d are the lanes in which q is true; p says whether these are all, or any
void sass_lower_vote(SassLower *s) {
    static const VoteMode modes[] = {VOTE_ALL, VOTE_ANY, VOTE_UNI};
    const uint32_t how = sass_listed(s, LIST_VOTE), p = sass_wanted(s, 1);
    if (how > 2) sass_refuse(s, "unknown vote mode");
    InstSync sync = {.d = PTX_NONE,
                     .predicate = PTX_NONE,
                     .class = REGISTER_PRED,
                     .value = {sass_predicate(s, 2)},
                     .mask = lanes_here(s)};
    if (!sass_is_zero(&s->inst->operands[0])) {
        sync.d = sass_dest(s, 0, 0);
        sync.vote = VOTE_BALLOT;
        emit_sync(s, op_vote, sync);
    }
    if (p == PTX_NONE) return;
    sync.d = PTX_NONE;
    sync.predicate = p;
    sync.vote = modes[how];
    emit_sync(s, op_vote, sync);
}

// REDUX: d, a
void sass_lower_redux(SassLower *s) {
    static const ReduceMode modes[] = {REDUCE_AND, REDUCE_OR,    REDUCE_XOR,
                                       REDUCE_ADD, REDUCE_MIN_U, REDUCE_MAX_U};
    const bool is_signed = sass_take(s, SASS_MOD_S32);
    const uint32_t how = sass_listed(s, LIST_REDUX);
    InstSync sync = {.d = sass_dest(s, 0, 0),
                     .predicate = PTX_NONE,
                     .reduce = modes[how],
                     .class = REGISTER_32,
                     .value = {sass_source(s, 1)},
                     .mask = lanes_here(s)};
    if (is_signed && sync.reduce == REDUCE_MIN_U) sync.reduce = REDUCE_MIN_S;
    if (is_signed && sync.reduce == REDUCE_MAX_U) sync.reduce = REDUCE_MAX_S;
    emit_sync(s, op_reduce, sync);
}

// MATCH: p, d, a: the lanes with the same value; .ALL: all lanes, if all have the same
void sass_lower_match(SassLower *s) {
    const bool all = sass_take(s, SASS_MOD_ALL), wide = sass_take(s, SASS_MOD_U64);
    sass_take(s, SASS_MOD_ANY);
    const SassOperand *a = &s->inst->operands[2];
    InstSync sync = {.d = sass_dest(s, 1, 0),
                     .predicate = sass_wanted(s, 0),
                     .match = all ? MATCH_ALL : MATCH_ANY,
                     .class = wide ? REGISTER_64 : REGISTER_32,
                     .mask = lanes_here(s)};
    sync.value[0] = wide ? sass_pair(s, a) : sass_source(s, 2);
    emit_sync(s, op_match, sync);
}

uint32_t sass_first_lane(SassLower *s) {
    const uint32_t p = sass_temp(s, REGISTER_PRED);
    const InstSync sync = {
        .d = PTX_NONE, .predicate = p, .class = REGISTER_32, .mask = lanes_here(s)};
    emit_sync(s, op_elect, sync);
    return p;
}

// ELECT: p, d, q
void sass_lower_elect(SassLower *s) {
    if (!sass_is_true(s, 2)) sass_refuse(s, "unsupported predicate");
    InstSync sync = {.d = sass_dest(s, 1, 0),
                     .predicate = sass_wanted(s, 0),
                     .class = REGISTER_32,
                     .mask = lanes_here(s)};
    emit_sync(s, op_elect, sync);
}

// --- blocks ---

static uint32_t found(SassLower *s, bool predicate) {
    uint32_t *at = &s->found[predicate];
    if (*at == PTX_NONE) *at = lower_reserve(s->lower, predicate ? FRAME_ALIGN : LANES * 4);
    return *at;
}

static void emit_barrier(SassLower *s, Op *run, InstBarrier barrier) {
    const uint32_t slot = lower_slot(s->lower, SLOT_BARRIER);
    Inst *inst = sass_emit(s, run);
    inst->barrier = barrier;
    inst->slot = slot;
}

// BAR.RED: number, threads, p. The block's result is saved for B2R.
static void reduce_barrier(SassLower *s, InstBarrier barrier) {
    static const BarrierMode modes[] = {BARRIER_POPC, BARRIER_AND, BARRIER_OR};
    const uint32_t how = sass_listed(s, LIST_BARRED);
    if (how > 2) sass_refuse(s, "unsupported form of match");
    barrier.predicate = sass_predicate(s, s->inst->operand_count - 1);
    emit_barrier(s, op_barrier, barrier);
    sass_emit(s, op_barrier_result)->barrier_result =
        (InstBarrierResult){found(s, how > 0), modes[how]};
}

// BAR: number, threads
void sass_lower_bar(SassLower *s) {
    const bool arrives = sass_take(s, SASS_MOD_ARV);
    sass_take(s, SASS_MOD_SYNC), sass_take(s, SASS_MOD_DEFER_BLOCKING);
    InstBarrier barrier = {.number = sass_source(s, 0), .threads = PTX_NONE, .predicate = PTX_NONE};
    const bool reduces = sass_take(s, SASS_MOD_RED);
    if (s->inst->operand_count > 1u + reduces) barrier.threads = sass_source(s, 1);
    if (reduces)
        reduce_barrier(s, barrier);
    else
        emit_barrier(s, arrives ? op_barrier_arrive : op_barrier, barrier);
}

// B2R.RESULT: d, p: the result of the last BAR.RED, in one of them
void sass_lower_b2r(SassLower *s) {
    sass_take(s, SASS_MOD_RESULT);
    const uint32_t p = sass_wanted(s, 1);
    if (p != PTX_NONE) sass_row(s, "mov.pred", p, found(s, true), 0, 0);
    if (!sass_is_zero(&s->inst->operands[0]))
        sass_row(s, "mov.b32", sass_dest(s, 0, 0), found(s, false), 0, 0);
}

// NANOSLEEP yields like YIELD (counted on an H200).
void sass_lower_nanosleep(SassLower *s) {
    sass_emit(s, op_converge_yield);
    sass_emit(s, op_nanosleep);
}

void sass_lower_grid_wait(SassLower *s) { sass_emit(s, op_grid_wait); }

static void cluster_barrier(SassLower *s, Op *run, uint8_t order) {
    Inst *inst = sass_emit(s, run);
    inst->scope = SCOPE_CLUSTER;
    inst->order = order;
}

void sass_lower_cluster_arrive(SassLower *s) {
    cluster_barrier(s, op_cluster_arrive, ORDER_RELEASE);
}

void sass_lower_cluster_wait(SassLower *s) { cluster_barrier(s, op_cluster_wait, ORDER_ACQUIRE); }
