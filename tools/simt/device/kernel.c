// Kernels: what they are, functions lowered when a kernel first needs them, launches. The
// interface is device.h.
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "simt/base/limits.h"
#include "simt/device/module_inside.h"
#include "simt/device/orders.h"
#include "simt/exec/schedule.h"
#include "simt/lower/lowering.h"
#include "simt/observe/count/banks.h"
#include "simt/observe/trace.h"
#include "simt/sass/lower.h"
#include "simt/time/record.h"

#define RECURSION_LEAST (64u << 10) // bytes of local memory for recursion, whatever the launch says
#define STACK_LIMIT     (1u << 25)

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
        module->uses ? shared_room_function(arena, module->uses, &kernel->room, function)
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
        // Nothing of an attempt that did not succeed.
        *code = (Code){.source = code->source, .number = code->number, .address = code->address};
        const bool good = module->machine ? sass_lower(&lowering, module->machine, code)
                                          : lower_function(&lowering, code);
        if (!good) {
            *status = lowering.status;
            return false;
        }
    }
    code->visited = true;
    kernel->codes[code->number] = code;
    bool good = true; // so far
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

// Adds up local memory along calls, but for calls of functions that are under way. True if there
// are any of these.
static bool add_local(Code *code) {
    uint64_t local = 0;
    bool recursive = false;
    code->visited = true;
    code->local_bytes = 0; // of an earlier launch: not yet known when a cycle comes back here
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

// Gives every function its own place in the warps' register stacks: lanes of one warp may be in
// different functions at a time, whose registers lie differently. `last`: the one placed so far
// that is behind all others.
static uint64_t place_frames(Code *code, uint64_t at, bool recursive, Code **last) {
    code->visited = true;
    code->behind = NULL;
    if (*last) (*last)->behind = code;
    *last = code;
    code->frame_base = (uint32_t)at;
    code->recursive = recursive && code->callee_count;
    at += align_up(code->frame_bytes, FRAME_ALIGN);
    for (uint32_t k = 0; k < code->callee_count && at <= STACK_LIMIT; k++)
        if (!code->callees[k]->visited) at = place_frames(code->callees[k], at, recursive, last);
    return at;
}

// Codes that other kernels use as well are not left visited.
static void clear_visited(const Kernel *kernel) {
    for (uint32_t k = 0; k < kernel->module->ptx->function_count; k++)
        if (kernel->codes[k]) kernel->codes[k]->visited = kernel->codes[k]->followed = false;
}

static bool releases(const PtxFunction *function) {
    for (uint32_t k = 0; k < function->inst_count; k++)
        if (str_equal(function->insts[k].opcode, STR("griddepcontrol.launch_dependents")) ||
            str_equal(function->insts[k].opcode, STR("PREEXIT")))
            return true;
    return false;
}

void kernel_info(const Kernel *kernel, KernelInfo *info) {
    const PtxFunction *function = kernel->code->source;
    uint32_t words = 0;
    for (uint32_t k = 0; k < function->register_count; k++) {
        uint32_t bytes = ptx_type_bytes(function->registers[k].type);
        words += bytes == 8 ? 2 : bytes ? 1 : 0;
    }
    // PTX names every value once; about a quarter of them live at the same time.
    uint32_t registers = kernel->registers ? kernel->registers : 16 + words / 4;
    *info = (KernelInfo){.mangled = kernel->mangled,
                         .parameter_count = function->param_count,
                         .parameter_bytes = kernel->parameter_bytes,
                         .static_shared_bytes = kernel->shared_bytes - kernel->shared_reserved,
                         .local_bytes = function->local_bytes,
                         .constant_bytes = kernel->module->constant_bytes,
                         .registers = registers > 255 ? 255 : registers,
                         .max_threads_per_block = DEVICE_MAX_THREADS,
                         .ptx_version = kernel->module->ptx->version,
                         .sm_target = kernel->module->ptx->target,
                         .cluster = function->cluster,
                         .max_cluster = function->max_cluster,
                         .explicit_cluster = function->explicit_cluster,
                         .releases = releases(function)};
    if (function->max_threads && function->max_threads < DEVICE_MAX_THREADS)
        info->max_threads_per_block = function->max_threads;
}

static SimtStatus refuse(SimtError *error, SimtStatus status, const char *text,
                         unsigned long long have, unsigned long long limit) {
    snprintf(error->text, sizeof error->text, "%s: %llu, at most %llu", text, have, limit);
    return status;
}

static SimtStatus check_cluster(const Launch *launch, SimtError *error) {
    const Dim3 grid = launch->grid, each = launch->cluster;
    if (each.x && each.y && each.z && grid.x % each.x == 0 && grid.y % each.y == 0 &&
        grid.z % each.z == 0 && (uint64_t)each.x * each.y * each.z <= DEVICE_CLUSTER_MOST)
        return SIMT_OK;
    snprintf(error->text, sizeof error->text,
             "a grid of %ux%ux%u blocks has no clusters of %ux%ux%u", grid.x, grid.y, grid.z,
             each.x, each.y, each.z);
    return SIMT_INVALID_CONFIG;
}

static SimtStatus check_launch(const Kernel *kernel, const Launch *launch, SimtError *error) {
    KernelInfo info;
    kernel_info(kernel, &info);
    Dim3 grid = launch->grid, block = launch->block;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z) {
        snprintf(error->text, sizeof error->text, "a dimension of the launch is 0");
        return SIMT_INVALID_CONFIG;
    }
    uint64_t threads = (uint64_t)block.x * block.y;
    threads = threads > UINT32_MAX ? threads : threads * block.z;
    if (threads > info.max_threads_per_block) {
        return refuse(error, SIMT_INVALID_CONFIG, "threads per block", threads,
                      info.max_threads_per_block);
    }
    if (block.z > DEVICE_MAX_BLOCK_Z)
        return refuse(error, SIMT_INVALID_CONFIG, "block z", block.z, DEVICE_MAX_BLOCK_Z);
    if (grid.x > DEVICE_MAX_GRID_X || grid.y > DEVICE_MAX_GRID_YZ || grid.z > DEVICE_MAX_GRID_YZ) {
        snprintf(error->text, sizeof error->text, "the grid is too large");
        return SIMT_INVALID_CONFIG;
    }
    Dim3 required = kernel->code->source->required;
    if (required.x && (required.x != block.x || required.y != block.y || required.z != block.z)) {
        snprintf(error->text, sizeof error->text, "the kernel requires blocks of %ux%ux%u",
                 required.x, required.y, required.z);
        return SIMT_INVALID_CONFIG;
    }
    SimtStatus status = check_cluster(launch, error);
    if (status != SIMT_OK) return status;
    uint64_t shared = (uint64_t)info.static_shared_bytes + launch->dynamic_shared_bytes;
    if (shared > DEVICE_SHARED_OPTIN) {
        return refuse(error, SIMT_OUT_OF_RESOURCES, "bytes of shared memory per block", shared,
                      DEVICE_SHARED_OPTIN);
    }
    return SIMT_OK;
}

