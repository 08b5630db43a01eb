// Splits and merges paths of machine code, in the hardware's order. See path_converge.h.
#include "simt/exec/path_converge.h"

// --- waking ---

// Wakes a path together with those that wait at the same place for the same lanes. They resume one
// instruction earlier, at the start of the basic block, which counts the instruction.
static void wake(Warp *warp, Path *path) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *other = &warp->paths[k];
        if (other == path || other->state != PATH_SYNC || !path_same_place(path, other)) continue;
        path->mask |= other->mask;
        if (other->converge.order > path->converge.order)
            path->converge.order = other->converge.order;
        other->state = PATH_FREE;
    }
    path->state = PATH_READY;
    path->converge.woken = true;
    path->pc--;
}

bool path_converge_wake(Warp *warp, Op *op) {
    bool any = false;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        PathConverge *state = &path->converge;
        if (path->state != PATH_SYNC || !state->gathers) continue;
        const bool free = path->pc->plain == op && !(path_missing(warp, path) & ~warp->mask);
        if (!free && state->woken_at == path->pc && state->woken_lanes == path->mask) continue;
        const Inst *at = path->pc;
        wake(warp, path);
        state->woken_at = at;
        state->woken_lanes = path->mask;
        any = true;
    }
    return any;
}

void path_converge_leave(Warp *warp, Op *op, uint32_t barrier, uint32_t lanes, uint32_t of) {
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state != PATH_SYNC || path->pc->plain != op || !(path->mask & of) ||
            path->pc->converge.barrier != barrier)
            continue;
        path->sync &= ~lanes;
        wake(warp, path);
    }
}

// --- the order of paths ---

// Whether the path comes from the latest split.
static bool is_latest(const Warp *warp, const Path *path) {
    return path->converge.order && path->converge.order == warp->split_order;
}

// The order of a path that begins to wait for these lanes: after the ready paths with such lanes,
// and before all paths of earlier splits.
static uint32_t order_after(const Warp *warp, uint32_t lanes) {
    uint32_t order = warp->split_order + 2;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (k == warp->current || path->state != PATH_READY || !(path->mask & lanes)) continue;
        if (path->converge.order && path->converge.order < order) order = path->converge.order;
    }
    return order - 1;
}

int path_converge_first(const Warp *warp, int ready) {
    for (int k = 0; k < warp->path_count; k++) {
        const PathConverge *state = &warp->paths[k].converge;
        const PathConverge *best = &warp->paths[ready].converge;
        if (warp->paths[k].state == PATH_READY && !state->yields &&
            (best->yields || state->order > best->order))
            ready = k;
    }
    return ready;
}

// The path with the greatest order among those whose missing lanes have all left or exited; -1:
// there is none.
static int find_released(const Warp *warp) {
    uint32_t order = 0;
    int chosen = -1;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (path->state != PATH_SYNC || !path->converge.gathers || path->converge.order < order)
            continue;
        if (path_missing(warp, path)) continue;
        chosen = k;
        order = path->converge.order;
    }
    return chosen;
}

// The path of the latest split runs alone. A path of an earlier split merges with all paths at the
// same place that are ready or wait at the barrier there; the merged path checks the barrier again.
// Counted on an H200.
static void merge_at(Warp *warp, Path *path) {
    if (!path->converge.order || is_latest(warp, path)) return;
    for (int k = 0; k < warp->path_count; k++) {
        Path *other = &warp->paths[k];
        const bool ready =
            other->state == PATH_READY && other->pc == path->pc && !other->converge.yields;
        const bool waits =
            other->state == PATH_SYNC && other->converge.gathers && other->pc - 1 == path->pc;
        if (other == path || !(ready || waits)) continue;
        path->mask |= other->mask;
        other->state = PATH_FREE;
    }
}

int path_converge_next(Warp *warp, int ready) {
    const bool latest = ready >= 0 && is_latest(warp, &warp->paths[ready]);
    const int released = latest ? -1 : find_released(warp);
    if (released >= 0) {
        wake(warp, &warp->paths[released]);
        return released;
    }
    if (ready >= 0) merge_at(warp, &warp->paths[ready]);
    return ready;
}

// Two paths that yield can take turns and set the same barrier, so that all lanes wait. Then the
// path whose turn it is continues alone.
int path_converge_break_stuck(Warp *warp) {
    Path *first = NULL;
    for (int k = 0; k < warp->path_count; k++) {
        Path *path = &warp->paths[k];
        if (path->state == PATH_FREE) continue;
        if (path->state != PATH_SYNC || !path->converge.gathers) return -1;
        if (path->pc->converge.barrier == PTX_NONE) return -1;
        if (!first || path->converge.order > first->converge.order) first = path;
    }
    if (!first) return -1;
    *(LaneU32 *)(void *)(first->frame + first->pc->converge.barrier) = 0;
    wake(warp, first);
    return (int)(first - warp->paths);
}

