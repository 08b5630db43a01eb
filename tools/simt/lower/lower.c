// Lowers a function of PTX: gives registers and constants their places in the frame and emits
// executable instructions block by block.
#include "simt/lower/lower.h"

#include <string.h>

#include "simt/base/align.h"
#include "simt/base/host.h"

// --- instructions in their blocks ---

static void (*const lowerings[OPCODES])(Lower *) = {[OPCODE_NONE] = lower_unknown,
#define X(name, text, function, ...) [OPCODE_##name] = function,
                                                    PTX_OPCODES(X)
#undef X
};

static void refuse_directed_rounding(Lower *lower) {
    static const PtxModifier directed[] = {PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP};
    for (size_t k = 0; k < sizeof directed / sizeof *directed; k++)
        if (ptx_has(lower->at, directed[k]))
            lower_fail(lower,
                       "directed rounding is not available here: `%.*s`; use the function without "
                       "_rz, _rd or _ru",
                       STR_ARG(str_slice(lower->at->text, 0, 100)));
}

static void lower_one(Lower *lower) {
    const PtxOpcode opcode = lower->at->opcode;
    if (!host_rounds()) refuse_directed_rounding(lower);
    for (size_t class = 0; class < REGISTER_128; class ++) lower->temporaries[class].used = 0;
    lower->ptx->taken = 0;
    lower_take_hints(lower, ptx_opcodes[opcode].hints);
    lowerings[opcode](lower);
}

static void lower_guarded(Lower *lower) {
    const PtxInst *at = lower->at;
    const OpcodeFlow flow = ptx_flow(at);
    bool branched = lower->ptx->node > 0 && lower->ptx->nodes[lower->ptx->node - 1].synthetic;
    bool branch = flow == FLOW_BRANCH || (flow == FLOW_RETURN && !lower->function->entry);
    if (at->guard == PTX_NONE || branched || branch) {
        lower_one(lower);
        return;
    }
    size_t guard = lower->count;
    lower_emit(lower, op_guard)->guard =
        (InstGuard){.predicate = lower_register(lower, at->guard), .negated = at->guard_negated};
    lower_one(lower);
    lower_emit(lower, op_unguard);
    lower->insts[guard].guard.skip = (uint32_t)(lower->count - guard);
}

static void lower_entry(Lower *lower, uint32_t slot) {
    const FlowNode *node = &lower->ptx->nodes[lower->ptx->node];
    Op *enter = node->outside ? op_enter_outside : node->join ? op_enter_join : op_enter;
    Inst *entry = lower_emit(lower, enter);
    entry->slot = slot;
    entry->node = lower->ptx->node;
}

// Whether the node only ends the kernel.
static bool only_ends(const Lower *lower, uint32_t number) {
    const FlowNode *node = &lower->ptx->nodes[number];
    if (!lower->function->entry || node->synthetic || node->end != node->first + 1) return false;
    const PtxInst *inst = &lower->function->insts[node->first];
    const OpcodeFlow flow = ptx_flow(inst);
    return (flow == FLOW_RETURN || flow == FLOW_EXIT) && inst->guard == PTX_NONE;
}

// A jump to a node that only ends the kernel goes to a second entry, which is emitted after the
// node's other instructions.
enum { TO_LEAVE = 2 };
static void lower_leave(Lower *lower, uint32_t slot) {
    lower_entry(lower, slot);
    lower_emit(lower, op_leave);
}

static void lower_block(Lower *lower, size_t *place) {
    const PtxFunction *function = lower->function;
    FlowNode *node = &lower->ptx->nodes[lower->ptx->node];
    place[lower->ptx->node] = lower->count;
    lower->at = node->first < function->inst_count ? &function->insts[node->first] : NULL;
    uint32_t slot = lower_slot(lower, SLOT_BLOCK);
    lower->lowering->slots->slots[slot].ptx = node->first;
    lower->lowering->slots->slots[slot].ptx_end = node->end;
    lower_entry(lower, slot);
    if (node->synthetic) {
        lower_emit(lower, op_branch)->branch =
            (InstBranch){.predicate = lower_register(lower, lower->at->guard),
                         .negated = !lower->at->guard_negated,
                         .synthetic = true};
        lower_fix(lower, (Fixup){.kind = FIXUP_BRANCH, .target = node->next[0], .from = node});
    }
    for (uint32_t k = node->first; k < node->end; k++) {
        lower->at = &function->insts[k];
        lower_guarded(lower);
    }
    if (only_ends(lower, lower->ptx->node)) lower_leave(lower, slot);
    if (lower->ptx->node + 1 < lower->ptx->node_count) return;
    lower->at = NULL; // the end of the function
    lower_emit(lower, function->entry ? op_exit : op_return)->returns_from = lower->code;
}

// --- the whole function ---

typedef struct {
    const Inst *insts;
    const size_t *place; // of each node
} Places;

static const Inst *place_of(const Places *places, uint32_t node) {
    return &places->insts[places->place[node]];
}

static const Inst *const *place_table(Lower *lower, const Fixup *fixup, uint32_t count,
                                      const Places *places) {
    const Inst **targets = ARENA_NEW(lower->arena, count + 1u, const Inst *);
    for (uint32_t t = 0; t < count; t++) targets[t] = place_of(places, fixup->table[t]);
    return targets;
}

