// Detects host code that touches managed or pinned memory while work that uses it is in flight.
// Such pages are protected; an access to one faults, is recorded, and then continues.
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Guards the pages of these bytes. Host code may still read them unless the work writes them.
// Does nothing if the table is full.
void guard_pages(uint64_t low, uint64_t high, bool written);
// The same if it is not known yet what the work will do. The first read and the first write fault.
void guard_unknown(uint64_t low, uint64_t high);
void guard_clear(void);
bool guard_any(void);

typedef struct {
    uint64_t address, pc; // of the instruction that touched it
    bool write;           // false also if the processor does not tell
} GuardFault;

// Touches the guarded pages of these bytes as host code would. Called before a system call, which
// would fail at a guarded page instead of raising a fault.
void guard_touch(void *low, size_t bytes, bool write);

// Called by the handler of a fault. Records it and stops guarding its page. True if the access
// should be tried again.
bool guard_fault(const GuardFault *fault);

// Removes the oldest recorded fault. False if there is none.
bool guard_take(GuardFault *fault);

#endif
