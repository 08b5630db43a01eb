// Graphs as lists of edges, and who dominates whom.
#ifndef DOMINATOR_H
#define DOMINATOR_H

#include <stdint.h>

#include "base/arena.h"

// Edges of `count` nodes; those of node n are to[start[n]] up to to[start[n + 1]].
typedef struct {
    uint32_t count;
    uint32_t *start, *to;
} Edges;

// What is known of the nodes that are reached from a root. UINT32_MAX stands for none.
typedef struct {
    uint32_t *order; // reached nodes in reverse post-order, the root first
    uint32_t reached;
    uint32_t *number;    // of a node in that order
    uint32_t *dominator; // immediate; the root's is itself
} Dominators;

Edges edges_reversed(Arena *arena, const Edges *edges);
// `in` is `out` reversed. Of post-dominators: the other way round, the root is the exit.
Dominators dominators_of(Arena *arena, const Edges *out, const Edges *in, uint32_t root);

#endif
