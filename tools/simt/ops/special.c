// Reads special registers. PTX ISA, "Special Registers".
#define _POSIX_C_SOURCE 200809L

#include "simt/base/clock.h"
#include "simt/base/limits.h"
#include "simt/exec/cluster.h"
#include "simt/ops/ops.h"

// Writes the result to a register of any class.
#define RESULT(inst, value)                                                                        \
    do {                                                                                           \
        const uint32_t to_ = (inst)->special.d;                                                    \
        if ((inst)->special.class == REGISTER_16) LANE_RESULT_IN(to_, LaneU16, value);             \
        if ((inst)->special.class == REGISTER_64) LANE_RESULT_IN(to_, LaneU64, value);             \
        LANE_RESULT_IN(to_, LaneU32, value);                                                       \
    } while (0)

#define TID(name, axis)                                                                            \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const uint32_t *tid = warp->tid[axis];                                                     \
        RESULT(inst, tid[l]);                                                                      \
    }
TID(tid_x, 0)
TID(tid_y, 1)
TID(tid_z, 2)

// A register whose value depends only on the lane's number.
#define OF_LANE(name, result)                                                                      \
    static const Inst *name(Warp *warp, const Inst *inst) { RESULT(inst, result); }
OF_LANE(laneid, l)
OF_LANE(lanemask_eq, 1u << l)
OF_LANE(lanemask_lt, (1u << l) - 1)
OF_LANE(lanemask_le, (2u << l) - 1)
OF_LANE(lanemask_gt, ~((2u << l) - 1))
OF_LANE(lanemask_ge, ~((1u << l) - 1))

// A register with the same value in all lanes.
#define OF_WARP(name, result)                                                                      \
    static const Inst *name(Warp *warp, const Inst *inst) {                                        \
        const Block *block = warp->block;                                                          \
        const Machine *machine = block->machine;                                                   \
        const uint64_t value = result;                                                             \
        (void)machine;                                                                             \
        RESULT(inst, value);                                                                       \
    }
OF_WARP(ntid_x, machine->block.x)
OF_WARP(ntid_y, machine->block.y)
OF_WARP(ntid_z, machine->block.z)
OF_WARP(ctaid_x, block->index.x)
OF_WARP(ctaid_y, block->index.y)
OF_WARP(ctaid_z, block->index.z)
OF_WARP(nctaid_x, machine->grid.x)
OF_WARP(nctaid_y, machine->grid.y)
OF_WARP(nctaid_z, machine->grid.z)
OF_WARP(clusterid_x, cluster_index(block).x)
OF_WARP(clusterid_y, cluster_index(block).y)
OF_WARP(clusterid_z, cluster_index(block).z)
OF_WARP(nclusterid_x, cluster_grid(machine).x)
OF_WARP(nclusterid_y, cluster_grid(machine).y)
OF_WARP(nclusterid_z, cluster_grid(machine).z)
OF_WARP(cluster_ctaid_x, block->index.x % machine->cluster.x)
OF_WARP(cluster_ctaid_y, block->index.y % machine->cluster.y)
OF_WARP(cluster_ctaid_z, block->index.z % machine->cluster.z)
OF_WARP(cluster_nctaid_x, machine->cluster.x)
OF_WARP(cluster_nctaid_y, machine->cluster.y)
OF_WARP(cluster_nctaid_z, machine->cluster.z)
OF_WARP(cluster_ctarank, block->rank)
OF_WARP(cluster_nctarank, block->cluster->count)
OF_WARP(warp_size, LANES)
OF_WARP(warpid, warp->index)
OF_WARP(nwarpid, limits_sm_threads() / LANES)
OF_WARP(smid, block->number % limits_sms())
OF_WARP(nsmid, limits_sms())
OF_WARP(gridid, machine->grid_id)
OF_WARP(envreg1, machine->grid_workspace >> 32)
OF_WARP(envreg2, machine->grid_workspace &UINT32_MAX)
OF_WARP(dynamic_shared, machine->dynamic_shared)
OF_WARP(total_shared, machine->dynamic_base + machine->dynamic_shared)
OF_WARP(reserved_begin, machine->reserved_base)
OF_WARP(reserved_half, machine->reserved_base + machine->reserved_bytes / 2)
OF_WARP(reserved_end, machine->reserved_base + machine->reserved_bytes)
OF_WARP(reserved_size, machine->reserved_bytes)

// The only special register that is a predicate.
static const Inst *is_explicit_cluster(Warp *warp, const Inst *inst) {
    const bool value = warp->block->machine->explicit_cluster;
    warp_write_predicate(warp, inst->special.d, value ? ALL_LANES : 0);
    return inst + 1;
}

static uint64_t now_ns(clockid_t clock) { return (uint64_t)clock_ns(clock); }
OF_WARP(clock_low, now_ns(CLOCK_MONOTONIC) & UINT32_MAX)
OF_WARP(clock_high, now_ns(CLOCK_MONOTONIC) >> 32)
OF_WARP(clock_all, now_ns(CLOCK_MONOTONIC))
OF_WARP(timer_low, now_ns(CLOCK_REALTIME) & UINT32_MAX)
OF_WARP(timer_high, now_ns(CLOCK_REALTIME) >> 32)
OF_WARP(timer_all, now_ns(CLOCK_REALTIME))

// The start of dynamic shared memory. It is not a special register, so it has no row.
const Inst *op_dynamic_shared_base(Warp *warp, const Inst *inst) {
    const uint64_t value = warp->block->machine->dynamic_base;
    RESULT(inst, value);
}

static Op *const specials[SPECIALS] = {
#define X(name, text, run, ...) [SPECIAL_##name] = run,
    PTX_SPECIALS(X)
#undef X
};

Op *op_special(PtxSpecial special) { return specials[special]; }
