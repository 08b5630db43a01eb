// Detects paths that spin, that is, wait for other threads in a loop: their instructions look like
// any others.
//
// A spin read here is an access whose outcome a program may wait for: a strong load, or an atomic
// operation whose old value is used. A path that repeats a spin read with the same registers, and
// has changed no memory in between, would loop forever: it spins, and lets others go first. A path
// whose registers keep changing, because it counts its reads, spins if it only repeats the same
// reads for a whole slice.
#ifndef SPIN_H
#define SPIN_H

#include "simt/exec/warp.h"

// Called after a spin read whose first active lane has read `value`. Returns the next instruction,
// or NULL after path_yield.
const Inst *spin_read(Warp *warp, const Inst *inst, uint64_t value);

// The warp has changed memory, which others may have waited for.
static inline void spin_stored(Warp *warp) {
    warp->spin.copied = false;
    warp->spin.moved = true;
}

// The warp switches to another path.
static inline void spin_restart(Warp *warp) {
    warp->spin.copied = false;
    warp->spin.reads = warp->spin.again = 0;
}

// Both end the warp's turn; it resumes at `next`.
const Inst *spin_slice_ends(Warp *warp, const Inst *next);
const Inst *spin_sleep(Warp *warp, const Inst *next);

#endif
