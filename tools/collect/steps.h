// Steps: condenses a trace of the CPU device (simt --trace) for the player on the page. The last
// launch gets one row for each instruction of a warp that accesses shared memory, shuffles or
// synchronizes the warp, and one for each barrier that the block completes.
//
//     warp,line,op,lanes,words,values,races
//     0,22,store,ffffffff,0+1x32,3 -5 7 …,
//     0,24,load,55555555,0+2x16,,
//     ,25,barrier,,,,
//
// line    line number in the tangled code; of a reader's own kernel, `FILE:LINE` if it is not in
//         the file with the reader's text
// op      load, store, shuffle, syncwarp; or barrier, which has no warp
// lanes   bit mask in hexadecimal; the next two columns have one entry per lane of it
// words   indices into shared memory; for a shuffle, the source lanes. `7 9 0+2x3`: 7, 9, 0, 2, 4
// values  values stored, or held before a shuffle: floats that are whole numbers; in a reader's
//         own kernel any floats, and small integers, also of less than 4 bytes. Empty for a load,
//         which finds the value stored last; this is checked here
// races   `27+16:ffff`: each of these lanes races with line 27 of the thread 16 above it
#ifndef COLLECT_STEPS_H
#define COLLECT_STEPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    Arena *arena;
    Str lined;   // the source with #line directives that the traced lab was compiled from
    Str own;     // or, for a reader's own kernel, the file with the reader's text
    size_t line; // of the error; 0: the whole file
    const char *fault;
} Steps;

// Adds the header row and the steps. False: `fault` and `line` describe the error in the trace.
bool steps_condense(Steps *steps, Str trace, Buf *out);

#endif
