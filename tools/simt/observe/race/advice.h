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

// "reads", "writes" or "updates"; NULL for ACCESS_NONE.
const char *advice_verb(AccessKind kind);
extern const char advice_guard_index[];  // before an access
extern const char advice_every_thread[]; // of a block, at a barrier
extern const char advice_whole_warp[];   // at an instruction with a mask
// How to let absent lanes or threads take part in an instruction: `otherwise` or, in a collective
// operation of CUB, what to do about its call.
const char *advice_take_part(const Machine *machine, const Inst *inst, const char *otherwise);
// Where an array begins of which this thread accesses its element; for a bulk copy `address`.
uint64_t advice_start(const Side *side, uint64_t address);
Span advice_span(const Machine *machine, const Finding *finding);
// Writes how to fix a race into to[0..room), unless its span says it. The advice fits all `between`
// of the finding.
void advice_write(const Machine *machine, const Finding *finding, const Span *span, char *to,
                  size_t room);
// Whether an instruction loads only the first guess of a loop around an atomicCAS(), see guess.c.
bool guess_checked(const Machine *machine, const Inst *load);

#endif
