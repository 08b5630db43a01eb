// PTX's opcodes and modifiers as enums. The parser converts the text of an opcode to them, and
// nothing compares that text afterwards. Lowering and the checker read the table of opcodes below.
//
// To add an instruction:
// 1. Write the Op that executes it, in the file of ops/ for its kind.
// 2. If its operands are only registers and constants, add a row {opcode with modifiers, Op,
//    classes of operands} at the end of that file; lower_arithmetic or lower_rounded finds it.
//    Otherwise declare the Op in ops/ops.h and write a function lower_OPCODE in lower/.
// 3. Add a row here for a new opcode, and add its new modifiers to PTX_MODIFIERS.
// 4. Test its values in tests/simt/vectors, and the forms that it refuses in tests/simt/core.
#ifndef PTX_OPCODE_H
#define PTX_OPCODE_H

#include "simt/ptx/type.h"

// X(name, text, lowering function, fields of PtxOpcodeRow). Only lower/ uses the function.
// clang-format off
#define PTX_OPCODES(X) \
    /* Arithmetic, by rows of ops/. lower_rounded: .rn is the default. */ \
    X(ADD, "add", lower_rounded, .pure = true, .cheap = true, .derives = DERIVES_SUM) \
    X(SUB, "sub", lower_rounded, .pure = true, .cheap = true, .derives = DERIVES_SUM) \
    X(MUL, "mul", lower_rounded, .pure = true, .cheap = true) \
    X(FMA, "fma", lower_rounded) \
    X(MAD, "mad", lower_rounded, .pure = true, .cheap = true, .derives = DERIVES_LAST) \
    X(DIV, "div", lower_rounded) \
    X(SQRT, "sqrt", lower_rounded) \
    X(RCP, "rcp", lower_rounded) \
    X(ADDC, "addc", lower_arithmetic) \
    X(SUBC, "subc", lower_arithmetic) \
    X(MADC, "madc", lower_arithmetic) \
    X(MUL24, "mul24", lower_arithmetic) \
    X(MAD24, "mad24", lower_arithmetic) \
    X(SAD, "sad", lower_arithmetic) \
    X(DP2A, "dp2a", lower_arithmetic) \
    X(DP4A, "dp4a", lower_arithmetic) \
    X(REM, "rem", lower_arithmetic) \
    X(ABS, "abs", lower_arithmetic) \
    X(NEG, "neg", lower_arithmetic, .pure = true, .cheap = true) \
    X(MIN, "min", lower_arithmetic) \
    X(MAX, "max", lower_arithmetic) \
    X(COPYSIGN, "copysign", lower_arithmetic) \
    X(TESTP, "testp", lower_arithmetic) \
    X(RSQRT, "rsqrt", lower_arithmetic) \
    X(SIN, "sin", lower_arithmetic) \
    X(COS, "cos", lower_arithmetic) \
    X(LG2, "lg2", lower_arithmetic) \
    X(EX2, "ex2", lower_arithmetic) \
    X(TANH, "tanh", lower_arithmetic) \
    /* Bits */ \
    X(AND, "and", lower_arithmetic, .pure = true, .cheap = true, .derives = DERIVES_SUM) \
    X(OR, "or", lower_arithmetic, .pure = true, .cheap = true, .derives = DERIVES_SUM) \
    X(XOR, "xor", lower_arithmetic, .pure = true, .cheap = true, .derives = DERIVES_SUM) \
    X(NOT, "not", lower_arithmetic, .pure = true, .cheap = true) \
    X(CNOT, "cnot", lower_arithmetic) \
    X(LOP3, "lop3", lower_arithmetic, .cheap = true) \
    X(SHL, "shl", lower_arithmetic, .pure = true, .cheap = true) \
    X(SHR, "shr", lower_arithmetic, .pure = true, .cheap = true) \
    X(SHF, "shf", lower_arithmetic) \
    X(POPC, "popc", lower_arithmetic) \
    X(CLZ, "clz", lower_arithmetic) \
    X(BREV, "brev", lower_arithmetic) \
    X(BFIND, "bfind", lower_arithmetic) \
    X(BFE, "bfe", lower_arithmetic) \
    X(BFI, "bfi", lower_arithmetic) \
    X(BMSK, "bmsk", lower_arithmetic) \
    X(SZEXT, "szext", lower_arithmetic) \
    X(FNS, "fns", lower_arithmetic) \
    X(PRMT, "prmt", lower_arithmetic) \
    X(VABSDIFF2, "vabsdiff2", lower_arithmetic) \
    X(VABSDIFF4, "vabsdiff4", lower_arithmetic) \
    /* Selection, comparison, moves, conversion */ \
    X(SELP, "selp", lower_arithmetic, .derives = DERIVES_EITHER) \
    X(SLCT, "slct", lower_slct) \
    X(SETP, "setp", lower_setp, .cheap = true) \
    X(SET, "set", lower_set) \
    X(MOV, "mov", lower_mov, .pure = true, .cheap = true, .derives = DERIVES_FIRST) \
    X(CVT, "cvt", lower_cvt, .pure = true, .cheap = true, .derives = DERIVES_FIRST) \
    X(CVTA, "cvta", lower_cvta, .pure = true, .derives = DERIVES_FIRST) \
    X(ISSPACEP, "isspacep", lower_isspacep) \
    /* Memory */ \
    X(LD, "ld", lower_ld, .hints = memory_hints) \
    X(LDU, "ldu", lower_ld, .hints = memory_hints) \
    X(ST, "st", lower_st, .hints = memory_hints) \
    X(ATOM, "atom", lower_atom, .hints = memory_hints) \
    X(RED, "red", lower_red, .hints = memory_hints) \
    X(CP, "cp", lower_cp) \
    X(MBARRIER, "mbarrier", lower_mbarrier, .hints = mbarrier_hints) \
    X(CREATEPOLICY, "createpolicy", lower_createpolicy) \
    X(PREFETCH, "prefetch", lower_nothing) \
    X(PREFETCHU, "prefetchu", lower_nothing) \
    X(DISCARD, "discard", lower_nothing) \
    X(APPLYPRIORITY, "applypriority", lower_nothing) \
    X(MEMBAR, "membar", lower_fence) \
    X(FENCE, "fence", lower_fence) \
    /* Warp-wide instructions, barriers, clusters */ \
    X(SHFL, "shfl", lower_shfl, .waits = true, .hints = shuffle_hints) \
    X(VOTE, "vote", lower_vote, .waits = true) \
    X(MATCH, "match", lower_match, .waits = true) \
    X(REDUX, "redux", lower_redux, .waits = true) \
    X(ELECT, "elect", lower_elect, .waits = true) \
    X(BAR, "bar", lower_bar, .reads_first = true, .waits = true, .hints = barrier_hints) \
    X(BARRIER, "barrier", lower_bar, .reads_first = true, .waits = true, .hints = barrier_hints) \
    X(ACTIVEMASK, "activemask", lower_activemask) \
    X(MAPA, "mapa", lower_mapa) \
    X(GETCTARANK, "getctarank", lower_getctarank) \
    /* Matrices */ \
    X(WMMA, "wmma", lower_wmma, .waits = true, .lacks = "product of matrices of this form") \
    X(MMA, "mma", lower_mma, .waits = true, .lacks = "product of matrices of this form") \
    X(LDMATRIX, "ldmatrix", lower_ldmatrix, .waits = true) \
    X(STMATRIX, "stmatrix", lower_stmatrix, .waits = true) \
    X(MOVMATRIX, "movmatrix", lower_movmatrix, .waits = true) \
    /* Control flow */ \
    X(BRA, "bra", lower_bra, .flow = FLOW_BRANCH, .hints = branch_hints) \
    X(BRX, "brx", lower_brx, .reads_first = true, .flow = FLOW_TABLE, .waits = true, \
      .hints = branch_hints) \
    X(CALL, "call", lower_call, .reads_first = true, .flow = FLOW_CALL, .waits = true, \
      .hints = branch_hints) \
    X(RET, "ret", lower_ret, .flow = FLOW_RETURN, .hints = branch_hints) \
    X(EXIT, "exit", lower_exit, .flow = FLOW_EXIT, .hints = branch_hints) \
    X(TRAP, "trap", lower_trap, .flow = FLOW_TRAP) \
    X(BRKPT, "brkpt", lower_trap) \
    X(NANOSLEEP, "nanosleep", lower_nanosleep, .reads_first = true) \
    X(GRIDDEPCONTROL, "griddepcontrol", lower_griddepcontrol) \
    /* Without effect: there is no profiler, and registers are not limited. */ \
    X(PMEVENT, "pmevent", lower_nothing) \
    X(SETMAXNREG, "setmaxnreg", lower_nothing) \
    /* Unsupported; the message names the feature. */ \
    X(TEX, "tex", lower_unknown, .lacks = "textures") \
    X(TLD4, "tld4", lower_unknown, .lacks = "textures") \
    X(TXQ, "txq", lower_unknown, .lacks = "textures") \
    X(SULD, "suld", lower_unknown, .lacks = "surfaces") \
    X(SUST, "sust", lower_unknown, .lacks = "surfaces") \
    X(SURED, "sured", lower_unknown, .lacks = "surfaces") \
    X(SUQ, "suq", lower_unknown, .lacks = "surfaces") \
    X(WGMMA, "wgmma", lower_unknown, .lacks = "matrix instructions of warp groups") \
    X(TCGEN05, "tcgen05", lower_unknown, .lacks = "tensor memory") \
    /* Not PTX: lowering adds these for .ftz and .sat. */ \
    X(FLUSH, "flush", lower_unknown) \
    X(SATURATE, "saturate", lower_unknown)
