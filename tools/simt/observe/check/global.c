// Accesses to global memory: outside of every allocation, to freed memory, askew, or reading what
// nothing has written.
#include <string.h>

#include "simt/observe/check/touch.h"

static void outside(Checker *checker, const Access *access, uint32_t thread, uint64_t address,
                    uint64_t size) {
    const Allocation *before = memory_reserved(address) ? memory_before(address) : NULL;
    if (!before) {
        check_found(checker, KIND_BOUNDS, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    "thread %u %s %llu bytes at an address that is not the device's: pass a "
                    "pointer from cudaMalloc",
                    thread, check_verb(access->kind), (unsigned long long)size);
        return;
    }
    uint64_t offset = address - before->address;
    check_found(checker, KIND_BOUNDS, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                "thread %u %s %llu bytes at offset %llu of an allocation of %llu bytes: guard the "
                "index",
                thread, check_verb(access->kind), (unsigned long long)size,
                (unsigned long long)offset, (unsigned long long)before->bytes);
}

// Whether [address, address + size) lies in one live allocation; if not, says so.
static bool inside(Checker *checker, const Access *access, uint32_t thread, uint64_t address,
                   uint64_t size) {
    const Allocation *allocation = memory_find(address);
    if (!allocation || address - allocation->address + size > allocation->bytes) {
        outside(checker, access, thread, address, size);
        return false;
    }
    if (allocation->live) return true;
    check_found(checker, KIND_FREED, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                "thread %u %s memory that was freed: %s", thread, check_verb(access->kind),
                allocation->kind == MEMORY_HEAP ? "free it after its last use"
                                                : "keep the allocation until the kernel has ended");
    return false;
}

// The live allocation that an address is in, as the instruction last met it. Empty: there is none.
static Extent extent_of(Checker *checker, const Access *access, uint64_t address) {
    Extent *extent = &checker->extents[check_site(checker, access)];
    if (address >= extent->low && address < extent->high) return *extent;
    const Allocation *allocation = memory_find(address);
    if (!allocation || !allocation->live) return (Extent){0, 0};
    *extent = (Extent){allocation->address, allocation->address + allocation->bytes};
    return *extent;
}

// Whether any byte of this element was written.
static bool element_written(uint64_t address, uint64_t size) {
    const uint8_t *shadow = memory_shadow + (address - memory_base) / 4;
    if (size < 4) {
        uint32_t first = (uint32_t)(address % 4);
        return *shadow & ((1u << (first + size)) - (1u << first));
    }
    return shadow[0] || (size > 4 && shadow[1]);
}

// A bit for each element of a lane's access that was written.
static uint32_t written(const Access *access, uint64_t address) {
    uint32_t elements = 0;
    for (uint32_t i = 0; i < access->elements; i++)
        elements |= (uint32_t)element_written(address + i * access->bytes, access->bytes) << i;
    return elements;
}

// Whether the lane's access lies in memory and is aligned.
static bool lane_good(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                      uint64_t address, uint64_t size) {
    uint32_t thread = warp->index * LANES + lane;
    if (!inside(checker, access, thread, address, size)) return false;
    if (address % size == 0) return true;
    check_found(checker, KIND_MISALIGNED, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                "thread %u %s %llu bytes at an address that is no multiple of %llu: align it",
                thread, check_verb(access->kind), (unsigned long long)size,
                (unsigned long long)size);
    return false;
}

// Copies of structures read their padding too, which nothing writes in any of them. So an element
// counts as unwritten where other lanes' was written, or where nothing of the access was.
static void check_written(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                          const uint64_t address[LANES]) {
    uint32_t has[LANES], any = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        has[lane] = written(access, address[lane]);
        any |= has[lane];
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (any && has[lane] == any) continue;
        uint32_t thread = warp->index * LANES + (uint32_t)lane;
        check_found(
            checker, KIND_UNWRITTEN, PTX_GLOBAL, access->inst, thread, NULL, 0, address[lane],
            "thread %u reads global memory that nothing has written: fill it first", thread);
    }
}

// A whole warp at consecutive addresses, all in one allocation, all written before: no hazard.
// False: look at every lane.
static bool whole_warp(Checker *checker, const Access *access, uint32_t mask,
                       const uint64_t address[LANES], uint64_t size) {
    if (mask != ALL_LANES) return false;
    uint64_t first = address[0], wrong = 0;
    LANE_LOOP wrong |= (first + size * (uint64_t)l) ^ address[l];
    if (wrong || first & (size - 1) || first % 4) return false;
    const uint64_t bytes = size * LANES;
    const Extent extent = extent_of(checker, access, first);
    if (extent.high - first < bytes || first >= extent.high) return false;
    uint8_t *shadow = memory_shadow + (first - memory_base) / 4;
    if (access->kind == ACCESS_STORE) {
        memset(shadow, 0xF, bytes / 4);
        return true;
    }
    uint64_t missing = 0;
    for (uint64_t at = 0; at < bytes / 4; at += 8) {
        uint64_t words;
        memcpy(&words, shadow + at, sizeof words);
        missing |= words ^ 0x0F0F0F0F0F0F0F0Fu;
    }
    return missing == 0;
}

void check_free(Warp *warp, const Inst *inst, int lane, uint64_t address) {
    const Allocation *allocation = memory_find(address);
    uint32_t thread = warp->index * LANES + (uint32_t)lane;
    bool again = allocation && allocation->kind == MEMORY_HEAP && allocation->address == address;
    check_found(check_of(warp), KIND_FREE, PTX_GLOBAL, inst, thread, NULL, 0, address,
                again ? "thread %u frees memory that was freed before: free it once"
                      : "thread %u frees memory that malloc did not return: pass its result on",
                thread);
}

