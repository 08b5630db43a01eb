// Which lanes touch which bank: of each instruction that accesses shared memory, how many
// wavefronts its accesses took, and the worst of them lane by lane. That is all that is kept,
// however long a kernel runs.
#ifndef BANKS_H
#define BANKS_H

#include "base/arena.h"
#include "simt/exec/bank.h"
#include "simt/exec/observer.h"

// Of one PTX instruction in one launch. Loads, stores and asynchronous copies; of atomic operations
// no wavefronts are known.
typedef struct {
    const PtxFunction *function;
    uint32_t ptx;                           // its index in function->insts
    uint64_t accesses[BANK_WAVEFRONTS + 1]; // of warps, by the wavefronts that they took
    // The worst access: with the most wavefronts, of these with the most lanes, of these the first
    // in the block with the lowest number.
    bool load;
    uint32_t bytes;      // of a lane
    uint32_t wavefronts; // 0: there was no access
    uint32_t lanes, address[LANES], warp;
    uint64_t block;
} BankAccesses;

// Opens an observer of accesses to shared memory, for SimtOptions.instructions. Its report lists
// the instructions with an access and is the same for any number of host threads.
void banks_open(Observed *of);

#endif
