// Races in global memory: of two threads' accesses to a byte one writes, no barrier orders them,
// neither has acquired what the other released (order.c), and they are not both strong at scopes
// that cover each other. PTX ISA, "Memory Consistency Model: Data-Races". Launches are ordered one
// behind the other. Two writes of the same value are no race.
//
// Most accesses are of words that nobody else touches, by whole warps at a time: those are compared
// and recorded in one loop. Bounds are checked before: see global.c.
#include "simt/observe/check/touch.h"

// Whether some lane accesses a word with more accesses than its records tell.
static bool any_rest(const Touch *at, uint32_t mask) {
    for (uint32_t m = at->rest && at->rest->live ? mask : 0; m; m &= m - 1)
        if (touch_rest(at, at->address[__builtin_ctz(m)], (at->size + 3) / 4)) return true;
    return false;
}

void check_global_races(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                        const uint64_t address[LANES], const Shape *shape) {
    Touch at;
    touch_set(&at, checker, warp, access, address);
    at.mask = mask;
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
    words_touch(&at, mask);
}
