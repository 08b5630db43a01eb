// The paths of a diverged warp. See path.h, and Path in warp.h.
//
// Lanes that parted come together again in one of two ways, and a warp knows only one of them:
//
// - PTX does not say where. The lowering finds it (lower/flow.h), and path_split makes a join for
//   each such place: a path of its own in state PATH_JOIN, which collects the lanes that arrive
//   until its `members` are complete and then goes on as they. Paths and joins are a tree, by
//   `parent`; `rpc` is where a path arrives at its join.
// - Machine code says it with convergence barriers, registers that hold a mask of lanes (BSSY,
//   BSYNC, BREAK, YIELD). path_part splits without a join; who comes to the barrier before the
//   others waits in PATH_SYNC and `gathers`; path_converge brings all together. Who goes first is
//   seen by the program here: `order` says it (turn.h). Those who look once more whether they have
//   to wait are `woken`.
#include "simt/exec/path.h"

#include "simt/exec/barrier.h"
#include "simt/exec/cluster.h"
#include "simt/exec/spin.h"
#include "simt/exec/turn.h"

// --- paths ---

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
    warp->left = 0;
    warp->carry = 0;
    warp->parted = 0;
    warp->followed = false;
    warp->cluster_arrived = warp->cluster_open = 0;
    warp->stop = STOP_NONE;
}

// --- whose turn it is ---

// Those who wait at the same place for the same lanes go on as one path, one instruction earlier:
// there begins the block that counts it.
static void wake(Warp *warp, Path *path) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *other = &warp->paths[k];
        if (other == path || other->state != PATH_SYNC || !turn_same_place(path, other)) continue;
        path->mask |= other->mask;
        if (other->order > path->order) path->order = other->order;
        other->state = PATH_FREE;
    }
    path->state = PATH_READY;
    path->woken = true;
    path->pc--;
}

// Who parted last goes on alone. Others, who parted earlier, go on with all that stand at the same
// place: ready, or waiting at the barrier in front of which they stand, that look once more whether
// they have to (counted on an H200).
static void take_along(Warp *warp, Path *path) {
    if (!path->order || turn_parted_last(warp, path)) return;
    for (int k = 0; k < warp->path_count; k++) {
        Path *other = &warp->paths[k];
        const bool ready = other->state == PATH_READY && other->pc == path->pc && !other->yields;
        const bool waits = other->state == PATH_SYNC && other->gathers && other->pc - 1 == path->pc;
        if (other == path || !(ready || waits)) continue;
        path->mask |= other->mask;
        other->state = PATH_FREE;
    }
}

// All lanes wait at convergence barriers for others that do: where lanes yield, two ways through a
// program take turns and set the same barrier. Those whose turn it is go on alone.
static const Inst *break_stuck(Warp *warp) {
    Path *first = NULL;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state == PATH_FREE) continue;
        if (path->state != PATH_SYNC || !path->gathers) return NULL;
        if (path->pc->converge.barrier == PTX_NONE) return NULL;
        if (!first || path->order > first->order) first = path;
    }
    if (!first) return NULL;
    *(LaneU32 *)(void *)(first->frame + first->pc->converge.barrier) = 0;
    wake(warp, first);
    return path_load(warp, (int)(first - warp->paths));
}

// Goes on with another path of the warp.
static const Inst *path_switch(Warp *warp) {
    warp->spin.moved = true;
    if (!warp->live) {
        warp->stop = STOP_DONE;
        return NULL;
    }
    const int ready = turn_ready(warp);
    const bool last = ready >= 0 && turn_parted_last(warp, &warp->paths[ready]);
    const int released = last ? -1 : turn_released(warp);
    if (released >= 0) {
        wake(warp, &warp->paths[released]);
        return path_load(warp, released);
    }
    if (ready >= 0) {
        take_along(warp, &warp->paths[ready]);
        return path_load(warp, ready);
    }
    const int meeting = turn_meeting(warp);
    if (meeting >= 0) {
        warp->paths[meeting].state = PATH_READY;
        return path_load(warp, meeting);
    }
    const Inst *next = break_stuck(warp);
    if (!next) warp->stop = STOP_BLOCKED;
    return next;
}

// Of machine code who has used up a slice goes on as if there were none: hardware has none.
const Inst *path_resume(Warp *warp) {
    const Path *path = &warp->paths[warp->current];
    const bool goes_on = warp->stop == STOP_SLICE && warp->parted && path->state == PATH_READY;
    warp->stop = STOP_NONE;
    const Inst *next =
        goes_on && !path->yields ? path_load(warp, warp->current) : path_switch(warp);
    warp->spin.moved = false;
    return next;
}

// --- joins, of PTX ---

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

// --- convergence barriers, of machine code ---

