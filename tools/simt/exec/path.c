// The paths of a diverged warp: split, join, wait, switch. See path.h, and Path in warp.h.
#include "simt/exec/path.h"

#include "simt/exec/barrier.h"
#include "simt/exec/cluster.h"
#include "simt/exec/spin.h"

static void path_save(Warp *warp, const Inst *pc, PathState state) {
    Path *path = &warp->paths[warp->current];
    path->pc = pc;
    path->rpc = warp->rpc;
    path->frame = warp->frame;
    path->local = warp->local;
    path->mask = warp->mask;
    path->parent = warp->parent;
    path->state = (uint8_t)state;
}

static const Inst *path_load(Warp *warp, int index) {
    Path *path = &warp->paths[index];
    warp->current = (int16_t)index;
    warp->rpc = path->rpc;
    warp->frame = path->frame;
    warp->local = path->local;
    warp->mask = warp->exec = path->mask;
    warp->parent = path->parent;
    spin_restart(warp);
    return path->pc;
}

static void path_free(Warp *warp, int index) {
    warp->paths[index].state = PATH_FREE;
    while (warp->path_count > 0 && warp->paths[warp->path_count - 1].state == PATH_FREE)
        warp->path_count--;
}

// A join none of whose lanes have arrived and that has one path left to wait for joins nothing:
// the path takes its place. Only done when paths run out.
static void collapse_joins(Warp *warp) {
    for (int j = 0; j < warp->path_count; j++) {
        Path *join = &warp->paths[j];
        if (join->state != PATH_JOIN || join->mask) continue;
        int child = -1, children = 0;
        for (int k = 0; k < warp->path_count; k++) {
            if (warp->paths[k].state != PATH_FREE && warp->paths[k].parent == j) {
                child = k;
                children++;
            }
        }
        if (children != 1 || warp->paths[child].frame != join->frame) continue;
        warp->paths[child].parent = join->parent;
        warp->paths[child].rpc = join->rpc;
        path_free(warp, j);
    }
}

// A free path, or -1. `collapse`: the current path runs, so that joins may be taken apart for it.
static int path_new(Warp *warp, bool collapse) {
    for (int attempt = 0; attempt <= collapse; attempt++) {
        for (int k = 0; k < PATHS; k++) {
            if (warp->paths[k].state != PATH_FREE) continue;
            if (k >= warp->path_count) warp->path_count = (uint8_t)(k + 1);
            return k;
        }
        if (attempt || !collapse) break;
        path_save(warp, NULL, PATH_READY);
        collapse_joins(warp);
        path_load(warp, warp->current);
    }
    return -1;
}

void path_start(Warp *warp, const Inst *entry, uint32_t lanes) {
    for (int k = 0; k < warp->path_count; k++) warp->paths[k].state = PATH_FREE;
    warp->path_count = 1;
    warp->paths[0] =
        (Path){.pc = entry, .frame = warp->stack, .mask = lanes, .parent = -1, .state = PATH_READY};
    warp->current = 0;
    warp->live = lanes;
    warp->carry = 0;
    warp->followed = false;
    warp->cluster_arrived = warp->cluster_open = 0;
    warp->stop = STOP_NONE;
}

// Lanes that the instruction at which this path waits may go on with: those of all paths that wait
// at the same kind of instruction for the same lanes.
static bool sync_complete(const Warp *warp, const Path *path) {
    uint32_t there = 0;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *other = &warp->paths[k];
        if (other->state == PATH_SYNC && other->pc->plain == path->pc->plain &&
            (other->sync & path->sync))
            there |= other->mask;
    }
    return (path->sync & warp->live & ~there) == 0;
}

// Goes on with another path of the warp, the next one round after the current one.
const Inst *path_switch(Warp *warp) {
    warp->spin.moved = true;
    if (!warp->live) {
        warp->stop = STOP_DONE;
        return NULL;
    }
    bool waiting = false;
    const int count = warp->path_count;
    for (int k = 0, index = warp->current; k < count; k++) {
        index = index > 0 && index <= count ? index - 1 : count - 1;
        const PathState state = (PathState)warp->paths[index].state;
        if (state == PATH_READY) return path_load(warp, index);
        waiting |= state == PATH_SYNC;
    }
    for (int index = 0; waiting && index < count; index++) {
        Path *path = &warp->paths[index];
        if (path->state != PATH_SYNC || !sync_complete(warp, path)) continue;
        path->state = PATH_READY;
        return path_load(warp, index);
    }
    warp->stop = STOP_BLOCKED;
    return NULL;
}

const Inst *path_resume(Warp *warp) {
    warp->stop = STOP_NONE;
    const Inst *next = path_switch(warp);
    warp->spin.moved = false;
    return next;
}

// A join all of whose lanes have arrived or exited goes on, or is gone with them.
static void join_check(Warp *warp, int join) {
    while (join >= 0) {
        Path *path = &warp->paths[join];
        if (path->members == 0) {
            int parent = path->parent;
            path_free(warp, join);
            join = parent;
            continue;
        }
        if (path->mask == path->members) path->state = PATH_READY;
        return;
    }
}

const Inst *path_arrive(Warp *warp) {
    int join = warp->parent;
    Path *path = &warp->paths[join];
    path->mask |= warp->mask;
    path_free(warp, warp->current);
    if (path->mask == path->members) return path_load(warp, join);
    return path_switch(warp);
}

