// From machine code to the executable form that PTX is lowered to as well: what the parts share.
// Registers lie in a warp's frame, 32 lanes each, uniform ones too: every lane has its own copy of
// what the hardware keeps once, and all that ran the same code have the same.
#ifndef SASS_LOWER_H
#define SASS_LOWER_H

#include "simt/exec/address.h"
#include "simt/lower/lower.h"
#include "simt/ops/sass.h"
#include "simt/sass/cubin.h"

// Lowers code->source, a function of the module. False on error, as lower_function().
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
    uint32_t registers[256], uniforms[64];   // their offsets in the frame, PTX_NONE until used
    uint32_t barriers[16];                   // B0, ...
    uint32_t predicates, uniform_predicates; // the first of seven
    uint32_t sinks[2];                       // what nobody reads: of 32 bits, predicates
    uint32_t found[2];                       // by BAR.RED: a count, a predicate
    SassTemps temps[REGISTER_64 + 1];        // by class, of the instruction being lowered
    size_t *place;                           // by instruction that begins a block: its first Inst
    const Inst **targets;                    // the same, when all have their place
    struct {
        size_t inst;
        uint32_t target;
    } * fixups; // branches and jumps
    size_t fixup_count, fixup_capacity;

    const SassInst *inst; // being lowered
    uint32_t taken;       // modifiers, a bit each
} SassLower;

// --- lower.c ---
_Noreturn void sass_refuse(SassLower *s, const char *why); // the instruction
bool sass_take(SassLower *s, const char *modifier);
// Takes the modifier that is in this list of table.c: its place there. None is: the place of what
// is not written, UINT32_MAX if the list has no such.
uint32_t sass_listed(SassLower *s, const char *list);
Str sass_next(SassLower *s); // the first modifier that was not taken; empty: there is none
Inst *sass_emit(SassLower *s, Op *run);
void sass_row(SassLower *s, const char *name, uint32_t d, uint32_t a, uint32_t b, uint32_t c);
void sass_jump(SassLower *s, uint64_t target); // of the instruction emitted last

// --- operand.c: offsets in the frame ---
uint32_t sass_temp(SassLower *s, RegisterClass class);
uint32_t sass_constant(SassLower *s, uint32_t value);
uint32_t sass_register(SassLower *s, uint32_t number); // RZ: zero
uint32_t sass_uniform(SassLower *s, uint32_t number);
uint32_t sass_barrier(SassLower *s, uint32_t number);
const PtxVariable *sass_bank_variable(const SassLower *s, uint32_t bank); // NULL: there is none
uint32_t sass_bank(SassLower *s, uint32_t bank, uint64_t at, RegisterClass class);
// What an operand reads, its sign applied: as an integer, as a float of 32 bits. `part`: 1 of the
// second register of a pair.
uint32_t sass_source(SassLower *s, uint32_t operand);
uint32_t sass_raw(SassLower *s, const SassOperand *operand, uint32_t part); // without sign
uint32_t sass_single(SassLower *s, uint32_t operand);
uint32_t sass_pair(SassLower *s, const SassOperand *operand); // joined, of 64 bits
uint32_t sass_double(SassLower *s, uint32_t operand);
// What an operand writes, part 1: the register behind it.
uint32_t sass_dest(SassLower *s, uint32_t operand, uint32_t part);
void sass_split(SassLower *s, uint32_t operand, uint32_t from); // 64 bits into a pair
uint32_t sass_compared(SassLower *s); // integer.c: where the result of a comparison goes
void sass_combine(SassLower *s, uint32_t result); // integer.c: a comparison with its fifth operand
const char *sass_float_compare(SassLower *s);     // float.c: "lt", ...
uint32_t sass_predicate(SassLower *s, uint32_t operand);  // that is read
uint32_t sass_wanted(SassLower *s, uint32_t operand);     // that is written; PTX_NONE: PT
uint32_t sass_guard(SassLower *s);                        // of an instruction that has one
bool sass_is_true(const SassLower *s, uint32_t operand);  // PT
bool sass_is_false(const SassLower *s, uint32_t operand); // !PT
bool sass_is_zero(const SassOperand *operand);

