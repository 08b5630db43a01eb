// Splits and merges paths of PTX at the merge points that lowering finds (lower/flow.h).
//
// When a branch splits a path, path_join_split makes a join for each merge point: a path in state
// PATH_JOIN that collects the lanes that arrive there, and continues when all its members have
// arrived. Paths and joins form a tree by `parent`; `rpc` is where a path arrives at its join.
#ifndef PATH_JOIN_H
#define PATH_JOIN_H

#include "simt/exec/path.h"

// The lanes `taken` continue at the target, the others at the next instruction.
const Inst *path_join_split(Warp *warp, const Inst *inst, uint32_t taken, const Inst *target,
                            const MergePoints *merges);
// The running path has arrived at its join, at warp->rpc.
const Inst *path_join_arrive(Warp *warp);
// The running path reaches a node: joins that cannot be reached from there stop waiting for it.
void path_join_leave(Warp *warp, const Inst *at);
// Releases the lanes that wait at joins. False: no lanes wait.
bool path_join_release(Warp *warp);

// --- for path.c ---

// These lanes of the running path exit: its joins stop waiting for them.
void path_join_exit(Warp *warp, uint32_t lanes);
// A join whose members have all arrived or exited continues; it is freed if all have exited.
void path_join_check(Warp *warp, int join);
// Frees joins that have only one path left to merge.
void path_join_collapse(Warp *warp);

#endif
