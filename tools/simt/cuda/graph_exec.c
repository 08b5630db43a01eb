// Instantiated graphs: their work in topological order.
#include "simt/cuda/graph_exec.h"

#include <stdlib.h>

#include "simt/cuda/capture.h"
#include "simt/cuda/unfinished.h"

static GraphExec *execs;

bool graph_exec_known(const GraphExec *handle) {
    for (const GraphExec *exec = execs; exec; exec = exec->next)
        if (exec == handle) return true;
    return false;
}

CudaError graph_exec_check(const GraphExec *exec) {
    if (!graph_exec_known(exec)) return CUDA_INVALID_VALUE;
    if (!exec->running) return CUDA_SUCCESS;
    return runtime_unsupported("a change of a graph while a host function of its launch runs");
}

static void free_steps(GraphExec *exec) {
    for (size_t i = 0; i < exec->count; i++) {
        work_free(&exec->steps[i].work);
        free(exec->steps[i].before);
    }
    free(exec->steps);
    exec->steps = NULL;
    exec->count = 0;
}

static bool add_step(GraphExec *exec, GraphNode *origin, const Work *work) {
    Step *step = &exec->steps[exec->count];
    step->origin = origin;
    if (!work_copy(&step->work, work)) return false;
    exec->count++;
    return true;
}

// Lists the dependencies of the last step, which was made from a node in `sorted`.
static bool add_before(GraphExec *exec, GraphNode *const *sorted) {
    Step *step = &exec->steps[exec->count - 1];
    const GraphNode *node = step->origin;
    bool next = exec->count == 1;
    step->before = malloc((node->before_count + 1) * sizeof *step->before);
    if (!step->before) return false;
    for (size_t k = 0; k < exec->count - 1; k++)
        for (size_t i = 0; i < node->before_count; i++)
            if (node->before[i] == sorted[k]) step->before[step->before_count++] = k;
    for (size_t k = 0; k < step->before_count; k++) next |= step->before[k] == exec->count - 2;
    exec->branches |= !next;
    return true;
}

