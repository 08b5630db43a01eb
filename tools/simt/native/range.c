// Device memory on the native platform: one piece of memory. Device addresses are the same as on
// Linux, and host code never uses them.
#include "simt/memory/range.h"

#include "simt/native/native.h"

static const uint64_t base = 0x300000000000u;

bool range_open(Range *range, size_t limit) {
    void *memory = native_map(limit);
    const uint64_t delta = (uint64_t)(uintptr_t)memory - base;
    *range = (Range){base, limit, (ptrdiff_t)delta};
    return memory != NULL;
}

bool range_make_private(const Range *range) {
    (void)range;
    return false;
}

bool range_open_to_host(uint64_t first, uint64_t last, bool open) {
    (void)first, (void)last, (void)open;
    return true;
}

// Host code cannot use device memory.
bool range_touched(uint64_t first, uint64_t last) {
    (void)first, (void)last;
    return false;
}

void range_discard(const Range *range, uint64_t first, uint64_t last) {
    (void)range, (void)first, (void)last;
}
