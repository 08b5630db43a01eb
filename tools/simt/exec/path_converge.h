// Convergence of machine code: BSSY, BSYNC, BREAK, WARPSYNC and YIELD.
//
// A convergence barrier is a register that holds a mask of lanes. path_converge_split splits a path
// without a join. A path that reaches a barrier before other lanes of its mask waits there, in
// PATH_SYNC with `gathers`, and path_converge merges the paths when the last lanes arrive.
//
// On hardware a program can observe which path runs first, so the order must be the same here. The
// ready path with the greatest `order` runs. A later split gives a greater order, and a waiting
// path comes right after the paths that it waits for.
//
// A woken path executes its instruction again, which decides whether it still waits.
#ifndef PATH_CONVERGE_H
#define PATH_CONVERGE_H

#include "simt/exec/path.h"

// The lanes `later` continue at `where` once the other lanes, which continue at `next`, have exited
// or wait. If another path is split off before that, all ready paths at `where` merge first.
const Inst *path_converge_split(Warp *warp, const Inst *inst, uint32_t later, const Inst *where,
                                const Inst *next);
// The running path reaches a convergence barrier of these lanes. Its lanes outside the mask
// continue; the others continue when all have arrived.
const Inst *path_converge(Warp *warp, const Inst *inst, uint32_t lanes);
// Merges the paths that wait at the instruction in path_converge_wait into the running path if all
// of these lanes are there. Returns false if some are not.
bool path_converge_gather(Warp *warp, const Inst *inst, uint32_t lanes);
const Inst *path_converge_wait(Warp *warp, const Inst *inst, uint32_t lanes);
// BREAK: `lanes` will not reach a convergence barrier. Paths with lanes among `of` that wait for it
// at an instruction that runs `op` stop waiting for `lanes` and are woken.
void path_converge_leave(Warp *warp, Op *op, uint32_t barrier, uint32_t lanes, uint32_t of);
// path_converge_yield: the other paths of the warp run first. path_converge_yielding: the lanes of
// paths that have yielded since they last ran.
const Inst *path_converge_yield(Warp *warp, const Inst *inst);
uint32_t path_converge_yielding(const Warp *warp);
// Wakes the paths that wait only for the running one at an instruction that runs `op`, and others
// that have not been woken at their place before. False: there are none.
bool path_converge_wake(Warp *warp, Op *op);

// --- for path.c ---

// The ready path that runs first: the one with the greatest order, or `ready` if paths have no
// order.
int path_converge_first(const Warp *warp, int ready);
// Chooses between a ready path (-1: none) and paths that no longer wait for any lanes. -1: there is
// neither.
int path_converge_next(Warp *warp, int ready);
// Wakes one path when all of them wait at convergence barriers. -1: they do not.
int path_converge_break_stuck(Warp *warp);

#endif
