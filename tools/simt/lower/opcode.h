// The instructions that are known, a row for each base opcode: how it is lowered, what it does to
// control flow, which of its modifiers change nothing here.
//
// To add an instruction:
// 1. Write the Op that runs it, in ops/, in the file of its kind.
// 2. If its operands are registers and constants only, give it a row {opcode with modifiers, Op,
//    classes of operands} at the end of that file; one of lower_arithmetic, lower_rounded finds it
//    there. Else declare the Op in ops/ops.h and write a lower_OPCODE that emits it, here in
//    lower/.
// 3. A base opcode that is new gets its row in opcode.c.
// 4. Values: tests/simt/vectors; what is refused, and how: tests/simt/core.
#ifndef OPCODE_H
#define OPCODE_H

#include "base/str.h"

typedef struct Lower Lower;

// Where threads go from an instruction.
typedef enum {
    FLOW_ON, // to the next one
    FLOW_BRANCH,
    FLOW_TABLE,
    FLOW_RETURN, // in a kernel this is an exit
    FLOW_EXIT,
    FLOW_TRAP,
    FLOW_CALL
} OpcodeFlow;

typedef struct {
    Str name; // up to the first dot
    void (*lower)(Lower *lower);
    OpcodeFlow flow;
    // It may wait, or go elsewhere and come back: a guard becomes a branch around it.
    bool waits;
    bool reads_first; // a register that is the first operand is no result
    // Modifiers that change nothing here, up to an empty one; "L1::" is all that start so.
    const Str *hints;
} Opcode;

// By the base of an opcode with modifiers ("ld" of "ld.global.u32"); NULL if it is not known.
const Opcode *opcode_find(Str opcode);

#endif
