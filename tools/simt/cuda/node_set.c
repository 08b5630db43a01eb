// Sets of graph nodes: see node_set.h.
#include "simt/cuda/node_set.h"

#include <stdlib.h>
#include <string.h>

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
