// Undefined values in registers: from shuffles with absent lanes and reads of unwritten memory.
#ifndef RACE_UNDEFINED_H
#define RACE_UNDEFINED_H

#include "simt/observe/race/finding.h"

// Registers of a warp that are undefined in some lanes.
typedef struct Undefined Undefined;
typedef struct {
    Undefined *at;
    size_t count, capacity;
} UndefinedList;

void undefined_begin(Checker *checker);
// A shuffle of these lanes that involves an undefined value.
void undefined_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES]);
// An instruction of a warp that has undefined registers: see Observer.step.
void undefined_step(Warp *warp, const Inst *inst);
// A lane reads memory that nothing has written, as one element of what the instruction loads. True:
// if the program depends on the value, unwritten_used is called with the number. False: the value
// cannot be followed.
bool undefined_read(Warp *warp, const Inst *inst, uint32_t lane, uint32_t element, uint32_t number);

#endif
