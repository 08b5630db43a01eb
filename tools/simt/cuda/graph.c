// Creates, edits, clones, and sorts graphs of work.
#define _POSIX_C_SOURCE 200809L
#include "simt/cuda/graph.h"

#include <stdlib.h>
#include <string.h>

static Graph *graphs;
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

bool graph_has_nodes(const Graph *graph, GraphNode *const *nodes, size_t count) {
    if (count > graph->count || (count && !nodes)) return false;
    for (size_t i = 0; i < count; i++)
        if (!graph_has_node(graph, nodes[i])) return false;
    return true;
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
    for (const GraphNode *node = graph->first; good && node; node = node->next) {
        GraphNode *added = graph_add(clone, &node->work, NULL, 0);
        if (added) added->origin = node;
        good = added != NULL;
    }
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

GraphNode **graph_order(const Graph *graph, CudaError *error) {
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
    GraphNode **sorted = graph_order(graph, &error);
    for (size_t i = 0; sorted && !error && i < graph->count; i++)
        error = work_run(&sorted[i]->work);
    free(sorted);
    return error;
}

bool node_set_assign(NodeSet *set, GraphNode *const *nodes, size_t count) {
    GraphNode **copy = malloc((count ? count : 1) * sizeof *copy);
    if (!copy) return false;
    if (count) memcpy(copy, nodes, count * sizeof *copy);
    free(set->nodes);
    *set = (NodeSet){copy, count};
    return true;
}

bool node_set_add(NodeSet *set, const NodeSet *more) {
    GraphNode **all = malloc((set->count + more->count + 1) * sizeof *all);
    if (!all) return false;
    size_t count = set->count;
    if (count) memcpy(all, set->nodes, count * sizeof *all);
    for (size_t i = 0; i < more->count; i++) {
        bool there = false;
        for (size_t k = 0; k < count; k++) there |= all[k] == more->nodes[i];
        if (!there) all[count++] = more->nodes[i];
    }
    free(set->nodes);
    *set = (NodeSet){all, count};
    return true;
}

void node_set_clear(NodeSet *set) {
    free(set->nodes);
    *set = (NodeSet){NULL, 0};
}
