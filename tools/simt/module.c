// Modules: PTX parsed, variables in device memory, functions lowered when a kernel first needs
// them, kernels launched. The interface is simt.h.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "launch.h"
#include "trace.h"

#define RECURSION_FRAMES 32 // calls that recursion may nest
#define STACK_LIMIT      (1u << 25)
#define LOCAL_LIMIT      (512u * 1024) // CUDA C++ Programming Guide, "Technical Specifications"

struct Kernel {
    Module *module;
    Code *code;
    char *mangled;
    size_t *parameter_bytes;
    uint32_t shared_bytes, shared_align;
    Kernel *next;
};

struct Module {
    PtxModule *ptx;
    Arena arena;
    SlotTable slots;
    Code **codes;        // by function
    uint64_t *addresses; // by variable
    uint64_t memory;
    size_t constant_bytes;
    uint32_t shared_bytes; // of variables outside kernels
    uint32_t dynamic_align;
    Kernel *kernels;
};

static uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) & ~(align - 1);
}

static void set_error(SimtError *error, const char *origin, uint32_t line, const char *text,
                      Str name) {
    (void)snprintf(error->text, sizeof error->text, "%.200s:%u: %s `%.*s`", origin, line, text,
                   (int)(name.len > 200 ? 200 : name.len), name.at);
}

// Variables

static bool variable_address(void *context, const PtxVariable *variable, uint64_t *address) {
    Module *module = context;
    if (variable->space == PTX_SHARED || variable->space == PTX_PARAM) {
        *address = variable->offset;
        return true;
    }
    for (uint32_t k = 0; k < module->ptx->variable_count; k++) {
        if (module->ptx->variables[k] != variable || !module->addresses[k]) continue;
        *address = module->addresses[k];
        return true;
    }
    return false;
}

static Code *function_code(void *context, const PtxFunction *function) {
    Module *module = context;
    size_t index = (size_t)(function - module->ptx->functions);
    if (!module->codes[index]) {
        module->codes[index] = ARENA_NEW(&module->arena, 1, Code);
        module->codes[index]->source = function;
    }
    return module->codes[index];
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
        if (!(target && variable_address(module, target, &value)) && !function) {
            *status = SIMT_INVALID_PTX;
            set_error(error, module->ptx->origin, reference->ptx_line, "unknown name",
                      reference->symbol);
            return false;
        }
        if (!target) value = (uint64_t)(uintptr_t)function_code(module, function);
        value = (value + (uint64_t)reference->addend) >> reference->shift;
        memcpy(at + reference->offset, &value, reference->bytes > 8 ? 8 : reference->bytes);
    }
    return true;
}

// All global and constant variables lie in one piece of device memory.
static bool place_variables(Module *module, SimtStatus *status, SimtError *error) {
    PtxModule *ptx = module->ptx;
    uint64_t bytes = 0;
    module->addresses = ARENA_NEW(&module->arena, ptx->variable_count + 1u, uint64_t);
    for (uint32_t k = 0; k < ptx->variable_count; k++) {
        PtxVariable *variable = ptx->variables[k];
        if (variable->space == PTX_SHARED) {
            if (variable->external) {
                if (variable->align > module->dynamic_align) {
                    module->dynamic_align = variable->align;
                }
                continue;
            }
            uint64_t at = align_up(module->shared_bytes, variable->align);
            if (at + variable->bytes > UINT32_MAX / 2) {
                *status = SIMT_OUT_OF_RESOURCES;
                set_error(error, ptx->origin, variable->ptx_line, "no room for", variable->name);
                return false;
            }
            variable->offset = at;
            module->shared_bytes = (uint32_t)(at + variable->bytes);
        } else if (!variable->external) {
            bytes = align_up(bytes, variable->align < 16 ? 16 : variable->align) + variable->bytes;
            if (variable->space == PTX_CONST) module->constant_bytes += variable->bytes;
            if (bytes >= (uint64_t)1 << 46) break;
        }
    }
    if (!bytes) return true;
    module->memory = bytes < (uint64_t)1 << 46 ? memory_alloc(bytes) : 0;
    if (!module->memory) {
        *status = SIMT_OUT_OF_MEMORY;
        (void)snprintf(error->text, sizeof error->text, "%.200s: no memory for its variables",
                       ptx->origin);
        return false;
    }
    uint64_t at = module->memory;
    for (uint32_t k = 0; k < ptx->variable_count; k++) {
        const PtxVariable *variable = ptx->variables[k];
        if (variable->space == PTX_SHARED || variable->external) continue;
        at = align_up(at, variable->align < 16 ? 16 : variable->align);
        module->addresses[k] = at;
        at += variable->bytes;
    }
    for (uint32_t k = 0; k < ptx->variable_count; k++) {
        if (!module->addresses[k]) continue;
        if (!fill_variable(module, ptx->variables[k], module->addresses[k], status, error)) {
            return false;
        }
    }
    return true;
}

