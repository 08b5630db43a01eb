// Lowers branches, exits, returns and traps, nanosleep, and instructions without effect.
#include "simt/lower/lower.h"

void lower_fix(Lower *lower, Fixup fixup) {
    fixup.inst = lower->count - 1;
    ARENA_GROW(lower->arena, lower->ptx->fixups, lower->ptx->fixup_count,
               lower->ptx->fixup_capacity);
    lower->ptx->fixups[lower->ptx->fixup_count++] = fixup;
}

static void branch_to(Lower *lower, uint32_t node) {
    const PtxInst *at = lower->at;
    if (at->guard == PTX_NONE) {
        lower_emit(lower, op_jump);
        lower_fix(lower, (Fixup){.kind = FIXUP_BRANCH, .target = node});
        return;
    }
    uint32_t slot = lower_slot(lower, SLOT_BRANCH);
    InstBranch branch = {.predicate = lower_register(lower, at->guard),
                         .negated = at->guard_negated};
    Inst *inst = lower_emit(lower, op_branch);
    inst->branch = branch;
    inst->slot = slot;
    lower_fix(lower, (Fixup){.kind = FIXUP_BRANCH, .target = node, .from = lower_node(lower)});
}

void lower_bra(Lower *lower) {
    branch_to(lower, lower->ptx->node_of[lower_branch_target(lower, lower->at)]);
    lower_all_taken(lower);
}

void lower_brx(Lower *lower) {
    if (!lower_take(lower, PTX_MOD_IDX)) lower_unknown(lower);
    lower_all_taken(lower);
    const PtxTargets *targets = lower_branch_table(lower, lower->at);
    uint32_t *nodes = ARENA_NEW(lower->arena, targets->count + 1u, uint32_t);
    for (uint32_t t = 0; t < targets->count; t++)
        nodes[t] = lower->ptx->node_of[targets->targets[t]];
    uint32_t index = lower_source(lower, &lower->at->operands[0], REGISTER_32);
    uint32_t slot = lower_slot(lower, SLOT_BRANCH);
    Inst *inst = lower_emit(lower, op_table_branch);
    inst->table = (InstTable){.index = index, .count = targets->count};
    inst->slot = slot;
    lower_fix(lower, (Fixup){.kind = FIXUP_TABLE, .table = nodes, .from = lower_node(lower)});
    lower_emit(lower, op_jump); // back to the branch, for the remaining lanes
}

void lower_exit(Lower *lower) {
    lower_operands(lower, 0, 0);
    lower_all_taken(lower);
    lower_emit(lower, op_exit);
}

// All returns of a function jump to its last node.
void lower_ret(Lower *lower) {
    if (lower->function->entry) {
        lower_exit(lower);
        return;
    }
    lower_operands(lower, 0, 0);
    lower_all_taken(lower);
    branch_to(lower, lower->ptx->node_count - 1);
}

void lower_trap(Lower *lower) { lower_emit(lower, op_trap); }

void lower_nanosleep(Lower *lower) {
    lower_emit(lower, op_nanosleep);
    lower->code->ordered = true;
}

void lower_nothing(Lower *lower) { lower_emit(lower, op_nothing); }
