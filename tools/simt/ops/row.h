// Tables that map opcodes to Ops, for instructions whose operands are only registers and constants,
// in PTX's order. Each file of ops/ has one table.
#ifndef ROW_H
#define ROW_H

#include "simt/exec/warp.h"

typedef struct {
    const char *name;  // the opcode with its modifiers, except those that lowering takes itself
    Op *run;           // r[0] is the result, r[1..] are the sources
    const char *shape; // a letter for each operand: p predicate, h 16, w 32, d 64 bits
} OpRow;

// Each table ends with a row without a name.
extern const OpRow op_integer_rows[], op_bits_rows[], op_float_rows[], op_half_rows[],
    op_compare_rows[], op_convert_rows[], op_move_rows[];

#endif
