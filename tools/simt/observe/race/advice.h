// The advice on a race: what its threads do, and how to fix it.
#ifndef RACE_ADVICE_H
#define RACE_ADVICE_H

#include "simt/observe/race/finding.h"

// How the two threads of a race are related: bits, for all races of a finding.
enum {
    BETWEEN_LANES = 1,  // of a warp
    BETWEEN_WARPS = 2,  // of a block
    BETWEEN_BLOCKS = 4, // of a grid
    BETWEEN_NARROW = 8, // both accesses are strong, but a scope does not include the other thread
    BETWEEN_COPY = 16   // one is an asynchronous copy for which no thread has waited
};

// "reads", "writes" or "updates".
const char *advice_verb(AccessKind kind);
// Writes how to fix a race into to[0..room). The advice fits all `between` of the finding.
void advice_write(const Machine *machine, const Finding *finding, char *to, size_t room);
// Whether an instruction loads only the first guess of a loop around an atomicCAS(), see guess.c.
bool guess_checked(const Machine *machine, const Inst *load);

#endif
