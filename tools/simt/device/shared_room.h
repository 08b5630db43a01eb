// Static shared memory: which variables a kernel has, and where they lie: as ptxas places them.
//
// In front lie a kernel's own variables. Behind them lie those that stand in the module, if the
// kernel or a function that it may call uses them, in the module's order; then those inside these
// functions, in the functions' order. A function's variables thus lie elsewhere for each kernel,
// which has its own copies of such functions.
#ifndef SHARED_ROOM_H
#define SHARED_ROOM_H

#include "base/arena.h"
#include "simt/ptx/ptx.h"

// Of a module, by function: whom it calls, what it uses.
typedef struct SharedUses SharedUses;

// Of a kernel.
typedef struct {
    uint32_t bytes;
    PtxVariable **own; // by the number of a variable in SharedUses: the kernel's, NULL: not used
} SharedRoom;

SharedUses *shared_uses(Arena *arena, const PtxModule *module);
// Gives the kernel its room, and places its own variables.
void shared_room_place(Arena *arena, const SharedUses *uses, PtxFunction *kernel, SharedRoom *room);
// The function with the kernel's variables; the module's, if neither it nor what it may call uses
// any.
const PtxFunction *shared_room_function(Arena *arena, const SharedUses *uses,
                                        const SharedRoom *room, const PtxFunction *function);
// Whether pointers to the function may be called: its address is taken.
bool shared_uses_pointed(const SharedUses *uses, const PtxFunction *function);

#endif
