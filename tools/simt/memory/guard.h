// Pages of managed and pinned memory that host code has to keep off: work that touches them has not
// been waited for. Who touches one all the same is noted, and goes on.
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The pages of these bytes. If the work only reads them, host code may, too. Where there is no room
// for more they stay as they are.
void guard_pages(uint64_t low, uint64_t high, bool written);
void guard_none(void); // any more
bool guard_any(void);

typedef struct {
    uint64_t address, pc; // of the instruction that touched it
    bool write;           // false also where the processor does not say so
} GuardFault;

// Touches what of these bytes is guarded, as host code might: a system call that comes to a guarded
// page would fail, and not fault.
void guard_touch(void *low, size_t bytes, bool write);

// From the handler of a fault. True: the page was guarded, and is not any more.
bool guard_fault(const GuardFault *fault);

// The next one that nobody has taken yet. False: there is none.
bool guard_take(GuardFault *fault);

#endif
