// Hazards: what --check looks for while a kernel runs.
//
// check_hook() is put in front of every instruction that accesses memory or synchronises (see
// code_hook): it looks at the access and then runs the instruction. Each Block has a Checker of its
// own, which follows it through all the blocks that it stands for one after another, so what is
// found does not depend on the number of host threads.
#ifndef CHECK_H
#define CHECK_H

#include "simt/exec/warp.h"

typedef struct Checker Checker;

// For a Block, whose number of warps and shared memory are set. NULL: out of memory. Freeing it
// hands what it found to the launch, machine->found.
Checker *checker_new(const Block *block);
void checker_free(Checker *checker);

// When block->check, a Checker, follows: at the start of a block, and at its end, also when it has
// failed or is stuck. Block and warps are then still as they were.
void checker_begin_block(Block *block);
void checker_end_block(Block *block);

Op check_hook;

// Puts what the checkers of a launch found into the report, ordered by line, once all are freed.
// Needs the report's arena.
void checker_report(Machine *machine, LaunchReport *report);

#endif
