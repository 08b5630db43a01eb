// Cubins: the ELF files of machine code that lie in a program's fat binary.
#ifndef SASS_CUBIN_H
#define SASS_CUBIN_H

#include "simt/ptx/ptx.h"
#include "simt/sass/inst.h"

enum {
    SASS_BANKS = 32,
    // Where the parameters begin in constant bank 0, and what the launch writes in front of them.
    // Found in the code that ptxas writes for sm_90.
    SASS_PARAMETERS = 0x210,
    SASS_BANK_BLOCK = 0x0,      // shape of the block, three words
    SASS_BANK_GRID = 0xc,       // of the grid
    SASS_BANK_LOCAL = 0x20,     // where local memory begins, as a generic address of 64 bits
    SASS_BANK_STACK = 0x28,     // the end of a thread's local memory
    SASS_BANK_DYNAMIC = 0x2c,   // bytes of dynamic shared memory
    SASS_BANK_WORKSPACE = 0x44, // of a cooperative launch, its upper word first
    SASS_BANK_RESERVED = 0x68,  // where the system's shared memory ends, and its second half begins
    SASS_BANK_SMS = 0x10c,      // how many the device has
    SASS_BANK_CLUSTER = 0x140,  // 1: the launch asked for clusters
    SASS_BANK_CLUSTER_SHAPE = 0x144,  // of a cluster, three words
    SASS_BANK_CLUSTER_BLOCKS = 0x188, // how many blocks it has
    // Shared memory begins with what belongs to the system.
    SASS_SHARED_RESERVED = 0x400,
};

// The code of one .text section: a kernel and the functions that it alone calls.
typedef struct {
    Str code;              // 16 bytes an instruction
    uint32_t registers;    // of a thread
    uint32_t param_end;    // in constant bank 0
    uint32_t shared_bytes; // with what is the system's
    bool uses_clusters;
    const PtxVariable *table; // constant bank 2: where its code jumps to; NULL: it has none
    bool relocated;           // its code holds addresses that are not known yet
} SassFunction;

// A cubin in the form of a PTX module, so that all that looks at modules finds its way: kernels are
// functions, their parameters lie where constant bank 0 has them, an instruction's opcode is that
// of its text. Variables of constant banks stand for a bank each.
typedef struct {
    PtxModule *module;
    SassFunction *functions;              // by function of the module
    const PtxVariable *banks[SASS_BANKS]; // NULL: the module has none of this number
    // Functions that it calls and does not hold. Each has an address that none of its code has.
    Str *outside;
    size_t outside_count, outside_capacity;
} SassModule;

// Everything lives in the arena, but code and data stay in `cubin`. False: the error says what is
// wrong with it.
bool sass_read(Arena *arena, Str cubin, const char *origin, SassModule *module, SimtStatus *status,
               SimtError *error);

#endif
