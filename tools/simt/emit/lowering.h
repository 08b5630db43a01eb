// The module whose functions are lowered, and the callbacks that lowering needs.
#ifndef EMIT_LOWERING_H
#define EMIT_LOWERING_H

#include "simt/exec/code.h"

// Functions are lowered one at a time. Errors are stored in status and error.
typedef struct {
    const PtxModule *module;
    Arena *arena;
    SlotTable *slots;
    // Sets the address of a variable in its space. False if it has none.
    bool (*variable_address)(void *context, const PtxVariable *variable, uint64_t *address);
    // The Code of a function of the module, not necessarily lowered yet.
    Code *(*function_code)(void *context, const PtxFunction *function);
    // Whether pointers to the function may be called.
    bool (*function_pointed)(void *context, const PtxFunction *function);
    void *context;
    SimtStatus status;
    SimtError *error;
} Lowering;

#endif
