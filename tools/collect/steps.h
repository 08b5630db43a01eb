// Steps: a trace of the CPU device (simt --trace) as the page's player wants it: of the last launch
// in it one row for each instruction of a warp that accesses shared memory, shuffles or waits for
// its lanes, and one for each barrier that the block completes.
//
//     warp,line,op,lanes,words,values,races
//     0,22,store,ffffffff,0+1x32,3 -5 7 …,
//     0,24,load,55555555,0+2x16,,
//     ,25,barrier,,,,
//
// line    of the tangled code
// op      load, store, shuffle, syncwarp; barrier, of no warp
// lanes   bits, hexadecimal; what follows is lane by lane, of these
// words   of shared memory; of a shuffle the lanes whose value is taken. `7 9 0+2x3`: 7, 9, 0, 2, 4
// values  stored, or that the lanes have before a shuffle: floats that are whole numbers. Of a load
//         none: it finds what was stored, which is checked here
// races   `27+16:ffff`: each of these lanes races with the thread 16 above it, at line 27
#ifndef COLLECT_STEPS_H
#define COLLECT_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Arena *arena;
    Str lined;   // the source with #line that the traced lab was compiled from
    size_t line; // of the fault, 0: the file as a whole
    const char *fault;
} Steps;

// Adds the header row and the rows. False: `fault` and `line` say what is wrong with the trace.
bool steps_condense(Steps *steps, Str trace, Buf *out);

#endif
