// Bank conflicts by instruction: for each instruction that accesses shared memory, the wavefronts
// of its accesses and the addresses of the worst one.
#ifndef BANKS_H
#define BANKS_H

#include "base/arena.h"
#include "simt/exec/bank.h"
#include "simt/exec/observer.h"

// The accesses of one PTX instruction in one launch: a load, a store or an asynchronous copy. The
// wavefronts of atomic operations are not known.
typedef struct {
    const PtxFunction *function;
    uint32_t ptx;                           // its index in function->insts
    uint64_t accesses[BANK_WAVEFRONTS + 1]; // warps' accesses by their number of wavefronts
    // The worst access has the most wavefronts; ties go to the most lanes, then to the first one in
    // the block with the lowest number.
    bool load;
    uint32_t bytes;      // per lane
    uint32_t wavefronts; // 0: there was no access
    uint32_t lanes, address[LANES], warp;
    uint64_t block;
} BankAccesses;

// Opens an observer of accesses to shared memory, for SimtOptions.instructions. Its report lists
// the instructions with an access and is the same for any number of host threads.
void banks_open(Observed *of);

#endif
