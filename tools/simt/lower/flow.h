// Control flow of one function: basic blocks and where split lanes meet again.
//
// A GPU's compiler sets up a convergence barrier where lanes may split: lanes wait at the place
// where their ways come together, and one that ends, or goes where that place is not reached any
// more, is taken off the list of those that are waited for. So:
//
// - Lanes that split at a node meet at its immediate post-dominator, the first node that lies on
//   all ways from it. Ways that end the thread do not count where others go on.
// - In a loop they meet already at the first node that lies on all ways on which they stay in it:
//   `for (...) { if (a) { if (b) break; x; } y; }` rejoins at y. Lanes that leave the loop wait for
//   the others behind it.
#ifndef FLOW_H
#define FLOW_H

#include "simt/ptx/ptx.h"

// A node where lanes meet. Who comes to a node that is not in `inside` (a bit for each node; NULL:
// all are) is no longer waited for.
typedef struct {
    uint32_t node;
    const uint64_t *inside;
} FlowMeet;

typedef struct {
    uint32_t first, end; // PTX instructions [first, end)
    bool synthetic;      // only the branch around a guarded instruction that cannot be guarded
    bool bare_exit;      // nothing but the end of the thread
    uint32_t *next;      // successors, the one taken first
    uint32_t next_count;
    FlowMeet *meets; // of lanes that split here, the nearest first; a later one is for those that
    uint32_t meet_count; // left what is inside the earlier ones
    bool join;           // some branch's lanes meet here
    bool outside;        // lanes come here that left what is inside some meet
} FlowNode;

// Fills in the meets, `join` and `outside` of all nodes. Node 0 is where threads start.
void flow_meets(Arena *arena, FlowNode *nodes, uint32_t count);

#endif