// --- splitting ---

// Splits these lanes off the running path into a new one. NULL: there are too many paths, and the
// warp has failed.
static Path *split_off(Warp *warp, const Inst *inst, uint32_t lanes, const Inst *where) {
    const int index = path_new(warp, where, lanes, PATH_READY, false);
    if (index < 0) {
        path_too_many(warp, inst);
        return NULL;
    }
    warp->mask &= ~lanes;
    warp->exec = warp->mask;
    return &warp->paths[index];
}

const Inst *path_converge_split(Warp *warp, const Inst *inst, uint32_t later, const Inst *where,
                                const Inst *next) {
    Path *path = split_off(warp, inst, later, where);
    if (!path) return NULL;
    path->converge.order = warp->split_order += 2;
    return next;
}

// --- merging at convergence barriers ---

// Whether the path waits at the instruction, or was woken there and has not run since.
static bool is_at(const Warp *warp, int index, const Inst *inst) {
    const Path *path = &warp->paths[index];
    if (index == warp->current) return false;
    if (path->state == PATH_SYNC) return path->pc == inst;
    return path->state == PATH_READY && path->converge.woken && path->pc == inst - 1;
}

// Whether the path contains some of these lanes and waits there for the running one.
static bool waits_here(const Warp *warp, int index, const Inst *inst, uint32_t lanes) {
    const Path *path = &warp->paths[index];
    return is_at(warp, index, inst) && (path->mask & lanes) && (path->sync & warp->mask);
}

bool path_converge_gather(Warp *warp, const Inst *inst, uint32_t lanes) {
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

// Whether the path waits for the same barrier at another instruction, as lanes in different calls
// of a recursive function do.
static bool waits_elsewhere(const Warp *warp, int index, const Inst *inst) {
    const Path *path = &warp->paths[index];
    if (index == warp->current || path->state != PATH_SYNC || !path->converge.gathers) return false;
    return path->pc != inst && path->pc->plain == inst->plain &&
           path->pc->converge.barrier == inst->converge.barrier;
}

// The lanes that wait for the barrier, at any instruction.
static uint32_t lanes_waiting(const Warp *warp, const Inst *inst) {
    uint32_t lanes = 0;
    for (int k = 0; k < warp->path_count; k++)
        if (is_at(warp, k, inst) || waits_elsewhere(warp, k, inst)) lanes |= warp->paths[k].mask;
    return lanes;
}

// Merges these lanes, which all wait for the barrier or are in the running path. Those at this
// instruction merge; paths at other instructions are woken.
static void merge_lanes(Warp *warp, const Inst *inst, uint32_t lanes) {
    uint32_t here = warp->mask;
    for (int k = warp->path_count - 1; k >= 0; k--) {
        Path *path = &warp->paths[k];
        if (!(path->mask & lanes)) continue;
        if (waits_elsewhere(warp, k, inst)) wake(warp, path);
        if (!is_at(warp, k, inst)) continue;
        here |= path->mask & lanes;
        path->mask &= ~lanes;
        if (!path->mask) path_free(warp, k);
    }
    warp->mask = warp->exec = here;
}

static void begin_wait(Warp *warp, Path *path, uint32_t lanes) {
    path->state = PATH_SYNC;
    path->sync = lanes;
    path->converge.gathers = true;
    path->converge.order = order_after(warp, lanes);
}

const Inst *path_converge_wait(Warp *warp, const Inst *inst, uint32_t lanes) {
    path_save(warp, inst, PATH_SYNC);
    begin_wait(warp, &warp->paths[warp->current], lanes);
    return path_switch(warp);
}

const Inst *path_converge(Warp *warp, const Inst *inst, uint32_t lanes) {
    const uint32_t here = warp->mask, missing = lanes & warp->live & ~here;
    if (!missing || !(here & lanes)) return inst + 1;
    if (!(missing & ~lanes_waiting(warp, inst))) {
        merge_lanes(warp, inst, lanes);
        return inst + 1;
    }
    if (!(here & ~lanes)) return path_converge_wait(warp, inst, lanes);
    Path *path = split_off(warp, inst, here & lanes, inst);
    if (!path) return NULL;
    begin_wait(warp, path, lanes);
    return inst + 1;
}

// --- yielding ---

const Inst *path_converge_yield(Warp *warp, const Inst *inst) {
    path_save(warp, inst, PATH_READY);
    warp->paths[warp->current].converge.yields = true;
    warp->stop = STOP_SLICE;
    return NULL;
}

uint32_t path_converge_yielding(const Warp *warp) {
    uint32_t lanes = 0;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (k != warp->current && path->state == PATH_READY && path->converge.yields)
            lanes |= path->mask;
    }
    return lanes;
}
