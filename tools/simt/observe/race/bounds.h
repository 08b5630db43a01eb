// Bounds of shared and local memory, and the variables of shared memory.
#ifndef RACE_BOUNDS_H
#define RACE_BOUNDS_H

#include "simt/observe/race/finding.h"

// Bytes [low, high).
typedef struct {
    uint64_t low, high;
} Extent;

// Whether all of [first, first + bytes), which may reach past the end of the addresses, is in it.
static inline bool extent_holds(const Extent *extent, uint64_t first, uint64_t bytes) {
    return first >= extent->low && first < extent->high && bytes <= extent->high - first;
}

// The lanes whose access is within [low, high) and aligned.
uint32_t bounds_between(const Access *access, const uint64_t address[LANES], uint64_t low,
                        uint64_t high);
// The lanes of the mask whose access is within [0, limit) and aligned; the others are reported.
uint32_t bounds_within(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                       const uint64_t address[LANES], uint64_t limit);
// The same within the variable of shared memory from which the address was computed.
uint32_t bounds_inside(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                       const uint64_t address[LANES]);

// The name of the variable of shared memory at an address, such as "s", and the offset from its
// start. The name is empty if there is no variable.
int64_t bounds_name(const Machine *machine, uint64_t address, char *to, size_t room);

#endif
