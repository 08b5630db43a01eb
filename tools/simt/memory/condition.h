// The values that conditional nodes of graphs ask for. A program knows each by a handle, and gives
// it to the kernels that set it.
#ifndef CONDITION_H
#define CONDITION_H

#include "simt/ptx/ptx.h"

typedef struct {
    uint32_t value;
    bool set; // by a default or by a kernel, since the graph's launch began
    // Of the call that set it last; NULL: no kernel has.
    const PtxModule *module;
    PtxPlace place;
    uint32_t ptx_line;
} Condition;

// A handle, which stays for the life of the process; 0: out of memory.
uint64_t condition_new(void);

// NULL if it is none. Valid until the next condition_new.
Condition *condition_find(uint64_t handle);

#endif
