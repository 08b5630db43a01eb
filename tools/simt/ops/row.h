// Rows of the tables by which an opcode finds what runs it: one table a file, of the instructions
// whose operands are registers and constants only, in PTX's order.
#ifndef ROW_H
#define ROW_H

#include "simt/exec/warp.h"

typedef struct {
    const char *name;  // the opcode with its modifiers, but for those that lowering takes itself
    Op *run;           // r[0] is the result, r[1..] are the sources
    const char *shape; // a letter for each operand: p predicate, h 16, w 32, d 64 bits
} OpRow;

// Each ends with a row without a name.
extern const OpRow op_integer_rows[], op_bits_rows[], op_float_rows[], op_half_rows[],
    op_compare_rows[], op_convert_rows[], op_move_rows[];

#endif
