// Resolves the addresses of bulk copies: one lane's cp.async.bulk, cp.reduce.async.bulk, st.async
// or red.async. PTX ISA, "Asynchronous copy".
#ifndef BULK_H
#define BULK_H

#include "simt/exec/address.h"

// An address in global memory or in a block's shared memory.
typedef struct {
    Block *block; // NULL: global memory
    uint64_t address;
} Location;

typedef struct {
    const Inst *inst;
    int lane;
    uint32_t lanes; // this one, and others that store to the bytes that follow
    Location to, from;
    uint32_t bytes;   // of each
    Location barrier; // the mbarrier that counts the bytes that have arrived; block NULL: none, the
                      // copy is in a group
    bool reduces;     // reduces into the destination
    bool stores;      // from registers: `from` is unused
} Bulk;

// Fills `bulk` for the lane's instruction. The destination is the block of that rank, or with
// BULK_ONE the block in the address. False after warp_fail: misaligned or out of bounds.
#define BULK_ONE UINT32_MAX
bool bulk_resolve(Warp *warp, const Inst *inst, int lane, uint32_t rank, Bulk *bulk);
// The same for st.async and red.async.
bool bulk_resolve_store(Warp *warp, const Inst *inst, int lane, Bulk *bulk);
// The ranks of the blocks to which the lane's instruction copies, one bit each; 0: only the block
// in the address.
uint32_t bulk_ranks(const Warp *warp, const Inst *inst, int lane);

static inline uint8_t *bulk_at(const Location *location) {
    return location->block ? location->block->shared + location->address
                           : memory_at(location->address);
}

#endif
