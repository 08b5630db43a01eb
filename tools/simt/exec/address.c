// Resolves, checks and counts the accesses of a warp's lanes. See address.h.
#include "simt/exec/address.h"

#include <stdio.h>
#include <string.h>

#include "simt/exec/bank.h"
#include "simt/exec/cluster.h"

enum { WINDOW_SHIFT = 48 };
_Static_assert(ADDRESS_WITHIN == ((uint64_t)1 << WINDOW_SHIFT) - 1, "a window holds its addresses");

// The spaces that generic addresses reach, indexed by window number.
static const PtxSpace windows[] = {PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_PARAM};
enum { WINDOWS = sizeof windows / sizeof *windows };

uint64_t address_window(PtxSpace space) {
    for (uint64_t k = 0; k < WINDOWS; k++)
        if (windows[k] == space) return k << WINDOW_SHIFT;
    return 0; // constants are global memory here
}

static PtxSpace space_of(uint64_t address) {
    uint64_t window = address >> WINDOW_SHIFT;
    return window < WINDOWS ? windows[window] : PTX_GENERIC;
}

bool address_in_space(const Block *block, uint64_t address, PtxSpace space) {
    if (space == PTX_CONST) {
        const Allocation *allocation = memory_find(address);
        return allocation && allocation->kind == MEMORY_CONSTANTS;
    }
    if (space == PTX_GLOBAL) return address >= memory_low && address < memory_high;
    if (space == PTX_SHARED_CLUSTER) return space_of(address) == PTX_SHARED;
    if (space == PTX_SHARED && address_rank(block, address) != block->rank) return false;
    return space_of(address) == space;
}

bool address_global_pointer(const uint8_t *pointer) {
    const uint64_t address = (uint64_t)(uintptr_t)pointer - (uint64_t)memory_delta;
    return address >= memory_low && address < memory_high;
}

uint32_t address_same_block(const Block *block, const uint64_t address[LANES], uint32_t mask,
                            Block **of) {
    const uint32_t rank = address_rank(block, address[__builtin_ctz(mask)]);
    uint32_t same = 0;
    LANE_LOOP same |= (uint32_t)(address_rank(block, address[l]) == rank) << l;
    *of = cluster_block(block, rank);
    return same & mask;
}

Access address_copy_store(const Inst *inst) {
    Access access = address_access(inst);
    access.kind = ACCESS_STORE;
    return access;
}

Access address_copy_load(const Inst *inst) {
    Access access = address_access(inst);
    access.offset = inst->copy.offset;
    access.base = inst->copy.base;
    access.wide = true;
    access.kind = ACCESS_LOAD;
    access.space = PTX_GLOBAL;
    return access;
}

uint32_t address_copy_bytes(const Warp *warp, const Inst *inst, int lane) {
    const InstCopy *copy = &inst->copy;
    const uint32_t size = (uint32_t)inst->memory.bytes * inst->memory.elements;
    if (copy->ignored != PTX_NONE && *REG(warp, LaneU32, copy->ignored) >> lane & 1) return 0;
    if (copy->read == PTX_NONE) return size;
    uint32_t bytes = REG(warp, LaneU32, copy->read)[lane];
    return bytes < size ? bytes : size;
}

void address_lanes(const Warp *warp, const Access *access, uint64_t address[LANES]) {
    const uint64_t offset = access->offset;
    if (access->wide) {
        const LaneU64 *base = REG(warp, LaneU64, access->base);
        LANE_LOOP address[l] = base[l] + offset;
    } else {
        const LaneU32 *base = REG(warp, LaneU32, access->base);
        LANE_LOOP address[l] = (uint32_t)(base[l] + (uint32_t)offset);
    }
}

