// One executable instruction: the function that runs it for all lanes of a warp, and its operands.
// The functions are in ops/; each reads its own member of the union.
#ifndef INST_H
#define INST_H

#include <stddef.h>

#include "simt/exec/register.h"

typedef struct Warp Warp;
typedef struct Inst Inst;
typedef struct Code Code;
typedef struct CallSite CallSite;
typedef struct Matrix Matrix;
typedef struct MatrixFragment MatrixFragment;

// Runs one instruction for the lanes in warp->exec. Returns the next one to run, or NULL when the
// warp stops: it waits, has used up its slice, is done or has failed.
typedef const Inst *Op(Warp *warp, const Inst *inst);

// What observers see of an instruction: see observer.h.
typedef enum {
    ACCESS_NONE,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC, // atom, red, mbarrier
    ACCESS_COPY,   // cp.async: a load from global memory and a store to shared memory
    ACCESS_SYNC    // shfl.sync, vote.sync, bar.warp.sync, ...
} AccessKind;

// The memory order of an access: PTX ISA, "Memory Consistency Model". 0: a weak load or store, or
// the initialisation of an mbarrier.
enum {
    ORDER_VOLATILE = 1,
    ORDER_RELAXED = 2, // also atomics: orders other accesses with a fence before or after it
    ORDER_ACQUIRE = 4,
    ORDER_RELEASE = 8
};

// How a program uses the value of a strong read of global memory: see lower/spin_reads.c.
typedef enum { DATA_READ, FLAG_READ, SPIN_READ } ReadUse;

// The threads that a strong access or a fence affects. PTX ISA, "Scope".
typedef enum { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_DEVICE } Scope; // device: or system

typedef enum {
    ROUND_NEAREST, // .rn
    ROUND_ZERO,    // .rz
    ROUND_DOWN,    // .rm
    ROUND_UP,      // .rp
    ROUND_NEAREST_AWAY,
    ROUND_MASK = 7,
    CONVERT_SATURATE = 8,
    CONVERT_RELU = 16,
    CONVERT_INTEGRAL = 32, // .rni, .rzi, ...: float to a float of integral value
    CONVERT_FINITE = 64    // .satfinite, to tf32
} ConvertMode;

typedef enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR } CombineMode;
typedef enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX } ShuffleMode;
typedef enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT } VoteMode;
typedef enum { MATCH_ANY, MATCH_ALL } MatchMode;
typedef enum { BARRIER_POPC, BARRIER_AND, BARRIER_OR } BarrierMode;

typedef enum {
    REDUCE_ADD,
    REDUCE_MIN_U,
    REDUCE_MIN_S,
    REDUCE_MAX_U,
    REDUCE_MAX_S,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR
} ReduceMode;

typedef enum {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_INC,
    ATOMIC_DEC,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCH,
    ATOMIC_CAS
} AtomicMode;

typedef enum {
    MBARRIER_INIT,
    MBARRIER_INVALIDATE,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_EXPECT,
    MBARRIER_ARRIVE_DROP,
    MBARRIER_ARRIVE_DROP_EXPECT,
    MBARRIER_EXPECT,
    MBARRIER_COMPLETE,
    MBARRIER_WAIT_STATE, // waits after this one take a parity
    MBARRIER_WAIT_PARITY
} MbarrierMode;

// Registers below are byte offsets in the warp's frame, PTX_NONE for a missing one. `d` is a
// result.

// --- memory: `memory` or `parameter`, then the operation ---

typedef struct {
    uint64_t offset; // added to the address register
    uint32_t base;   // which is this one
    PtxSpace space : 8;
    uint8_t bytes;    // per element
    uint8_t elements; // 1, 2 or 4
    bool wide;        // the address register has 64 bits
} InstMemory;

// Parameters of the kernel, in its parameter block, or of a function, in the frame for each lane.
typedef struct {
    uint64_t offset;
    uint32_t stride; // from lane to lane
    uint8_t bytes, elements;
} InstParameter;

typedef struct {
    uint32_t value[4]; // one per element; PTX_NONE: a load drops it
    RegisterClass class;
    bool sign_extend; // when it is loaded into a wider register
} InstValues;

// The loads in machine code for an atomic operation on shared memory. Hardware has no instruction
// for some of them; the compiler uses loads and compare-and-swaps.
typedef enum {
    LOADS_NONE,    // one instruction does it
    LOADS_AGAIN,   // every lane loads and tries, and repeats both until it succeeds
    LOADS_ONCE,    // lanes load the word once, and retry with the value that a try returned
    LOADS_OF_FIRST // one lane works for all
} AtomicLoads;

