// Races in global memory: of two threads' accesses to a byte one writes, no barrier orders them,
// neither has acquired what the other released (order.c), and they are not both strong at scopes
// that cover each other. PTX ISA, "Memory Consistency Model: Data-Races". Launches are ordered one
// behind the other. Two writes of the same value are no race.
//
// Most accesses are of words that nobody else touches, by whole warps at a time: those are compared
// and recorded in one loop. Bounds are checked before: see global.c.
#include "simt/observe/check/touch.h"

void check_global_ahead(const Access *access, uint32_t mask, const uint64_t address[LANES]) {
    enum { LINE_WORDS = 64 / sizeof(Record) }; // whose records are fetched together
    const bool reads = access->kind == ACCESS_LOAD;
    uint64_t last = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)], line = at / (4 * LINE_WORDS);
        if (line == last || at < memory_low || at >= memory_high) continue;
        last = line;
        const uint64_t offset = at - memory_base;
        const Region *region = shadow_regions[offset >> REGION_SHIFT];
        const Record *records = !region ? NULL : reads ? region->words.read : region->words.write;
        __builtin_prefetch(memory_at(at));
        __builtin_prefetch(memory_shadow + offset / 4);
        const uint64_t word = offset % REGION_BYTES / 4;
        if (records) __builtin_prefetch(&records[word], 1);
        if (records && reads && region->words.read_2)
            __builtin_prefetch(&region->words.read_2[word], 1);
    }
}

void check_global_races(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                        const uint64_t address[LANES], bool whole) {
    Touch at = touch_of(checker, warp, access, address);
    if (whole && whole_touch(&at)) return;
    const bool updates = access->kind == ACCESS_ATOMIC && record_scope(at.base) == SCOPE_DEVICE;
    if (!at.strong || updates) mask = scattered_quick(&at, mask);
    words_touch(&at, mask);
}
