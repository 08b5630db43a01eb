// The paths of a warp. Each function that returns an instruction returns the next one to run, or
// NULL with warp->stop.
#ifndef PATH_H
#define PATH_H

#include "simt/exec/warp.h"

void path_start(Warp *warp, const Inst *entry, uint32_t lanes);
const Inst *path_resume(Warp *warp);
const Inst *path_exit(Warp *warp, uint32_t lanes, const Inst *next);
const Inst *path_yield(Warp *warp, const Inst *inst, Stop stop);

// --- PTX: joins ---
// The lanes `taken` go to the target, the others on behind the instruction.
const Inst *path_split(Warp *warp, const Inst *inst, uint32_t taken, const Inst *target,
                       const Meets *meets);
const Inst *path_arrive(Warp *warp); // at warp->rpc
// The path comes to a node: who is outside what leads to a join is no longer waited for there.
void path_leave_joins(Warp *warp, const Inst *at);
// Lanes that wait at a join for others go on alone. False: none do.
bool path_release_parked(Warp *warp);

// --- machine code: convergence barriers ---
// The lanes `later` go on at `where`, when the others, who go to `next`, have ended or wait. If
// still others part before that, they go on together with all that stand at `where` then.
const Inst *path_part(Warp *warp, const Inst *inst, uint32_t later, const Inst *where,
                      const Inst *next);
// The running path comes to an instruction where these lanes wait for each other at a convergence
// barrier: those of its own that are not among them pass, and the others too when all have come.
const Inst *path_converge(Warp *warp, const Inst *inst, uint32_t lanes);
// Lanes of other paths that wait in path_wait_gather at the instruction, all of these, come to the
// running one's. False: some are not there yet.
bool path_gather(Warp *warp, const Inst *inst, uint32_t lanes);
const Inst *path_wait_gather(Warp *warp, const Inst *inst, uint32_t lanes);
// BREAK: `lanes` will not come to a convergence barrier. Whoever of the lanes `of` waits for it, at
// an instruction that does `op`, no longer waits for them, and looks once more whether it has to.
void path_break(Warp *warp, Op *op, uint32_t barrier, uint32_t lanes, uint32_t of);
// Lets the other paths of the warp go first; path_yielding: the lanes of paths that did so and have
// not gone on.
const Inst *path_let_others(Warp *warp, const Inst *inst);
uint32_t path_yielding(const Warp *warp);
// Paths that wait at an instruction execute it once more: those that wait for the running path
// alone at an instruction of this kind, and others if that was not done. False: there are none.
bool path_wake(Warp *warp, Op *op);

// --- both ---
// Waits until these lanes have come to the same kind of instruction.
const Inst *path_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes);
const Inst *path_wait_barrier(Warp *warp, const Inst *inst, uint32_t barrier);
void path_release_barrier(Warp *warp, uint32_t barrier, BarrierResult result);
const Inst *path_wait_cluster(Warp *warp, const Inst *inst);
void path_release_cluster(Warp *warp);

#endif
