// The times of a block, and who of it is known to have come behind what: by barriers of all its
// threads, of some warps, of some lanes.
#include "simt/observe/race/inside.h"

enum { AT_FIRST = 64, THEN = 1024 }; // times that are taken at once

static void take_times(Checker *checker, uint64_t count) {
    checker->now = shadow_times(count, checker->block);
    // What was done at times of one piece is known at once to be the block's own.
    if (checker->now != checker->times_end) checker->times = checker->now;
    checker->times_end = checker->now + count;
}

void check_times(Checker *checker, uint64_t block) {
    checker->block = block;
    checker->times_end = 0;
    take_times(checker, AT_FIRST);
}

uint64_t check_tick(Checker *checker) {
    if (++checker->now == checker->times_end) take_times(checker, THEN);
    return checker->now;
}

bool check_unordered(const Checker *checker, uint64_t time, uint32_t other, uint32_t thread) {
    uint32_t warp = thread / LANES, other_warp = other / LANES;
    if (warp != other_warp) return time >= checker->warp_known[warp][other_warp];
    return time >= checker->warp_floor[warp] &&
           !(checker->lane_known &&
             time < checker->lane_known[warp][thread % LANES][other % LANES]);
}