// clang-format on

typedef enum {
    OPCODE_NONE, // an unknown opcode, or machine code
#define X(name, ...) OPCODE_##name,
    PTX_OPCODES(X)
#undef X
        OPCODES
} PtxOpcode;

// Modifiers that are not types: X(name, text).
// clang-format off
#define PTX_MODIFIERS(X) \
    X(A, "a") X(ABS, "abs") X(ACQ_REL, "acq_rel") X(ACQUIRE, "acquire") X(ADD, "add") \
    X(ALIGNED, "aligned") X(ALL, "all") X(AND, "and") X(ANY, "any") X(APPROX, "approx") \
    X(ARRIVE, "arrive") X(ARRIVE_DROP, "arrive_drop") X(ASYNC, "async") \
    X(ASYNC_GENERIC, "async::generic") X(B, "b") X(B4E, "b4e") X(BALLOT, "ballot") \
    X(BFLY, "bfly") X(BULK, "bulk") X(BULK_GROUP, "bulk_group") X(C, "c") X(CA, "ca") \
    X(CAS, "cas") X(CC, "cc") X(CG, "cg") X(CLAMP, "clamp") X(CLUSTER, "cluster") X(COL, "col") \
    X(COMMIT_GROUP, "commit_group") X(COMPLETE_TX, "complete_tx") X(CONST, "const") X(CS, "cs") \
    X(CTA, "cta") X(CV, "cv") X(CVT, "cvt") X(D, "d") X(DEC, "dec") X(DOWN, "down") \
    X(E4M3, "e4m3") X(E5M2, "e5m2") X(ECL, "ecl") X(ECR, "ecr") X(EQ, "eq") X(EQU, "equ") \
    X(EXCH, "exch") X(EXPECT_TX, "expect_tx") X(F4E, "f4e") X(FINITE, "finite") \
    X(FRACTIONAL, "fractional") X(FTZ, "ftz") X(FULL, "full") X(GE, "ge") X(GEU, "geu") \
    X(GL, "gl") X(GLOBAL, "global") X(GPU, "gpu") X(GT, "gt") X(GTU, "gtu") X(HI, "hi") \
    X(HS, "hs") X(IDX, "idx") X(INC, "inc") X(INFINITE, "infinite") X(INIT, "init") \
    X(INVAL, "inval") X(L, "l") X(L2, "L2") X(L2_64B, "L2::64B") \
    X(L2_128B, "L2::128B") X(L2_256B, "L2::256B") X(L2_CACHE_HINT, "L2::cache_hint") \
    X(LAUNCH_DEPENDENTS, "launch_dependents") X(LE, "le") X(LEU, "leu") X(LO, "lo") \
    X(LOAD, "load") X(LOCAL, "local") X(LS, "ls") X(LT, "lt") X(LTU, "ltu") X(LU, "lu") \
    X(M16N16K16, "m16n16k16") X(M16N16K8, "m16n16k8") X(M16N8K16, "m16n8k16") \
    X(M16N8K32, "m16n8k32") X(M16N8K4, "m16n8k4") X(M16N8K8, "m16n8k8") X(M32N8K16, "m32n8k16") \
    X(M8N32K16, "m8n32k16") X(M8N8, "m8n8") X(M8N8K16, "m8n8k16") X(M8N8K4, "m8n8k4") \
    X(MAX, "max") X(MBARRIER, "mbarrier") \
    X(MBARRIER_COMPLETE_TX_BYTES, "mbarrier::complete_tx::bytes") \
    X(MBARRIER_INIT, "mbarrier_init") X(MIN, "min") X(MMA, "mma") X(MMIO, "mmio") \
    X(MULTICAST_CLUSTER, "multicast::cluster") X(QUIET_NAN, "NaN") X(UNORDERED, "nan") \
    X(NC, "nc") X(NE, "ne") X(NEU, "neu") X(NOCOMPLETE, "noComplete") X(NOFTZ, "noftz") \
    X(NOINC, "noinc") X(NORMAL, "normal") X(NOTANUMBER, "notanumber") X(NUM, "num") \
    X(NUMBER, "number") X(OR, "or") X(PARAM, "param") X(PARAM_ENTRY, "param::entry") \
    X(PARAM_FUNC, "param::func") X(PARITY, "parity") X(PENDING_COUNT, "pending_count") \
    X(POPC, "popc") X(PREFETCH, "prefetch") X(PRODUCT, "product") X(PROXY, "proxy") X(R, "r") \
    X(RANGE, "range") X(RC16, "rc16") X(RC8, "rc8") X(READ, "read") X(RED, "red") \
    X(REDUCE, "reduce") X(RELAXED, "relaxed") X(RELEASE, "release") X(RELU, "relu") X(RM, "rm") \
    X(RMI, "rmi") X(RN, "rn") X(RNA, "rna") X(RNI, "rni") X(ROW, "row") X(RP, "rp") X(RPI, "rpi") \
    X(RZ, "rz") X(RZI, "rzi") X(S16X2, "s16x2") X(SAT, "sat") X(SATFINITE, "satfinite") \
    X(SHARED, "shared") X(SHARED_CLUSTER, "shared::cluster") X(SHARED_CTA, "shared::cta") \
    X(SHIFTAMT, "shiftamt") X(STORE, "store") X(SUBNORMAL, "subnormal") X(SYNC, "sync") \
    X(SYS, "sys") X(TENSOR, "tensor") X(TEST_WAIT, "test_wait") X(TF32, "tf32") X(TO, "to") \
    X(TRANS, "trans") X(TRY_WAIT, "try_wait") X(U16X2, "u16x2") X(UNI, "uni") \
    X(UNIFIED, "unified") X(UP, "up") X(V2, "v2") X(V4, "v4") X(VOLATILE, "volatile") \
    X(WAIT, "wait") X(WAIT_ALL, "wait_all") X(WAIT_GROUP, "wait_group") X(WARP, "warp") \
    X(WB, "wb") X(WEAK, "weak") X(WIDE, "wide") X(WRAP, "wrap") X(WT, "wt") X(X1, "x1") \
    X(X2, "x2") X(X4, "x4") X(XOR, "xor") X(XORSIGN, "xorsign")
