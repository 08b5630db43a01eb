// Addresses: which memory the lanes of an instruction access, and what that counts.
//
// A generic address is one of global memory as it is; the other spaces lie in windows far above it.
// Only address.c tells them apart: all else asks here, or is told by an Observer.
//
// Within the window of shared memory, and in addresses of .shared::cluster, the bits above the
// place in a block's memory name the block: 0 for the thread's own, else its rank in the cluster
// and one. Of machine code it is always its rank.
#ifndef ADDRESS_H
#define ADDRESS_H

#include "simt/exec/block.h"
#include "simt/memory/memory.h"

// One access that an instruction makes, the same for all its lanes. Space to wide are as in its
// InstMemory, which is copied in one go.
typedef struct {
    const Inst *inst;
    uint64_t offset; // added to the address register
    uint32_t base;   // which is this one
    PtxSpace space : 8;
    uint8_t bytes;       // per element
    uint8_t elements;    // 1, 2 or 4
    bool wide;           // the address register has 64 bits
    uint32_t slot;       // its counter; of a generic access global memory's, shared memory's next
    AccessKind kind : 8; // ACCESS_LOAD, ACCESS_STORE or ACCESS_ATOMIC
    uint8_t order;       // ORDER_*
    Scope scope : 8;     // if it has an order
} Access;

// Of a load, store or atomic.
static inline Access address_access(const Inst *inst) {
    const InstMemory *memory = &inst->memory;
    return (Access){.inst = inst,
                    .offset = memory->offset,
                    .base = memory->base,
                    .space = memory->space,
                    .bytes = memory->bytes,
                    .elements = memory->elements,
                    .wide = memory->wide,
                    .slot = inst->slot,
                    .kind = inst->access,
                    .order = inst->order,
                    .scope = inst->scope};
}

static inline uint32_t address_bytes(const Access *access) {
    return (uint32_t)access->bytes * access->elements;
}

// Of ACCESS_COPY (cp.async): the store to shared memory, the load from global memory, and how many
// bytes a lane loads, 0 to all.
Access address_copy_store(const Inst *inst);
Access address_copy_load(const Inst *inst);
uint32_t address_copy_bytes(const Warp *warp, const Inst *inst, int lane);
// `count` bytes that a lane brings, from `offset` of its store on. False: from no memory.
bool address_copied(const Warp *warp, const Inst *inst, int lane, uint32_t offset, uint32_t count,
                    uint8_t *out);

// Counts a cp.async of some lanes. Its sectors are those that it reads; past L1 they are, as
// measured on an H200, the pairs of 128 bytes that it reads from and 32 that it writes to.
void address_count_copy(Warp *warp, const Inst *inst, uint32_t mask, uint8_t *const from[LANES],
                        uint8_t *const to[LANES]);

// Addresses of shared memory in a cluster.
#define ADDRESS_RANK_SHIFT 24
#define ADDRESS_IN_BLOCK   (((uint64_t)1 << ADDRESS_RANK_SHIFT) - 1)
// The same place in the block of that rank, and the rank that an address names. Both take and give
// generic addresses as well as those within the window.
static inline uint64_t address_map(uint64_t address, uint64_t rank) {
    const uint64_t named = (rank < UINT8_MAX ? rank + 1 : UINT8_MAX) << ADDRESS_RANK_SHIFT;
    return (address & ~((uint64_t)UINT8_MAX << ADDRESS_RANK_SHIFT)) | named;
}
static inline uint32_t address_rank(const Block *block, uint64_t address) {
    const uint32_t named = (uint32_t)(address >> ADDRESS_RANK_SHIFT) & UINT8_MAX;
    if (block->plain_ranks) return named;
    return named ? named - 1 : block->rank;
}
// Of the lanes of `mask`, those that access the same block's shared memory as the first of them
// does. *of is that block, NULL: there is none.
uint32_t address_same_block(const Block *block, const uint64_t address[LANES], uint32_t mask,
                            Block **of);

// The lanes' addresses, of those too that are off.
void address_lanes(const Warp *warp, const Access *access, uint64_t address[LANES]);

// Of generic addresses: the lanes of `mask` (not none) whose addresses lie in the same space as
// that of the first of them. That is *space, PTX_GENERIC if it is none; the addresses in it are
// `within`.
uint32_t address_same_space(const uint64_t address[LANES], uint32_t mask, PtxSpace *space,
                            uint64_t within[LANES]);

