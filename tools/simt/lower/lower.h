// The state and the functions that the files of lower/ share. They lower PTX.
#ifndef LOWER_H
#define LOWER_H

#include "simt/emit/emit.h"
#include "simt/lower/flow.h"
#include "simt/lower/lowering.h"

// A reference to a node, which becomes an address after all nodes are emitted.
typedef struct {
    enum { FIXUP_BRANCH, FIXUP_TABLE, FIXUP_CALL } kind;
    size_t inst;          // index in Lower.insts
    uint32_t target;      // node, of a branch or jump
    const FlowNode *from; // the node at whose end lanes may split, or NULL
    uint32_t *table;      // nodes, of a table branch
} Fixup;

// The state for lowering PTX, besides struct Lower.
struct PtxLower {
    Fixup *fixups;
    size_t fixup_count, fixup_capacity;
    uint32_t *offset; // by register: its offset in the frame, PTX_NONE if it has none
    uint32_t *uses;   // by register: how often the function names it
    size_t callee_capacity;
    uint32_t param_area, result_area, scratch_area, param_stride, result_stride, scratch_stride;

    FlowNode *nodes;
    uint32_t node_count;
    uint32_t *node_of; // by PTX instruction that starts a node
    uint32_t node;     // the node being emitted

    uint32_t taken; // a bit for each modifier of the current instruction that was taken
};

// Fails because the instruction or a modifier of it is not supported.
_Noreturn void lower_unknown(Lower *lower);

// Whether an access orders others, not only itself.
static inline bool lower_orders(uint32_t order) { return order & (ORDER_ACQUIRE | ORDER_RELEASE); }

void lower_fix(Lower *lower, Fixup fixup); // branch.c: for the last emitted instruction

// --- operand.c ---
uint32_t lower_register(Lower *lower, uint32_t reg); // its offset in the frame
// The class of a register operand, REGISTER_NONE for other operands.
RegisterClass lower_class(const Lower *lower, const PtxOperand *operand);
// The frame offset of an operand that is read or written.
uint32_t lower_source(Lower *lower, const PtxOperand *operand, RegisterClass class);
uint32_t lower_dest(Lower *lower, const PtxOperand *operand, RegisterClass class);
// The same as lower_dest, but PTX_NONE for `_`.
uint32_t lower_wanted(Lower *lower, const PtxOperand *operand, RegisterClass class);
// The offset of the predicate of `%r1|%p1`, PTX_NONE if there is none.
uint32_t lower_second_dest(Lower *lower, const PtxOperand *operand);

// --- places.c ---
void lower_registers(Lower *lower); // sets lower->ptx->offset; call lower_nodes first

// --- modifier.c ---
// One of several modifiers that exclude each other. A list of them ends with PTX_MOD_NONE.
typedef struct {
    PtxModifier modifier;
    uint32_t value;
} Choice;

// These take modifiers that were not taken yet. If there is none, those that return a bool return
// false, and the others fail.
bool lower_take(Lower *lower, PtxModifier modifier);
void lower_take_hints(Lower *lower, const uint8_t *hints); // a list up to PTX_MOD_NONE, or NULL
bool lower_take_choice(Lower *lower, const Choice *choices, uint32_t *value);
uint32_t lower_choice(Lower *lower, const Choice *choices); // by the order of the choices
uint32_t lower_next(Lower *lower, const Choice *choices);   // by the order in the instruction
PtxType lower_take_type(Lower *lower);                      // the first type
void lower_all_taken(Lower *lower);                         // fails if any is left
PtxType lower_first_type(const Lower *lower); // does not take it; PTX_NOTYPE if there is none
uint32_t lower_left(const Lower *lower, uint8_t left[PTX_MODIFIER_LIMIT]); // returns their number
const Row *lower_row(const Lower *lower); // of the opcode with the modifiers left, or NULL
void lower_operands(Lower *lower, uint32_t least, uint32_t most); // checks their number

// --- arithmetic.c ---
// Emits the row of an opcode with a type as its only modifier.
void lower_emit_typed(Lower *lower, PtxOpcode opcode, PtxType type, const uint32_t *operands);
// Emits the instruction with this row. `flush` has a bit for each operand whose subnormal f32
// numbers count as zero; bit 0 is the result's. Returns the result's offset.
uint32_t lower_by_row(Lower *lower, const Row *row, uint32_t flush);

// --- memory.c ---
// The modifiers of a memory access.
typedef struct {
    PtxSpace space;
    uint8_t order; // ORDER_*, 0 if weak
    Scope scope;   // SCOPE_DEVICE by default
    uint8_t elements;
    PtxType type;
} MemoryForm;
Scope lower_take_scope(Lower *lower);
MemoryForm lower_take_form(Lower *lower); // all but the type
InstMemory lower_memory(Lower *lower, const PtxOperand *operand, const MemoryForm *form);

// --- origin.c ---
void lower_origins(Lower *lower); // sets lower->code->origins

// --- spin_reads.c ---
void lower_spin_reads(Lower *lower); // sets `use` of the reads of lower->code's instructions

// --- uniform.c ---
// Whether an operand is known to be the same in all lanes: computed from constants, parameters and
// block indices in registers that are written once.
bool lower_is_uniform(const Lower *lower, const PtxOperand *operand);

// --- blocks.c ---
void lower_nodes(Lower *lower);                 // builds lower->ptx->nodes
const FlowNode *lower_node(const Lower *lower); // the current node
uint32_t lower_branch_target(Lower *lower, const PtxInst *inst);
const PtxTargets *lower_branch_table(Lower *lower, const PtxInst *inst);

// --- the lowering functions that the table in ptx/opcode.h names ---
void lower_arithmetic(Lower *lower); // arithmetic.c
void lower_rounded(Lower *lower);
void lower_slct(Lower *lower);
void lower_setp(Lower *lower); // compare.c
void lower_set(Lower *lower);
void lower_mov(Lower *lower); // move.c
void lower_cvta(Lower *lower);
void lower_createpolicy(Lower *lower);
void lower_isspacep(Lower *lower);
void lower_cvt(Lower *lower); // convert.c
void lower_ld(Lower *lower);  // memory.c
void lower_st(Lower *lower);
void lower_atom(Lower *lower); // atomic.c
void lower_red(Lower *lower);
void lower_cp(Lower *lower);                 // async.c
void lower_bulk(Lower *lower, bool reduces); // bulk.c
void lower_store_async(Lower *lower, bool reduces);
void lower_mbarrier(Lower *lower);
void lower_shfl(Lower *lower); // sync.c
void lower_vote(Lower *lower);
void lower_match(Lower *lower);
void lower_redux(Lower *lower);
void lower_elect(Lower *lower);
void lower_bar(Lower *lower);
void lower_mapa(Lower *lower);
void lower_getctarank(Lower *lower);
void lower_fence(Lower *lower);
void lower_griddepcontrol(Lower *lower);
void lower_activemask(Lower *lower);
void lower_bra(Lower *lower); // branch.c
void lower_brx(Lower *lower);
void lower_ret(Lower *lower);
void lower_exit(Lower *lower);
void lower_trap(Lower *lower);
void lower_nanosleep(Lower *lower);
void lower_nothing(Lower *lower);
void lower_call(Lower *lower); // call.c
void lower_wmma(Lower *lower); // matrix.c
void lower_mma(Lower *lower);
void lower_ldmatrix(Lower *lower);
void lower_stmatrix(Lower *lower);
void lower_movmatrix(Lower *lower);

#endif
