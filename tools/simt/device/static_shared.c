// Finds the static shared variables that each function may use, and gives every kernel its own
// copies with their offsets. See static_shared.h.
#include "simt/device/static_shared.h"

#include "simt/base/align.h"

// A function's calls and uses, each once.
typedef struct {
    uint32_t *called; // numbers of functions
    uint32_t called_count;
    uint32_t *used; // numbers of variables
    uint32_t used_count;
    size_t called_capacity, used_capacity;
    bool calls_pointers;
    bool pointed; // its address is taken
    bool shares;  // it or a possible callee uses a variable
} Uses;

struct SharedUses {
    const PtxModule *module;
    Uses *of; // by function
    // The module's own variables, in order; then those inside functions other than kernels.
    PtxVariable **variables;
    uint32_t count;
    size_t capacity;
};

static bool is_static(const PtxVariable *variable) {
    return variable && variable->space == PTX_SHARED && !variable->external;
}

static void add_variable(Arena *arena, SharedUses *uses, PtxVariable *variable) {
    if (!is_static(variable)) return;
    ARENA_GROW(arena, uses->variables, uses->count, uses->capacity);
    uses->variables[uses->count++] = variable;
}

static bool contains(const uint32_t *numbers, uint32_t count, uint32_t number) {
    for (uint32_t k = 0; k < count; k++)
        if (numbers[k] == number) return true;
    return false;
}

static void add_use(Arena *arena, const SharedUses *uses, Uses *of, const PtxVariable *variable) {
    if (!is_static(variable)) return;
    for (uint32_t k = 0; k < uses->count; k++) {
        if (variable != uses->variables[k] || contains(of->used, of->used_count, k)) continue;
        ARENA_GROW(arena, of->used, of->used_count, of->used_capacity);
        of->used[of->used_count++] = k;
    }
}

// The number of a defined function; PTX_NONE if there is none of this name.
static uint32_t function_number(const PtxModule *module, Str name) {
    if (!name.len || name.at[0] == '%') return PTX_NONE; // a special register
    const PtxFunction *function = ptx_function(module, name);
    return function && function->defined ? (uint32_t)(function - module->functions) : PTX_NONE;
}

static void add_operand(Arena *arena, SharedUses *uses, Uses *of, const PtxOperand *operand) {
    for (uint32_t k = 0; k < operand->count; k++) add_operand(arena, uses, of, &operand->items[k]);
    if (operand->variable) {
        add_use(arena, uses, of, operand->variable);
    } else if (operand->kind == PTX_OPERAND_NAME) {
        const uint32_t number = function_number(uses->module, operand->name);
        if (number != PTX_NONE) uses->of[number].pointed = true;
    }
}

// call (results), function, (arguments); either list may be missing.
static void add_call(Arena *arena, SharedUses *uses, Uses *of, const PtxInst *inst) {
    uint32_t k = 0;
    while (k < inst->operand_count && inst->operands[k].kind == PTX_OPERAND_LIST) k++;
    if (k == inst->operand_count) return;
    const PtxOperand *callee = &inst->operands[k];
    of->calls_pointers |= callee->kind == PTX_OPERAND_REG;
    const uint32_t number = function_number(uses->module, callee->name);
    if (number == PTX_NONE || contains(of->called, of->called_count, number)) return;
    ARENA_GROW(arena, of->called, of->called_count, of->called_capacity);
    of->called[of->called_count++] = number;
}

static void add_function(Arena *arena, SharedUses *uses, const PtxFunction *function) {
    Uses *of = &uses->of[function - uses->module->functions];
    for (uint32_t k = 0; !function->entry && k < function->variable_count; k++)
        add_use(arena, uses, of, function->variables[k]);
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        if (inst->opcode == OPCODE_CALL)
            add_call(arena, uses, of, inst);
        else
            for (uint32_t j = 0; j < inst->operand_count; j++)
                add_operand(arena, uses, of, &inst->operands[j]);
    }
}

// Marks functions that the module's variables point to.
static void add_pointers(SharedUses *uses) {
    const PtxModule *module = uses->module;
    for (uint32_t k = 0; k < module->variable_count; k++) {
        const PtxVariable *variable = module->variables[k];
        for (size_t r = 0; r < variable->reference_count; r++) {
            const uint32_t number = function_number(module, variable->references[r].symbol);
            if (number != PTX_NONE) uses->of[number].pointed = true;
        }
    }
}

static bool may_use_shared(const SharedUses *uses, const Uses *of) {
    bool shares = of->used_count > 0;
    for (uint32_t k = 0; k < of->called_count; k++) shares |= uses->of[of->called[k]].shares;
    for (uint32_t k = 0; of->calls_pointers && k < uses->module->function_count; k++)
        shares |= uses->of[k].pointed && uses->of[k].shares;
    return shares;
}

