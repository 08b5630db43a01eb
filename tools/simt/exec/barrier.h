// Block-wide barriers: who has come, whom they wait for, and when they are complete.
#ifndef BARRIER_H
#define BARRIER_H

#include "simt/exec/observer.h"

// Lets the waiting threads go.
void barrier_complete(Block *block, uint32_t number);

// Completes those that only threads still waited for that have exited.
void barrier_exited(Block *block);

enum { BARRIER_ALL = -1 }; // all threads that have not exited are waited for

// The lanes of the instruction, `ones` of them with a true predicate, arrive at a barrier for
// `expected` threads or BARRIER_ALL. True if it is complete with them; false if others are still to
// come. Numbers of threads come in warps: a warp all of whose live threads have come counts 32.
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