// Shared memory inside functions: a kernel's own variables come after those of the module, if it
// (or a function it calls) uses any of these; those of a function that is called count as the
// module's.

static bool names_shared(const PtxOperand *operand) {
    if (operand->variable && operand->variable->space == PTX_SHARED) return true;
    for (uint32_t k = 0; k < operand->count; k++) {
        if (names_shared(&operand->items[k])) return true;
    }
    return false;
}

static bool own_variable(const PtxFunction *function, const PtxVariable *variable) {
    for (uint32_t k = 0; k < function->variable_count; k++) {
        if (function->variables[k] == variable) return true;
    }
    return false;
}

static bool uses_module_shared(const PtxFunction *function) {
    for (uint32_t k = 0; k < function->inst_count; k++) {
        const PtxInst *inst = &function->insts[k];
        if (str_starts(inst->opcode, STR("call"))) return true;
        for (uint32_t j = 0; j < inst->operand_count; j++) {
            const PtxOperand *operand = &inst->operands[j];
            if (!names_shared(operand)) continue;
            if (operand->variable && !operand->variable->external &&
                !own_variable(function, operand->variable)) {
                return true;
            }
        }
    }
    return false;
}

static uint32_t place_shared(const PtxFunction *function, uint64_t start, uint32_t *align) {
    uint64_t at = start;
    for (uint32_t k = 0; k < function->variable_count; k++) {
        PtxVariable *variable = function->variables[k];
        if (variable->space != PTX_SHARED) continue;
        at = align_up(at, variable->align);
        variable->offset = at;
        at += variable->bytes;
        if (variable->align > *align) *align = variable->align;
    }
    return at > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)at;
}

// Kernels

static bool lower_all(Module *module, Code *code, SimtStatus *status, SimtError *error) {
    Lowering lowering = {.module = module->ptx,
                         .arena = &module->arena,
                         .slots = &module->slots,
                         .variable_address = variable_address,
                         .function_code = function_code,
                         .context = module,
                         .error = error};
    if (!code->lowered && !code_lower(&lowering, code)) {
        *status = lowering.status;
        return false;
    }
    code->visited = true;
    bool good = true;
    for (uint32_t k = 0; good && k < code->callee_count; k++) {
        Code *callee = code->callees[k];
        if (!callee->visited) good = lower_all(module, callee, status, error);
        code->ordered |= callee->ordered;
        code->reserved |= callee->reserved;
    }
    return good;
}

// Adds up local memory along calls; recursion gets room for a number of rounds. True if there is
// any recursion.
static bool add_local(Code *code) {
    uint64_t local = 0;
    bool cycle = false, any = false;
    code->visited = true;
    for (uint32_t k = 0; k < code->callee_count; k++) {
        Code *callee = code->callees[k];
        if (!callee->visited) {
            any |= add_local(callee);
        } else if (!callee->followed) {
            cycle = true;
        }
        if (callee->local_bytes > local) local = callee->local_bytes;
    }
    code->followed = true;
    local += align_up(code->source->local_bytes, 16);
    if (cycle) local *= RECURSION_FRAMES;
    code->local_bytes = local > STACK_LIMIT ? STACK_LIMIT : (uint32_t)local;
    return cycle || any;
}

// Gives every function its own place in the warps' register stacks: lanes of one warp may be in
// different functions at a time, whose registers lie differently.
static uint64_t place_frames(Code *code, uint64_t at, uint32_t rounds) {
    code->visited = true;
    code->frame_base = (uint32_t)at;
    code->frame_rounds = rounds;
    at += align_up(code->frame_bytes, 64) * rounds;
    for (uint32_t k = 0; k < code->callee_count && at <= STACK_LIMIT; k++) {
        if (!code->callees[k]->visited) {
            at = place_frames(code->callees[k], at, rounds);
        }
    }
    return at;
}

