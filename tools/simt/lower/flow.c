// Immediate post-dominators, by the iterative method of Cooper, Harvey and Kennedy ("A Simple, Fast
// Dominance Algorithm") on the reversed graph.
//
// Lanes that exit are not waited for. So an edge to a block that only exits does not count where
// there is another way to go: after `if (i >= n) return;` the remaining lanes stay together.
#include "simt/lower/flow.h"

// The edges that count. Those of node n are to[start[n]] up to to[start[n + 1]].
typedef struct {
    uint32_t *start, *to;
} Edges;

// Node `count` is the exit of all.
typedef struct {
    Arena *arena;
    const FlowNode *nodes;
    uint32_t count;
    Edges after, before;
    uint32_t *order;     // nodes by post-order of the reversed graph, the exit last
    uint32_t *number;    // of a node in that order backwards, PTX_NONE: no exit is reached from it
    uint32_t *dominator; // PTX_NONE until known
    uint32_t ordered;
} Graph;

static bool counts_as_edge(const FlowNode *nodes, const FlowNode *from, uint32_t to) {
    if (!nodes[to].bare_exit) return true;
    for (uint32_t k = 0; k < from->next_count; k++)
        if (!nodes[from->next[k]].bare_exit) return false;
    return true;
}

// A node without an edge that counts leads to the exit.
static void list_edges(Graph *graph) {
    const uint32_t count = graph->count;
    uint32_t edges = 0;
    for (uint32_t n = 0; n < count; n++)
        edges += graph->nodes[n].next_count ? graph->nodes[n].next_count : 1;
    Edges *after = &graph->after;
    after->start = ARENA_NEW(graph->arena, (size_t)count + 2, uint32_t);
    after->to = ARENA_NEW(graph->arena, (size_t)edges + 1, uint32_t);
    uint32_t used = 0;
    for (uint32_t n = 0; n < count; n++) {
        const FlowNode *node = &graph->nodes[n];
        after->start[n] = used;
        for (uint32_t k = 0; k < node->next_count; k++)
            if (counts_as_edge(graph->nodes, node, node->next[k]))
                after->to[used++] = node->next[k];
        if (used == after->start[n]) after->to[used++] = count;
    }
    after->start[count] = after->start[count + 1] = used;
}

static void reverse_edges(Graph *graph) {
    const Edges *after = &graph->after;
    const uint32_t count = graph->count, edges = after->start[count];
    Edges *before = &graph->before;
    before->start = ARENA_NEW(graph->arena, (size_t)count + 2, uint32_t);
    before->to = ARENA_NEW(graph->arena, (size_t)edges + 1, uint32_t);
    for (uint32_t e = 0; e < edges; e++) before->start[after->to[e] + 1]++;
    for (uint32_t n = 0; n <= count; n++) before->start[n + 1] += before->start[n];
    uint32_t *filled = ARENA_NEW(graph->arena, (size_t)count + 1, uint32_t);
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t e = after->start[n]; e < after->start[n + 1]; e++) {
            uint32_t to = after->to[e];
            before->to[before->start[to] + filled[to]++] = n;
        }
    }
}

// Post-order of the reversed graph from the exit, without recursion.
static void number_nodes(Graph *graph) {
    const Edges *before = &graph->before;
    const size_t room = (size_t)graph->count + 1;
    graph->order = ARENA_NEW(graph->arena, room, uint32_t);
    graph->number = ARENA_NEW(graph->arena, room, uint32_t);
    uint32_t *stack = ARENA_NEW(graph->arena, room, uint32_t);
    uint32_t *at = ARENA_NEW(graph->arena, room, uint32_t);
    uint8_t *seen = ARENA_NEW(graph->arena, room, uint8_t);
    for (size_t n = 0; n < room; n++) {
        graph->number[n] = PTX_NONE;
        at[n] = before->start[n];
    }
    uint32_t depth = 0;
    stack[depth++] = graph->count;
    seen[graph->count] = 1;
    while (depth) {
        uint32_t n = stack[depth - 1];
        if (at[n] == before->start[n + 1]) {
            graph->order[graph->ordered++] = n;
            depth--;
            continue;
        }
        uint32_t from = before->to[at[n]++];
        if (seen[from]) continue;
        seen[from] = 1;
        stack[depth++] = from;
    }
    for (uint32_t k = 0; k < graph->ordered; k++)
        graph->number[graph->order[k]] = graph->ordered - 1 - k; // the exit has number 0
}

static uint32_t intersect(const Graph *graph, uint32_t a, uint32_t b) {
    while (a != b) {
        while (graph->number[a] > graph->number[b]) a = graph->dominator[a];
        while (graph->number[b] > graph->number[a]) b = graph->dominator[b];
    }
    return a;
}

static void find_dominators(Graph *graph) {
    const Edges *after = &graph->after;
    graph->dominator = ARENA_NEW(graph->arena, (size_t)graph->count + 1, uint32_t);
    for (uint32_t n = 0; n < graph->count; n++) graph->dominator[n] = PTX_NONE;
    graph->dominator[graph->count] = graph->count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = graph->ordered - 1; k-- > 0;) {
            uint32_t n = graph->order[k], best = PTX_NONE;
            for (uint32_t e = after->start[n]; e < after->start[n + 1]; e++) {
                uint32_t to = after->to[e];
                if (graph->dominator[to] == PTX_NONE) continue;
                best = best == PTX_NONE ? to : intersect(graph, best, to);
            }
            changed |= best != graph->dominator[n];
            graph->dominator[n] = best;
        }
    }
}

void flow_post_dominators(Arena *arena, FlowNode *nodes, uint32_t count) {
    Graph graph = {.arena = arena, .nodes = nodes, .count = count};
    list_edges(&graph);
    reverse_edges(&graph);
    number_nodes(&graph);
    find_dominators(&graph);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t meet = graph.dominator[n];
        nodes[n].meet = meet == count ? PTX_NONE : meet;
        if (nodes[n].next_count > 1 && nodes[n].meet != PTX_NONE) nodes[nodes[n].meet].join = true;
    }
}
