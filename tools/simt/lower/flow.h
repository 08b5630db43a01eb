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
// - Where no such place is in a loop, because several ways lead straight back to its header (an
//   interpreter's cases, a `continue` at the end of each branch), they meet at the header: ptxas
//   puts one end of all rounds in front of it.
// - Where only some ways from a node come together (`goto` past the end of an `if`, a case that
//   falls into the next) those that come wait there too. The node, the immediate dominator of the
//   place, has one such place at most: the last, and none if lanes that split there may leave a
//   loop past the first. Of two whose ways cross, the one that is first in reverse post-order is
//   kept. Within the ways to another such place there is none that could be passed without leaving
//   them: lanes do not wait twice for those who are still on their way.
// - Two branches of `a && b` are one if b is cheap: then it is computed for all lanes, and those
//   which do not need it are with the others behind it.
//
// This is what ptxas does in most cases, read off its machine code: where it sets BSSY, BSYNC and
// BREAK in 200 random control flows. tests/simt/flows/bounds.csv names those where it does not.
#ifndef FLOW_H
#define FLOW_H

#include "simt/ptx/ptx.h"

// A node where lanes meet. Who comes to a node that is not in `inside` (a bit for each node; NULL:
// all are) is no longer waited for.
typedef struct {
    uint32_t node;
    const uint64_t *inside;
} FlowMeet;

typedef struct FlowNode {
    uint32_t first, end; // PTX instructions [first, end)
    bool synthetic;      // only the branch around a guarded instruction that cannot be guarded
    bool bare_exit;      // nothing but the end of the thread
    bool condition; // a branch, and what decides it is cheap to compute for lanes that need it not
    bool brief;     // so few instructions that they run under a predicate
    uint32_t *next; // successors, the one taken first
    uint32_t next_count;
    FlowMeet *meets; // of lanes that split here, the nearest first; a later one is for those that
    uint32_t meet_count; // left what is inside the earlier ones
    bool join;           // some branch's lanes meet here
    bool outside;        // lanes come here that left what is inside some meet
} FlowNode;

// Fills in the meets, `join` and `outside` of all nodes. Node 0 is where threads start.
void flow_meets(Arena *arena, FlowNode *nodes, uint32_t count);

#endif
