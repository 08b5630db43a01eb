// The heap of device code: malloc, free, new and delete in kernels.
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
