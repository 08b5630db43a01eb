// Lowers calls of functions by name or by pointer, and calls of built-in functions.
#include "simt/lower/lower.h"

// Whether the function declares this variable inside, not as a parameter.
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
        (*offsets)[(*count)++] = lower->ptx->scratch_area + (uint32_t)variable->offset;
    }
}

static void add_callee(Lower *lower, Code *callee) {
    Code *code = lower->code;
    for (uint32_t k = 0; k < code->callee_count; k++)
        if (code->callees[k] == callee) return;
    ARENA_GROW(lower->arena, code->callees, code->callee_count, lower->ptx->callee_capacity);
    code->callees[code->callee_count++] = callee;
}

static void call_pointer(Lower *lower, CallSite *site, const PtxOperand *callee) {
    const Lowering *lowering = lower->lowering;
    uint32_t pointer = lower_source(lower, callee, REGISTER_64);
    lower_emit(lower, op_call_pointer)->call = (InstCall){.site = site, .pointer = pointer};
    lower_fix(lower, (Fixup){.kind = FIXUP_CALL, .from = lower_node(lower)});
    lower_emit(lower, op_nothing); // the return address
    lower->code->indirect = true;
    for (uint32_t f = 0; f < lowering->module->function_count; f++) {
        const PtxFunction *function = &lowering->module->functions[f];
        if (!function->entry && function->defined &&
            lowering->function_pointed(lowering->context, function))
            add_callee(lower, lowering->function_code(lowering->context, function));
    }
}

static void call_built_in(Lower *lower, CallSite *site, Str name) {
    const BuiltIn *known = lower_built_in(name);
    if (!known && (str_starts(name, STR("cuda")) || str_starts(name, STR("__cudaCDP"))))
        lower_fail(lower,
                   "kernels cannot call the CUDA runtime on the CPU device (no dynamic "
                   "parallelism, no conditional graph nodes): call of `%.*s`",
                   STR_ARG(name));
    if (!known)
        lower_fail(lower, "call of `%.*s`, which the program does not define", STR_ARG(name));
    bool good = site->argument_count >= known->count;
    for (uint32_t k = 0; good && k < known->count; k++)
        good = site->passed[k]->bytes == known->bytes[k];
    if (site->result_count && site->received[0]->bytes < 4) good = false;
    if (!good)
        lower_fail(lower, "call of `%.*s` with parameters of other sizes than it declares",
                   STR_ARG(name));
    lower->code->ordered |= known->ordered;
    lower_emit(lower, known->run)->call.site = site;
}

static void call_function(Lower *lower, CallSite *site, const PtxFunction *function) {
    site->callee = lower->lowering->function_code(lower->lowering->context, function);
    add_callee(lower, site->callee);
    lower_emit(lower, op_call)->call.site = site;
}

// call (results), function, (arguments); either list may be missing.
void lower_call(Lower *lower) {
    const PtxInst *at = lower->at;
    lower_all_taken(lower);
    CallSite *site = ARENA_NEW(lower->arena, 1, CallSite);
    site->caller = lower->code;
    site->stride = lower->ptx->scratch_stride;
    uint32_t k = 0;
    if (k < at->operand_count && at->operands[k].kind == PTX_OPERAND_LIST)
        call_areas(lower, &at->operands[k++], &site->received, &site->results, &site->result_count);
    if (k >= at->operand_count) lower_unknown(lower);
    const PtxOperand *callee = &at->operands[k++];
    if (k < at->operand_count && at->operands[k].kind == PTX_OPERAND_LIST)
        call_areas(lower, &at->operands[k], &site->passed, &site->arguments, &site->argument_count);
    if (callee->kind == PTX_OPERAND_REG) {
        call_pointer(lower, site, callee);
        return;
    }
    const PtxFunction *function = ptx_function(lower->lowering->module, callee->name);
    if (!function) lower_fail(lower, "call of unknown `%.*s`", STR_ARG(callee->name));
    if (function->defined)
        call_function(lower, site, function);
    else
        call_built_in(lower, site, callee->name);
}
