// Writes the events of the first block of each launch, in their order, for `simt --trace FILE`. The
// columns are
//
//     kernel,launch,block,warp,pc_line,space,op,bytes,lane,address,value,file,
//     other_thread,other_line,other_file
//
// shared   load, store, atomic: each lane's address and, in value, the bytes that it finds there or
//          stores, as one hexadecimal number. With --check these are followed by race: the thread
//          and line of the earlier access, for races that the checker reports
// barrier  barrier: a warp arrives, with its first lane; complete: all warps have arrived (no warp,
//          no lane)
// warp     syncwarp: a lane that has synchronized with others; shuffle: a lane, its value, and the
//          thread whose value it takes
//
// Unused cells are empty, except bytes, lane and address, which are 0.
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>

#include "simt/exec/observer.h"

// Opens an observer that appends the launch to SimtOptions.path. The first launch of the process
// replaces the file, with a header row.
void trace_open(Observed *of);
// Whether some row could not be written so far.
bool trace_lost(void);

#endif
