// Hazards: what --check looks for while a kernel runs. An Observer: each Block has a Checker of its
// own, which follows it through all the blocks that it stands for one after another, so what is
// found does not depend on the number of host threads.
#ifndef CHECK_H
#define CHECK_H

#include "base/arena.h"
#include "simt/exec/observer.h"
#include "simt/observe/check/hazard.h"

// For one launch. NULL: out of memory.
Observer *check_open(const Machine *machine);

// What was found, in the arena, ordered by line, once the launch is over and its Blocks are freed.
// Their number.
size_t check_report(const Observer *check, Arena *arena, Hazard **hazards);
bool check_close(Observer *check); // false: memory was too short for all that was found

#endif
