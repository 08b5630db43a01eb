// The longest warp of a launch: how many instructions the warp executed that executed the most.
// What a block does takes at least as long as that, however few instructions all its warps together
// have. Only where it is asked for does each warp count by itself, so that no other launch pays.
#ifndef LONGEST_H
#define LONGEST_H

#include "simt/exec/block.h"

// Gives each warp of a Block counters of its own. False: out of memory.
bool longest_attach(Block *block);
// Gives them back, after longest_end().
void longest_detach(Block *block);

// A block of the grid has ended: what its warps counted goes to the Block's counters, and the most
// instructions of one to machine->longest_warp.
void longest_end(Block *block);

#endif
