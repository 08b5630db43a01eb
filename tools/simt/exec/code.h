// The executable form of a PTX function: a flat array of instructions, each with the function that
// runs it for all lanes of a warp, and the tables by which counters find their source line.
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/ptx/ptx.h"

typedef struct Warp Warp;
typedef struct Inst Inst;
typedef struct Code Code;

// Runs one instruction for the lanes in warp->exec and returns the next one to run, or NULL when
// the warp stops for now: it waits, has used up its slice, is finished or has failed.
typedef const Inst *Op(Warp *warp, const Inst *inst);

typedef enum {
    ACCESS_NONE,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC, // atom, red, mbarrier
    ACCESS_COPY,   // cp.async: a store to shared memory of what it loads from global memory
    ACCESS_SYNC    // shfl.sync, vote.sync, bar.warp.sync, ...: r[SYNC_MASK] names the lanes
} AccessKind;

enum { SYNC_MASK = 4 };

// What an access says about order: PTX ISA, "Memory Consistency Model". None of them: a weak load
// or store, or the initialisation of an mbarrier.
enum {
    ORDER_VOLATILE = 1,
    ORDER_RELAXED = 2, // also atomics: with a fence before or behind it, it orders
    ORDER_ACQUIRE = 4,
    ORDER_RELEASE = 8
};

enum { INST_SPINS = 1, INST_SYNTHETIC = 2 };

// r[] are byte offsets of operands in the warp's register frame; which is which depends on the
// instruction. Loads, stores and atomics: r[0] is the address register (32 or 64 bits wide, see
// `wide`), imm is added to it; r[1..] are the values.
struct Inst {
    Op *run;
    Op *plain; // the same when nobody watches, see observer.h
    uint32_t r[6];
    uint64_t imm;
    const Inst *target; // branches: where to; calls: the return point
    const Inst *rpc;    // branches: where split lanes meet again, NULL: nowhere
    const void *extra;  // calls, jump tables, ...
    uint32_t slot;      // of its first counter, in Warp.tally
    uint32_t ptx;       // index of the PTX instruction in code->source->insts
    uint8_t access;     // AccessKind
    uint8_t space;      // PtxSpace, of a memory access
    uint8_t bytes;      // per element of a memory access
    uint8_t elements;   // 1, 2 or 4
    uint8_t wide;       // the address register has 64 bits
    uint8_t order;      // ORDER_*, of a memory access
    uint8_t flags;      // INST_*
    uint8_t mode;       // variant of the operation where one Op serves several
    uint8_t sizes;      // operand sizes where one Op serves several
};

// What a counter slot counts. One slot is three numbers a, b, c.
typedef enum {
    SLOT_BLOCK, // a: times a warp entered the basic block, b: lanes that did
    SLOT_SHARED_LD,
    SLOT_SHARED_ST, // a: instructions, b: wavefronts, c: groups of lanes
    SLOT_GLOBAL_LD,
    SLOT_GLOBAL_ST, // a: requests, b: sectors
    SLOT_ATOMIC,    // a: lanes
    SLOT_BARRIER,   // a: barriers completed
    SLOT_BRANCH     // a: times lanes were split
} SlotKind;

typedef struct {
    uint64_t a, b, c;
} Tally;

typedef struct {
    uint8_t kind;
    uint32_t ptx, ptx_end; // the instruction; for SLOT_BLOCK the range [ptx, ptx_end)
    const PtxFunction *function;
} Slot;

// Slots of all functions of a module that were lowered so far.
typedef struct {
    Slot *slots;
    uint32_t count;
    size_t capacity;
} SlotTable;

// A value that instructions use: copied to `offset` of the frame, in all lanes.
typedef struct {
    uint32_t offset, bytes;
    uint64_t value;
} CodeConstant;

struct Code {
    const PtxFunction *source;
    Inst *insts;
    uint32_t count;
    uint32_t frame_bytes;                 // of registers, constants, parameter areas
    uint32_t param_offset, result_offset; // in the frame, for functions that are called
    uint32_t param_stride, result_bytes;  // a lane
    CodeConstant *constants;
    uint32_t constant_count;
    Code **callees; // directly called
    uint32_t callee_count;
    bool indirect; // calls through a pointer
    bool ordered;  // its results may depend on the order in which blocks run
    bool reserved; // uses the system's shared memory
    bool lowered;
    bool visited, followed;            // while calls are followed: begun, done
    uint32_t frame_base, frame_rounds; // place in the stack, activations that fit there
    uint32_t local_bytes;              // per thread, with that of the functions it calls
};

// Lowering of a module's functions, one at a time. Errors are in status and error.
typedef struct Lowering Lowering;
struct Lowering {
    const PtxModule *module;
    Arena *arena;
    SlotTable *slots;
    // The address of a variable in its space; false if it has none.
    bool (*variable_address)(void *context, const PtxVariable *variable, uint64_t *address);
    // The Code of a function of the module, not necessarily lowered yet.
    Code *(*function_code)(void *context, const PtxFunction *function);
    void *context;
    SimtStatus status;
    SimtError *error;
};

bool code_lower(Lowering *lowering, Code *code);

#endif
