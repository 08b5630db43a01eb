// Places a kernel's static shared memory as ptxas does.
//
// A kernel's own variables come first. Then come the module's variables, if the kernel or a
// function that it may call uses them, in the module's order, and then the variables inside those
// functions, in the functions' order. Since a function's variables have different offsets in each
// kernel, a kernel has its own copies of such functions.
#ifndef STATIC_SHARED_H
#define STATIC_SHARED_H

#include "base/arena.h"
#include "simt/ptx/ptx.h"

// For each function of a module: the functions that it calls and the variables that it uses.
typedef struct SharedUses SharedUses;

// The static shared memory of a kernel.
typedef struct {
    uint32_t bytes;
    PtxVariable **own; // by the variable's number in SharedUses: the kernel's copy, NULL: not used
} StaticShared;

SharedUses *shared_uses(Arena *arena, const PtxModule *module);
// Fills `shared` for the kernel, and places its own variables.
void static_shared_place(Arena *arena, const SharedUses *uses, PtxFunction *kernel,
                         StaticShared *shared);
// The function with the kernel's variables: a copy, or the module's function if neither it nor its
// possible callees use any.
const PtxFunction *static_shared_function(Arena *arena, const SharedUses *uses,
                                          const StaticShared *shared, const PtxFunction *function);
// Whether the function's address is taken, so that it may be called through a pointer.
bool shared_uses_pointed(const SharedUses *uses, const PtxFunction *function);

#endif
