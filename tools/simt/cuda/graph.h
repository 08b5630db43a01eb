// Graphs: nodes of work with dependencies.
#ifndef GRAPH_H
#define GRAPH_H

#include "simt/cuda/work.h"

typedef struct GraphNode GraphNode;

// Nodes that something depends on.
typedef struct {
    GraphNode **nodes;
    size_t count;
} NodeSet;

// Both give false when out of memory; the set is then as it was.
bool node_set_assign(NodeSet *set, GraphNode *const *nodes, size_t count);
bool node_set_add(NodeSet *set, const NodeSet *more);
void node_set_clear(NodeSet *set);

struct GraphNode {
    GraphNode *next; // in the order of creation
    Graph *graph;
    const GraphNode *origin; // that this one was cloned from, NULL: none
    Work work;
    GraphNode **before; // the nodes that this one waits for
    size_t before_count;
    unsigned mark; // used by searches
};

struct Graph {
    Graph *next; // of all graphs
    GraphNode *first, **last;
    size_t count;
};

Graph *graph_new(void);
Graph *graph_clone(const Graph *graph); // NULL: out of memory
void graph_free(Graph *graph);
CudaError graph_run(const Graph *graph);
// Adds a node after `dependencies`. NULL: out of memory.
GraphNode *graph_add(Graph *graph, const Work *work, GraphNode *const *dependencies, size_t count);
bool graph_known(const Graph *graph);
bool graph_has_node(const Graph *graph, const GraphNode *node);
// Whether they all are the graph's. False also of more than it has: none may be named twice.
bool graph_has_nodes(const Graph *graph, GraphNode *const *nodes, size_t count);
// Whether `node` is one of `nodes` or comes before one of them.
bool graph_precedes(const GraphNode *node, GraphNode *const *nodes, size_t count);

bool graph_known_node(const GraphNode *node);
bool graph_depends(GraphNode *node, GraphNode *on); // false: out of memory
void graph_remove(GraphNode *node);                 // nothing may depend on it any more

// Nodes in an order in which each comes after those it waits for; among those that could be next,
// the oldest; to be freed. NULL with *error set: out of memory or a cycle.
GraphNode **graph_order(const Graph *graph, CudaError *error);

#endif
