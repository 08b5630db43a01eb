// The paths of a warp: each is a set of lanes that run together after branches have split the warp.
//
// Split lanes merge in one of two ways. PTX does not say where: lowering finds the merge points,
// see path_join.h. Machine code says it with convergence barriers, see path_converge.h. A warp uses
// only one of the two; both share this header.
//
// Each function that returns an instruction returns the next one to run, or NULL with warp->stop.
#ifndef PATH_H
#define PATH_H

#include "simt/exec/warp.h"

// --- for code that runs warps and instructions ---

void path_start(Warp *warp, const Inst *entry, uint32_t lanes);
const Inst *path_resume(Warp *warp);
const Inst *path_exit(Warp *warp, uint32_t lanes, const Inst *next);
const Inst *path_yield(Warp *warp, const Inst *inst, Stop stop);

// The running path waits until these lanes have reached the same kind of instruction, at a barrier
// of the block, or at the barrier of the cluster.
const Inst *path_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes);
const Inst *path_wait_barrier(Warp *warp, const Inst *inst, uint32_t barrier);
const Inst *path_wait_cluster(Warp *warp, const Inst *inst);
// The barrier is complete.
void path_release_barrier(Warp *warp, uint32_t barrier, BarrierResult result);
void path_release_cluster(Warp *warp);

// --- for path_join.c and path_converge.c ---

// Saves the running path, to be resumed at `pc`; makes another path the running one.
void path_save(Warp *warp, const Inst *pc, PathState state);
const Inst *path_load(Warp *warp, int index);
// Chooses the path that runs next.
const Inst *path_switch(Warp *warp);
// Makes a path for lanes of the running one, to be resumed at `pc`. Returns its index, or -1 if
// there are too many paths. If `collapse`, joins that no longer merge anything are freed to make
// space.
int path_new(Warp *warp, const Inst *pc, uint32_t lanes, PathState state, bool collapse);
void path_free(Warp *warp, int index);
const Inst *path_too_many(Warp *warp, const Inst *inst); // fails
// The lanes for which a path in PATH_SYNC still waits.
uint32_t path_missing(const Warp *warp, const Path *path);
// Whether two paths in PATH_SYNC wait for each other.
bool path_same_place(const Path *path, const Path *other);

#endif
