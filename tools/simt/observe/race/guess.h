// The first guess of a loop around an atomicCAS(), as in the CUDA C++ Programming Guide ("Atomic
// Functions"):
//
//     int old = *at, assumed;
//     do {
//         assumed = old;
//         old = atomicCAS(at, assumed, f(assumed));
//     } while (old != assumed);
//
// The first read is weak and, in the memory model, races with the updates of other threads. But
// when it was stale, atomicCAS() finds another value and the loop repeats, so no result depends on
// it. The PTX shows this: after the load there are only instructions that compute registers, a
// `cas` that compares with the loaded value, a comparison of that value with the one that was
// found, and a branch back if they differ. Any other instruction, such as a branch around the `cas`
// or a load from an address computed from the value, may depend on a stale value.
#ifndef RACE_GUESS_H
#define RACE_GUESS_H

#include "simt/exec/machine.h"

// Whether the value that an instruction loads is only such a first guess.
bool guess_checked(const Machine *machine, const Inst *load);

#endif
