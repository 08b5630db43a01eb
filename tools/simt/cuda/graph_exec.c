// Graphs that are instantiated: their work in an order that keeps the dependencies.
#include "simt/cuda/graph_exec.h"

#include <stdlib.h>

#include "simt/cuda/capture.h"

static GraphExec *execs;

bool graph_exec_known(const GraphExec *handle) {
    for (const GraphExec *exec = execs; exec; exec = exec->next)
        if (exec == handle) return true;
    return false;
}

static void free_steps(GraphExec *exec) {
    for (size_t i = 0; i < exec->count; i++) work_free(&exec->steps[i].work);
    free(exec->steps);
    exec->steps = NULL;
    exec->count = 0;
}

static CudaError fill_steps(GraphExec *exec, const Graph *graph) {
    CudaError error;
    GraphNode **sorted = graph_order(graph, &error);
    if (!sorted) return error;
    exec->steps = calloc(graph->count + 1, sizeof *exec->steps);
    bool good = exec->steps != NULL;
    for (size_t i = 0; good && i < graph->count; i++) {
        exec->steps[i].origin = sorted[i];
        good = work_copy(&exec->steps[i].work, &sorted[i]->work);
        if (good) exec->count++;
    }
    free(sorted);
    return good ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

static CudaError instantiate(GraphExec **out, const Graph *graph, unsigned long long flags) {
    if (!out || !graph_known(graph)) return CUDA_INVALID_VALUE;
    GraphExec *exec = calloc(1, sizeof *exec);
    CudaError error = exec ? fill_steps(exec, graph) : CUDA_MEMORY_ALLOCATION;
    if (error) {
        if (exec) free_steps(exec);
        free(exec);
        return error;
    }
    exec->flags = flags;
    exec->next = execs;
    *out = execs = exec;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphInstantiate(GraphExec **exec, Graph *graph, unsigned long long flags) {
    return RUNTIME(instantiate(exec, graph, flags));
}

API CudaError cudaGraphInstantiateWithFlags(GraphExec **exec, Graph *graph,
                                            unsigned long long flags) {
    return RUNTIME(instantiate(exec, graph, flags));
}

// driver_types.h: cudaGraphInstantiateParams.
typedef struct {
    unsigned long long flags;
    Stream *upload;
    GraphNode *failed;
    int result; // enum cudaGraphInstantiateResult: 0 success, 1 error
} InstantiateParams;

static CudaError instantiate_params(GraphExec **exec, Graph *graph, InstantiateParams *params) {
    if (!params) return CUDA_INVALID_VALUE;
    CudaError error = instantiate(exec, graph, params->flags);
    params->failed = NULL;
    params->result = error != CUDA_SUCCESS;
    return error;
}

API CudaError cudaGraphInstantiateWithParams(GraphExec **exec, Graph *graph,
                                             InstantiateParams *params) {
    return RUNTIME(instantiate_params(exec, graph, params));
}

API CudaError cudaGraphInstantiateWithParams_ptsz(GraphExec **exec, Graph *graph,
                                                  InstantiateParams *params) {
    return cudaGraphInstantiateWithParams(exec, graph, params);
}

static CudaError launch(GraphExec *exec, Stream *handle) {
    if (!graph_exec_known(exec)) return CUDA_INVALID_VALUE;
    Stream *stream;
    CudaError error = stream_find(handle, &stream);
    if (error) return error;
    if (!stream->capture) {
        Work nothing = {.kind = WORK_NOTHING}; // checks the stream
        error = stream_submit(handle, &nothing);
    }
    // In a capture each step becomes one of the graph under construction.
    for (size_t i = 0; !error && i < exec->count; i++)
        if (!exec->steps[i].disabled) error = stream_submit(handle, &exec->steps[i].work);
    return error;
}

API CudaError cudaGraphLaunch(GraphExec *exec, Stream *stream) {
    return RUNTIME(launch(exec, stream));
}

API CudaError cudaGraphLaunch_ptsz(GraphExec *exec, Stream *stream) {
    return cudaGraphLaunch(exec, stream_ptsz(stream));
}

API CudaError cudaGraphUpload(GraphExec *exec, Stream *stream) {
    (void)stream; // nothing to upload to
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
    free_steps(exec);
    free(exec);
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

// driver_types.h: cudaGraphExecUpdateResultInfo; results 0 success, 1 error, 2 topology changed,
// 3 type of a node changed.
typedef struct {
    int result;
    GraphNode *node, *from;
} UpdateResult;

static CudaError update(GraphExec *exec, const Graph *graph, UpdateResult *result) {
    if (!graph_exec_known(exec) || !graph_known(graph)) return CUDA_INVALID_VALUE;
    UpdateResult found = {0};
    GraphExec fresh = {0};
    CudaError error = fill_steps(&fresh, graph);
    if (error) found.result = 1;
    if (!error && fresh.count != exec->count) found.result = 2;
    for (size_t i = 0; !found.result && i < fresh.count; i++)
        if (fresh.steps[i].work.kind != exec->steps[i].work.kind)
            found = (UpdateResult){3, fresh.steps[i].origin, NULL};
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
    return CUDA_SUCCESS;
}

API CudaError cudaGraphExecUpdate(GraphExec *exec, Graph *graph, UpdateResult *result) {
    return RUNTIME(update(exec, graph, result));
}
