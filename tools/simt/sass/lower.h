// Lowers machine code to the executable form that PTX is also lowered to: the interface between the
// files of this folder. Registers are in a warp's frame, with a value for each of 32 lanes. Uniform
// registers are there in the same way: all lanes that ran the same code have the same value.
#ifndef SASS_LOWER_H
#define SASS_LOWER_H

#include "simt/emit/emit.h"
#include "simt/exec/address.h"
#include "simt/ops/sass.h"
#include "simt/sass/cubin.h"
#include "simt/sass/table.h"

// Lowers code->source, a function of the module. False on error, like lower_function().
bool sass_lower(Lowering *lowering, const SassModule *module, Code *code);

enum { SASS_TEMPS = 24 };

typedef struct {
    uint32_t at[SASS_TEMPS], count, used;
} SassTemps;

typedef struct {
    Lower *lower;
    const SassModule *module;
    const SassFunction *function;
    SassInst *insts;
    uint32_t count;
    uint32_t registers[256], uniforms[64];   // offsets in the frame, PTX_NONE until used
    uint32_t barriers[16];                   // convergence barriers B0, ...
    uint32_t predicates, uniform_predicates; // offset of the first of seven
    uint32_t sinks[2];                       // for results that nothing reads: 32 bits, predicates
    uint32_t found[2];                       // results of BAR.RED: a count, a predicate
    SassTemps temps[REGISTER_64 + 1];        // by class, for the instruction being lowered
    size_t *place;                           // by instruction: its first Inst, if it begins a block
    const Inst **targets;                    // the same, as addresses
    struct {
        size_t inst;
        uint32_t target;
    } * fixups; // branches and jumps
    size_t fixup_count, fixup_capacity;

    const SassInst *inst; // being lowered
    uint32_t taken;       // a bit for each of its modifiers
} SassLower;

// --- lower.c ---
// Fails because the instruction cannot be lowered.
_Noreturn void sass_refuse(SassLower *s, const char *why);
// Whether the instruction has the modifier. If so it is taken: modifiers that a lowering function
// does not take are refused.
bool sass_take(SassLower *s, SassModifier modifier);
// Takes the instruction's modifier from this list of table.c. Returns its index there; without one
// that of SASS_MOD_NONE, or UINT32_MAX if the list has no SASS_MOD_NONE.
uint32_t sass_listed(SassLower *s, SassListName list);
SassModifier
sass_next(SassLower *s); // takes the first that was not taken; SASS_MOD_NONE: there is none
Inst *sass_emit(SassLower *s, Op *run);
void sass_row(SassLower *s, const char *name, uint32_t d, uint32_t a, uint32_t b, uint32_t c);
void sass_jump(SassLower *s, uint64_t target); // sets the target of the last emitted instruction

// --- operand.c: offsets in the frame ---
uint32_t sass_temp(SassLower *s, RegisterClass class);
uint32_t sass_constant(SassLower *s, uint32_t value);
uint32_t sass_register(SassLower *s, uint32_t number); // RZ: zero
uint32_t sass_uniform(SassLower *s, uint32_t number);
uint32_t sass_barrier(SassLower *s, uint32_t number);
const PtxVariable *sass_bank_variable(const SassLower *s, uint32_t bank); // NULL: there is none
uint32_t sass_bank(SassLower *s, uint32_t bank, uint64_t at, RegisterClass class);
// The value that an operand reads, with its sign applied: as an integer, as an f32. `part`: 1 for
// the second register of a pair.
uint32_t sass_source(SassLower *s, uint32_t operand);
uint32_t sass_raw(SassLower *s, const SassOperand *operand, uint32_t part); // without its sign
uint32_t sass_single(SassLower *s, uint32_t operand);
uint32_t sass_pair(SassLower *s, const SassOperand *operand); // both registers as 64 bits
uint32_t sass_double(SassLower *s, uint32_t operand);
// Where an operand writes; part 1: the register after it.
uint32_t sass_dest(SassLower *s, uint32_t operand, uint32_t part);
void sass_split(SassLower *s, uint32_t operand, uint32_t from); // writes 64 bits to a pair
uint32_t sass_compared(SassLower *s); // integer.c: where the result of a comparison goes
void sass_combine(SassLower *s, uint32_t result); // integer.c: a comparison with its fifth operand
const char *sass_float_compare(SassLower *s);     // float.c: "lt", ...
uint32_t sass_predicate(SassLower *s, uint32_t operand); // a predicate that is read
uint32_t sass_wanted(SassLower *s, uint32_t operand); // a predicate that is written; PTX_NONE: PT
uint32_t sass_guard(SassLower *s);                    // the instruction must have one
bool sass_is_true(const SassLower *s, uint32_t operand);  // whether it is PT
bool sass_is_false(const SassLower *s, uint32_t operand); // whether it is !PT
bool sass_is_zero(const SassOperand *operand);

// memory.c
uint32_t sass_within_block(SassLower *s, uint32_t address);
InstMemory sass_shared(SassLower *s, uint32_t operand); // an access of 16 bytes
AtomicMode sass_operation(SassLower *s);                // .ADD and the like
void sass_take_hints(SassLower *s);                     // cache hints
uint32_t sass_first_lane(SassLower *s); // control.c: a predicate, true in one active lane

// --- The functions that lower one instruction, each in the file that opcodes.h names. ---
typedef void SassLowering(SassLower *s);
#define DECLARE(name, lower, ...) SassLowering sass_lower_##lower;
SASS_OPCODES(DECLARE)
#undef DECLARE

#endif
