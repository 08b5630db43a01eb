// Completes block-wide barriers. See barrier.h.
#include "simt/exec/barrier.h"

#include "simt/exec/path.h"

void barrier_complete(Block *block, uint32_t number) {
    Barrier *barrier = &block->barriers[number];
    barrier->last = (BarrierResult){barrier->ones, barrier->ones == barrier->came};
    barrier->arrived = barrier->came = barrier->ones = barrier->expected = 0;
    block->tally[barrier->slot].a++;
    block->progress++;
    for (uint32_t k = 0; k < block->warp_count; k++)
        path_release_barrier(&block->warps[k], number, barrier->last);
    observer_complete(block, number);
}

void barrier_exited(Block *block) {
    for (uint32_t number = 0; number < BARRIERS; number++) {
        const Barrier *barrier = &block->barriers[number];
        if (!barrier->arrived || barrier->expected) continue;
        if (barrier->arrived >= block->live_threads) barrier_complete(block, number);
    }
}
