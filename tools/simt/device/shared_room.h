// Places a kernel's static shared memory as ptxas does.
//
// A kernel's own variables come first. Then come the module's variables, if the kernel or a
// function that it may call uses them, in the module's order, and then the variables inside those
// functions, in the functions' order. Since a function's variables have different offsets in each
// kernel, a kernel has its own copies of such functions.
#ifndef SHARED_ROOM_H
#define SHARED_ROOM_H

#include "base/arena.h"
#include "simt/ptx/ptx.h"

// For each function of a module: the functions that it calls and the variables that it uses.
typedef struct SharedUses SharedUses;

// The static shared memory of a kernel.
typedef struct {
    uint32_t bytes;
    PtxVariable **own; // by the variable's number in SharedUses: the kernel's copy, NULL: not used
} SharedRoom;

SharedUses *shared_uses(Arena *arena, const PtxModule *module);
// Fills `room` for the kernel, and places its own variables.
void shared_room_place(Arena *arena, const SharedUses *uses, PtxFunction *kernel, SharedRoom *room);
// The function with the kernel's variables: a copy, or the module's function if neither it nor its
// possible callees use any.
const PtxFunction *shared_room_function(Arena *arena, const SharedUses *uses,
                                        const SharedRoom *room, const PtxFunction *function);
// Whether the function's address is taken, so that it may be called through a pointer.
bool shared_uses_pointed(const SharedUses *uses, const PtxFunction *function);

#endif
