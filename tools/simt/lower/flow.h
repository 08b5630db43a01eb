// Control flow of one function: basic blocks and where split lanes meet again.
#ifndef FLOW_H
#define FLOW_H

#include "simt/ptx/ptx.h"

typedef struct {
    uint32_t first, end; // PTX instructions [first, end)
    bool synthetic;      // only the branch around a guarded instruction that cannot be guarded
    bool bare_exit;      // nothing but the end of the thread
    uint32_t *next;      // successors, the one taken first
    uint32_t next_count;
    uint32_t meet; // immediate post-dominator, PTX_NONE if there is none
    bool join;     // some branch's lanes meet here
} FlowNode;

// Fills in `meet` and `join` of all nodes.
void flow_post_dominators(Arena *arena, FlowNode *nodes, uint32_t count);

#endif
