// Builds the executable form of a function: its instructions, its counters and its frame. Both
// lower/ (PTX) and sass/ (machine code) use it.
#ifndef EMIT_H
#define EMIT_H

#include <setjmp.h>

#include "simt/emit/lowering.h"
#include "simt/emit/row.h"
#include "simt/ops/ops.h"

typedef struct PtxLower PtxLower; // of lower/

// Temporary registers in the frame, which each lowered instruction reuses.
typedef struct {
    uint32_t *places;
    size_t count, used, capacity;
} Temporaries;

// A function while it is lowered.
typedef struct {
    Lowering *lowering;
    Arena *arena;
    Code *code; // the result
    const PtxFunction *function;
    const PtxInst *at; // the instruction that is being lowered
    jmp_buf leave;     // the target of lower_fail's longjmp

    Inst *insts;
    size_t count, capacity;
    uint32_t frame; // bytes so far
    uint32_t frame_predicates, predicates_left;
    Temporaries temporaries[REGISTER_128];
    size_t constant_capacity;
    PtxLower *ptx; // NULL for machine code
} Lower;

// --- emit.c ---
// Sets the error, which names the function and the place of lower->at, and leaves.
_Noreturn void lower_fail(Lower *lower, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
Inst *lower_emit(Lower *lower, Op *run);
// Emits the row of ops/ with this name, which must exist.
void lower_emit_row(Lower *lower, Str name, const uint32_t *operands);
// A copy of an f16 or f32 register with subnormal numbers replaced by zero (.ftz).
uint32_t lower_flushed(Lower *lower, RegisterClass class, uint32_t from);
uint32_t lower_slot(Lower *lower, SlotKind kind);
// Allocates the counters of an access and returns the first. `rows`: it accesses whole rows of
// matrices.
uint32_t lower_access_slots(Lower *lower, PtxSpace space, bool load, bool rows);

// --- frame.c: offsets in the frame ---
uint32_t lower_reserve(Lower *lower, uint32_t bytes); // bytes for all lanes together
uint32_t lower_place(Lower *lower, RegisterClass class);
uint32_t lower_temp(Lower *lower, RegisterClass class); // valid while lower->at is lowered
uint32_t lower_constant(Lower *lower, RegisterClass class, uint64_t value);

// --- built_in.c ---
// A function that is built into the CPU device, with the sizes of its parameters.
typedef struct {
    Str name;
    Op *run;
    bool ordered; // its effect depends on the order in which blocks run
    uint32_t count;
    uint8_t bytes[4];
} BuiltIn;
const BuiltIn *lower_built_in(Str name); // NULL if there is none

#endif
