// Resolves the addresses of bulk copies, and checks them. See bulk.h.
#include "simt/exec/bulk.h"

#include "simt/exec/cluster.h"

enum { BULK_ALIGN = 16 };

static uint64_t address_of(const Warp *warp, const BulkAddress *address, int lane) {
    const uint64_t base = address->wide ? REG(warp, LaneU64, address->base)[lane]
                                        : REG(warp, LaneU32, address->base)[lane];
    const int32_t unused = 32 - BULK_OFFSET_BITS;
    const int32_t offset = (int32_t)((uint32_t)address->offset << unused) >> unused;
    const uint64_t at = base + (uint64_t)(int64_t)offset;
    return address->wide ? at : (uint32_t)at;
}

static bool fails(Warp *warp, const Inst *inst, int lane, bool misaligned, const char *what,
                  uint64_t address, uint32_t bytes) {
    warp_fail(warp, inst, lane, misaligned ? SIMT_MISALIGNED_ADDRESS : SIMT_ILLEGAL_ADDRESS,
              "%s of %u bytes at 0x%llx %s", what, bytes, (unsigned long long)address,
              misaligned ? "is not aligned" : "is outside of what is allocated");
    return false;
}

// Resolves an address of the instruction for `bytes` bytes; it must be a multiple of `align`.
static bool resolve_location(Warp *warp, const Inst *inst, int lane, const BulkAddress *named,
                             uint32_t bytes, uint32_t align, const char *what, Location *location) {
    const uint64_t address = address_of(warp, named, lane);
    *location = (Location){NULL, address};
    if (address % align) return fails(warp, inst, lane, true, what, address, bytes);
    if (named->space == PTX_GLOBAL) {
        if (address < memory_low || address >= memory_high || memory_high - address < bytes)
            return fails(warp, inst, lane, false, what, address, bytes);
        return true;
    }
    const bool remote = address >> ADDRESS_RANK_SHIFT && named->space == PTX_SHARED;
    Block *block = remote ? NULL : cluster_block(warp->block, address_rank(warp->block, address));
    location->block = block;
    location->address = address & ADDRESS_IN_BLOCK;
    if (!block || !block->running || location->address > block->shared_bytes ||
        block->shared_bytes - location->address < bytes)
        return fails(warp, inst, lane, false, what, address, bytes);
    return true;
}

uint32_t bulk_ranks(const Warp *warp, const Inst *inst, int lane) {
    const InstBulk *bulk = &inst->bulk;
    return bulk->ranks == PTX_NONE ? 0 : REG(warp, LaneU16, bulk->ranks)[lane];
}

// Directs a copy to several blocks to one of them, at the same offsets in its shared memory.
static bool redirect(Warp *warp, const Inst *inst, uint32_t rank, Bulk *bulk) {
    Block *block = cluster_block(warp->block, rank);
    if (!block || !block->running)
        return fails(warp, inst, bulk->lane, false, "copy to a block of the cluster", rank,
                     bulk->bytes);
    bulk->to.block = bulk->barrier.block = block;
    return true;
}

bool bulk_resolve(Warp *warp, const Inst *inst, int lane, uint32_t rank, Bulk *bulk) {
    const InstBulk *named = &inst->bulk;
    const uint32_t bytes = REG(warp, LaneU32, named->bytes)[lane];
    *bulk = (Bulk){
        .inst = inst, .lane = lane, .lanes = 1u << lane, .bytes = bytes, .reduces = named->reduces};
    if (bytes % BULK_ALIGN) {
        warp_fail(warp, inst, lane, SIMT_MISALIGNED_ADDRESS, "copy of %u bytes: no multiple of %d",
                  bytes, BULK_ALIGN);
        return false;
    }
    if (!resolve_location(warp, inst, lane, &named->from, bytes, BULK_ALIGN, "copy from",
                          &bulk->from) ||
        !resolve_location(warp, inst, lane, &named->to, bytes, BULK_ALIGN, "copy to", &bulk->to))
        return false;
    if (named->barrier.space == PTX_REG_SPACE) return true;
    if (!resolve_location(warp, inst, lane, &named->barrier, 8, 8, "mbarrier", &bulk->barrier))
        return false;
    return rank == BULK_ONE || redirect(warp, inst, rank, bulk);
}

bool bulk_resolve_store(Warp *warp, const Inst *inst, int lane, Bulk *bulk) {
    const InstBulk *named = &inst->bulk;
    const uint32_t bytes = (uint32_t)named->size * named->elements;
    *bulk = (Bulk){.inst = inst,
                   .lane = lane,
                   .lanes = 1u << lane,
                   .bytes = bytes,
                   .reduces = named->reduces,
                   .stores = true};
    return resolve_location(warp, inst, lane, &named->to, bytes, bytes, "store", &bulk->to) &&
           resolve_location(warp, inst, lane, &named->barrier, 8, 8, "mbarrier", &bulk->barrier);
}
