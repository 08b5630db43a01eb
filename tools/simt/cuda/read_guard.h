// Tells read_back.c when host code reads managed or pinned memory in which an element depends on
// the order.
#ifndef READ_GUARD_H
#define READ_GUARD_H

#include "simt/memory/guard.h"

// Guards the memory in which such elements are, and receives the host's faults.
void read_guard_set(void);
void read_guard_fault(const GuardFault *fault);

#endif
