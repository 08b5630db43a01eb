// Graphs that are instantiated.
#ifndef GRAPH_EXEC_H
#define GRAPH_EXEC_H

#include "simt/cuda/graph.h"

typedef struct {
    GraphNode *origin; // the node that this was made from
    Work work;
    size_t *before; // the numbers of the steps that this one waits for
    size_t before_count;
    bool disabled;
} Step;

typedef struct GraphExec {
    struct GraphExec *next;
    Step *steps;
    size_t count;
    unsigned long long flags;
    bool branches;        // some step does not wait for the one in front of it
    uint32_t running;     // launches under way: while host functions run, other threads may call
    uint64_t last_launch; // number of its last work, see queue.h and unfinished.h; 0: none
} GraphExec;

bool graph_exec_known(const GraphExec *exec);
// CUDA_SUCCESS: it may be changed.
CudaError graph_exec_check(const GraphExec *exec);

#endif
