// Starts, saves, switches and ends the paths of a warp. See path.h.
#include "simt/exec/path.h"

#include "simt/exec/barrier.h"
#include "simt/exec/cluster.h"
#include "simt/exec/path_converge.h"
#include "simt/exec/path_join.h"
#include "simt/exec/spin.h"

// --- paths ---

void path_save(Warp *warp, const Inst *pc, PathState state) {
    Path *path = &warp->paths[warp->current];
    path->pc = pc;
    path->frame = warp->frame;
    path->local = warp->local;
    path->mask = warp->mask;
    path->state = (uint8_t)state;
    path->join.rpc = warp->rpc;
    path->join.parent = warp->parent;
    path->converge.yields = path->converge.woken = false;
    path->converge.order = 0;
}

const Inst *path_load(Warp *warp, int index) {
    Path *path = &warp->paths[index];
    warp->current = (int16_t)index;
    warp->frame = path->frame;
    warp->local = path->local;
    warp->mask = warp->exec = path->mask;
    warp->rpc = path->join.rpc;
    warp->parent = path->join.parent;
    spin_restart(warp);
    return path->pc;
}

void path_free(Warp *warp, int index) {
    warp->paths[index].state = PATH_FREE;
    while (warp->path_count > 0 && warp->paths[warp->path_count - 1].state == PATH_FREE)
        warp->path_count--;
}

// The index of a free path; -1: there is none.
static int find_free(Warp *warp) {
    for (int k = 0; k < PATHS; k++) {
        if (warp->paths[k].state != PATH_FREE) continue;
        if (k >= warp->path_count) warp->path_count = (uint8_t)(k + 1);
        return k;
    }
    return -1;
}

int path_new(Warp *warp, const Inst *pc, uint32_t lanes, PathState state, bool collapse) {
    int index = find_free(warp);
    if (index < 0 && collapse) {
        path_save(warp, NULL, PATH_READY);
        path_join_collapse(warp);
        path_load(warp, warp->current);
        index = find_free(warp);
    }
    if (index < 0) return -1;
    warp->paths[index] = (Path){.pc = pc,
                                .frame = warp->frame,
                                .local = warp->local,
                                .mask = lanes,
                                .state = (uint8_t)state,
                                .join = {.parent = warp->parent, .rpc = warp->rpc}};
    return index;
}

const Inst *path_too_many(Warp *warp, const Inst *inst) {
    return warp_fail(warp, inst, -1, SIMT_UNSUPPORTED, "a warp split into too many paths");
}

void path_start(Warp *warp, const Inst *entry, uint32_t lanes) {
    for (int k = 0; k < warp->path_count; k++) warp->paths[k].state = PATH_FREE;
    warp->path_count = 1;
    warp->paths[0] = (Path){.pc = entry,
                            .frame = warp->stack,
                            .mask = lanes,
                            .state = PATH_READY,
                            .join = {.parent = -1}};
    warp->current = 0;
    warp->live = lanes;
    warp->left = 0;
    warp->carry = 0;
    warp->split_order = 0;
    warp->followed = false;
    warp->cluster_arrived = warp->cluster_open = 0;
    warp->stop = STOP_NONE;
}

// --- the path that runs next ---

bool path_same_place(const Path *path, const Path *other) {
    if (path->converge.gathers)
        return other->pc == path->pc && (other->sync & path->mask) && (path->sync & other->mask);
    return other->pc->plain == path->pc->plain && (other->sync & path->sync);
}

uint32_t path_missing(const Warp *warp, const Path *path) {
    uint32_t there = 0;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *other = &warp->paths[k];
        if (other->state == PATH_SYNC && path_same_place(path, other)) there |= other->mask;
    }
    return path->sync & warp->live & ~there;
}

// The next ready path, counting down from the current one, unless convergence prefers another. -1:
// no path is ready.
static int find_ready(const Warp *warp) {
    const int count = warp->path_count;
    for (int k = 0, index = warp->current; k < count; k++) {
        index = index > 0 && index <= count ? index - 1 : count - 1;
        if (warp->paths[index].state == PATH_READY) return path_converge_first(warp, index);
    }
    return -1;
}

// A path at a warp-wide instruction that all its lanes have reached; -1: there is none.
static int find_complete(const Warp *warp) {
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (path->state == PATH_SYNC && !path_missing(warp, path)) return k;
    }
    return -1;
}

const Inst *path_switch(Warp *warp) {
    warp->spin.moved = true;
    if (!warp->live) {
        warp->stop = STOP_DONE;
        return NULL;
    }
    const int ready = find_ready(warp);
    const int next = path_converge_next(warp, ready);
    if (next >= 0) return path_load(warp, next);
    const int complete = find_complete(warp);
    if (complete >= 0) {
        warp->paths[complete].state = PATH_READY;
        return path_load(warp, complete);
    }
    const int stuck = path_converge_break_stuck(warp);
    if (stuck >= 0) return path_load(warp, stuck);
    warp->stop = STOP_BLOCKED;
    return NULL;
}

// Time slices exist only on the CPU device. On hardware a path runs until it waits or yields, so a
// path of machine code continues after its slice unless it yields.
const Inst *path_resume(Warp *warp) {
    const Path *path = &warp->paths[warp->current];
    const bool goes_on = warp->stop == STOP_SLICE && warp->split_order &&
                         path->state == PATH_READY && !path->converge.yields;
    warp->stop = STOP_NONE;
    const Inst *next = goes_on ? path_load(warp, warp->current) : path_switch(warp);
    warp->spin.moved = false;
    return next;
}

// --- ends and waits ---

const Inst *path_exit(Warp *warp, uint32_t lanes, const Inst *next) {
    Block *block = warp->block;
    warp->live &= ~lanes;
    block->live_threads -= (uint32_t)__builtin_popcount(lanes);
    path_join_exit(warp, lanes);
    warp->mask &= ~lanes;
    warp->exec = warp->mask;
    barrier_exited(block);
    cluster_exited(warp, lanes);
    if (warp->mask) return next;
    path_free(warp, warp->current);
    path_join_check(warp, warp->parent);
    return path_switch(warp);
}

const Inst *path_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes) {
    path_save(warp, inst, PATH_SYNC);
    warp->paths[warp->current].sync = lanes;
    warp->paths[warp->current].converge.gathers = false;
    return path_switch(warp);
}

const Inst *path_wait_barrier(Warp *warp, const Inst *inst, uint32_t barrier) {
    path_save(warp, inst + 1, PATH_BARRIER);
    warp->paths[warp->current].sync = barrier;
    return path_switch(warp);
}

const Inst *path_yield(Warp *warp, const Inst *inst, Stop stop) {
    path_save(warp, inst, PATH_READY);
    warp->stop = (uint8_t)stop;
    return NULL;
}

void path_release_barrier(Warp *warp, uint32_t barrier, BarrierResult result) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state != PATH_BARRIER || path->sync != barrier) continue;
        path->state = PATH_READY;
        path->result = result;
    }
}

// Once released, the path executes the instruction again.
const Inst *path_wait_cluster(Warp *warp, const Inst *inst) {
    path_save(warp, inst, PATH_CLUSTER);
    return path_switch(warp);
}

void path_release_cluster(Warp *warp) {
    warp->cluster_open |= warp->cluster_arrived;
    warp->cluster_arrived = 0;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state == PATH_CLUSTER) path->state = PATH_READY;
    }
}
