// Copies in bulk, as they are done: a lane's cp.async.bulk or cp.reduce.async.bulk, and st.async or
// red.async. PTX ISA, "Asynchronous copy".
#ifndef BULK_H
#define BULK_H

#include "simt/exec/address.h"

// A piece of global memory, or of a block's shared memory.
typedef struct {
    Block *block; // NULL: global memory
    uint64_t address;
} Piece;

typedef struct {
    const Inst *inst;
    int lane;
    uint32_t
        lanes; // this one, and behind it others that store each behind where the one before does
    Piece to, from;
    uint32_t bytes; // of each
    Piece barrier;  // where the bytes are counted when they have come; block NULL: in a group
    bool reduces;   // updates what is there
    bool stores;    // from registers: `from` is nothing
} Bulk;

// What the lane's instruction copies: to where its address says, or for one that names several
// blocks to the one of that rank. False after warp_fail: not aligned, or not there.
#define BULK_ONE UINT32_MAX
bool bulk_resolve(Warp *warp, const Inst *inst, int lane, uint32_t rank, Bulk *bulk);
// The same of st.async and red.async.
bool bulk_resolve_store(Warp *warp, const Inst *inst, int lane, Bulk *bulk);
// The bits of the ranks to which the lane's instruction copies; 0: to where its address says.
uint32_t bulk_ranks(const Warp *warp, const Inst *inst, int lane);

static inline uint8_t *bulk_at(const Piece *piece) {
    return piece->block ? piece->block->shared + piece->address : memory_at(piece->address);
}

#endif
