// Builds, queries, and changes graphs node by node.
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "simt/cuda/graph_exec.h"
#include "simt/cuda/launch.h"
#include "simt/cuda/node_params.h"

// --- graphs ---

static CudaError create(Graph **graph) {
    if (!graph) return CUDA_INVALID_VALUE;
    *graph = graph_new();
    return *graph ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

API CudaError cudaGraphCreate(Graph **graph, unsigned int flags) {
    return RUNTIME(flags ? CUDA_INVALID_VALUE : create(graph));
}

static CudaError destroy(Graph *graph) {
    if (!graph_known(graph)) return CUDA_INVALID_VALUE;
    graph_free(graph);
    return CUDA_SUCCESS;
}

API CudaError cudaGraphDestroy(Graph *graph) { return RUNTIME(destroy(graph)); }

static CudaError clone(Graph **out, const Graph *graph) {
    if (!out || !graph_known(graph)) return CUDA_INVALID_VALUE;
    *out = graph_clone(graph);
    return *out ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

API CudaError cudaGraphClone(Graph **out, Graph *graph) { return RUNTIME(clone(out, graph)); }

// --- adding nodes ---

static CudaError add(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                     const Work *work) {
    if (!out || !graph_known(graph) || !graph_has_nodes(graph, after, count))
        return CUDA_INVALID_VALUE;
    *out = graph_add(graph, work, after, count);
    return *out ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

static CudaError add_kernel(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                            const KernelParams *params) {
    Work work;
    CudaError error = node_params_kernel(params, &work);
    return error ? error : add(out, graph, after, count, &work);
}

API CudaError cudaGraphAddKernelNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                     size_t count, const KernelParams *params) {
    return RUNTIME(add_kernel(out, graph, after, count, params));
}

static CudaError add_fill(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                          const FillParams *params) {
    Work work;
    CudaError error = node_params_fill(params, &work);
    return error ? error : add(out, graph, after, count, &work);
}

API CudaError cudaGraphAddMemsetNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                     size_t count, const FillParams *params) {
    return RUNTIME(add_fill(out, graph, after, count, params));
}

static CudaError add_copy(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                          void *to, const void *from, size_t bytes, int kind) {
    Work work;
    CudaError error = node_params_copy(to, from, bytes, kind, &work);
    return error ? error : add(out, graph, after, count, &work);
}

API CudaError cudaGraphAddMemcpyNode1D(GraphNode **out, Graph *graph, GraphNode *const *after,
                                       size_t count, void *to, const void *from, size_t bytes,
                                       int kind) {
    return RUNTIME(add_copy(out, graph, after, count, to, from, bytes, kind));
}

static CudaError add_copy_3d(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                             const void *params) {
    Work work;
    CudaError error = memcpy_3d_work(params, &work);
    if (!error) error = copy_check(&work.copy);
    return error ? error : add(out, graph, after, count, &work);
}

API CudaError cudaGraphAddMemcpyNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                     size_t count, const void *params) {
    return RUNTIME(add_copy_3d(out, graph, after, count, params));
}

static CudaError add_host(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                          const HostParams *params) {
    if (!params || !params->call) return CUDA_INVALID_VALUE;
    Work work = {.kind = WORK_HOST, .host = {params->call, params->data}};
    return add(out, graph, after, count, &work);
}

API CudaError cudaGraphAddHostNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                   size_t count, const HostParams *params) {
    return RUNTIME(add_host(out, graph, after, count, params));
}

API CudaError cudaGraphAddEmptyNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                    size_t count) {
    Work work = {.kind = WORK_NOTHING};
    return RUNTIME(add(out, graph, after, count, &work));
}

API CudaError cudaGraphAddEventRecordNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                          size_t count, Event *event) {
    Work work = {.kind = WORK_RECORD, .event = event};
    return RUNTIME(add(out, graph, after, count, &work));
}

API CudaError cudaGraphAddEventWaitNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                        size_t count, Event *event) {
    Work work = {.kind = WORK_WAIT, .event = event};
    return RUNTIME(add(out, graph, after, count, &work));
}

