// Basic blocks of a function, and the instructions that end them; calls.
#include <string.h>

#include "simt/lower/lower.h"

bool lower_ends_block(Str base) {
    return str_equal(base, STR("bra")) || str_equal(base, STR("brx")) ||
           str_equal(base, STR("ret")) || str_equal(base, STR("exit"));
}

static Str base_of(const PtxInst *inst) {
    size_t dot = 0;
    while (dot < inst->opcode.len && inst->opcode.at[dot] != '.') dot++;
    return str_slice(inst->opcode, 0, dot);
}

// Instructions that may wait, or go elsewhere and come back: a guard becomes a branch around them.
static bool needs_branch(const PtxInst *inst) {
    static const char *const names[] = {"call",  "bar",   "barrier", "shfl", "vote",
                                        "match", "redux", "elect",   "brx"};
    if (inst->guard == PTX_NONE) return false;
    Str base = base_of(inst);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (str_equal(base, str_of(names[k]))) return true;
    return false;
}

static bool calls_pointer(const PtxInst *inst) {
    if (!str_equal(base_of(inst), STR("call"))) return false;
    for (uint32_t k = 0; k < inst->operand_count && k < 2; k++)
        if (inst->operands[k].kind == PTX_OPERAND_REG) return true;
    return false;
}

static const PtxTargets *targets_of(Lower *lower, const PtxInst *inst) {
    for (uint32_t k = 0; inst->operand_count == 2 && k < lower->function->target_count; k++) {
        const PtxTargets *targets = &lower->function->targets[k];
        if (str_equal(targets->name, inst->operands[1].name)) return targets;
    }
    lower->at = inst;
    lower_fail(lower, "a branch without its list of targets");
}

static uint32_t target_of(Lower *lower, const PtxInst *inst) {
    if (inst->operand_count != 1 || inst->operands[0].kind != PTX_OPERAND_LABEL) {
        lower->at = inst;
        lower->lowering->status = SIMT_INVALID_PTX;
        Str name = inst->operand_count ? inst->operands[0].name : STR("");
        lower_fail(lower, "unknown label `%.*s`", STR_ARG(name));
    }
    return (uint32_t)inst->operands[0].value;
}

static void mark_leaders(Lower *lower, uint8_t *leader) {
    const PtxFunction *function = lower->function;
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        Str base = base_of(inst);
        if (str_equal(base, STR("bra"))) leader[target_of(lower, inst)] = 1;
        if (str_equal(base, STR("brx"))) {
            const PtxTargets *targets = targets_of(lower, inst);
            for (uint32_t t = 0; t < targets->count; t++) leader[targets->targets[t]] = 1;
        }
        if (needs_branch(inst)) leader[k] = 1;
        if (lower_ends_block(base) || needs_branch(inst) || calls_pointer(inst) ||
            (str_equal(base, STR("trap")) && inst->guard == PTX_NONE))
            leader[k + 1] = 1;
    }
}

static void add_next(FlowNode *node, uint32_t to) { node->next[node->next_count++] = to; }

static void link_node(Lower *lower, uint32_t n) {
    const PtxFunction *function = lower->function;
    FlowNode *node = &lower->nodes[n];
    uint32_t last = lower->node_count - 1;
    if (n == last) {
        node->bare_exit = function->entry;
        return;
    }
    if (node->synthetic) {
        node->next = ARENA_NEW(lower->arena, 2, uint32_t);
        add_next(node, lower->node_of[node->first + 1]);
        add_next(node, n + 1);
        return;
    }
    const PtxInst *inst = &function->insts[node->end - 1];
    Str base = base_of(inst);
    bool branched = n > 0 && lower->nodes[n - 1].synthetic; // its guard is a branch already
    bool guarded = inst->guard != PTX_NONE && !branched;
    bool function_return = str_equal(base, STR("ret")) && !function->entry;
    if (str_equal(base, STR("brx"))) {
        const PtxTargets *targets = targets_of(lower, inst);
        node->next = ARENA_NEW(lower->arena, targets->count + 1u, uint32_t);
        for (uint32_t t = 0; t < targets->count; t++)
            add_next(node, lower->node_of[targets->targets[t]]);
        return;
    }
    node->next = ARENA_NEW(lower->arena, 2, uint32_t);
    if (str_equal(base, STR("bra"))) {
        add_next(node, lower->node_of[target_of(lower, inst)]);
        if (!guarded) return;
    } else if (function_return) {
        add_next(node, last);
        if (!guarded) return;
    } else if (!guarded && (str_equal(base, STR("ret")) || str_equal(base, STR("exit")) ||
                            str_equal(base, STR("trap")))) {
        node->bare_exit = node->end - node->first == 1;
        return;
    }
    add_next(node, n + 1);
}