// clang-format on

// The modifiers that are types come first, with the values of PtxType.
typedef enum {
    PTX_MOD_NONE,
#define X(name, ...) PTX_MOD_##name,
    PTX_TYPE_LIST(X) PTX_MODIFIERS(X)
#undef X
        PTX_MOD_CACHE_HINT, // any other L1::... or L2::...
    PTX_MOD_UNKNOWN,
    MODIFIERS
} PtxModifier;

// Where control goes after an instruction.
typedef enum {
    FLOW_ON, // to the next instruction
    FLOW_BRANCH,
    FLOW_TABLE,
    FLOW_RETURN, // in a kernel this is an exit
    FLOW_EXIT,
    FLOW_TRAP,
    FLOW_CALL
} OpcodeFlow;

// Which source the result points into the same variable as, if the result is an address.
typedef enum {
    DERIVES_NOTHING, // the result is not an address
    DERIVES_FIRST,   // the first source
    DERIVES_SUM,     // whichever source is an address
    DERIVES_LAST,    // the last source
    DERIVES_EITHER   // the first or the second source
} PtxDerives;

typedef struct {
    Str text;
    OpcodeFlow flow;
    PtxDerives derives;
    bool waits;       // it may wait or call a function, so a guard becomes a branch around it
    bool reads_first; // the first operand is a source, not the result
    bool pure;        // true only if equal operands give equal results
    bool cheap; // ptxas computes it for lanes that do not need it rather than branch around it
    const uint8_t *hints; // modifiers to ignore, each once, up to PTX_MOD_NONE; NULL: none
    const char *lacks;    // the feature that an unsupported form needs, or NULL
} PtxOpcodeRow;

extern const PtxOpcodeRow ptx_opcodes[OPCODES];

#define PTX_MODIFIER_LIMIT 15

// Splits the text of an opcode, such as "ld.global.nc.v4.f32", into its base and its modifiers.
// Returns OPCODE_NONE if the base is unknown or there are more modifiers than the limit.
PtxOpcode ptx_split_opcode(Str text, uint8_t modifiers[PTX_MODIFIER_LIMIT], uint8_t *count);

#endif