// Pointers to what the lanes of `mask` access, after checks, counted. False after warp_fail.
bool address_resolve(Warp *warp, const Access *access, uint32_t mask, uint8_t *pointer[LANES]);

// `count` bytes that a lane stores, from `offset` of its access on. False: not from registers.
bool address_stored(const Warp *warp, const Access *access, uint32_t lane, uint32_t offset,
                    uint32_t count, uint8_t *out);

// Of lanes that are about to access memory: those that do not find, one lane after the other, by a
// compare-and-swap another value than they want, and so write nothing. Of other accesses all. The
// addresses are good ones in access->space.
uint32_t address_swaps(const Warp *warp, const Access *access, uint32_t lanes,
                       const uint64_t address[LANES]);

// Copies what one lane reads at a generic address. False: no memory that can be read.
bool address_read(const Warp *warp, int lane, uint64_t address, void *to, uint32_t bytes);

bool address_in_space(const Block *block, uint64_t address, PtxSpace space); // a generic one
// Whether a pointer is to global memory.
bool address_global_pointer(const uint8_t *pointer);
uint64_t address_window(PtxSpace space);         // where the space begins; global memory: 0
#define ADDRESS_WITHIN (((uint64_t)1 << 48) - 1) // the bits of the place within its window

// Counts an access of these lanes, not none, to the block's own shared memory.
void address_count_shared(Warp *warp, uint32_t slot, const uint32_t address[LANES], uint32_t mask,
                          uint32_t bytes, bool load);

// --- whole warps at consecutive addresses, the common case ---

#define ADDRESS_INLINE static inline __attribute__((always_inline))

ADDRESS_INLINE bool address_consecutive64(const LaneU64 *base, uint64_t stride) {
    uint64_t wrong = 0, first = base[0];
    LANE_LOOP wrong |= (first + stride * (uint64_t)l) ^ base[l];
    return wrong == 0;
}

ADDRESS_INLINE bool address_consecutive32(const LaneU32 *base, uint32_t stride) {
    uint32_t wrong = 0, first = base[0];
    LANE_LOOP wrong |= (first + stride * (uint32_t)l) ^ base[l];
    return wrong == 0;
}

// What lane 0 accesses if all lanes do, at consecutive addresses of global memory, `size` bytes
// each, and nothing is wrong; then it is counted. Else NULL: see address_resolve().
ADDRESS_INLINE uint8_t *address_whole_global(Warp *warp, const Inst *inst, uint64_t size) {
    if (warp->exec != ALL_LANES) return NULL;
    const LaneU64 *base = REG(warp, LaneU64, inst->memory.base);
    if (!address_consecutive64(base, size)) return NULL;
    const uint64_t first = base[0] + inst->memory.offset, bytes = LANES * size;
    if (first < memory_low || first >= memory_high || memory_high - first < bytes) return NULL;
    if (first & (size - 1)) return NULL;
    Tally *tally = &warp->tally[inst->slot];
    tally->a++;
    tally->b += ((first + bytes - 1) >> 5) - (first >> 5) + 1;
    return (uint8_t *)memory_at(first);
}

// The same for shared memory.
ADDRESS_INLINE uint8_t *address_whole_shared(Warp *warp, const Inst *inst, uint32_t size) {
    if (warp->exec != ALL_LANES || inst->memory.wide) return NULL;
    const LaneU32 *base = REG(warp, LaneU32, inst->memory.base);
    if (!address_consecutive32(base, size)) return NULL;
    const uint32_t first = base[0] + (uint32_t)inst->memory.offset,
                   have = warp->block->shared_bytes;
    if (first >= have || have - first < LANES * size || (first & (size - 1))) return NULL;
    Tally *tally = &warp->tally[inst->slot];
    tally->a++;
    tally->b += size / 4;
    tally->c += size / 4;
    return warp->block->shared + first;
}

// --- argument.c: which argument of the kernel points to some global memory ---

// The argument that points to the allocation nearest to an address of global memory, within the
// reach of a 32-bit index.
#define ARGUMENT_FAR ((uint64_t)1 << 35)
typedef struct {
    uint32_t number; // 1 for the first
    uint64_t pointer;
    const Allocation *of; // NULL: there is none
    uint64_t gap;         // bytes between the allocation and the address, 0: it is inside
} Argument;
uint64_t argument_gap(const Allocation *allocation, uint64_t address);
Argument argument_near(const Machine *machine, uint64_t address);
// The name, such as "argument 2", and the offset from where it points; empty where there is none.
int64_t argument_name(const Machine *machine, uint64_t address, char *to, size_t room);

#endif
