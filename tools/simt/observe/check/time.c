// The times of a block, and who of it is known to have come behind what: by barriers of all its
// threads, of some warps, of some lanes.
#include "simt/observe/check/inside.h"

enum { LARGEST_TIMES = 4096 }; // that are taken at once

static uint64_t as_many(uint64_t count) { return count > LARGEST_TIMES ? LARGEST_TIMES : count; }

static void take_times(Checker *checker, uint64_t count) {
    checker->now = checker->times = shadow_times(count, checker->block);
    checker->times_end = checker->times + count;
}

// As many as the blocks before needed: what was done at times of one piece is known at once to be
// the block's own.
void check_times(Checker *checker, uint64_t block) {
    checker->block = block;
    if (!checker->first_times) checker->first_times = SHADOW_TIMES;
    take_times(checker, checker->first_times);
}

uint64_t check_tick(Checker *checker) {
    if (++checker->now < checker->times_end) return checker->now;
    const uint64_t had = checker->times_end - checker->times, before = checker->times_end;
    const uint64_t times = checker->times;
    checker->first_times = as_many(had * 2);
    take_times(checker, as_many(had * 2));
    if (checker->times == before) checker->times = times; // no other block got any in between
    return checker->now;
}

bool check_unordered(const Checker *checker, uint64_t time, uint32_t other, uint32_t thread) {
    uint32_t warp = thread / LANES, other_warp = other / LANES;
    if (warp != other_warp) return time >= checker->warp_known[warp][other_warp];
    return time >= checker->warp_floor[warp] &&
           !(checker->lane_known &&
             time < checker->lane_known[warp][thread % LANES][other % LANES]);
}
