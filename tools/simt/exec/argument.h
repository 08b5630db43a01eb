// Global memory by the name that the kernel has for it: which of its arguments points there.
#ifndef ARGUMENT_H
#define ARGUMENT_H

#include "simt/exec/machine.h"
#include "simt/memory/memory.h"

// The kernel's argument that points to the allocation that is nearest to an address of global
// memory: no farther than an index of 32 bits reaches.
#define ARGUMENT_FAR ((uint64_t)1 << 35)
typedef struct {
    uint32_t number; // 1 for the first
    uint64_t pointer;
    const Allocation *of; // NULL: there is none
    uint64_t gap;         // bytes between the allocation and the address, 0: it is inside
} Argument;
uint64_t argument_gap(const Allocation *allocation, uint64_t address);
Argument argument_near(const Machine *machine, uint64_t address);
// "argument 2", of that, and the offset from where it points to; empty where there is none.
int64_t argument_name(const Machine *machine, uint64_t address, char *to, size_t room);

#endif
