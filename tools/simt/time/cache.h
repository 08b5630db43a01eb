// Where sectors of global memory are found: in L1, in L2, or in DRAM, by what was touched since.
#ifndef TIME_CACHE_H
#define TIME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { FOUND_L1, FOUND_L2, FOUND_DRAM } Found;

// Before each launch: bytes that L2, and L1 of an SM, hold. What the launch in front wrote lies in
// L2, what earlier ones touched only if `warm`. False: out of memory.
bool cache_start(uint64_t l2_bytes, uint64_t l1_bytes, bool warm);

// What follows happens on another SM.
void cache_leave_sm(void);

// A sector of 32 bytes at this address is touched: of the SM that is looked at, or another one; by
// a load that may find it in L1; or written.
Found cache_touch(uint64_t address, bool own, bool near, bool writes);

#endif
