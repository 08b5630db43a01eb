// Block-wide barriers: arrivals and completion. PTX ISA, "bar".
#ifndef BARRIER_H
#define BARRIER_H

#include "simt/exec/observer.h"

// Releases the waiting threads.
void barrier_complete(Block *block, uint32_t number);

// Completes the barriers at which only exited threads were missing.
void barrier_exited(Block *block);

enum { BARRIER_ALL = -1 }; // waits for all threads that have not exited

// The active lanes, `ones` of them with a true predicate, arrive at a barrier for `expected`
// threads or BARRIER_ALL. Returns true if this completes it. Hardware counts whole warps: a warp
// whose live threads have all arrived counts as 32.
static inline bool barrier_arrive(Warp *warp, const Inst *inst, uint32_t number, int64_t expected,
                                  uint32_t ones) {
    Block *block = warp->block;
    Barrier *barrier = &block->barriers[number];
    observer_arrive(warp, inst, number, expected != BARRIER_ALL);
    barrier->slot = inst->slot;
    barrier->came += (uint32_t)__builtin_popcount(warp->exec);
    barrier->arrived += (uint32_t)__builtin_popcount(warp->exec);
    barrier->ones += (uint32_t)__builtin_popcount(ones);
    if (expected != BARRIER_ALL) {
        barrier->expected = (uint32_t)expected;
        if (warp->exec == warp->live)
            barrier->arrived += LANES - (uint32_t)__builtin_popcount(warp->live);
    }
    if (barrier->arrived < (barrier->expected ? barrier->expected : block->live_threads))
        return false;
    barrier_complete(block, number);
    warp->paths[warp->current].result = barrier->last;
    return true;
}

#endif
