// Graphs: nodes of work with dependencies.
#ifndef GRAPH_H
#define GRAPH_H

#include "simt/cuda/work.h"

typedef struct GraphNode GraphNode;

// A set of nodes, such as the dependencies of another node.
typedef struct {
    GraphNode **nodes;
    size_t count;
} NodeSet;

// Both return false, and leave the set unchanged, if out of memory.
bool node_set_assign(NodeSet *set, GraphNode *const *nodes, size_t count);
bool node_set_add(NodeSet *set, const NodeSet *more);
void node_set_clear(NodeSet *set);

struct GraphNode {
    GraphNode *next; // in the order of creation
    Graph *graph;
    const GraphNode *origin; // the node from which this one was cloned, or NULL
    Work work;
    GraphNode **before; // the nodes that this one waits for
    size_t before_count;
    unsigned mark; // scratch for searches
};

struct Graph {
    Graph *next; // in the list of all graphs
    GraphNode *first, **last;
    size_t count;
};

Graph *graph_new(void);
Graph *graph_clone(const Graph *graph); // NULL: out of memory
void graph_free(Graph *graph);
CudaError graph_run(const Graph *graph);
// Adds a node after `dependencies`. Returns NULL if out of memory.
GraphNode *graph_add(Graph *graph, const Work *work, GraphNode *const *dependencies, size_t count);
bool graph_known(const Graph *graph);
bool graph_has_node(const Graph *graph, const GraphNode *node);
// Whether all nodes are in the graph. False if there are more, since duplicates are not allowed.
bool graph_has_nodes(const Graph *graph, GraphNode *const *nodes, size_t count);
// Whether `node` is one of `nodes` or comes before one of them.
bool graph_precedes(const GraphNode *node, GraphNode *const *nodes, size_t count);

bool graph_known_node(const GraphNode *node);
bool graph_depends(GraphNode *node, GraphNode *on); // false: out of memory
void graph_remove(GraphNode *node);                 // no node may depend on it

// Sorts the nodes topologically, oldest first among independent ones. The caller frees the array.
// Returns NULL and sets *error if out of memory or if there is a cycle.
GraphNode **graph_order(const Graph *graph, CudaError *error);

#endif
