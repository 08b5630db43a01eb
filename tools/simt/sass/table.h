// The encodings of machine code. Each row of table.c says which bits of an instruction are its
// opcode, its modifiers and its operands. Only decode.c uses the bits.
//
// Opcode. Bits 0 to 11. Arithmetic has an opcode of 9 bits (ALU in table.c); its bits 9 to 11 are
// the form, which says where the operands B and C come from:
//
//     form  B                   C                     form  B                  C
//     1     register at 32      register at 64        5     constant at 32     register at 64
//     2     register at 64      immediate at 32       6     uniform register   register at 64
//     3     register at 64      constant at 32              at 32
//     4     immediate at 32     register at 64        7     register at 64     uniform register
//                                                                              at 32
//
// A row without C takes its B from bit 32. Forms 4 to 6 exist only for rows that have B.
//
// Modifiers. SassFields, in the order of the text.
//
// Operands. A string: the operands in the order of the text, with one space between two. Its
// grammar, where [] is optional and {} may be repeated:
//
//     operands = [operand {" " operand}]
//     operand  = letter [bit ["." width]] {mark}
//     mark     = character [bit]
//
// The letter says what the operand is. `bit` is the lowest bit of the field that holds it; letters
// for which no bit is given here have a fixed place, or take the one in parentheses. Lowercase
// letters are operands of uniform instructions.
//
//     D  E     register, uniform register, at 16; it is written
//     A  a     register, uniform register, at 24
//     B  b     register, immediate, constant or uniform register, by the form; the register of b is
//     C  c     uniform. C and c likewise
//     R  U     register, uniform register, at the given bit
//     P  p     predicate, uniform predicate, at the given bit; it is written
//     Q  q     predicate, uniform predicate, at the given bit; it is read
//     F  f     all predicates, all uniform predicates as one word: PR, UPR
//     K        convergence barrier B0 to B15 (16)
//     T        scoreboard SB0 to SB5, at the given bit
//     L        label. With a bit: 58 bits from there, counted in bytes. Without: counted in
//              words, the upper part at 34 and, unless the row has a K, the lower 8 bits at 16
//     O        label, written as its distance from the next instruction
//     G        global memory: descriptor and register at 24; the descriptor's uniform register is
//              at the given bit, if bit 91 is set
//     N        the same address without a descriptor; its offset is at the given bit (40)
//     S        shared or local memory: register at 24, and the uniform register at the given bit if
//              bit 91 is set
//     M        memory whose address is in the uniform register at the given bit
//     Y  Z     shared memory and global memory of a copy, LDGSTS
//     H        L2 cache policy, in the uniform register at the given bit
//     W V w    constant of LDC and ULDC: indexed by a register, by a uniform register, not indexed
//     I        immediate without sign: bit and width
//     X        special register, at 72
//
// Marks after the letter; those that carry a bit say which bit decides:
//
//     -        may be negated. The bit is 72 for an operand at 24, 63 at 32, 75 at 64
//     |        may be taken without its sign: 73, 62, 74
//     nBIT     may be negated by BIT, and with | taken without its sign by the bit below BIT
//     !BIT     a predicate is negated if BIT is set
//     ~        if bit 74 is set, negation inverts the bits
//     i        negation always inverts the bits
//     f d h u  an immediate is an f32, the upper half of an f64, two f16, a number without sign
//     s        a register of two f16 says which half it reads: 73, 60, 81
//     xBIT     if BIT is set, the upper half of the register
//     r c      a matrix that is stored by rows, by columns
//     vBIT     if BIT is set, the predicate is a uniform one
//     %        the operand cache treats a B as a C: its reuse bit is C's
//
//     ?        left out of the text if it is PT, RZ or URZ
//     ^BIT     left out unless BIT is set
//     _BIT     left out if BIT is set
//     *        always left out
//     +        no comma before it
#ifndef SASS_TABLE_H
#define SASS_TABLE_H

#include <stdint.h>

#include "simt/sass/opcodes.h"
#include "simt/sass/words.h"

// Lists of modifiers, from which a field's value selects one.
// clang-format off
typedef enum {
    LIST_ICMP, LIST_FCMP, LIST_DCMP, LIST_BOOL, LIST_ROUND, LIST_INTEGRAL, LIST_SIZE,
    LIST_ORDER, LIST_EVICT, LIST_MUFU, LIST_BAR, LIST_BARRED, LIST_SHFL, LIST_VOTE, LIST_REDUX,
    LIST_BRA, LIST_SHF, LIST_PRMT, LIST_ATOM, LIST_ATOMTYPE, LIST_ATOMFLOAT, LIST_MEMBAR,
    LIST_SCOPE, LIST_FLOATS, LIST_SINGLE, LIST_FRND, LIST_INTS, LIST_VIMNMX, LIST_SATURATED,
    LIST_IDP, LIST_IDPINT, LIST_FMUL, LIST_HALFMATH, LIST_LTC, LIST_ARRIVED, LIST_ARRIVE,
    LIST_BULK, LIST_BULKTYPE, LIST_QSPC, LIST_HBOOL, LIST_HMMA, LIST_TENSOR, LIST_IMMA,
    LIST_DMMA, LIST_ROWS,
    SASS_LISTS
} SassListName;
// clang-format on

enum {
    SASS_LIST_ITEMS = 16, // values that a field can have, at most
    SASS_FIELDS = 7,      // fields of a row, including the end mark
};

// Indexed by list and by the field's value.
extern const SassModifier sass_lists[SASS_LISTS][SASS_LIST_ITEMS];

// The bits that say whether an instruction has a modifier.
typedef struct {
    enum {
        FIELD_END,
        FIELD_ALWAYS, // the opcode has `modifier`
        FIELD_SET,    // if the bit `at` is set
        FIELD_CLEAR,  // if it is not set
        FIELD_LIST,   // the modifier of `list` whose number is in `width` bits at `at`
        FIELD_IMAD,   // IMAD that only moves, adds or shifts is named for that
    } kind;
    SassModifier modifier;
    SassListName list;
    uint8_t at, width;
    uint8_t upper_at, upper_width; // of a list's number: the upper bits; width 0: none
} SassField;

typedef struct SassRow {
    uint16_t encoding; // the opcode's bits; with SASS_ARITHMETIC 9 of them
    SassOpcode op;
    SassField fields[SASS_FIELDS];
    const char *operands;
    // The value, in every instruction seen so far, of those bits of the upper half that no field,
    // operand or form uses, apart from bit 91.
    uint64_t rest;
} SassRow;

enum { SASS_ARITHMETIC = 0x1000 };

extern const SassRow sass_rows[];
extern const uint32_t sass_row_count;

#endif
