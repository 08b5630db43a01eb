// The device's global memory: one reserved range of addresses that host code cannot touch, and an
// alias of the same pages through which the runtime and the executor read and write.
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t address; // of its first byte, at least 256-byte aligned
    size_t bytes;
    bool live;       // false once freed: a use after free can name it
    uint64_t serial; // 1 for the first allocation of the process
} Allocation;

// Reserves the range. False (errno set) if the host refuses. Called once before anything else.
bool memory_open(size_t limit_bytes);

// 0 when out of memory. Fresh memory holds a poison pattern, not zeros.
uint64_t memory_alloc(size_t bytes);

// False if `address` is not the start of a live allocation. 0 is allowed and does nothing.
bool memory_free(uint64_t address);

// The allocation that holds this address; of several, the live one, else the last freed. NULL:
// none.
const Allocation *memory_find(uint64_t address);

size_t memory_limit(void);
size_t memory_used(void);

// [memory_low, memory_high): every address handed out so far lies in it and is backed by pages.
extern uint64_t memory_low, memory_high;

// alias - device address; the same for the whole range.
extern ptrdiff_t memory_delta;

static inline void *memory_at(uint64_t address) {
    return (void *)(uintptr_t)(address + (uint64_t)memory_delta);
}

#endif
