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
static Met *met_at(Checker *checker, const Access *access, uint64_t address) {
    enum { WORDS_FOR_A_LOOK = 256 }; // so many are looked at in the time of a warp's load
    Met *met = &checker->met[check_site(checker, access)];
    if (address >= met->at.low && address < met->at.high) return met;
    const Allocation *allocation = memory_find(address);
    *met = (Met){0};
    if (!allocation || !allocation->live) return met;
    met->at = (Extent){allocation->address, allocation->address + allocation->bytes};
    met->enough = allocation->bytes / 4 / WORDS_FOR_A_LOOK + 1;
    return met;
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

// One more load found what it loads written. What was written stays so while a kernel runs.
static void look_again(Met *met) {
    const uint64_t bytes = met->at.high - met->at.low;
    if (++met->looks < met->enough) return;
    met->written = bytes % 4 == 0 &&
                   !any_unwritten(memory_shadow + (met->at.low - memory_base) / 4, bytes / 4);
    met->looks = 0;
    met->enough *= 4;
}

// A whole warp at consecutive addresses, all in one allocation, all written before: no hazard.
// False: look at every lane.
static bool whole_warp(Checker *checker, const Access *access, uint64_t first, uint64_t size) {
    if (first & (size - 1) || first % 4) return false;
    const uint64_t bytes = size * LANES;
    Met *met = met_at(checker, access, first);
    if (met->at.high - first < bytes || first >= met->at.high) return false;
    uint8_t *shadow = memory_shadow + (first - memory_base) / 4;
    if (access->kind == ACCESS_STORE) {
        memset(shadow, 0xF, bytes / 4);
        return true;
    }
    if (met->written) return true;
    if (any_unwritten(shadow, bytes / 4)) return false;
    look_again(met);
    return true;
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
    memset(checker->met, 0, check_sites_limit(checker->machine) * sizeof *checker->met);
    checker->seen_frees = memory_frees;
}

// The lanes whose access lies in memory and is aligned; the others are reported. *met: the
// allocation that all of them lie in, NULL: they may lie in several.
static uint32_t good_lanes(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                           const uint64_t address[LANES], Met **met) {
    const uint64_t size = address_bytes(access);
    *met = met_at(checker, access, address[__builtin_ctz(mask)]);
    const Extent extent = (*met)->at;
    const uint64_t room = extent.high - extent.low;
    uint64_t any = room < size;
    LANE_LOOP any |= (uint64_t)(address[l] - extent.low > room - size) | (address[l] & (size - 1));
    if (!any) return mask;
    *met = NULL;
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
    const Extent extent = met_at(checker, access, address)->at;
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

static Shape shape_of(uint32_t mask, const uint64_t address[LANES], uint64_t size) {
    const uint64_t first = address[__builtin_ctz(mask)];
    uint64_t stray = mask != ALL_LANES, spread = 0;
    LANE_LOOP {
        const uint64_t at = mask >> l & 1 ? address[l] : first;
        stray |= (first + size * (uint64_t)l) ^ at;
        spread |= at ^ first;
    }
    const bool near = !(spread >> REGION_SHIFT);
    if (!stray) return (Shape){.whole = true, .near = near, .heads = ALL_LANES};
    if (!spread) return (Shape){.uniform = true, .near = near, .heads = mask & (0 - mask)};
    return (Shape){.near = near, .heads = check_heads(address, mask)};
}

// Those of the lanes whose accesses are good; what all they load was written, or it is reported.
static uint32_t good_accesses(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                              const uint64_t address[LANES], uint32_t heads) {
    const uint64_t size = address_bytes(access);
    const bool load = access->kind == ACCESS_LOAD;
    Met *met;
    const uint32_t good = good_lanes(checker, warp, access, mask, address, &met);
    if (!good || (load && met && met->written)) return good;
    if (all_written(access, load && good == mask ? heads : good, address, size)) {
        if (load && met) look_again(met);
        return good;
    }
    check_written(checker, warp, access, good, address);
    for (uint32_t m = good; !load && m; m &= m - 1) memory_written(address[__builtin_ctz(m)], size);
    return good;
}

void check_global(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]) {
    const uint64_t size = address_bytes(access);
    Shape shape = shape_of(mask, address, size);
    forget_freed(checker);
    if (checker->machine->after) early_check(checker, warp, access, mask, address);
    shape.whole = shape.whole && access->kind != ACCESS_ATOMIC &&
                  whole_warp(checker, access, address[0], size);
    if (!shape.whole) {
        const uint32_t good = good_accesses(checker, warp, access, mask, address, shape.heads);
        if (!good) return;
        if (good != mask) shape = shape_of(good, address, size);
        shape.whole = false;
        mask = good;
    }
    check_order(checker, warp, access, mask, address, &checker->check->words);
    check_global_races(checker, warp, access, mask, address, &shape);
}
