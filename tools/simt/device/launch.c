// Runs a launch: sets up the machine, opens the observers, runs the blocks and collects the report.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "simt/base/limits.h"
#include "simt/device/module_inside.h"
#include "simt/device/result.h"
#include "simt/exec/block.h"
#include "simt/sass/lower.h"

#define RECURSION_LEAST (64u << 10) // bytes of local memory for recursion, whatever the launch says

// A launch, from its preparation to its report.
typedef struct {
    Kernel *kernel;
    const Launch *launch;
    Frames frames;
    Machine machine;
    Observed observed;
} Run;

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

// Fills the part of constant bank 0 that machine code reads before the parameters.
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

// Memory that the blocks of a cooperative launch share. Cooperative groups count arrivals at the
// grid's barrier in its second word.
#define WORKSPACE_BYTES 64

static bool prepare_workspace(Machine *machine) {
    if (!machine->cooperative) return true;
    machine->grid_workspace = memory_alloc(WORKSPACE_BYTES);
    if (!machine->grid_workspace) return false;
    memset(memory_at(machine->grid_workspace), 0, WORKSPACE_BYTES);
    return true;
}

static void run_blocks(Run *run) {
    Machine *machine = &run->machine;
    Kernel *kernel = run->kernel;
    Observed *observed = &run->observed;
    Arena *arena = &observed->report->arena;
    Tally *tally = ARENA_NEW(arena, kernel->module->slots.count + 1u, Tally);
    machine->params = ARENA_NEW(arena, machine->param_bytes + 8u, uint8_t);
    copy_arguments(kernel, run->launch, machine->params);
    if (!prepare_workspace(machine)) {
        observed_fail(observed, SIMT_OUT_OF_MEMORY, "no device memory for the launch");
        return;
    }
    if (kernel->module->machine) fill_bank(machine, run->launch, machine->params);
    observed->tally = tally;
    observers_open(observed);
    if (observed->status != SIMT_OK) return;
    observer_watch(machine);
    orders_run(observed, &kernel->reordered);
    const bool enough = schedule_run(machine, tally, machine->slot_count);
    machine_await_prerequisite(machine);
    if (!enough)
        observed_fail(observed, SIMT_OUT_OF_MEMORY, "no host memory for the blocks");
    else if (machine->status != SIMT_OK)
        observed_fail(observed, machine->status, "%s", machine->error.text);
    observers_report(observed);
    result_compare(machine, observed->report);
}

// Runs the launch before this one, which may move the registers of functions that both call and
// change which instructions call observers: both are set again.
static void run_prerequisite(void *context) {
    Run *run = context;
    run->launch->prerequisite(run->launch->context);
    kernel_prepare(run->kernel, &run->frames, run->observed.error);
    run->machine.codes = run->kernel->module->every_code;
    run->machine.code_count = run->kernel->module->code_count;
    observer_watch(&run->machine);
}

// Recursive calls may use as much local memory as the launch says, within a thread's limit. Each
// nested call uses some, even of a function that has none of its own. Machine code does not say how
// much its calls need.
static void give_local(Run *run) {
    Machine *machine = &run->machine;
    const uint64_t asked = align_up(run->launch->stack_bytes, LOCAL_ALIGN);
    uint64_t local = run->kernel->code->local_bytes;
    uint64_t more = asked > RECURSION_LEAST ? asked : RECURSION_LEAST;
    more = align_up(more < DEVICE_LOCAL ? more : DEVICE_LOCAL, LOCAL_ALIGN);
    if (!run->frames.recursive) more = 0;
    if (run->kernel->code->deepens && local < asked) local = asked;
    machine->local_bytes = (uint32_t)(local < DEVICE_LOCAL ? local : DEVICE_LOCAL);
    machine->local_limit = (uint32_t)(local + more < DEVICE_LOCAL ? local + more : DEVICE_LOCAL);
    machine->extra_frame_limit = (uint32_t)(more / LOCAL_ALIGN);
}

// Hardware allocates shared memory in units, and machine code may read all of the last unit: the
// compiler merges loads, including unneeded ones. In PTX such a read is an error.
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
    const SimtOptions *options = run->observed.options;
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
        .stack_bytes = (uint32_t)align_up(run->frames.stack_bytes, 64),
        .param_bytes = code->source->param_bytes,
        .partial = code->partial,
        .volatiles = code->volatiles && !options->allow_volatile,
        .slot_count = kernel->module->slots.count,
        .plain_ranks = kernel->module->machine,
        .grid_id = ++launches,
        .cooperative = launch->cooperative,
        .module = kernel->module->ptx,
        .order = options->order,
        .host_threads = options->host_threads,
        .watchdog_seconds = options->watchdog_seconds,
        .failed_place = UINT64_MAX,
        .after = launch->after,
    };
    give_local(run);
    if (launch->prerequisite) {
        run->machine.run_prerequisite = run_prerequisite;
        run->machine.prerequisite_context = run;
    }
    run->machine.ordered = code->ordered || launch->cooperative || launch->prerequisite ||
                           run->machine.cluster_count < blocks;
    place_shared(run);
}

// When host memory runs out, arenas jump back here.
static void run_or_leave(Run *run) {
    jmp_buf leave;
    if (setjmp(leave)) {
        order_leave();
        if (run->kernel->codes) kernel_clear_visited(run->kernel);
        observed_fail(&run->observed, SIMT_OUT_OF_MEMORY, "no host memory for the launch");
        return;
    }
    run->observed.report->arena.leave = run->kernel->module->arena.leave = &leave;
    run->observed.status = kernel_prepare(run->kernel, &run->frames, run->observed.error);
    if (run->observed.status != SIMT_OK) return;
    set_up_machine(run);
    run_blocks(run);
}

// Launches run one at a time. A launch may run its prerequisite, so the lock is recursive.
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
    const SimtStatus status = kernel_check_launch(kernel, launch, error);
    if (status != SIMT_OK) return status;
    lock_launches();
    Module *module = kernel->module;
    void *const outer = module->arena.leave;
    Run run = {.kernel = kernel, .launch = launch};
    run.observed = (Observed){.machine = &run.machine,
                              .kernel = kernel->mangled,
                              .slots = &module->slots,
                              .options = options,
                              .touched = launch->touched,
                              .report = report,
                              .error = error};
    if (module->machine)
        run.observed.machine_code =
            &module->machine->functions[kernel->code->source - module->ptx->functions];
    run_or_leave(&run);
    report->arena.leave = NULL;
    module->arena.leave = outer;
    observers_close(&run.observed);
    orders_forget(&report->orders);
    if (run.machine.grid_workspace) memory_free(run.machine.grid_workspace);
    report->serial = run.machine.grid_id;
    pthread_mutex_unlock(&one_at_a_time);
    return run.observed.status;
}
