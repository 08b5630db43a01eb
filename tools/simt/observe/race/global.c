// Checks accesses to global memory: out of bounds, to freed memory, misaligned, or reads of memory
// that was never written.
#include "simt/observe/race/global.h"

#include <string.h>

#include "simt/observe/race/race.h"

enum { FAR = 1 << 20 }; // bytes: a small wrong index is not as far out

static void outside(Checker *checker, const Access *access, uint32_t thread, uint64_t address,
                    uint64_t size) {
    const Argument meant = argument_near(checker->machine, address);
    const Allocation *near = memory_reserved(address) ? memory_before(address) : NULL;
    if (meant.of && (!near || meant.gap <= argument_gap(near, address))) near = meant.of;
    if (!near) {
        finding_add(
            checker, KIND_BOUNDS, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
            ": %llu bytes at an address that is not the device's\npass the kernel a pointer "
            "from cudaMalloc()",
            (unsigned long long)size);
        return;
    }
    const bool front = address < near->address;
    const uint64_t distance = front ? near->address - address : address - near->address;
    const bool far = distance >= (front ? FAR : (uint64_t)FAR << 10);
    finding_add(checker, KIND_BOUNDS, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                front ? ": %llu bytes, %llu before an allocation of %llu bytes\n%s"
                      : ": %llu bytes at offset %llu of an allocation of %llu bytes\n%s",
                (unsigned long long)size, (unsigned long long)distance,
                (unsigned long long)near->bytes,
                far ? "an index so far out has probably passed 2^31 as an int: compute it in "
                      "size_t; otherwise guard it"
                    : advice_guard_index);
}

// Whether a lane's access lies in one live allocation and is aligned. Otherwise it is reported.
static bool is_good(Checker *checker, const Access *access, uint32_t thread, uint64_t address) {
    const Allocation *allocation = memory_find(address);
    const uint64_t size = address_bytes(access);
    if (!allocation || address - allocation->address + size > allocation->bytes) {
        outside(checker, access, thread, address, size);
    } else if (!allocation->live) {
        const bool heap = allocation->kind == MEMORY_HEAP;
        finding_add(checker, KIND_FREED, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    ", which was freed\n%s",
                    heap ? "free it after its last use"
                         : "free the allocation after the kernel has ended");
    } else if (address % size) {
        finding_add(
            checker, KIND_MISALIGNED, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
            ": %llu bytes at an address that is not a multiple of %llu\nalign the address to the "
            "size, or access smaller elements",
            (unsigned long long)size, (unsigned long long)size);
    } else {
        return true;
    }
    return false;
}

// The live allocation that an address is in; empty if there is none. The instruction's last result
// is cached.
static const Extent *allocation_at(Checker *checker, const Access *access, uint64_t address) {
    Extent *extent = &checker->check->allocations[check_site(checker, access)];
    if (address >= extent->low && address < extent->high) return extent;
    const Allocation *allocation = memory_find(address);
    *extent = (Extent){0, 0};
    if (allocation && allocation->live)
        *extent = (Extent){allocation->address, allocation->address + allocation->bytes};
    return extent;
}

// A bit for each element of a lane's access: whether any of its bytes was written.
static uint32_t written(const Access *access, uint64_t address) {
    uint32_t elements = 0;
    for (uint32_t i = 0; i < access->elements; i++, address += access->bytes) {
        const uint8_t *shadow = memory_shadow + (address - memory_base) / 4;
        const uint32_t bytes = access->bytes < 4 ? ((1u << access->bytes) - 1) << address % 4 : 0xF;
        const bool any = shadow[0] & bytes || (access->bytes > 4 && shadow[1]);
        elements |= (uint32_t)any << i;
    }
    return elements;
}

// How many bytes at the beginning of an allocation were written, at most up to an unwritten
// address. Their number only grows during a launch, so the search goes on where it has ended
// before.
static uint64_t written_front(const Checker *checker, const Allocation *of, uint64_t address) {
    static uint64_t launch, serial, end;
    if (launch != checker->check->launch || serial != of->serial) end = of->address;
    launch = checker->check->launch;
    serial = of->serial;
    end = memory_seek(end, address, false);
    return end - of->address;
}

// If the beginning of the allocation was written, a copy or a fill may have been too short.
static void report_unwritten(Checker *checker, const Access *access, uint32_t thread,
                             uint64_t address) {
    const Allocation *of = memory_find(address);
    const uint64_t front = written_front(checker, of, address);
    if (of->untouched)
        finding_add(checker, KIND_UNTOUCHED, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    ", managed memory that neither host nor device has written and that is zero "
                    "only on fresh pages\nset it before the launch");
    else if (front)
        finding_add(checker, KIND_UNWRITTEN, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    ", of whose allocation only the first %llu of %zu bytes were written\nfill the "
                    "rest before the launch; sizes of cudaMemcpy and cudaMemset are in bytes",
                    (unsigned long long)front, of->bytes);
    else
        finding_add(checker, KIND_UNWRITTEN, PTX_GLOBAL, access->inst, thread, NULL, 0, address,
                    ", which nothing has written\nwrite it before the launch, or before this line");
}

// Whether the lane copies one part of a structure of which another part was written.
static bool of_written(const Checker *checker, const Access *access, uint64_t address) {
    uint64_t distances[UNWRITTEN_PARTS];
    const uint32_t count = unwritten_parts(checker->machine, access->inst, distances);
    const Allocation *of = memory_find(address);
    bool any = false;
    for (uint32_t k = 0; k < count; k++)
        if (address + distances[k] - of->address < of->bytes)
            any |= written(access, address + distances[k]) != 0;
    return any;
}