void lower_nodes(Lower *lower) {
    const PtxFunction *function = lower->function;
    uint32_t count = function->inst_count;
    uint8_t *leader = ARENA_NEW(lower->arena, (size_t)count + 2, uint8_t);
    leader[0] = 1;
    mark_leaders(lower, leader);
    leader[count] = 1;
    lower->node_of = ARENA_NEW(lower->arena, (size_t)count + 1, uint32_t);
    lower->nodes = ARENA_NEW(lower->arena, 2 * (size_t)count + 2, FlowNode);
    for (uint32_t k = 0; k < count;) {
        uint32_t end = k + 1;
        while (!leader[end]) end++;
        lower->node_of[k] = lower->node_count;
        if (needs_branch(&function->insts[k])) {
            lower->nodes[lower->node_count++] =
                (FlowNode){.first = k, .end = k, .synthetic = true, .meet = PTX_NONE};
        }
        lower->nodes[lower->node_count++] = (FlowNode){.first = k, .end = end, .meet = PTX_NONE};
        k = end;
    }
    lower->node_of[count] = lower->node_count;
    lower->nodes[lower->node_count++] = (FlowNode){.first = count, .end = count, .meet = PTX_NONE};
    for (uint32_t n = 0; n < lower->node_count; n++) link_node(lower, n);
    flow_post_dominators(lower->arena, lower->nodes, lower->node_count);
    for (uint32_t n = 0; n < lower->node_count; n++) {
        const FlowNode *node = &lower->nodes[n];
        if (node->end > node->first && calls_pointer(&function->insts[node->end - 1]) &&
            node->meet != PTX_NONE)
            lower->nodes[node->meet].join = true;
    }
}

static void branch_to(Lower *lower, uint32_t node) {
    const PtxInst *at = lower->at;
    uint32_t meet = lower->nodes[lower->node].meet;
    if (at->guard == PTX_NONE) {
        lower_emit(lower, op_jump)->target = (const Inst *)(uintptr_t)(node + 1);
        return;
    }
    uint32_t slot = lower_slot(lower, SLOT_BRANCH);
    Inst *inst = lower_emit(lower, op_branch);
    inst->r[0] = lower_register(lower, at->guard);
    inst->mode = at->guard_negated;
    inst->slot = slot;
    inst->target = (const Inst *)(uintptr_t)(node + 1);
    if (meet != PTX_NONE) inst->rpc = (const Inst *)(uintptr_t)(meet + 1);
}

void lower_terminator(Lower *lower, Str base) {
    const PtxInst *at = lower->at;
    lower_take(lower, "uni");
    if (str_equal(base, STR("bra"))) {
        branch_to(lower, lower->node_of[target_of(lower, at)]);
    } else if (str_equal(base, STR("brx"))) {
        if (!lower_take(lower, "idx")) lower_unknown(lower);
        const PtxTargets *targets = targets_of(lower, at);
        uint32_t *nodes = ARENA_NEW(lower->arena, targets->count + 1u, uint32_t);
        for (uint32_t t = 0; t < targets->count; t++)
            nodes[t] = lower->node_of[targets->targets[t]];
        uint32_t index = lower_source(lower, &at->operands[0], 'w');
        uint32_t slot = lower_slot(lower, SLOT_BRANCH);
        Inst *inst = lower_emit(lower, op_table_branch);
        inst->r[0] = index;
        inst->slot = slot;
        inst->imm = targets->count;
        inst->extra = nodes;
        uint32_t meet = lower->nodes[lower->node].meet;
        if (meet != PTX_NONE) inst->rpc = (const Inst *)(uintptr_t)(meet + 1);
        lower_emit(lower, op_jump); // back to it, for the lanes not yet gone
    } else {
        lower_operands(lower, 0, 0);
        if (str_equal(base, STR("ret")) && !lower->function->entry)
            branch_to(lower, lower->node_count - 1);
        else
            lower_emit(lower, op_exit);
    }
    lower_all_taken(lower);
}

// --- calls ---

// A variable declared inside the function, not one of its parameters.
static bool own_scratch(const Lower *lower, const PtxVariable *variable) {
    for (uint32_t k = 0; k < lower->function->variable_count; k++)
        if (lower->function->variables[k] == variable) return true;
    return false;
}

