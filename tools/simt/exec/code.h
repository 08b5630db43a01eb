// The executable form of a PTX function: a flat array of instructions, and the tables that map
// counters to source lines.
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
    SLOT_LDMATRIX,
    SLOT_STMATRIX, // the same for ldmatrix and stmatrix
    SLOT_GLOBAL_LD,
    SLOT_GLOBAL_ST, // a: requests, b: sectors
    SLOT_ATOMIC,    // a: lanes
    SLOT_BARRIER,   // a: barriers completed
    SLOT_BRANCH     // a: times the branch diverged
} SlotKind;

typedef struct {
    uint64_t a, b, c;
} Tally;

typedef struct {
    SlotKind kind;
    uint32_t ptx, ptx_end; // the instruction; for SLOT_BLOCK the range [ptx, ptx_end)
    const PtxFunction *function;
} Slot;

// The slots of all functions of a module that have been lowered.
typedef struct {
    Slot *slots;
    uint32_t count;
    size_t capacity;
} SlotTable;

#define FRAME_ALIGN 64 // of frames and of everything in them
#define LOCAL_ALIGN 16 // of local memory

// A value that instructions read like a register: stored at `offset` of the frame for all lanes.
typedef struct {
    uint32_t offset;
    RegisterClass class;
    uint64_t value; // or its offset or address, read when the launch begins
    enum { CONSTANT_VALUE, CONSTANT_PARAMETER, CONSTANT_MEMORY } from;
} CodeConstant;

// Which instructions call observers: all accesses, those that may be of shared memory, warp-wide
// instructions; `whole` for full-warp accesses.
enum { CODE_ACCESSES = 1, CODE_SHARED = 2, CODE_SYNCS = 4, CODE_WHOLE = 8 };

struct Code {
    const PtxFunction *source;
    uint32_t number;  // of the function in its module
    uint64_t address; // the value of pointers to the function
    Inst *insts;
    uint32_t count;
    const uint32_t *registers; // their offsets in the frame, PTX_NONE: not used
    // Indexed by register: the last PTX instruction that may need its value. NULL: unknown.
    const uint32_t *needed_until;
    uint32_t frame_bytes;                 // of registers, constants, parameter areas
    uint32_t param_offset, result_offset; // in the frame, for called functions
    uint32_t param_stride, result_bytes;  // per lane
    // Indexed by PTX instruction: the shared variable that its address comes from, NULL: unknown.
    // NULL: no instruction has one.
    const PtxVariable **origins;
    CodeConstant *constants;
    uint32_t constant_count;
    Code **callees; // directly called
    uint32_t callee_count;
    bool indirect;      // calls through a pointer
    bool ordered;       // its results may depend on the order in which blocks run
    bool partial;       // synchronizes only some threads, so not by whole warps and blocks
    bool order_matters; // a thread's actions may depend on which of several threads was first
    bool volatiles;     // has volatile stores that may go to global memory
    bool waits;         // has a loop around a spin read, see lower/spin_reads.c
    bool reserved;      // uses the system's shared memory
    bool deepens;       // machine code: calls functions with local memory of their own
    bool lowered;
    uint8_t watched;        // events that its instructions report: CODE_*, see observer.c
    bool visited, followed; // while walking the call graph: begun, done
    bool recursive;         // may be called while one of its calls is active
    uint32_t frame_base;    // place in the stack
    const Code *next_frame; // the function with the next frame there; NULL: none
    uint32_t local_bytes;   // per thread, with callees; recursion counts once
};

// Writes the constants to a frame of this function. `params`: the kernel's parameter block.
void code_place_constants(const Code *code, const uint8_t *params, uint8_t *frame);

#endif
