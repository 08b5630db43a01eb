// Loads modules: parses PTX, places variables in device memory, and finds kernels and variables by
// name. The interface is device.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/device/module_inside.h"
#include "simt/memory/memory.h"

#define LARGEST_MODULE ((uint64_t)1 << 46) // bytes of variables
#define LARGEST_SHARED ((uint64_t)1 << 30) // bytes of one shared variable

static void set_error(SimtError *error, const char *origin, uint32_t line, const char *text,
                      Str name) {
    snprintf(error->text, sizeof error->text, "%.200s:%u: %s `%.*s`", origin, line, text,
             (int)(name.len > 200 ? 200 : name.len), name.at);
}

// --- variables ---

bool module_variable_address(const Module *module, const PtxVariable *variable, uint64_t *address) {
    if (variable->space == PTX_SHARED || variable->space == PTX_PARAM) {
        *address = variable->offset;
        return true;
    }
    if (variable->whole) {
        if (!module_variable_address(module, variable->whole, address)) return false;
        *address += variable->offset;
        return true;
    }
    for (uint32_t k = 0; k < module->ptx->variable_count; k++) {
        if (module->ptx->variables[k] != variable || !module->addresses[k]) continue;
        *address = module->addresses[k];
        return true;
    }
    return false;
}

Code *module_code_new(Module *module, const PtxFunction *source, uint32_t number) {
    Code *code = ARENA_NEW(&module->arena, 1, Code);
    *code = (Code){.source = source, .number = number, .address = (uint64_t)(uintptr_t)code};
    ARENA_GROW(&module->arena, module->every_code, module->code_count, module->code_capacity);
    module->every_code[module->code_count++] = code;
    return code;
}

Code *module_function_code(Module *module, const PtxFunction *function) {
    const uint32_t number = (uint32_t)(function - module->ptx->functions);
    if (!module->codes[number]) module->codes[number] = module_code_new(module, function, number);
    return module->codes[number];
}

static bool fill_variable(Module *module, const PtxVariable *variable, uint64_t address,
                          SimtStatus *status, SimtError *error) {
    uint8_t *at = memory_at(address);
    memset(at, 0, variable->bytes);
    if (variable->data_bytes) memcpy(at, variable->data, variable->data_bytes);
    for (size_t k = 0; k < variable->reference_count; k++) {
        const PtxReference *reference = &variable->references[k];
        uint64_t value = 0;
        const PtxVariable *target = ptx_variable(module->ptx, reference->symbol);
        const PtxFunction *function = ptx_function(module->ptx, reference->symbol);
        if (!(target && module_variable_address(module, target, &value)) && !function) {
            *status = SIMT_INVALID_PTX;
            set_error(error, module->ptx->origin, reference->ptx_line, "unknown name",
                      reference->symbol);
            return false;
        }
        if (!target) value = module_function_code(module, function)->address;
        value = (value + (uint64_t)reference->addend) >> reference->shift;
        memcpy(at + reference->offset, &value, reference->bytes > 8 ? 8 : reference->bytes);
    }
    return true;
}

static uint64_t variable_align(const PtxVariable *variable) {
    return variable->align < 16 ? 16 : variable->align;
}

// Notes a shared variable outside kernels. False: it is too large.
static bool check_shared(Module *module, const PtxVariable *variable) {
    if (!variable->external) return variable->bytes <= LARGEST_SHARED;
    const uint32_t align = variable->align < 16 ? 16 : variable->align;
    if (align > module->dynamic_align) module->dynamic_align = align;
    return true;
}

// Checks variables and adds up constants. False: a shared variable is too large.
static bool check_variables(Module *module, const PtxVariable **too_large) {
    const PtxModule *ptx = module->ptx;
    for (uint32_t k = 0; k < ptx->variable_count; k++) {
        const PtxVariable *variable = ptx->variables[k];
        *too_large = variable;
        if (variable->space == PTX_SHARED && !check_shared(module, variable)) return false;
        if (variable->space == PTX_CONST && !variable->external)
            module->constant_bytes += variable->bytes;
    }
    return true;
}

static bool is_placed(const PtxVariable *variable, MemoryKind kind) {
    const MemoryKind own = variable->managed              ? MEMORY_VARIABLES
                           : variable->space == PTX_CONST ? MEMORY_CONSTANTS
                                                          : MEMORY_MODULE;
    return variable->space != PTX_SHARED && !variable->external && own == kind;
}

// Places the variables of a kind in one allocation. False: out of device memory.
static bool place_kind(Module *module, MemoryKind kind, uint64_t *base) {
    const PtxModule *ptx = module->ptx;
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < ptx->variable_count && bytes < LARGEST_MODULE; k++) {
        const PtxVariable *variable = ptx->variables[k];
        if (is_placed(variable, kind))
            bytes = align_up(bytes, variable_align(variable)) + variable->bytes;
    }
    if (!bytes) return true;
    *base = bytes < LARGEST_MODULE ? memory_alloc_kind(bytes, kind) : 0;
    if (!*base) return false;
    uint64_t at = *base;
    for (uint32_t k = 0; k < ptx->variable_count; k++) {
        const PtxVariable *variable = ptx->variables[k];
        if (!is_placed(variable, kind)) continue;
        module->addresses[k] = at = align_up(at, variable_align(variable));
        at += variable->bytes;
    }
    return true;
}

