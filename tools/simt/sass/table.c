// See table.h.
#include "simt/sass/table.h"

#include <stddef.h>

#define ITEMS(...)                                                                                 \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

const SassList sass_lists[] = {
    {"icmp", ITEMS("F", "LT", "EQ", "LE", "GT", "NE", "GE", "T")},
    {"fcmp", ITEMS("F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU",
                   "GTU", "NEU", "GEU", "T")},
    {"dcmp", ITEMS("MIN", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU",
                   "GTU", "NEU", "GEU", "MAX")},
    {"bool", ITEMS("AND", "OR", "XOR")},
    {"round", ITEMS("", "RM", "RP", "RZ")},
    {"integral", ITEMS("", "FLOOR", "CEIL", "TRUNC")},
    {"size", ITEMS("U8", "S8", "U16", "S16", "", "64", "128", "U.128")},
    {"order",
     ITEMS("", "", "", "", "CONSTANT", "STRONG.SM", "", "STRONG.GPU", "", "", "STRONG.SYS")},
    {"evict", ITEMS("EF", "", "EL", "LU", "EU", "NA")},
    {"mufu", ITEMS("COS", "SIN", "EX2", "LG2", "RCP", "RSQ", "RCP64H", "RSQ64H", "SQRT", "TANH")},
    {"bar", ITEMS("SYNC", "ARV")},
    {"shfl", ITEMS("IDX", "UP", "DOWN", "BFLY")},
    {"vote", ITEMS("ALL", "ANY", "EQ")},
    {"redux", ITEMS("", "OR", "XOR", "SUM", "MIN", "MAX")},
    {"bra", ITEMS("", "U", "DIV", "CONV")},
    {"shf", ITEMS("S64", "U64", "S32", "U32")},
    {"prmt", ITEMS("", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16")},
    {"atom", ITEMS("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH")},
    {"atomtype", ITEMS("", "S32", "64")},
    {"atomfloat", ITEMS(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "F32.FTZ.RN")},
    {"membar", ITEMS("SC", "ALL")},
    {"scope", ITEMS("CTA", "SM", "GPU", "SYS")},
    {"floats", ITEMS("", "F16", "F32", "F64")},
    {"i2fto", ITEMS("", "F16", "", "F64")},
    {"f2ifrom", ITEMS("", "F16", "", "F64")},
    {"ints", ITEMS("U8", "S8", "U16", "S16", "U32", "", "U64", "S64")},
};
const uint32_t sass_list_count = sizeof sass_lists / sizeof *sass_lists;

#define ALU(opcode) (SASS_ARITHMETIC | (opcode))

const SassRow sass_rows[] = {
    // integers
    {ALU(0x010), "IADD3", ".X@74", "D P81? P84? A-~ B-~ C-~ Q87!90^74 Q77!80^74", 0x0},
    {ALU(0x024), "IMAD", ".X@74 imad .U32@!73", "D P81? A B C-~ Q87!90^74", 0x0},
    {ALU(0x025), "IMAD", ".WIDE .U32@!73 .X@74", "D P81? A B C-~ Q87!90^74", 0x0},
    {ALU(0x027), "IMAD", ".HI .U32@!73 .X@74", "D P81? A B C-~ Q87!90^74", 0x0},
    {ALU(0x036), "VIADD", "", "D A- Bu-", 0x0},
    {ALU(0x048), "VIMNMX", ".U32@!72", "D A B Q87!90", 0x7e0000},
    {ALU(0x00f), "VIMNMX3", ".U32@!72", "D A B C Q87!90", 0x0},
    {ALU(0x046), "VIADDMNMX", ".U32@!72", "D A Bu- Cu Q87!90", 0x0},
    {ALU(0x011), "LEA", ".HI@80 .X@74 .SX32@73", "D P81? A-~ Bu-~ C^80_73 I75.5 Q87!90^74", 0x0},
    {ALU(0x012), "LOP3", ".LUT", "P81? D A Bu Cu I72.8 Q87!90", 0x0},
    {ALU(0x019), "SHF", ".L@!76 .R@76 .W@75 shf@73.2 .HI@80", "D A B C", 0x0},
    {ALU(0x016), "PRMT", "prmt@72.3", "D A B C", 0x0},
    {ALU(0x007), "SEL", "", "D A Bu Q87!90", 0x0},
    {ALU(0x002), "MOV", "", "D Bu", 0xf00},
    {ALU(0x00c), "ISETP", "icmp@76.3 .U32@!73 bool@74.2 .EX@72", "P81 P84 A B Q87!90 Q68!71^72",
     0x0},
    {ALU(0x013), "IABS", "", "D B-|", 0x0},
    {ALU(0x109), "POPC", "", "D B", 0x0},
    {ALU(0x100), "FLO", ".U32@!73 .SH@74", "D B", 0xe0000},
    {ALU(0x101), "BREV", "", "D B", 0x0},
    {0x803, "P2R", "", "D =PR A B", 0x0},
    {0x804, "R2P", "", "=PR A B", 0x0},
    {0x81c, "PLOP3", ".LUT", "P81 P84 Q87!90 Q77!80 Q68!71v67 I64.8 I16.8", 0x0},
    // floats
    {ALU(0x021), "FADD", ".FTZ@80 .SAT@77 round@78.2", "D A-| Bf-|%", 0x0},
    {ALU(0x020), "FMUL", ".FTZ@80 .SAT@77 round@78.2", "D A-| Bf-|", 0x400000},
    {ALU(0x023), "FFMA", ".FTZ@80 .SAT@77 round@78.2", "D A- Bf- Cf-", 0x0},
    {ALU(0x008), "FSEL", ".FTZ@80", "D A-| Bf-| Q87!90", 0x0},
    {ALU(0x009), "FMNMX", ".FTZ@80 .NAN@81", "D A-| Bf-| Q87!90", 0x0},
    {ALU(0x00b), "FSETP", "fcmp@76.4 .FTZ@80 bool@74.2", "P81 P84 A-| Bf-| Q87!90", 0x0},
    {ALU(0x102), "FCHK", "", "P81 A-| Bf-|", 0x0},
    {ALU(0x108), "MUFU", "mufu@74.4", "D Bf-|", 0x0},
    {ALU(0x029), "DADD", "round@78.2", "D A-| Cd-|", 0x0},
    {ALU(0x028), "DMUL", "round@78.2", "D A-| Bd-|", 0x0},
    {ALU(0x02b), "DFMA", "round@78.2", "D A- Bd- Cd-", 0x0},
    {ALU(0x02a), "DSETP", "dcmp@76.4 bool@74.2", "P81 P84 A-| Bd-|% Q87!90", 0x0},
    {ALU(0x030), "HADD2", ".F32@78 .BF16_V2@85 .FTZ@80 .SAT@77", "D A-|s Bh-|s%", 0x0},
    {0x435, "HFMA2", ".MMA", "D A-s Bh-s Ch-s", 0x0},
    {ALU(0x032), "HMUL2", ".BF16_V2@85 .FTZ@80 .SAT@77", "D A-|s Bh-|s", 0x0},
    // conversions
    {ALU(0x106), "I2F", "i2fto@75.2 .U32@!74 round@78.2", "D B-|", 0x200000},
    {ALU(0x045), "I2FP", ".F32 .U32@!74 .S32@74", "D B-|", 0x201000},
    {ALU(0x105), "F2I", ".FTZ@80 .U32@!72 f2ifrom@84.2 integral@78.2 .NTZ@77", "D Bf-|", 0x1000},
    {ALU(0x110), "F2F", ".FTZ@80 floats@75.2 floats@84.2 round@78.2", "D Bf-|", 0x0},
    // moves
    {0x919, "S2R", "", "D X", 0x0},
    {0x9c3, "S2UR", "", "E X", 0x0},
    {0x805, "CS2R", ".32@!80", "D X", 0x0},
    {0x2ca, "R2UR", "", "P81? E A", 0x0},
    {0xb82, "LDC", "size@73.3", "D W", 0x0},
    // uniform
    {0xab9, "ULDC", "size@73.3", "E w", 0x0},
    {ALU(0x082), "UMOV", "", "E bu", 0x0},
    {ALU(0x090), "UIADD3", ".X@74", "E p81? p84? a-~ b-~ c-~ q87!90^74 q77!80^74", 0x0},
    {ALU(0x0a4), "UIMAD", ".U32@!73", "E a b c-", 0x78e0000},
    {ALU(0x0a5), "UIMAD", ".WIDE .U32@!73", "E p81? a b c-", 0x7800000},
    {ALU(0x091), "ULEA", ".HI@80 .X@74 .SX32@73", "E p81? a-~ bu- c^80_73 I75.5 q87!90^74", 0x0},
    {ALU(0x092), "ULOP3", ".LUT", "p81? E a bu cu I72.8 q87!90", 0x0},
    {ALU(0x099), "USHF", ".L@!76 .R@76 .W@75 shf@73.2 .HI@80", "E a b c", 0x0},
    {ALU(0x087), "USEL", "", "E a bu q87!90", 0x0},
    {ALU(0x08c), "UISETP", "icmp@76.3 .U32@!73 bool@74.2 .EX@72", "p81 p84 a b q87!90 q68!71^72",
     0x0},
    {ALU(0x0bf), "UPOPC", "", "E b", 0x0},
    {ALU(0x0bd), "UFLO", ".U32@!73 .SH@74", "E b", 0xe0000},
    // what lanes do together
    {0xf89, "SHFL", "shfl@58.2", "P81 D A I53.5 I40.13", 0x0},
    {0x989, "SHFL", "shfl@58.2", "P81 D A I53.5 R64", 0x0},
    {0x589, "SHFL", "shfl@58.2", "P81 D A R32 I40.13", 0x0},
    {0x389, "SHFL", "shfl@58.2", "P81 D A R32 R64", 0x0},
    {0x806, "VOTE", "vote@72.2", "D? P81 Q87!90", 0x0},
    {0x886, "VOTEU", "vote@72.2", "E? p81 Q87!90", 0x0},
    {0x3c4, "REDUX", "redux@78.3 .S32@73", "E A", 0x0},
    {0x82f, "ELECT", "", "P81 E Q87!90", 0x0},
    {0x3a1, "MATCH", ".ALL@!79 .ANY@79 .U64@73", "P81? D A", 0x0},
    // memory
    {0x981, "LDG", ".E@72 evict@84.3 size@73.3 order@77.4", "D G32", 0x40e1000},
    {0x986, "STG", ".E@72 evict@84.3 size@73.3 order@77.4", "G64 R32", 0x4001000},
    {0x980, "LD", ".E@72 evict@84.3 size@73.3 order@77.4", "D G32", 0x4001000},
    {0x985, "ST", ".E@72 evict@84.3 size@73.3 order@77.4", "G64 R32", 0x4001000},
    {0x984, "LDS", "size@73.3", "D S32", 0x0},
    {0x388, "STS", "size@73.3", "S64 R32", 0x0},
    {0x988, "STS", "size@73.3", "S64 R32", 0x0},
    {0x983, "LDL", "evict@84.3 size@73.3", "D S32", 0x0},
    {0x387, "STL", "evict@84.3 size@73.3", "S64 R32", 0x0},
    {0x98a, "ATOM", ".E@72 atom@87.4 atomtype@73.4 order@77.4", "P81 D G64 R32", 0x1000c0},
    {0x9a8, "ATOMG", ".E@72 atom@87.4 atomtype@73.4 order@77.4", "P81 D G64 R32", 0x1000c0},
    {0x9a3, "ATOMG", ".E@72 atom@87.4 atomfloat@73.4 order@77.4", "P81 D G64 R32", 0x1000c0},
    {0x3a9, "ATOMG", ".E@72 .CAS atomtype@73.4 order@77.4", "P81 D N R32 R64", 0x100000},
    {0x98e, "REDG", ".E@72 atom@87.3 atomtype@73.4 order@77.4", "G64 R32", 0x4100080},
    {0x9a6, "REDG", ".E@72 atom@87.3 atomfloat@73.4 order@77.4", "G64 R32", 0x4100080},
    {0x38d, "ATOMS", ".CAS atomtype@73.3", "D S0 R32 R64", 0x0},
    {0x38c, "ATOMS", "atom@87.4 atomtype@73.3", "D S64 R32", 0x0},
    {0x992, "MEMBAR", "membar@79.1 scope@76.3", "", 0x0},
    {0x98f, "CCTL", ".IVALL", "A*", 0x2000000},
    {0x9ab, "ERRBAR", "", "", 0x0},
    {0x5ab, "CGAERRBAR", "", "", 0x0},
    {0x3c6, "FENCE", ".VIEW.ASYNC.S", "", 0x0},
    {0x9a7, "SYNCS", ".ARRIVE .TRANS64", "D S64 R32", 0x0},
    {0x5a7, "SYNCS", ".PHASECHK .TRANS64 .TRYWAIT", "P81 S64 R32", 0x140},
    {0x5b2, "SYNCS", ".EXCH .64", "E M24 U32", 0x100},
    {0x3ba, "UBLKCP", ".S .G", "M32 M24 U64", 0x200},
    // control
    {0x947, "BRA", "bra@32.2 .ANY@84", "U24^91 Q87!90?_91 L", 0x0},
    {0x944, "CALL", ".REL .NOINC@86", "L", 0x3800000},
    {0x950, "RET", ".REL .NODEC@86", "A L+", 0x3800000},
    {0x94d, "EXIT", "", "Q87!90?", 0x0},
    {0x945, "BSSY", "", "K L", 0x3800000},
    {0x941, "BSYNC", "", "Q87!90? K", 0x0},
    {0x942, "BREAK", "", "Q87!90? K", 0x0},
    {0x948, "WARPSYNC", ".COLLECTIVE@86 .ALL", "L^86", 0x3800000},
    {0x348, "WARPSYNC", ".COLLECTIVE@86", "A L^86", 0x3800000},
    {0x91b, "ENDCOLLECTIVE", "", "", 0x3800000},
    {0x946, "YIELD", "", "Q87!90?", 0x0},
    {0x918, "NOP", "", "", 0x0},
    {0x95c, "BPT", ".TRAP", "I34.3", 0x300000},
    {0x95d, "NANOSLEEP", "", "I32.32", 0x3800000},
    {0xb1d, "BAR", "bar@77.3 .DEFER_BLOCKING@80", "I54.4", 0x0},
    {0x51d, "BAR", "bar@77.3 .DEFER_BLOCKING@80", "R32 I42.12", 0x0},
    {0x31d, "BAR", "bar@77.3 .DEFER_BLOCKING@80", "R32 R32", 0x0},
    {0x82d, "PREEXIT", "", "", 0x0},
    {0x82e, "ACQBULK", "", "", 0x0},
    {0x9c7, "UCGABAR_ARV", "", "", 0x0},
    {0xdc7, "UCGABAR_WAIT", "", "", 0x0},
};
const uint32_t sass_row_count = sizeof sass_rows / sizeof *sass_rows;

static const struct {
    uint8_t number;
    const char *name;
} specials[] = {
    {0x00, "SR_LANEID"},  {0x20, "SR_TID"},      {0x21, "SR_TID.X"},   {0x22, "SR_TID.Y"},
    {0x23, "SR_TID.Z"},   {0x25, "SR_CTAID.X"},  {0x26, "SR_CTAID.Y"}, {0x27, "SR_CTAID.Z"},
    {0x28, "SR_NTID"},    {0x2f, "SR_SWINHI"},   {0x38, "SR_EQMASK"},  {0x39, "SR_LTMASK"},
    {0x3a, "SR_LEMASK"},  {0x3b, "SR_GTMASK"},   {0x3c, "SR_GEMASK"},  {0x50, "SR_CLOCKLO"},
    {0x51, "SR_CLOCKHI"}, {0x88, "SR_CgaCtaId"}, {0xff, "SRZ"},
};

const char *sass_special(uint32_t number) {
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++)
        if (specials[k].number == number) return specials[k].name;
    return NULL;
}
