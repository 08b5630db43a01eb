// What the lowering of a module's functions needs to know of the module and its device.
#ifndef EMIT_LOWERING_H
#define EMIT_LOWERING_H

#include "simt/exec/code.h"

// Lowering of a module's functions, one at a time. Errors are in status and error.
typedef struct {
    const PtxModule *module;
    Arena *arena;
    SlotTable *slots;
    // The address of a variable in its space; false if it has none.
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