SharedUses *shared_uses(Arena *arena, const PtxModule *module) {
    SharedUses *uses = ARENA_NEW(arena, 1, SharedUses);
    uses->module = module;
    uses->of = ARENA_NEW(arena, module->function_count + 1u, Uses);
    for (uint32_t k = 0; k < module->variable_count; k++)
        add_variable(arena, uses, module->variables[k]);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const PtxFunction *function = &module->functions[f];
        for (uint32_t k = 0; !function->entry && k < function->variable_count; k++)
            add_variable(arena, uses, function->variables[k]);
    }
    for (uint32_t f = 0; f < module->function_count; f++)
        add_function(arena, uses, &module->functions[f]);
    add_pointers(uses);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < module->function_count; f++) {
            Uses *of = &uses->of[f];
            if (of->shares || !may_use_shared(uses, of)) continue;
            of->shares = changed = true;
        }
    }
    return uses;
}

bool shared_uses_pointed(const SharedUses *uses, const PtxFunction *function) {
    return uses->of[function - uses->module->functions].pointed;
}

// Copies the variables that a function and its possible callees use. `reached`: by function.
static void take(Arena *arena, const SharedUses *uses, uint32_t function, bool *reached,
                 PtxVariable **own) {
    const Uses *of = &uses->of[function];
    if (reached[function] || !of->shares) return;
    reached[function] = true;
    for (uint32_t k = 0; k < of->used_count; k++) {
        const uint32_t number = of->used[k];
        if (own[number]) continue;
        own[number] = ARENA_NEW(arena, 1, PtxVariable);
        *own[number] = *uses->variables[number];
    }
    for (uint32_t k = 0; k < of->called_count; k++) take(arena, uses, of->called[k], reached, own);
    for (uint32_t k = 0; of->calls_pointers && k < uses->module->function_count; k++)
        if (uses->of[k].pointed) take(arena, uses, k, reached, own);
}

static uint64_t place(PtxVariable *variable, uint64_t at) {
    variable->offset = align_up(at, variable->align);
    return variable->offset + variable->bytes;
}

static void set_operand(const SharedUses *uses, const StaticShared *shared, PtxOperand *operand) {
    for (uint32_t k = 0; is_static(operand->variable) && k < uses->count; k++) {
        if (operand->variable != uses->variables[k]) continue;
        operand->variable = shared->own[k];
        break;
    }
    for (uint32_t k = 0; k < operand->count; k++) set_operand(uses, shared, &operand->items[k]);
}

static void set_operands(const SharedUses *uses, const StaticShared *shared, PtxInst *inst) {
    for (uint32_t k = 0; k < inst->operand_count; k++)
        set_operand(uses, shared, &inst->operands[k]);
}

void static_shared_place(Arena *arena, const SharedUses *uses, PtxFunction *kernel,
                         StaticShared *shared) {
    const uint32_t number = (uint32_t)(kernel - uses->module->functions);
    uint64_t at = 0;
    for (uint32_t k = 0; k < kernel->variable_count; k++)
        if (kernel->variables[k]->space == PTX_SHARED) at = place(kernel->variables[k], at);
    if (uses->of[number].shares) {
        bool *reached = ARENA_NEW(arena, uses->module->function_count, bool);
        shared->own = ARENA_NEW(arena, uses->count, PtxVariable *);
        take(arena, uses, number, reached, shared->own);
        for (uint32_t k = 0; k < uses->count; k++)
            if (shared->own[k]) at = place(shared->own[k], at);
        for (uint32_t k = 0; k < kernel->inst_count; k++)
            set_operands(uses, shared, &kernel->insts[k]);
    }
    shared->bytes = at > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)at;
}

static PtxOperand *copy_operands(Arena *arena, const PtxOperand *operands, uint32_t count) {
    PtxOperand *copies = ARENA_NEW(arena, count + 1u, PtxOperand);
    for (uint32_t k = 0; k < count; k++) {
        copies[k] = operands[k];
        copies[k].items = copy_operands(arena, operands[k].items, operands[k].count);
    }
    return copies;
}

const PtxFunction *static_shared_function(Arena *arena, const SharedUses *uses,
                                          const StaticShared *shared, const PtxFunction *function) {
    if (function->entry || !uses->of[function - uses->module->functions].shares) return function;
    PtxFunction *copy = ARENA_NEW(arena, 1, PtxFunction);
    *copy = *function;
    copy->insts = ARENA_NEW(arena, function->inst_count + 1u, PtxInst);
    for (uint32_t k = 0; k < function->inst_count; k++) {
        PtxInst *inst = &copy->insts[k];
        *inst = function->insts[k];
        inst->operands = copy_operands(arena, inst->operands, inst->operand_count);
        set_operands(uses, shared, inst);
    }
    return copy;
}