void path_leave_joins(Warp *warp, const Inst *at) {
    while (warp->rpc && warp->rpc != at) {
        int join = warp->parent;
        Path *path = &warp->paths[join];
        if (!path->inside || path->inside[at->node / 64] >> at->node % 64 & 1) return;
        path->members &= ~warp->mask;
        warp->rpc = path->rpc;
        warp->parent = path->parent;
        join_check(warp, join);
    }
}

// Whether the running path, in this call of the function, is to join others there.
static bool waits_at(const Warp *warp, const Inst *meet) {
    const Path *join;
    int parent = warp->parent;
    for (const Inst *rpc = warp->rpc; rpc; rpc = join->rpc) {
        if (rpc == meet) return true;
        join = &warp->paths[parent];
        parent = join->parent;
    }
    return false;
}

// Joins for the meets that are nearer than those at which the path already waits for others.
static bool add_joins(Warp *warp, const Meets *meets) {
    uint32_t missing = 0;
    while (missing < meets->count && !waits_at(warp, meets->meets[missing].at)) missing++;
    while (missing-- > 0) {
        const Meet *meet = &meets->meets[missing];
        int join = path_new(warp, true);
        if (join < 0) return false;
        warp->paths[join] = (Path){.pc = meet->at,
                                   .rpc = warp->rpc,
                                   .frame = warp->frame,
                                   .local = warp->local,
                                   .members = warp->mask,
                                   .inside = meet->inside,
                                   .parent = warp->parent,
                                   .state = PATH_JOIN};
        warp->rpc = meet->at;
        warp->parent = (int16_t)join;
    }
    return true;
}

const Inst *path_split(Warp *warp, const Inst *inst, uint32_t taken, const Inst *target,
                       const Meets *meets) {
    const Inst *fall = inst + 1;
    uint32_t other = warp->mask & ~taken;
    if (!add_joins(warp, meets))
        return warp_fail(warp, inst, -1, SIMT_UNSUPPORTED, "a warp split into too many paths");
    const Inst *meet = warp->rpc;
    if (meet && target == meet) {
        warp->paths[warp->parent].mask |= taken;
    } else if (meet && fall == meet) {
        warp->paths[warp->parent].mask |= other;
        warp->mask = warp->exec = taken;
        return target;
    } else {
        int leaf = path_new(warp, true);
        if (leaf < 0)
            return warp_fail(warp, inst, -1, SIMT_UNSUPPORTED, "a warp split into too many paths");
        warp->paths[leaf] = (Path){.pc = target,
                                   .rpc = warp->rpc,
                                   .frame = warp->frame,
                                   .local = warp->local,
                                   .mask = taken,
                                   .parent = warp->parent,
                                   .state = PATH_READY};
    }
    warp->mask = warp->exec = other;
    return fall;
}

bool path_gather(Warp *warp, const Inst *inst, uint32_t lanes) {
    uint32_t there = warp->mask;
    if ((lanes & warp->live & ~there) == 0) return true;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (k != warp->current && path->state == PATH_SYNC && path->pc == inst &&
            (path->sync & lanes))
            there |= path->mask;
    }
    if (lanes & warp->live & ~there) return false;
    for (int k = warp->path_count - 1; k >= 0; k--) {
        const Path *path = &warp->paths[k];
        if (k != warp->current && path->state == PATH_SYNC && path->pc == inst &&
            (path->sync & lanes))
            path_free(warp, k);
    }
    warp->mask = warp->exec = there;
    return true;
}

void path_break(Warp *warp, const Inst *at, uint32_t lanes, uint32_t of) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state == PATH_SYNC && path->pc->plain == at->plain && (path->mask & of))
            path->sync &= ~lanes;
    }
}

const Inst *path_exit(Warp *warp, uint32_t lanes, const Inst *next) {
    Block *block = warp->block;
    warp->live &= ~lanes;
    block->live_threads -= (uint32_t)__builtin_popcount(lanes);
    for (int join = warp->parent; join >= 0; join = warp->paths[join].parent)
        warp->paths[join].members &= ~lanes;
    warp->mask &= ~lanes;
    warp->exec = warp->mask;
    barrier_exited(block);
    cluster_exited(warp, lanes);
    if (warp->mask) return next;
    path_free(warp, warp->current);
    join_check(warp, warp->parent);
    return path_switch(warp);
}

const Inst *path_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes) {
    path_save(warp, inst, PATH_SYNC);
    warp->paths[warp->current].sync = lanes;
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

void path_release_barrier(Warp *warp, uint32_t barrier) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state == PATH_BARRIER && path->sync == barrier) path->state = PATH_READY;
    }
}

// It looks again when it is let go.
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

// Lanes that wait for others of their warp to join them go on alone. Needed when the others wait
// for them in turn: in a lock taken by lanes of one warp, or at a warp-wide barrier.
bool path_release_parked(Warp *warp) {
    bool released = false;
    int count = warp->path_count;
    for (int j = 0; j < count; j++) {
        Path *join = &warp->paths[j];
        if (join->state != PATH_JOIN || !join->mask) continue;
        int leaf = path_new(warp, false);
        if (leaf < 0) return released;
        warp->paths[leaf] = *join;
        warp->paths[leaf].state = PATH_READY;
        warp->paths[leaf].members = 0;
        join->members &= ~join->mask;
        join->mask = 0;
        released = true;
    }
    return released;
}