// A copy of a structure also reads its padding, which is never written. So a lane's access is
// reported if it lacks elements that other lanes' accesses have, or if no lane's access has any.
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
        if (any ? has[lane] == any : of_written(checker, access, address[lane])) continue;
        report_unwritten(checker, access, warp->index * LANES + (uint32_t)lane, address[lane]);
    }
}

// Whether some of these words were not written.
static bool any_unwritten(const uint8_t *shadow, uint64_t words) {
    uint64_t missing = 0, eight;
    for (; words >= 8; words -= 8, shadow += 8) {
        memcpy(&eight, shadow, sizeof eight);
        missing |= eight ^ 0x0F0F0F0F0F0F0F0Fu;
    }
    for (; words; words--) missing |= *shadow++ ^ 0xFu;
    return missing != 0;
}

void global_free(Warp *warp, const Inst *inst, int lane, uint64_t address) {
    const Allocation *allocation = memory_find(address);
    uint32_t thread = warp->index * LANES + (uint32_t)lane;
    bool again = allocation && allocation->kind == MEMORY_HEAP && allocation->address == address;
    finding_add(check_of(warp), KIND_FREE, PTX_GLOBAL, inst, thread, NULL, 0, address,
                again ? " frees memory that was freed before\nfree it once"
                      : " frees memory that malloc() did not return\npass free() the pointer that "
                        "malloc() returned");
}

// Empties the cache of allocations once a kernel has freed memory.
static void forget_freed(Check *check) {
    if (check->seen_frees == memory_frees) return;
    memset(check->allocations, 0, check->site_capacity * sizeof *check->allocations);
    check->seen_frees = memory_frees;
}

// Whether all of these bytes were written. A store marks them as written.
static bool all_written(bool store, uint64_t address, uint64_t bytes) {
    uint8_t *shadow = memory_shadow + (address - memory_base) / 4;
    bool written;
    if (bytes < 4) {
        const uint32_t wanted = ((1u << bytes) - 1) << address % 4;
        written = !(wanted & ~(uint32_t)*shadow);
        if (store && !written) memory_written(address, bytes);
        return written;
    }
    written = !any_unwritten(shadow, bytes / 4);
    if (store && !written) memset(shadow, 0xF, bytes / 4);
    return written;
}

// The lanes whose accesses are valid. Reads of unwritten memory are reported.
static uint32_t good_accesses(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                              const uint64_t address[LANES]) {
    const uint64_t size = address_bytes(access);
    const bool store = access->kind == ACCESS_STORE;
    const Extent *extent = allocation_at(checker, access, address[__builtin_ctz(mask)]);
    const bool inside = !(mask & ~bounds_between(access, address, extent->low, extent->high));
    uint32_t good = inside ? mask : 0;
    for (uint32_t m = mask & ~good; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m), thread = warp->index * LANES + lane;
        good |= (uint32_t)is_good(checker, access, thread, address[lane]) << lane;
    }
    bool written = true;
    for (uint32_t m = good; m; m &= m - 1) {
        const uint64_t at = address[__builtin_ctz(m)];
        written &= (size == 4 && memory_shadow[(at - memory_base) / 4] == 0xF) ||
                   all_written(store, at, size);
    }
    if (written) return good;
    if (store || !good) return good;
    check_written(checker, warp, access, good, address);
    for (uint32_t m = good; access->kind == ACCESS_ATOMIC && m; m &= m - 1)
        memory_written(address[__builtin_ctz(m)], size);
    return good;
}

// Whether a weak access to these bytes needs no check beyond bounds, initialization and races.
static bool is_plain(const Checker *checker, bool loads, uint64_t first, uint64_t bytes) {
    if (checker->check->seen_frees != memory_frees || checker->machine->after) return false;
    return loads || !order_words(&checker->check->words, first, bytes);
}

// Whether [first, first + bytes) lies in live memory and, for a load, was written. A store marks it
// as written.
static bool is_good_range(Checker *checker, const Access *access, uint64_t first, uint64_t bytes) {
    const bool store = access->kind == ACCESS_STORE;
    if (!extent_holds(allocation_at(checker, access, first), first, bytes)) return false;
    return all_written(store, first, bytes) || store;
}

bool global_range(Checker *checker, Warp *warp, const Access *access, uint32_t lane, uint64_t first,
                  uint64_t bytes, uint32_t shift) {
    if (first % 4 || first % address_bytes(access) || access->kind == ACCESS_ATOMIC) return false;
    if (!is_plain(checker, access->kind == ACCESS_LOAD, first, bytes)) return false;
    if (!is_good_range(checker, access, first, bytes)) return false;
    Race at;
    race_begin(&at, checker, NULL, warp, access, ALL_LANES, NULL, 0);
    return race_range(&at, lane, first, bytes, shift);
}

void global_access(Checker *checker, Warp *warp, const Access *access, uint32_t mask,
                   const uint64_t address[LANES]) {
    forget_freed(checker->check);
    if (checker->machine->after) early_access(checker, warp, access, mask, address);
    const uint32_t good = good_accesses(checker, warp, access, mask, address);
    if (!good) return;
    order_access(checker, warp, access, good, address, &checker->check->words);
    Race at;
    race_begin(&at, checker, NULL, warp, access, good, address, 0);
    race_lanes(&at, good);
}
