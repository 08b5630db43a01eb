// Directed graphs as lists of edges, and their dominator trees.
#ifndef DOMINATOR_H
#define DOMINATOR_H

#include <stdint.h>

#include "base/arena.h"

// The edges of `count` nodes. Those of node n are to[start[n]] up to, not including,
// to[start[n + 1]].
typedef struct {
    uint32_t count;
    uint32_t *start, *to;
} Edges;

// The dominators of the nodes that are reachable from a root. UINT32_MAX means none.
typedef struct {
    uint32_t *order; // reached nodes in reverse post-order, the root first
    uint32_t reached;
    uint32_t *number;    // by node: its index in `order`
    uint32_t *dominator; // by node: its immediate dominator; the root's is the root
} Dominators;

Edges edges_reversed(Arena *arena, const Edges *edges);
// `in` is `out` reversed. For post-dominators swap them and let the root be the exit.
Dominators dominators_of(Arena *arena, const Edges *out, const Edges *in, uint32_t root);

#endif