static CudaError add_graph(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                           Graph *child) {
    Work work = {.kind = WORK_GRAPH, .graph = child};
    if (!graph_known(child)) return CUDA_INVALID_VALUE;
    return add(out, graph, after, count, &work);
}

API CudaError cudaGraphAddChildGraphNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                                         size_t count, Graph *child) {
    return RUNTIME(add_graph(out, graph, after, count, child));
}

// --- nodes of any kind ---

static CudaError add_any(GraphNode **out, Graph *graph, GraphNode *const *after, size_t count,
                         const NodeParams *params) {
    Work work;
    if (!params) return CUDA_INVALID_VALUE;
    CudaError error = node_params_work(params, &work);
    return error ? error : add(out, graph, after, count, &work);
}

API CudaError cudaGraphAddNode_v2(GraphNode **out, Graph *graph, GraphNode *const *after,
                                  const void *edges, size_t count, const NodeParams *params) {
    (void)edges;
    return RUNTIME(add_any(out, graph, after, count, params));
}

// CUDA 13 inserted the edges' data, which is ignored, before the number of edges.
API CudaError cudaGraphAddNode(GraphNode **out, Graph *graph, GraphNode *const *after,
                               const void *edges_or_count, size_t count, const NodeParams *params) {
    if (runtime_abi == 12) { // without the edges' data
        params = (const NodeParams *)(uintptr_t)count;
        count = (size_t)(uintptr_t)edges_or_count;
    }
    return RUNTIME(add_any(out, graph, after, count, params));
}

// --- edges ---

static CudaError add_edges(Graph *graph, GraphNode *const *from, GraphNode *const *to,
                           size_t count) {
    if (!graph_known(graph) || (count && (!from || !to))) return CUDA_INVALID_VALUE;
    if (graph->count ? count / graph->count >= graph->count : count) return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!graph_has_node(graph, from[i]) || !graph_has_node(graph, to[i]))
            return CUDA_INVALID_VALUE;
        if (graph_precedes(to[i], &from[i], 1)) return CUDA_INVALID_VALUE; // a cycle
        if (!graph_depends(to[i], from[i])) return CUDA_MEMORY_ALLOCATION;
    }
    return CUDA_SUCCESS;
}

// CUDA 13 inserted the edges' data, which is ignored, before the number of edges.
API CudaError cudaGraphAddDependencies(Graph *graph, GraphNode *const *from, GraphNode *const *to,
                                       const void *edges_or_count, size_t count) {
    if (runtime_abi == 12) count = (size_t)(uintptr_t)edges_or_count;
    return RUNTIME(add_edges(graph, from, to, count));
}

API CudaError cudaGraphAddDependencies_v2(Graph *graph, GraphNode *const *from,
                                          GraphNode *const *to, const void *edges, size_t count) {
    (void)edges;
    return RUNTIME(add_edges(graph, from, to, count));
}

static void drop_dependency(GraphNode *node, const GraphNode *on) {
    size_t kept = 0;
    for (size_t i = 0; i < node->before_count; i++)
        if (node->before[i] != on) node->before[kept++] = node->before[i];
    node->before_count = kept;
}

static CudaError destroy_node(GraphNode *node) {
    if (!graph_known_node(node)) return CUDA_INVALID_VALUE;
    for (GraphNode *other = node->graph->first; other; other = other->next)
        drop_dependency(other, node);
    graph_remove(node);
    return CUDA_SUCCESS;
}

API CudaError cudaGraphDestroyNode(GraphNode *node) { return RUNTIME(destroy_node(node)); }

// --- queries ---

