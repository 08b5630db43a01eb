// Sizes and offsets rounded up to an alignment, a power of two.
#ifndef ALIGN_H
#define ALIGN_H

#include <stdint.h>

static inline uint64_t align_up(uint64_t value, uint64_t align) {
    return (value + align - 1) & ~(align - 1);
}

#endif