bool address_stored(const Warp *warp, const Access *access, uint32_t lane, uint32_t offset,
                    uint32_t count, uint8_t *out) {
    const Inst *inst = access->inst;
    if (inst->access != ACCESS_STORE) return false;
    for (uint32_t i = 0; i < count; i++, offset++) {
        const InstValues *values = &inst->values;
        const uint8_t bytes = inst->memory.bytes;
        const uint8_t *registers = REG(warp, uint8_t, values->value[offset / bytes]);
        out[i] = registers[lane * register_bytes(values->class) + offset % bytes];
    }
    return true;
}

// The value in memory at an address that an atomic operation may access.
static uint64_t value_at(const Warp *warp, const Access *access, uint64_t address) {
    const uint8_t *at = memory_at(address);
    uint64_t value = 0;
    if (access->space == PTX_SHARED) {
        const Block *of = cluster_block(warp->block, address_rank(warp->block, address));
        at = of->shared + (address & ADDRESS_IN_BLOCK);
    }
    memcpy(&value, at, access->bytes);
    return value;
}

uint32_t address_swaps(const Warp *warp, const Access *access, uint32_t lanes,
                       const uint64_t address[LANES]) {
    const InstAtomic *atomic = &access->inst->atomic;
    const RegisterClass class = register_class(atomic->type);
    uint32_t swaps = 0;
    if (access->inst->access != ACCESS_ATOMIC || !(access->order & ORDER_RELAXED)) return lanes;
    if (atomic->mode != ATOMIC_CAS) return lanes;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        const uint64_t wanted = warp_read(warp, class, atomic->b, lane);
        uint64_t value = value_at(warp, access, address[lane]);
        for (uint32_t s = swaps; s; s &= s - 1)
            if (address[__builtin_ctz(s)] == address[lane])
                value = warp_read(warp, class, atomic->c, __builtin_ctz(s));
        if (memcmp(&value, &wanted, access->bytes) == 0) swaps |= 1u << lane;
    }
    return swaps;
}

uint32_t address_same_space(const uint64_t address[LANES], uint32_t mask, PtxSpace *space,
                            uint64_t within[LANES]) {
    uint64_t window = address[__builtin_ctz(mask)] >> WINDOW_SHIFT;
    uint32_t same = 0;
    LANE_LOOP same |= (uint32_t)(address[l] >> WINDOW_SHIFT == window) << l;
    LANE_LOOP within[l] = address[l] & ADDRESS_WITHIN;
    *space = window < WINDOWS ? windows[window] : PTX_GENERIC;
    return same & mask;
}

// --- checks and counters ---

// Counts distinct sectors with a hash table.
static uint32_t scattered_sectors(const uint64_t address[LANES], uint32_t mask) {
    enum { SLOTS = 64 };
    uint64_t seen[SLOTS];
    uint64_t used = 0, last = UINT64_MAX;
    uint32_t count = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t sector = address[__builtin_ctz(mask)] / 32;
        if (sector == last) continue;
        last = sector;
        uint64_t at = (sector ^ (sector >> 6)) % SLOTS;
        while (used >> at & 1 && seen[at] != sector) at = (at + 1) % SLOTS;
        if (used >> at & 1) continue;
        used |= 1ull << at;
        seen[at] = sector;
        count++;
    }
    return count;
}

// Counts the sectors of a full warp. If sectors only grow or only shrink from lane to lane, each
// step is a new sector. This also holds if the upper half warp repeats the lower one, as in blocks
// that are 16 threads wide.
static uint32_t whole_sectors(const uint64_t address[LANES]) {
    uint64_t sector[LANES + 1], up = 0, down = 0, halves = 0;
    LANE_LOOP sector[l] = address[l] / 32;
    sector[LANES] = sector[LANES - 1];
    for (int l = 0; l < LANES / 2; l++) {
        halves |= sector[l] ^ sector[l + LANES / 2];
        up += sector[l] < sector[l + 1];
        down += sector[l] > sector[l + 1];
    }
    if (!halves) { // ignore the step between the halves
        up -= sector[LANES / 2 - 1] < sector[LANES / 2];
        down -= sector[LANES / 2 - 1] > sector[LANES / 2];
    }
    for (int l = LANES / 2; halves && l < LANES; l++) {
        up += sector[l] < sector[l + 1];
        down += sector[l] > sector[l + 1];
    }
    return up && down ? scattered_sectors(address, ALL_LANES) : (uint32_t)(up + down) + 1;
}

