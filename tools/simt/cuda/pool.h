// Memory pools: what cudaMallocAsync takes from, and counts.
#ifndef POOL_H
#define POOL_H

#include "simt/program/runtime.h"

typedef struct Pool Pool;

Pool *pool_current(void); // of the device
bool pool_known(const Pool *pool);
// An allocation in the pool; false: it may not hold that much, or there is no host memory.
bool pool_add(Pool *pool, uint64_t address, size_t bytes);
void pool_remove(uint64_t address); // if it came from a pool
void pool_forget_all(void);         // all memory was freed

#endif
