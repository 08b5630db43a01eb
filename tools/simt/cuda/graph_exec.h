// Graphs that are instantiated.
#ifndef GRAPH_EXEC_H
#define GRAPH_EXEC_H

#include "simt/cuda/graph.h"

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

bool graph_exec_known(const GraphExec *exec);

#endif