typedef struct {
    uint32_t old; // PTX_NONE: not used
    uint32_t b, c;
    AtomicMode mode;
    PtxType type;
    AtomicLoads loads;
} InstAtomic;

typedef struct {
    uint32_t d;     // the state, or a predicate
    uint32_t value; // count, bytes, state or parity
    MbarrierMode mode;
} InstMbarrier;

// cp.async: `memory` is the destination, in shared memory; this is the source, in global memory.
typedef struct {
    uint64_t offset;
    uint32_t base;    // 64 bits wide
    uint32_t read;    // bytes to read, the rest is zero; PTX_NONE: all
    uint32_t ignored; // a predicate: lanes that read nothing; PTX_NONE: no such lanes
    bool bypass;      // bypasses L1: .cg
} InstCopy;

// One of the addresses of a bulk copy, in 8 bytes.
enum { BULK_OFFSET_BITS = 24 };
typedef struct {
    uint32_t base;
    uint32_t offset : BULK_OFFSET_BITS; // signed
    uint32_t space : 7;                 // a PtxSpace; PTX_REG_SPACE: there is none
    uint32_t wide : 1;
} BulkAddress;

// cp.async.bulk, cp.reduce.async.bulk; st.async, red.async.
typedef struct {
    BulkAddress to, barrier;
    union {
        struct {
            BulkAddress from;
            uint32_t bytes;
            uint32_t ranks; // a bit for each block; PTX_NONE: one block
        };
        struct {
            uint32_t value[4];
            uint8_t size, elements; // bytes of each
        };
    };
    AtomicMode mode : 8;
    PtxType type : 8;
    bool reduces;
} InstBulk;

// commit_group, wait_group and wait_all for cp.async and cp.async.bulk.
typedef struct {
    uint32_t pending; // groups that may still be in flight
    bool bulk, waits;
    bool all;  // also copies that are in no group
    bool read; // waits only until the sources have been read
} InstGroup;

typedef enum { FENCE_MEMORY, FENCE_PROXY_ASYNC, FENCE_MBARRIER_INIT, FENCE_PROXY } FenceKind;

// --- synchronization and matrices ---

typedef struct {
    uint32_t mask;      // the lanes that take part
    uint32_t d;         // a value
    uint32_t predicate; // result predicate
    uint32_t value[3];  // shfl: value, lane, clamp and segment mask; vote: a predicate
    union {
        ShuffleMode shuffle;
        VoteMode vote;
        MatchMode match;
        ReduceMode reduce;
    };
    RegisterClass class; // of value[0]
} InstSync;

// Matrix instructions of a warp: ops/matrix.h. The mask names all lanes, and has the offset of
// InstSync's.
typedef struct {
    uint32_t mask;
    const Matrix *matrix; // of a product
} InstMatrix;

// Up to four registers, each of which holds an 8-by-8 matrix of 16-bit elements across the warp.
typedef struct {
    uint32_t mask;
    uint32_t d[4], from[4];
    uint32_t count;
} InstMatrixMove;

enum { SPOT_OWN, SPOT_TURNED, SPOT_ROWS, SPOT_ROWS_TURNED };

// The address of an element that a lane loads or stores, relative to the matrix's first element.
typedef struct {
    const MatrixFragment *fragment;
    uint32_t d, base, stride; // in elements, of rows or columns
    uint16_t index;           // of the element in the fragment
    bool wide, by_columns;
    uint8_t spot; // SPOT_*
} InstMatrixAddress;

typedef struct {
    uint32_t number;
    uint32_t threads;   // PTX_NONE: all
    uint32_t predicate; // of bar.red, else PTX_NONE
} InstBarrier;

// The result of bar.red, when the barrier is complete.
typedef struct {
    uint32_t d;
    BarrierMode mode;
} InstBarrierResult;

// --- control ---

// Where split lanes merge. It no longer waits for lanes that reach a node outside `inside` (a bit
// for each node of the function; NULL: all are inside).
typedef struct {
    const Inst *at;
    const uint64_t *inside;
} MergePoint;

// The nearest first; a later one is for lanes that have left the `inside` of the earlier ones.
typedef struct {
    const MergePoint *points;
    uint32_t count;
} MergePoints;

typedef struct {
    const Inst *target;
    MergePoints merges;
    uint32_t predicate; // the lanes that branch; a jump has none
    bool negated;
    bool synthetic; // around a guarded instruction: not a branch in the program
} InstBranch;