static uint32_t sectors_of(const uint64_t address[LANES], uint32_t mask) {
    if (mask == ALL_LANES) return whole_sectors(address);
    uint32_t up = 0, down = 0;
    uint64_t last = address[__builtin_ctz(mask)] / 32;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t sector = address[__builtin_ctz(m)] / 32;
        up += sector > last;
        down += sector < last;
        last = sector;
    }
    return up && down ? scattered_sectors(address, mask) : up + down + 1;
}

// A warp's part of a space: addresses [low, high), with `lane_bytes` from each lane's copy to the
// next.
typedef struct {
    uint8_t *base; // of address 0
    uint64_t low, high, lane_bytes;
} Region;

static Region region_of(const Warp *warp, const Block *block, PtxSpace space) {
    const uint64_t stride = block->local_stride;
    switch (space) {
    case PTX_GLOBAL:
    case PTX_CONST:
        return (Region){memory_at(0), memory_low, memory_high, 0};
    case PTX_SHARED:
        return (Region){block->shared, 0, block->shared_bytes, 0};
    case PTX_LOCAL:
        return (Region){block->local + (uint64_t)warp->index * LANES * stride, 0,
                        warp->local_reached, stride};
    default:
        return (Region){block->machine->params, 0, block->machine->param_bytes, 0};
    }
}

static bool fits(const Region *region, uint64_t address, uint64_t size) {
    uint64_t bytes = region->high - region->low;
    return bytes >= size && address - region->low <= bytes - size;
}

bool address_read(const Warp *warp, int lane, uint64_t address, void *to, uint32_t bytes) {
    PtxSpace space = space_of(address);
    if (space == PTX_GENERIC) return false;
    uint64_t at = address & ADDRESS_WITHIN;
    const Block *block = warp->block;
    if (space == PTX_SHARED) {
        block = cluster_block(block, address_rank(block, at));
        at &= ADDRESS_IN_BLOCK;
    }
    if (!block) return false;
    Region region = region_of(warp, block, space);
    if (!fits(&region, at, bytes)) return false;
    memcpy(to, (uint8_t *)((uintptr_t)region.base + at + region.lane_bytes * (uint64_t)lane),
           bytes);
    return true;
}

bool address_copied(const Warp *warp, const Inst *inst, int lane, uint32_t offset, uint32_t count,
                    uint8_t *out) {
    const uint32_t bytes = address_copy_bytes(warp, inst, lane);
    const uint32_t left = bytes > offset ? bytes - offset : 0;
    const uint64_t from = REG(warp, LaneU64, inst->copy.base)[lane] + inst->copy.offset + offset;
    memset(out, 0, count);
    return !left || address_read(warp, lane, from, out, left < count ? left : count);
}

static bool bad_address(Warp *warp, const Access *access, PtxSpace space, int lane,
                        uint64_t address, bool misaligned) {
    static const char *const kinds[] = {
        [ACCESS_LOAD] = "load", [ACCESS_STORE] = "store", [ACCESS_ATOMIC] = "atomic"};
    static const char *const names[] = {"register", "global",    "constant", "shared",
                                        "local",    "parameter", "generic",  "shared"};
    char name[32] = "", of[80] = "";
    if (space == PTX_GLOBAL || space == PTX_GENERIC) {
        const int64_t offset =
            argument_name(warp->block->machine, address, name, sizeof name) / access->bytes;
        if (name[0]) snprintf(of, sizeof of, ", element %lld of %s,", (long long)offset, name);
    }
    warp_fail(warp, access->inst, lane, misaligned ? SIMT_MISALIGNED_ADDRESS : SIMT_ILLEGAL_ADDRESS,
              "%s %s of %u bytes at 0x%llx%s %s", names[space], kinds[access->kind],
              address_bytes(access), (unsigned long long)address, misaligned ? "" : of,
              misaligned ? "is not aligned to its size" : "is outside of what is allocated");
    return false;
}

