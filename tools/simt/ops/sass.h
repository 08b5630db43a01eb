// The Ops that only machine code needs.
#ifndef OPS_SASS_H
#define OPS_SASS_H

#include "simt/ops/row.h"

enum { SASS_PREDICATES = 7 }; // P0..P6, which are adjacent in the frame

extern const OpRow op_sass_rows[];

Op op_add_carry, op_multiply_carry, op_multiply_wide, op_predicate_table;
Op op_converge_begin, op_converge, op_converge_break, op_converge_named, op_converge_yield;
Op op_barrier_save, op_barrier_clear, op_barrier_restore;
Op op_branch_lanes, op_branch_any, op_branch_all, op_jump_register, op_past_end, op_call_nowhere;

// The address of a function that the machine code calls but does not contain, by its index among
// such functions. No code has such an address.
static inline uint64_t sass_outside(size_t index) { return 0xfff0000000000000 + 16 * index; }

#endif
