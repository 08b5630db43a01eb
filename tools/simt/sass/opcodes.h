// The table of machine code's opcodes, and what each does. Lowering, the timing model and the
// census of opcodes (simt --opcodes) read it. table.c has the encodings.
#ifndef SASS_OPCODES_H
#define SASS_OPCODES_H

#include <stdint.h>

// One row for each opcode, grouped by the file that lowers it:
//
//     X(name, lowering function without its prefix, evidence, pipe, operation, flags)
//
// The evidence says how we know what the opcode means:
//
//     VECTORS  results of an H200 on interesting inputs: tests/simt/sass/vectors.txt
//     LABS     the labs that use it are right, and count what Nsight Compute counts on an H200
//     PTX      the PTX that it was compiled from defines it; most give the same results as PTX over
//              random inputs in tests/simt/sass/meanings.cu and bulks.cu
//
// Pipe and operation are a SassPipe and a SassAct; the flags are a sum of SassFlag.
// clang-format off
#define SASS_OPCODES(X) \
    /* integer.c */ \
    X(IADD3,         iadd3,          VECTORS, ALU,      NONE,    0) \
    X(UIADD3,        iadd3,          VECTORS, UNIFORM,  NONE,    SASS_UNIFORM) \
    X(UPRMT,         prmt,           PTX,     UNIFORM,  NONE,    SASS_UNIFORM) \
    X(VIADD,         viadd,          VECTORS, ALU,      NONE,    0) \
    X(IMAD,          imad,           VECTORS, IMAD,     NONE,    0) \
    X(UIMAD,         imad,           VECTORS, UNIFORM,  NONE,    SASS_UNIFORM) \
    X(LEA,           lea,            VECTORS, ALU,      NONE,    0) \
    X(ULEA,          lea,            VECTORS, UNIFORM,  NONE,    SASS_UNIFORM) \
    X(LOP3,          lop3,           VECTORS, ALU,      NONE,    0) \
    X(ULOP3,         lop3,           LABS,    UNIFORM,  NONE,    SASS_UNIFORM) \
    X(SHF,           shf,            VECTORS, ALU,      NONE,    0) \
    X(USHF,          shf,            LABS,    UNIFORM,  NONE,    SASS_UNIFORM) \
    X(PRMT,          prmt,           VECTORS, ALU,      NONE,    0) \
    X(SEL,           sel,            VECTORS, ALU,      NONE,    0) \
    X(USEL,          sel,            LABS,    UNIFORM,  NONE,    SASS_UNIFORM) \
    X(FSEL,          sel,            VECTORS, ALU,      NONE,    0) \
    X(MOV,           mov,            VECTORS, ALU,      NONE,    0) \
    X(UMOV,          mov,            VECTORS, UNIFORM,  NONE,    SASS_UNIFORM) \
    X(ISETP,         isetp,          VECTORS, ALU,      NONE,    0) \
    X(UISETP,        isetp,          LABS,    UNIFORM,  NONE,    SASS_UNIFORM) \
    /* bits.c */ \
    X(IDP,           idp,            VECTORS, IMAD,     NONE,    0) \
    X(VABSDIFF,      absdiff,        VECTORS, ALU,      NONE,    0) \
    X(VABSDIFF4,     absdiff4,       PTX,     ALU,      NONE,    0) \
    X(SGXT,          sgxt,           VECTORS, ALU,      NONE,    0) \
    X(USGXT,         sgxt,           PTX,     UNIFORM,  NONE,    SASS_UNIFORM) \
    X(BMSK,          bmsk,           VECTORS, ALU,      NONE,    0) \
    X(UBMSK,         bmsk,           PTX,     UNIFORM,  NONE,    SASS_UNIFORM) \
    X(UPLOP3,        plop3,          PTX,     UNIFORM,  NONE,    SASS_UNIFORM) \
    X(VIMNMX,        iminmax,        VECTORS, ALU,      NONE,    0) \
    X(VIMNMX3,       minmax3,        LABS,    ALU,      NONE,    0) \
    X(VIADDMNMX,     addminmax,      VECTORS, ALU,      NONE,    0) \
    X(IABS,          iabs,           VECTORS, ALU,      NONE,    0) \
    X(POPC,          popc,           VECTORS, XU,       NONE,    0) \
    X(UPOPC,         popc,           LABS,    UNIFORM,  NONE,    SASS_UNIFORM) \
    X(FLO,           flo,            VECTORS, XU,       NONE,    0) \
    X(UFLO,          flo,            LABS,    UNIFORM,  NONE,    SASS_UNIFORM) \
    X(BREV,          brev,           VECTORS, XU,       NONE,    0) \
    X(UBREV,         brev,           PTX,     UNIFORM,  NONE,    SASS_UNIFORM) \
    X(P2R,           p2r,            LABS,    ALU,      NONE,    0) \
    X(R2P,           r2p,            LABS,    ALU,      NONE,    0) \
    X(UP2UR,         up2ur,          LABS,    UNIFORM,  NONE,    SASS_UNIFORM) \
    X(PLOP3,         plop3,          VECTORS, ALU,      NONE,    0) \
    X(FMNMX,         fminmax,        VECTORS, ALU,      NONE,    0) \
    /* float.c */ \
    X(FADD,          fadd,           VECTORS, FMA,      NONE,    0) \
    X(FMUL,          fadd,           VECTORS, FMA,      NONE,    0) \
    X(FFMA,          ffma,           VECTORS, FMA,      NONE,    0) \
    X(FSETP,         fsetp,          VECTORS, ALU,      NONE,    0) \
    X(FCHK,          fchk,           VECTORS, ALU,      NONE,    0) \
    X(MUFU,          mufu,           VECTORS, XU,       NONE,    0) \
    X(DADD,          dadd,           VECTORS, FP64,     NONE,    0) \
    X(DMUL,          dadd,           VECTORS, FP64,     NONE,    0) \
    X(DFMA,          dadd,           VECTORS, FP64,     NONE,    0) \
    X(DSETP,         dsetp,          VECTORS, FP64,     NONE,    0) \
    /* halves.c */ \
    X(HADD2,         hadd2,          VECTORS, HALF,     NONE,    0) \
    X(HFMA2,         hfma2,          VECTORS, HALF,     NONE,    0) \
    X(HMUL2,         hmul2,          VECTORS, HALF,     NONE,    0) \
    X(HMNMX2,        hminmax,        VECTORS, ALU,      NONE,    0) \
    X(HSETP2,        hsetp2,         VECTORS, ALU,      NONE,    0) \
    X(HSET2,         hset2,          VECTORS, ALU,      NONE,    0) \
    /* convert.c */ \
    X(I2F,           i2f,            VECTORS, XU,       NONE,    0) \
    X(I2FP,          i2fp,           VECTORS, ALU,      NONE,    0) \
    X(F2I,           f2i,            VECTORS, XU,       NONE,    0) \
    X(F2F,           f2f,            VECTORS, CONVERT,  NONE,    0) \
    X(FRND,          frnd,           VECTORS, XU,       NONE,    0) \
    X(I2I,           i2i,            VECTORS, ALU,      NONE,    0) \
    /* narrow.c */ \
    X(F2FP,          f2fp,           VECTORS, ALU,      NONE,    0) \
    X(F2IP,          f2ip,           VECTORS, ALU,      NONE,    0) \
    /* matrix.c */ \
    X(HMMA,          hmma,           VECTORS, MATRIX,   NONE,    SASS_UNMEASURED) \
    X(IMMA,          imma,           VECTORS, MATRIX,   NONE,    SASS_UNMEASURED) \
    X(DMMA,          dmma,           VECTORS, MATRIX,   NONE,    SASS_UNMEASURED) \
    X(LDSM,          ldsm,           VECTORS, SHARED,   NONE,    0) \
    X(STSM,          stsm,           VECTORS, SHARED,   STORE,   0) \
    X(MOVM,          movm,           VECTORS, ALU,      NONE,    0) \
    /* memory.c */ \
    X(LDC,           ldc,            VECTORS, CONSTANT, NONE,    0) \
    X(ULDC,          ldc,            VECTORS, UNIFORM,  NONE,    SASS_UNIFORM) \
    X(S2R,           s2r,            VECTORS, SPECIAL,  NONE,    0) \
    X(S2UR,          s2r,            VECTORS, SPECIAL,  NONE,    SASS_UNIFORM) \
    X(CS2R,          cs2r,           VECTORS, ALU,      NONE,    0) \
    X(R2UR,          r2ur,           LABS,    SPECIAL,  NONE,    SASS_GUARDS) \
    X(LDG,           load,           VECTORS, GLOBAL,   NONE,    0) \
    X(LDS,           load,           VECTORS, SHARED,   NONE,    0) \
    X(LDL,           load,           VECTORS, GLOBAL,   NONE,    0) \
    X(LD,            load,           VECTORS, GLOBAL,   NONE,    0) \
    X(STG,           store,          VECTORS, GLOBAL,   STORE,   0) \
    X(STS,           store,          VECTORS, SHARED,   STORE,   0) \
    X(STL,           store,          VECTORS, GLOBAL,   STORE,   0) \
    X(ST,            store,          VECTORS, GLOBAL,   STORE,   0) \
    X(ATOM,          atom,           LABS,    GLOBAL,   ATOMIC,  0) \
    X(ATOMG,         atom,           VECTORS, GLOBAL,   ATOMIC,  0) \
    X(ATOMS,         atom,           VECTORS, SHARED,   ATOMIC,  0) \
    X(REDG,          atom,           VECTORS, GLOBAL,   REDUCE,  0) \
    X(MEMBAR,        membar,         VECTORS, NONE,     FENCE,   0) \
    X(CCTL,          cctl,           VECTORS, NONE,     NONE,    0) \
    X(QSPC,          qspc,           PTX,     ALU,      NONE,    0) \
    X(ERRBAR,        nothing,        VECTORS, NONE,     NONE,    0) \
    X(CGAERRBAR,     nothing,        VECTORS, ALU,      NONE,    0) \
    X(NOP,           nothing,        VECTORS, NONE,     NONE,    0) \
    X(ENDCOLLECTIVE, nothing,        LABS,    ALU,      NONE,    SASS_ENDS) \
    X(PREEXIT,       nothing,        LABS,    ALU,      NONE,    0) \
    /* control.c */ \
    X(YIELD,         yield,          LABS,    BRANCH,   NONE,    0) \
    X(BRA,           bra,            VECTORS, BRANCH,   NONE,    SASS_ENDS | SASS_GUARDS) \
    X(EXIT,          exit,           VECTORS, BRANCH,   EXIT,    SASS_ENDS | SASS_GUARDS) \
    X(BSSY,          bssy,           VECTORS, BRANCH,   NONE,    0) \
    X(BSYNC,         bsync,          VECTORS, BRANCH,   NONE,    SASS_ENDS | SASS_REPEATS) \
    X(BREAK,         break,          VECTORS, BRANCH,   NONE,    SASS_ENDS | SASS_GUARDS) \
    X(BMOV,          bmov,           PTX,     BRANCH,   NONE,    0) \
    X(LEPC,          lepc,           PTX,     ALU,      NONE,    0) \
    X(WARPSYNC,      warpsync,       VECTORS, BRANCH,   NONE,    SASS_ENDS | SASS_REPEATS) \
    X(CALL,          call,           VECTORS, BRANCH,   NONE,    SASS_ENDS | SASS_REPEATS) \
    X(RET,           ret,            VECTORS, BRANCH,   NONE,    SASS_ENDS | SASS_REPEATS) \
    X(BRX,           brx,            PTX,     BRANCH,   NONE,    SASS_ENDS | SASS_REPEATS) \
    X(BPT,           trap,           LABS,    ALU,      NONE,    SASS_ENDS) \
    X(NANOSLEEP,     nanosleep,      VECTORS, BRANCH,   NONE,    0) \
    X(SHFL,          shfl,           VECTORS, SHUFFLE,  NONE,    0) \
    X(VOTE,          vote,           VECTORS, VOTE,     NONE,    0) \
    X(VOTEU,         vote,           LABS,    ALU,      NONE,    0) \
    X(REDUX,         redux,          VECTORS, REDUX,    NONE,    0) \
    X(MATCH,         match,          VECTORS, SPECIAL,  NONE,    SASS_UNMEASURED) \
    X(ELECT,         elect,          LABS,    ALU,      NONE,    0) \
    X(BAR,           bar,            LABS,    BARRIER,  BARRIER, 0) \
    X(B2R,           b2r,            PTX,     ALU,      NONE,    0) \
    X(ACQBULK,       grid_wait,      LABS,    ALU,      NONE,    0) \
    X(UCGABAR_ARV,   cluster_arrive, LABS,    UNIFORM,  NONE,    \
      SASS_UNMEASURED | SASS_UNIFORM | SASS_CLUSTER) \
    X(UCGABAR_WAIT,  cluster_wait,   LABS,    UNIFORM,  NONE,    \
      SASS_UNMEASURED | SASS_UNIFORM | SASS_CLUSTER) \
    /* bulk.c */ \
    X(LDGSTS,        ldgsts,         PTX,     GLOBAL,   NONE,    SASS_UNMEASURED) \
    X(LDGDEPBAR,     ldgdepbar,      PTX,     NONE,     NONE,    0) \
    X(DEPBAR,        depbar,         PTX,     NONE,     NONE,    0) \
    X(UTMACMDFLUSH,  flush,          PTX,     UNIFORM,  NONE,    SASS_UNIFORM) \
    X(SYNCS,         syncs,          LABS,    ALU,      NONE,    SASS_UNMEASURED) \
    X(ARRIVES,       arrives,        PTX,     ALU,      NONE,    SASS_UNMEASURED) \
    X(UBLKCP,        ublkcp,         LABS,    GLOBAL,   BULK,    SASS_UNMEASURED | SASS_UNIFORM) \
    X(UBLKRED,       ublkred,        PTX,     UNIFORM,  NONE,    SASS_UNIFORM) \
    X(STAS,          stas,           PTX,     ALU,      NONE,    0) \
    X(REDAS,         redas,          PTX,     ALU,      NONE,    0) \
    X(FENCE,         fence,          LABS,    ALU,      NONE,    0)
