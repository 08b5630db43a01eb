// The paths of a warp. Each function that returns an instruction returns the next one to run, or
// NULL with warp->stop.
#ifndef PATH_H
#define PATH_H

#include "simt/exec/warp.h"

void path_start(Warp *warp, const Inst *entry, uint32_t lanes);
const Inst *path_resume(Warp *warp);
// The lanes `taken` go to the target, the others on behind the instruction; they meet again at
// `meet`, NULL: nowhere.
const Inst *path_split(Warp *warp, const Inst *inst, uint32_t taken, const Inst *target,
                       const Inst *meet);
const Inst *path_arrive(Warp *warp); // at warp->rpc
const Inst *path_exit(Warp *warp, uint32_t lanes, const Inst *next);
const Inst *path_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes);
const Inst *path_wait_barrier(Warp *warp, const Inst *inst, uint32_t barrier);
const Inst *path_yield(Warp *warp, const Inst *inst, Stop stop);
const Inst *path_switch(Warp *warp);
void path_release_barrier(Warp *warp, uint32_t barrier);
bool path_release_parked(Warp *warp);

#endif
