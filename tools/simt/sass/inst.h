// One machine instruction of sm_90 as it is decoded: 128 bits, of which the opcode's row in table.c
// says what each means. Learned from listings; NVIDIA publishes no manual of the encoding.
#ifndef SASS_INST_H
#define SASS_INST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    SASS_BYTES = 16,    // of an instruction
    SASS_RZ = 255,      // the register that reads as zero
    SASS_URZ = 63,      // the same of uniform registers
    SASS_PT = 7,        // the predicate that is true
    SASS_OPERANDS = 8,  // at most, of one instruction
    SASS_MODIFIERS = 8, // likewise
};

typedef struct {
    uint64_t low, high;
} SassWord;

// `width` bits, at most 64, from bit `at` on.
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
    SASS_UINT,       // the same, written without sign
    SASS_SINGLE,     // value, the bits of an f32
    SASS_DOUBLE,     // value, the upper half of an f64's bits
    SASS_HALVES,     // value, two f16
    SASS_BRAINS,     // value, two bf16
    SASS_BANK,       // c[bank][value], or c[bank][reg + value], c[bank][ureg + value]
    SASS_GLOBAL,     // desc[ureg][reg.64 + value]
    SASS_WIDE,       // [reg + value], an address of 64 bits
    SASS_SHARED,     // [reg + ureg + value], and other memory with addresses of 32 bits
    SASS_POLICY,     // desc[ureg], of the L2 cache
    SASS_LABEL,      // value, the address of an instruction of the function
    SASS_SPECIAL,    // value, the number of a special register
    SASS_BARRIER,    // B0..B15: where lanes that split meet again
    SASS_SCOREBOARD, // SB0..SB5: what is under way
    SASS_WORD,       // text that belongs to the instruction: PR
} SassKind;

typedef struct {
    SassKind kind;
    uint8_t reg, ureg, bank;
    uint8_t half;  // of a register of two f16: SASS_HALF_*
    uint8_t order; // of a matrix: SASS_BY_*
    bool negated;  // of a predicate: not; of a number: minus
    bool inverted; // the bits of an integer, in the place of minus
    bool absolute;
    bool reused;
    bool written; // a result
    bool hidden;  // does not stand in the text
    bool indexed; // by a register too, perhaps RZ; of shared memory by a uniform one
    bool joined;  // no comma in front of it
    uint64_t value;
    const char *word;
} SassOperand;

enum { SASS_HALF_BOTH, SASS_HALF_SINGLE, SASS_HALF_LOW, SASS_HALF_HIGH, SASS_HALF_UPPER };
enum { SASS_BY_NOTHING, SASS_BY_ROWS, SASS_BY_COLUMNS };

typedef struct SassRow SassRow;

typedef struct {
    const SassRow *row;
    SassWord word;
    SassWord read; // the bits of it that the row gives a meaning
    uint64_t at;   // byte offset in its function
    const char *name;
    uint8_t guard; // a predicate, or SASS_PT
    bool guard_negated, guard_uniform;
    uint32_t modifier_count, operand_count;
    Str modifiers[SASS_MODIFIERS]; // "U32", without its dot
    SassOperand operands[SASS_OPERANDS];
    // What the compiler tells the scheduler: cycles before the next instruction, the scoreboards
    // that it sets when it has written and when it has read, those that it waits for.
    uint8_t stall, write_barrier, read_barrier, wait_mask;
    bool yields;
} SassInst;

// Decodes one instruction. False: it is not known; inst->name is that of its opcode, or NULL.
bool sass_decode(SassWord word, uint64_t at, SassInst *inst);

// Whether it has this modifier.
bool sass_has(const SassInst *inst, const char *modifier);

// Its text, as disassemblers write it: guard, opcode with modifiers, operands. Labels are
// addresses.
void sass_write(const SassInst *inst, Buf *to);
// Only the opcode with its modifiers.
void sass_write_opcode(const SassInst *inst, Buf *to);

#endif
