// The range of device addresses, and the host's memory for it. range.c maps it on Linux; the
// native platform (simt/native) has another implementation.
#ifndef RANGE_H
#define RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Pages, to which access rights belong.
enum { RANGE_PAGE = 4096 };

typedef struct {
    uint64_t base;
    size_t bytes;
    ptrdiff_t delta; // where the host reads and writes an address, minus the address
} Range;

// Reserves a range of at least `limit` bytes, which host code cannot touch at its own addresses.
// False (errno set) if the host refuses. Called once.
bool range_open(Range *range, size_t limit);

// In a child process: see memory_make_private.
bool range_make_private(const Range *range);

// Lets host code touch these pages at their own addresses, or no longer. False if the host refuses.
bool range_open_to_host(uint64_t first, uint64_t last, bool open);
// Whether host code uses some of these pages. True if the host does not tell.
bool range_touched(uint64_t first, uint64_t last);

// Gives the memory of these pages back to the host; the addresses may be used again.
void range_discard(const Range *range, uint64_t first, uint64_t last);

#endif
