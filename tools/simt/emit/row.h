// The rows of the tables in ops/, found by opcode and modifiers, or by name.
#ifndef EMIT_ROW_H
#define EMIT_ROW_H

#include "simt/exec/register.h"
#include "simt/ops/row.h"

#define ROW_OPERANDS  5
#define ROW_MODIFIERS 7 // of a row's name, at most

typedef struct {
    Str name;
    Op *run;
    uint32_t count;
    RegisterClass operands[ROW_OPERANDS]; // the result first
} Row;

// The row of an opcode with these modifiers, in this order; NULL if there is none.
const Row *row_find(PtxOpcode opcode, const uint8_t *modifiers, uint32_t count);
// The row of this name, or NULL. Machine code finds its rows by name; some have no PTX.
const Row *row_named(Str name);

#endif
