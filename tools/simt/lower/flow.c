// Immediate post-dominators, by the iterative method of Cooper, Harvey and Kennedy ("A Simple, Fast
// Dominance Algorithm") on the reversed graph.
//
// Lanes that exit are not waited for. So an edge to a block that only exits does not count where
// there is another way to go: after `if (i >= n) return;` the remaining lanes stay together.
#include "simt/lower/flow.h"

typedef struct {
    uint32_t *order;  // nodes by reverse post-order of the reversed graph
    uint32_t *number; // of a node in that order, PTX_NONE if no exit can be reached from it
    uint32_t *dominator;
    uint32_t count;
} Dominators;

static bool counts_as_edge(const FlowNode *nodes, const FlowNode *from, uint32_t to) {
    if (!nodes[to].bare_exit) return true;
    for (uint32_t k = 0; k < from->next_count; k++)
        if (!nodes[from->next[k]].bare_exit) return false;
    return true;
}

static uint32_t intersect(const Dominators *d, uint32_t a, uint32_t b) {
    while (a != b) {
        while (d->number[a] > d->number[b]) a = d->dominator[a];
        while (d->number[b] > d->number[a]) b = d->dominator[b];
    }
    return a;
}

void flow_post_dominators(Arena *arena, FlowNode *nodes, uint32_t count) {
    // Predecessor lists; node `count` is the exit of all.
    uint32_t *start = ARENA_NEW(arena, (size_t)count + 2, uint32_t);
    uint32_t edges = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t out = 0;
        for (uint32_t k = 0; k < nodes[n].next_count; k++) {
            if (!counts_as_edge(nodes, &nodes[n], nodes[n].next[k])) continue;
            start[nodes[n].next[k] + 1]++;
            out++;
        }
        if (!out) start[count + 1]++;
        edges += out ? out : 1;
    }
    for (uint32_t n = 0; n <= count; n++) start[n + 1] += start[n];
    uint32_t *before = ARENA_NEW(arena, edges ? edges : 1, uint32_t);
    uint32_t *fill = ARENA_NEW(arena, (size_t)count + 1, uint32_t);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t out = 0;
        for (uint32_t k = 0; k < nodes[n].next_count; k++) {
            uint32_t to = nodes[n].next[k];
            if (!counts_as_edge(nodes, &nodes[n], to)) continue;
            before[start[to] + fill[to]++] = n;
            out++;
        }
        if (!out) before[start[count] + fill[count]++] = n;
    }
    // Post-order of the reversed graph from the exit, without recursion.
    Dominators d = {ARENA_NEW(arena, (size_t)count + 1, uint32_t),
                    ARENA_NEW(arena, (size_t)count + 1, uint32_t),
                    ARENA_NEW(arena, (size_t)count + 1, uint32_t), 0};
    uint32_t *stack = ARENA_NEW(arena, (size_t)count + 1, uint32_t);
    uint32_t *at = ARENA_NEW(arena, (size_t)count + 1, uint32_t);
    for (uint32_t n = 0; n <= count; n++) {
        d.number[n] = d.dominator[n] = PTX_NONE;
        at[n] = start[n];
    }
    uint8_t *seen = ARENA_NEW(arena, (size_t)count + 1, uint8_t);
    uint32_t depth = 0;
    stack[depth++] = count;
    seen[count] = 1;
    while (depth) {
        uint32_t n = stack[depth - 1];
        if (at[n] < start[n + 1]) {
            uint32_t to = before[at[n]++];
            if (!seen[to]) {
                seen[to] = 1;
                stack[depth++] = to;
            }
        } else {
            d.order[d.count++] = n;
            depth--;
        }
    }
    for (uint32_t k = 0; k < d.count; k++)
        d.number[d.order[k]] = d.count - 1 - k; // the exit has number 0
    d.dominator[count] = count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = d.count - 1; k-- > 0;) {
            uint32_t n = d.order[k], best = PTX_NONE, out = 0;
            for (uint32_t s = 0; s < nodes[n].next_count; s++) {
                uint32_t to = nodes[n].next[s];
                if (!counts_as_edge(nodes, &nodes[n], to)) continue;
                out++;
                if (d.dominator[to] == PTX_NONE) continue;
                best = best == PTX_NONE ? to : intersect(&d, best, to);
            }
            if (!out) best = count;
            if (best != d.dominator[n]) {
                d.dominator[n] = best;
                changed = true;
            }
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t meet = d.dominator[n];
        nodes[n].meet = meet == count ? PTX_NONE : meet;
        if (nodes[n].next_count > 1 && nodes[n].meet != PTX_NONE) nodes[nodes[n].meet].join = true;
    }
}
