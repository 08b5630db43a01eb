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
    path->yields = path->woken = false;
    path->overtaken = false;
    path->order = 0;
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
    warp->parted = 0;
    warp->followed = false;
    warp->cluster_arrived = warp->cluster_open = 0;
    warp->stop = STOP_NONE;
}

// Whether two paths that wait at instructions wait there for each other. Those of a function that
// calls itself may wait at the same place, each in its own call.
static bool same_place(const Path *path, const Path *other) {
    if (!path->gathers) return other->pc->plain == path->pc->plain && (other->sync & path->sync);
    return other->pc == path->pc && (other->sync & path->mask) && (path->sync & other->mask);
}

// The lanes that this path waits for and that do not wait there.
static uint32_t missing_lanes(const Warp *warp, const Path *path) {
    uint32_t there = 0;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *other = &warp->paths[k];
        if (other->state == PATH_SYNC && same_place(path, other)) there |= other->mask;
    }
    return path->sync & warp->live & ~there;
}

// Of the paths that are ready the one that goes on, this one or one that comes before it.
static int first_of_all(const Warp *warp, int index) {
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k], *best = &warp->paths[index];
        if (path->state == PATH_READY && !path->yields &&
            (best->yields || path->order > best->order))
            index = k;
    }
    return index;
}

// The running path begins to wait, and the chosen one goes first.
static void overtake(Warp *warp, int chosen) {
    const Path *waits = &warp->paths[warp->current];
    if (waits->state != PATH_SYNC || !waits->gathers) return;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (k != chosen && path->state == PATH_READY && path->pc == waits->pc - 1)
            path->overtaken = true;
    }
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
        if (state == PATH_READY) {
            index = first_of_all(warp, index);
            overtake(warp, index);
            return path_load(warp, index);
        }
        waiting |= state == PATH_SYNC;
    }
    for (int index = 0; waiting && index < count; index++) {
        Path *path = &warp->paths[index];
        if (path->state != PATH_SYNC || missing_lanes(warp, path)) continue;
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

const Inst *path_part(Warp *warp, const Inst *inst, uint32_t later, const Inst *where,
                      const Inst *next) {
    const int leaf = path_new(warp, false);
    if (leaf < 0)
        return warp_fail(warp, inst, -1, SIMT_UNSUPPORTED, "a warp split into too many paths");
    warp->paths[leaf] = (Path){.pc = where,
                               .frame = warp->frame,
                               .local = warp->local,
                               .mask = later,
                               .parent = -1,
                               .order = ++warp->parted,
                               .state = PATH_READY};
    warp->mask &= ~later;
    warp->exec = warp->mask;
    return next;
}

uint32_t path_come(Warp *warp, const Inst *inst, uint32_t lanes) {
    Path *own = &warp->paths[warp->current];
    const LaneU32 *barrier = REG(warp, LaneU32, inst->converge.barrier);
    uint32_t waiting = 0, joining = 0;
    if (!own->overtaken) return 0;
    own->overtaken = false;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (!(path->mask & lanes)) continue;
        if (path->state == PATH_SYNC && path->pc == inst && (path->sync & lanes)) {
            waiting |= path->mask;
        } else if (path != own && path->state == PATH_READY && path->pc == inst - 1 &&
                   path->overtaken && barrier[__builtin_ctz(path->mask)] == lanes) {
            joining |= path->mask;
            path->state = PATH_FREE;
        }
    }
    warp->mask |= joining;
    warp->exec = warp->mask;
    return waiting | joining;
}

// Whether the path, of these lanes, waits there for the running one, or did and has not looked once
// more.
static bool waits_here(const Warp *warp, int index, const Inst *inst, uint32_t lanes) {
    const Path *path = &warp->paths[index];
    if (index == warp->current || !(path->mask & lanes) || !(path->sync & warp->mask)) return false;
    if (path->state == PATH_SYNC) return path->pc == inst;
    return path->state == PATH_READY && path->woken && path->pc == inst - 1;
}

bool path_gather(Warp *warp, const Inst *inst, uint32_t lanes) {
    uint32_t there = warp->mask;
    if ((lanes & warp->live & ~there) == 0) return true;
    for (int k = 0; k < warp->path_count; k++)
        if (waits_here(warp, k, inst, lanes)) there |= warp->paths[k].mask;
    if (lanes & warp->live & ~there) return false;
    for (int k = warp->path_count - 1; k >= 0; k--)
        if (waits_here(warp, k, inst, lanes)) path_free(warp, k);
    warp->mask = warp->exec = there;
    return true;
}

// Those who wait at the same place for the same lanes go on as one path, one instruction earlier:
// there begins the block that counts it.
static void wake(Warp *warp, Path *path) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *other = &warp->paths[k];
        if (other == path || other->state != PATH_SYNC || !same_place(path, other)) continue;
        path->mask |= other->mask;
        other->state = PATH_FREE;
    }
    path->state = PATH_READY;
    path->woken = true;
    path->pc--;
}

bool path_wake(Warp *warp, Op *op) {
    bool any = false;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state != PATH_SYNC || !path->gathers) continue;
        const bool free = path->pc->plain == op && !(missing_lanes(warp, path) & ~warp->mask);
        if (!free && path->woken_at == path->pc && path->woken_lanes == path->mask) continue;
        const Inst *at = path->pc;
        wake(warp, path);
        path->woken_at = at;
        path->woken_lanes = path->mask;
        any = true;
    }
    return any;
}

void path_break(Warp *warp, Op *op, uint32_t barrier, uint32_t lanes, uint32_t of) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state != PATH_SYNC || path->pc->plain != op || !(path->mask & of) ||
            path->pc->converge.barrier != barrier)
            continue;
        path->sync &= ~lanes;
        wake(warp, path);
    }
}

const Inst *path_let_others(Warp *warp, const Inst *inst) {
    path_save(warp, inst, PATH_READY);
    warp->paths[warp->current].yields = true;
    warp->stop = STOP_SLICE;
    return NULL;
}

uint32_t path_yielding(const Warp *warp) {
    uint32_t lanes = 0;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (k != warp->current && path->state == PATH_READY && path->yields) lanes |= path->mask;
    }
    return lanes;
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

static const Inst *wait_sync(Warp *warp, const Inst *inst, uint32_t lanes, bool gathers) {
    path_save(warp, inst, PATH_SYNC);
    warp->paths[warp->current].sync = lanes;
    warp->paths[warp->current].gathers = gathers;
    return path_switch(warp);
}

const Inst *path_wait_sync(Warp *warp, const Inst *inst, uint32_t lanes) {
    return wait_sync(warp, inst, lanes, false);
}

const Inst *path_wait_gather(Warp *warp, const Inst *inst, uint32_t lanes) {
    return wait_sync(warp, inst, lanes, true);
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
