// Reads cubins: the ELF files of machine code in a program's fat binary.
#ifndef SASS_CUBIN_H
#define SASS_CUBIN_H

#include "simt/ptx/ptx.h"
#include "simt/sass/inst.h"

enum {
    SASS_BANKS = 32,
    // The start of the parameters in constant bank 0, and the values that the launch writes before
    // them. Found in the code that ptxas writes for sm_90.
    SASS_PARAMETERS = 0x210,
    SASS_BANK_BLOCK = 0x0,      // shape of the block, three words
    SASS_BANK_GRID = 0xc,       // shape of the grid
    SASS_BANK_LOCAL = 0x20,     // the start of local memory, as a 64-bit generic address
    SASS_BANK_STACK = 0x28,     // the end of a thread's local memory
    SASS_BANK_DYNAMIC = 0x2c,   // bytes of dynamic shared memory
    SASS_BANK_WORKSPACE = 0x44, // workspace of a cooperative launch, its upper word first
    SASS_BANK_RESERVED =
        0x68,              // the end of the system's shared memory, where its second half begins
    SASS_BANK_SMS = 0x10c, // number of SMs
    SASS_BANK_CLUSTER = 0x140,        // 1: the launch requested clusters
    SASS_BANK_CLUSTER_SHAPE = 0x144,  // shape of the cluster, three words
    SASS_BANK_CLUSTER_BLOCKS = 0x188, // blocks per cluster
    // Bytes at the start of shared memory that belong to the system.
    SASS_SHARED_RESERVED = 0x400,
};

// The code of one .text section: a kernel and the functions that it alone calls.
typedef struct {
    Str code;              // 16 bytes per instruction
    uint32_t registers;    // per thread
    uint32_t param_end;    // their end in constant bank 0
    uint32_t shared_bytes; // per block, including the system's
    bool uses_clusters;
    const PtxVariable *table; // constant bank 2: jump targets; NULL: none
    bool relocated;           // its code contains addresses that are not linked yet
} SassFunction;

// A cubin in the form of a PTX module, so that all code that reads modules can use it: kernels are
// functions, their parameters have the offsets of constant bank 0, and an instruction's opcode is
// its text. Each constant bank is a variable.
typedef struct {
    PtxModule *module;
    SassFunction *functions;              // indexed by function of the module
    const PtxVariable *banks[SASS_BANKS]; // NULL: the module does not have this bank
    // Functions that it calls and does not contain. Each gets an address that is not in its own
    // code.
    Str *outside;
    size_t outside_count, outside_capacity;
} SassModule;

// All data is in the arena, but code and initial data stay in `cubin`. False: the error says what
// is wrong with the file.
bool sass_read(Arena *arena, Str cubin, const char *origin, SassModule *module, SimtStatus *status,
               SimtError *error);

#endif
