// The control-flow graph of a function, and its merge points: the nodes where lanes that a branch
// has split run together again.
//
// A GPU's compiler sets up a convergence barrier where lanes may split. Lanes wait at the merge
// point. A lane that exits, or from which the merge point is no longer reachable, leaves the
// barrier. The rules are:
//
// - Lanes that split at a node merge at its immediate post-dominator, the first node on all paths
//   from it. Paths that end the thread are ignored if other paths go on.
// - In a loop they merge at the first node on all paths that stay in the loop:
//   `for (...) { if (a) { if (b) break; x; } y; }` merges at y. Lanes that leave the loop wait for
//   the others after it.
// - If a loop has no such node because several paths lead straight back to its header (an
//   interpreter's cases, a `continue` at the end of each branch), lanes merge at the header: ptxas
//   puts a common end of all iterations before it.
// - If only some paths from a node come together (`goto` past the end of an `if`, a case that falls
//   through to the next), lanes on these paths merge there too. We call this a partial merge point.
//   It belongs to its immediate dominator, which has at most one, the last; it has none if lanes
//   may leave a loop without passing the dominator's first merge point. If the regions of two
//   partial merge points cross, the one first in reverse post-order counts. If one region contains
//   the other, the inner merge point is dropped when lanes can pass it and stay in the outer
//   region, since lanes would wait twice for the same lanes.
// - The two branches of `a && b` are one branch if b is cheap: b is computed for all lanes, and
//   lanes that do not need it merge with the others after it.
//
// ptxas follows these rules in most of 200 random control flows, as the places of BSSY, BSYNC and
// BREAK in its machine code show. tests/simt/flows/bounds.csv lists those where it does not.
#ifndef FLOW_H
#define FLOW_H

#include "simt/ptx/ptx.h"

// A merge point. The others stop waiting for a lane that reaches a node outside `inside`, which has
// a bit for each node; NULL means that all nodes are inside.
typedef struct {
    uint32_t node;
    const uint64_t *inside;
} FlowMerge;

typedef struct FlowNode {
    uint32_t first, end; // PTX instructions [first, end)
    bool synthetic;      // only a branch around a guarded instruction that cannot be predicated
    bool bare_exit;      // only the end of the thread
    bool condition;      // a branch with a condition so cheap that ptxas computes it speculatively
    bool brief;          // so few instructions that ptxas predicates them
    uint32_t *next;      // successors, the branch target first
    uint32_t next_count;
    FlowMerge *merges; // of lanes that split here, the nearest first; a later one is for lanes that
    uint32_t merge_count; // left the `inside` of the earlier ones
    bool join;            // a merge point of some branch
    bool outside;         // lanes may reach it that left the `inside` of some merge point
} FlowNode;

// Fills in the merge points, `join` and `outside` of all nodes. Threads start at node 0.
void flow_find_merges(Arena *arena, FlowNode *nodes, uint32_t count);

#endif
