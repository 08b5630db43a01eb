// Predicts where sectors of global memory are found: in L1, in L2 or in DRAM, from the accesses
// since they were last used.
#ifndef TIME_CACHE_H
#define TIME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { FOUND_L1, FOUND_L2, FOUND_DRAM } Found;

// Called before each launch, with the bytes that L2 and one SM's L1 hold. L2 holds what the
// previous launch wrote, and what earlier launches touched only if `warm`. False: out of memory.
bool cache_start(uint64_t l2_bytes, uint64_t l1_bytes, bool warm);

// The following accesses are from another SM.
void cache_leave_sm(void);

// A 32-byte sector at this address is touched. own: by the recorded SM; may_hit_l1: by a load that
// may hit in L1; writes: by a store.
Found cache_touch(uint64_t address, bool own, bool may_hit_l1, bool writes);

#endif
