// Conditional nodes: see conditional.h. CUDA C++ Programming Guide, "Conditional Graph Nodes".
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/conditional.h"

#include <stdlib.h>
#include <string.h>

#include "simt/base/clock.h"
#include "simt/memory/condition.h"
#include "simt/program/signal.h"

// --- conditions ---

enum { ASSIGN_DEFAULT = 1 }; // cudaGraphCondAssignDefault

static CudaError create_handle(unsigned long long *out, Graph *graph, unsigned int value,
                               unsigned int flags) {
    if (!out || !graph_known(graph) || flags > ASSIGN_DEFAULT) return CUDA_INVALID_VALUE;
    GraphCondition *condition = calloc(1, sizeof *condition);
    uint64_t handle = condition ? condition_new() : 0;
    if (!handle) {
        free(condition);
        return CUDA_MEMORY_ALLOCATION;
    }
    condition->start = (ConditionStart){handle, value, flags == ASSIGN_DEFAULT};
    condition->next = graph->conditions;
    graph->conditions = condition;
    *out = handle;
    return CUDA_SUCCESS;
}

API CudaError cudaGraphConditionalHandleCreate(unsigned long long *out, Graph *graph,
                                               unsigned int value, unsigned int flags) {
    return RUNTIME(create_handle(out, graph, value, flags));
}

ConditionStarts *conditional_starts_copy(const ConditionStarts *from) {
    size_t bytes = sizeof *from + from->count * sizeof from->of[0];
    ConditionStarts *copy = malloc(bytes);
    if (copy) memcpy(copy, from, bytes);
    return copy;
}

void conditional_starts_run(const ConditionStarts *starts) {
    for (size_t i = 0; i < starts->count; i++) {
        const ConditionStart *start = &starts->of[i];
        *condition_find(start->handle) =
            (Condition){.value = start->assigns ? start->value : 0, .set = start->assigns};
    }
}

// --- graphs with their bodies ---

// Calls for the graph and for all graphs in its nodes until one call is true.
static bool any_graph(const Graph *graph, bool (*call)(const Graph *graph, void *context),
                      void *context) {
    if (call(graph, context)) return true;
    for (const GraphNode *node = graph->first; node; node = node->next) {
        const Work *work = &node->work;
        if (work->kind == WORK_GRAPH && any_graph(work->graph, call, context)) return true;
        if (work->kind != WORK_CONDITIONAL) continue;
        for (uint32_t k = 0; k < work->conditional->size; k++)
            if (any_graph(work->conditional->bodies[k], call, context)) return true;
    }
    return false;
}

static bool has_conditional(const Graph *graph, void *unused) {
    (void)unused;
    for (const GraphNode *node = graph->first; node; node = node->next)
        if (node->work.kind == WORK_CONDITIONAL) return true;
    return false;
}

bool conditional_inside(const Graph *graph) { return any_graph(graph, has_conditional, NULL); }

static bool uses_condition(const Graph *graph, void *handle) {
    for (const GraphNode *node = graph->first; node; node = node->next)
        if (node->work.kind == WORK_CONDITIONAL &&
            node->work.conditional->handle == *(uint64_t *)handle)
            return true;
    return false;
}

// The graph that a body belongs to in the end.
static const Graph *root_of(const Graph *graph) {
    while (graph->owner) graph = graph->owner->graph;
    return graph;
}

// Whether a condition was made for the graph, or for one that it is a body in.
static bool reaches_condition(const Graph *graph, uint64_t handle) {
    for (; graph; graph = graph->owner ? graph->owner->graph : NULL)
        for (const GraphCondition *at = graph->conditions; at; at = at->next)
            if (at->start.handle == handle) return true;
    return false;
}

// --- nodes ---

CudaError conditional_describe(const Graph *graph, const ConditionalParams *params,
                               Conditional *conditional) {
    static const uint32_t most[] = {[CONDITIONAL_IF] = 2, [CONDITIONAL_WHILE] = 1};
    uint64_t handle = params->handle;
    if (!graph_known(graph) || !reaches_condition(graph, handle)) return CUDA_INVALID_VALUE;
    if (any_graph(root_of(graph), uses_condition, &handle)) return CUDA_INVALID_VALUE;
    if (params->type < CONDITIONAL_IF || params->type > CONDITIONAL_SWITCH || !params->size)
        return CUDA_INVALID_VALUE;
    if (params->type != CONDITIONAL_SWITCH && params->size > most[params->type])
        return CUDA_INVALID_VALUE;
    *conditional = (Conditional){handle, (ConditionalType)params->type, params->size, NULL};
    return CUDA_SUCCESS;
}

