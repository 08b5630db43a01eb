// Builds the control-flow graph of a function. Its nodes are basic blocks.
#include "simt/lower/lower.h"

static bool waits_guarded(const Lower *lower, uint32_t k) {
    const PtxInst *inst = &lower->function->insts[k];
    return ptx_opcodes[inst->opcode].waits && inst->guard != PTX_NONE;
}

static OpcodeFlow flow_of(const Lower *lower, uint32_t k) {
    return ptx_flow(&lower->function->insts[k]);
}

static bool calls_pointer(const PtxInst *call) {
    for (uint32_t k = 0; k < call->operand_count && k < 2; k++)
        if (call->operands[k].kind == PTX_OPERAND_REG) return true;
    return false;
}

const PtxTargets *lower_branch_table(Lower *lower, const PtxInst *inst) {
    for (uint32_t k = 0; inst->operand_count == 2 && k < lower->function->target_count; k++) {
        const PtxTargets *targets = &lower->function->targets[k];
        if (str_equal(targets->name, inst->operands[1].name)) return targets;
    }
    lower->at = inst;
    lower_fail(lower, "the branch has no list of targets");
}

uint32_t lower_branch_target(Lower *lower, const PtxInst *inst) {
    if (inst->operand_count == 1 && inst->operands[0].kind == PTX_OPERAND_LABEL)
        return inst->operands[0].label;
    lower->at = inst;
    lower->lowering->status = SIMT_INVALID_PTX;
    Str name = inst->operand_count ? inst->operands[0].name : STR("");
    lower_fail(lower, "unknown label `%.*s`", STR_ARG(name));
}

const FlowNode *lower_node(const Lower *lower) { return &lower->ptx->nodes[lower->ptx->node]; }

// Whether a block ends after the instruction.
static bool ends_block(const Lower *lower, uint32_t k) {
    const PtxInst *inst = &lower->function->insts[k];
    switch (flow_of(lower, k)) {
    case FLOW_BRANCH:
    case FLOW_TABLE:
    case FLOW_RETURN:
    case FLOW_EXIT:
        return true;
    case FLOW_TRAP:
        return inst->guard == PTX_NONE;
    case FLOW_CALL:
        return waits_guarded(lower, k) || calls_pointer(inst);
    case FLOW_ON:
        break;
    }
    return waits_guarded(lower, k);
}

static void mark_leaders(Lower *lower, uint8_t *leader) {
    const PtxFunction *function = lower->function;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        OpcodeFlow flow = flow_of(lower, k);
        if (flow == FLOW_BRANCH) leader[lower_branch_target(lower, inst)] = 1;
        if (flow == FLOW_TABLE) {
            const PtxTargets *targets = lower_branch_table(lower, inst);
            for (uint32_t t = 0; t < targets->count; t++) leader[targets->targets[t]] = 1;
        }
        if (waits_guarded(lower, k)) leader[k] = 1;
        if (ends_block(lower, k)) leader[k + 1] = 1;
    }
}

// How many PTX instructions ptxas executes speculatively to save a branch, and how many it puts
// under a predicate. Taken from the machine code of random control flows: see flow.h.
#define CONDITION 8
#define BRIEF     10

static bool is_condition(const Lower *lower, const FlowNode *node) {
    const uint32_t count = node->end - node->first;
    if (count == 0 || count > CONDITION || flow_of(lower, node->end - 1) != FLOW_BRANCH)
        return false;
    bool cheap = true;
    for (uint32_t k = node->first; k + 1 < node->end; k++)
        cheap &= ptx_opcodes[lower->function->insts[k].opcode].cheap;
    return cheap;
}

static void add_next(FlowNode *node, uint32_t to) { node->next[node->next_count++] = to; }

static void link_table(Lower *lower, FlowNode *node, const PtxTargets *targets) {
    node->next = ARENA_NEW(lower->arena, targets->count + 1u, uint32_t);
    for (uint32_t t = 0; t < targets->count; t++)
        add_next(node, lower->ptx->node_of[targets->targets[t]]);
}

