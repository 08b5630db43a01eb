// Sets of graph nodes that something depends on.
#ifndef NODE_SET_H
#define NODE_SET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct GraphNode GraphNode;

typedef struct {
    GraphNode **nodes;
    size_t count;
} NodeSet;

// Both give false when out of memory; the set is then as it was.
bool node_set_assign(NodeSet *set, GraphNode *const *nodes, size_t count);
bool node_set_add(NodeSet *set, const NodeSet *more);
void node_set_clear(NodeSet *set);

#endif
