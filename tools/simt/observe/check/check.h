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

// What was found, ordered by line, in the arena, once the launch is over and its Blocks are freed.
// False if memory was too short to keep all of it.
bool check_report(const Observer *check, Arena *arena, Hazard **hazards, size_t *count);
void check_close(Observer *check);

#endif