static void call_areas(Lower *lower, const PtxOperand *list, const PtxVariable ***variables,
                       uint32_t **offsets, uint32_t *count) {
    *offsets = ARENA_NEW(lower->arena, list->count + 1u, uint32_t);
    *variables = ARENA_NEW(lower->arena, list->count + 1u, const PtxVariable *);
    for (uint32_t k = 0; k < list->count; k++) {
        const PtxVariable *variable = list->items[k].variable;
        if (!variable || variable->space != PTX_PARAM || !own_scratch(lower, variable))
            lower_fail(lower, "only `.param` variables can be passed in a call");
        (*variables)[*count] = variable;
        (*offsets)[(*count)++] = lower->scratch_area + (uint32_t)variable->offset;
    }
}

static Op *built_in(Str name) {
    if (str_equal(name, STR("vprintf"))) return op_print;
    if (str_equal(name, STR("__assertfail"))) return op_assert_fail;
    return NULL;
}

static void add_callee(Lower *lower, Code *callee) {
    Code *code = lower->code;
    for (uint32_t k = 0; k < code->callee_count; k++)
        if (code->callees[k] == callee) return;
    ARENA_GROW(lower->arena, code->callees, code->callee_count, lower->callee_capacity);
    code->callees[code->callee_count++] = callee;
}

// Arguments of the built-in functions are read by their size.
static void lower_built_in(Lower *lower, const CallSite *site, const PtxFunction *function) {
    static const uint8_t print_bytes[] = {8, 8}, assert_bytes[] = {8, 8, 4, 8};
    bool print = str_equal(function->name, STR("vprintf"));
    uint32_t count = print ? 2 : 4;
    bool good = site->argument_count >= count;
    for (uint32_t k = 0; good && k < count; k++)
        good = site->passed[k]->bytes == (print ? print_bytes[k] : assert_bytes[k]);
    if (site->result_count && site->received[0]->bytes < 4) good = false;
    if (!good) lower_fail(lower, "call of `%.*s` with other parameters", STR_ARG(function->name));
}

bool lower_call(Lower *lower, Str base) {
    if (!str_equal(base, STR("call"))) return false;
    const PtxInst *at = lower->at;
    lower_take(lower, "uni");
    lower_all_taken(lower);
    CallSite *site = ARENA_NEW(lower->arena, 1, CallSite);
    site->caller = lower->code;
    site->stride = lower->scratch_stride;
    uint32_t k = 0;
    if (k < at->operand_count && at->operands[k].kind == PTX_OPERAND_LIST)
        call_areas(lower, &at->operands[k++], &site->received, &site->results, &site->result_count);
    if (k >= at->operand_count) lower_unknown(lower);
    const PtxOperand *callee = &at->operands[k++];
    if (k < at->operand_count && at->operands[k].kind == PTX_OPERAND_LIST)
        call_areas(lower, &at->operands[k], &site->passed, &site->arguments, &site->argument_count);
    if (callee->kind == PTX_OPERAND_REG) {
        uint32_t pointer = lower_source(lower, callee, 'd');
        Inst *inst = lower_emit(lower, op_call_pointer);
        inst->r[0] = pointer;
        inst->extra = site;
        uint32_t meet = lower->nodes[lower->node].meet;
        if (meet != PTX_NONE) inst->rpc = (const Inst *)(uintptr_t)(meet + 1);
        lower_emit(lower, op_nothing); // where the call returns to
        lower->code->indirect = true;
        for (uint32_t f = 0; f < lower->lowering->module->function_count; f++) {
            const PtxFunction *function = &lower->lowering->module->functions[f];
            if (function->entry || !function->defined) continue;
            add_callee(lower, lower->lowering->function_code(lower->lowering->context, function));
        }
        return true;
    }
    const PtxFunction *function = ptx_function(lower->lowering->module, callee->name);
    if (!function) lower_fail(lower, "call of unknown `%.*s`", STR_ARG(callee->name));
    Op *op = built_in(callee->name);
    if (function->defined) op = op_call;
    if (!op) lower_fail(lower, "call of `%.*s`, which has no code here", STR_ARG(callee->name));
    if (op == op_call) {
        site->callee = lower->lowering->function_code(lower->lowering->context, function);
        add_callee(lower, site->callee);
    } else {
        lower->code->ordered |= op == op_print;
        lower_built_in(lower, site, function);
    }
    Inst *inst = lower_emit(lower, op);
    inst->extra = site;
    return true;
}