typedef struct {
    const Inst *const *targets;
    MergePoints merges;
    uint32_t index, count;
} InstTable;

typedef struct {
    uint32_t predicate;
    bool negated;
    uint32_t skip; // number of instructions to the first one after the guarded ones
} InstGuard;

typedef struct {
    const CallSite *site;
    MergePoints merges;
    uint32_t pointer; // register with the function's address, for an indirect call
} InstCall;

// --- moves ---

typedef struct {
    uint32_t d;
    RegisterClass class;
} InstSpecial;

typedef struct {
    uint64_t offset; // in the function's local memory
    uint32_t d;
    RegisterClass class;
} InstLocal;

typedef struct {
    uint32_t d, address;
    PtxSpace space;
} InstSpace;

// A register as a whole and in equal parts, the low one first. PTX_NONE: the part is not used.
typedef struct {
    uint32_t whole, part[4];
    uint32_t bytes, count; // of a part; number of parts
} InstVector;

typedef struct {
    uint32_t d, a;
    uint32_t b; // second f32 of a conversion to f16x2 or bf16x2
    PtxType from, to;
    RegisterClass from_class, to_class;
    ConvertMode mode;
} InstConvert;

// --- of machine code ---

// d = a + b + c + plus + x + y, or a * b + c + x; p and q are set if the sum reaches 2^32 and 2^33.
// PTX_NONE: p, q, x or y is absent.
typedef struct {
    uint32_t d, p, q;
    uint32_t a, b, c, x, y;
    uint32_t plus;
} InstCarry;

// d, high = a * b + c, c_high + x: 64 bits in two registers; p is set if the sum reaches 2^64.
// PTX_NONE: p or x is absent.
typedef struct {
    uint32_t d, high, p, a, b, c, c_high, x;
    bool is_signed;
} InstWide;

// The lanes to merge: those of a mask, or of a convergence barrier, which is one word per warp. The
// other one is PTX_NONE.
typedef struct {
    uint32_t mask, barrier;
} InstConverge;

// A jump to an address in a register. `targets` has an entry for every instruction of the function,
// NULL where no jump may go.
typedef struct {
    const Inst *const *targets;
    uint64_t plus; // added to the register
    uint32_t address, count;
} InstIndirect;

// A call to a function outside the machine code: the register with the address, and the functions'
// names by sass_outside().
typedef struct {
    uint32_t address, count;
    const Str *names;
} InstOutside;

// A comparison's result combined with a predicate c, and with its negation.
typedef struct {
    uint32_t d, negated; // either may be PTX_NONE
    uint32_t compared, c;
    CombineMode mode;
} InstCombine;

#define INST_OPERANDS 5 // of an instruction with a row in ops/

struct Inst {
    Op *run;
    Op *plain;     // the function without observers, see observer.h
    uint32_t slot; // of its first counter, in Warp.tally
    uint32_t ptx;  // index of the PTX instruction in code->source->insts
    AccessKind access : 8;
    uint8_t order;   // ORDER_*, of an access to memory or a fence
    bool spins;      // a program may wait for the value that it reads
    Scope scope : 8; // of an access with an order, or a fence
    ReadUse use : 8; // of a strong read of global memory
    union {
        uint32_t r[INST_OPERANDS]; // for a row in ops/: the result, then the sources
        struct {
            union {
                InstMemory memory;
                InstParameter parameter;
            };
            union {
                InstValues values;
                InstAtomic atomic;
                InstMbarrier mbarrier;
                InstCopy copy;
            };
        };
        InstBulk bulk;
        InstGroup group;
        FenceKind fence;
        InstSync sync;
        InstMatrix matrix;
        InstMatrixMove matrix_move;
        InstMatrixAddress matrix_address;
        InstBarrier barrier;
        InstBarrierResult barrier_result;
        uint32_t node; // of a basic block, in the function's control flow
        InstBranch branch;
        InstTable table;
        InstGuard guard;
        InstCall call;
        const Code *returns_from;
        InstSpecial special;
        InstLocal local;
        InstSpace in_space;
        InstVector vector;
        InstConvert convert;
        InstCombine combine;
        InstCarry carry;
        InstWide multiply;
        InstConverge converge;
        InstIndirect indirect;
        InstOutside outside;
    };
};

_Static_assert(sizeof(InstMemory) == 16 && sizeof(Inst) <= 72, "instructions stay small");

_Static_assert(offsetof(Inst, sync.mask) == offsetof(Inst, matrix.mask) &&
                   offsetof(Inst, sync.mask) == offsetof(Inst, matrix_move.mask),
               "an observer finds the mask");

#endif