// What a kernel has freed is in no extent any more.
static void forget_freed(Checker *checker) {
    if (checker->seen_frees == memory_frees) return;
    memset(checker->extents, 0, check_sites_limit(checker->machine) * sizeof *checker->extents);
    checker->seen_frees = memory_frees;
}

// The lanes whose access lies in memory and is aligned; the others are reported.
static uint32_t good_lanes(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                           const uint64_t address[LANES], uint64_t size) {
    const Extent extent = extent_of(checker, access, address[__builtin_ctz(mask)]);
    const uint64_t room = extent.high - extent.low;
    uint64_t any = room < size;
    LANE_LOOP any |= (uint64_t)(address[l] - extent.low > room - size) | (address[l] & (size - 1));
    if (!any) return mask;
    uint32_t wrong = 0;
    LANE_LOOP wrong |=
        (uint32_t)((address[l] - extent.low > room - size) | ((address[l] & (size - 1)) != 0)) << l;
    if (room < size) wrong = ALL_LANES;
    uint32_t good = mask & ~wrong;
    for (uint32_t m = mask & wrong; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        good |= (uint32_t)lane_good(checker, warp, access, lane, address[lane], size) << lane;
    }
    return good;
}

// Whether some of so many words were not written.
static bool any_unwritten(const uint8_t *shadow, uint64_t words) {
    uint64_t missing = 0, eight;
    for (; words >= 8; words -= 8, shadow += 8) {
        memcpy(&eight, shadow, sizeof eight);
        missing |= eight ^ 0x0F0F0F0F0F0F0F0Fu;
    }
    for (; words; words--) missing |= *shadow++ ^ 0xFu;
    return missing != 0;
}

// Whether all that the lanes load was written; what they store is from now on. Lanes one behind the
// other are looked at together.
static bool whole_words(bool store, uint32_t mask, const uint64_t address[LANES], uint64_t size) {
    uint32_t on = 0;
    for (uint32_t l = 0; l < LANES - 1 && !warp_is_sparse(mask); l++)
        on |= (uint32_t)(address[l + 1] == address[l] + size) << l;
    on &= mask & mask >> 1;
    uint32_t missing = 0;
    for (uint32_t m = on ? 0 : mask; m; m &= m - 1) {
        uint8_t *shadow = memory_shadow + (address[__builtin_ctz(m)] - memory_base) / 4;
        for (uint64_t k = 0; k < size / 4; k++) {
            missing |= shadow[k] ^ 0xFu;
            if (store) shadow[k] = 0xF;
        }
    }
    while (on && mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const uint32_t lanes = 1 + (uint32_t)__builtin_ctz(~(on >> lane));
        uint8_t *shadow = memory_shadow + (address[lane] - memory_base) / 4;
        if (store)
            memset(shadow, 0xF, lanes * size / 4);
        else
            missing |= any_unwritten(shadow, lanes * size / 4);
        mask &= lanes == LANES ? 0 : ~(((1u << lanes) - 1) << lane);
    }
    return store || !missing;
}

// The same of parts of words.
static bool parts_of_words(bool store, uint32_t mask, const uint64_t address[LANES],
                           uint64_t size) {
    uint32_t missing = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        const uint32_t wanted = ((1u << size) - 1) << at % 4;
        const uint32_t unwritten = wanted & ~(uint32_t)memory_shadow[(at - memory_base) / 4];
        if (store && unwritten) memory_written(at, size);
        missing |= unwritten;
    }
    return store || !missing;
}

static bool all_written(const Access *access, uint32_t mask, const uint64_t address[LANES],
                        uint64_t size) {
    const bool store = access->kind == ACCESS_STORE;
    return size < 4 ? parts_of_words(store, mask, address, size)
                    : whole_words(store, mask, address, size);
}

bool check_global_group(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                        uint64_t address) {
    enum { BYTES = REGION_GROUP * 4 };
    const bool store = access->kind == ACCESS_STORE;
    if (address % BYTES || access->order || checker->machine->after) return false;
    forget_freed(checker);
    const Extent extent = extent_of(checker, access, address);
    if (extent.high - extent.low < BYTES || address - extent.low > extent.high - extent.low - BYTES)
        return false;
    if (store && checker->check->words.count) return false;
    uint8_t *shadow = memory_shadow + (address - memory_base) / 4;
    if (store)
        memset(shadow, 0xF, REGION_GROUP);
    else if (any_unwritten(shadow, REGION_GROUP))
        return false;
    uint64_t addresses[LANES] = {0};
    addresses[lane] = address;
    Touch at = touch_of(checker, warp, access, addresses);
    at.lane = lane;
    at.mine = at.base + ((Record)lane << RECORD_THREAD);
    return whole_group(&at, address);
}

void check_global(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]) {
    uint64_t size = address_bytes(access);
    forget_freed(checker);
    if (checker->machine->after) early_check(checker, warp, access, mask, address);
    if (access->kind != ACCESS_ATOMIC && whole_warp(checker, access, mask, address, size)) {
        check_order(checker, warp, access, mask, address, &checker->check->words);
        check_global_races(checker, warp, access, mask, address, true);
        return;
    }
    const bool load = access->kind == ACCESS_LOAD;
    const uint32_t heads = load ? check_heads(address, mask) : mask; // the others read the same
    const uint32_t good = good_lanes(checker, warp, access, mask, address, size);
    if (!good) return;
    if (!all_written(access, good == mask ? heads : good, address, size)) {
        check_written(checker, warp, access, good, address);
        for (uint32_t m = good; !load && m; m &= m - 1)
            memory_written(address[__builtin_ctz(m)], size);
    }
    check_order(checker, warp, access, good, address, &checker->check->words);
    check_global_races(checker, warp, access, good, address, false);
}
