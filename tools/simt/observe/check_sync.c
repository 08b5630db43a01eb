// Synchronization: what it orders, barriers that not every thread reaches, masks that name the
// wrong lanes.
#include "simt/observe/check_inside.h"
#include "simt/ops/ops.h"

bool check_unordered(const Checker *checker, uint64_t stamp, uint32_t thread) {
    uint64_t time = stamp >> STAMP_SHIFT;
    uint32_t other = (uint32_t)(stamp & STAMP_THREAD);
    uint32_t warp = thread / LANES, other_warp = other / LANES;
    if (warp != other_warp) return time >= checker->warp_known[warp][other_warp];
    return time >= checker->warp_floor[warp] &&
           time >= checker->lane_known[warp][thread % LANES][other % LANES];
}

// --- barriers of the block ---

// All warps that took part know what each of them knew, and what each did until now.
static void join_warps(Checker *checker, uint32_t warps) {
    uint64_t now = ++checker->now;
    uint64_t known[MAX_WARPS] = {0};
    for (uint32_t m = warps; m; m &= m - 1) {
        const uint64_t *row = checker->warp_known[__builtin_ctz(m)];
        for (int k = 0; k < MAX_WARPS; k++)
            if (row[k] > known[k]) known[k] = row[k];
    }
    for (uint32_t m = warps; m; m &= m - 1) known[__builtin_ctz(m)] = now;
    for (uint32_t m = warps; m; m &= m - 1) {
        int warp = __builtin_ctz(m);
        for (int k = 0; k < MAX_WARPS; k++) checker->warp_known[warp][k] = known[k];
        checker->warp_floor[warp] = now;
    }
}

static void completed(Checker *checker, Warp *warp, const Block *block, Arrival *arrival) {
    arrival->open = false;
    if (arrival->counted) {
        join_warps(checker, arrival->warps);
        return;
    }
    check_unwritten(checker, warp);
    checker->block_floor = ++checker->now;
    if (arrival->threads < block->threads)
        checker_found(checker, warp, KIND_BARRIER, PTX_REG_SPACE, arrival->inst, arrival->thread,
                      NULL, 0, 0,
                      "%u of %u threads reached this barrier and the others had ended: let every "
                      "thread reach it",
                      arrival->threads, block->threads);
    else if (arrival->other)
        checker_found(
            checker, warp, KIND_BARRIER, PTX_REG_SPACE, arrival->inst, arrival->thread,
            arrival->other, arrival->other_thread, 0,
            "some threads wait at this barrier and others at another one: let all threads "
            "of the block reach the same one");
}

// The executor has completed a barrier when nobody waits at it any more.
void check_barriers(Checker *checker, Warp *warp) {
    const Block *block = warp->block;
    if (checker->progress == block->progress) return;
    checker->progress = block->progress;
    for (uint32_t i = 0; i < BARRIERS; i++)
        if (checker->arrivals[i].open && block->barriers[i].arrived == 0)
            completed(checker, warp, block, &checker->arrivals[i]);
}

static void arrive(Checker *checker, const Warp *warp, const Inst *inst, uint32_t number) {
    Arrival *arrival = &checker->arrivals[number];
    uint32_t thread = warp->index * LANES + (uint32_t)__builtin_ctz(warp->exec);
    if (!arrival->open)
        *arrival = (Arrival){
            .open = true, .inst = inst, .thread = thread, .counted = inst->r[1] != PTX_NONE};
    PtxPlace first = checker_place(checker, arrival->inst);
    PtxPlace here = checker_place(checker, inst);
    if (!arrival->other && (first.line != here.line || first.file != here.file)) {
        arrival->other = inst;
        arrival->other_thread = thread;
    }
    arrival->warps |= 1u << warp->index;
    arrival->threads += (uint32_t)__builtin_popcount(warp->exec);
}

const Inst *check_barrier(Warp *warp, const Inst *inst) {
    Checker *checker = warp->block->check;
    check_barriers(checker, warp);
    uint32_t number = REG(warp, LaneU32, inst->r[0])[__builtin_ctz(warp->exec)];
    if (number < BARRIERS) arrive(checker, warp, inst, number);
    return inst->plain(warp, inst);
}

// --- lanes of a warp ---

static void join_lanes(Checker *checker, const Warp *warp, uint32_t lanes) {
    uint64_t now = ++checker->now;
    if ((lanes & warp->live) == warp->live) {
        checker->warp_floor[warp->index] = now;
        return;
    }
    uint64_t(*known)[LANES] = checker->lane_known[warp->index];
    uint64_t joined[LANES] = {0};
    for (uint32_t m = lanes; m; m &= m - 1)
        for (int k = 0; k < LANES; k++)
            if (known[__builtin_ctz(m)][k] > joined[k]) joined[k] = known[__builtin_ctz(m)][k];
    for (uint32_t m = lanes; m; m &= m - 1) joined[__builtin_ctz(m)] = now;
    for (uint32_t m = lanes; m; m &= m - 1)
        for (int k = 0; k < LANES; k++) known[__builtin_ctz(m)][k] = joined[k];
}

// Which operand of an operation is its mask of lanes.
static int mask_operand(Op *plain) {
    if (plain == op_warp_barrier) return 0;
    if (plain == op_elect) return 1;
    return plain == op_shuffle ? 4 : 2;
}

static void caller_unnamed(Checker *checker, const Warp *warp, const Inst *inst, uint32_t lane,
                           uint32_t mask) {
    checker_found(checker, warp, KIND_MASK, PTX_REG_SPACE, inst, warp->index * LANES + lane, NULL,
                  0, 0,
                  "lane %u takes part but the mask 0x%08x does not name it: name exactly the lanes "
                  "that get here",
                  lane, mask);
}

// Lanes of one instruction may name different groups; each must name the lane that gives it.
static uint32_t check_masks(Checker *checker, const Warp *warp, const Inst *inst, Op *plain) {
    const LaneU32 *masks = REG(warp, LaneU32, inst->r[mask_operand(plain)]);
    uint32_t named = 0;
    for (uint32_t m = warp->exec; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!(masks[lane] >> lane & 1)) caller_unnamed(checker, warp, inst, lane, masks[lane]);
        named |= masks[lane];
    }
    return named;
}

const Inst *check_meeting(Warp *warp, const Inst *inst) {
    Checker *checker = warp->block->check;
    check_barriers(checker, warp);
    check_masks(checker, warp, inst, inst->plain);
    return inst->plain(warp, inst);
}

// Groups that different lanes name apart are ordered apart.
const Inst *check_warp_barrier(Warp *warp, const Inst *inst) {
    Checker *checker = warp->block->check;
    check_barriers(checker, warp);
    check_masks(checker, warp, inst, op_warp_barrier);
    uint32_t masks[LANES], left = warp->exec;
    const LaneU32 *named = REG(warp, LaneU32, inst->r[0]);
    for (int l = 0; l < LANES; l++) masks[l] = named[l];
    const Inst *next = inst->plain(warp, inst);
    if (!next) return NULL; // others of the mask are still to come: it runs again then
    while (left) {
        uint32_t group = masks[__builtin_ctz(left)], same = 0;
        for (uint32_t m = left; m; m &= m - 1)
            if (masks[__builtin_ctz(m)] == group) same |= m & (0 - m);
        join_lanes(checker, warp, group | same);
        left &= ~same;
    }
    return next;
}