static void clear_visited(Module *module) {
    for (uint32_t k = 0; k < module->ptx->function_count; k++) {
        if (module->codes[k]) module->codes[k]->visited = module->codes[k]->followed = false;
    }
}

static Kernel *kernel_new(Module *module, const PtxFunction *function) {
    Kernel *kernel = ARENA_NEW(&module->arena, 1, Kernel);
    kernel->module = module;
    kernel->code = function_code(module, function);
    kernel->mangled = str_terminated(&module->arena, function->name);
    kernel->parameter_bytes = ARENA_NEW(&module->arena, function->param_count + 1u, size_t);
    for (uint32_t k = 0; k < function->param_count; k++) {
        kernel->parameter_bytes[k] = function->params[k].bytes;
    }
    kernel->shared_align = module->dynamic_align;
    uint64_t start = uses_module_shared(function) ? module->shared_bytes : 0;
    kernel->shared_bytes = place_shared(function, start, &kernel->shared_align);
    kernel->next = module->kernels;
    module->kernels = kernel;
    return kernel;
}

Module *module_load(Str text, const char *origin, SimtStatus *status, SimtError *error) {
    error->text[0] = '\0';
    PtxModule *ptx = ptx_parse(text, origin, status, error);
    if (!ptx) return NULL;
    Arena arena = {0};
    Module *module = ARENA_NEW(&arena, 1, Module);
    module->arena = arena;
    module->ptx = ptx;
    module->dynamic_align = 16;
    module->codes = ARENA_NEW(&module->arena, ptx->function_count + 1u, Code *);
    if (!place_variables(module, status, error)) {
        module_unload(module);
        return NULL;
    }
    for (uint32_t k = 0; k < ptx->function_count; k++) {
        const PtxFunction *function = &ptx->functions[k];
        if (!function->defined || function->entry) continue;
        module->shared_bytes = place_shared(function, module->shared_bytes, &module->dynamic_align);
    }
    for (uint32_t k = 0; k < ptx->function_count; k++) {
        const PtxFunction *function = &ptx->functions[k];
        if (function->defined && function->entry) (void)kernel_new(module, function);
    }
    *status = SIMT_OK;
    return module;
}

void module_unload(Module *module) {
    if (!module) return;
    if (module->memory) (void)memory_free(module->memory);
    ptx_free(module->ptx);
    Arena arena = module->arena;
    arena_free(&arena);
}

Kernel *module_kernel(Module *module, const char *mangled) {
    for (Kernel *kernel = module->kernels; kernel; kernel = kernel->next) {
        if (strcmp(kernel->mangled, mangled) == 0) return kernel;
    }
    return NULL;
}

bool module_variable(Module *module, const char *mangled, uint64_t *address, size_t *bytes) {
    const PtxVariable *variable = ptx_variable(module->ptx, str_of(mangled));
    if (!variable || variable->space == PTX_SHARED) return false;
    *bytes = variable->bytes;
    return variable_address(module, variable, address);
}

void kernel_info(const Kernel *kernel, KernelInfo *info) {
    const PtxFunction *function = kernel->code->source;
    uint32_t words = 0;
    for (uint32_t k = 0; k < function->register_count; k++) {
        uint32_t bytes = ptx_type_bytes(function->registers[k].type);
        words += bytes == 8 ? 2 : bytes ? 1 : 0;
    }
    // PTX names every value once; about a quarter of them live at the same time.
    uint32_t registers = 16 + words / 4;
    *info = (KernelInfo){.mangled = kernel->mangled,
                         .parameter_count = function->param_count,
                         .parameter_bytes = kernel->parameter_bytes,
                         .static_shared_bytes = kernel->shared_bytes,
                         .local_bytes = function->local_bytes,
                         .constant_bytes = kernel->module->constant_bytes,
                         .registers = registers > 255 ? 255 : registers,
                         .max_threads_per_block = DEVICE_MAX_THREADS,
                         .ptx_version = kernel->module->ptx->version,
                         .sm_target = kernel->module->ptx->target};
    if (function->max_threads && function->max_threads < DEVICE_MAX_THREADS) {
        info->max_threads_per_block = function->max_threads;
    }
}

