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
// Follows a shuffle of these lanes that involves an undefined value.
void undefined_shuffle(Warp *warp, const Inst *inst, uint32_t lanes, const int32_t source[LANES]);
// Follows an instruction of a warp that has undefined registers, see Observer.step.
void undefined_step(Warp *warp, const Inst *inst);
// Follows a lane's read of unwritten memory, which is one element of the instruction's load. If the
// program depends on the value, it calls unwritten_used with the number. False: it cannot follow
// it.
bool undefined_read(Warp *warp, const Inst *inst, uint32_t lane, uint32_t element, uint32_t number);

#endif
