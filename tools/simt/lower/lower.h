// What the parts of lowering share. Errors leave through lower->leave.
#ifndef LOWER_H
#define LOWER_H

#include <setjmp.h>

#include "simt/lower/flow.h"
#include "simt/ops/ops.h"

#define PARTS 20

typedef struct {
    Lowering *lowering;
    Arena *arena;
    Code *code;
    const PtxFunction *function;
    jmp_buf leave;

    Inst *insts; // target and rpc hold node numbers + 1 until all nodes have their place
    size_t count, capacity;
    uint32_t *offset; // of registers in the frame, PTX_NONE until used
    uint32_t *uses;   // how often a register is named in the function
    uint32_t frame;   // bytes so far
    uint32_t frame_predicates, predicates_left;
    size_t constant_capacity, callee_capacity;
    uint32_t param_area, result_area, scratch_area, param_stride, result_stride, scratch_stride;

    FlowNode *nodes;
    uint32_t node_count;
    uint32_t *node_of; // by PTX instruction that starts a node
    uint32_t node;     // being emitted

    const PtxInst *at; // being lowered
    Str part[PARTS];   // of its opcode
    bool used[PARTS];
    uint32_t parts;
} Lower;

_Noreturn void lower_fail(Lower *lower, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void lower_unknown(Lower *lower); // the instruction or a modifier of it

Inst *lower_emit(Lower *lower, Op *run);
uint32_t lower_slot(Lower *lower, SlotKind kind);
uint32_t lower_room(Lower *lower, uint32_t bytes); // in the frame, for all lanes
uint32_t lower_temp(Lower *lower, char letter);
uint32_t lower_constant(Lower *lower, char letter, uint64_t value);

// Frame offset of an operand that is read or written; letters as in OpRow.shape.
uint32_t lower_source(Lower *lower, const PtxOperand *operand, char letter);
uint32_t lower_dest(Lower *lower, const PtxOperand *operand, char letter);
uint32_t lower_register(Lower *lower, uint32_t reg);              // offset of a register
char lower_letter(const Lower *lower, const PtxOperand *operand); // of a register, 0: none
char lower_type_letter(PtxType type);
Op *lower_row(Str name, const char **shape); // NULL: none

// The opcode without the parts that were taken: the name of a row. 0: too long.
size_t lower_row_name(const Lower *lower, char name[128]);
// A copy of a register of f32 numbers with zeros for the subnormal ones (.ftz).
uint32_t lower_flushed(Lower *lower, char letter, uint32_t from); // letter: h f16, w f32

// The address operand of an access: r[0], imm and wide of its instruction.
typedef struct {
    uint32_t base;
    uint64_t offset;
    bool wide;
} Address;
Address lower_address(Lower *lower, const PtxOperand *operand, PtxSpace space);

// --- modifiers ---
bool lower_take(Lower *lower, const char *modifier);
PtxType lower_take_type(Lower *lower); // the first part that is a type
void lower_all_taken(Lower *lower);
void lower_operands(Lower *lower, uint32_t least, uint32_t most);

void lower_setp(Lower *lower);
void lower_set(Lower *lower);
void lower_plain(Lower *lower);          // arithmetic, by the tables
bool lower_move(Lower *lower, Str base); // these say whether the instruction is theirs
bool lower_memory(Lower *lower, Str base);
bool lower_sync(Lower *lower, Str base);
bool lower_async(Lower *lower, Str base);
void lower_terminator(Lower *lower, Str base); // bra, brx, ret, exit
bool lower_call(Lower *lower, Str base);
void lower_nodes(Lower *lower); // builds lower->nodes
bool lower_ends_block(Str base);

#endif