bool module_place_variables(Module *module, SimtStatus *status, SimtError *error) {
    const PtxModule *ptx = module->ptx;
    const PtxVariable *too_large = NULL;
    module->addresses = ARENA_NEW(&module->arena, ptx->variable_count + 1u, uint64_t);
    if (!check_variables(module, &too_large)) {
        *status = SIMT_OUT_OF_RESOURCES;
        set_error(error, ptx->origin, too_large->ptx_line, "no room for", too_large->name);
        return false;
    }
    if (!place_kind(module, MEMORY_MODULE, &module->memory) ||
        !place_kind(module, MEMORY_CONSTANTS, &module->constant_memory) ||
        !place_kind(module, MEMORY_VARIABLES, &module->managed_memory)) {
        *status = SIMT_OUT_OF_MEMORY;
        snprintf(error->text, sizeof error->text, "%.200s: no memory for its variables",
                 ptx->origin);
        return false;
    }
    bool good = true;
    for (uint32_t k = 0; good && k < ptx->variable_count; k++)
        if (module->addresses[k])
            good = fill_variable(module, ptx->variables[k], module->addresses[k], status, error);
    return good;
}

Kernel *module_kernel_new(Module *module, PtxFunction *function) {
    Kernel *kernel = ARENA_NEW(&module->arena, 1, Kernel);
    kernel->module = module;
    kernel->code = module_function_code(module, function);
    kernel->mangled = str_terminated(&module->arena, function->name);
    kernel->parameter_bytes = ARENA_NEW(&module->arena, function->param_count + 1u, size_t);
    for (uint32_t k = 0; k < function->param_count; k++)
        kernel->parameter_bytes[k] = function->params[k].bytes;
    kernel->next = module->kernels;
    module->kernels = kernel;
    return kernel;
}

static void ptx_kernel_new(Module *module, PtxFunction *function) {
    Kernel *kernel = module_kernel_new(module, function);
    static_shared_place(&module->arena, module->uses, function, &kernel->static_shared);
    kernel->shared_bytes = (uint32_t)align_up(kernel->static_shared.bytes, module->dynamic_align);
}

static bool load_ptx(Module *module, Str text, const char *origin, SimtStatus *status,
                     SimtError *error) {
    PtxModule *ptx = ptx_parse(&module->arena, text, origin, status, error);
    if (!ptx) return false;
    module->ptx = ptx;
    module->dynamic_align = 1;
    module->codes = ARENA_NEW(&module->arena, ptx->function_count + 1u, Code *);
    if (!module_place_variables(module, status, error)) return false;
    module->uses = shared_uses(&module->arena, ptx);
    for (uint32_t k = 0; k < ptx->function_count; k++) {
        PtxFunction *function = &ptx->functions[k];
        if (function->defined && function->entry) ptx_kernel_new(module, function);
    }
    *status = SIMT_OK;
    return true;
}

static bool no_memory(const char *origin, SimtStatus *status, SimtError *error) {
    *status = SIMT_OUT_OF_MEMORY;
    snprintf(error->text, sizeof error->text, "%.200s: no host memory to load it", origin);
    return false;
}

// When memory runs out, arenas jump back to here.
static bool load_or_leave(LoadModule *load, Module *module, Str text, const char *origin,
                          SimtStatus *status, SimtError *error) {
    jmp_buf leave;
    if (setjmp(leave)) return no_memory(origin, status, error);
    module->arena.leave = &leave;
    return load(module, text, origin, status, error);
}

Module *module_new(LoadModule *load, Str text, const char *origin, SimtStatus *status,
                   SimtError *error) {
    error->text[0] = '\0';
    Module *module = calloc(1, sizeof *module);
    bool good = module ? load_or_leave(load, module, text, origin, status, error)
                       : no_memory(origin, status, error);
    if (!good) {
        module_unload(module);
        return NULL;
    }
    module->arena.leave = NULL;
    return module;
}

Module *module_load(Str text, const char *origin, SimtStatus *status, SimtError *error) {
    return module_new(load_ptx, text, origin, status, error);
}

void module_unload(Module *module) {
    if (!module) return;
    if (module->memory) memory_free(module->memory);
    if (module->constant_memory) memory_free(module->constant_memory);
    if (module->managed_memory) memory_free(module->managed_memory);
    arena_free(&module->arena);
    free(module);
}

Kernel *module_kernel(Module *module, const char *mangled) {
    for (Kernel *kernel = module->kernels; kernel; kernel = kernel->next)
        if (strcmp(kernel->mangled, mangled) == 0) return kernel;
    return NULL;
}

bool module_variable(Module *module, const char *mangled, uint64_t *address, size_t *bytes) {
    const PtxVariable *variable = ptx_variable(module->ptx, str_of(mangled));
    if (!variable || variable->space == PTX_SHARED) return false;
    *bytes = variable->bytes;
    return module_variable_address(module, variable, address);
}