static CudaError fill_steps(GraphExec *exec, const Graph *graph) {
    CudaError error;
    GraphNode **sorted = graph_order(graph, &error);
    if (!sorted) return error;
    exec->steps = calloc(graph->count + 1, sizeof *exec->steps);
    bool good = exec->steps != NULL;
    for (size_t i = 0; good && i < graph->count; i++)
        good = add_step(exec, sorted[i], &sorted[i]->work) && add_before(exec, sorted);
    free(sorted);
    return good ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

// driver_types.h: cudaGraphInstantiateResult.
typedef enum { MADE, FAILED, BAD_STRUCTURE } InstantiateResult;

static CudaError instantiate(GraphExec **out, const Graph *graph, unsigned long long flags,
                             InstantiateResult *result) {
    *result = FAILED;
    if (!out || !graph_known(graph)) return CUDA_INVALID_VALUE;
    GraphExec *exec = calloc(1, sizeof *exec);
    CudaError error = exec ? fill_steps(exec, graph) : CUDA_MEMORY_ALLOCATION;
    if (error) {
        *result = error == CUDA_INVALID_VALUE ? BAD_STRUCTURE : FAILED;
        if (exec) free_steps(exec);
        free(exec);
        return error;
    }
    exec->flags = flags;
    exec->next = execs;
    *out = execs = exec;
    *result = MADE;
    return CUDA_SUCCESS;
}

static CudaError instantiate_plain(GraphExec **out, const Graph *graph, unsigned long long flags) {
    InstantiateResult result;
    return instantiate(out, graph, flags, &result);
}

API CudaError cudaGraphInstantiate(GraphExec **exec, Graph *graph, unsigned long long flags) {
    return RUNTIME(instantiate_plain(exec, graph, flags));
}

API CudaError cudaGraphInstantiateWithFlags(GraphExec **exec, Graph *graph,
                                            unsigned long long flags) {
    return RUNTIME(instantiate_plain(exec, graph, flags));
}

// driver_types.h: cudaGraphInstantiateParams.
typedef struct {
    unsigned long long flags;
    Stream *upload;
    const GraphNode *failed;
    InstantiateResult result;
} InstantiateParams;

static CudaError instantiate_params(GraphExec **exec, Graph *graph, InstantiateParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    params->failed = NULL;
    return instantiate(exec, graph, params->flags, &params->result);
}

API CudaError cudaGraphInstantiateWithParams(GraphExec **exec, Graph *graph,
                                             InstantiateParams *params) {
    return RUNTIME(instantiate_params(exec, graph, params));
}

API CudaError cudaGraphInstantiateWithParams_ptsz(GraphExec **exec, Graph *graph,
                                                  InstantiateParams *params) {
    return cudaGraphInstantiateWithParams(exec, graph, params);
}

// Starts a launch: it runs after the previous launch of this instance, whatever their streams.
static CudaError begin(const GraphExec *exec, Stream *handle) {
    Work after = {.kind = WORK_AFTER, .after = exec->last_launch};
    return stream_submit(handle, &after); // this also checks the stream
}

// Submits each step after its dependencies and the start of the launch. Later work in the stream
// runs after all steps.
static CudaError submit_branches(const GraphExec *exec, Stream *handle) {
    const Work nothing = {.kind = WORK_NOTHING};
    const uint64_t start = unfinished_last();
    CudaError error = CUDA_SUCCESS;
    uint64_t *numbers = calloc(exec->count * 2 + 1, sizeof *numbers);
    if (!numbers) return CUDA_MEMORY_ALLOCATION;
    uint64_t *after = numbers + exec->count;
    for (size_t i = 0; !error && i < exec->count; i++) {
        const Step *step = &exec->steps[i];
        after[0] = start;
        for (size_t k = 0; k < step->before_count; k++) after[k + 1] = numbers[step->before[k]];
        unfinished_after(after, step->before_count + 1);
        error = stream_submit(handle, step->disabled ? &nothing : &step->work);
        numbers[i] = unfinished_last();
    }
    unfinished_after(NULL, 0);
    free(numbers);
    return error ? error : stream_submit(handle, &nothing);
}

static CudaError submit_steps(const GraphExec *exec, Stream *handle, bool captures) {
    CudaError error = CUDA_SUCCESS;
    if (exec->branches && !captures && runtime_options()->check)
        return submit_branches(exec, handle);
    for (size_t i = 0; !error && i < exec->count; i++)
        if (!exec->steps[i].disabled) error = stream_submit(handle, &exec->steps[i].work);
    return error;
}

static void release(GraphExec *exec) {
    if (exec->running) return; // the last launch frees it
    free_steps(exec);
    free(exec);
}

static CudaError launch(GraphExec *exec, Stream *handle) {
    if (!graph_exec_known(exec)) return CUDA_INVALID_VALUE;
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    const bool captures = stream->capture;
    exec->running++;
    if (!captures) error = begin(exec, handle);
    // In a capture each step becomes a node of the graph under construction.
    if (!error) error = submit_steps(exec, handle, captures);
    if (!captures) exec->last_launch = unfinished_last();
    exec->running--;
    if (!graph_exec_known(exec)) release(exec); // destroyed during a host function
    return error;
}

API CudaError cudaGraphLaunch(GraphExec *exec, Stream *stream) {
    return RUNTIME(launch(exec, stream));
}

API CudaError cudaGraphLaunch_ptsz(GraphExec *exec, Stream *stream) {
    return cudaGraphLaunch(exec, stream_ptsz(stream));
}

API CudaError cudaGraphUpload(GraphExec *exec, Stream *stream) {
    (void)stream; // the device has nothing to upload
    return RUNTIME(graph_exec_known(exec) ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API CudaError cudaGraphUpload_ptsz(GraphExec *exec, Stream *stream) {
    return cudaGraphUpload(exec, stream);
}

static CudaError destroy_exec(GraphExec *exec) {
    if (!graph_exec_known(exec)) return CUDA_INVALID_VALUE;
    for (GraphExec **link = &execs; *link; link = &(*link)->next)
        if (*link == exec) {
            *link = exec->next;
            break;
        }
    release(exec);
    return CUDA_SUCCESS;
}

API CudaError cudaGraphExecDestroy(GraphExec *exec) { return RUNTIME(destroy_exec(exec)); }

static CudaError exec_flags(const GraphExec *exec, unsigned long long *flags) {
    if (!graph_exec_known(exec) || !flags) return CUDA_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphExecGetFlags(GraphExec *exec, unsigned long long *flags) {
    return RUNTIME(exec_flags(exec, flags));
}

// driver_types.h: cudaGraphExecUpdateResultInfo.
typedef struct {
    enum {
        UPDATED,
        UPDATE_ERROR,
        TOPOLOGY_CHANGED,
        TYPE_CHANGED,
    } result;
    const GraphNode *node, *from;
} UpdateResult;

static UpdateResult compare_graphs(const Graph *fresh, const Graph *old);

// Whether the work of a node can replace the old work.
static UpdateResult compare_work(const GraphNode *node, const Work *fresh, const Work *old) {
    if (fresh->kind != old->kind) return (UpdateResult){TYPE_CHANGED, node, NULL};
    if (fresh->kind == WORK_GRAPH) return compare_graphs(fresh->graph, old->graph);
    return (UpdateResult){UPDATED, NULL, NULL};
}

static UpdateResult compare_graphs(const Graph *fresh, const Graph *old) {
    UpdateResult result = {UPDATED, NULL, NULL};
    if (fresh->count != old->count) return (UpdateResult){TOPOLOGY_CHANGED, NULL, NULL};
    const GraphNode *now = fresh->first, *then = old->first;
    for (; !result.result && now; now = now->next, then = then->next)
        result = compare_work(now->origin, &now->work, &then->work);
    return result;
}

static UpdateResult compare(const GraphExec *fresh, const GraphExec *old) {
    UpdateResult result = {UPDATED, NULL, NULL};
    if (fresh->count != old->count) return (UpdateResult){TOPOLOGY_CHANGED, NULL, NULL};
    for (size_t i = 0; !result.result && i < fresh->count; i++)
        result = compare_work(fresh->steps[i].origin, &fresh->steps[i].work, &old->steps[i].work);
    return result;
}

static CudaError update(GraphExec *exec, const Graph *graph, UpdateResult *result) {
    const CudaError busy = graph_exec_check(exec);
    if (busy || !graph_known(graph)) return busy ? busy : CUDA_INVALID_VALUE;
    UpdateResult found = {UPDATE_ERROR, NULL, NULL};
    GraphExec fresh = {0};
    CudaError error = fill_steps(&fresh, graph);
    if (!error) found = compare(&fresh, exec);
    if (result) *result = found;
    if (found.result) {
        free_steps(&fresh);
        return error ? error : CUDA_GRAPH_EXEC_UPDATE_FAILURE;
    }
    for (size_t i = 0; i < fresh.count; i++) {
        fresh.steps[i].origin = exec->steps[i].origin;
        fresh.steps[i].disabled = exec->steps[i].disabled;
    }
    free_steps(exec);
    exec->steps = fresh.steps;
    exec->count = fresh.count;
    exec->branches = fresh.branches;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphExecUpdate(GraphExec *exec, Graph *graph, UpdateResult *result) {
    return RUNTIME(update(exec, graph, result));
}