// clang-format on

#define SASS_OPCODE(name, lower, evidence, pipe, act, flags) SASS_##name,
typedef enum { SASS_UNKNOWN, SASS_OPCODES(SASS_OPCODE) SASS_OPCODE_COUNT } SassOpcode;
#undef SASS_OPCODE

typedef enum { SASS_VECTORS, SASS_LABS, SASS_PTX } SassEvidence;

// The pipe that executes an instruction.
typedef enum {
    PIPE_NONE, // no pipe: it is only issued
    PIPE_ALU,
    PIPE_FMA,
    PIPE_HALF,
    PIPE_IMAD,
    PIPE_WIDE, // IMAD's pipe, for a result of 64 bits
    PIPE_FP64,
    PIPE_XU,
    PIPE_CONVERT, // XU, for a conversion of 64 bits
    PIPE_UNIFORM,
    PIPE_BRANCH,
    PIPE_VOTE,
    PIPE_REDUX,
    PIPE_SPECIAL, // S2R and the like
    PIPE_CONSTANT,
    PIPE_BARRIER,
    PIPE_MATRIX,
    PIPE_SHARED, // this and the following pipes share one queue of their scheduler
    PIPE_SHUFFLE,
    PIPE_GLOBAL,
    PIPES
} SassPipe;

