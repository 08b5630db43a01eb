// The device's global memory: one reserved range of addresses that host code cannot touch, and an
// alias of the same pages through which the runtime and the executor read and write.
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    MEMORY_MODULE,    // variables of modules, and memory that the CPU device itself needs
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
    bool live; // false after it was freed; it stays so that a use after free can be reported
    MemoryKind kind;
    bool untouched;  // managed memory that host code is not known to have touched
    uint64_t serial; // 1 for the first allocation of the process
} Allocation;

// Reserves the range. False (errno set) if the host refuses. Called once before anything else.
bool memory_open(size_t limit_bytes);

// Called in a child process, which shares device memory with its parent: from now on the child's
// writes are private. The child still sees the parent's writes to pages that it has not written
// itself, so the parent must not run meanwhile. False (errno set) if the host refuses.
bool memory_make_private(void);

// The bytes of fresh memory, and of the gaps between allocations: 3.4e38 as a float, 1.4e306 as a
// double, 2,139,062,143 as an integer. It is not NaN, for which `fabs(a - b) > eps` is false.
// Managed memory is zero, as fresh pages are on a GPU.
enum { MEMORY_POISON = 0x7F };

// 0 when out of memory.
uint64_t memory_alloc(size_t bytes); // MEMORY_MODULE
uint64_t memory_alloc_kind(size_t bytes, MemoryKind kind);

// False if `address` is not the start of a live allocation. 0 is allowed and does nothing.
bool memory_free(uint64_t address);

// Whether it belongs to a module, which allocates and frees it.
static inline bool memory_of_module(MemoryKind kind) {
    return kind == MEMORY_MODULE || kind == MEMORY_CONSTANTS || kind == MEMORY_VARIABLES;
}

// Whether host code may touch it at the same address.
static inline bool memory_of_host(MemoryKind kind) {
    return kind == MEMORY_MANAGED || kind == MEMORY_PINNED || kind == MEMORY_VARIABLES;
}

// How many allocations were freed. Code that remembers an allocation as live compares this number.
extern uint64_t memory_frees;
extern size_t memory_of_host_count; // live allocations that host code may touch

// Frees every live allocation except those of modules.
void memory_free_all(void);

// The allocation that contains this address, live or freed. NULL if there is none. Freed ones are
// found until the range is used up and addresses are reused.
const Allocation *memory_find(uint64_t address);

// Starts to record which bytes were written (by copies, fills, kernels): one byte of shadow per
// aligned word of 4 bytes, bit i for its byte i. Variables of modules and pinned memory count as
// written from the start, managed memory after host code has touched it. False if the host refuses.
bool memory_track(void);
extern uint8_t *memory_shadow; // starts with the word at memory_base; NULL if not recorded
extern uint64_t memory_base;

// Finds the managed memory that host code has touched; called before the device reads managed
// memory.
void memory_find_touched(void);

// Records that these bytes were written. Several threads may call this at once.
void memory_written(uint64_t address, size_t bytes);
// The first byte in [address, end) that was written, or that was not; `end` if there is none.
uint64_t memory_seek(uint64_t address, uint64_t end, bool written);
// Records a copy within the device: copies of bytes that were not written count as not written.
void memory_copied(uint64_t to, uint64_t from, size_t bytes);

// The last allocation that starts at or before this address. NULL if there is none.
const Allocation *memory_before(uint64_t address);

bool memory_reserved(uint64_t address); // whether it is in the range, allocated or not
size_t memory_range(void);              // bytes of the range, which starts at memory_base
size_t memory_limit(void);
size_t memory_used(void);

// [memory_low, memory_high) contains every address allocated so far and is backed by pages.
extern uint64_t memory_low, memory_high;

// The address in the alias minus the device address.
extern ptrdiff_t memory_delta;

static inline void *memory_at(uint64_t address) {
    return (void *)(uintptr_t)(address + (uint64_t)memory_delta);
}

// --- the heap of device code: malloc, free, new and delete in kernels ---

enum { HEAP_DEFAULT_BYTES = 8 << 20 }; // CUDA C++ Programming Guide, "Heap Memory Allocation"

// Sets cudaLimitMallocHeapSize. False after the first allocation, which fixes the size.
bool heap_set_bytes(size_t bytes);

// A device address that is a multiple of 16; 0 if the heap is exhausted or `bytes` is 0. Only one
// thread may call this at a time: kernels that allocate run on one.
uint64_t heap_alloc(uint64_t bytes);

// False if heap_alloc did not return this address, or it was freed. 0 is allowed and does nothing.
bool heap_free(uint64_t address);

// Called after memory_free_all: the heap is empty, and its size may be set again.
void heap_forget(void);

#endif
