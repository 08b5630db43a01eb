// Graphs from the inside, for the calls that build, query and change them.
#ifndef RUNTIME_GRAPH_H
#define RUNTIME_GRAPH_H

#include "simt/cuda/runtime.h"

struct GraphNode {
    GraphNode *next; // in the order of creation
    Graph *graph;
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

typedef struct {
    GraphNode *origin; // the node that this was made from
    Work work;
    bool disabled;
} Step;

typedef struct GraphExec {
    struct GraphExec *next;
    Step *steps;
    size_t count;
    unsigned long long flags;
} GraphExec;

bool graph_known_node(const GraphNode *node);
bool graph_known_exec(const GraphExec *exec);
bool graph_depends(GraphNode *node, GraphNode *on); // false: out of memory
void graph_remove(GraphNode *node);                 // nothing may depend on it any more

#endif
