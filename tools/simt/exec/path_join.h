// Merge points of PTX, which lowering finds (lower/flow.h).
//
// When a branch splits a path, path_join_split makes a join for each merge point: a path in state
// PATH_JOIN that collects the lanes that arrive there, until they are all of its members and go on
// together. Paths and joins form a tree by `parent`; `rpc` is where a path arrives at its join.
#ifndef PATH_JOIN_H
#define PATH_JOIN_H

#include "simt/exec/path.h"

// The lanes `taken` go to the target, the others to the next instruction.
const Inst *path_join_split(Warp *warp, const Inst *inst, uint32_t taken, const Inst *target,
                            const MergePoints *merges);
// The running path has arrived at its join, at warp->rpc.
const Inst *path_join_arrive(Warp *warp);
// The running path comes to a node: joins that cannot be reached from there stop waiting for it.
void path_join_leave(Warp *warp, const Inst *at);
// Lanes that wait at joins go on alone. False: no lanes wait.
bool path_join_release(Warp *warp);

// --- for path.c ---

// These lanes of the running path exit: its joins stop waiting for them.
void path_join_exit(Warp *warp, uint32_t lanes);
// If all members of a join have arrived or exited, it goes on, or is freed when all have exited.
void path_join_check(Warp *warp, int join);
// Frees joins that merge nothing any more.
void path_join_collapse(Warp *warp);

#endif