// One launch while it is made ready, run and counted.
typedef struct {
    Kernel *kernel;
    const Launch *launch;
    const SimtOptions *options;
    LaunchReport *report;
    SimtError *error;
    uint64_t stack_bytes;
    bool recursive;
    Machine machine;
    // The observers of the launch; NULL: not wanted.
    Recorder *recorder;
    Check *check;
    Trace *trace;
    Banks *banks;
} Run;

static SimtStatus refuse_room(const Kernel *kernel, const char *what, uint64_t have, uint64_t limit,
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

// Known once the kernel and what it calls are lowered.
static SimtStatus check_room(const Run *run) {
    const Code *code = run->kernel->code;
    const uint64_t local = run->recursive ? code->source->local_bytes : code->local_bytes;
    if (run->stack_bytes > STACK_LIMIT)
        return refuse_room(run->kernel, "bytes of registers per warp", run->stack_bytes,
                           STACK_LIMIT, run->error);
    if (local > DEVICE_LOCAL)
        return refuse_room(run->kernel, "bytes of local memory per thread", local, DEVICE_LOCAL,
                           run->error);
    return SIMT_OK;
}

static void copy_arguments(const Kernel *kernel, const Launch *launch, uint8_t *params) {
    const PtxFunction *function = kernel->code->source;
    for (uint32_t k = 0; k < function->param_count; k++) {
        memcpy(params + function->params[k].offset, launch->arguments[k],
               function->params[k].bytes);
    }
}

static void put(uint8_t *to, uint64_t value, size_t bytes) { memcpy(to, &value, bytes); }

static void put_shape(uint8_t *to, Dim3 shape) {
    put(to, shape.x, 4);
    put(to + 4, shape.y, 4);
    put(to + 8, shape.z, 4);
}

// What machine code finds in constant bank 0 in front of the parameters.
static void fill_bank(const Machine *machine, const Launch *launch, uint8_t *bank) {
    put_shape(bank + SASS_BANK_BLOCK, launch->block);
    put_shape(bank + SASS_BANK_GRID, launch->grid);
    put_shape(bank + SASS_BANK_CLUSTER_SHAPE, machine->cluster);
    put(bank + SASS_BANK_LOCAL, address_window(PTX_LOCAL), 8);
    put(bank + SASS_BANK_STACK, machine->local_bytes, 4);
    put(bank + SASS_BANK_DYNAMIC, machine->dynamic_shared, 4);
    put(bank + SASS_BANK_WORKSPACE, machine->grid_workspace >> 32, 4);
    put(bank + SASS_BANK_WORKSPACE + 4, machine->grid_workspace, 4);
    put(bank + SASS_BANK_RESERVED, machine->reserved_bytes, 4);
    put(bank + SASS_BANK_RESERVED + 4, machine->reserved_bytes / 2, 4);
    put(bank + SASS_BANK_SMS, limits_sms(), 4);
    put(bank + SASS_BANK_CLUSTER, machine->explicit_cluster, 4);
    put(bank + SASS_BANK_CLUSTER_BLOCKS,
        machine->cluster.x * machine->cluster.y * machine->cluster.z, 4);
}

// What a cooperative launch's blocks share: cooperative groups count arrivals at a grid-wide
// barrier in its second word.
#define WORKSPACE_BYTES 64

static Recorder *record(const Machine *machine, const Kernel *kernel, const SimtOptions *options) {
    const PtxFunction *source = kernel->code->source;
    const Module *module = kernel->module;
    const SassFunction *function = &module->machine->functions[source - module->ptx->functions];
    return record_open(machine, function, source->inst_count, options->time, options->warm);
}

static bool lack_memory(const char *text, SimtStatus *status, SimtError *error) {
    *status = SIMT_OUT_OF_MEMORY;
    snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

// Opens the observers that the options ask for. False: the error says why not.
static bool open_observers(Run *run, SimtStatus *status) {
    Machine *machine = &run->machine;
    const SimtOptions *options = run->options;
    SimtError *error = run->error;
    if (options->time) {
        run->recorder = record(machine, run->kernel, options);
        if (!run->recorder) return lack_memory("no host memory for the prediction", status, error);
        machine->observer = &run->recorder->observer;
    }
    if (options->check) {
        run->check = check_open(machine, run->report->arena.leave);
        if (!run->check) return lack_memory("no host memory for the checks", status, error);
        machine->observer = check_observer(run->check);
    }
    if (options->instructions) {
        run->banks = banks_open(&run->kernel->module->slots);
        if (!run->banks)
            return lack_memory("no host memory for the report by instruction", status, error);
        machine->profile = banks_observer(run->banks);
    }
    if (!options->path) return true;
    run->trace = trace_open(options->path, run->kernel->mangled, machine, run->check, error);
    *status = errno == ENOMEM ? SIMT_OUT_OF_MEMORY : SIMT_OUT_OF_RESOURCES;
    if (run->trace) machine->trace = trace_observer(run->trace);
    return run->trace;
}

// Also after memory ran out. False: something was lost, as the error says.
static bool close_observers(const Run *run, SimtStatus *status, SimtError *error) {
    const bool traced = !run->trace || trace_close(run->trace);
    const bool checked = !run->check || check_close(run->check);
    if (run->recorder) record_close(run->recorder);
    if (run->banks) banks_close(run->banks);
    if (!checked) return lack_memory("no host memory for what the checks found", status, error);
    if (traced) return true;
    *status = SIMT_OUT_OF_RESOURCES;
    snprintf(error->text, sizeof error->text, "cannot write %.500s", run->options->path);
    return false;
}

static bool prepare_workspace(Machine *machine) {
    if (!machine->cooperative) return true;
    machine->grid_workspace = memory_alloc(WORKSPACE_BYTES);
    if (!machine->grid_workspace) return false;
    memset(memory_at(machine->grid_workspace), 0, WORKSPACE_BYTES);
    return true;
}

// How long it would have taken. False: out of memory.
static bool report_time(Run *run) {
    LaunchReport *report = run->report;
    const PtxModule *module = run->kernel->module->ptx;
    TimePrediction *time = ARENA_NEW(&report->arena, 1, TimePrediction);
    if (!time_predict(run->recorder, &report->arena, time)) return false;
    report->time = time;
    report->time_line_count =
        time_by_line(&report->arena, module, run->kernel->code->source, time, &report->time_lines);
    return true;
}

// What the launch did, for those who asked.
static void report_parts(Run *run, const Tally *tally) {
    const Module *module = run->kernel->module;
    LaunchReport *report = run->report;
    Arena *arena = &report->arena;
    // Functions that the launch in front of this one needed may have come since.
    const uint32_t count = run->machine.slot_count;
    const SlotTable slots = {module->slots.slots, count, count};
    counters_total(&report->total, &slots, tally);
    const bool counted = schedule_counts(&run->machine);
    report->longest_warp = counted ? run->machine.longest_warp : 0;
    report->waits = run->kernel->code->waits || (counted && run->machine.spun);
    if (run->options->lines)
        report->line_count = counters_by_line(arena, module->ptx, &slots, tally, &report->lines);
    if (run->options->check)
        report->hazard_count = check_report(run->check, arena, &report->hazards);
    if (run->options->check && run->launch->touched != TOUCHED_NONE)
        check_touched(run->check, arena, run->launch->touched, &report->touched);
    if (!run->options->instructions) return;
    report->module = module->ptx;
    report->function = run->kernel->code->source;
    report->span_count = counters_by_span(arena, &slots, tally, &report->spans);
    if (counted) report->bank_count = banks_report(run->banks, arena, &report->banks);
}

static SimtStatus run_blocks(Run *run) {
    Machine *machine = &run->machine;
    Module *module = run->kernel->module;
    LaunchReport *report = run->report;
    uint32_t slots = module->slots.count;
    Tally *tally = ARENA_NEW(&report->arena, slots + 1u, Tally);
    machine->params = ARENA_NEW(&report->arena, machine->param_bytes + 8u, uint8_t);
    copy_arguments(run->kernel, run->launch, machine->params);
    SimtStatus status;
    machine->ordered = run->kernel->code->ordered || machine->cooperative ||
                       machine->cluster_count < machine->block_count || run->options->path ||
                       machine->run_prerequisite;
    machine->partial = run->kernel->code->partial;
    machine->volatiles = run->kernel->code->volatiles && !run->options->allow_volatile;
    machine->slot_count = slots;
    machine->longest_of = run->options->longest ? &module->slots : NULL;
    if (!prepare_workspace(machine)) return SIMT_OUT_OF_MEMORY;
    if (module->machine) fill_bank(machine, run->launch, machine->params);
    if (!open_observers(run, &status)) return status;
    observer_watch(machine);
    const bool several = machine->block_count > 1 || machine->warps_per_block > 1;
    if (run->options->check && !machine->order && !machine->trace && !machine->after)
        orders_run(machine, run->check, run->options->orders,
                   several && run->kernel->code->order_matters ? &run->kernel->reordered : NULL,
                   report);
    bool enough = schedule_run(machine, tally, slots);
    machine_await_prerequisite(machine);
    status = machine->status;
    if (status != SIMT_OK) *run->error = machine->error;
    if (!enough) {
        snprintf(run->error->text, sizeof run->error->text, "no host memory for the blocks");
        status = SIMT_OUT_OF_MEMORY;
    }
    report_parts(run, tally);
    if (run->options->time && status == SIMT_OK && !report_time(run)) {
        snprintf(run->error->text, sizeof run->error->text, "no host memory for the prediction");
        status = SIMT_OUT_OF_MEMORY;
    }
    return status;
}

// Lowers what the kernel needs that has not run before, and finds how much room it takes.
static SimtStatus make_ready(Run *run) {
    Kernel *kernel = run->kernel;
    Module *module = kernel->module;
    Code *code = kernel->code;
    SimtStatus status;
    if (!kernel->codes)
        kernel->codes = ARENA_NEW(&module->arena, module->ptx->function_count, Code *);
    const bool good = lower_all(kernel, code, &status, run->error);
    clear_visited(kernel);
    if (!good) return status;
    clear_visited(kernel);
    run->recursive = add_local(code);
    clear_visited(kernel);
    run->stack_bytes = place_frames(code, 0, run->recursive, &(Code *){NULL});
    clear_visited(kernel);
    return check_room(run);
}

// The launch in front of this one runs in the middle of it. It may have changed where functions
// that both call have their registers, and who watches them.
static void run_prerequisite(void *context) {
    Run *run = context;
    run->launch->prerequisite(run->launch->context);
    make_ready(run);
    run->machine.codes = run->kernel->module->every_code;
    run->machine.code_count = run->kernel->module->code_count;
    observer_watch(&run->machine);
}

// Recursion has as much local memory as the launch says, of what a thread may have. Each call
// within calls uses some, also of functions without any of their own. Machine code does not tell
// how much its calls need.
static void give_local(Run *run) {
    Machine *machine = &run->machine;
    const uint64_t asked = align_up(run->launch->stack_bytes, LOCAL_ALIGN);
    uint64_t local = run->kernel->code->local_bytes;
    uint64_t more = asked > RECURSION_LEAST ? asked : RECURSION_LEAST;
    more = align_up(more < DEVICE_LOCAL ? more : DEVICE_LOCAL, LOCAL_ALIGN);
    if (!run->recursive) more = 0;
    if (run->kernel->code->deepens && local < asked) local = asked;
    machine->local_bytes = (uint32_t)(local < DEVICE_LOCAL ? local : DEVICE_LOCAL);
    machine->local_room = (uint32_t)(local + more < DEVICE_LOCAL ? local + more : DEVICE_LOCAL);
    machine->deeper_most = (uint32_t)(more / LOCAL_ALIGN);
}

// Hardware gives shared memory in units, and machine code may read all of the last one: the
// compiler joins loads, some of which nobody needs. From PTX that is an error.
static void place_shared(Run *run) {
    Machine *machine = &run->machine;
    const uint32_t end = machine->dynamic_base + machine->dynamic_shared;
    machine->shared_bytes = end;
    if (run->kernel->module->machine) {
        machine->shared_bytes = (uint32_t)align_up(end, DEVICE_SHARED_UNIT);
        machine->reserved_bytes = SASS_SHARED_RESERVED;
    } else if (run->kernel->code->reserved) {
        machine->reserved_base = (uint32_t)align_up(end + 1, 128);
        machine->reserved_bytes = DEVICE_SHARED_RESERVED;
        machine->shared_bytes = machine->reserved_base + DEVICE_SHARED_RESERVED;
    }
}

static void set_up_machine(Run *run) {
    static uint64_t launches;
    const Launch *launch = run->launch;
    const Kernel *kernel = run->kernel;
    const Code *code = kernel->code;
    const uint32_t threads = launch->block.x * launch->block.y * launch->block.z;
    const Dim3 grid = launch->grid, each = launch->cluster;
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    run->machine = (Machine){
        .code = code,
        .codes = kernel->module->every_code,
        .code_count = kernel->module->code_count,
        .entry = code->insts,
        .grid = grid,
        .block = launch->block,
        .cluster = each,
        .explicit_cluster = launch->explicit_cluster,
        .block_count = blocks,
        .cluster_count = blocks / (each.x * each.y * each.z),
        .threads_per_block = threads,
        .warps_per_block = (threads + LANES - 1) / LANES,
        .dynamic_shared = launch->dynamic_shared_bytes,
        .dynamic_base = kernel->shared_bytes,
        .stack_bytes = (uint32_t)align_up(run->stack_bytes, 64),
        .param_bytes = code->source->param_bytes,
        .plain_ranks = kernel->module->machine,
        .grid_id = ++launches,
        .cooperative = launch->cooperative,
        .module = kernel->module->ptx,
        .order = run->options->order,
        .host_threads = run->options->host_threads,
        .watchdog_seconds = run->options->watchdog_seconds,
        .failed_place = UINT64_MAX,
        .after = launch->after,
    };
    give_local(run);
    if (launch->prerequisite) {
        run->machine.run_prerequisite = run_prerequisite;
        run->machine.prerequisite_context = run;
    }
    place_shared(run);
}

// Memory that runs out leads back here.
static SimtStatus run_or_leave(Run *run) {
    jmp_buf leave;
    if (setjmp(leave)) {
        orders_leave();
        if (run->kernel->codes) clear_visited(run->kernel);
        snprintf(run->error->text, sizeof run->error->text, "no host memory for the launch");
        return SIMT_OUT_OF_MEMORY;
    }
    run->report->arena.leave = run->kernel->module->arena.leave = &leave;
    SimtStatus status = make_ready(run);
    if (status != SIMT_OK) return status;
    set_up_machine(run);
    return run_blocks(run);
}

// One launch at a time, and within it the one in front of it.
static pthread_mutex_t one_at_a_time;

static void make_lock(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&one_at_a_time, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static void lock_launches(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_lock);
    pthread_mutex_lock(&one_at_a_time);
}

SimtStatus kernel_launch(Kernel *kernel, const Launch *launch, const SimtOptions *options,
                         LaunchReport *report, SimtError *error) {
    *report = (LaunchReport){0};
    error->text[0] = '\0';
    SimtStatus status = check_launch(kernel, launch, error);
    if (status != SIMT_OK) return status;
    lock_launches();
    void *const outer = kernel->module->arena.leave;
    Run run = {kernel, launch, options, report, error, .machine = {0}};
    status = run_or_leave(&run);
    report->arena.leave = NULL;
    kernel->module->arena.leave = outer;
    SimtError lost;
    SimtStatus closed;
    if (!close_observers(&run, &closed, &lost) && status == SIMT_OK) {
        *error = lost;
        status = closed;
    }
    if (run.machine.grid_workspace) memory_free(run.machine.grid_workspace);
    report->serial = run.machine.grid_id;
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}