// A path of its own for these lanes of the running one. NULL: there are too many, and the warp has
// failed.
static Path *part_off(Warp *warp, const Inst *inst, uint32_t lanes, const Inst *where) {
    const int leaf = path_new(warp, false);
    if (leaf < 0) {
        warp_fail(warp, inst, -1, SIMT_UNSUPPORTED, "a warp split into too many paths");
        return NULL;
    }
    warp->paths[leaf] = (Path){.pc = where,
                               .frame = warp->frame,
                               .local = warp->local,
                               .mask = lanes,
                               .parent = -1,
                               .state = PATH_READY};
    warp->mask &= ~lanes;
    warp->exec = warp->mask;
    return &warp->paths[leaf];
}

const Inst *path_part(Warp *warp, const Inst *inst, uint32_t later, const Inst *where,
                      const Inst *next) {
    Path *path = part_off(warp, inst, later, where);
    if (!path) return NULL;
    path->order = warp->parted += 2;
    return next;
}

// Whether the path waits there, or did and has not looked once more.
static bool stands_at(const Warp *warp, int index, const Inst *inst) {
    const Path *path = &warp->paths[index];
    if (index == warp->current) return false;
    if (path->state == PATH_SYNC) return path->pc == inst;
    return path->state == PATH_READY && path->woken && path->pc == inst - 1;
}

// Whether the path, of these lanes, waits there for the running one.
static bool waits_here(const Warp *warp, int index, const Inst *inst, uint32_t lanes) {
    const Path *path = &warp->paths[index];
    return stands_at(warp, index, inst) && (path->mask & lanes) && (path->sync & warp->mask);
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

// Whether the path waits at another instruction for the same barrier: lanes of different calls of a
// function that calls itself do.
static bool waits_elsewhere(const Warp *warp, int index, const Inst *inst) {
    const Path *path = &warp->paths[index];
    if (index == warp->current || path->state != PATH_SYNC || !path->gathers) return false;
    return path->pc != inst && path->pc->plain == inst->plain &&
           path->pc->converge.barrier == inst->converge.barrier;
}

// The lanes that wait for the barrier, wherever they do.
static uint32_t lanes_waiting(const Warp *warp, const Inst *inst) {
    uint32_t lanes = 0;
    for (int k = 0; k < warp->path_count; k++)
        if (stands_at(warp, k, inst) || waits_elsewhere(warp, k, inst))
            lanes |= warp->paths[k].mask;
    return lanes;
}

// All of these wait for the barrier, or have come to it now. Those that are here go on together;
// the others look once more where they are.
static void meet_at(Warp *warp, const Inst *inst, uint32_t lanes) {
    uint32_t here = warp->mask;
    for (int k = warp->path_count - 1; k >= 0; k--) {
        Path *path = &warp->paths[k];
        if (!(path->mask & lanes)) continue;
        if (waits_elsewhere(warp, k, inst)) wake(warp, path);
        if (!stands_at(warp, k, inst)) continue;
        here |= path->mask & lanes;
        path->mask &= ~lanes;
        if (!path->mask) path_free(warp, k);
    }
    warp->mask = warp->exec = here;
}

// The path, in front of a convergence barrier, begins to wait for these lanes.
static void gather(Warp *warp, Path *path, uint32_t lanes) {
    path->state = PATH_SYNC;
    path->sync = lanes;
    path->gathers = true;
    path->order = turn_behind(warp, lanes);
}

const Inst *path_wait_gather(Warp *warp, const Inst *inst, uint32_t lanes) {
    path_save(warp, inst, PATH_SYNC);
    gather(warp, &warp->paths[warp->current], lanes);
    return path_switch(warp);
}

// The running path's lanes that are among these begin to wait for all of them; the others go on.
static const Inst *wait_in_part(Warp *warp, const Inst *inst, uint32_t lanes) {
    Path *path = part_off(warp, inst, warp->mask & lanes, inst);
    if (!path) return NULL;
    gather(warp, path, lanes);
    return inst + 1;
}

const Inst *path_converge(Warp *warp, const Inst *inst, uint32_t lanes) {
    const uint32_t here = warp->mask, missing = lanes & warp->live & ~here;
    if (!missing || !(here & lanes)) return inst + 1;
    if (missing & ~lanes_waiting(warp, inst)) {
        if (here & ~lanes) return wait_in_part(warp, inst, lanes);
        return path_wait_gather(warp, inst, lanes);
    }
    meet_at(warp, inst, lanes);
    return inst + 1;
}

bool path_wake(Warp *warp, Op *op) {
    bool any = false;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state != PATH_SYNC || !path->gathers) continue;
        const bool free = path->pc->plain == op && !(turn_missing(warp, path) & ~warp->mask);
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

// --- ends, and what else paths wait for ---

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
    warp->paths[warp->current].gathers = false;
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
