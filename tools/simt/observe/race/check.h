// Hazards: what --check looks for while a kernel runs. An Observer: each Block has a Checker of its
// own, which follows it through all the blocks that it stands for one after another.
//
// Design. Happens-before, as in FastTrack (Flanagan and Freund, 2009), with the hierarchy of the
// GPU instead of one clock per thread: barriers order whole blocks, so a number per block (and per
// warp, where only some take part) says what is ordered within one; between blocks there is order
// only where a word carries it. record.h: what is kept of an access; shadow.h: where; race.h: the
// rule, of shared and of global memory. What orders: time.c and sync.c (barriers), order.c and
// release.h (words of memory), cluster.c, copy.c.
//
// All blocks run on one host thread (schedule.c): whether a store changes what is in memory, and
// what the last access to a word was, are questions that have an answer only when others stand
// still. So what is found is the same every time.
#ifndef CHECK_H
#define CHECK_H

#include "simt/exec/observer.h"

// Opens the observer that finds hazards, for SimtOptions.check.
void check_open(Observed *of);

#endif