// An instruction's effects other than computing, if its time depends on them.
typedef enum {
    ACT_NONE,
    ACT_EXIT,
    ACT_BARRIER, // of the block
    ACT_STORE,
    ACT_FENCE,
    ACT_FENCE_BLOCK,
    ACT_ATOMIC, // an atomic operation that returns the old value
    ACT_REDUCE, // one that does not
    ACT_STRONG, // a load that bypasses L1
    ACT_BULK,   // a copy to shared memory
    ACT_AWAIT,  // a wait for a copy: the block's first wait is for its first copy, and so on
} SassAct;

typedef enum {
    SASS_ENDS = 1,        // the last instruction of a basic block
    SASS_REPEATS = 2,     // lanes may return to it: those that waited, or whose target differs
    SASS_GUARDS = 4,      // its lowering function evaluates the guard
    SASS_UNIFORM = 8,     // its guard is a uniform predicate
    SASS_UNMEASURED = 16, // no microbenchmark gives its latency
    SASS_CLUSTER = 32,    // appears only in kernels that run in clusters
} SassFlag;

typedef struct {
    const char *name; // NULL: SASS_UNKNOWN
    SassEvidence evidence;
    SassPipe pipe;
    SassAct act;
    uint32_t flags;
} SassOpcodeRow;

extern const SassOpcodeRow sass_opcodes[SASS_OPCODE_COUNT];

#endif
