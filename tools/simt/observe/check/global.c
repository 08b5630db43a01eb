// Accesses to global memory: outside of every allocation, to freed memory, askew, or reading what
// nothing has written.
#include <string.h>

#include "simt/exec/argument.h"
#include "simt/observe/check/touch.h"

static void outside(Checker *checker, const Access *access, uint32_t thread, uint64_t address,
                    uint64_t size) {
    const Argument meant = argument_near(checker->machine, address);
    const Allocation *near = memory_reserved(address) ? memory_before(address) : NULL;
    if (meant.of && (!near || meant.gap <= argument_gap(near, address))) near = meant.of;
    if (!near) {
        check_found(checker, KIND_BOUNDS, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    "thread %u %s %llu bytes at an address that is not the device's: pass a "
                    "pointer from cudaMalloc",
                    thread, check_verb(access->kind), (unsigned long long)size);
        return;
    }
    const bool front = address < near->address;
    check_found(checker, KIND_BOUNDS, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                front ? "thread %u %s %llu bytes, %llu in front of an allocation of %llu bytes: "
                        "guard the index"
                      : "thread %u %s %llu bytes at offset %llu of an allocation of %llu bytes: "
                        "guard the index",
                thread, check_verb(access->kind), (unsigned long long)size,
                (unsigned long long)(front ? near->address - address : address - near->address),
                (unsigned long long)near->bytes);
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

// What of an allocation is known to be written.
static Extent known_of(const Allocation *allocation) {
    Extent known;
    known.high = __atomic_load_n(&allocation->written_high, __ATOMIC_ACQUIRE);
    known.low = __atomic_load_n(&allocation->written_low, __ATOMIC_ACQUIRE);
    return known;
}

// The live allocation that an address is in, as the instruction last met it. Empty: there is none.
static Met *met_at(Checker *checker, const Access *access, uint64_t address) {
    enum { FIRST_LOOKS = 4 };
    Met *met = &checker->met[check_site(checker, access)];
    if (address >= met->at.low && address < met->at.high) return met;
    const Allocation *allocation = memory_find(address);
    *met = (Met){0};
    if (!allocation || !allocation->live) return met;
    met->at = (Extent){allocation->address, allocation->address + allocation->bytes};
    met->known = known_of(allocation);
    met->enough = FIRST_LOOKS;
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

// If a copy or a fill wrote the beginning of the allocation, it may have ended short.
static void report_unwritten(Checker *checker, const Access *access, uint32_t thread,
                             uint64_t address) {
    const Allocation *of = memory_find(address);
    const Extent known = known_of(of);
    const bool begun = known.low == of->address && known.high <= address;
    const char *does = check_verb(access->kind);
    if (of->untouched)
        check_found(checker, KIND_UNTOUCHED, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    "thread %u %s managed memory that neither host nor device has written: it is "
                    "zero on fresh pages only, so set it",
                    thread, does);
    else if (begun)
        check_found(checker, KIND_UNWRITTEN, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    "thread %u %s global memory that nothing has written, behind the first %llu "
                    "bytes of %zu: fill it first (sizes of copies are in bytes)",
                    thread, does, (unsigned long long)(known.high - known.low), of->bytes);
    else
        check_found(checker, KIND_UNWRITTEN, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    "thread %u %s global memory that nothing has written: fill it first", thread,
                    does);
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
        report_unwritten(checker, access, warp->index * LANES + (uint32_t)lane, address[lane]);
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

enum { STEP_WORDS = 32 };

// The end of the words that were written from an address on, or where those begin that end there:
// of a word each, as far as `limit`.
static uint64_t written_until(uint64_t address, uint64_t limit) {
    const uint8_t *shadow = memory_shadow + (address - memory_base) / 4;
    const uint64_t words = (limit - address) / 4;
    uint64_t k = 0;
    while (words - k >= STEP_WORDS && !any_unwritten(shadow + k, STEP_WORDS)) k += STEP_WORDS;
    while (k < words && shadow[k] == 0xF) k++;
    return address + k * 4;
}

static uint64_t written_since(uint64_t address, uint64_t limit) {
    const uint8_t *shadow = memory_shadow + (limit - memory_base) / 4;
    uint64_t k = (address - limit) / 4;
    while (k >= STEP_WORDS && !any_unwritten(shadow + k - STEP_WORDS, STEP_WORDS)) k -= STEP_WORDS;
    while (k > 0 && shadow[k - 1] == 0xF) k--;
    return limit + k * 4;
}

// What was found to be written, with what is known already and touches it.
static Extent with_known(const Met *met, Extent found) {
    const Extent known[] = {met->known, known_of(memory_find(met->at.low))};
    for (int k = 0; k < 2; k++) {
        if (found.low > known[k].high || found.high < known[k].low) continue;
        if (known[k].low < found.low) found.low = known[k].low;
        if (known[k].high > found.high) found.high = known[k].high;
    }
    return found;
}

// One more access found all that it touches written, so many bytes from `low` on at least. Around
// it so much is looked at as takes about as long as the accesses since the last time. What was
// written stays so while a kernel runs.
static void look_around(Met *met, uint64_t low, uint64_t bytes) {
    enum { WORDS_FOR_A_LOOK = 256 };
    const uint64_t reach = met->enough * WORDS_FOR_A_LOOK * 4;
    if (++met->looks < met->enough) return;
    const uint64_t after = (low + 3) & ~(uint64_t)3, last = met->at.high & ~(uint64_t)3;
    const uint64_t word =
        after < last ? after : last; // a half of the last word may be all there is
    Extent known = with_known(met, (Extent){word, bytes < 4 ? word : word + bytes});
    const Extent limit = {met->at.low + reach < known.low ? known.low - reach : met->at.low,
                          met->at.high > known.high + reach ? known.high + reach : met->at.high};
    if (limit.high > known.high) known.high = written_until(known.high, limit.high);
    if (limit.low < known.low) known.low = written_since(known.low, limit.low);
    memory_know(known.low, known.high);
    met->known = known;
    met->looks = 0;
    met->enough *= 2;
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

// Whether all lanes' accesses are aligned and lie in a part of memory.
static bool all_in(const Shape *shape, const Extent *extent, uint64_t size) {
    return shape->low >= extent->low && shape->high + size <= extent->high &&
           !(shape->bits & (size - 1));
}

// The lanes whose access lies in memory and is aligned; the others are reported.
static uint32_t good_lanes(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                           const uint64_t address[LANES]) {
    const uint64_t size = address_bytes(access);
    uint32_t good = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        good |= (uint32_t)lane_good(checker, warp, access, lane, address[lane], size) << lane;
    }
    return good;
}

// Whether all that the lanes access was written; what they store is from now on. Lanes one behind
// the other are looked at together, if some may be so.
static bool whole_words(bool store, uint32_t mask, const uint64_t address[LANES], uint64_t size,
                        uint32_t on) {
    uint32_t missing = 0;
    on &= mask & mask >> 1;
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
        missing |= any_unwritten(shadow, lanes * size / 4);
        if (store) memset(shadow, 0xF, lanes * size / 4);
        mask &= lanes == LANES ? 0 : ~(((1u << lanes) - 1) << lane);
    }
    return !missing;
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
    return !missing;
}

// The same of a whole warp at consecutive addresses from the beginning of a word on.
static bool whole_warp(bool store, uint64_t first, uint64_t size) {
    uint8_t *shadow = memory_shadow + (first - memory_base) / 4;
    const bool written = !any_unwritten(shadow, size * LANES / 4);
    if (store && !written) memset(shadow, 0xF, size * LANES / 4);
    return written;
}

// The same of any lanes; `heads`: those of which others access the same.
static bool all_written(const Access *access, uint32_t heads, const uint64_t address[LANES],
                        const Shape *shape) {
    const uint64_t size = address_bytes(access);
    const bool store = access->kind == ACCESS_STORE;
    if (shape->whole) return whole_warp(store, shape->low, size);
    return size < 4 ? parts_of_words(store, heads, address, size)
                    : whole_words(store, heads, address, size, shape->on);
}

// As a whole warp is known to be good, and nothing but a race is to be looked for.
bool check_whole_global(Checker *checker, Warp *warp, const Inst *inst, uint64_t first) {
    const uint32_t site = check_known_site(checker, inst->slot);
    const uint32_t size = (uint32_t)inst->memory.bytes * inst->memory.elements;
    const uint64_t bytes = (uint64_t)size * LANES;
    const bool loads = inst->access == ACCESS_LOAD;
    Met *met = &checker->met[site];
    if (!site || first & (size - 1) || first % 4) return false;
    if (checker->seen_frees != memory_frees || checker->machine->after) return false;
    if (!loads && checker->check->words.count) return false;
    if (first < met->known.low || first + bytes > met->known.high) {
        if (first < met->at.low || first + bytes > met->at.high) return false;
        const bool written = whole_warp(!loads, first, size);
        if (!written && loads) return false;
        if (written) look_around(met, first, bytes);
    }
    Touch at;
    touch_begin(&at, checker, warp, site, loads, SCOPE_NONE);
    at.size = size;
    return whole_touch(&at, first);
}

// Whether [first, first + bytes) lies in live memory and a load of it reads what was written; what
// a store writes is from now on.
static bool good_range(Checker *checker, const Access *access, uint64_t first, uint64_t bytes) {
    const bool store = access->kind == ACCESS_STORE;
    forget_freed(checker);
    const Met *met = met_at(checker, access, first);
    uint8_t *shadow = memory_shadow + (first - memory_base) / 4;
    if (first < met->at.low || first + bytes > met->at.high) return false;
    if (store) memset(shadow, 0xF, bytes / 4);
    return store || !any_unwritten(shadow, bytes / 4);
}

uint64_t check_global_range(Checker *checker, Warp *warp, const Access *access, uint32_t lane,
                            uint64_t first, uint64_t bytes) {
    enum { GROUP = REGION_GROUP * 4 };
    const bool ordered = access->kind == ACCESS_STORE && checker->check->words.count;
    uint64_t addresses[LANES] = {0}, done = 0;
    if (first % GROUP || access->order || checker->machine->after || ordered) return 0;
    if (!good_range(checker, access, first, bytes)) return 0;
    addresses[lane] = first;
    Touch at;
    touch_set(&at, checker, warp, access, 1u << lane, addresses);
    at.lane = lane;
    at.mine = at.base + ((Record)lane << RECORD_THREAD);
    while (done < bytes && whole_group(&at, first + done)) done += GROUP;
    return done;
}

// Those of the lanes whose accesses are good; what all they load was written, or it is reported.
static uint32_t good_accesses(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                              const uint64_t address[LANES], const Shape *shape) {
    const uint64_t size = address_bytes(access);
    Met *met = met_at(checker, access, shape->low);
    if (all_in(shape, &met->known, size)) return mask;
    const bool inside = all_in(shape, &met->at, size);
    const uint32_t good = inside ? mask : good_lanes(checker, warp, access, mask, address);
    if (!good) return 0;
    Shape of_good = *shape;
    if (good != mask) check_shape(&of_good, access, good, address);
    const bool store = access->kind == ACCESS_STORE;
    const uint32_t heads = store ? good : check_heads(&of_good, good);
    if (all_written(access, heads, address, &of_good)) {
        if (inside) look_around(met, shape->low, size);
        return good;
    }
    if (store) return good;
    check_written(checker, warp, access, good, address);
    for (uint32_t m = good; access->kind == ACCESS_ATOMIC && m; m &= m - 1)
        memory_written(address[__builtin_ctz(m)], size);
    return good;
}

// Whether all that the lanes access is known to be written, and aligned.
static bool all_known(const Met *met, uint32_t mask, const uint64_t address[LANES], uint64_t size) {
    bool known = met->known.high - met->known.low >= size;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        known &= at - met->known.low <= met->known.high - met->known.low - size;
        known &= !(at & (size - 1));
    }
    return known;
}

// Weak accesses by a few lanes, to what is known to be written. False: look at how they lie.
static bool few_lanes(Checker *checker, Warp *warp, const Access *access,
                      const uint64_t address[LANES]) {
    const uint32_t site = check_known_site(checker, access->slot), mask = warp->exec;
    if (!site || access->order || checker->check->partial) return false;
    if (__builtin_popcount(mask) > TOUCH_FEW || checker->parted >> warp->index & 1) return false;
    if (!all_known(&checker->met[site], mask, address, address_bytes(access))) return false;
    const Site *at_site = &checker->check->sites[site];
    if (access->bytes < 4 || at_site->alone)
        scattered_fetch(checker->check->launch, access->kind == ACCESS_LOAD, mask, address);
    Touch at;
    touch_begin(&at, checker, warp, site, access->kind == ACCESS_LOAD, SCOPE_NONE);
    at.access = access;
    at.mask = mask;
    at.address = address;
    at.size = address_bytes(access);
    const uint32_t left = backlog_add_few(&at, mask);
    if (left) words_touch(&at, scattered_few(&at, left));
    return true;
}

// Whether nothing has happened for which a weak load or store needs a closer look.
static inline bool calm(const Checker *checker, const Inst *inst) {
    if (checker->seen_frees != memory_frees || checker->machine->after) return false;
    return inst->access == ACCESS_LOAD || !checker->check->words.count;
}

bool check_lane_global(Warp *warp, const Inst *inst, uint64_t address) {
    Checker *checker = check_of(warp);
    const Check *check = checker->check;
    const uint32_t site = check_known_site(checker, inst->slot);
    const uint32_t size = (uint32_t)inst->memory.bytes * inst->memory.elements;
    const Extent known = checker->met[site].known;
    if (!site || check->partial || checker->parted >> warp->index & 1) return false;
    if (!calm(checker, inst) || address & (size - 1)) return false;
    if (address < known.low || address >= known.high || known.high - address < size) return false;
    Region *region = shadow_region(address);
    if (!region) return false;
    const One one = {
        checker, warp, inst, region, address, site, (uint32_t)__builtin_ctz(warp->exec), size};
    const bool direct = region->direct == check->launch;
    return direct ? scattered_one(&one) : backlog_add_one(&one);
}

bool check_lanes_global(Warp *warp, const Inst *inst, const uint64_t address[LANES]) {
    Checker *checker = check_of(warp);
    if (!calm(checker, inst)) return false;
    const Access access = address_access(inst);
    const uint32_t mask = warp->exec;
    Shape shape;
    if (few_lanes(checker, warp, &access, address)) return true;
    check_shape(&shape, &access, mask, address);
    const uint32_t good = good_accesses(checker, warp, &access, mask, address, &shape);
    if (good != mask) return false;
    check_global_races(checker, warp, &access, mask, address, &shape);
    return true;
}

void check_global(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                  const uint64_t address[LANES]) {
    Shape shape;
    check_shape(&shape, access, mask, address);
    forget_freed(checker);
    if (checker->machine->after) early_check(checker, warp, access, mask, address);
    const uint32_t good = good_accesses(checker, warp, access, mask, address, &shape);
    if (!good) return;
    if (good != mask) check_shape(&shape, access, good, address);
    check_order(checker, warp, access, good, address, &checker->check->words);
    check_global_races(checker, warp, access, good, address, &shape);
}
