// The heap of device code: a next-fit allocator over one allocation of device memory, in units of
// 16 bytes with a bitmap of those taken. With memory_track (--check) each block is an allocation of
// its own instead, so that the checker detects accesses out of bounds and after free.
#define _DEFAULT_SOURCE

#include <stdlib.h>
#include <string.h>

#include "simt/memory/memory.h"

enum { UNIT = 16, WORD_BITS = 64 };

static size_t limit = HEAP_DEFAULT_BYTES;
static bool started;
static uint64_t base, units;
static uint64_t left;  // free units
static uint64_t rover; // the unit where the next search starts
static uint64_t *taken;
static uint32_t *lengths; // by unit: the units of the block that starts there, or 0

bool heap_set_bytes(size_t bytes) {
    if (started) return false;
    limit = bytes;
    return true;
}

static void give_up(void) {
    free(taken);
    free(lengths);
    taken = NULL;
    lengths = NULL;
    units = left = rover = base = 0;
}

void heap_forget(void) {
    give_up();
    started = false;
}

static void start(void) {
    started = true;
    units = left = limit / UNIT;
    if (memory_shadow || units == 0) return;
    base = memory_alloc_kind(units * UNIT, MEMORY_HEAP);
    taken = calloc(units / WORD_BITS + 1, sizeof *taken);
    lengths = calloc(units, sizeof *lengths);
    if (!base || !taken || !lengths) give_up();
}

static void mark(uint64_t first, uint64_t count, bool as_taken) {
    for (uint64_t u = first; u < first + count; u++) {
        uint64_t bit = (uint64_t)1 << u % WORD_BITS;
        taken[u / WORD_BITS] = as_taken ? taken[u / WORD_BITS] | bit : taken[u / WORD_BITS] & ~bit;
    }
}

// The first run of `count` free units that starts in [first, end); `units` if there is none.
static uint64_t find_run(uint64_t first, uint64_t end, uint64_t count) {
    uint64_t run = 0;
    for (uint64_t u = first; u < units && u - run < end; u++) {
        if (taken[u / WORD_BITS] == UINT64_MAX) {
            u |= WORD_BITS - 1; // skips the word
            run = 0;
        } else if (taken[u / WORD_BITS] >> u % WORD_BITS & 1) {
            run = 0;
        } else if (++run == count) {
            return u + 1 - count;
        }
    }
    return units;
}

// Searches from the rover to the end, then from the beginning.
static uint64_t take_run(uint64_t count) {
    uint64_t at = find_run(rover, units, count);
    if (at == units) at = find_run(0, rover, count);
    if (at == units) return 0;
    mark(at, count, true);
    lengths[at] = (uint32_t)count;
    rover = at + count;
    memset(memory_at(base + at * UNIT), MEMORY_POISON, count * UNIT);
    return base + at * UNIT;
}

uint64_t heap_alloc(uint64_t bytes) {
    if (!started) start();
    if (bytes == 0 || bytes > limit) return 0;
    uint64_t count = (bytes + UNIT - 1) / UNIT;
    if (count > left || count > UINT32_MAX) return 0;
    uint64_t address = memory_shadow ? memory_alloc_kind(bytes, MEMORY_HEAP) : take_run(count);
    if (address) left -= count;
    return address;
}

bool heap_free(uint64_t address) {
    if (address == 0) return true;
    if (memory_shadow) {
        const Allocation *allocation = memory_find(address);
        if (!allocation || allocation->kind != MEMORY_HEAP) return false;
        uint64_t count = (allocation->bytes + UNIT - 1) / UNIT;
        if (!memory_free(address)) return false;
        left += count;
        return true;
    }
    uint64_t at = (address - base) / UNIT;
    if (address % UNIT || at >= units || !lengths[at]) return false;
    mark(at, lengths[at], false);
    left += lengths[at];
    lengths[at] = 0;
    return true;
}