Conditional *conditional_copy(const Conditional *from) {
    Conditional *copy = calloc(1, sizeof *copy);
    Graph **bodies = calloc(from->size, sizeof *bodies);
    if (!copy || !bodies) {
        free(copy);
        free(bodies);
        return NULL;
    }
    *copy = (Conditional){from->handle, from->type, from->size, bodies};
    bool good = true;
    for (uint32_t k = 0; good && k < from->size; k++) {
        bodies[k] = from->bodies ? graph_clone(from->bodies[k]) : graph_new();
        good = bodies[k] != NULL;
    }
    if (good) return copy;
    conditional_free(copy);
    return NULL;
}

void conditional_free(Conditional *conditional) {
    for (uint32_t k = 0; k < conditional->size; k++) graph_free(conditional->bodies[k]);
    free(conditional->bodies);
    free(conditional);
}

// --- instantiation ---

typedef struct {
    ConditionStarts *starts; // NULL: they are only counted
    size_t count;
} Collected;

static bool collect(const Graph *graph, void *context) {
    Collected *collected = context;
    for (const GraphCondition *at = graph->conditions; at; at = at->next, collected->count++)
        if (collected->starts) collected->starts->of[collected->count] = at->start;
    return false;
}

ConditionStarts *conditional_starts(const Graph *graph) {
    Collected collected = {0};
    any_graph(graph, collect, &collected);
    ConditionStarts *starts = malloc(sizeof *starts + collected.count * sizeof starts->of[0]);
    if (!starts) return NULL;
    starts->count = collected.count;
    collected = (Collected){.starts = starts};
    any_graph(graph, collect, &collected);
    return starts;
}

// The kinds of nodes that a body may hold: driver_types.h, at cudaConditionalNodeParams.
static bool bad_node(const Graph *graph, void *failed) {
    for (const GraphNode *node = graph->first; node; node = node->next) {
        const unsigned kind = node->work.kind;
        if (kind != WORK_HOST && kind != WORK_RECORD && kind != WORK_WAIT) continue;
        *(const GraphNode **)failed = node;
        return true;
    }
    return false;
}

static bool bad_bodies(const Graph *graph, void *failed) {
    for (const GraphNode *node = graph->first; node; node = node->next) {
        const Conditional *conditional = node->work.conditional;
        if (node->work.kind != WORK_CONDITIONAL) continue;
        for (uint32_t k = 0; k < conditional->size; k++)
            if (any_graph(conditional->bodies[k], bad_node, failed)) return true;
    }
    return false;
}

static bool unused_condition(const Graph *graph, void *root) {
    for (const GraphCondition *at = graph->conditions; at; at = at->next) {
        uint64_t handle = at->start.handle;
        if (!any_graph(root, uses_condition, &handle)) return true;
    }
    return false;
}

bool conditional_check(const Graph *graph, const GraphNode **failed) {
    *failed = NULL;
    if (any_graph(graph, bad_bodies, failed)) return false;
    return !any_graph(graph, unused_condition, (void *)(uintptr_t)graph);
}

// --- running ---

static double now_seconds(void) { return (double)clock_ns(CLOCK_MONOTONIC) * 1e-9; }

static const Condition *ask(const Conditional *conditional) {
    const Condition *condition = condition_find(conditional->handle);
    if (!condition->set)
        console_say("a conditional node of a graph asks for a condition that has no default and "
                    "that no kernel of this launch has set: its value is not defined, 0 is taken");
    return condition;
}

// A loop that takes longer than the watchdog allows ends like a kernel that does.
static CudaError end_loop(const Condition *condition, double seconds) {
    char place[256] = "its default value";
    if (condition->module)
        ptx_write_place(condition->module, condition->place, condition->ptx_line, place,
                        sizeof place);
    console_say("%s: a WHILE node of a graph has not ended for %g s; the condition is %u by %s",
                condition->module ? place : "cudaGraphLaunch", seconds, condition->value,
                condition->module ? "cudaGraphSetConditional" : place);
    runtime_break(CUDA_LAUNCH_TIMEOUT);
    return CUDA_SUCCESS;
}

static CudaError run_while(const Conditional *conditional) {
    const double seconds = runtime_options()->watchdog_seconds, start = now_seconds();
    for (;;) {
        const Condition *condition = ask(conditional);
        CudaError error = runtime_broken();
        if (error || !condition->value) return error;
        if (signal_interrupted()) runtime_end_by_signal(signal_interrupted());
        if (seconds > 0 && now_seconds() - start > seconds) return end_loop(condition, seconds);
        error = graph_run(conditional->bodies[0]);
        if (error) return error;
    }
}

CudaError conditional_run(const Conditional *conditional) {
    if (conditional->type == CONDITIONAL_WHILE) return run_while(conditional);
    uint32_t value = ask(conditional)->value;
    if (conditional->type == CONDITIONAL_IF) value = value ? 0 : 1;
    return value < conditional->size ? graph_run(conditional->bodies[value]) : CUDA_SUCCESS;
}
