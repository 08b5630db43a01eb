// Static shared memory: which variables a kernel has, and where they lie: as ptxas places them.
//
// A variable inside a function that several kernels have inlined stands in the module. A kernel
// gets those that it uses, in the module's order, in front of its own. Only a kernel that calls
// functions has all of the module's, at the same places for every caller.
#ifndef SHARED_ROOM_H
#define SHARED_ROOM_H

#include "base/arena.h"
#include "simt/ptx/ptx.h"

bool shared_room_calls(const PtxFunction *function);
// The module's variables that the kernel uses become its own; before its code is lowered.
void shared_room_take(Arena *arena, const PtxModule *module, PtxFunction *kernel);
// Lays a function's variables out from byte `start` on. The end.
uint32_t shared_room_place(const PtxFunction *function, uint64_t start);

#endif
