// The executable form of a PTX function: a flat array of instructions, and the tables by which
// counters find their source line.
#ifndef CODE_H
#define CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt/exec/inst.h"

// What a counter slot counts. One slot is three numbers a, b, c.
typedef enum {
    SLOT_BLOCK, // a: times a warp entered the basic block, b: lanes that did
    SLOT_SHARED_LD,
    SLOT_SHARED_ST, // a: instructions, b: wavefronts, c: groups of lanes
    SLOT_ROWS_LD,
    SLOT_ROWS_ST, // the same of ldmatrix and stmatrix
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
    SlotKind kind;
    uint32_t ptx, ptx_end; // the instruction; for SLOT_BLOCK the range [ptx, ptx_end)
    const PtxFunction *function;
} Slot;

// Slots of all functions of a module that were lowered so far.
typedef struct {
    Slot *slots;
    uint32_t count;
    size_t capacity;
} SlotTable;

#define FRAME_ALIGN 64 // of everything in a frame, and of frames
#define LOCAL_ALIGN 16 // of local memory

// A value that instructions use: copied to `offset` of the frame, in all lanes.
typedef struct {
    uint32_t offset;
    RegisterClass class;
    uint64_t value; // or where it is when a launch begins
    enum { CONSTANT_VALUE, CONSTANT_PARAMETER, CONSTANT_MEMORY } from;
} CodeConstant;

// What instructions tell of themselves: all accesses, those that may be of shared memory, where
// lanes meet; those of whole warps in short.
enum { CODE_ACCESSES = 1, CODE_SHARED = 2, CODE_MEETINGS = 4, CODE_WHOLE = 8 };

struct Code {
    const PtxFunction *source;
    uint32_t number;  // of the function in its module
    uint64_t address; // what pointers to the function hold
    Inst *insts;
    uint32_t count;
    const uint32_t *registers; // their places in the frame, PTX_NONE: not used
    // By register: the last PTX instruction at which its value may still be needed. NULL: not
    // known.
    const uint32_t *needed_until;
    uint32_t frame_bytes;                 // of registers, constants, parameter areas
    uint32_t param_offset, result_offset; // in the frame, for functions that are called
    uint32_t param_stride, result_bytes;  // a lane
    // By PTX instruction: the variable of shared memory that its address was made from, NULL: not
    // known. NULL: no instruction has one.
    const PtxVariable **origins;
    CodeConstant *constants;
    uint32_t constant_count;
    Code **callees; // directly called
    uint32_t callee_count;
    bool indirect; // calls through a pointer
    bool ordered;  // its results may depend on the order in which blocks run
    bool partial;  // orders some threads and not others: by other means than whole warps and blocks
    bool order_matters; // what a thread does may depend on which of several came first
    bool volatiles;     // has volatile stores that may be to global memory
    bool waits;         // has a loop around a spin read, see lower/spin_reads.c
    bool reserved;      // uses the system's shared memory
    bool deepens;       // machine code: calls functions with local memory of their own
    bool lowered;
    uint8_t watched;        // what its instructions tell: CODE_*, see observer.c
    bool visited, followed; // while calls are followed: begun, done
    bool recursive;         // may be called while a call of it is under way
    uint32_t frame_base;    // place in the stack
    const Code *behind;     // whose frame is the next one there; NULL: none
    uint32_t local_bytes;   // per thread, with that of the functions it calls, recursion once
};

// Copies the constants to a frame of this function. `params`: the kernel's parameter block.
void code_place_constants(const Code *code, const uint8_t *params, uint8_t *frame);

#endif
