// Bank conflicts of shared memory, by the rules measured on an H200: DESIGN, section 6.
#ifndef BANK_H
#define BANK_H

#include "simt/exec/warp.h"

typedef struct {
    uint32_t wavefronts, groups;
} BankCount;

BankCount bank_count(const uint32_t address[LANES], uint32_t mask, uint32_t bytes, bool load);

#endif