static MergePoints place_merges(Lower *lower, const FlowNode *from, const Places *places) {
    if (!from || from->merge_count == 0) return (MergePoints){NULL, 0};
    MergePoint *merges = ARENA_NEW(lower->arena, from->merge_count, MergePoint);
    for (uint32_t k = 0; k < from->merge_count; k++)
        merges[k] = (MergePoint){place_of(places, from->merges[k].node), from->merges[k].inside};
    return (MergePoints){merges, from->merge_count};
}

static void apply_fixup(Lower *lower, const Fixup *fixup, const Places *places) {
    Inst *inst = &lower->code->insts[fixup->inst];
    const MergePoints merges = place_merges(lower, fixup->from, places);
    switch (fixup->kind) {
    case FIXUP_BRANCH:
        inst->branch.target = place_of(places, fixup->target);
        if (only_ends(lower, fixup->target)) inst->branch.target += TO_LEAVE;
        inst->branch.merges = merges;
        break;
    case FIXUP_TABLE:
        inst->table.targets = place_table(lower, fixup, inst->table.count, places);
        inst->table.merges = merges;
        inst[1].branch.target = inst; // the jump after the branch goes back to it
        break;
    case FIXUP_CALL:
        inst->call.merges = merges;
        break;
    }
}

static void finish(Lower *lower, const size_t *place) {
    Code *code = lower->code;
    code->insts = ARENA_NEW(lower->arena, lower->count, Inst);
    code->count = (uint32_t)lower->count;
    memcpy(code->insts, lower->insts, lower->count * sizeof *code->insts);
    for (uint32_t k = 0; k < code->count; k++) code->insts[k].plain = code->insts[k].run;
    const Places places = {code->insts, place};
    for (size_t k = 0; k < lower->ptx->fixup_count; k++)
        apply_fixup(lower, &lower->ptx->fixups[k], &places);
    code->registers = lower->ptx->offset;
    code->frame_bytes = lower->frame;
    code->lowered = true;
}

static void count_uses(Lower *lower, const PtxOperand *operand) {
    if (operand->reg != PTX_NONE) lower->ptx->uses[operand->reg]++;
    for (uint32_t k = 0; k < operand->count; k++) count_uses(lower, &operand->items[k]);
}

// Counts how often each register is named.
static void survey(Lower *lower) {
    const PtxFunction *function = lower->function;
    lower->ptx->offset = ARENA_NEW(lower->arena, function->register_count + 1u, uint32_t);
    lower->ptx->uses = ARENA_NEW(lower->arena, function->register_count + 1u, uint32_t);
    for (uint32_t k = 0; k < function->register_count; k++) lower->ptx->offset[k] = PTX_NONE;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        if (inst->guard != PTX_NONE) lower->ptx->uses[inst->guard]++;
        for (uint32_t j = 0; j < inst->operand_count; j++) count_uses(lower, &inst->operands[j]);
    }
}

static uint32_t result_bytes(const PtxFunction *function) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < function->result_count; k++) {
        uint64_t end = function->results[k].offset + function->results[k].bytes;
        if (end > bytes) bytes = end;
    }
    return (uint32_t)bytes;
}

// An area of the frame in which each lane has its own bytes.
static uint32_t lane_area(Lower *lower, uint32_t bytes, uint32_t *stride) {
    *stride = (uint32_t)align_up(bytes, 8);
    return lower_reserve(lower, *stride * LANES);
}

static void place_areas(Lower *lower) {
    const PtxFunction *function = lower->function;
    Code *code = lower->code;
    if (!function->entry) {
        lower_reserve(lower, FRAME_SAVED);
        lower->ptx->param_area = lane_area(lower, function->param_bytes, &lower->ptx->param_stride);
        lower->ptx->result_area =
            lane_area(lower, result_bytes(function), &lower->ptx->result_stride);
    }
    lower->ptx->scratch_area =
        lane_area(lower, function->scratch_bytes, &lower->ptx->scratch_stride);
    code->param_offset = lower->ptx->param_area;
    code->param_stride = lower->ptx->param_stride;
    code->result_offset = lower->ptx->result_area;
    code->result_bytes = lower->ptx->result_stride;
}

bool lower_function(Lowering *lowering, Code *code) {
    Lower *lower = ARENA_NEW(lowering->arena, 1, Lower);
    lower->lowering = lowering;
    lower->arena = lowering->arena;
    lower->ptx = ARENA_NEW(lowering->arena, 1, PtxLower);
    lower->code = code;
    lower->function = code->source;
    lowering->status = SIMT_OK;
    if (setjmp(lower->leave)) return false;
    survey(lower);
    place_areas(lower);
    lower_nodes(lower);
    lower_registers(lower);
    size_t *place = ARENA_NEW(lower->arena, lower->ptx->node_count, size_t);
    for (lower->ptx->node = 0; lower->ptx->node < lower->ptx->node_count; lower->ptx->node++)
        lower_block(lower, place);
    finish(lower, place);
    lower_origins(lower);
    lower_spin_reads(lower);
    return true;
}
