// Races in global memory: of two threads' accesses to a byte one writes, no barrier orders them,
// neither has acquired what the other released (order.c), and they are not both strong at scopes
// that cover each other. PTX ISA, "Memory Consistency Model: Data-Races". Launches are ordered one
// behind the other. Two writes of the same value are no race.
//
// Most accesses are of words that nobody else touches, by whole warps at a time: those are compared
// and recorded in one loop. Bounds are checked before: see global.c.
#include <string.h>

#include "simt/observe/check/touch.h"

// Whether some lane accesses a word with more accesses than its records tell.
static bool any_rest(const Touch *at, uint32_t mask) {
    for (uint32_t m = at->rest && at->rest->live ? mask : 0; m; m &= m - 1)
        if (touch_rest(at, at->address[__builtin_ctz(m)], (at->size + 3) / 4)) return true;
    return false;
}

// Whether this lane and the next store the same.
static bool equal_to_next(const Touch *at, uint32_t lane) {
    uint8_t here[16], next[16];
    return at->size <= sizeof here &&
           address_stored(at->warp, at->access, lane, 0, at->size, here) &&
           address_stored(at->warp, at->access, lane + 1, 0, at->size, next) &&
           memcmp(here, next, at->size) == 0;
}

// Of neighbours that store the same in one place nothing is told by those between the first and the
// last: two such stores are remembered, and what races with one races with the other. The lanes
// that are left.
static uint32_t without_equal(const Touch *at, uint32_t mask) {
    const uint32_t same = at->shape->same & mask & mask >> 1;
    uint32_t equal = 0;
    if (!(same & same << 1) || at->strong || at->rest || at->parted) return mask;
    for (uint32_t m = same; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        equal |= (uint32_t)equal_to_next(at, lane) << lane;
    }
    return mask & ~(equal & equal << 1);
}

void check_global_races(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                        const uint64_t address[LANES], const Shape *shape) {
    Touch at;
    touch_set(&at, checker, warp, access, mask, address);
    at.shape = shape;
    if (shape->whole && whole_touch(&at, address[0])) return;
    if (any_rest(&at, mask)) {
        words_touch(&at, mask);
        return;
    }
    const bool updates = access->kind == ACCESS_ATOMIC && record_scope(at.base) == SCOPE_DEVICE;
    if (!at.strong && shape->on && !shape->whole) mask = whole_runs(&at, mask);
    if (mask) mask = backlog_add(&at, mask);
    if (mask && (!at.strong || updates)) mask = scattered_quick(&at, mask);
    words_touch(&at, without_equal(&at, mask));
}