// memory.c: of shared memory
uint32_t sass_within_block(SassLower *s, uint32_t address);
InstMemory sass_shared(SassLower *s, uint32_t operand); // where it names 16 bytes
AtomicMode sass_operation(SassLower *s);                // .ADD and the like
void sass_take_hints(SassLower *s);                     // to caches
uint32_t sass_first_lane(SassLower *s); // control.c: a predicate, of one lane of those that are on

// --- opcode.c ---
typedef void SassLowering(SassLower *s);
typedef struct {
    const char *name;
    SassLowering *lower;
} SassOpcode;
const SassOpcode *sass_opcode(const char *name); // NULL: cannot be executed

SassLowering sass_lower_viadd, sass_lower_iadd3, sass_lower_imad, sass_lower_lea, sass_lower_lop3,
    sass_lower_shf, sass_lower_prmt, sass_lower_sel, sass_lower_mov, sass_lower_isetp,
    sass_lower_iminmax, sass_lower_minmax3, sass_lower_addminmax, sass_lower_iabs, sass_lower_popc,
    sass_lower_flo, sass_lower_brev, sass_lower_idp, sass_lower_absdiff, sass_lower_sgxt,
    sass_lower_absdiff4, sass_lower_bmsk, sass_lower_p2r, sass_lower_r2p, sass_lower_up2ur,
    sass_lower_plop3; // integer.c, bits.c
SassLowering sass_lower_fadd, sass_lower_ffma, sass_lower_fminmax, sass_lower_fsetp,
    sass_lower_fchk, sass_lower_mufu, sass_lower_dadd, sass_lower_dsetp; // float.c
SassLowering sass_lower_i2f, sass_lower_i2fp, sass_lower_f2i, sass_lower_f2f, sass_lower_frnd,
    sass_lower_i2i;                            // convert.c
SassLowering sass_lower_f2fp, sass_lower_f2ip; // narrow.c
SassLowering sass_lower_hmma, sass_lower_imma, sass_lower_dmma, sass_lower_ldsm, sass_lower_stsm,
    sass_lower_movm; // matrix.c
SassLowering sass_lower_hadd2, sass_lower_hmul2, sass_lower_hfma2, sass_lower_hminmax,
    sass_lower_hsetp2, sass_lower_hset2; // halves.c
SassLowering sass_lower_ldc, sass_lower_s2r, sass_lower_cs2r, sass_lower_r2ur, sass_lower_load,
    sass_lower_store, sass_lower_atom, sass_lower_membar, sass_lower_cctl, sass_lower_qspc,
    sass_lower_nothing; // memory.c
SassLowering sass_lower_bra, sass_lower_exit, sass_lower_bssy, sass_lower_bsync, sass_lower_break,
    sass_lower_bmov, sass_lower_lepc, sass_lower_yield, sass_lower_warpsync, sass_lower_call,
    sass_lower_ret, sass_lower_brx, sass_lower_trap, sass_lower_bar, sass_lower_b2r,
    sass_lower_shfl, sass_lower_vote, sass_lower_redux, sass_lower_match, sass_lower_elect,
    sass_lower_nanosleep, sass_lower_grid_release, sass_lower_grid_wait, sass_lower_cluster_arrive,
    sass_lower_cluster_wait; // control.c
SassLowering sass_lower_syncs, sass_lower_arrives, sass_lower_ublkcp, sass_lower_ublkred,
    sass_lower_stas, sass_lower_redas, sass_lower_fence, sass_lower_ldgsts, sass_lower_ldgdepbar,
    sass_lower_depbar,
    sass_lower_flush; // bulk.c

#endif
