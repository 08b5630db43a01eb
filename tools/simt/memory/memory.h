// The device's global memory: one reserved range of addresses that host code cannot touch, and an
// alias of the same pages through which the runtime and the executor read and write.
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    MEMORY_MODULE,    // the device's own: variables of modules
    MEMORY_CONSTANTS, // __constant__ variables of modules
    MEMORY_VARIABLES, // __managed__ variables: host code may use the same address
    MEMORY_DEVICE,    // cudaMalloc
    MEMORY_HEAP,      // malloc in kernels
    MEMORY_MANAGED,   // cudaMallocManaged: host code may use the same address
    MEMORY_PINNED     // cudaMallocHost: likewise
} MemoryKind;

typedef struct {
    uint64_t address; // of its first byte, at least 256-byte aligned
    size_t bytes;
    bool live; // false once freed: a use after free can name it
    MemoryKind kind;
    bool untouched;  // managed memory that host code has not touched, as far as is known
    uint64_t serial; // 1 for the first allocation of the process
} Allocation;

// Reserves the range. False (errno set) if the host refuses. Called once before anything else.
bool memory_open(size_t limit_bytes);

// In a child of the process, which shares device memory with it: from now on what the child writes
// there is its own. It sees what the process writes to pages that it has not written itself, so the
// process has to stand still. False (errno set) if the host refuses.
bool memory_keep_apart(void);

// Fills memory that nothing has written: 3.4e38 as a float, 1.4e306 as a double, 2,139,062,143 as
// an integer. Not NaN, with which `fabs(a - b) > eps` is false. Managed memory is zero, as fresh
// pages are on a GPU.
enum { MEMORY_POISON = 0x7F };

// 0 when out of memory. Fresh memory is filled so.
uint64_t memory_alloc(size_t bytes); // MEMORY_MODULE
uint64_t memory_alloc_kind(size_t bytes, MemoryKind kind);

// False if `address` is not the start of a live allocation. 0 is allowed and does nothing.
bool memory_free(uint64_t address);

// Whether it belongs to a module, with which it comes and goes.
static inline bool memory_of_module(MemoryKind kind) {
    return kind == MEMORY_MODULE || kind == MEMORY_CONSTANTS || kind == MEMORY_VARIABLES;
}

// Whether host code may touch it at the same address.
static inline bool memory_of_host(MemoryKind kind) {
    return kind == MEMORY_MANAGED || kind == MEMORY_PINNED || kind == MEMORY_VARIABLES;
}

// Counts what was freed: who remembers an allocation as live looks here.
extern uint64_t memory_frees;
extern size_t memory_of_host_count; // live allocations that host code may touch

// Frees every live allocation except those of modules.
void memory_free_all(void);

// The allocation that holds this address, live or freed. NULL: none. Addresses are not reused
// before the range is used up, so a freed allocation stays findable.
const Allocation *memory_find(uint64_t address);

// Starts to record which bytes were written (by copies, fills, kernels): one byte of shadow per
// aligned word of 4 bytes, bit i for its byte i. What modules and pinned memory hold counts as
// written from the start, managed memory from when host code has touched it. False if the host
// refuses.
bool memory_track(void);
extern uint8_t *memory_shadow; // of the word at memory_base; NULL: not recorded
extern uint64_t memory_base;

// Before the device looks at managed memory: finds out what host code has touched. Linux shows in
// /proc/self/pagemap which pages of the device's range are in use, and nobody but host code, or the
// system for it, uses memory at its own address.
void memory_meet_host(void);

// Records that these bytes were written. Safe from several threads at once.
void memory_written(uint64_t address, size_t bytes);
// The first byte from `address` on that was written, or was not; `end`: none in front of it.
uint64_t memory_seek(uint64_t address, uint64_t end, bool written);
// As memory_written, for a copy within the device: what was not written before is not after it.
void memory_copied(uint64_t to, uint64_t from, size_t bytes);

// The allocation with the highest address that starts at or before this one. NULL: none.
const Allocation *memory_before(uint64_t address);

bool memory_reserved(uint64_t address); // in the range, handed out or not
size_t memory_range(void);              // bytes of that range, which starts at memory_base
size_t memory_limit(void);
size_t memory_used(void);

// [memory_low, memory_high): every address handed out so far lies in it and is backed by pages.
extern uint64_t memory_low, memory_high;

// alias - device address; the same for the whole range.
extern ptrdiff_t memory_delta;

static inline void *memory_at(uint64_t address) {
    return (void *)(uintptr_t)(address + (uint64_t)memory_delta);
}

// --- the heap of device code: malloc, free, new and delete in kernels ---

enum { HEAP_DEFAULT_BYTES = 8 << 20 }; // CUDA C++ Programming Guide, "Heap Memory Allocation"

// cudaLimitMallocHeapSize. False once something was allocated: the heap keeps its size.
bool heap_set_bytes(size_t bytes);

// A device address that is a multiple of 16; 0 when the heap is exhausted, or for no bytes. Not
// from several threads at a time: kernels that allocate run on one.
uint64_t heap_alloc(uint64_t bytes);

// False if the address is not what heap_alloc returned, or was freed. 0 does nothing.
bool heap_free(uint64_t address);

// After memory_free_all: nothing is allocated, and the size may be set.
void heap_forget(void);

#endif
