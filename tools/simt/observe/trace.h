// `simt --trace FILE`: what happens in the first block of each launch, in the order in which it
// does, as rows of
//
//     kernel,launch,block,warp,pc_line,space,op,bytes,lane,address,value,file,
//     other_thread,other_line,other_file
//
// shared   load, store, atomic: of each lane its address, and in value the bytes that it finds
//          there or stores, as one hexadecimal number; behind these, with --check, race: with what
//          other thread's earlier access at what line, as far as races are looked for
// barrier  barrier: a warp arrives, with its first lane; complete: all have, of no warp and lane
// warp     syncwarp: a lane that has met others; shuffle: a lane, the value that it has, and the
//          thread whose value it takes
//
// Cells that a row has no use for are empty, but for bytes, lane and address, which are 0.
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>

#include "simt/exec/observer.h"

// Opens an observer that appends the launch to SimtOptions.path. The first launch of the process
// writes the file anew, with a header row.
void trace_open(Observed *of);
// Whether anything that was to be traced could not be written until now.
bool trace_lost(void);

#endif