static SimtStatus refuse(SimtError *error, SimtStatus status, const char *text,
                         unsigned long long have, unsigned long long limit) {
    (void)snprintf(error->text, sizeof error->text, "%s: %llu, at most %llu", text, have, limit);
    return status;
}

static SimtStatus check_launch(const Kernel *kernel, const Launch *launch, SimtError *error) {
    KernelInfo info;
    kernel_info(kernel, &info);
    Dim3 grid = launch->grid, block = launch->block;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z) {
        (void)snprintf(error->text, sizeof error->text, "a dimension of the launch is 0");
        return SIMT_INVALID_CONFIG;
    }
    uint64_t threads = (uint64_t)block.x * block.y;
    threads = threads > UINT32_MAX ? threads : threads * block.z;
    if (threads > info.max_threads_per_block) {
        return refuse(error, SIMT_INVALID_CONFIG, "threads per block", threads,
                      info.max_threads_per_block);
    }
    if (block.z > DEVICE_MAX_BLOCK_Z) {
        return refuse(error, SIMT_INVALID_CONFIG, "block z", block.z, DEVICE_MAX_BLOCK_Z);
    }
    if (grid.x > DEVICE_MAX_GRID_X || grid.y > DEVICE_MAX_GRID_YZ || grid.z > DEVICE_MAX_GRID_YZ) {
        (void)snprintf(error->text, sizeof error->text, "the grid is too large");
        return SIMT_INVALID_CONFIG;
    }
    Dim3 required = kernel->code->source->required;
    if (required.x && (required.x != block.x || required.y != block.y || required.z != block.z)) {
        (void)snprintf(error->text, sizeof error->text, "the kernel requires blocks of %ux%ux%u",
                       required.x, required.y, required.z);
        return SIMT_INVALID_CONFIG;
    }
    if ((uint64_t)launch->cluster.x * launch->cluster.y * launch->cluster.z > 1) {
        (void)snprintf(error->text, sizeof error->text, "clusters of blocks are not supported");
        return SIMT_UNSUPPORTED;
    }
    uint64_t shared = (uint64_t)kernel->shared_bytes + launch->dynamic_shared_bytes;
    if (shared > DEVICE_SHARED_OPTIN) {
        return refuse(error, SIMT_OUT_OF_RESOURCES, "bytes of shared memory per block", shared,
                      DEVICE_SHARED_OPTIN);
    }
    return SIMT_OK;
}

// Known once the kernel and what it calls are lowered.
static SimtStatus check_room(const Kernel *kernel, uint64_t stack_bytes, SimtError *error) {
    if (stack_bytes > STACK_LIMIT) {
        return refuse(error, SIMT_OUT_OF_RESOURCES, "bytes of registers per warp", stack_bytes,
                      STACK_LIMIT);
    }
    if (kernel->code->local_bytes > LOCAL_LIMIT) {
        return refuse(error, SIMT_OUT_OF_RESOURCES, "bytes of local memory per thread",
                      kernel->code->local_bytes, LOCAL_LIMIT);
    }
    return SIMT_OK;
}

static void copy_arguments(const Kernel *kernel, const Launch *launch, uint8_t *params) {
    const PtxFunction *function = kernel->code->source;
    for (uint32_t k = 0; k < function->param_count; k++) {
        memcpy(params + function->params[k].offset, launch->arguments[k],
               function->params[k].bytes);
    }
}

const PtxInst *machine_instruction(const Machine *machine, const Inst *inst) {
    for (uint32_t k = 0; k < machine->code_count; k++) {
        const Code *code = machine->codes[k];
        if (!code || inst < code->insts || inst >= code->insts + code->count) continue;
        return inst->ptx < code->source->inst_count ? &code->source->insts[inst->ptx] : NULL;
    }
    return NULL;
}

static void hook_all(Module *module, Op *hook) {
    for (uint32_t k = 0; k < module->ptx->function_count; k++) {
        if (module->codes[k] && module->codes[k]->lowered) code_hook(module->codes[k], hook);
    }
}

// What a cooperative launch's blocks share: cooperative groups count arrivals at a grid-wide
// barrier in its second word.
#define WORKSPACE_BYTES 64