// Writes up to *count nodes, none if `nodes` is NULL, and sets *count to the number of nodes.
static CudaError get_nodes(const Graph *graph, GraphNode **nodes, size_t *count, bool roots) {
    if (!graph_known(graph) || !count) return CUDA_INVALID_VALUE;
    size_t found = 0, capacity = nodes ? *count : 0;
    for (GraphNode *node = graph->first; node; node = node->next) {
        if (roots && node->before_count) continue;
        if (found < capacity) nodes[found] = node;
        found++;
    }
    for (size_t i = found; i < capacity; i++) nodes[i] = NULL;
    *count = found;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphGetNodes(Graph *graph, GraphNode **nodes, size_t *count) {
    return RUNTIME(get_nodes(graph, nodes, count, false));
}

API CudaError cudaGraphGetRootNodes(Graph *graph, GraphNode **nodes, size_t *count) {
    return RUNTIME(get_nodes(graph, nodes, count, true));
}

// The same for edges, as pairs of nodes.
static CudaError get_edges(const Graph *graph, GraphNode **from, GraphNode **to, size_t *count) {
    if (!graph_known(graph) || !count) return CUDA_INVALID_VALUE;
    size_t found = 0, capacity = from && to ? *count : 0;
    for (GraphNode *node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->before_count; i++, found++)
            if (found < capacity) from[found] = node->before[i], to[found] = node;
    *count = found;
    return CUDA_SUCCESS;
}

// CUDA 13 inserted a buffer for the edges' data, zeros for plain edges, before the number.
API CudaError cudaGraphGetEdges(Graph *graph, GraphNode **from, GraphNode **to,
                                void *edges_or_count, size_t *count) {
    if (runtime_abi == 12) count = edges_or_count;
    return RUNTIME(get_edges(graph, from, to, count));
}

static CudaError get_before(const GraphNode *node, GraphNode **nodes, size_t *count) {
    if (!graph_known_node(node) || !count) return CUDA_INVALID_VALUE;
    size_t capacity = nodes ? *count : 0;
    for (size_t i = 0; i < capacity && i < node->before_count; i++) nodes[i] = node->before[i];
    *count = node->before_count;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphNodeGetDependencies(GraphNode *node, GraphNode **nodes, void *edges_or_count,
                                           size_t *count) {
    if (runtime_abi == 12) count = edges_or_count;
    return RUNTIME(get_before(node, nodes, count));
}

// driver_types.h: enum cudaGraphNodeType.
static CudaError node_type(const GraphNode *node, int *type) {
    static const int types[] = {
        [WORK_NOTHING] = 5, [WORK_KERNEL] = 0, [WORK_COPY] = 1, [WORK_FILL] = 2,
        [WORK_HOST] = 3,    [WORK_RECORD] = 7, [WORK_WAIT] = 6, [WORK_GRAPH] = 4,
    };
    if (!type || !graph_known_node(node)) return CUDA_INVALID_VALUE;
    *type = types[node->work.kind];
    return CUDA_SUCCESS;
}

API CudaError cudaGraphNodeGetType(GraphNode *node, int *type) {
    return RUNTIME(node_type(node, type));
}

static CudaError get_kernel_params(const GraphNode *node, KernelParams *params) {
    if (!params || !graph_known_node(node) || node->work.kind != WORK_KERNEL)
        return CUDA_INVALID_VALUE;
    const Launch *launch = &node->work.kernel.launch;
    *params = (KernelParams){(void *)(uintptr_t)node->work.kernel.entry->host,
                             launch->grid,
                             launch->block,
                             launch->dynamic_shared_bytes,
                             (void **)(uintptr_t)launch->arguments,
                             NULL};
    return CUDA_SUCCESS;
}

API CudaError cudaGraphKernelNodeGetParams(GraphNode *node, KernelParams *params) {
    return RUNTIME(get_kernel_params(node, params));
}

// --- changes ---

// Copies the launch attributes of the old node, which a kernel's parameters do not include.
static CudaError keep_attributes(const Work *old, Work *work) {
    const Launch *before = &old->kernel.launch;
    Launch *launch = &work->kernel.launch;
    if (work->kind != WORK_KERNEL) return CUDA_SUCCESS;
    launch->cooperative = before->cooperative;
    launch->programmatic = before->programmatic;
    launch->cluster = before->cluster;
    launch->explicit_cluster = before->explicit_cluster;
    return launch_check(work->kernel.entry, launch);
}

static CudaError replace(Work *old, const Work *work) {
    Work changed = *work, copy;
    if (old->kind != work->kind) return CUDA_INVALID_VALUE;
    CudaError error = keep_attributes(old, &changed);
    if (error) return error;
    if (!work_copy(&copy, &changed)) return CUDA_MEMORY_ALLOCATION;
    work_free(old);
    *old = copy;
    return CUDA_SUCCESS;
}

static CudaError set_kernel(GraphNode *node, const KernelParams *params) {
    Work work;
    if (!graph_known_node(node)) return CUDA_INVALID_VALUE;
    CudaError error = node_params_kernel(params, &work);
    return error ? error : replace(&node->work, &work);
}

API CudaError cudaGraphKernelNodeSetParams(GraphNode *node, const KernelParams *params) {
    return RUNTIME(set_kernel(node, params));
}

static CudaError set_any(GraphNode *node, const NodeParams *params) {
    Work work;
    if (!graph_known_node(node) || !params) return CUDA_INVALID_VALUE;
    CudaError error = node_params_work(params, &work);
    return error ? error : replace(&node->work, &work);
}

API CudaError cudaGraphNodeSetParams(GraphNode *node, const NodeParams *params) {
    return RUNTIME(set_any(node, params));
}

static Step *find_step(GraphExec *exec, const GraphNode *node) {
    if (!graph_exec_known(exec) || !node) return NULL;
    for (size_t i = 0; i < exec->count; i++)
        if (exec->steps[i].origin == node) return &exec->steps[i];
    return NULL;
}

static CudaError set_step(GraphExec *exec, const GraphNode *node, CudaError error,
                          const Work *work) {
    const CudaError busy = graph_exec_check(exec);
    if (busy) return busy;
    Step *step = find_step(exec, node);
    if (!step) return CUDA_INVALID_VALUE;
    return error ? error : replace(&step->work, work);
}

static CudaError exec_any(GraphExec *exec, GraphNode *node, const NodeParams *params) {
    Work work;
    if (!params) return CUDA_INVALID_VALUE;
    CudaError error = node_params_work(params, &work);
    return set_step(exec, node, error, &work);
}

API CudaError cudaGraphExecNodeSetParams(GraphExec *exec, GraphNode *node,
                                         const NodeParams *params) {
    return RUNTIME(exec_any(exec, node, params));
}

static CudaError exec_kernel(GraphExec *exec, GraphNode *node, const KernelParams *params) {
    Work work;
    CudaError error = node_params_kernel(params, &work);
    return set_step(exec, node, error, &work);
}

API CudaError cudaGraphExecKernelNodeSetParams(GraphExec *exec, GraphNode *node,
                                               const KernelParams *params) {
    return RUNTIME(exec_kernel(exec, node, params));
}

static CudaError exec_copy(GraphExec *exec, GraphNode *node, void *to, const void *from,
                           size_t bytes, int kind) {
    Work work;
    CudaError error = node_params_copy(to, from, bytes, kind, &work);
    return set_step(exec, node, error, &work);
}

API CudaError cudaGraphExecMemcpyNodeSetParams1D(GraphExec *exec, GraphNode *node, void *to,
                                                 const void *from, size_t bytes, int kind) {
    return RUNTIME(exec_copy(exec, node, to, from, bytes, kind));
}

static CudaError exec_fill(GraphExec *exec, GraphNode *node, const FillParams *params) {
    Work work;
    CudaError error = node_params_fill(params, &work);
    return set_step(exec, node, error, &work);
}

API CudaError cudaGraphExecMemsetNodeSetParams(GraphExec *exec, GraphNode *node,
                                               const FillParams *params) {
    return RUNTIME(exec_fill(exec, node, params));
}

static CudaError enable(GraphExec *exec, const GraphNode *node, bool enabled) {
    Step *step = find_step(exec, node);
    if (!step) return CUDA_INVALID_VALUE;
    step->disabled = !enabled;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphNodeSetEnabled(GraphExec *exec, GraphNode *node, unsigned int enabled) {
    return RUNTIME(enable(exec, node, enabled != 0));
}

static CudaError get_enabled(GraphExec *exec, const GraphNode *node, unsigned int *enabled) {
    const Step *step = find_step(exec, node);
    if (!step || !enabled) return CUDA_INVALID_VALUE;
    *enabled = !step->disabled;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphNodeGetEnabled(GraphExec *exec, GraphNode *node, unsigned int *enabled) {
    return RUNTIME(get_enabled(exec, node, enabled));
}
