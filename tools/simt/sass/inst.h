// A decoded machine instruction of sm_90. The 128-bit encoding was derived from disassemblers'
// listings (table.h); NVIDIA publishes no manual of it.
#ifndef SASS_INST_H
#define SASS_INST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "simt/sass/opcodes.h"
#include "simt/sass/words.h"

enum {
    SASS_BYTES = 16,    // size of an instruction
    SASS_RZ = 255,      // the register that reads as zero
    SASS_URZ = 63,      // the uniform register that reads as zero
    SASS_PT = 7,        // the predicate that is true
    SASS_OPERANDS = 8,  // at most, of one instruction
    SASS_MODIFIERS = 8, // at most, of one instruction
};

typedef struct {
    uint64_t low, high;
} SassWord;

// The `width` bits, at most 64, from bit `at` on.
static inline uint64_t sass_bits(SassWord word, uint32_t at, uint32_t width) {
    uint64_t value = at >= 64 ? word.high >> (at - 64) : word.low >> at;
    if (at < 64 && at + width > 64) value |= word.high << (64 - at);
    return width < 64 ? value & ((1ull << width) - 1) : value;
}

typedef enum {
    SASS_REG,        // R0..R254, RZ
    SASS_UREG,       // UR0..UR62, URZ
    SASS_PRED,       // P0..P6, PT
    SASS_UPRED,      // UP0..UP6, UPT
    SASS_INT,        // value, of 32 bits
    SASS_UINT,       // the same, without sign
    SASS_SINGLE,     // value, the bits of an f32
    SASS_DOUBLE,     // value, the upper half of an f64's bits
    SASS_HALVES,     // value, two f16
    SASS_BRAINS,     // value, two bf16
    SASS_BANK,       // c[bank][value], or c[bank][reg + value], c[bank][ureg + value]
    SASS_GLOBAL,     // desc[ureg][reg.64 + value]
    SASS_WIDE,       // [reg + value], an address of 64 bits
    SASS_SHARED,     // [reg + ureg + value]: shared and local memory
    SASS_POLICY,     // desc[ureg], a policy of the L2 cache
    SASS_LABEL,      // value, an instruction's byte offset in the function
    SASS_SPECIAL,    // value, a SassSpecial
    SASS_BARRIER,    // B0..B15, at which lanes converge
    SASS_SCOREBOARD, // SB0..SB5
    SASS_PREDS,      // PR: all predicates
    SASS_UPREDS,     // UPR: all uniform predicates
} SassKind;

typedef struct {
    SassKind kind;
    uint8_t reg, ureg, bank;
    uint8_t half;  // SASS_HALF_*: what is read of a register of two f16
    uint8_t order; // SASS_BY_*: how a matrix is stored
    bool negated;  // a predicate: not; a number: minus
    bool inverted; // negation inverts the bits of an integer
    bool absolute;
    bool reused;
    bool written; // it is a result
    bool hidden;  // the text leaves it out
    bool indexed; // the address has an index register, perhaps RZ; in shared memory a uniform one
    bool joined;  // the text has no comma before it
    uint64_t value;
} SassOperand;

enum { SASS_HALF_BOTH, SASS_HALF_SINGLE, SASS_HALF_LOW, SASS_HALF_HIGH, SASS_HALF_UPPER };
enum { SASS_BY_NOTHING, SASS_BY_ROWS, SASS_BY_COLUMNS };

typedef struct SassRow SassRow;

typedef struct {
    const SassRow *row; // NULL: it could not be decoded
    SassOpcode op;
    SassWord word;
    SassWord read; // the bits to which the row gives a meaning
    uint64_t at;   // byte offset in its function
    uint8_t guard; // a predicate, or SASS_PT
    bool guard_negated, guard_uniform;
    uint32_t modifier_count, operand_count;
    SassModifier modifiers[SASS_MODIFIERS];
    SassOperand operands[SASS_OPERANDS];
    // For the scheduler: cycles before the next instruction, the scoreboards that are released when
    // the result is written and when the operands are read (7: none), and those that it waits for.
    uint8_t stall, write_barrier, read_barrier, wait_mask;
    bool yields;
} SassInst;

// Decodes one instruction. Returns false if the table does not know it; inst->op then is what its
// opcode bits say, or SASS_UNKNOWN.
bool sass_decode(SassWord word, uint64_t at, SassInst *inst);

bool sass_has(const SassInst *inst, SassModifier modifier);

static inline bool sass_is(const SassInst *inst, SassFlag flag) {
    return sass_opcodes[inst->op].flags & flag;
}

// Appends the instruction's text as disassemblers write it: guard, opcode with modifiers, operands.
// Labels are addresses.
void sass_write(const SassInst *inst, Buf *to);
// Appends only the opcode with its modifiers.
void sass_write_opcode(const SassInst *inst, Buf *to);
const char *sass_modifier_text(SassModifier modifier);

#endif
