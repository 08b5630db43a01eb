// Instantiated graphs.
#ifndef GRAPH_EXEC_H
#define GRAPH_EXEC_H

#include "simt/cuda/graph.h"

typedef struct {
    GraphNode *origin; // the node from which this step was made
    Work work;
    size_t *before; // the indices of the steps that this one depends on
    size_t before_count;
    bool disabled;
} Step;

typedef struct GraphExec {
    struct GraphExec *next;
    Step *steps;
    size_t count;
    unsigned long long flags;
    bool branches;        // some step does not depend on the step before it
    uint32_t running;     // launches in progress; host functions let other threads call
    uint64_t last_launch; // number of its last work (queue.h, unfinished.h); 0: none
} GraphExec;

bool graph_exec_known(const GraphExec *exec);
// Returns CUDA_SUCCESS if the graph may be changed.
CudaError graph_exec_check(const GraphExec *exec);

#endif
