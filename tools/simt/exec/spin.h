// Tells a path that waits for others from one that works: op for op they look alike.
//
// A look is an access whose outcome a program may wait for: a strong load, or an atomic operation
// whose old value is used. A path that comes to the same look again with the same registers, and
// has changed no memory in between, would go round for ever: it spins, and lets others go first.
// One whose registers change all the while, which counts how often it looked, spins if it does
// nothing but look at the same for a whole slice.
#ifndef SPIN_H
#define SPIN_H

#include "simt/exec/warp.h"

// After a look by which the first lane that is on has seen this value: the next instruction, or
// NULL after path_yield.
const Inst *spin_look(Warp *warp, const Inst *inst, uint64_t value);

// Memory has been changed: others may have waited for that.
static inline void spin_stored(Warp *warp) {
    warp->spin.copied = false;
    warp->spin.moved = true;
}

// Another path of the warp goes on.
static inline void spin_restart(Warp *warp) {
    warp->spin.copied = false;
    warp->spin.looks = warp->spin.again = 0;
}

// Both end the warp's turn; it goes on at `next`.
const Inst *spin_slice_ends(Warp *warp, const Inst *next);
const Inst *spin_sleep(Warp *warp, const Inst *next);

#endif
