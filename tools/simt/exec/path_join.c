// Splits paths of PTX and merges them at joins. See path_join.h.
#include "simt/exec/path_join.h"

void path_join_collapse(Warp *warp) {
    for (int j = 0; j < warp->path_count; j++) {
        Path *join = &warp->paths[j];
        if (join->state != PATH_JOIN || join->mask) continue;
        int child = -1, children = 0;
        for (int k = 0; k < warp->path_count; k++) {
            if (warp->paths[k].state == PATH_FREE || warp->paths[k].join.parent != j) continue;
            child = k;
            children++;
        }
        // The join's only remaining path takes its place.
        if (children != 1 || warp->paths[child].frame != join->frame) continue;
        warp->paths[child].join.parent = join->join.parent;
        warp->paths[child].join.rpc = join->join.rpc;
        path_free(warp, j);
    }
}

void path_join_check(Warp *warp, int join) {
    while (join >= 0) {
        Path *path = &warp->paths[join];
        if (path->join.members) {
            if (path->mask == path->join.members) path->state = PATH_READY;
            return;
        }
        const int parent = path->join.parent;
        path_free(warp, join);
        join = parent;
    }
}

void path_join_exit(Warp *warp, uint32_t lanes) {
    for (int join = warp->parent; join >= 0; join = warp->paths[join].join.parent)
        warp->paths[join].join.members &= ~lanes;
}

const Inst *path_join_arrive(Warp *warp) {
    const int join = warp->parent;
    Path *path = &warp->paths[join];
    path->mask |= warp->mask;
    path_free(warp, warp->current);
    if (path->mask == path->join.members) return path_load(warp, join);
    return path_switch(warp);
}

void path_join_leave(Warp *warp, const Inst *at) {
    while (warp->rpc && warp->rpc != at) {
        const int join = warp->parent;
        PathJoin *left = &warp->paths[join].join;
        if (!left->inside || left->inside[at->node / 64] >> at->node % 64 & 1) return;
        left->members &= ~warp->mask;
        warp->rpc = left->rpc;
        warp->parent = left->parent;
        path_join_check(warp, join);
    }
}

// Whether the running path, in this call of the function, has a join at that place.
static bool has_join_at(const Warp *warp, const Inst *place) {
    const PathJoin *join;
    int parent = warp->parent;
    for (const Inst *rpc = warp->rpc; rpc; rpc = join->rpc) {
        if (rpc == place) return true;
        join = &warp->paths[parent].join;
        parent = join->parent;
    }
    return false;
}

// Makes joins for the merge points that come before those where the running path already has joins.
static bool add_joins(Warp *warp, const MergePoints *merges) {
    uint32_t missing = 0;
    while (missing < merges->count && !has_join_at(warp, merges->points[missing].at)) missing++;
    while (missing-- > 0) {
        const MergePoint *point = &merges->points[missing];
        const int join = path_new(warp, point->at, 0, PATH_JOIN, true);
        if (join < 0) return false;
        warp->paths[join].join.members = warp->mask;
        warp->paths[join].join.inside = point->inside;
        warp->rpc = point->at;
        warp->parent = (int16_t)join;
    }
    return true;
}

const Inst *path_join_split(Warp *warp, const Inst *inst, uint32_t taken, const Inst *target,
                            const MergePoints *merges) {
    const Inst *fall = inst + 1;
    const uint32_t other = warp->mask & ~taken;
    if (!add_joins(warp, merges)) return path_too_many(warp, inst);
    const Inst *merge = warp->rpc;
    if (merge && target == merge) {
        warp->paths[warp->parent].mask |= taken;
    } else if (merge && fall == merge) {
        warp->paths[warp->parent].mask |= other;
        warp->mask = warp->exec = taken;
        return target;
    } else if (path_new(warp, target, taken, PATH_READY, true) < 0) {
        return path_too_many(warp, inst);
    }
    warp->mask = warp->exec = other;
    return fall;
}

// Needed when lanes that a join waits for wait in turn for lanes that have arrived: for a lock that
// one of these holds, or at a warp-wide barrier.
bool path_join_release(Warp *warp) {
    bool released = false;
    const int count = warp->path_count;
    for (int j = 0; j < count; j++) {
        Path *join = &warp->paths[j];
        if (join->state != PATH_JOIN || !join->mask) continue;
        const int alone = path_new(warp, NULL, 0, PATH_READY, false);
        if (alone < 0) return released;
        warp->paths[alone] = *join;
        warp->paths[alone].state = PATH_READY;
        warp->paths[alone].join.members = 0;
        join->join.members &= ~join->mask;
        join->mask = 0;
        released = true;
    }
    return released;
}
