// Accesses to shared and local memory: outside of it, askew, or in another variable than their own.
#include "simt/observe/race/inside.h"

uint32_t check_between(const Access *access, const uint64_t address[LANES], uint64_t low,
                       uint64_t high) {
    uint64_t size = address_bytes(access);
    uint64_t wrong = 0;
    uint32_t good = 0;
    if (low > high || size > high - low) return 0;
    LANE_LOOP wrong |= (uint64_t)(address[l] - low > high - low - size) | (address[l] & (size - 1));
    if (!wrong) return ALL_LANES;
    LANE_LOOP good |=
        (uint32_t)((address[l] - low <= high - low - size) & !(address[l] & (size - 1))) << l;
    return good;
}

// The same in [0, limit); the others are reported.
uint32_t check_within(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                      const uint64_t address[LANES], uint64_t limit) {
    const uint32_t good = check_between(access, address, 0, limit), size = address_bytes(access);
    const char *space = access->space == PTX_SHARED ? "shared" : "local";
    for (uint32_t m = mask & ~good; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        const bool fits = address[lane] < limit && limit - address[lane] >= size;
        check_found(checker, fits ? KIND_MISALIGNED : KIND_BOUNDS, access->space, access->inst,
                    thread, NULL, 0, address[lane],
                    "thread %u %s %u bytes at %s address %llu, of %llu: %s", thread,
                    check_verb(access->kind), size, space, (unsigned long long)address[lane],
                    (unsigned long long)limit, fits ? "align it to its size" : "guard the index");
    }
    return mask & good;
}

uint32_t check_inside(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                      const uint64_t address[LANES]) {
    Extent *extent = &checker->check->variables[check_site(checker, access)];
    const uint64_t limit = warp->block->shared_bytes;
    if (!extent->high) *extent = variable_extent(checker->machine, access->inst, limit);
    const uint32_t good = mask & check_between(access, address, extent->low, extent->high);
    if (good == mask) return mask;
    const uint32_t inside = check_within(checker, warp, access, mask & ~good, address, limit);
    for (uint32_t m = inside; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        char text[160];
        variable_outside(checker->machine, access->inst, address[lane], text, sizeof text);
        check_found(checker, KIND_BOUNDS, PTX_SHARED, access->inst, thread, NULL, 0, address[lane],
                    "thread %u %s %u bytes %s: guard the index", thread, check_verb(access->kind),
                    address_bytes(access), text);
    }
    return good;
}
