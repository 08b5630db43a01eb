// Bank conflicts of shared memory, by the rules measured on an H200: appendix B, "What is
// counted, and how".
#ifndef BANK_H
#define BANK_H

#include "simt/exec/warp.h"

typedef struct {
    uint32_t wavefronts, groups;
} BankCount;

// The largest number of wavefronts that one access can take.
#define BANK_WAVEFRONTS 32

// The active lanes in groups that are served together.
typedef struct {
    uint32_t count, group[4];
} BankGroups;

BankGroups bank_groups(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load);

BankCount bank_count(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load);

#endif