static SimtStatus run(Kernel *kernel, const Launch *launch, const SimtOptions *options,
                      LaunchReport *report, SimtError *error, Machine *machine) {
    Module *module = kernel->module;
    Code *code = kernel->code;
    uint32_t slots = module->slots.count;
    Tally *tally = ARENA_NEW(&report->arena, slots + 1u, Tally);
    machine->params = ARENA_NEW(&report->arena, machine->param_bytes + 8u, uint8_t);
    copy_arguments(kernel, launch, machine->params);
    if (machine->cooperative) {
        machine->grid_workspace = memory_alloc(WORKSPACE_BYTES);
        if (!machine->grid_workspace) return SIMT_OUT_OF_MEMORY;
        memset(memory_at(machine->grid_workspace), 0, WORKSPACE_BYTES);
    }
    bool ordered = code->ordered || machine->cooperative || options->path;
    SimtStatus status = SIMT_OK;
    if (options->path) {
        status = trace_open(machine, options->path, kernel->mangled, error);
        if (status == SIMT_OK) hook_all(module, trace_op);
    }
    if (options->check) hook_all(module, check_hook);
    if (status == SIMT_OK && !launch_run(machine, ordered, tally, slots)) {
        (void)snprintf(error->text, sizeof error->text, "no host memory for the blocks");
        status = SIMT_OUT_OF_MEMORY;
    }
    if (options->path) {
        hook_all(module, NULL);
        if (!trace_close(machine) && status == SIMT_OK) {
            (void)snprintf(error->text, sizeof error->text, "cannot write %.500s", options->path);
            status = SIMT_OUT_OF_RESOURCES;
        }
    }
    if (options->check) {
        hook_all(module, NULL);
        checker_report(machine, report);
    }
    if (machine->grid_workspace) (void)memory_free(machine->grid_workspace);
    if (status == SIMT_OK && machine->status != SIMT_OK) {
        *error = machine->error;
        status = machine->status;
    }
    report_fill(report, module->ptx, &module->slots, tally, options->lines);
    return status;
}

SimtStatus kernel_launch(Kernel *kernel, const Launch *launch, const SimtOptions *options,
                         LaunchReport *report, SimtError *error) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t launches;
    *report = (LaunchReport){0};
    error->text[0] = '\0';
    SimtStatus status = check_launch(kernel, launch, error);
    if (status != SIMT_OK) return status;
    (void)pthread_mutex_lock(&one_at_a_time);
    Module *module = kernel->module;
    Code *code = kernel->code;
    clear_visited(module);
    if (!lower_all(module, code, &status, error)) {
        (void)pthread_mutex_unlock(&one_at_a_time);
        return status;
    }
    clear_visited(module);
    bool recursive = add_local(code);
    clear_visited(module);
    uint64_t stack_bytes = place_frames(code, 0, recursive ? RECURSION_FRAMES : 1);
    clear_visited(module);
    status = check_room(kernel, stack_bytes, error);
    if (status != SIMT_OK) {
        (void)pthread_mutex_unlock(&one_at_a_time);
        return status;
    }
    uint32_t threads = launch->block.x * launch->block.y * launch->block.z;
    Machine machine = {
        .code = code,
        .codes = module->codes,
        .code_count = module->ptx->function_count,
        .entry = code->insts,
        .grid = launch->grid,
        .block = launch->block,
        .cluster = {1, 1, 1},
        .block_count = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z,
        .threads_per_block = threads,
        .warps_per_block = (threads + LANES - 1) / LANES,
        .static_shared = kernel->shared_bytes,
        .dynamic_shared = launch->dynamic_shared_bytes,
        .dynamic_base = (uint32_t)align_up(kernel->shared_bytes, kernel->shared_align),
        .local_bytes = code->local_bytes,
        .stack_bytes = (uint32_t)align_up(stack_bytes, 64),
        .param_bytes = code->source->param_bytes,
        .grid_id = ++launches,
        .cooperative = launch->cooperative,
        .module = module->ptx,
        .options = options,
    };
    if (code->reserved) {
        machine.reserved_base =
            (uint32_t)align_up(machine.dynamic_base + machine.dynamic_shared + 1, 128);
    }
    status = run(kernel, launch, options, report, error, &machine);
    (void)pthread_mutex_unlock(&one_at_a_time);
    return status;
}
