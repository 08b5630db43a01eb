// Conditional nodes of graphs: bodies that run or do not, by the value of a condition.
#ifndef CONDITIONAL_H
#define CONDITIONAL_H

#include "simt/cuda/graph.h"

// driver_types.h: cudaGraphConditionalNodeType.
typedef enum { CONDITIONAL_IF, CONDITIONAL_WHILE, CONDITIONAL_SWITCH } ConditionalType;

struct Conditional {
    uint64_t handle; // of its condition
    ConditionalType type;
    uint32_t size;
    Graph **bodies; // owned; of the description of a node to come NULL
};

// What a launch of a graph does to a condition before anything else.
typedef struct {
    uint64_t handle;
    uint32_t value;
    bool assigns; // the default value; else the condition has none until a kernel sets it
} ConditionStart;

struct ConditionStarts {
    size_t count;
    ConditionStart of[];
};

// A condition of a graph, for its nodes and those in the bodies of its nodes.
struct GraphCondition {
    GraphCondition *next;
    ConditionStart start;
};

// Copies bodies, or makes empty ones. NULL: out of memory.
Conditional *conditional_copy(const Conditional *from);
void conditional_free(Conditional *conditional);
CudaError conditional_run(const Conditional *conditional);

ConditionStarts *conditional_starts_copy(const ConditionStarts *from); // NULL: out of memory
void conditional_starts_run(const ConditionStarts *starts);

// driver_types.h: cudaConditionalNodeParams.
typedef struct {
    unsigned long long handle;
    int type;
    unsigned int size;
    Graph **bodies;
} ConditionalParams;

// What a conditional node in the graph would be: checked, without bodies.
CudaError conditional_describe(const Graph *graph, const ConditionalParams *params,
                               Conditional *conditional);

bool conditional_inside(const Graph *graph); // has it such nodes, also in child graphs?

// What all conditions of a graph and of its bodies start with. NULL: out of memory.
ConditionStarts *conditional_starts(const Graph *graph);

// Whether a graph can be instantiated as far as conditional nodes go: all conditions have their
// node, and bodies hold what they may. Else *failed is the node that is wrong, NULL: a condition.
bool conditional_check(const Graph *graph, const GraphNode **failed);

#endif
