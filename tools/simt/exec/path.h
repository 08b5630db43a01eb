// The paths of a warp: lanes that go on together after a branch has split the warp.
//
// Lanes that have split come together again in one of two ways. PTX does not say where: lowering
// finds the merge points, see path_join.h. Machine code says it with convergence barriers, see
// path_converge.h. A warp uses only one of the two; this header is what both share.
//
// Each function that returns an instruction returns the next one to run, or NULL with warp->stop.
#ifndef PATH_H
#define PATH_H

#include "simt/exec/warp.h"

// --- for whoever runs warps and instructions ---

void path_start(Warp *warp, const Inst *entry, uint32_t lanes);
const Inst *path_resume(Warp *warp);
const Inst *path_exit(Warp *warp, uint32_t lanes, const Inst *next);
const Inst *path_yield(Warp *warp, const Inst *inst, Stop stop);

// The running path waits: until these lanes have come to the same kind of instruction, at a barrier
// of the block, or at the barrier of the cluster.
const Inst *path_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes);
const Inst *path_wait_barrier(Warp *warp, const Inst *inst, uint32_t barrier);
const Inst *path_wait_cluster(Warp *warp, const Inst *inst);
// The barrier is complete.
void path_release_barrier(Warp *warp, uint32_t barrier, BarrierResult result);
void path_release_cluster(Warp *warp);

// --- for path_join.c and path_converge.c ---

// Stops running the current path, which goes on at `pc`; makes another path the current one.
void path_save(Warp *warp, const Inst *pc, PathState state);
const Inst *path_load(Warp *warp, int index);
// Chooses the path that runs next.
const Inst *path_switch(Warp *warp);
// A path for lanes of the running one that go on at `pc`. Returns its index; -1: there are too many
// paths. Joins that merge nothing any more are freed for it if `collapse`.
int path_new(Warp *warp, const Inst *pc, uint32_t lanes, PathState state, bool collapse);
void path_free(Warp *warp, int index);
const Inst *path_too_many(Warp *warp, const Inst *inst); // fails
// The lanes that a path in PATH_SYNC waits for and that do not wait with it.
uint32_t path_missing(const Warp *warp, const Path *path);
// Whether two paths in PATH_SYNC wait for each other.
bool path_same_place(const Path *path, const Path *other);

#endif
