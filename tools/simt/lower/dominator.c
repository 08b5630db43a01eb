// Finds immediate dominators by the iterative method of Cooper, Harvey and Kennedy ("A Simple, Fast
// Dominance Algorithm").
#include "simt/lower/dominator.h"

#include <stdbool.h>

#define NONE UINT32_MAX

Edges edges_reversed(Arena *arena, const Edges *edges) {
    const uint32_t count = edges->count, total = edges->start[count];
    Edges back = {.count = count,
                  .start = ARENA_NEW(arena, (size_t)count + 2, uint32_t),
                  .to = ARENA_NEW(arena, (size_t)total + 1, uint32_t)};
    for (uint32_t e = 0; e < total; e++) back.start[edges->to[e] + 1]++;
    for (uint32_t n = 0; n < count; n++) back.start[n + 1] += back.start[n];
    uint32_t *filled = ARENA_NEW(arena, (size_t)count + 1, uint32_t);
    for (uint32_t n = 0; n < count; n++) {
        for (uint32_t e = edges->start[n]; e < edges->start[n + 1]; e++) {
            uint32_t to = edges->to[e];
            back.to[back.start[to] + filled[to]++] = n;
        }
    }
    return back;
}

// Reverse post-order from the root, without recursion.
static void number_nodes(Arena *arena, const Edges *out, uint32_t root, Dominators *found) {
    const size_t size = (size_t)out->count + 1;
    uint32_t *stack = ARENA_NEW(arena, size, uint32_t), *at = ARENA_NEW(arena, size, uint32_t);
    uint32_t *post = ARENA_NEW(arena, size, uint32_t);
    for (uint32_t n = 0; n < out->count; n++) {
        found->number[n] = NONE;
        at[n] = out->start[n];
    }
    uint32_t depth = 0;
    stack[depth++] = root;
    found->number[root] = 0; // marks it as seen
    while (depth) {
        uint32_t n = stack[depth - 1];
        if (at[n] == out->start[n + 1]) {
            post[found->reached++] = n;
            depth--;
            continue;
        }
        uint32_t to = out->to[at[n]++];
        if (found->number[to] != NONE) continue;
        found->number[to] = 0;
        stack[depth++] = to;
    }
    for (uint32_t k = 0; k < found->reached; k++) {
        uint32_t n = post[found->reached - 1 - k];
        found->order[k] = n;
        found->number[n] = k;
    }
}

static uint32_t intersect(const Dominators *found, uint32_t a, uint32_t b) {
    while (a != b) {
        while (found->number[a] > found->number[b]) a = found->dominator[a];
        while (found->number[b] > found->number[a]) b = found->dominator[b];
    }
    return a;
}

Dominators dominators_of(Arena *arena, const Edges *out, const Edges *in, uint32_t root) {
    const size_t size = (size_t)out->count + 1;
    Dominators found = {.order = ARENA_NEW(arena, size, uint32_t),
                        .number = ARENA_NEW(arena, size, uint32_t),
                        .dominator = ARENA_NEW(arena, size, uint32_t)};
    number_nodes(arena, out, root, &found);
    for (uint32_t n = 0; n < out->count; n++) found.dominator[n] = NONE;
    found.dominator[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 1; k < found.reached; k++) {
            uint32_t n = found.order[k], best = NONE;
            for (uint32_t e = in->start[n]; e < in->start[n + 1]; e++) {
                uint32_t from = in->to[e];
                if (found.dominator[from] == NONE) continue;
                best = best == NONE ? from : intersect(&found, best, from);
            }
            changed |= best != found.dominator[n];
            found.dominator[n] = best;
        }
    }
    return found;
}
