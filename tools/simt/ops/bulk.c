// Executes bulk copies, which complete immediately, and stores that count at an mbarrier. PTX ISA,
// "Data Movement and Conversion Instructions: cp.async.bulk", "st.async", "red.async".
#include <string.h>

#include "simt/exec/observer.h"
#include "simt/exec/spin.h"
#include "simt/ops/ops.h"

// The order of the elements within a copy does not matter.
static void reduce(const InstBulk *named, uint8_t *to, const uint8_t *from, uint32_t bytes) {
    const uint32_t size = ptx_type_bytes(named->type);
    for (uint32_t at = 0; at < bytes; at += size) {
        uint64_t value = 0;
        memcpy(&value, from + at, size);
        atomic_update(named->mode, named->type, to + at, value);
    }
}

static bool copy(Warp *warp, const Inst *inst, int lane, uint32_t rank) {
    Bulk bulk;
    if (!bulk_resolve(warp, inst, lane, rank, &bulk)) return false;
    observer_bulk(warp, &bulk);
    if (bulk.reduces)
        reduce(&inst->bulk, bulk_at(&bulk.to), bulk_at(&bulk.from), bulk.bytes);
    else
        memmove(bulk_at(&bulk.to), bulk_at(&bulk.from), bulk.bytes);
    if (bulk.barrier.block) async_complete(bulk_at(&bulk.barrier), bulk.bytes);
    return true;
}

const Inst *op_bulk(Warp *warp, const Inst *inst) {
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        const int lane = __builtin_ctz(m);
        uint32_t ranks = bulk_ranks(warp, inst, lane);
        bool good = ranks || copy(warp, inst, lane, BULK_ONE);
        for (; good && ranks; ranks &= ranks - 1)
            good = copy(warp, inst, lane, (uint32_t)__builtin_ctz(ranks));
        if (!good) return NULL;
    }
    spin_stored(warp);
    return inst + 1;
}

static void store(Warp *warp, const Inst *inst, int lane, uint8_t *to) {
    const InstBulk *named = &inst->bulk;
    for (uint32_t e = 0; e < named->elements; e++, to += named->size) {
        const RegisterClass class = named->size == 8 ? REGISTER_64 : REGISTER_32;
        const uint64_t value = warp_read(warp, class, named->value[e], lane);
        if (named->reduces)
            atomic_update(named->mode, named->type, to, value);
        else
            memcpy(to, &value, named->size);
    }
}

// Stores the values of the run's lanes.
static void store_run(Warp *warp, const Inst *inst, const Bulk *run) {
    uint8_t *to = bulk_at(&run->to);
    observer_bulk(warp, run);
    for (uint32_t m = run->lanes; m; m &= m - 1, to += run->bytes) {
        store(warp, inst, __builtin_ctz(m), to);
        async_complete(bulk_at(&run->barrier), run->bytes);
    }
}

// Whether the next lane's store follows the run in memory and counts at the same mbarrier.
static bool extends_run(const Bulk *run, const Bulk *next) {
    const uint32_t count = (uint32_t)__builtin_popcount(run->lanes);
    return !run->reduces && next->lane == run->lane + (int)count &&
           next->to.block == run->to.block &&
           next->to.address == run->to.address + count * run->bytes &&
           next->barrier.block == run->barrier.block &&
           next->barrier.address == run->barrier.address;
}

const Inst *op_store_async(Warp *warp, const Inst *inst) {
    Bulk run = {0}, next;
    bool good = true;
    for (uint32_t m = warp->exec; m && good; m &= m - 1) {
        good = bulk_resolve_store(warp, inst, __builtin_ctz(m), &next);
        if (good && run.lanes && extends_run(&run, &next)) {
            run.lanes |= next.lanes;
            continue;
        }
        if (run.lanes) store_run(warp, inst, &run);
        run = next;
    }
    if (!good) return NULL;
    store_run(warp, inst, &run);
    spin_stored(warp);
    return inst + 1;
}
