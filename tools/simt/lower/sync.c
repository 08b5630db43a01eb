// Warp-wide instructions, barriers, fences.
#include <string.h>

#include "simt/lower/lower.h"

static uint8_t take_one(Lower *lower, const char *const *names, uint32_t count) {
    for (uint32_t k = 0; k < count; k++)
        if (lower_take(lower, names[k])) return (uint8_t)k;
    lower_unknown(lower);
}

static uint32_t second_register(Lower *lower, const PtxOperand *operand) {
    if (operand->reg2 == PTX_NONE) return PTX_NONE;
    PtxOperand second = {.kind = PTX_OPERAND_REG, .reg = operand->reg2, .reg2 = PTX_NONE};
    return lower_dest(lower, &second, 'p');
}

// A warp-wide instruction of the lanes that the register `mask` names.
static Inst *emit_sync(Lower *lower, Op *op, const uint32_t *r, uint32_t count, uint32_t mask) {
    Inst *inst = lower_emit(lower, op);
    if (count) memcpy(inst->r, r, count * sizeof *r);
    inst->r[SYNC_MASK] = mask;
    inst->access = ACCESS_SYNC;
    return inst;
}

static void lower_shfl(Lower *lower) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    const PtxOperand *operands = lower->at->operands;
    bool sync = lower_take(lower, "sync");
    uint8_t mode = take_one(lower, modes, 4);
    lower_take(lower, "b32");
    lower_all_taken(lower);
    lower_operands(lower, sync ? 5 : 4, sync ? 5 : 4);
    if (!sync) lower_unknown(lower); // gone since sm_70
    uint32_t r[6];
    for (uint32_t k = 1; k < 5; k++) r[k] = lower_source(lower, &operands[k], 'w');
    r[0] = lower_dest(lower, &operands[0], 'w');
    r[5] = second_register(lower, &operands[0]);
    emit_sync(lower, op_shuffle, r, 6, r[SYNC_MASK])->mode = mode;
}

static void lower_vote(Lower *lower) {
    static const char *const modes[] = {"all", "any", "uni", "ballot"};
    const PtxOperand *operands = lower->at->operands;
    if (!lower_take(lower, "sync")) lower_unknown(lower);
    uint8_t mode = take_one(lower, modes, 4);
    lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 3, 3);
    uint32_t r[2];
    r[1] = lower_source(lower, &operands[1], 'p');
    uint32_t mask = lower_source(lower, &operands[2], 'w');
    r[0] = lower_dest(lower, &operands[0], mode == VOTE_BALLOT ? 'w' : 'p');
    emit_sync(lower, op_vote, r, 2, mask)->mode = mode;
}

static void lower_match(Lower *lower) {
    static const char *const modes[] = {"any", "all"};
    const PtxOperand *operands = lower->at->operands;
    if (!lower_take(lower, "sync")) lower_unknown(lower);
    uint8_t mode = take_one(lower, modes, 2);
    PtxType type = lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 3, 3);
    uint32_t r[3];
    r[1] = lower_source(lower, &operands[1], lower_type_letter(type));
    uint32_t mask = lower_source(lower, &operands[2], 'w');
    r[0] = lower_dest(lower, &operands[0], 'w');
    r[2] = second_register(lower, &operands[0]);
    Inst *inst = emit_sync(lower, op_match, r, 3, mask);
    inst->mode = mode;
    inst->bytes = (uint8_t)ptx_type_bytes(type);
}

static void lower_redux(Lower *lower) {
    static const char *const modes[] = {"add", "min", "max", "and", "or", "xor"};
    static const uint8_t unsigned_modes[] = {REDUCE_ADD, REDUCE_MIN_U, REDUCE_MAX_U,
                                             REDUCE_AND, REDUCE_OR,    REDUCE_XOR};
    const PtxOperand *operands = lower->at->operands;
    if (!lower_take(lower, "sync")) lower_unknown(lower);
    uint8_t mode = unsigned_modes[take_one(lower, modes, 6)];
    PtxType type = lower_take_type(lower);
    lower_all_taken(lower);
    lower_operands(lower, 3, 3);
    if (type != PTX_U32 && type != PTX_S32 && type != PTX_B32) lower_unknown(lower);
    if (type == PTX_S32 && mode == REDUCE_MIN_U) mode = REDUCE_MIN_S;
    if (type == PTX_S32 && mode == REDUCE_MAX_U) mode = REDUCE_MAX_S;
    uint32_t r[2];
    r[1] = lower_source(lower, &operands[1], 'w');
    uint32_t mask = lower_source(lower, &operands[2], 'w');
    r[0] = lower_dest(lower, &operands[0], 'w');
    emit_sync(lower, op_reduce, r, 2, mask)->mode = mode;
}