void address_count_shared(Warp *warp, uint32_t slot, const uint32_t address[LANES], uint32_t mask,
                          uint32_t bytes, bool load) {
    Tally *tally = &warp->tally[slot];
    const BankCount banks = bank_count(address, mask, bytes, load);
    tally->a++;
    tally->b += banks.wavefronts;
    tally->c += banks.groups;
}

static void count(Warp *warp, const Access *access, PtxSpace space, uint32_t mask,
                  const uint64_t address[LANES]) {
    // Atomic operations count lanes. A cp.async is counted by address_count_copy().
    if (access->kind == ACCESS_ATOMIC) return;
    if (access->inst->access == ACCESS_COPY) return;
    Tally *tally = &warp->tally[access->slot];
    if (space == PTX_GLOBAL) {
        tally->a++;
        tally->b += sectors_of(address, mask);
    } else if (space == PTX_SHARED) {
        uint32_t word[LANES];
        LANE_LOOP word[l] = (uint32_t)address[l];
        address_count_shared(warp, access->slot + (access->space == PTX_GENERIC), word, mask,
                             address_bytes(access), access->kind == ACCESS_LOAD);
    }
}

void address_count_copy(Warp *warp, const Inst *inst, uint32_t mask, uint8_t *const from[LANES],
                        uint8_t *const to[LANES]) {
    enum { SECTOR = 32, LINE = 128, PIECES = 1 << 14 }; // sectors of shared memory
    uint64_t key[LANES];
    for (uint32_t m = mask; m; m &= m - 1) {
        const int l = __builtin_ctz(m);
        const uint64_t at = (uint64_t)((uintptr_t)from[l] - (uintptr_t)memory_at(0));
        const uint64_t piece = (uint64_t)(to[l] - warp->block->shared) / SECTOR;
        key[l] = inst->copy.bypass ? (at / LINE * PIECES + piece) * SECTOR : at;
    }
    Tally *tally = &warp->tally[inst->slot];
    tally->a++;
    tally->b += sectors_of(key, mask);
}

// Resolves accesses to another block's shared memory. Their cost is not counted.
static bool resolve_remote(Warp *warp, const Access *access, const Block *of, uint32_t mask,
                           const uint64_t address[LANES], uint8_t *pointer[LANES]) {
    const uint64_t size = address_bytes(access);
    const int first = __builtin_ctz(mask);
    if (!of) return bad_address(warp, access, PTX_SHARED, first, address[first], false);
    if (!of->running) {
        warp_fail(warp, access->inst, first, SIMT_TRAP,
                  "access to shared memory of block (%u,%u,%u) of the cluster, which has ended",
                  of->index.x, of->index.y, of->index.z);
        return false;
    }
    const Region region = region_of(warp, of, PTX_SHARED);
    for (uint32_t m = mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        const uint64_t at = address[lane] & ADDRESS_IN_BLOCK;
        const bool inside = fits(&region, at, size);
        if (!inside || (at & (size - 1)))
            return bad_address(warp, access, PTX_SHARED, lane, at, inside);
        pointer[lane] = region.base + at;
    }
    return true;
}

static bool resolve_space(Warp *warp, const Access *access, PtxSpace space, uint32_t mask,
                          const uint64_t address[LANES], uint8_t *pointer[LANES]);