// Adds the successors of a node that ends with an instruction.
static void link_inst(Lower *lower, uint32_t n) {
    FlowNode *node = &lower->ptx->nodes[n];
    const uint32_t k = node->end - 1, last = lower->ptx->node_count - 1;
    const PtxInst *inst = &lower->function->insts[k];
    OpcodeFlow flow = flow_of(lower, k);
    bool branched = n > 0 && lower->ptx->nodes[n - 1].synthetic; // its guard is a branch already
    bool guarded = inst->guard != PTX_NONE && !branched;
    if (flow == FLOW_RETURN && lower->function->entry) flow = FLOW_EXIT;
    if (flow == FLOW_TABLE) {
        link_table(lower, node, lower_branch_table(lower, inst));
        return;
    }
    node->next = ARENA_NEW(lower->arena, 2, uint32_t);
    if (flow == FLOW_BRANCH) add_next(node, lower->ptx->node_of[lower_branch_target(lower, inst)]);
    if (flow == FLOW_RETURN) add_next(node, last);
    if (!guarded && (flow == FLOW_BRANCH || flow == FLOW_RETURN)) return;
    if (!guarded && (flow == FLOW_EXIT || flow == FLOW_TRAP))
        node->bare_exit = node->end - node->first == 1;
    else
        add_next(node, n + 1);
}

static void link_node(Lower *lower, uint32_t n) {
    FlowNode *node = &lower->ptx->nodes[n];
    if (n == lower->ptx->node_count - 1) {
        node->bare_exit = lower->function->entry;
    } else if (node->synthetic) {
        node->next = ARENA_NEW(lower->arena, 2, uint32_t);
        add_next(node, lower->ptx->node_of[node->first + 1]);
        add_next(node, n + 1);
    } else {
        link_inst(lower, n);
        node->condition = is_condition(lower, node);
        node->brief = node->end - node->first <= BRIEF;
    }
}

// After a call through a pointer, lanes that called different functions merge.
static void join_calls(Lower *lower) {
    for (uint32_t n = 0; n < lower->ptx->node_count; n++) {
        const FlowNode *node = &lower->ptx->nodes[n];
        if (node->end == node->first || flow_of(lower, node->end - 1) != FLOW_CALL) continue;
        if (calls_pointer(&lower->function->insts[node->end - 1]))
            for (uint32_t k = 0; k < node->merge_count; k++)
                lower->ptx->nodes[node->merges[k].node].join = true;
    }
}

void lower_nodes(Lower *lower) {
    uint32_t count = lower->function->inst_count;
    uint8_t *leader = ARENA_NEW(lower->arena, (size_t)count + 2, uint8_t);
    leader[0] = 1;
    mark_leaders(lower, leader);
    leader[count] = 1;
    lower->ptx->node_of = ARENA_NEW(lower->arena, (size_t)count + 1, uint32_t);
    lower->ptx->nodes = ARENA_NEW(lower->arena, 2 * (size_t)count + 2, FlowNode);
    for (uint32_t k = 0; k < count;) {
        uint32_t end = k + 1;
        while (!leader[end]) end++;
        lower->ptx->node_of[k] = lower->ptx->node_count;
        if (waits_guarded(lower, k))
            lower->ptx->nodes[lower->ptx->node_count++] =
                (FlowNode){.first = k, .end = k, .synthetic = true};
        lower->ptx->nodes[lower->ptx->node_count++] = (FlowNode){.first = k, .end = end};
        k = end;
    }
    lower->ptx->node_of[count] = lower->ptx->node_count;
    lower->ptx->nodes[lower->ptx->node_count++] = (FlowNode){.first = count, .end = count};
    for (uint32_t n = 0; n < lower->ptx->node_count; n++) link_node(lower, n);
    flow_find_merges(lower->arena, lower->ptx->nodes, lower->ptx->node_count);
    join_calls(lower);
}