// bar.sync, bar.arrive, bar.red, also as barrier[.cta]; bar.warp.sync; barrier.cluster is not
// known.
static void lower_barrier(Lower *lower) {
    const PtxInst *at = lower->at;
    lower_take(lower, "cta");
    lower_take(lower, "aligned");
    if (lower_take(lower, "warp")) {
        lower_take(lower, "sync");
        lower_all_taken(lower);
        lower_operands(lower, 1, 1);
        uint32_t mask = lower_source(lower, &at->operands[0], 'w');
        emit_sync(lower, op_warp_barrier, NULL, 0, mask);
        return;
    }
    bool reduce = lower_take(lower, "red"), arrives = !reduce && lower_take(lower, "arrive");
    if (!reduce && !arrives && !lower_take(lower, "sync")) lower_unknown(lower);
    uint8_t mode = BARRIER_PLAIN;
    if (reduce) {
        static const char *const modes[] = {"popc", "and", "or"};
        mode = (uint8_t)(BARRIER_POPC + take_one(lower, modes, 3));
        lower_take_type(lower);
    }
    lower_all_taken(lower);
    uint32_t first = reduce ? 1 : 0, count = at->operand_count;
    lower_operands(lower, first + 1u + reduce + arrives, first + 2u + reduce);
    uint32_t r[3] = {lower_source(lower, &at->operands[first], 'w'), PTX_NONE, PTX_NONE};
    if (count - reduce > first + 1) r[1] = lower_source(lower, &at->operands[first + 1], 'w');
    if (reduce) r[2] = lower_source(lower, &at->operands[count - 1], 'p');
    uint32_t d = PTX_NONE;
    if (reduce) d = lower_dest(lower, &at->operands[0], mode == BARRIER_POPC ? 'w' : 'p');
    uint32_t slot = lower_slot(lower, SLOT_BARRIER);
    Inst *inst = lower_emit(lower, arrives ? op_barrier_arrive : op_barrier);
    memcpy(inst->r, r, sizeof r);
    inst->slot = slot;
    if (!reduce) return;
    inst = lower_emit(lower, op_barrier_result);
    inst->r[0] = d;
    inst->r[1] = r[0];
    inst->mode = mode;
}

static void lower_elect(Lower *lower) {
    if (!lower_take(lower, "sync")) lower_unknown(lower);
    lower_all_taken(lower);
    lower_operands(lower, 2, 2);
    const PtxOperand *operands = lower->at->operands;
    uint32_t r[2], mask = lower_source(lower, &operands[1], 'w');
    // `_|%p1`: the leader's number may not be wanted
    bool register_wanted = operands[0].kind == PTX_OPERAND_REG;
    r[0] = register_wanted ? lower_dest(lower, &operands[0], 'w') : lower_temp(lower, 'w');
    r[1] = second_register(lower, &operands[0]);
    emit_sync(lower, op_elect, r, 2, mask);
}

bool lower_sync(Lower *lower, Str base) {
    static const struct {
        const char *name;
        void (*lower)(Lower *lower);
    } rows[] = {
        {"shfl", lower_shfl},   {"vote", lower_vote},   {"match", lower_match},
        {"redux", lower_redux}, {"bar", lower_barrier}, {"barrier", lower_barrier},
        {"elect", lower_elect},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (!str_equal(base, str_of(rows[k].name))) continue;
        rows[k].lower(lower);
        return true;
    }
    if (str_equal(base, STR("membar")) || str_equal(base, STR("fence"))) {
        lower_emit(lower, op_fence);
    } else if (str_equal(base, STR("activemask"))) {
        lower_operands(lower, 1, 1);
        uint32_t d = lower_dest(lower, &lower->at->operands[0], 'w');
        lower_emit(lower, op_activemask)->r[0] = d;
    } else if (str_equal(base, STR("trap")) || str_equal(base, STR("brkpt"))) {
        lower_emit(lower, op_trap);
    } else if (str_equal(base, STR("nanosleep"))) {
        lower_emit(lower, op_nanosleep);
        lower->code->ordered = true;
    } else if (str_equal(base, STR("griddepcontrol")) || str_equal(base, STR("pmevent")) ||
               str_equal(base, STR("setmaxnreg"))) {
        lower_emit(lower, op_nothing); // launches of a stream run one after the other
    } else {
        return false;
    }
    return true;
}
