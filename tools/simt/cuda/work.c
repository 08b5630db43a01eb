// Runs, copies, and frees work.
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/work.h"

#include <stdlib.h>
#include <string.h>

#include "simt/cuda/stream.h"
#include "simt/cuda/unfinished.h"
#include "simt/program/runtime.h"
#include "simt/report/name.h"
#include "simt/report/read_back.h"
#include "simt/report/report.h"
#include "simt/time/time.h"

// Runs a kernel. One that fails while running breaks the context, but its launch succeeds.
static CudaError run_kernel(const Work *work, void (*prerequisite)(void *), void *context) {
    KernelEntry *entry = work->kernel.entry;
    Launch own = work->kernel.launch;
    const Launch *launch = &own;
    LaunchReport report = {0};
    SimtError error = {""};
    own.prerequisite = prerequisite;
    own.context = context;
    own.stack_bytes = device_stack_limit();
    own.touched = unfinished_wants();
    if (own.programmatic && work->stream) own.after = work->stream->launch;
    SimtStatus status = kernel_launch(entry->kernel, launch, runtime_options(), &report, &error);
    if (work->stream) work->stream->launch = entry->info.releases ? report.serial : 0;
    bool ran = status == SIMT_OK || report.total.value[COUNT_WARP_INSTS];
    if (ran) unfinished_kernel(entry->mangled, &report.touched);
    read_back_keep(entry->mangled, report.differences, report.difference_count);
    bool recorded = !ran || report_launch(entry->mangled, launch, &report);
    arena_free(&report.arena);
    if (status == SIMT_OK) return recorded ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
    char name[512];
    const bool refused =
        status == SIMT_UNSUPPORTED || status == SIMT_INVALID_PTX || status == SIMT_STACK_OVERFLOW;
    console_say_as(refused ? "refused" : "kernel-failed", "%s: %s",
                   name_kernel(entry->mangled, name, sizeof name), error.text);
    if (status == SIMT_INTERRUPTED) runtime_end_by_signal(signal_interrupted());
    CudaError code = error_of_status(status);
    if (refused) return runtime_refuse(code);
    if (status == SIMT_INVALID_CONFIG || status == SIMT_OUT_OF_RESOURCES ||
        status == SIMT_OUT_OF_MEMORY)
        return code;
    runtime_break(code);
    return CUDA_SUCCESS;
}

CudaError work_run_early(const Work *work, void (*prerequisite)(void *), void *context) {
    CudaError error = runtime_broken();
    return error ? error : run_kernel(work, prerequisite, context);
}

CudaError work_run(const Work *work) {
    CudaError error = runtime_broken();
    if (error) return error;
    if (work->stream && work->kind != WORK_KERNEL) work->stream->launch = 0;
    switch (work->kind) {
    case WORK_WAIT:
        if (!work->number) unfinished_waits(work->event);
        return CUDA_SUCCESS; // the work that the event records has run
    case WORK_NOTHING:
    case WORK_AFTER:
        return CUDA_SUCCESS;
    case WORK_KERNEL:
        return run_kernel(work, NULL, NULL);
    case WORK_COPY:
        return copy_run(&work->copy);
    case WORK_FILL:
        if (work->fill.queued)
            time_memset(work->fill.width * work->fill.height * work->fill.element);
        return copy_fill_run(&work->fill);
    case WORK_HOST:
        runtime_call_host(work->host.call, work->host.data);
        return CUDA_SUCCESS;
    case WORK_RECORD:
        event_record(work->event);
        return CUDA_SUCCESS;
    case WORK_GRAPH:
        return graph_run(work->graph);
    }
    return CUDA_INVALID_VALUE;
}

// Copies the arguments into one allocation: pointers, then values, aligned for any type.
static bool copy_arguments(Launch *to, const Launch *from, const KernelInfo *info) {
    size_t count = info->parameter_count, bytes = count * sizeof(void *);
    for (size_t i = 0; i < count; i++) bytes = (bytes + 15) / 16 * 16 + info->parameter_bytes[i];
    void **pointers = malloc(bytes ? bytes : 1);
    if (!pointers) return false;
    size_t at = count * sizeof(void *);
    for (size_t i = 0; i < count; i++) {
        at = (at + 15) / 16 * 16;
        pointers[i] = (char *)pointers + at;
        memcpy(pointers[i], from->arguments[i], info->parameter_bytes[i]);
        at += info->parameter_bytes[i];
    }
    to->arguments = pointers;
    return true;
}

bool work_copy(Work *to, const Work *from) {
    *to = *from;
    bool good = true;
    if (from->kind == WORK_KERNEL)
        good = copy_arguments(&to->kernel.launch, &from->kernel.launch, &from->kernel.entry->info);
    if (from->kind == WORK_GRAPH) {
        to->graph = graph_clone(from->graph);
        good = to->graph != NULL;
    }
    if (!good) *to = (Work){.kind = WORK_NOTHING}; // the original owns the rest
    return good;
}

void work_free(Work *work) {
    if (work->kind == WORK_KERNEL) free((void *)(uintptr_t)work->kernel.launch.arguments);
    if (work->kind == WORK_GRAPH) graph_free(work->graph);
    work->kind = WORK_NOTHING;
}
