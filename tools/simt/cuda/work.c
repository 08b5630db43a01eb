// Work: running it, copying it into a graph, giving it back.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "simt/cuda/runtime.h"
#include "simt/memory/memory.h"

CudaError work_run(const Work *work) {
    CudaError error = runtime_broken();
    if (error) return error;
    switch (work->kind) {
    case WORK_NOTHING:
    case WORK_WAIT:
        return CUDA_SUCCESS; // what it would wait for has run
    case WORK_KERNEL:
        return launch_now(work->kernel.entry, &work->kernel.launch);
    case WORK_COPY:
        return copy_run(&work->copy);
    case WORK_FILL:
        return fill_run(&work->fill);
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

// One block of memory: the pointers, then the values, each aligned for any type.
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
    if (from->kind == WORK_KERNEL)
        return copy_arguments(&to->kernel.launch, &from->kernel.launch, &from->kernel.entry->info);
    if (from->kind == WORK_GRAPH) {
        to->graph = graph_clone(from->graph);
        return to->graph != NULL;
    }
    return true;
}

void work_free(Work *work) {
    if (work->kind == WORK_KERNEL) free((void *)(uintptr_t)work->kernel.launch.arguments);
    if (work->kind == WORK_GRAPH) graph_free(work->graph);
    work->kind = WORK_NOTHING;
}
