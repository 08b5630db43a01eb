// Makes a kernel ready to run: lowers the functions that it calls and places their registers.
#include <stdio.h>

#include "simt/device/module_inside.h"
#include "simt/lower/lowering.h"

#define STACK_LIMIT (1u << 25) // bytes of a warp's registers or of a thread's local memory

static bool variable_address(void *context, const PtxVariable *variable, uint64_t *address) {
    const Kernel *kernel = context;
    return module_variable_address(kernel->module, variable, address);
}

static Code *function_code(void *context, const PtxFunction *function) {
    Kernel *kernel = context;
    Module *module = kernel->module;
    Arena *arena = &module->arena;
    Code **code = &kernel->codes[function - module->ptx->functions];
    if (*code) return *code;
    Code *common = module_function_code(module, function);
    const PtxFunction *source =
        module->uses ? static_shared_function(arena, module->uses, &kernel->static_shared, function)
                     : function;
    if (source == function) return *code = common;
    *code = module_code_new(module, source, common->number);
    (*code)->address = common->address;
    return *code;
}

static bool function_pointed(void *context, const PtxFunction *function) {
    const Kernel *kernel = context;
    return shared_uses_pointed(kernel->module->uses, function);
}

static bool lower_all(Kernel *kernel, Code *code, SimtStatus *status, SimtError *error) {
    Module *module = kernel->module;
    Lowering lowering = {.module = module->ptx,
                         .arena = &module->arena,
                         .slots = &module->slots,
                         .variable_address = variable_address,
                         .function_code = function_code,
                         .function_pointed = function_pointed,
                         .context = kernel,
                         .error = error};
    if (!code->lowered) {
        // Drops the remains of a failed attempt.
        *code = (Code){.source = code->source, .number = code->number, .address = code->address};
        const bool good = module->machine ? module->lower_machine(&lowering, module->machine, code)
                                          : lower_function(&lowering, code);
        if (!good) {
            *status = lowering.status;
            return false;
        }
    }
    code->visited = true;
    kernel->codes[code->number] = code;
    bool good = true; // true so far
    for (uint32_t k = 0; good && k < code->callee_count; k++) {
        Code *callee = code->callees[k];
        if (!callee->visited) good = lower_all(kernel, callee, status, error);
        code->ordered |= callee->ordered;
        code->partial |= callee->partial;
        code->order_matters |= callee->order_matters;
        code->volatiles |= callee->volatiles;
        code->waits |= callee->waits;
        code->reserved |= callee->reserved;
    }
    return good;
}

// Adds up local memory along calls. A call of a function that is being visited is recursive: it is
// not counted, and the result is true.
static bool add_local(Code *code) {
    uint64_t local = 0;
    bool recursive = false;
    code->visited = true;
    code->local_bytes = 0; // an earlier launch may have left a size, which a cycle would read
    for (uint32_t k = 0; k < code->callee_count; k++) {
        Code *callee = code->callees[k];
        if (!callee->visited)
            recursive |= add_local(callee);
        else if (!callee->followed)
            recursive = true;
        if (callee->local_bytes > local) local = callee->local_bytes;
    }
    code->followed = true;
    local += align_up(code->source->local_bytes, LOCAL_ALIGN);
    code->local_bytes = local > STACK_LIMIT ? STACK_LIMIT : (uint32_t)local;
    return recursive;
}

// Gives every function its own place in the warps' register stacks, starting at `at`, since lanes
// of one warp may be in different functions at the same time. `last`: the function that was placed
// last. Returns the end of the stack.
static uint64_t place_frames(Code *code, uint64_t at, bool recursive, Code **last) {
    code->visited = true;
    code->next_frame = NULL;
    if (*last) (*last)->next_frame = code;
    *last = code;
    code->frame_base = (uint32_t)at;
    code->recursive = recursive && code->callee_count;
    at += align_up(code->frame_bytes, FRAME_ALIGN);
    for (uint32_t k = 0; k < code->callee_count && at <= STACK_LIMIT; k++)
        if (!code->callees[k]->visited) at = place_frames(code->callees[k], at, recursive, last);
    return at;
}

void kernel_clear_visited(const Kernel *kernel) {
    for (uint32_t k = 0; k < kernel->module->ptx->function_count; k++)
        if (kernel->codes[k]) kernel->codes[k]->visited = kernel->codes[k]->followed = false;
}

static SimtStatus refuse_size(const Kernel *kernel, const char *what, uint64_t have, uint64_t limit,
                              SimtError *error) {
    const PtxFunction *function = kernel->code->source;
    const PtxPlace place = function->inst_count ? function->insts[0].place : (PtxPlace){0, 0};
    const uint32_t line = function->inst_count ? function->insts[0].ptx_line : function->ptx_line;
    char at[256];
    ptx_write_place(kernel->module->ptx, place, line, at, sizeof at);
    snprintf(error->text, sizeof error->text, "%s: %s: %llu, at most %llu", at, what,
             (unsigned long long)have, (unsigned long long)limit);
    return SIMT_UNSUPPORTED;
}

static SimtStatus check_size(const Kernel *kernel, const Frames *frames, SimtError *error) {
    const Code *code = kernel->code;
    const uint64_t local = frames->recursive ? code->source->local_bytes : code->local_bytes;
    if (frames->stack_bytes > STACK_LIMIT)
        return refuse_size(kernel, "bytes of registers per warp", frames->stack_bytes, STACK_LIMIT,
                           error);
    if (local > DEVICE_LOCAL)
        return refuse_size(kernel, "bytes of local memory per thread", local, DEVICE_LOCAL, error);
    return SIMT_OK;
}

SimtStatus kernel_prepare(Kernel *kernel, Frames *frames, SimtError *error) {
    Module *module = kernel->module;
    Code *code = kernel->code;
    SimtStatus status;
    if (!kernel->codes)
        kernel->codes = ARENA_NEW(&module->arena, module->ptx->function_count, Code *);
    const bool good = lower_all(kernel, code, &status, error);
    kernel_clear_visited(kernel);
    if (!good) return status;
    kernel_clear_visited(kernel);
    frames->recursive = add_local(code);
    kernel_clear_visited(kernel);
    frames->stack_bytes = place_frames(code, 0, frames->recursive, &(Code *){NULL});
    kernel_clear_visited(kernel);
    return check_size(kernel, frames, error);
}
