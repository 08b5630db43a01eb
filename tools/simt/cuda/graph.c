// Graphs: nodes of work with dependencies; instantiated, the work in an order that keeps them.
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/graph.h"

#include <stdlib.h>
#include <string.h>

static Graph *graphs;
static GraphExec *execs;
static unsigned last_mark;

// --- graphs and nodes ---

Graph *graph_new(void) {
    Graph *graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    graph->last = &graph->first;
    graph->next = graphs;
    return graphs = graph;
}

bool graph_known(const Graph *handle) {
    for (const Graph *graph = graphs; graph; graph = graph->next)
        if (graph == handle) return true;
    return false;
}

bool graph_has_node(const Graph *graph, const GraphNode *handle) {
    for (const GraphNode *node = graph->first; node; node = node->next)
        if (node == handle) return true;
    return false;
}

bool graph_known_node(const GraphNode *node) {
    for (const Graph *graph = graphs; graph; graph = graph->next)
        if (graph_has_node(graph, node)) return true;
    return false;
}

bool graph_depends(GraphNode *node, GraphNode *on) {
    GraphNode **grown = realloc(node->before, (node->before_count + 1) * sizeof *grown);
    if (!grown) return false;
    node->before = grown;
    node->before[node->before_count++] = on;
    return true;
}

static void free_node(GraphNode *node) {
    work_free(&node->work);
    free(node->before);
    free(node);
}

GraphNode *graph_add(Graph *graph, const Work *work, GraphNode *const *dependencies, size_t count) {
    GraphNode *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    bool good = work_copy(&node->work, work);
    for (size_t i = 0; good && i < count; i++) good = graph_depends(node, dependencies[i]);
    if (!good) {
        free_node(node);
        return NULL;
    }
    node->graph = graph;
    *graph->last = node;
    graph->last = &node->next;
    graph->count++;
    return node;
}

void graph_remove(GraphNode *node) {
    Graph *graph = node->graph;
    GraphNode **link = &graph->first;
    while (*link != node) link = &(*link)->next;
    *link = node->next;
    if (graph->last == &node->next) graph->last = link;
    graph->count--;
    free_node(node);
}

void graph_free(Graph *graph) {
    if (!graph) return;
    for (Graph **link = &graphs; *link; link = &(*link)->next)
        if (*link == graph) {
            *link = graph->next;
            break;
        }
    for (GraphNode *node = graph->first, *next; node; node = next) {
        next = node->next;
        free_node(node);
    }
    free(graph);
}

static GraphNode *nth(const Graph *graph, size_t index) {
    GraphNode *node = graph->first;
    while (index--) node = node->next;
    return node;
}

static size_t index_of(const GraphNode *node) {
    size_t index = 0;
    for (const GraphNode *at = node->graph->first; at != node; at = at->next) index++;
    return index;
}

Graph *graph_clone(const Graph *graph) {
    Graph *clone = graph_new();
    bool good = clone != NULL;
    for (const GraphNode *node = graph->first; good && node; node = node->next)
        good = graph_add(clone, &node->work, NULL, 0) != NULL;
    GraphNode *copy = good ? clone->first : NULL;
    for (const GraphNode *node = graph->first; good && node; node = node->next, copy = copy->next)
        for (size_t i = 0; good && i < node->before_count; i++)
            good = graph_depends(copy, nth(clone, index_of(node->before[i])));
    if (good) return clone;
    graph_free(clone);
    return NULL;
}

static bool reaches(GraphNode *from, const GraphNode *node, unsigned mark) {
    if (from == node) return true;
    if (from->mark == mark) return false;
    from->mark = mark;
    for (size_t i = 0; i < from->before_count; i++)
        if (reaches(from->before[i], node, mark)) return true;
    return false;
}

bool graph_precedes(const GraphNode *node, GraphNode *const *nodes, size_t count) {
    unsigned mark = ++last_mark;
    for (size_t i = 0; i < count; i++)
        if (reaches(nodes[i], node, mark)) return true;
    return false;
}

// --- order of execution ---

// Nodes in an order in which each comes after those it waits for; among those that could be next,
// the oldest. NULL with *error set: out of memory or a cycle.
static GraphNode **order(const Graph *graph, CudaError *error) {
    GraphNode **sorted = malloc((graph->count + 1) * sizeof *sorted);
    *error = sorted ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
    if (!sorted) return NULL;
    unsigned mark = ++last_mark;
    size_t count = 0;
    for (bool progress = true; progress && count < graph->count;) {
        progress = false;
        for (GraphNode *node = graph->first; node; node = node->next) {
            bool ready = node->mark != mark;
            for (size_t i = 0; ready && i < node->before_count; i++)
                ready = node->before[i]->mark == mark;
            if (!ready) continue;
            node->mark = mark;
            sorted[count++] = node;
            progress = true;
        }
    }
    if (count == graph->count) return sorted;
    free(sorted);
    *error = CUDA_INVALID_VALUE;
    return NULL;
}

CudaError graph_run(const Graph *graph) {
    CudaError error;
    GraphNode **sorted = order(graph, &error);
    for (size_t i = 0; sorted && !error && i < graph->count; i++)
        error = work_run(&sorted[i]->work);
    free(sorted);
    return error;
}

bool graph_known_exec(const GraphExec *handle) {
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
    GraphNode **sorted = order(graph, &error);
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

static CudaError launch(GraphExec *exec, Stream *stream) {
    if (!graph_known_exec(exec)) return CUDA_INVALID_VALUE;
    CudaError error = CUDA_SUCCESS;
    if (!stream_capturing(stream)) {
        Work nothing = {.kind = WORK_NOTHING}; // checks the stream
        error = stream_submit(stream, &nothing);
        for (size_t i = 0; !error && i < exec->count; i++)
            if (!exec->steps[i].disabled) error = work_run(&exec->steps[i].work);
        return error;
    }
    // In a capture the launch becomes one step after another of the graph under construction.
    for (size_t i = 0; !error && i < exec->count; i++)
        if (!exec->steps[i].disabled) error = stream_submit(stream, &exec->steps[i].work);
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
    return RUNTIME(graph_known_exec(exec) ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

API CudaError cudaGraphUpload_ptsz(GraphExec *exec, Stream *stream) {
    return cudaGraphUpload(exec, stream);
}

static CudaError destroy_exec(GraphExec *exec) {
    if (!graph_known_exec(exec)) return CUDA_INVALID_VALUE;
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
    if (!graph_known_exec(exec) || !flags) return CUDA_INVALID_VALUE;
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
    if (!graph_known_exec(exec) || !graph_known(graph)) return CUDA_INVALID_VALUE;
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