// Resolves lanes of a generic or .shared::cluster access, block by block.
static bool resolve_cluster(Warp *warp, const Access *access, uint32_t mask,
                            const uint64_t address[LANES], uint8_t *pointer[LANES]) {
    uint64_t own[LANES];
    LANE_LOOP own[l] = address[l] & ADDRESS_IN_BLOCK;
    while (mask) {
        Block *of;
        const uint32_t same = address_same_block(warp->block, address, mask, &of);
        const bool good = of == warp->block
                              ? resolve_space(warp, access, PTX_SHARED, same, own, pointer)
                              : resolve_remote(warp, access, of, same, address, pointer);
        if (!good) return false;
        mask &= ~same;
    }
    return true;
}

// Whether the accesses of a full warp are in bounds and aligned; sets the pointers.
static bool whole_warp(const Region *region, uint64_t size, const uint64_t address[LANES],
                       uint8_t *pointer[LANES]) {
    const uint64_t low = region->low, bytes = region->high - low, last = bytes - size;
    const uintptr_t base = (uintptr_t)region->base;
    uint64_t wrong = bytes < size;
    LANE_LOOP wrong |= (uint64_t)(address[l] - low > last) | (address[l] & (size - 1));
    LANE_LOOP pointer[l] = (uint8_t *)(base + address[l]);
    return !wrong;
}

// Resolves accesses within one space.
static bool resolve_space(Warp *warp, const Access *access, PtxSpace space, uint32_t mask,
                          const uint64_t address[LANES], uint8_t *pointer[LANES]) {
    const uint64_t size = address_bytes(access);
    Region region = region_of(warp, warp->block, space);
    if (space == PTX_PARAM && access->kind != ACCESS_LOAD) region.high = 0; // read-only
    uint32_t left = mask;
    if (mask == ALL_LANES && !region.lane_bytes && whole_warp(&region, size, address, pointer))
        left = 0;
    for (uint32_t m = left; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        uint64_t at = address[lane];
        bool inside = fits(&region, at, size);
        if (!inside || (at & (size - 1))) return bad_address(warp, access, space, lane, at, inside);
        pointer[lane] =
            (uint8_t *)((uintptr_t)region.base + at + region.lane_bytes * (uint64_t)lane);
    }
    count(warp, access, space, mask, address);
    return true;
}

// Resolves a few lanes in global memory. False: some are elsewhere or invalid, and nothing is
// counted.
static bool resolve_few(Warp *warp, const Access *access, uint32_t mask, uint8_t *pointer[LANES]) {
    const uint64_t size = address_bytes(access), bytes = memory_high - memory_low;
    const LaneU64 *base = REG(warp, LaneU64, access->base);
    uint64_t address[LANES];
    for (uint32_t m = mask; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        const uint64_t at = address[lane] = base[lane] + access->offset;
        if (bytes < size || at - memory_low > bytes - size || (at & (size - 1))) return false;
        pointer[lane] = memory_at(at);
    }
    count(warp, access, PTX_GLOBAL, mask, address);
    return true;
}

bool address_resolve(Warp *warp, const Access *access, uint32_t mask, uint8_t *pointer[LANES]) {
    uint64_t address[LANES], within[LANES];
    const bool may_be_global = access->space == PTX_GLOBAL || access->space == PTX_GENERIC;
    if (may_be_global && access->wide && warp_is_sparse(mask) &&
        resolve_few(warp, access, mask, pointer))
        return true;
    address_lanes(warp, access, address);
    if (access->space == PTX_SHARED_CLUSTER)
        return resolve_cluster(warp, access, mask, address, pointer);
    if (access->space != PTX_GENERIC)
        return resolve_space(warp, access, access->space, mask, address, pointer);
    while (mask) {
        int first = __builtin_ctz(mask);
        PtxSpace space;
        uint32_t same = address_same_space(address, mask, &space, within);
        if (space == PTX_GENERIC)
            return bad_address(warp, access, PTX_GENERIC, first, address[first], false);
        const bool good = space == PTX_SHARED
                              ? resolve_cluster(warp, access, same, within, pointer)
                              : resolve_space(warp, access, space, same, within, pointer);
        if (!good) return false;
        mask &= ~same;
    }
    return true;
}
