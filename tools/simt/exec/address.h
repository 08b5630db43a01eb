// Addresses: which memory the lanes of an instruction access, and how accesses are counted.
//
// A generic address of global memory is the address itself; the other spaces have windows far above
// it. Only address.c tells the spaces apart: other code calls it or receives the space as an
// Observer.
//
// In the window of shared memory, and in .shared::cluster addresses, the bits above the offset in a
// block's memory name the block: 0 for the thread's own, else its rank in the cluster plus 1.
// Machine code always stores the plain rank.
#ifndef ADDRESS_H
#define ADDRESS_H

#include "simt/exec/block.h"
#include "simt/memory/memory.h"

// One access of an instruction, the same for all its lanes. The fields from space to wide match
// InstMemory, so that they are copied at once.
typedef struct {
    const Inst *inst;
    uint64_t offset; // added to the address register
    uint32_t base;   // which is this one
    PtxSpace space : 8;
    uint8_t bytes;    // per element
    uint8_t elements; // 1, 2 or 4
    bool wide;        // the address register has 64 bits
    uint32_t slot; // its counter; a generic access counts global memory there and shared memory in
                   // the next slot
    AccessKind kind : 8; // ACCESS_LOAD, ACCESS_STORE or ACCESS_ATOMIC
    uint8_t order;       // ORDER_*
    Scope scope : 8;     // if it has an order
} Access;

// The access of a load, store or atomic instruction.
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

// For ACCESS_COPY (cp.async): the store to shared memory, the load from global memory, and the
// number of bytes that a lane loads, which may be 0.
Access address_copy_store(const Inst *inst);
Access address_copy_load(const Inst *inst);
uint32_t address_copy_bytes(const Warp *warp, const Inst *inst, int lane);
// Copies to `out` the `count` bytes that a lane will store, starting `offset` bytes into its store.
// False: the source is not readable.
bool address_copied(const Warp *warp, const Inst *inst, int lane, uint32_t offset, uint32_t count,
                    uint8_t *out);

// Counts a cp.async of some lanes. With L1 its sectors are those that it reads. With .cg, as
// measured on an H200, they are the distinct pairs of a 128-byte line that it reads and a 32-byte
// sector that it writes.
void address_count_copy(Warp *warp, const Inst *inst, uint32_t mask, uint8_t *const from[LANES],
                        uint8_t *const to[LANES]);

// Bits of a shared-memory address: the rank above the offset in the block.
#define ADDRESS_RANK_SHIFT 24
#define ADDRESS_IN_BLOCK   (((uint64_t)1 << ADDRESS_RANK_SHIFT) - 1)
// address_map: the same offset in the block of that rank. address_rank: the rank in an address.
// Both accept generic addresses and addresses within the window.
static inline uint64_t address_map(uint64_t address, uint64_t rank) {
    const uint64_t named = (rank < UINT8_MAX ? rank + 1 : UINT8_MAX) << ADDRESS_RANK_SHIFT;
    return (address & ~((uint64_t)UINT8_MAX << ADDRESS_RANK_SHIFT)) | named;
}
static inline uint32_t address_rank(const Block *block, uint64_t address) {
    const uint32_t named = (uint32_t)(address >> ADDRESS_RANK_SHIFT) & UINT8_MAX;
    if (block->plain_ranks) return named;
    return named ? named - 1 : block->rank;
}
// The lanes of `mask` that access the same block's shared memory as the first of them. *of is that
// block, NULL: there is none.
uint32_t address_same_block(const Block *block, const uint64_t address[LANES], uint32_t mask,
                            Block **of);

// The addresses of all lanes, inactive ones included.
void address_lanes(const Warp *warp, const Access *access, uint64_t address[LANES]);

// The lanes of the nonempty `mask` whose generic addresses lie in the same space as the first
// one's. *space is that space, PTX_GENERIC if the address is in none; `within` gets the addresses
// within the space.
uint32_t address_same_space(const uint64_t address[LANES], uint32_t mask, PtxSpace *space,
                            uint64_t within[LANES]);

// Checks and counts an access and returns pointers to what each lane of `mask` accesses. False
// after warp_fail.
bool address_resolve(Warp *warp, const Access *access, uint32_t mask, uint8_t *pointer[LANES]);

// Copies to `out` `count` of the bytes that a lane stores, starting at `offset`. False: they do not
// come from registers.
bool address_stored(const Warp *warp, const Access *access, uint32_t lane, uint32_t offset,
                    uint32_t count, uint8_t *out);

// The lanes that will write when they perform their atomics one after the other: a compare-and-swap
// that finds another value does not. For other accesses it is all lanes. The addresses must be
// valid in access->space.
uint32_t address_swaps(const Warp *warp, const Access *access, uint32_t lanes,
                       const uint64_t address[LANES]);

// Copies bytes that one lane reads at a generic address. False: they are not readable.
bool address_read(const Warp *warp, int lane, uint64_t address, void *to, uint32_t bytes);

bool address_in_space(const Block *block, uint64_t address, PtxSpace space); // of a generic address
// Whether a pointer is to global memory.
bool address_global_pointer(const uint8_t *pointer);
uint64_t address_window(PtxSpace space);         // where the space begins; global memory: 0
#define ADDRESS_WITHIN (((uint64_t)1 << 48) - 1) // the bits of the offset in its window

// Counts an access of these lanes (at least one) to the block's own shared memory.
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

// If all lanes access consecutive, valid addresses of global memory, `size` bytes each, counts the
// access and returns lane 0's pointer. Else NULL: use address_resolve().
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

// --- argument.c: finds the kernel argument that points to given global memory ---

// The argument that points into or near the allocation closest to a global address, within the
// reach of a 32-bit index.
#define ARGUMENT_REACH ((uint64_t)1 << 35)
typedef struct {
    uint32_t number; // 1 for the first
    uint64_t pointer;
    const Allocation *of; // NULL: there is none
    uint64_t gap;         // bytes between the allocation and the address, 0 inside it
} Argument;
uint64_t argument_gap(const Allocation *allocation, uint64_t address);
Argument argument_near(const Machine *machine, uint64_t address);
// Writes the argument's name, such as "argument 2", and returns the address's offset from the
// pointer. Writes an empty name if there is none.
int64_t argument_name(const Machine *machine, uint64_t address, char *to, size_t room);

#endif
