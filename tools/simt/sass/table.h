// The opcodes of sm_90 and how they are encoded, a row each.
#ifndef SASS_TABLE_H
#define SASS_TABLE_H

#include <stdint.h>

// An opcode is bits 0 to 11; of arithmetic, bits 9 to 11 are the form, which says where the
// operands B and C come from:
//
//     1  B register at 32   C register at 64      5  B constant at 32   C register at 64
//     4  B immediate at 32  C register at 64      6  B uniform at 32    C register at 64
//     2  B register at 64   C immediate at 32     3  B register at 64   C constant at 32
//     7  B register at 64   C uniform at 32
//
// `modifiers`, in the order of the text: ".X@74" is set by bit 74, ".U32@!73" by its absence,
// "compare@76.3" is one of a list, by three bits, "ints@74.1+84.2" by the lower one and two above
// it.
//
// `operands`, in the order of the text. A letter, then perhaps a place, then marks:
//
//     D E        register and uniform register that are written, at 16; D40: at 40
//     A a        register and uniform register at 24
//     B C        of arithmetic, see above; b c: the same of uniform instructions
//     R32 U32    register, uniform register at that bit
//     P81 p81    predicate, uniform predicate that is written
//     Q87!90     predicate that is read, its negation; q87!90
//     K K24      B register, at 16; at that bit
//     T44        scoreboard
//     L          label; O: the same as a distance from the next instruction; L24: at that bit
//     G32 G64    global memory, its uniform register there
//     N N32:     the same without a descriptor, its offset at that bit
//     S32 S64    shared memory
//     Y Z        shared memory and global memory of a copy from there to here
//     M32        memory whose address is in that uniform register
//     H40^76     the policy of the L2 cache, in that uniform register
//     W w V      constant, of LDC and ULDC; w has no register, that of V is uniform
//     I20.8      unsigned immediate: place and width; J: signed
//     X          special register
//     =PR        text
//
//     -  |       may be negated, taken without sign: bits 72, 73 of A, 63, 62 of what is at 32, 75,
//                74 of what is at 64
//     ~          negation is of bits where bit 74 is set
//     i          negation is of bits
//     n84        may be negated, by that bit; taken without sign by the one below
//     f d h      an immediate is of f32, the upper half of f64, two f16
//     s          a register of two f16 says which of them
//     u          an immediate has no sign
//     x88        if that bit is set, the upper half of it
//     r c        a matrix that lies by rows, by columns
//     v67        a uniform predicate if that bit is set
//     ?          left out if it is PT, RZ, URZ
//     +          no comma in front of it
//     %          is read where others read C, so its reuse is C's
//     ^74 _74    left out unless bit 74 is set, or if it is
//     *          left out, but there
typedef struct SassRow {
    uint16_t opcode;
    const char *name, *modifiers, *operands;
    uint64_t rest; // the upper half's bits that nothing above reads, as they always are; but 91
} SassRow;

enum { SASS_ARITHMETIC = 0x1000 }; // with an opcode of 9 bits: see forms above

extern const SassRow sass_rows[];
extern const uint32_t sass_row_count;

// A list of modifiers: those of values 0, 1, ...; an empty one is not written.
typedef struct {
    const char *name;
    const char *const *items;
    uint32_t count;
} SassList;
extern const SassList sass_lists[];
extern const uint32_t sass_list_count;

// The name of a special register; NULL: not known.
const char *sass_special(uint32_t number);

#endif
