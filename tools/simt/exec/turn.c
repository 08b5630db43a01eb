// See turn.h.
#include "simt/exec/turn.h"

bool turn_same_place(const Path *path, const Path *other) {
    if (!path->gathers) return other->pc->plain == path->pc->plain && (other->sync & path->sync);
    return other->pc == path->pc && (other->sync & path->mask) && (path->sync & other->mask);
}

uint32_t turn_missing(const Warp *warp, const Path *path) {
    uint32_t there = 0;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *other = &warp->paths[k];
        if (other->state == PATH_SYNC && turn_same_place(path, other)) there |= other->mask;
    }
    return path->sync & warp->live & ~there;
}

uint32_t turn_behind(const Warp *warp, uint32_t lanes) {
    uint32_t order = warp->parted + 2;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (k == warp->current || path->state != PATH_READY || !(path->mask & lanes)) continue;
        if (path->order && path->order < order) order = path->order;
    }
    return order - 1;
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

int turn_ready(const Warp *warp) {
    const int count = warp->path_count;
    for (int k = 0, index = warp->current; k < count; k++) {
        index = index > 0 && index <= count ? index - 1 : count - 1;
        if (warp->paths[index].state == PATH_READY) return first_of_all(warp, index);
    }
    return -1;
}

bool turn_parted_last(const Warp *warp, const Path *path) {
    return path->order && path->order == warp->parted;
}

int turn_released(const Warp *warp) {
    uint32_t order = 0;
    int chosen = -1;
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (path->state != PATH_SYNC || !path->gathers || path->order < order) continue;
        if (turn_missing(warp, path)) continue;
        chosen = k;
        order = path->order;
    }
    return chosen;
}

int turn_meeting(const Warp *warp) {
    for (int k = 0; k < warp->path_count; k++) {
        const Path *path = &warp->paths[k];
        if (path->state == PATH_SYNC && !turn_missing(warp, path)) return k;
    }
    return -1;
}
